"""How the columns of a table became features, into a file and out of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables import Encoding
from .maps import Puts
from .strict import FLOAT, NOTHING, TEXT, WHOLE, Arrays, fields


def put_table(table: Encoding, estimator: Any, arrays: Puts) -> dict[str, Any]:
    if list(table.names) != list(getattr(estimator, "feature_names_in_", ())):
        raise ValueError("The columns of the table are not those that the model was fitted on.")
    arrays["table.splits"] = np.array(table.splits, dtype=np.int64)
    if table.fill:
        arrays["table.fill"] = np.array(table.fill, dtype=np.float64)
    return {"impute": table.impute}


def take_table(facts: Any, names: Any, arrays: Arrays) -> Encoding | None:
    if facts is None:
        return None
    impute = fields(facts, "its table", impute=TEXT + NOTHING)["impute"]
    splits = arrays.take("table.splits", WHOLE, "d").tolist()
    fill = arrays.take("table.fill", FLOAT, "d").tolist() if "table.fill" in arrays else ()
    if names is None:
        raise ValueError("it has a table without names of features")
    return Encoding(tuple(names), tuple(splits), impute, tuple(fill))
