"""MNIST, from files that are checked before they are believed, or from OpenML."""

from __future__ import annotations

import gzip
import os
import zlib
from hashlib import sha256
from http.client import HTTPException
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

# Training images and labels, test images and labels.
SHAPES: dict[str, tuple[int, ...]] = {
    "train-images-idx3-ubyte": (60000, 28, 28),
    "train-labels-idx1-ubyte": (60000,),
    "t10k-images-idx3-ubyte": (10000, 28, 28),
    "t10k-labels-idx1-ubyte": (10000,),
}
# SHA-256 of the numbers, without the header.
DIGESTS = {
    "train-images-idx3-ubyte": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    "train-labels-idx1-ubyte": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
    "t10k-images-idx3-ubyte": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
    "t10k-labels-idx1-ubyte": "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
}

DESCR = """MNIST: handwritten digits, Y. LeCun, C. Cortes and C. J. C. Burges.

70000 images of 28 x 28 pixels, row by row, from 0 (paper) to 1 (ink), each with its digit as the
target. The first 60000 rows are the training set, the last 10000 the test set.
"""


def load_mnist(folder: str | os.PathLike[str] | None = None, *, return_X_y: bool = False) -> Any:
    """MNIST: 70000 handwritten digits of 28 x 28 pixels, the 60000 training rows first.

    Without a folder, scikit-learn fetches MNIST from OpenML once, checks it, and keeps it in its
    data folder (`sklearn.datasets.get_data_home`; the environment variable SCIKIT_LEARN_DATA moves
    it).

    Parameters
    ----------
    folder : path, default=None
        Where train-images-idx3-ubyte.gz and the other three IDX files are, gzipped or not. Their
        checksums are verified. With a folder no other place is tried.
    return_X_y : bool, default=False
        Return (data, target) instead of a Bunch.

    Returns
    -------
    Bunch with `data` (float32 in [0, 1]), `target`, `n_train`, `feature_names` and `DESCR`, or
    (data, target)

    Examples
    --------
    >>> from labelens.datasets import load_mnist
    >>> digits = load_mnist()  # doctest: +SKIP
    >>> digits.data.shape, digits.target[: digits.n_train].shape  # doctest: +SKIP
    ((70000, 784), (60000,))
    """
    pixels, digits = _fetched() if folder is None else _read_folder(Path(folder).expanduser())
    data, target = np.divide(pixels, np.float32(255), dtype=np.float32), digits.astype(np.int64)
    if return_X_y:
        return data, target
    n_train, height, width = SHAPES["train-images-idx3-ubyte"]
    names = [f"pixel_{i}_{j}" for i in range(height) for j in range(width)]
    return Bunch(data=data, target=target, n_train=n_train, feature_names=names, DESCR=DESCR)


def _fetched() -> tuple[NDArray[Any], NDArray[Any]]:
    parser = "pandas" if find_spec("pandas") else "liac-arff"
    try:
        sent = fetch_openml("mnist_784", version=1, as_frame=False, parser=parser)
    except (OSError, HTTPException, ValueError) as error:
        raise FileNotFoundError(
            f"MNIST could not be fetched from OpenML ({type(error).__name__}: {error}). Check the "
            f"connection, or call load_mnist(folder) with a folder that holds {', '.join(SHAPES)}, "
            "gzipped or not."
        ) from error
    return sent.data, sent.target


def _read_folder(folder: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """(n, p) pixels from 0 to 255 and (n,) digits."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    paths = [_found(folder, name) for name in SHAPES]
    arrays = [_read_idx(path, name) for path, name in zip(paths, SHAPES, strict=True)]
    images = np.concatenate(arrays[::2])
    return images.reshape(len(images), -1), np.concatenate(arrays[1::2])


def _found(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"The folder {folder} has no file {name}.gz, nor one without .gz. MNIST is four files: "
        "training and test, images and labels."
    )


def _read_idx(path: Path, name: str) -> NDArray[np.uint8]:
    """The numbers in an IDX file, which must be the expected ones."""
    shape, digest = SHAPES[name], DIGESTS[name]
    # Magic number (0, 0, 8 for unsigned bytes, number of dimensions), then the dimensions.
    header = bytes([0, 0, 8, len(shape)]) + np.array(shape, dtype=">u4").tobytes()
    try:
        # One byte more than there should be, and never all that a file may unpack to.
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(len(header) + prod(shape) + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is damaged, gzip says: {error}. Download it again.") from error
    numbers = content[len(header) :]
    if not content.startswith(header) or sha256(numbers).hexdigest() != digest:
        raise ValueError(
            f"{path} does not hold {name} of MNIST: {' x '.join(map(str, shape))} numbers with the "
            f"SHA-256 {digest}, after the bytes {header.hex(' ')}. It is damaged, or another data "
            "set (Fashion-MNIST, for one, comes in files of the same names): download it again."
        )
    return np.frombuffer(numbers, np.uint8).reshape(shape)
