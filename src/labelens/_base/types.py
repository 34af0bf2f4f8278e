"""Types of public arguments. The alias of label kernels is in `label_kernels`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocsr(self) -> Any: ...


class Transformer(Protocol):
    """A scikit-learn transformer."""

    def fit(self, X: Any, /, *args: Any, **kwargs: Any) -> Any: ...
    def transform(self, X: Any, /) -> Any: ...


class Splitter(Protocol):
    """A scikit-learn cross-validation splitter."""

    def split(self, X: Any, /, *args: Any, **kwargs: Any) -> Iterable[Any]: ...


class TorchDevice(Protocol):
    """A `torch.device`."""

    @property
    def type(self) -> str: ...


# Data. Arrays of all libraries and data frames are array-like: they have `__array__`.
MatrixLike = ArrayLike | SparseMatrix
LabelsLike = ArrayLike | SparseMatrix | Sequence[object]
PathLike = str | os.PathLike[str]
SourceLike = (
    MatrixLike | PathLike | Sequence[PathLike] | Iterable[tuple[MatrixLike, LabelsLike | None]]
)
DeviceLike = str | TorchDevice | ModuleType

# Parameters of the methods.
KernelName = Literal["rbf", "laplacian", "matern", "polynomial", "poly", "linear"]
KernelLike = KernelName | Callable[..., float]
Gamma = float | Literal["scale", "median", "auto"]
ApproximationName = Literal["fourier", "orthogonal", "fastfood", "nystroem", "falkon", "exact"]
Approximation = ApproximationName | Transformer
LabelMap = Literal["orthogonal", "spread", "gaussian", "fourier"]
Scale = Literal["minmax", "standard"]
Factors = Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]  # one for each column
ClassWeight = Mapping[Any, float] | Literal["balanced"]
Precision = Literal["tf32"]
RandomState = int | np.integer[Any] | np.random.RandomState

# Parameters of other functions.
CrossValidation = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]
Memory = str | int
Impute = Literal["mean", "median", "drop"]
