"""The interactive scatter: its controls as plain HTML, its data as packed arrays."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._page import paragraph, table
from .classes import COLOURS, MOST_GROUPS, SHAPES, Classes, read_classes
from .columns import pack, pack_column
from .contents import Contents
from .sample import LIMIT, stratified

MOST_NUMBERS = 2_000_000  # coordinates in a page: 8 MB
MOST_COMPONENTS = 50
OUTLINES = {
    "circle": '<circle cx="8" cy="8" r="6.5"/>',
    "square": '<rect x="2" y="2" width="12" height="12"/>',
    "diamond": '<path d="M8 .5 15.5 8 8 15.5.5 8Z"/>',
    "cross": '<path d="M5.5 1h5v4.5H15v5h-4.5V15h-5v-4.5H1v-5h4.5Z"/>',
}


@dataclass(frozen=True, eq=False)
class Scatter:
    """What is drawn: which rows, which components, in which groups."""

    contents: Contents
    rows: NDArray[np.int64]  # the rows drawn
    k: int  # components to choose from
    classes: Classes | None  # None for numbers
    numbers: NDArray[np.float64] | None
    lost: int  # rows without finite coordinates

    @classmethod
    def of(cls, contents: Contents) -> Scatter:
        # A browser draws float32: what is not finite there has no place in the picture.
        with np.errstate(over="ignore"):
            finite = np.isfinite(np.asarray(contents.Z, dtype=np.float32)).all(axis=1)
        candidates = np.flatnonzero(finite)
        test = np.asarray(contents.test)
        classes, numbers = None, None
        if contents.continuous:
            numbers = np.asarray(contents.labels, dtype=np.float64)
            # Tenths of the labels, so that a sample keeps their distribution.
            known = numbers[np.isfinite(numbers)]
            tenths = np.linspace(0.1, 0.9, 9)
            strata = np.searchsorted(np.quantile(known, tenths), numbers) if known.size else test
        else:
            classes = read_classes(contents.labels)
            strata = classes.codes.astype(np.int64)
        rows = candidates[stratified(2 * strata[candidates] + test[candidates])]
        k = np.shape(contents.Z)[1]
        k = min(k, MOST_COMPONENTS, max(3, MOST_NUMBERS // max(1, len(rows))))
        return cls(contents, rows, k, classes, numbers, len(test) - len(candidates))

    @property
    def groups(self) -> list[str]:
        if self.classes is not None:
            return self.classes.groups
        return ["labelled", "no label"] if self.group.any() else ["labelled"]

    @property
    def group(self) -> NDArray[np.uint8]:
        """(n,): the group of every row, drawn or not."""
        if self.classes is not None:
            return self.classes.group
        assert self.numbers is not None
        return (~np.isfinite(self.numbers)).astype(np.uint8)

    def limits(self) -> tuple[float, float]:
        """Where the colours end: outliers must not take all of them."""
        assert self.numbers is not None
        known = self.numbers[np.isfinite(self.numbers)]
        low, high = np.quantile(known, [0.01, 0.99]) if known.size else (0.0, 1.0)
        return float(low), float(high if high > low else low + 1)

    def spec(self) -> dict[str, Any]:
        """All that the script needs, ready for JSON."""
        rows, contents = self.rows, self.contents
        Z = np.asarray(contents.Z)[rows]
        spec: dict[str, Any] = {
            "components": [pack(Z[:, j].astype(np.float32)) for j in range(self.k)],
            "heldout": pack(np.asarray(contents.test)[rows].astype(np.uint8)),
            "group": pack(self.group[rows]),
            "groups": [
                {"name": name, "other": g >= self._named} for g, name in enumerate(self.groups)
            ],
            "columns": [pack_column(str(name), v, rows) for name, v in contents.hover.items()],
        }
        if len(rows) < len(contents.Z):
            spec["rows"] = pack(rows.astype(np.uint32))
        if self.classes is not None:
            small = np.min_scalar_type(max(0, len(self.classes.names) - 1))
            spec["names"] = self.classes.names
            spec["codes"] = pack(self.classes.codes[rows].astype(small))
        else:
            assert self.numbers is not None
            spec["numbers"] = pack(self.numbers[rows])
            spec["low"], spec["high"] = self.limits()
        return spec

    @property
    def _named(self) -> int:
        """Groups with a colour of their own; the one after them is grey."""
        return 1 if self.classes is None else len(self.classes.shown)

    @property
    def _pooled(self) -> bool:
        """Whether small classes share one group."""
        return self.classes is not None and len(self.classes.shown) < len(self.classes.names)

    def sentences(self) -> str:
        """What is drawn and what is not, with the numbers."""
        n, drawn, k = len(self.contents.Z), len(self.rows), np.shape(self.contents.Z)[1]
        told = []
        if drawn + self.lost < n:
            told.append(
                f"Of {n:,} rows a sample of {drawn:,} is drawn (the limit is {LIMIT:,}), "
                "stratified by label and part; scores use all rows."
            )
        if self.lost:
            told.append(f"Rows without finite coordinates are not drawn: {self.lost:,}.")
        if self.k < k:
            told.append(f"The first {self.k} of {k:,} components can be chosen as axes.")
        if self.classes is not None and self._pooled:
            told.append(
                f"The legend has the {MOST_GROUPS} largest of {len(self.classes.names):,} classes; "
                "the others are grey, and can be found by name."
            )
        return f'<p class="notice">{escape(" ".join(told))}</p>\n' if told else ""

    def summary(self) -> str:
        """The picture in words."""
        contents = self.contents
        Z, held = np.asarray(contents.Z)[self.rows], np.asarray(contents.test)[self.rows]
        train = "hollow" if len(self.rows) <= 5000 and not contents.continuous else "faint"
        text = f"Every point is a row. Held-out rows are filled, training rows {train}. "
        if np.shape(contents.Z)[1] > 1:
            text += "Its place is given by components 1 and 2"
        else:
            text += "Its place across is component 1; up and down is "
            text += "its label" if contents.continuous else "its class, spread a little at random"
        if self.classes is not None:
            told = f"{MOST_GROUPS} largest" if self._pooled else str(len(self.classes.names))
            text += f". Colour and shape tell the {told} classes apart"
        else:
            text += ". Colour is the label"
        spans = [
            f"component {j + 1} runs from {Z[:, j].min():.3g} to {Z[:, j].max():.3g}"
            for j in range(min(2, Z.shape[1]))
        ]
        counts = f"{len(Z):,} points, {int(held.sum()):,} of them held out"
        return paragraph(f"{text}. {counts}; {' and '.join(spans)}.") if len(Z) else ""

    def centres(self) -> str:
        """Where the groups lie, as a table: the picture for those who do not see it."""
        if self.classes is None:
            return ""
        Z, groups = np.asarray(self.contents.Z)[self.rows], self.group[self.rows]
        held = np.asarray(self.contents.test)[self.rows]
        shown = range(min(3, Z.shape[1]))
        lines = []
        for g, name in enumerate(self.groups):
            mine = groups == g
            means = [f"{Z[mine, j].mean():.3g}" if mine.any() else "" for j in shown]
            lines.append([name, f"{mine.sum():,}", f"{(mine & held).sum():,}", *means])
        heads = ["Class", "Points", "Held out", *(f"Mean of component {j + 1}" for j in shown)]
        return (
            "<details><summary>Where the classes lie, as a table</summary>"
            f"{table(heads, lines)}</details>\n"
        )

    def legend(self) -> str:
        """Check boxes for classes, or a colour bar."""
        sizes = np.bincount(self.group[self.rows], minlength=len(self.groups))
        items = []
        for g, name in enumerate(self.groups):
            other = g >= self._named
            colour = "other" if other else f"c{g % COLOURS}"
            shape = "circle" if other else SHAPES[g // COLOURS % len(SHAPES)]
            if self.classes is None and not other:
                swatch = ""
            else:
                swatch = (
                    f'<svg class="swatch" viewBox="0 0 16 16" aria-hidden="true" '
                    f'style="fill: var(--{colour})">{OUTLINES[shape]}</svg>'
                )
            items.append(
                f'<li><label><input type="checkbox" checked>{swatch}'
                f'<bdi title="{escape(name)}">{escape(name)}</bdi>'
                f'<span class="count">{sizes[g]:,}</span></label></li>'
            )
        listed = f'<ul id="legend" aria-label="Shown in the picture">{"".join(items)}</ul>'
        if self.classes is None:
            low, high = self.limits()
            return (
                '<h3>Label</h3><div class="colourbar" role="img" aria-label="Colours from '
                f'{low:.4g} to {high:.4g}"></div><div class="ends"><span>≤ {low:.4g}</span>'
                f'<span>≥ {high:.4g}</span></div><p class="soft small">Colours end at the 1st '
                f"and 99th percentile.</p>{listed}"
            )
        search = ""
        if self._pooled:
            search = (
                '<form id="find-class" class="row" autocomplete="off"><input type="text" '
                'id="class" list="class-names" aria-label="Find a class by name" '
                'placeholder="Find a class"><button>Ring</button>'
                '<datalist id="class-names"></datalist></form>'
            )
        return (
            '<h3>Classes</h3><div class="row"><button type="button" id="all">All</button>'
            f'<button type="button" id="none">None</button></div>{search}{listed}'
        )
