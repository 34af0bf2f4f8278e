"""Fits and embeddings of a DataFrame: a partition is a part, a task is a step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from .._base.optional import require
from .._base.threads import cached_property, working
from .._base.validation import unchanged_on_error
from .._core.moments import BLOCK_ROWS, SavedSummary
from .._engines.parts import (
    Merge,
    Part,
    Parts,
    Refused,
    Step,
    attempt,
    merge_in_tree,
    unless_refused,
)
from .._engines.sources.rows import ColumnLayout, EncodedLayout
from .._fit.driver import fit_rows
from .._fit.fitted import recipe_of, solution_of
from .._fit.projection import Projection
from .._fit.recipe import block_rows
from .._judge.classes import RowMap, embed_chunk, method_of
from ..tables import TableEncoder
from .partials import dumped, loaded
from .schema import FrameColumns, numbered, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CALLED = "the DataFrame"
# Bytes of the rows that a task has in hand at a time.
CHUNK_BYTES = 16 << 20
ANSWER = "part int, rows long, partial binary"

Estimator = TypeVar("Estimator", bound=Projection)
Columns = str | Sequence[str]


def fit(
    estimator: Estimator,
    df: DataFrame,
    features: Columns | None = None,
    label: Columns | None = None,
    encoder: TableEncoder | None = None,
) -> Estimator:
    """Fit an estimator on a DataFrame of Spark, where its rows are.

    The model is that of one machine: the bits of `estimator.fit` for one partition; for several
    those of one machine that goes through the same partitions, and to 1e-12 those of
    `estimator.fit` on all rows. Tasks that fail are run again by Spark and change nothing.

    Every pass reads the DataFrame anew, so its partitions must hold the same rows each time:
    `persist` it, or write it to files, where they come from a shuffle or from random numbers. A
    partition whose number of rows has changed raises an error. See docs/engines.md for examples.

    Parameters
    ----------
    estimator : one of the four methods
        It is fitted, or left as it was if anything goes wrong.
    df : pyspark.sql.DataFrame, of a classic session or of Spark Connect
    features : str or list of str, default=None
        Columns of numbers, of arrays of numbers, or of vectors (`pyspark.ml.linalg`), all as long
        as those in the first row; None: all columns but the labels. Vectors stay sparse if there is
        one column of them, the first is sparse, and it has more than 4096 entries.
    label : str or list of str, default=None
        The column of labels, or several. None: no labels.
    encoder : labelens.tables.TableEncoder, default=None
        Turns columns of any type into numbers. One that is not fitted is fitted on all rows first,
        where they are.

    Returns
    -------
    estimator
    """
    require("pyspark", extra="spark")
    if not isinstance(estimator, Projection):
        name = type(estimator).__name__
        raise TypeError(f"labelens.spark.fit takes one of the four methods, got {name}.")
    wanted = FrameColumns.of(df, features, label, encoder is not None)
    if encoder is not None:
        if not hasattr(encoder, "columns_"):
            _fit_encoder(encoder, df, list(wanted.features))
        wanted = FrameColumns.of(df, [c.name for c in encoder.columns_], label, encoded=True)
    parts = FrameParts(df, wanted, getattr(estimator, "batch_size", None), encoder)
    fit_rows(estimator, parts)
    return estimator


def _fit_encoder(encoder: TableEncoder, frame: Any, names: list[str]) -> None:
    """By one encoder for each partition, merged in their order."""
    task = EncoderTask(clone(encoder), names)
    with workers_in_words():
        answers = numbered(frame.select(*map(quoted, names))).mapInArrow(task, ANSWER).collect()
    with unchanged_on_error(encoder):
        for answer in sorted(answers, key=lambda answer: answer.part):
            if answer.rows:
                encoder.merge(unless_refused(loaded(answer.partial)))
    if not hasattr(encoder, "columns_"):
        raise ValueError(f"There are no rows in {CALLED}.")


@dataclass(frozen=True)
class EncoderTask:
    """The step of a Python worker of Spark that describes the columns of a partition."""

    encoder: TableEncoder
    names: list[str]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        number, seen = _partition(), 0

        def fitted(part: Any) -> TableEncoder:
            nonlocal seen
            for batch in batches:
                seen += batch.num_rows
                if batch.num_rows:
                    self.encoder.partial_fit(batch.rename_columns(self.names).to_pandas())
            return self.encoder

        partial = attempt(fitted, Part(number, f"part {number} of {CALLED}", None, iter(())))
        yield _answer(number, max(seen, int(isinstance(partial, Refused))), partial)


class FrameParts(Parts):
    title = CALLED

    def __init__(
        self,
        frame: Any,
        wanted: FrameColumns,
        batch_size: int | None,
        encoder: TableEncoder | None = None,
    ) -> None:
        # One plan for all passes: with other columns Spark might cut partitions elsewhere.
        self._frame = wanted.selected(frame)
        self._wanted, self._batch_size, self._encoder = wanted, batch_size, encoder
        self.labelled = bool(wanted.labels)
        self._known_lengths: tuple[int, ...] | None = None

    @cached_property
    def columns(self) -> ColumnLayout:
        if self._encoder is not None:
            return EncodedLayout.of(self._wanted.labels, self._encoder)
        found = self._wanted.measured(self._frame)
        if found is None:
            raise ValueError(f"There are no rows in {self.title}.")
        return found

    @property
    def names(self) -> list[str]:  # type: ignore[override]
        return self.columns.names

    def each(self, step: Step) -> Iterator[Any]:
        # One job a part. (On Connect one for all, which is cancelled when no more are asked for;
        # take() would be worse: there it cuts every part short, and a worker cut short is killed.)
        with workers_in_words():
            for answer in self._answers(step, True, None).toLocalIterator():
                yield unless_refused(loaded(answer.partial))

    def reduce(self, step: Step, merge: Merge, features: bool = True) -> Any:
        before = self._known_lengths
        with workers_in_words():
            answers = self._answers(step, features, before).collect()
        answers.sort(key=lambda answer: answer.part)
        total = unless_refused(merge_in_tree((loaded(a.partial) for a in answers), merge))
        if before is not None and len(before) != len(answers):
            raise ValueError(changed(f"there were {len(before)}, and now {len(answers)}"))
        self._known_lengths = tuple(answer.rows for answer in answers)
        return total

    def lengths(self) -> Sequence[int]:
        return super().lengths() if self._known_lengths is None else self._known_lengths

    def _answers(self, step: Step, features: bool, lengths: tuple[int, ...] | None) -> Any:
        head = self.columns.head
        unit = lcm(BLOCK_ROWS, block_rows(head, self._batch_size))
        row_bytes = max(1, head.shape[1] * head.dtype.itemsize)
        rows = max(1, CHUNK_BYTES // row_bytes // unit) * unit
        task = PartitionTask(step, self.columns, rows, features, lengths)
        return numbered(self._frame).mapInArrow(task, ANSWER)


@dataclass(frozen=True)
class PartitionTask:
    """What a Python worker of Spark does with the record batches of a partition."""

    step: Step
    columns: ColumnLayout
    rows: int  # in a chunk
    features: bool
    lengths: tuple[int, ...] | None  # of all partitions, in an earlier pass

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        number = _partition()
        title, seen = f"part {number} of {CALLED}", 0

        def counted() -> Iterator[tuple[Any, str]]:
            nonlocal seen
            for batch in batches:
                seen += batch.num_rows
                yield batch, title

        chunks = self.columns.chunks(counted(), self.rows, self.features)
        partial: Any = None
        if self.lengths is None or number < len(self.lengths):
            partial = attempt(self.step, Part(number, title, self.columns.names, chunks))
        if self.lengths is not None and not isinstance(partial, Refused):
            before = self.lengths[number : number + 1]
            if before != (seen,):
                what = f"number {number} had {sum(before)} rows, and now {seen}"
                partial = Refused(ValueError, changed(what))
        yield _answer(number, seen, partial)


def _partition() -> int:
    return int(require("pyspark", extra="spark").TaskContext.get().partitionId())


def _answer(number: int, rows: int, partial: Any) -> Any:
    pa = require("pyarrow", extra="spark")
    return pa.RecordBatch.from_pydict(
        {
            "part": pa.array([number], pa.int32()),
            "rows": pa.array([rows], pa.int64()),
            "partial": pa.array([dumped(partial)], pa.binary()),
        }
    )


def changed(what: str) -> str:
    return (
        f"The partitions of the DataFrame are not the same in every pass ({what}): persist() it, "
        "or write it to files and read these."
    )


@contextmanager
def workers_in_words() -> Iterator[None]:
    """Report in one sentence, without Java's traceback, why Python workers do not start.

    Spark raises it as one of its own exceptions, or, from an iterator, as one of Java's.
    """
    try:
        yield
    except Exception as error:
        told = f"{type(error)} {error}"
        missing = re.search(r"PythonException.*No module named '([^']+)'", told, re.DOTALL)
        if missing is None:
            raise
        raise ModuleNotFoundError(
            f"The Python workers of Spark cannot import {missing[1]}: install labelens[spark] in "
            "the environment that PYSPARK_PYTHON names on every node, or send one by addArtifacts.",
            name=missing[1],
        ) from None


# Embedding -------------------------------------------------------------------------------------


def transform(
    model: Projection | RowMap,
    df: DataFrame,
    output: str = "embedding",
    *,
    features: Columns | None = None,
    vector: bool = False,
    encoder: TableEncoder | None = None,
) -> DataFrame:
    """Add the embedding of every row as a column.

    Nothing is computed before the result is asked for. (Where features are arrays or vectors, the
    first row is, to see how long they are.) See docs/engines.md for examples.

    Parameters
    ----------
    model : one of the four methods or a map (Atlas, ValueMap, Wheel) of one, fitted
    df : pyspark.sql.DataFrame, of a classic session or of Spark Connect
    output : str, default="embedding"
        The new column.
    features : str or list of str, default=None
        Columns, as in `labelens.spark.fit`; None: those that the model was fitted on, by their
        names.
    vector : bool, default=False
        Whether the column holds vectors (`pyspark.ml.linalg`), which stages of pipelines read;
        otherwise arrays, of floats if all features are, else of doubles.
    encoder : labelens.tables.TableEncoder, default=None
        The one that the model was fitted with, in place of features.

    Returns
    -------
    pyspark.sql.DataFrame
        All columns of `df`, and then the new one.
    """
    types = require("pyspark.sql.types", extra="spark")
    method_of(model, "labelens.spark.transform")
    if output in df.columns:
        raise ValueError(f"The DataFrame has a column {output!r} already; name another as output.")
    if encoder is not None:
        FrameColumns.of(df, [c.name for c in encoder.columns_], encoded=True)
    elif features is None:
        features = getattr(model, "feature_names_in_", None)
        if features is None:
            raise ValueError("The model was fitted without column names; pass them as features.")
    columns: ColumnLayout | None
    if encoder is None:
        columns = FrameColumns.of(df, features).measured(df)
    else:
        columns = EncodedLayout.of((), encoder)
    if columns is None:  # without rows the lengths of lists are unknown
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
                Z = embed_chunk(self.model, X, check_columns=False)
            Z = Z.astype(np.float64, copy=False) if self.doubles else Z
            ends = pa.array(np.arange(0, Z.size + 1, Z.shape[1], dtype=np.int32))
            column = pa.ListArray.from_arrays(ends, pa.array(Z.reshape(-1)))
            yield pa.RecordBatch.from_arrays([*batch.columns, column], self.names)


def sealed(model: Any) -> Any:
    """The model without its moments, for workers."""
    kept = copy(model)
    if not isinstance(model, Projection):  # a map
        kept.estimator_ = sealed(model.estimator_)
        vars(kept).pop("_grown", None)
        return kept
    solution_of(model)
    known = model.moments_.to(None)
    rows = known.rows if recipe_of(model).phi is None else None
    kept.moments_ = SavedSummary(known.n_samples, known.classes, rows)
    return kept
