"""An embedding as a column of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.optional import require
from .._base.threads import working
from .._base.validation import check_is_fitted
from .._core.moments import SavedSummary
from .._engines.sources.rows import ColumnLayout
from .._fit.fitted import embed_rows
from .._fit.projection import Projection
from .frames import CALLED, Columns
from .schema import FrameColumns, numbered, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def transform(
    model: Projection,
    df: DataFrame,
    output: str = "embedding",
    *,
    features: Columns | None = None,
    vector: bool = False,
) -> DataFrame:
    """Add the embedding of every row as a column.

    Nothing is computed before the result is asked for. (Where features are arrays or vectors, the
    first row is, to see how long they are.) See docs/spark.md for examples.

    Parameters
    ----------
    model : one of the four methods, fitted
    df : pyspark.sql.DataFrame, of a classic session or of Spark Connect
    output : str, default="embedding"
        The new column.
    features : str or list of str, default=None
        Columns, as in `labelens.spark.fit`; None: those that the model was fitted on, by their
        names.
    vector : bool, default=False
        Whether the column holds vectors (`pyspark.ml.linalg`), which stages of pipelines read;
        otherwise arrays, of floats if all features are, else of doubles.

    Returns
    -------
    pyspark.sql.DataFrame
        All columns of `df`, and then the new one.
    """
    types = require("pyspark.sql.types", extra="spark")
    check_is_fitted(model, "moments_")
    if output in df.columns:
        raise ValueError(f"The DataFrame has a column {output!r} already; name another as output.")
    if features is None:
        features = getattr(model, "feature_names_in_", None)
        if features is None:
            raise ValueError(
                "The model does not know the names of the columns it was fitted on; name them as "
                "features."
            )
    columns = FrameColumns.of(df, features).measured(df)
    if columns is None:  # nobody knows how long lists are that are not there
        columns = ColumnLayout((), ())
    elif columns.head.shape[1] != model.n_features_in_:
        raise ValueError(
            f"These features are {columns.head.shape[1]} columns, and the model was fitted on "
            f"{model.n_features_in_}."
        )
    single = columns.features and columns.head.dtype == np.float32
    kind = types.FloatType() if single and not vector else types.DoubleType()
    added = types.StructField(output, types.ArrayType(kind, containsNull=False), nullable=False)
    schema = types.StructType([*df.schema.fields, added])
    names = [*df.columns, output]
    embedded = numbered(df).mapInArrow(Embed(sealed(model), columns, names, vector), schema)
    if not vector:
        return embedded
    as_vector = require("pyspark.ml.functions", extra="spark").array_to_vector
    return embedded.withColumn(output, as_vector(quoted(output)))


@dataclass(frozen=True)
class Embed:
    """What a Python worker of Spark does with the record batches of a partition."""

    model: Any
    columns: ColumnLayout
    names: list[str]  # of all columns, the new one last
    doubles: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = require("pyarrow", extra="spark")
        taken = [self.names.index(name) for name in self.columns.wanted()]
        for batch in batches:
            if batch.num_rows == 0:
                continue
            X = self.columns.matrix(batch.select(taken), CALLED)
            with working():
                Z = embed_rows(self.model, X, check_columns=False)
            Z = Z.astype(np.float64, copy=False) if self.doubles else Z
            ends = pa.array(np.arange(0, Z.size + 1, Z.shape[1], dtype=np.int32))
            column = pa.ListArray.from_arrays(ends, pa.array(Z.reshape(-1)))
            yield pa.RecordBatch.from_arrays([*batch.columns, column], self.names)


def sealed(model: Any) -> Any:
    """What a worker needs of the model, without the moments."""
    model._solve()
    kept = copy(model)
    known = model.moments_.to(None)
    rows = known.rows if model._recipe.phi is None else None
    kept.moments_ = SavedSummary(known.n_samples, known.classes, rows)
    return kept
