"""Whether an installed labelens works, with one extra alone: `python scripts/smoke.py [EXTRA]`.

Run by `make smoke` in an environment that holds the wheel, one extra and nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import numpy as np
from sklearn.preprocessing import minmax_scale

import labelens
from labelens.datasets import load_sonar

COMMAND = Path(sys.executable).with_name("labelens")


def command(*arguments: str, code: int = 0) -> str:
    """What `labelens` says, if it ends as it should."""
    run = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == code, f"labelens {arguments}: {run.stdout}{run.stderr}"
    return run.stdout + run.stderr


def methods(X, y, folder):
    """What needs no extra."""
    assert labelens.__version__ == version("labelens")
    assert "site-packages" in str(labelens.__file__), f"{labelens.__file__} is not installed"
    model = labelens.KernelSupervisedPCA(1, shrinkage=0.01, random_state=0)
    Z = model.fit(X[::2], y[::2]).transform(X)
    assert labelens.knn_score(Z[::2], y[::2], Z[1::2], y[1::2]) > 0.7
    labelens.save(model, folder / "sonar.labelens")
    assert (labelens.load(folder / "sonar.labelens").transform(X) == Z).all()


def no_command(X, y, folder):
    """Without an extra `labelens` says what it lacks."""
    assert 'pip install "labelens[cli]"' in command("--version", code=1)


def cli(X, y, folder):
    assert command("--version") == f"labelens {version('labelens')}\n"
    command("demo", "--out", str(folder / "demo"))
    made = {path.name for path in (folder / "demo").iterdir()}
    assert made == {"embedding.parquet", "model.labelens", "embedding.png", "report.html"}, made


def files(X, y, folder):
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(label=y)
    frame.to_excel(folder / "sonar.xlsx", index=False)
    model, asked = folder / "sheet.labelens", ["--label", "label", "--method", "spca"]
    command("fit", str(folder / "sonar.xlsx"), *asked, "--out", str(model))
    assert labelens.load(model).n_samples_seen_ == len(X)


def explore(X, y, folder):
    explorer = labelens.explore(X, y)
    with urlopen(explorer.url) as page:
        assert "labelens" in page.read().decode()
    explorer.stop()


def dask(X, y, folder):
    from dask import array

    blocks = array.from_array(X, chunks=(50, -1)), array.from_array(y, chunks=50)
    Z = labelens.SupervisedPCA(1).fit(*blocks).transform(blocks[0]).compute()
    np.testing.assert_allclose(Z, labelens.SupervisedPCA(1).fit(X, y).transform(X), atol=1e-12)


def spark(X, y, folder):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = session.getOrCreate()
    rows = [(row.tolist(), label) for row, label in zip(X, y.tolist(), strict=True)]
    frame = session.createDataFrame(rows, "x array<double>, y string").repartition(3).persist()
    model = labelens.spark.fit(labelens.SupervisedPCA(1), frame, features="x", label="y")
    assert labelens.spark.transform(model, frame).count() == len(X)
    local = labelens.SupervisedPCA(1).fit(X, y)
    np.testing.assert_allclose(model.components_, local.components_, atol=1e-12)
    session.stop()


def torch(X, y, folder):
    import torch

    Z = labelens.SupervisedPCA(1).fit(torch.from_numpy(X), y).transform(torch.from_numpy(X))
    np.testing.assert_allclose(Z, labelens.SupervisedPCA(1).fit(X, y).transform(X), atol=1e-12)


def onnx(X, y, folder):
    import onnxruntime

    model = labelens.KernelSupervisedPCA(1, random_state=0).fit(X, y)
    labelens.export.onnx(model, folder / "sonar.onnx", double=True)
    session = onnxruntime.InferenceSession(folder / "sonar.onnx")
    (Z,) = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-9)


EXTRAS = {"none": no_command, "cli": cli, "files": files, "explore": explore, "dask": dask,
          "spark": spark, "torch": torch, "onnx": onnx}  # fmt: skip


def main(extra: str) -> None:
    X, y = load_sonar(return_X_y=True)
    X = minmax_scale(X)
    with TemporaryDirectory() as folder:
        for check in (methods, EXTRAS[extra]):
            check(X, y, Path(folder))
    print(f"labelens {labelens.__version__}, extra {extra}: works")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["none"])
