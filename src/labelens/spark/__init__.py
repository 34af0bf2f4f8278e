"""DataFrames of Spark: `fit` and `transform` where the rows are, and a pair for `pyspark.ml`.

frames.py    `fit`: a partial result for each partition; `transform`: an embedding as a column
schema.py    which columns are taken, and of what kind
partials.py  partial results as bytes, and back without trust
pipeline.py  LabelensEstimator and LabelensModel; the only file that needs pyspark to be imported

All runs by `mapInArrow`, on Spark Connect too; the Python workers need labelens installed.
"""

from __future__ import annotations

from typing import Any

from .frames import fit, transform

__all__ = ["LabelensEstimator", "LabelensModel", "fit", "transform"]


def __getattr__(name: str) -> Any:
    if name in ("LabelensEstimator", "LabelensModel"):
        from .._base.optional import require

        require("pyspark", extra="spark")
        from . import pipeline

        return getattr(pipeline, name)
    raise AttributeError(f"labelens.spark has no {name!r}.")
