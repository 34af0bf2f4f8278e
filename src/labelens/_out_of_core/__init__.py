"""Out-of-core `fit` and `transform`, of sources that need not fit in memory.

fitting.py      the fit itself
plan.py         how many rows a chunk may have, given the memory
checkpoint.py   a fit that goes on where it was killed
sending.py      chunks on their way to a device
transforming.py rows through a model, into a file
progress.py     how far it is
"""

from .fitting import fit
from .transforming import transform

__all__ = ["fit", "transform"]
