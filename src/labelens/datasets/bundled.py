"""Small data sets of the package."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

Data = tuple[NDArray[np.float64], NDArray[np.str_]]


@overload
def load_sonar(*, return_X_y: Literal[True]) -> Data: ...
@overload
def load_sonar(*, return_X_y: bool = False) -> Any: ...
def load_sonar(*, return_X_y: bool = False) -> Any:
    """UCI Sonar: 208 sonar returns from a mine (M) or a rock (R), 60 frequency bands.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return (data, target) instead of a Bunch.

    Returns
    -------
    Bunch with `data`, `target`, `feature_names` and `DESCR`, or (data, target)

    Examples
    --------
    >>> from labelens.datasets import load_sonar
    >>> X, y = load_sonar(return_X_y=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((208, 60), ['M', 'R'])
    """
    return _load("sonar.csv", return_X_y)


@overload
def load_ionosphere(*, return_X_y: Literal[True]) -> Data: ...
@overload
def load_ionosphere(*, return_X_y: bool = False) -> Any: ...
def load_ionosphere(*, return_X_y: bool = False) -> Any:
    """UCI Ionosphere: 351 radar returns, good or bad, 34 pulse readings (one is constant).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return (data, target) instead of a Bunch.

    Returns
    -------
    Bunch with `data`, `target`, `feature_names` and `DESCR`, or (data, target)

    Examples
    --------
    >>> from labelens.datasets import load_ionosphere
    >>> load_ionosphere().data.shape
    (351, 34)
    """
    return _load("ionosphere.csv", return_X_y)


def _load(name: str, return_X_y: bool) -> Any:
    folder = files("labelens") / "datasets" / "data"
    with (folder / name).open(encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    label = header.index("class")
    target = np.array([row[label] for row in rows])
    data = np.array([row[:label] + row[label + 1 :] for row in rows], dtype=np.float64)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=header[:label] + header[label + 1 :],
        DESCR=(folder / "README.md").read_text(encoding="utf-8"),
    )
