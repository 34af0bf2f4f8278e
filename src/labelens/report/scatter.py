"""The interactive scatter: its data as packed arrays, and the same in words."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.page import paragraph
from .colouring import (
    LIMIT,
    Classes,
    Colouring,
    families,
    read_colouring,
    read_column,
    stratified,
)
from .columns import as_text, pack
from .contents import Contents

MOST_NUMBERS = 160_000  # coordinates in a page, unless three components have more: 0.9 MB
MOST_COMPONENTS = 50


@dataclass(frozen=True, eq=False)
class ScatterPlot:
    """The data of the plot: rows, components and labels."""

    contents: Contents
    rows: NDArray[np.int64]  # the rows drawn
    k: int  # components to choose from
    colourings: list[Colouring]  # one for every label
    lost: int  # rows without finite coordinates

    @classmethod
    def of(cls, contents: Contents) -> ScatterPlot:
        # A browser draws float32: values that are not finite there cannot be drawn.
        with np.errstate(over="ignore"):
            finite = np.isfinite(np.asarray(contents.Z, dtype=np.float32)).all(axis=1)
        candidates = np.flatnonzero(finite)
        test = np.asarray(contents.test)
        colourings = [
            read_colouring(name, label.values, contents.continuous)
            for name, label in contents.labels.items()
        ]
        strata = test.astype(np.int64)
        for colouring in colourings:
            codes = colouring.strata()
            # Renumbered after each label, so that many labels do not overflow.
            strata = np.unique(strata * (codes.max() + 1) + codes, return_inverse=True)[1]
        rows = candidates[stratified(strata[candidates])]
        k = np.shape(contents.Z)[1]
        k = min(k, MOST_COMPONENTS, max(3, MOST_NUMBERS // max(1, len(rows))))
        return cls(contents, rows, k, colourings, len(test) - len(candidates))

    def spec(self) -> dict[str, Any]:
        """All that the script needs, ready for JSON."""
        test = np.asarray(self.contents.test)[self.rows]
        rows = self.rows[np.argsort(test, kind="stable")]  # training rows first
        Z = np.asarray(self.contents.Z)[rows]
        hover = [read_column(str(name), values) for name, values in self.contents.hover.items()]
        return {
            "components": [pack(Z[:, j].astype(np.float32)) for j in range(self.k)],
            "trained": int((~test).sum()),
            "rows": pack(rows.astype(np.uint32)),
            "discs": self.discs,
            "columns": [
                one.head()
                | self._families(one, Z, rows)
                | {"name": one.name, "values": pack(narrowest(one.codes[rows]))}
                for one in [*self.colourings, *hover]
            ],
        }

    @property
    def discs(self) -> list[list[float] | None]:
        """Centre and radius of the disc of each class of the first label, of a flat atlas."""
        model: Any = self.contents.model
        if not hasattr(model, "radii_") or np.shape(model.anchors_)[1] != 2:
            return []
        found = np.column_stack([model.anchors_, model.detail * model.radii_]).tolist()
        named = dict(zip(map(as_text, model.classes_.tolist()), found, strict=True))
        return [named.get(name) for name in self.colourings[0].names]

    def _families(self, one: Colouring, Z: Any, rows: NDArray[np.int64]) -> dict[str, Any]:
        if isinstance(one, Classes) and one.pooled and one in self.colourings:
            return {"families": families(one.codes[rows], Z, len(one.names))}
        return {}

    def sentences(self) -> str:
        """Which rows and components are drawn."""
        n, drawn, k = len(self.contents.Z), len(self.rows), np.shape(self.contents.Z)[1]
        notices = []
        if drawn + self.lost < n:
            notices.append(
                f"The map has a sample of {drawn:,} of {n:,} rows (the limit is {LIMIT:,}), "
                "stratified by label and part."
            )
        if self.lost:
            notices.append(f"Rows without finite coordinates are not drawn: {self.lost:,}.")
        if self.k < k:
            notices.append(f"The first {self.k} of {k:,} components can be chosen as axes.")
        notices += [
            one.notice() for one in self.colourings if isinstance(one, Classes) and one.pooled
        ]
        return f'<p class="notice">{escape(" ".join(notices))}</p>\n' if notices else ""

    def summary(self) -> str:
        """The plot in words."""
        contents = self.contents
        Z, held = np.asarray(contents.Z)[self.rows], np.asarray(contents.test)[self.rows]
        text = "Every point is a row. Held-out rows are solid, training rows pale. "
        if self.discs:
            text += "Circles are the discs of the classes; the axes have no meaning. "
        elif np.shape(contents.Z)[1] > 1:
            text += "The axes are components 1 and 2. "
        else:
            text += "The horizontal axis is component 1, the vertical axis the "
            text += "label. " if contents.continuous else "class, with random noise. "
        if len(self.colourings) > 1:
            names = ", ".join(f"“{colouring.name}”" for colouring in self.colourings)
            text += f"“Colour by” selects the column of the colours, such as {names}. "
        else:
            text += self.colourings[0].sentence()
        spans = [
            f"component {j + 1} runs from {Z[:, j].min():.3g} to {Z[:, j].max():.3g}"
            for j in range(0 if self.discs else min(2, Z.shape[1]))
        ]
        counts = f"{len(Z):,} points, {int(held.sum()):,} of them held out"
        told = "; ".join([counts, *([" and ".join(spans)] if spans else [])])
        return paragraph(f"{text}{told}.") if len(Z) else ""

    def centres(self) -> str:
        """Tables of the positions of classes, an alternative to the plot for screen readers."""
        Z, test = np.asarray(self.contents.Z)[self.rows], np.asarray(self.contents.test)[self.rows]
        classes = [each for each in self.colourings if isinstance(each, Classes)]
        return "".join(each.centres(Z, test, self.rows, len(classes) > 1) for each in classes)


def narrowest(values: NDArray[Any]) -> NDArray[Any]:
    """The same values to six digits, whole numbers exactly, in as few bytes as will do."""
    if values.dtype.kind != "f":
        return values.astype(np.min_scalar_type(int(values.max(initial=0))))
    with np.errstate(over="ignore"):
        small = values.astype(np.float32)
    whole = values == np.round(values)
    fits = np.array_equal(small[whole], values[whole]) and np.isinf(small).sum() == 0
    return small if fits else values
