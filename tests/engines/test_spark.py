"""Spark: the model of one machine, columns of every kind, pipelines."""

import datetime
import os
import pickle
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA

import labelens
from engines.here import Here, assert_same_bits, cut
from labelens import (
    Atlas,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    Wheel,
    subspace_distance,
)
from labelens._engines.parts import Refused
from labelens._engines.sources.vectors import dense_rows, sparse_rows
from labelens._fit.driver import fit_rows
from labelens.spark import partials

pytest.importorskip("pyspark", reason='needs pip install "labelens[spark]"')
if not (shutil.which("java") or "JAVA_HOME" in os.environ):
    pytest.skip("needs Java 17", allow_module_level=True)
pytestmark = [
    # What pyspark 4 thinks of pandas 3, which labelens does not hand to it.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    # Sockets to Java are closed when they are collected.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning"),
]
HERE = Path(__file__).parent
SRP, KSRP = SupervisedRandomProjection, KernelSupervisedRandomProjection
N, D, SIZES = 4000, 5, (1500, 700, 1, 0, 775, 1024)
ENDS = np.cumsum(SIZES).tolist()
NAMES = [f"x{j}" for j in range(D)]
MODELS = [
    SupervisedPCA(2),
    SRP(2, target_weight=0.5, random_state=0),
    SRP(2, label_map="gaussian", random_state=0),
    KernelSupervisedPCA(2, n_random_features=64, class_weight="balanced", random_state=0),
    KSRP(2, gamma="median", scale="minmax", n_random_features=64, random_state=0),
]


@pytest.fixture(scope="module")
def spark():
    sys.path.insert(0, str(HERE))
    try:
        from kill_spark import session
    finally:
        sys.path.remove(str(HERE))
    spark = session("local[2,4]")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 333)  # no divisor of a block
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.choice(4, N)
    return rng.normal(size=(N, D)) + np.eye(4, D)[y] * [3, 2, 1.5, 1, 1], y


@pytest.fixture(scope="module")
def frames(spark, rows):
    """The rows in one partition, and in partitions of SIZES."""
    X, y = rows
    table = pa.table({name: X[:, j] for j, name in enumerate(NAMES)} | {"y": y})
    one = spark.createDataFrame(table).coalesce(1).persist()
    place = iter(np.searchsorted(ENDS, np.arange(N), side="right").tolist())
    placed = spark.sparkContext.parallelize([(next(place), row) for row in one.collect()], 1)
    several = placed.partitionBy(len(SIZES), int).values()
    return one, spark.createDataFrame(several, one.schema).persist()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: str(m)[:60])
def test_the_model_of_one_machine(frames, rows, model):
    whole = clone(model).fit(*rows)
    one = labelens.spark.fit(clone(model), frames[0], NAMES, "y")
    assert list(one.feature_names_in_) == NAMES
    del one.feature_names_in_
    assert_same_bits(one, whole)

    several, alike = labelens.spark.fit(clone(model), frames[1], NAMES, "y"), clone(model)
    fit_rows(alike, Here(cut(ENDS, *rows)))
    del several.feature_names_in_
    assert_same_bits(several, alike)
    assert subspace_distance(several.components_.T, whole.components_.T) < 1e-12


def test_without_labels(frames, rows):
    model = labelens.spark.fit(SupervisedPCA(2), frames[0], NAMES)
    np.testing.assert_array_equal(model.components_, SupervisedPCA(2).fit(rows[0]).components_)


# Columns -----------------------------------------------------------------------------------------


def stored(*vectors):
    """Vectors as Spark stores them in Arrow."""
    from pyspark.ml.linalg import SparseVector

    kind = pa.struct(
        {"type": pa.int8(), "size": pa.int32()}
        | {"indices": pa.list_(pa.int32()), "values": pa.list_(pa.float64())}
    )
    cells = [
        dict(type=0, size=len(v), indices=v.indices.tolist(), values=v.values.tolist())
        if isinstance(v, SparseVector)
        else dict(type=1, size=None, indices=None, values=v.values.tolist())
        for v in vectors
    ]
    return pa.array(cells, kind)


