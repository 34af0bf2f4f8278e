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
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from .._base.warn import warn_user


class IdxFile(NamedTuple):
    """One of the files of MNIST: its name without .gz, and what must be in it."""

    name: str
    shape: tuple[int, ...]
    digest: str  # SHA-256 of the numbers, without the header

    @property
    def header(self) -> bytes:
        """Magic number (0, 0, 8 for unsigned bytes, number of dimensions), then the dimensions."""
        return bytes([0, 0, 8, len(self.shape)]) + np.array(self.shape, dtype=">u4").tobytes()


# Training images and labels, test images and labels.
MNIST = (
    IdxFile(
        "train-images-idx3-ubyte",
        (60000, 28, 28),
        "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    ),
    IdxFile(
        "train-labels-idx1-ubyte",
        (60000,),
        "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
    ),
    IdxFile(
        "t10k-images-idx3-ubyte",
        (10000, 28, 28),
        "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
    ),
    IdxFile(
        "t10k-labels-idx1-ubyte",
        (10000,),
        "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
    ),
)

MNIST_DESCR = """MNIST: handwritten digits, Y. LeCun, C. Cortes and C. J. C. Burges.

70000 images of 28 x 28 pixels, row by row, from 0 (paper) to 1 (ink), each with its digit as the
target. The first 60000 rows are the training set, the last 10000 the test set.
"""


def load_mnist(folder: str | os.PathLike[str] | None = None, *, return_X_y: bool = False) -> Any:
    """MNIST: 70000 handwritten digits of 28 x 28 pixels, the 60000 training rows first.

    Without a folder, the files are looked for in the cache folder, `mnist` in $LABELENS_HOME (else
    in $XDG_CACHE_HOME/labelens, else in ~/.cache/labelens). If they are not there either, MNIST is
    fetched from OpenML and put there. Wherever it comes from, its checksums are verified.

    Parameters
    ----------
    folder : path, default=None
        Where train-images-idx3-ubyte.gz and the other three IDX files are, gzipped or not. With a
        folder no other place is tried.
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
    arrays = _read_folder(Path(folder).expanduser()) if folder is not None else _read_or_fetch()
    data, target = _as_rows(arrays)
    if return_X_y:
        return data, target
    _, height, width = MNIST[0].shape
    return Bunch(
        data=data,
        target=target,
        n_train=MNIST[0].shape[0],
        feature_names=[f"pixel_{i}_{j}" for i in range(height) for j in range(width)],
        DESCR=MNIST_DESCR,
    )


def _as_rows(arrays: list[NDArray[np.uint8]]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Training and test images and labels -> pixels in [0, 1], (n, p), and digits, (n,)."""
    n_train, n = len(arrays[1]), len(arrays[1]) + len(arrays[3])
    data = np.empty((n, prod(MNIST[0].shape[1:])), dtype=np.float32)
    for images, rows in ((arrays[0], data[:n_train]), (arrays[2], data[n_train:])):
        np.divide(images.reshape(rows.shape), np.float32(255), out=rows)
    return data, np.concatenate(arrays[1::2]).astype(np.int64)


def _read_or_fetch() -> list[NDArray[np.uint8]]:
    cache = _cache_folder() / "mnist"
    try:
        return _read_folder(cache)
    except (OSError, ValueError) as error:
        not_cached = error
    try:
        arrays = _fetch_mnist()
    except (OSError, HTTPException, ValueError) as error:
        names = ", ".join(f"{file.name}.gz" for file in MNIST)
        raise FileNotFoundError(
            "MNIST is not at hand. Any of these three ways leads to it:\n"
            f"1. load_mnist(folder), with a folder that holds {names}.\n"
            f"2. The same files in the cache folder, {cache}; the environment variable "
            f"LABELENS_HOME moves it. This time: {not_cached}\n"
            f"3. A connection to OpenML, from where they are fetched once. This time: "
            f"{type(error).__name__}: {error}"
        ) from error
    _write_cache(arrays, cache)
    return arrays


def _cache_folder() -> Path:
    if home := os.environ.get("LABELENS_HOME"):
        return Path(home).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "labelens"


def _read_folder(folder: Path) -> list[NDArray[np.uint8]]:
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    paths = []
    for file in MNIST:
        choices = [folder / f"{file.name}.gz", folder / file.name]
        found = [path for path in choices if path.is_file()]
        if not found:
            raise FileNotFoundError(
                f"The folder {folder} has no file {file.name}.gz, nor one without .gz. MNIST is "
                "four files: training and test, images and labels."
            )
        paths.append(found[0])
    return [_read_idx(path, file) for path, file in zip(paths, MNIST, strict=True)]


def _read_idx(path: Path, file: IdxFile) -> NDArray[np.uint8]:
    """The numbers in an IDX file, which must be the expected ones."""
    header = file.header
    size = len(header) + prod(file.shape)
    again = "Download it again."
    try:
        # One byte more than there should be, and never all that a file may unpack to.
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(size + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is damaged, gzip says: {error}. {again}") from error
    if content[:4] != header[:4]:
        raise ValueError(
            f"{path} is not the IDX file it should be: it starts with the bytes "
            f"{content[:4].hex(' ') or '(none)'}, not with {header[:4].hex(' ')}. {again}"
        )
    if len(content) >= len(header) and not content.startswith(header):
        shape = np.frombuffer(content, ">u4", len(file.shape), offset=4)
        raise ValueError(
            f"{path} says that it holds {' x '.join(map(str, shape))} numbers, and {file.name} of "
            f"MNIST holds {' x '.join(map(str, file.shape))}. {again}"
        )
    if len(content) != size:
        found = "more" if len(content) > size else f"only {len(content)}"
        raise ValueError(f"{path} should hold {size} bytes, unpacked, and has {found}. {again}")
    numbers = np.frombuffer(content, np.uint8, offset=len(header)).reshape(file.shape)
    _check_digest(numbers, file, str(path))
    return numbers


def _check_digest(numbers: NDArray[np.uint8], file: IdxFile, where: str) -> None:
    digest = sha256(np.ascontiguousarray(numbers).data).hexdigest()
    if digest != file.digest:
        raise ValueError(
            f"{where} does not hold the numbers of MNIST: their SHA-256 is {digest}, where "
            f"{file.name} has {file.digest}. It is damaged, or another data set (Fashion-MNIST, "
            "for one, comes in files of the same names)."
        )


def _fetch_mnist() -> list[NDArray[np.uint8]]:
    parser = "pandas" if find_spec("pandas") else "liac-arff"
    fetched = fetch_openml("mnist_784", version=1, as_frame=False, parser=parser)
    images, labels = fetched.data.astype(np.uint8), fetched.target.astype(np.uint8)
    cut = MNIST[0].shape[0]
    arrays = [images[:cut], labels[:cut], images[cut:], labels[cut:]]
    for array, file in zip(arrays, MNIST, strict=True):
        _check_digest(array, file, "What OpenML sent")
    return arrays


def _write_cache(arrays: list[NDArray[np.uint8]], folder: Path) -> None:
    """Files appear in the folder when they are complete; where that fails MNIST is still loaded."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".unfinished-", dir=folder) as unfinished:
            for array, file in zip(arrays, MNIST, strict=True):
                with gzip.open(Path(unfinished, file.name), "wb", compresslevel=6) as stream:
                    stream.write(file.header)
                    stream.write(array.tobytes())
            for file in MNIST:
                os.replace(Path(unfinished, file.name), folder / f"{file.name}.gz")
    except OSError as error:
        warn_user(
            f"MNIST was fetched but could not be kept in {folder} ({error}), so the next call will "
            "fetch it again. Set the environment variable LABELENS_HOME to a folder that can be "
            "written."
        )
