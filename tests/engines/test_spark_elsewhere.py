"""Spark in other processes: on Connect, without labelens, and with workers that die."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason='needs pip install "labelens[spark]"')
if not (shutil.which("java") or "JAVA_HOME" in os.environ):
    pytest.skip("needs Java 17", allow_module_level=True)
pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
CONNECT = """
import sys, tempfile
import numpy as np, pyarrow as pa
from pyspark.ml import Pipeline, PipelineModel
from pyspark.sql import SparkSession, functions as F
import labelens

spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(spark).__module__
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2500, 3)), np.arange(2500) % 3
X[:, 0] += y
table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
frame = spark.createDataFrame(table).coalesce(1)
whole = labelens.KernelSupervisedPCA(2, n_random_features=32, random_state=0).fit(X, y)
model = labelens.spark.fit(
    labelens.KernelSupervisedPCA(2, n_random_features=32, random_state=0), frame, list("abc"), "y"
)
np.testing.assert_array_equal(model.components_, whole.components_)
found = [row.embedding for row in labelens.spark.transform(model, frame).collect()]
np.testing.assert_allclose(found, whole.transform(X), atol=1e-12)

try:
    labelens.spark.fit(labelens.SupervisedPCA(2), frame.where("a > 1e9"), list("abc"), "y")
except ValueError as error:
    assert str(error) == "There are no rows in the DataFrame.", error
else:
    raise AssertionError

stage = labelens.spark.LabelensEstimator(
    labelens.SupervisedPCA(2), featuresCol=list("abc"), labelCol="y"
)
fitted = Pipeline(stages=[stage]).fit(frame)
with tempfile.TemporaryDirectory() as folder:
    for _ in range(2):
        fitted.write().overwrite().save(folder + "/model")
    again = PipelineModel.load(folder + "/model")
    assert again.transform(frame).first() == fitted.transform(frame).first()
spark.stop()
print("all as on one machine")
"""


def ran(*arguments, workers=sys.executable):
    environment = os.environ | {"PYSPARK_PYTHON": str(workers)}
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stdout + run.stderr[-3000:]
    return run.stdout


BARE = """
import labelens
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.createDataFrame([(float(i), str(i % 2)) for i in range(8)], "a double, y string")
try:
    labelens.spark.fit(labelens.SupervisedPCA(1), frame, "a", "y")
except ModuleNotFoundError as error:
    print(error)
"""


def test_workers_without_labelens_are_told_of(tmp_path):
    venv.create(tmp_path / "bare", symlinks=True)
    told = ran("-c", BARE, workers=tmp_path / "bare" / "bin" / "python")
    assert "The Python workers of Spark cannot import" in told
    assert "PYSPARK_PYTHON" in told


def test_connect():
    assert "all as on one machine" in ran("-c", CONNECT)


@pytest.mark.parametrize("master", ["local[2,4]", "local-cluster[2,1,1024]"])
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
def test_killed_on_the_way(master):
    """A Python worker, and an executor: tests/engines/kill_spark.py does it as often as asked."""
    assert ran(str(HERE / "kill_spark.py"), master, "2").count("same bits") == 2
