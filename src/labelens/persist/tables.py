"""The table encoder of a model, without its statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables import EncodedColumn, TableEncoder
from ..tables.cells import READINGS
from ..tables.encoder import IMPUTE
from ..tables.encoding import KINDS
from .schema import Puts
from .spelling import put_texts, take_texts
from .strict import FLOAT, WHOLE, Arrays, fields, texts, within

KIND_NAMES, READING_NAMES = list(KINDS), ["", *READINGS]
# For each column: kind, reading, number of levels, number of fills, gaps, clock.
FACTS = 6


def put_table(encoder: TableEncoder, arrays: Puts) -> dict[str, Any]:
    columns = encoder.columns_
    put_texts("table.names", (c.name for c in columns), arrays)
    put_texts("table.levels", (level for c in columns for level in c.levels), arrays)
    arrays["table.fill"] = np.array([v for c in columns for v in c.fill], np.float64)
    arrays["table.facts"] = np.array(
        [
            (
                KIND_NAMES.index(c.kind),
                READING_NAMES.index(c.reading),
                len(c.levels),
                len(c.fill),
                c.gaps,
                c.clock,
            )
            for c in columns
        ],
        np.int64,
    )
    rows = getattr(encoder, "n_samples_seen_", None)
    return {"impute": encoder.impute, "na": list(encoder.na)} | ({"rows": rows} if rows else {})


def take_table(facts: Any, names: list[str] | None, arrays: Arrays) -> TableEncoder:
    """The encoder, whose features are `names`."""
    facts = fields({"rows": None} | facts, "its table", impute=str, na=list, rows=int | None)
    if facts["impute"] not in IMPUTE:
        raise ValueError(f"its table fills gaps with {facts['impute'][:40]!r}")
    na = texts(facts["na"], "what its table takes for gaps")
    called = take_texts("table.names", arrays, "columns of its table")
    rows = arrays.take("table.facts", WHOLE, "columns of its table", FACTS)
    levels = take_texts("table.levels", arrays, "levels of its table")
    fill = arrays.take("table.fill", FLOAT, "values for gaps of its table").tolist()
    highest = np.array([len(KIND_NAMES), len(READING_NAMES), len(levels) + 1, len(fill) + 1, 2, 2])
    if not len(rows) or (rows < 0).any() or (rows >= highest).any():
        raise ValueError("its table has columns of no known kind")
    if rows[:, 2].sum() != len(levels) or rows[:, 3].sum() != len(fill):
        raise ValueError("the columns of its table do not fill their arrays")
    columns, at, value = [], 0, 0
    for name, (kind, reading, n_levels, n_fill, gaps, clock) in zip(
        called, rows.tolist(), strict=True
    ):
        columns.append(
            EncodedColumn(
                name,
                KIND_NAMES[kind],
                READING_NAMES[reading],
                tuple(levels[at : at + n_levels]),
                tuple(fill[value : value + n_fill]),
                bool(gaps),
                bool(clock),
            )
        )
        at, value = at + n_levels, value + n_fill
    encoder = TableEncoder.of(columns, facts["impute"], na)
    if facts["rows"] is not None:
        encoder.n_samples_seen_ = within(facts["rows"], 1, 2**63 - 1, "rows of its table")
    if encoder.get_feature_names_out().tolist() != names:
        raise ValueError("the columns of its table do not fit its features")
    return encoder
