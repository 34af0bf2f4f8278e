"""What one label gives the picture: groups of rows, each with its colour, shape and legend."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.page import table
from .classes import COLOURS, MOST_GROUPS, SHAPES, Classes, read_classes
from .columns import pack

OUTLINES = {
    "circle": '<circle cx="8" cy="8" r="6.5"/>',
    "square": '<rect x="2" y="2" width="12" height="12"/>',
    "diamond": '<path d="M8 .5 15.5 8 8 15.5.5 8Z"/>',
    "cross": '<path d="M5.5 1h5v4.5H15v5h-4.5V15h-5v-4.5H1v-5h4.5Z"/>',
}


@dataclass(frozen=True, eq=False)
class LabelColours:
    name: str
    classes: Classes | None  # None for numbers
    numbers: NDArray[np.float64] | None  # (n,)

    @classmethod
    def of(cls, name: str, values: Any, continuous: bool) -> LabelColours:
        if continuous:
            return cls(name, None, np.asarray(values, dtype=np.float64))
        return cls(name, read_classes(values), None)

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

    @property
    def pooled(self) -> bool:
        """Whether small classes share one group."""
        return self.classes is not None and len(self.classes.shown) < len(self.classes.names)

    @property
    def _named(self) -> int:
        """Groups with a colour of their own; the one after them is grey."""
        return 1 if self.classes is None else len(self.classes.shown)

    def strata(self) -> NDArray[np.int64]:
        """(n,) what a sample keeps the shares of: classes, or tenths of numbers."""
        if self.classes is not None:
            return self.classes.codes.astype(np.int64)
        assert self.numbers is not None
        known = self.numbers[np.isfinite(self.numbers)]
        if not known.size:
            return np.zeros(len(self.numbers), dtype=np.int64)
        return np.searchsorted(np.quantile(known, np.linspace(0.1, 0.9, 9)), self.numbers)

    def limits(self) -> tuple[float, float]:
        """Where the colours end: outliers must not take all of them."""
        assert self.numbers is not None
        known = self.numbers[np.isfinite(self.numbers)]
        low, high = np.quantile(known, [0.01, 0.99]) if known.size else (0.0, 1.0)
        return float(low), float(high if high > low else low + 1)

    def spec(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """What the script needs of it, ready for JSON."""
        spec: dict[str, Any] = {
            "name": self.name,
            "group": pack(self.group[rows]),
            "groups": [
                {"name": name, "other": g >= self._named} for g, name in enumerate(self.groups)
            ],
        }
        if self.classes is not None:
            small = np.min_scalar_type(max(0, len(self.classes.names) - 1))
            spec["names"] = self.classes.names
            spec["codes"] = pack(self.classes.codes[rows].astype(small))
        else:
            assert self.numbers is not None
            spec["numbers"] = pack(self.numbers[rows])
            spec["low"], spec["high"] = self.limits()
        return spec

    def cut(self) -> str:
        """That some classes have no colour of their own."""
        assert self.classes is not None
        return (
            f"The legend has the {MOST_GROUPS} largest of {len(self.classes.names):,} classes; "
            "the others are grey, and can be found by name."
        )

    def sentence(self) -> str:
        if self.classes is None:
            return "Colour is the label. "
        told = f"{MOST_GROUPS} largest" if self.pooled else str(len(self.classes.names))
        return f"Colour and shape tell the {told} classes apart. "

    def centres(
        self, Z: NDArray[Any], test: NDArray[np.bool_], rows: NDArray[np.int64], named: bool
    ) -> str:
        """Where the groups of the rows drawn lie, as a table; nothing for numbers."""
        if self.classes is None:
            return ""
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
        """Check boxes for classes, or a colour bar."""
        sizes = np.bincount(self.group[rows], minlength=len(self.groups))
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
                f"{self._heading(named, 'Label')}"
                '<div class="colourbar" role="img" aria-label="Colours from '
                f'{low:.4g} to {high:.4g}"></div><div class="ends"><span>≤ {low:.4g}</span>'
                f'<span>≥ {high:.4g}</span></div><p class="soft small">Colours end at the 1st '
                f"and 99th percentile.</p>{listed}"
            )
        search = ""
        if self.pooled:
            search = (
                '<form id="find-class" class="row" autocomplete="off"><input type="text" '
                'id="class" list="class-names" aria-label="Find a class by name" '
                'placeholder="Find a class"><button>Ring</button>'
                '<datalist id="class-names"></datalist></form>'
            )
        return (
            f"{self._heading(named, 'Classes')}"
            '<div class="row"><button type="button" id="all">All</button>'
            f'<button type="button" id="none">None</button></div>{search}{listed}'
        )

    def _heading(self, named: bool, otherwise: str) -> str:
        return f"<h3><bdi>{escape(self.name if named else otherwise)}</bdi></h3>"