def test_vectors_are_rows():
    from pyspark.ml.linalg import Vectors

    column = stored(
        Vectors.dense([1, 0, 2]), Vectors.sparse(3, [2], [5.0]), Vectors.sparse(3, {}),
        Vectors.dense([0, 0, 7]),
    )  # fmt: skip
    wanted = np.array([[1, 0, 2], [0, 0, 5], [0, 0, 0], [0, 0, 7.0]])
    for start in range(4):
        some = column.slice(start)
        np.testing.assert_array_equal(dense_rows(some, 3, "v"), wanted[start:])
        found = sparse_rows(some, 3, "v")
        assert found.nnz == np.count_nonzero(wanted[start:])
        np.testing.assert_array_equal(found.toarray(), wanted[start:])
    with pytest.raises(ValueError, match="in column v are not all 2 long; one is 3 long"):
        dense_rows(column, 2, "column v")


def frame_of(spark, X, y):
    """The same rows as vectors, arrays of both kinds, and columns with dots in their names."""
    from pyspark.ml.linalg import Vectors, VectorUDT
    from pyspark.sql.types import (
        ArrayType,
        DateType,
        DoubleType,
        FloatType,
        MapType,
        StringType,
        StructField,
        StructType,
    )

    kinds = {
        "vector": VectorUDT(),
        "array": ArrayType(DoubleType()),
        "floats": ArrayType(FloatType()),
        **{f"x.{j}": DoubleType() for j in range(X.shape[1])},
        "y": StringType(),
        "day": DateType(),
        "notes": MapType(StringType(), StringType()),
    }
    cells = []
    for number, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        row = Vectors.dense(x)
        if number % 2 == 0:
            row = Vectors.sparse(len(x), [(j, v) for j, v in enumerate(x) if v])
        cells.append((row, x, x, *x, label, datetime.date(2026, 1, 1), {"a": "b"}))
    schema = StructType([StructField(name, kind) for name, kind in kinds.items()])
    return spark.createDataFrame(cells, schema).coalesce(1)


@pytest.fixture(scope="module")
def mixed(spark, rows):
    X = np.where(rows[0] > 0, rows[0], 0)[:300]
    y = np.array(["one", "two", "three", "four"])[rows[1][:300]]
    return frame_of(spark, X, y).persist(), X, y


@pytest.mark.parametrize("features", ["vector", "array", [f"x.{j}" for j in range(D)]])
def test_features_of_every_kind(mixed, features):
    frame, X, y = mixed
    whole = SupervisedPCA(2).fit(X, y)
    model = labelens.spark.fit(SupervisedPCA(2), frame, features, "y")
    np.testing.assert_array_equal(model.components_, whole.components_)
    assert list(model.classes_) == sorted({"one", "two", "three", "four"})
    lists = isinstance(features, str)
    assert model.feature_names_in_[1] == (f"{features}[1]" if lists else "x.1")

    embedded = labelens.spark.transform(model, frame)  # which finds its columns by their names
    assert embedded.columns == [*frame.columns, "embedding"]
    assert embedded.schema["embedding"].dataType.simpleString() == "array<double>"
    found = embedded.collect()
    np.testing.assert_array_equal([row.embedding for row in found], whole.transform(X))
    assert [row[:-1] for row in found] == [tuple(row) for row in frame.collect()]


