"""Labelled data: Sonar and Ionosphere come with the package, XOR and Spirals are drawn, MNIST is
read from files or fetched; and the split into training and test rows.
"""

from .bundled import load_ionosphere, load_sonar
from .drawn import make_spirals, make_xor
from .mnist import load_mnist
from .split import train_test_rows

__all__ = [
    "load_ionosphere",
    "load_mnist",
    "load_sonar",
    "make_spirals",
    "make_xor",
    "train_test_rows",
]
