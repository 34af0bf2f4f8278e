"""The pair for `pyspark.ml`: an estimator, its model, and both in folders.

A folder holds what Spark writes for any stage (metadata/, JSON) and a file of ours as the one row
of a table (labelens/, parquet), so that it may lie on any file system that Spark writes to.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from sklearn.base import clone

from .._fit.projection import Projection
from ..persist import load, load_method, save, save_method
from .frames import Columns, fit, transform


def _columns(value: Any) -> str | list[str]:
    """One column, or several."""
    return value if isinstance(value, str) else TypeConverters.toListString(value)


class _Columns(Params):
    featuresCol: Any = Param(Params._dummy(), "featuresCol", "one column or a list", _columns)
    labelCol: Any = Param(Params._dummy(), "labelCol", "one column or a list, or none", _columns)
    outputCol: Any = Param(
        Params._dummy(), "outputCol", "the column of embeddings", TypeConverters.toString
    )

    def __init__(self, **columns: Any) -> None:
        super().__init__()
        self._setDefault(featuresCol="features", labelCol="label", outputCol="embedding")
        if columns.get("labelCol", "") is None:
            columns["labelCol"] = []
        self._set(**columns)


class LabelensEstimator(_Columns, Estimator, MLReadable, MLWritable):
    """A method of labelens as a stage of a `pyspark.ml.Pipeline`.

    Parameters
    ----------
    estimator : one of the four methods; it is not changed
    featuresCol : str or list of str, default="features"
        As in `labelens.spark.fit`.
    labelCol : str, list of str or None, default="label"
    outputCol : str, default="embedding"
        The column that the model adds, of vectors.
    """

    def __init__(self, estimator: Projection, **columns: Columns | None) -> None:
        super().__init__(**columns)
        self.estimator = estimator

    def _fit(self, dataset: Any) -> LabelensModel:
        columns = {name: self.getOrDefault(name) for name in ("featuresCol", "labelCol")}
        model = fit(clone(self.estimator), dataset, columns["featuresCol"], columns["labelCol"])
        return LabelensModel(model, **columns, outputCol=self.getOrDefault("outputCol"))

    def write(self) -> MLWriter:
        return _Writer(self, save_method, self.estimator)

    @classmethod
    def read(cls) -> MLReader:
        return _ModelReader(cls, load_method)


class LabelensModel(_Columns, Model, MLReadable, MLWritable):
    """The fitted form of a `LabelensEstimator`; `model` is the fitted estimator."""

    def __init__(self, model: Projection, **columns: Columns | None) -> None:
        super().__init__(**columns)
        self.model = model

    def _transform(self, dataset: Any) -> Any:
        features, output = self.getOrDefault("featuresCol"), self.getOrDefault("outputCol")
        return transform(self.model, dataset, output, features=features, vector=True)

    def write(self) -> MLWriter:
        return _Writer(self, save, self.model)

    @classmethod
    def read(cls) -> MLReader:
        return _ModelReader(cls, load)


# Folders -----------------------------------------------------------------------------------------


class _Writer(MLWriter):
    def __init__(self, stage: Any, save: Callable[[Any, Path], None], held: Any) -> None:
        super().__init__()
        self._stage, self._save, self._held = stage, save, held

    def save(self, path: str) -> None:
        # By modes of writing, because what Spark has for replacing folders is not on Connect.
        mode, spark = "overwrite" if self.shouldOverwrite else "error", self.sparkSession
        with TemporaryDirectory() as folder:
            file = Path(folder, "model.labelens")
            self._save(self._held, file)
            row = (bytearray(file.read_bytes()),)
        facts = DefaultParamsWriter._get_metadata_to_save(self._stage, spark)
        metadata, ours = (posixpath.join(path, name) for name in ("metadata", "labelens"))
        table = spark.createDataFrame([(facts,)], "value string")
        table.coalesce(1).write.mode(mode).text(metadata)
        table = spark.createDataFrame([row], "file binary")
        table.coalesce(1).write.mode(mode).parquet(ours)


class _ModelReader(MLReader):
    def __init__(self, kind: Any, load: Callable[[Path], Any]) -> None:
        super().__init__()
        self._kind, self._load = kind, load

    def load(self, path: str) -> Any:
        spark, name = self.sparkSession, f"{self._kind.__module__}.{self._kind.__qualname__}"
        metadata = DefaultParamsReader.loadMetadata(path, spark)
        if metadata["class"] != name:
            raise ValueError(f"{path} holds a {metadata['class']}, not a {name}.")
        row: Any = spark.read.parquet(posixpath.join(path, "labelens")).first()
        with TemporaryDirectory() as folder:
            file = Path(folder, "model.labelens")
            file.write_bytes(row["file"])
            stage = self._kind(self._load(file))
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage
