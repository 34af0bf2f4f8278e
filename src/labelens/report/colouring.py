"""Columns that give rows their colours: classes or numbers, and samples by class."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans

from .._base import palette
from .._base.page import table
from .._base.palette import N_COLOURS
from .columns import as_array, words_of

MOST_GROUPS = 30
FAMILIES = 16  # of classes, where there are more than have a colour each
OTHER = "other classes"
LIMIT = 200_000  # points that a browser draws without trouble


@dataclass(frozen=True, eq=False)
class Classes:
    """A label of classes; where there are many, the small ones share a grey group."""

    name: str
    names: list[str]  # of every class, in the order of their labels
    codes: NDArray[Any]  # (n,): the class of a row
    shown: NDArray[np.int64]  # classes with a group of their own, in the order of the legend
    group: NDArray[np.uint8]  # (n,): index into `shown`, or len(shown) for the others

    continuous = False

    @property
    def pooled(self) -> bool:
        """Whether small classes share one group."""
        return len(self.shown) < len(self.names)

    @property
    def groups(self) -> list[str]:
        return [self.names[c] for c in self.shown] + [OTHER] * self.pooled

    def strata(self) -> NDArray[np.int64]:
        """(n,) what a sample keeps the shares of."""
        return self.codes.astype(np.int64)

    def head(self) -> dict[str, Any]:
        """Facts about the column for the page, without its values, ready for JSON."""
        shown = self.shown.tolist()  # classes with a colour of their own
        return {"kind": "classes", "names": self.names, "shown": shown, "other": OTHER}

    def notice(self) -> str:
        """A note that some classes share a colour."""
        return (
            f"The {len(self.names):,} classes have colours in {FAMILIES} families of close ones; "
            "each can be found by name."
        )

    def sentence(self) -> str:
        if self.pooled:
            return f"Colours are those of {FAMILIES} families of close classes. "
        shown = str(len(self.names))
        what = "Colours" if len(self.shown) <= N_COLOURS else "Colours and shapes"
        return f"{what} are those of the {shown} classes. "

    def centres(
        self, Z: NDArray[Any], test: NDArray[np.bool_], rows: NDArray[np.int64], named: bool
    ) -> str:
        """Where the groups of the rows drawn lie, as a table."""
        groups, shown = self.group[rows], range(min(3, Z.shape[1]))
        lines = []
        for g, name in enumerate(self.groups):
            mine = groups == g
            means = [f"{Z[mine, j].mean():.3g}" if mine.any() else "" for j in shown]
            lines.append([name, f"{mine.sum():,}", f"{(mine & test).sum():,}", *means])
        heads = ["Class", "Points", "Held out", *(f"Mean of component {j + 1}" for j in shown)]
        which = f" of <bdi>{escape(self.name)}</bdi>" if named else ""
        return (
            f"<details><summary>Where the classes{which} lie, as a table</summary>"
            f"{table(heads, lines, f'Classes of {self.name}')}</details>\n"
        )


@dataclass(frozen=True, eq=False)
class Numbers:
    """A label of numbers, shown by a scale of colours; rows without a finite one are grey."""

    name: str
    codes: NDArray[np.float64]  # (n,) the numbers

    continuous = True
    names = ()  # of classes

    def strata(self) -> NDArray[np.int64]:
        """(n,) what a sample keeps the shares of: tenths."""
        known = self.codes[np.isfinite(self.codes)]
        if not known.size:
            return np.zeros(len(self.codes), dtype=np.int64)
        return np.searchsorted(np.quantile(known, np.linspace(0.1, 0.9, 9)), self.codes)

    def head(self) -> dict[str, Any]:
        """Facts about the column for the page, without its values, ready for JSON."""
        low, high = colour_limits(self.codes)
        return {"kind": "numbers", "low": low, "high": high}

    def sentence(self) -> str:
        return "Colour is the label. "


Colouring = Classes | Numbers


def read_colouring(
    name: str, values: Any, continuous: bool, longest: int | None = None
) -> Colouring:
    """Numbers, or classes: up to 30 have colours in order, of more the 30 largest first."""
    if continuous:
        return Numbers(name, np.asarray(values, dtype=np.float64))
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is not None and array.dtype.kind in "biuf":
        distinct, codes = np.unique(array, return_inverse=True)
        names, again = words_of(distinct.tolist())
        codes = again[codes]
    else:
        found, first = words_of(values, longest)
        order = sorted(range(len(found)), key=lambda i: _natural(found[i]))
        names = [found[i] for i in order]
        codes = np.argsort(order)[first]
    shown = np.arange(len(names))
    if len(names) > MOST_GROUPS:
        sizes = np.bincount(codes, minlength=len(names))
        shown = np.argsort(-sizes, kind="stable")[:MOST_GROUPS]
    where = np.full(len(names), len(shown), dtype=np.uint8)
    where[shown] = np.arange(len(shown))
    return Classes(name, names, codes, shown, where[codes])


def families(codes: NDArray[Any], rows: Any, n_classes: int) -> list[int]:
    """The family of each class, largest first: classes whose means are close share a colour."""
    n = len(codes)
    members = sparse.csr_matrix((np.ones(n), (codes, np.arange(n))), shape=(n_classes, n))
    sizes = np.bincount(codes, minlength=n_classes)
    means = (members @ rows) / np.maximum(sizes, 1)[:, None]
    means = (means - means[sizes > 0].mean(axis=0)) * (sizes > 0)[:, None]
    spread = means.std(axis=0)
    means = np.divide(means, spread, out=np.zeros_like(means), where=spread > 0)
    found = KMeans(FAMILIES, n_init=1, random_state=0).fit_predict(means)
    order = np.argsort(-np.bincount(found, weights=sizes, minlength=FAMILIES), kind="stable")
    return np.argsort(order)[found].tolist()


def read_column(name: str, values: Any) -> Colouring:
    """A column of any kind: numbers as they are, other values as words."""
    array = values if hasattr(values, "__array__") else as_array(values)
    array = np.asarray(array)
    if array.dtype.kind in "iuf" and array.dtype.itemsize <= 8:
        numbers = array.astype(np.float64)
        if array.dtype.kind == "f" or np.abs(numbers).max(initial=0) < 2**53:
            return Numbers(name, numbers)
    # Long texts in many rows would make a page that no one can open.
    longest = max(40, min(200, 4_000_000 // max(1, len(array))))
    return read_colouring(name, array, False, longest)


def page_colours() -> str:
    """The style of every page: its ground, its ink, and the colours of classes."""
    ground = files(__package__).joinpath("palette.css").read_text(encoding="utf-8")
    return ground + palette.css()


def _natural(name: str) -> tuple[bool, float, str]:
    """Numbers by their value and before words."""
    try:
        value = float(name)
    except ValueError:
        return True, 0.0, name
    return False, value if value == value else np.inf, name


def colour_limits(values: NDArray[Any]) -> tuple[float, float]:
    """Where a scale of colours ends: outliers must not take all of them."""
    known = values[np.isfinite(values)]
    low, high = np.quantile(known, [0.01, 0.99]) if known.size else (0.0, 1.0)
    return float(low), float(high if high > low else low + 1)


def stratified(strata: Any, limit: int = LIMIT, seed: int = 0) -> NDArray[np.int64]:
    """(n,) non-negative codes -> at most `limit` rows, rising; no stratum is lost.

    Every stratum gives one row, and of the other rows a share in proportion to its size.
    """
    codes = np.asarray(strata)
    n = len(codes)
    if n <= limit:
        return np.arange(n)
    _, codes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(sizes) > limit:  # one row each is too many already
        codes, sizes = np.zeros(n, dtype=np.int64), np.array([n])
    share = (sizes - 1) * ((limit - len(sizes)) / (n - len(sizes)))
    quota = 1 + np.floor(share).astype(np.int64)
    # What flooring left over goes to the largest remainders.
    left = limit - int(quota.sum())
    quota[np.argsort(np.floor(share) - share, kind="stable")[:left]] += 1
    # A random order, then by stratum: the first of each are a random choice.
    order = np.random.default_rng(seed).permutation(n)
    order = order[np.argsort(codes[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(n) - np.repeat(starts, sizes)
    return np.sort(order[rank < np.repeat(quota, sizes)])
