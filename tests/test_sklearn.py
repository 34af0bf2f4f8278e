"""Native to scikit-learn: its own checks, and the company estimators keep."""

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import labelens
from array_cases import is_array_check
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._base import page

METHODS = [
    SupervisedPCA,
    SupervisedRandomProjection,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
]


def _checks():
    """All but those of other libraries' arrays, which are in test_arrays.py and test_gpu.py."""
    for method in METHODS:
        for estimator, check in estimator_checks_generator(method()):
            if not is_array_check(check):
                name = re.sub(r"functools.partial\(<function (\w+).*?>", r"\1", repr(check))
                yield pytest.param(estimator, check, id=f"{method.__name__}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
@pytest.mark.filterwarnings("ignore:Only . of the 2 components:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(params=METHODS, ids=lambda method: method.__name__)
def model(request):
    return request.param(2, random_state=0)


def test_float32_stays_float32(blobs, model):
    X, y = blobs
    single = clone(model).fit(X.astype(np.float32), y).transform(X.astype(np.float32))
    assert single.dtype == np.float32
    double = clone(model).fit(X, y).transform(X)
    assert double.dtype == np.float64
    np.testing.assert_allclose(single, double, atol=3e-5 * np.abs(double).max())


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.uint64, bool, np.float16])
def test_other_dtypes_are_numbers_too(rng, model, dtype):
    y = np.arange(60) % 3
    X = (rng.integers(0, 120, (60, 4)) + 30 * y[:, None]) // (1 if dtype is not bool else 100)
    X = X.astype(dtype)
    truth = clone(model).fit(X.astype(np.float64), y).transform(X.astype(np.float64))
    found = clone(model).fit(X, y).transform(X)
    np.testing.assert_allclose(found, truth, atol=1e-4 * np.abs(truth).max())


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_in_and_out(blobs, model, frame):
    X, y = blobs
    table = frame(dict(zip("abcdefg", X.T, strict=True)))
    labels = (pd.Series if frame is pd.DataFrame else pl.Series)(list(map("class {}".format, y)))
    model.set_output(transform="pandas" if frame is pd.DataFrame else "polars")
    out = model.fit(table, labels).transform(table)
    assert isinstance(out, frame)
    prefix = type(model).__name__.lower()
    assert list(out.columns) == list(model.get_feature_names_out()) == [f"{prefix}0", f"{prefix}1"]
    assert list(model.feature_names_in_) == list("abcdefg")
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(table[list("bacdefg")], labels)


def test_pickle_in_the_middle_of_a_stream(blobs, model):
    X, y = blobs
    model.partial_fit(X[:100], y[:100])
    copy = pickle.loads(pickle.dumps(model))
    for part in (model, copy):
        part.partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(copy.transform(X), model.transform(X))
    assert not hasattr(clone(model), "components_")


def test_grid_search_over_nested_parameters(blobs):
    X, y = blobs
    pipe = make_pipeline(
        StandardScaler(),
        KernelSupervisedPCA(3, approximation=RBFSampler(random_state=0)),
        KNeighborsClassifier(1),
    )
    grid = {
        "kernelsupervisedpca__approximation__gamma": [0.01, 10.0],
        "kernelsupervisedpca__shrinkage": [0.1, 1.0],
    }
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_params_["kernelsupervisedpca__approximation__gamma"] == 0.01
    assert search.best_score_ > 0.9


def test_repr_for_notebooks(blobs, model):
    assert type(model).__name__ in model._repr_html_()
    assert type(model).__name__ in model.fit(*blobs)._repr_html_()


def test_attributes_before_fit(model):
    for name in ("components_", "mean_", "singular_values_", "dependence_", "classes_", "gamma_"):
        assert not hasattr(model, name)
        with pytest.raises(NotFittedError):
            getattr(model, name)
    with pytest.raises(NotFittedError):
        model.transform([[1.0, 2.0]])


def test_fitted_attributes(blobs, model):
    X, y = blobs
    model.fit(X, y)
    kernel = type(model).__name__.startswith("Kernel")
    p = 1024 if kernel else 7
    assert model.components_.shape == (2, p)
    assert model.mean_.shape == (p,)
    assert model.singular_values_.shape == model.dependence_.shape == (2,)
    assert (model.dependence_ratio_ > 0).all()
    assert model.dependence_ratio_.sum() <= 1
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3])
    assert model.n_features_in_ == 7
    assert model.n_samples_seen_ == 240
    assert model.label_kernel_ == "delta"
    assert not hasattr(model, "explained_variance_ratio_")
    assert hasattr(model, "inverse_transform") is not kernel


def test_signs_are_fixed(blobs):
    components = SupervisedPCA(3).fit(*blobs).components_
    largest = np.abs(components).argmax(axis=1)
    assert (components[np.arange(3), largest] > 0).all()


def test_the_callers_parameters_are_left_alone(blobs, model):
    before = {name: repr(value) for name, value in model.get_params().items()}
    model.fit(*blobs)
    assert {name: repr(value) for name, value in model.get_params().items()} == before


ESTIMATORS = [
    public
    for public in (getattr(labelens, name) for name in labelens.__all__)
    if isinstance(public, type) and issubclass(public, BaseEstimator)
]


@pytest.mark.parametrize("site", ["https://docs.example/labelens/", None])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_html_links_to_the_page_of_the_site(estimator, site, monkeypatch):
    class Metadata:
        def get_all(self, name):
            assert name == "Project-URL"
            home = "Homepage, https://example"
            return None if site is None else [home, f"Documentation, {site}"]

    monkeypatch.setattr(page.metadata, "metadata", lambda name: Metadata())
    html, address = estimator()._repr_html_(), f"api/labelens.{estimator.__name__}.html"
    assert (f'href="https://docs.example/labelens/{address}"' in html) == (site is not None)
    assert 'href="https://scikit-learn' not in html
    listed = (Path(__file__).parents[1] / "docs" / "api.md").read_text()
    assert re.search(rf"^   {estimator.__name__}$", listed, re.MULTILINE)  # so the page exists


def test_there_are_no_links_where_the_package_is_not_installed(monkeypatch):
    def missing(name):
        raise page.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(page.metadata, "metadata", missing)
    assert [estimator()._get_doc_link() for estimator in ESTIMATORS] == [""] * len(ESTIMATORS)
