"""The table of docs/compatibility.md: each method does what its cell says, or raises an error."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

import labelens
from labelens import Atlas, KernelSupervisedPCA, SupervisedPCA, SupervisedRandomProjection

PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"
X, y = load_iris(return_X_y=True)
KERNEL = dict(gamma=0.1, n_random_features=20, random_state=0)
MODELS = {
    "SPCA": [SupervisedPCA(2)],
    "SRP": [SupervisedRandomProjection(2, random_state=0)],
    "random features": [KernelSupervisedPCA(2, approximation=name, **KERNEL)
                        for name in ("orthogonal", "fourier", "fastfood")],
    "landmarks": [KernelSupervisedPCA(2, approximation="nystroem", **KERNEL)],
    "exact, falkon": [KernelSupervisedPCA(2, approximation=name, shrinkage=0.1, **KERNEL)
                      for name in ("exact", "falkon")],
    "`Atlas`": [Atlas(SupervisedPCA(2, shrinkage=0.1), random_state=0)],
}  # fmt: skip


def in_batches(model, rows=slice(None)):
    mine, Xs, ys = clone(model), X[rows], y[rows]
    return mine.partial_fit(Xs[:40], ys[:40]).partial_fit(Xs[40:], ys[40:])


def merged(model, folder):
    if isinstance(model, Atlas):
        return in_batches(model, slice(0, None, 2)).merge(in_batches(model, slice(1, None, 2)))
    return clone(model).fit(X[::2], y[::2]).merge(clone(model).fit(X[1::2], y[1::2]))


def from_files(model, folder):
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return labelens.fit(clone(model), folder / "X.npy", label=folder / "y.npy")


def on_dask(model, folder):
    array = pytest.importorskip("dask.array")
    rows = array.from_array(X, chunks=(75, 4))
    return labelens.fit(clone(model), rows, label=array.from_array(y, chunks=75))


def as_onnx(model, folder):
    pytest.importorskip("onnx")
    return labelens.export.onnx(clone(model).fit(X, y), folder / "model.onnx")


def back(model, folder):
    fitted = clone(model).fit(X, y)
    return fitted.inverse_transform(fitted.transform(X))


TRIES = {
    "sparse rows": lambda model, folder: clone(model).fit(sparse.csr_array(X), y),
    "`partial_fit`": lambda model, folder: in_batches(model),
    "`merge`": merged,
    "`labelens.fit` on files": from_files,
    "Dask, Spark": on_dask,
    "model file": lambda model, folder: labelens.save(clone(model).fit(X, y), folder / "model"),
    "ONNX": as_onnx,
    "SQL": lambda model, folder: labelens.export.sql(clone(model).fit(X, y), "rows"),
    "`inverse_transform`": back,
}
UNTRIED = {"GPU arrays"}


def cells() -> list[tuple[str, str, str]]:
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines()
             if line.startswith("| ")]  # fmt: skip
    start = next(i for i, line in enumerate(lines) if line[0] == "SPCA")
    assert lines[start] == list(MODELS)
    assert {line[0] for line in lines[start + 1 :]} == {*TRIES, *UNTRIED}
    return [
        (what, name, answer)
        for what, *answers in lines[start + 1 :]
        for name, answer in zip(MODELS, answers, strict=True)
        if what in TRIES
    ]


@pytest.mark.parametrize(("what", "name", "answer"), cells())
@pytest.mark.filterwarnings("ignore:.*rows of the training data")
def test_table_of_methods(what, name, answer, tmp_path):
    for model in MODELS[name]:
        if answer.partition(":")[0] == "yes":
            TRIES[what](model, tmp_path)
        else:
            assert answer == "no"
            with pytest.raises((ValueError, TypeError, AttributeError)) as error:
                TRIES[what](model, tmp_path)
            assert type(model).__name__ in str(error.value) or "approximation" in str(error.value)