@pytest.mark.parametrize(
    "model",
    [Atlas(SupervisedPCA(shrinkage=0.1), random_state=0), Wheel(SupervisedPCA(), random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_maps_embed_where_the_rows_are(mixed, model):
    frame, X, y = mixed
    names = labelens.spark.fit(SupervisedPCA(2), frame, "array", "y").feature_names_in_
    rows = pd.DataFrame(X, columns=names)
    model.fit(rows, y)
    found = labelens.spark.transform(model, frame, "z", features="array")
    found = [row.z for row in found.select("z").collect()]
    np.testing.assert_allclose(found, model.transform(rows), atol=1e-12)
    with pytest.raises(TypeError, match="base model of this Atlas is PCA, and labelens"):
        labelens.spark.transform(Atlas(PCA(2)).fit(rows, y), frame, "z")


def test_single_precision_stays(mixed):
    frame, X, y = mixed
    model = labelens.spark.fit(SupervisedPCA(2), frame, "floats", "y")
    whole = SupervisedPCA(2).fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(model.components_, whole.components_)
    embedded = labelens.spark.transform(model, frame, "z")
    assert embedded.schema["z"].dataType.simpleString() == "array<float>"
    found = np.array([row.z for row in embedded.select("z").collect()], dtype=np.float32)
    np.testing.assert_array_equal(found, whole.transform(X.astype(np.float32)))


def test_wide_vectors_stay_sparse(spark):
    X = sparse.random(200, 5000, density=0.002, format="csr", random_state=0)
    y = np.arange(200) % 3
    from pyspark.ml.linalg import Vectors

    cells = [
        (Vectors.sparse(5000, X[i].indices.tolist(), X[i].data.tolist()), int(y[i]))
        for i in range(200)
    ]
    frame = spark.createDataFrame(cells, ["v", "y"]).coalesce(1)
    model = labelens.spark.fit(SupervisedPCA(2), frame, "v", "y")
    whole = SupervisedPCA(2).fit(X, y)
    np.testing.assert_array_equal(model.components_, whole.components_)
    found = [row.embedding for row in labelens.spark.transform(model, frame).collect()]
    np.testing.assert_array_equal(found, whole.transform(X))


@pytest.mark.parametrize("kind", ["boolean", "double", "date", "several"])
def test_labels_of_every_kind(frames, rows, kind):
    X, y = rows
    expression, labels = {
        "boolean": ("y > 1", y > 1),
        "double": ("sqrt(y)", np.sqrt(y)),
        "date": ("date_add('2026-01-01', int(y))", np.datetime64("2026-01-01") + y),
        "several": ("if(y > 1, 'a', 'b')", np.where(y > 1, "a", "b")),
    }[kind]
    label = "label"
    if kind == "several":
        label, labels = ["y", "label"], np.column_stack([y.astype(object), labels.astype(object)])
    frame = frames[0].selectExpr("*", f"{expression} AS label")
    found = labelens.spark.fit(SupervisedPCA(1), frame, NAMES, label)
    whole = SupervisedPCA(1).fit(X, labels)
    np.testing.assert_array_equal(found.components_, whole.components_)


# What is wrong -----------------------------------------------------------------------------------


def test_columns_are_refused_before_any_job(spark, mixed):
    frame, fit = mixed[0], labelens.spark.fit
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(None)
    cases = [
        (("array", "why"), "has no column 'why'; it has 'vector'"),
        (("notes", "y"), "'notes' holds map<string,string>, and features are numbers"),
        ((None, "y"), "'day' holds date, and features are numbers"),
        (("array", "notes"), "'notes' holds map<string,string>, and a label is one of"),
        ((["y", "array"], "y"), "'y' cannot be a label and a feature"),
    ]
    for columns, words in cases:
        with pytest.raises(ValueError, match=words):
            fit(SupervisedPCA(2), frame, *columns)
    exact = KernelSupervisedPCA(2, approximation="exact")
    with pytest.raises(ValueError, match="'exact' keeps all rows in one place"):
        fit(exact, frame, "array", "y")
    assert spark.sparkContext.statusTracker().getJobIdsForGroup(None) == jobs


def test_rows_are_refused_in_a_sentence(frames, rows):
    several, fit, model = frames[1], labelens.spark.fit, SupervisedPCA(2)
    one_row = f"x0 > {float(np.sort(rows[0][:, 0])[-2])}D"

    def spoiled(cell):
        return several.selectExpr("x0", f"if({one_row}, {cell}, x1) AS x1", "y")

    with pytest.raises(ValueError, match=r"^The column 'x1' of part \d of the DataFrame has empty"):
        fit(model, spoiled("null"), ["x0", "x1"], "y")
    assert not hasattr(model, "moments_")
    with pytest.raises(ValueError, match=r"^In rows \d+ to \d+ of part \d of the DataFrame: .*x1"):
        fit(model, spoiled("double('nan')"), ["x0", "x1"], "y")
    lists = several.selectExpr(f"if({one_row}, array(x0), array(x0, x1)) AS v", "x0", "y")
    with pytest.raises(ValueError, match=r"The lists in column 'v' of part .* are not all 2 long"):
        fit(model, lists, "v", "y")
    for nothing in (several.where("x0 > 1e9"), lists.where("x0 > 1e9")):
        with pytest.raises(ValueError, match=r"^There are no rows in the DataFrame"):
            fit(model, nothing, nothing.columns[:-1], "y")


def test_partitions_that_change_are_refused(spark):
    """Random rows are others in every pass."""
    frame = spark.range(0, 8000, 1, 4).where("reflect('java.lang.Math', 'random') < '0.5'")
    frame = frame.selectExpr("double(id) AS x", "id % 3 AS y")
    model = KernelSupervisedPCA(1, gamma="median", n_random_features=8, random_state=0)
    with pytest.raises(ValueError, match=r"are not the same in every pass .* persist\(\) it"):
        labelens.spark.fit(model, frame, "x", "y")


def test_transform_refuses(mixed):
    frame, X, y = mixed
    model = SupervisedPCA(2).fit(X, y)
    transform = labelens.spark.transform
    with pytest.raises(ValueError, match="was fitted without column names"):
        transform(model, frame)
    with pytest.raises(ValueError, match="has a column 'y' already"):
        transform(model, frame, "y", features="array")
    with pytest.raises(ValueError, match="These features are 1 columns, and the model was fitted"):
        transform(model, frame, features="x.0")


def test_partials_are_read_without_trust():
    moments = SupervisedPCA(2, scale="minmax").fit(np.eye(4), list("abca")).moments_
    again = partials.loaded(partials.dumped(moments))
    np.testing.assert_array_equal(again.cross.sums, moments.cross.sums)
    assert partials.loaded(partials.dumped(Refused(ValueError, "so"))) == Refused(ValueError, "so")
    for harm in (os.system, eval, Path, labelens._base.optional.require):
        with pytest.raises(ValueError, match="none of the things that partial results are made of"):
            partials.loaded(pickle.dumps(harm))


# Pipelines ---------------------------------------------------------------------------------------


def test_a_pipeline_is_saved_and_loaded(mixed, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import StandardScaler

    frame, X, y = mixed
    method = SupervisedPCA(2, class_weight={"one": 2.0, "two": 1.0, "three": 1.0, "four": 1.0})
    ours = labelens.spark.LabelensEstimator(method, featuresCol="scaled", labelCol="y")
    pipeline = Pipeline(stages=[StandardScaler(inputCol="vector", outputCol="scaled"), ours])
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    model = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    assert not hasattr(method, "moments_")

    whole = clone(method).fit(X / X.std(axis=0, ddof=1), y)
    found = np.array([row.embedding.toArray() for row in model.transform(frame).collect()])
    np.testing.assert_allclose(found, whole.transform(X / X.std(axis=0, ddof=1)), atol=1e-12)
    for _ in range(2):
        model.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    np.testing.assert_array_equal(
        [row.embedding.toArray() for row in again.transform(frame).collect()], found
    )
    assert again.stages[1].uid == model.stages[1].uid


def test_folders_hold_what_they_say(mixed, tmp_path):
    from pyspark.errors import AnalysisException

    frame, spark = mixed[0], labelens.spark
    stage = spark.LabelensEstimator(SupervisedPCA(1), featuresCol=["x.0", "x.1"], labelCol=None)
    model, folder = stage.fit(frame), str(tmp_path / "model")
    model.save(folder)
    with pytest.raises(AnalysisException, match="already exists"):
        model.save(folder)
    model.write().overwrite().save(folder)
    again = spark.LabelensModel.load(folder)
    np.testing.assert_array_equal(again.model.components_, model.model.components_)
    assert again.getOrDefault("featuresCol") == ["x.0", "x.1"]
    with pytest.raises(ValueError, match=r"holds a .*LabelensModel, not a .*LabelensEstimator"):
        spark.LabelensEstimator.load(folder)
