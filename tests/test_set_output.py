"""What `set_output` has configured stays, whoever makes an estimator of another."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    Wheel,
    select,
)
from labelens._fit.driver import finish
from labelens._fit.job import Job
from labelens._fit.settings import altered
from labelens.persist import load_method, load_state, save_method, save_state
from persist.forging import Forgery, put

METHODS = (
    SupervisedPCA,
    SupervisedRandomProjection,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
)
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "default": np.ndarray}


def made(method, container, **parameters):
    return method(2, random_state=0, **parameters).set_output(transform=container)


@pytest.mark.parametrize("container", FRAMES)
@pytest.mark.parametrize("method", METHODS)
def test_routes_keep_it(data, tmp_path, method, container):
    X, y = data
    template = made(method, container)
    fitted = clone(template).fit(X, y)
    labelens.save(fitted, tmp_path / "model")
    save_method(template, tmp_path / "method")
    routes = {
        "fit": fitted,
        "altered": altered(template, shrinkage=0.5).fit(X, y),
        "select": select(X, y, template, grid={"shrinkage": [1, 0.5]}, random_state=0).estimator,
        "wide select": select(
            X, y, template, grid={"shrinkage": np.linspace(0.1, 1, 12)}, random_state=0
        ).estimator,
        "stream": labelens.fit(clone(template), X, label=y),
        "file": labelens.load(tmp_path / "model"),
        "method": load_method(tmp_path / "method").fit(X, y),
    }
    if method in METHODS[2:]:
        routes["auto"] = clone(template).set_params(gamma="auto").fit(X, y)
    for name, model in routes.items():
        assert type(model.transform(X)) is FRAMES[container], name
        assert type(clone(model).fit(X, y).transform(X)) is FRAMES[container], name


def test_each_candidate_keeps_its_own(data):
    X, y = data
    models = made(SupervisedPCA, "pandas"), SupervisedRandomProjection(2, random_state=0)
    for first, second in (models, models[::-1]):
        chosen = select(X, y, [first, second], random_state=0).estimator
        assert isinstance(chosen.transform(X), pd.DataFrame) == isinstance(chosen, SupervisedPCA)


def test_a_wheel_has_its_own(data):
    X, y = data
    inner = made(SupervisedPCA, "polars")
    wheel = Wheel(inner).fit(X, y)
    assert isinstance(wheel.transform(X), np.ndarray)
    assert isinstance(wheel.estimator_.transform(X), pl.DataFrame)
    wheel.set_output(transform="pandas")
    assert isinstance(clone(wheel).fit(X, y).transform(X), pd.DataFrame)


def test_a_fit_that_goes_on_keeps_what_the_caller_has_set(data, tmp_path):
    X, y = data
    state = tmp_path / "state"
    save_state(made(SupervisedPCA, "pandas").fit(X, y), state, {})
    model = made(SupervisedPCA, "polars")
    saved = load_state(state)[0]
    finish(model, Job.of(saved), saved.moments_)
    assert isinstance(model.transform(X), pl.DataFrame)


def test_a_file_says_nothing_where_it_was_not_called(data, tmp_path):
    """So that such files are those of earlier versions, to the last byte."""
    X, y = data
    labelens.save(SupervisedPCA(2).fit(X, y), tmp_path / "m")
    assert "set_output" not in Forgery((tmp_path / "m").read_bytes()).header
    assert "_sklearn_output_config" not in vars(labelens.load(tmp_path / "m"))


@pytest.mark.parametrize("value", ["spark", "", "x" * 500, True, 1, ["pandas"], {}])
def test_files_are_not_believed(data, tmp_path, value):
    X, y = data
    labelens.save(made(SupervisedPCA, "pandas").fit(X, y), tmp_path / "m")
    forged = Forgery((tmp_path / "m").read_bytes())
    put("set_output", value=value)(forged)
    (tmp_path / "m").write_bytes(forged.content())
    with pytest.raises(ValueError, match=r"^.* cannot be loaded: .*set_output"):
        labelens.load(tmp_path / "m")
