"""Rows coloured by one label: groups with a colour, a shape and a legend, and samples by label."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import palette
from .._base.page import table
from .._base.palette import N_COLOURS, shape
from .columns import pack, words_of

MOST_GROUPS = 30
OTHER = "other classes"
OUTLINES = {  # shapes that plotly has in 2-D and in 3-D
    "circle": '<circle cx="8" cy="8" r="6.5"/>',
    "square": '<rect x="2" y="2" width="12" height="12"/>',
    "diamond": '<path d="M8 .5 15.5 8 8 15.5.5 8Z"/>',
    "cross": '<path d="M5.5 1h5v4.5H15v5h-4.5V15h-5v-4.5H1v-5h4.5Z"/>',
}
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

    def spec(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """What the page's script needs of it, ready for JSON."""
        small = np.min_scalar_type(max(0, len(self.names) - 1))
        codes = pack(self.codes[rows].astype(small))
        return _groups(self, rows, len(self.shown)) | {"names": self.names, "codes": codes}

    def notice(self) -> str:
        """That some classes have no colour of their own."""
        return (
            f"The legend has the {MOST_GROUPS} largest of {len(self.names):,} classes; "
            "the others are grey, and can be found by name."
        )

    def sentence(self) -> str:
        shown = f"{MOST_GROUPS} largest" if self.pooled else str(len(self.names))
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

    def legend(self, rows: NDArray[np.int64], named: bool) -> str:
        """A check box for every group."""
        swatches = [_swatch(f"c{g % N_COLOURS}", shape(g)) for g in range(len(self.shown))]
        search = ""
        if self.pooled:
            swatches.append(_swatch("other", "circle"))
            search = (
                '<form id="find-class" class="row" autocomplete="off"><input type="text" '
                'id="class" list="class-names" aria-label="Find a class by name" '
                'placeholder="Find a class"><button>Ring</button>'
                '<datalist id="class-names"></datalist></form>'
            )
        return (
            f"<h3><bdi>{escape(self.name if named else 'Classes')}</bdi></h3>"
            '<div class="row"><button type="button" id="all">All</button>'
            '<button type="button" id="none">None</button></div>'
            f"{search}{_boxes(self, rows, swatches)}"
        )


@dataclass(frozen=True, eq=False)
class Numbers:
    """A label of numbers, shown by a scale of colours; rows without a finite one are grey."""

    name: str
    codes: NDArray[np.float64]  # (n,) the numbers

    continuous = True
    names = ()  # of classes

    @property
    def group(self) -> NDArray[np.uint8]:
        return (~np.isfinite(self.codes)).astype(np.uint8)

    @property
    def groups(self) -> list[str]:
        return ["labelled", "no label"] if self.group.any() else ["labelled"]

    def strata(self) -> NDArray[np.int64]:
        """(n,) what a sample keeps the shares of: tenths."""
        known = self.codes[np.isfinite(self.codes)]
        if not known.size:
            return np.zeros(len(self.codes), dtype=np.int64)
        return np.searchsorted(np.quantile(known, np.linspace(0.1, 0.9, 9)), self.codes)

    def spec(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """What the page's script needs of it, ready for JSON."""
        low, high = colour_limits(self.codes)
        return _groups(self, rows, 1) | {
            "numbers": pack(self.codes[rows]),
            "low": low,
            "high": high,
        }

    def sentence(self) -> str:
        return "Colour is the label. "

    def legend(self, rows: NDArray[np.int64], named: bool) -> str:
        """A colour bar, and check boxes for rows with and without a number."""
        low, high = colour_limits(self.codes)
        return (
            f"<h3><bdi>{escape(self.name if named else 'Label')}</bdi></h3>"
            '<div class="colourbar" role="img" aria-label="Colours from '
            f'{low:.4g} to {high:.4g}"></div><div class="ends"><span>≤ {low:.4g}</span>'
            f'<span>≥ {high:.4g}</span></div><p class="soft small">Colours end at the 1st '
            f"and 99th percentile.</p>{_boxes(self, rows, ['', _swatch('other', 'circle')])}"
        )


Colouring = Classes | Numbers


def read_colouring(name: str, values: Any, continuous: bool) -> Colouring:
    """Numbers, or classes: up to 30 have colours in order, of more the 30 largest first."""
    if continuous:
        return Numbers(name, np.asarray(values, dtype=np.float64))
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is not None and array.dtype.kind in "biuf":
        distinct, codes = np.unique(array, return_inverse=True)
        names, again = words_of(distinct.tolist())
        codes = again[codes]
    else:
        found, first = words_of(values)
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


def _groups(label: Colouring, rows: NDArray[np.int64], coloured: int) -> dict[str, Any]:
    """Groups from number `coloured` on are grey."""
    groups = [{"name": name, "other": g >= coloured} for g, name in enumerate(label.groups)]
    return {"name": label.name, "group": pack(label.group[rows]), "groups": groups}


def _swatch(colour: str, shape: str) -> str:
    return (
        f'<svg class="swatch" viewBox="0 0 16 16" aria-hidden="true" '
        f'style="fill: var(--{colour})">{OUTLINES[shape]}</svg>'
    )


def _boxes(label: Colouring, rows: NDArray[np.int64], swatches: list[str]) -> str:
    """A check box for every group, with the number of its rows."""
    sizes = np.bincount(label.group[rows], minlength=len(label.groups))
    items = (
        f'<li><label><input type="checkbox" checked>{swatch}'
        f'<bdi title="{escape(name)}">{escape(name)}</bdi>'
        f'<span class="count">{size:,}</span></label></li>'
        for name, size, swatch in zip(label.groups, sizes, swatches, strict=False)
    )
    return f'<ul id="legend" aria-label="Shown in the picture">{"".join(items)}</ul>'


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
