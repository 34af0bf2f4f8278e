"""Encoded labels of a batch, and the base class of label maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..._base import devices
from ..._base.rounding import rounding


@dataclass(frozen=True)
class EncodedLabels:
    """The labels of a batch as the cross-moment takes them, one row a sample.

    With `codes` it is the one-hot matrix of those class numbers; otherwise it is `features`, and
    `classes` only says which labels were there.
    """

    classes: tuple[Any, ...] | None = None
    codes: NDArray[np.intp] | None = None  # (n, m), numbers into classes
    features: Any = None  # (n, q) float64, or CSR

    def rows(self, which: Any) -> EncodedLabels:
        """The rows of a slice, a mask or an index array."""
        if self.codes is not None:
            return EncodedLabels(self.classes, self.codes[which])
        return EncodedLabels(self.classes, features=self.features[which])

    def dense(self) -> NDArray[np.float64]:
        """(n, q) float64, written out."""
        if self.codes is not None:
            one_hot = np.zeros((len(self.codes), len(self.classes or ())))
            one_hot[np.arange(len(self.codes))[:, None], self.codes] = 1.0
            return one_hot
        return self.features.toarray() if sparse.issparse(self.features) else self.features

    def dense_at(self, place: devices.Place | None) -> Any:
        """The same in some place; one-hot rows are written out there, and their numbers sent."""
        if place is None or self.codes is None:
            return self.dense()
        xp, width = place.xp, len(self.classes or ())
        codes = place.put(self.codes, np.int64)
        number = xp.arange(width, dtype=codes.dtype, device=place.device)
        one_hot = xp.zeros((codes.shape[0], width), dtype=xp.float64, device=place.device)
        for column in range(codes.shape[1]):
            one_hot += xp.astype(codes[:, column][:, None] == number, xp.float64)
        return one_hot


class LabelMap:
    """psi: labels -> EncodedLabels, decided by the first batch and the same for all later ones.

    A subclass is a frozen dataclass that has these attributes, as fields or as constants.
    """

    kernel: Any  # the label kernel it is a factor of: what `label_kernel_` shows
    mix: str | None  # the parameter label_map; None for spectral methods
    seed: int
    decisive: ClassVar[tuple[str, ...]] = ("kernel",)  # the fields on which `encode` depends

    def encode(self, y: Any, rows: NDArray[np.intp]) -> EncodedLabels:
        """The labels of a batch; errors call row i of it `rows[i]`."""
        raise NotImplementedError

    def mixing(self, classes: tuple[Any, ...] | None, width: int, k: int) -> NDArray[np.float64]:
        """R, (q, k): the random vectors of the direct solver; E[R R^T] = I where L can see it."""
        return dense_mixing(self.mix, self.seed, width, k)

    def same_as(self, other: Any) -> bool:
        """Whether moments made with either can be merged."""
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.decisive
        )


def random_generator(seed: int, purpose: str) -> np.random.Generator:
    """An independent stream for each purpose of one seed; the same on every platform."""
    tag = int.from_bytes(purpose.encode(), "little")
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, tag])))


def spread_evenly(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """(q, k) -> the nearest R with R R^T = I or R^T R = I on the span.

    The polar factor: for k >= rank every direction of the span is kept with the same length, so
    nothing is lost and Claim 1 of the paper holds exactly; for k < rank the columns are
    orthonormal. Unlike QR it does not care about the order of rows or columns.
    """
    left, values, right = np.linalg.svd(vectors, full_matrices=False)
    rank = int((values > rounding(values[0], max(vectors.shape))).sum())
    return left[:, :rank] @ right[:rank]


def refuse_columns(y: Any, kernel: Any, what: str) -> None:
    """Reject several columns of labels where the kernel takes one."""
    if y.ndim != 1:
        raise ValueError(
            f"label_kernel={type(kernel).__name__} takes one column of {what}, and y has "
            f"{y.shape[1]}; combine kernels of columns with labelens.label_kernels.Sum or Product."
        )


def dense_mixing(kind: str | None, seed: int, width: int, k: int) -> NDArray[np.float64]:
    """R for labels that are q features with no structure of their own."""
    vectors = random_generator(seed, "label mixing").standard_normal((width, k)) / np.sqrt(k)
    if kind == "gaussian":
        return vectors
    return spread_evenly(vectors) * np.sqrt(max(1.0, width / k))
