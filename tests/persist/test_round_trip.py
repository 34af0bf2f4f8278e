"""Models in files: the same bits back, and nothing else in."""

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA, SupervisedRandomProjection
from labelens.persist import info
from persist.compositions import GRID, KERNEL, LINEAR, assert_same, fitted, forms

# Which models hold rows is the matter of one test.
pytestmark = pytest.mark.filterwarnings("ignore:.* rows of the training data")


DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("composition", GRID)
def test_the_same_bits_come_back(composition, rng, tmp_path):
    model, X, _ = fitted(composition, rng)
    path, again = tmp_path / "model.labelens", tmp_path / "again"
    for moments in (False, True):
        labelens.save(model, path, moments=moments)
        loaded = labelens.load(path)
        assert_same(model, loaded, *([X] if moments else forms(X)))
        labelens.save(loaded, again, moments=moments)
        assert again.read_bytes() == path.read_bytes()
        facts = json.loads(json.dumps(info(path), allow_nan=False))
        assert (facts["moments"], facts["n_samples"]) == (moments, model.n_samples_seen_)
        assert facts["training_rows"] == len(rows_inside(model))


def rows_inside(model):
    if model._recipe.phi is None:
        return model.dual_coef_.T
    landmarks = getattr(model._recipe.phi, "landmarks", None)
    return range(0 if landmarks is None else landmarks.shape[0])


@pytest.mark.parametrize("composition", GRID)
def test_a_fit_goes_on_where_it_was_saved(composition, rng, tmp_path):
    half = 48
    model, X, y = fitted(composition, rng, half, solve=False)
    labelens.save(model, tmp_path / "m", moments=True)
    loaded = labelens.load(tmp_path / "m")
    later = slice(half, None)
    rest = X.iloc[later] if isinstance(X, pd.DataFrame) else X[later]
    labels = None if y is None else y[later]
    assert_same(model.partial_fit(rest, labels), loaded.partial_fit(rest, labels), X)
    labelens.save(loaded, tmp_path / "m", moments=True)
    one, other = copy.deepcopy(model), labelens.load(tmp_path / "m")
    assert_same(one.merge(loaded), other.merge(model), X)
    labelens.save(loaded, tmp_path / "m")
    sealed = labelens.load(tmp_path / "m")
    for forbidden in (
        lambda: sealed.partial_fit(rest, labels),
        lambda: sealed.merge(model),
        lambda: model.merge(sealed),
        lambda: labelens.save(sealed, tmp_path / "n", moments=True),
    ):
        with pytest.raises(ValueError, match="moments=True"):
            forbidden()
    assert_same(model, sealed, X)  # as if nobody had tried


def test_new_classes_after_loading_and_fit_anew(data, tmp_path):
    X, y = data
    labelens.save(SupervisedPCA(1).partial_fit(X[y == 2], y[y == 2]), tmp_path / "m", moments=True)
    loaded = labelens.load(tmp_path / "m")
    with pytest.raises(NotFittedError, match="a single class"):
        loaded.transform(X)
    loaded.partial_fit(X[y < 2], y[y < 2])
    truth = SupervisedPCA(1).partial_fit(X[y == 2], y[y == 2]).partial_fit(X[y < 2], y[y < 2])
    assert_same(truth, loaded, X)
    labelens.save(loaded, tmp_path / "m")
    assert_same(labelens.load(tmp_path / "m").fit(X, y), SupervisedPCA(1).fit(X, y), X)


def test_unsolved_models_need_moments(data, tmp_path):
    X, y = data
    with pytest.raises(NotFittedError, match="a single class"):
        labelens.save(SupervisedPCA(1).partial_fit(X, y * 0), tmp_path / "m")
    with pytest.raises(NotFittedError):
        labelens.save(SupervisedPCA(1), tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", LINEAR + KERNEL)
def test_no_training_row_is_in_the_file(method, rng, tmp_path):
    X, y = rng.normal(size=(60, 8)), np.arange(60) % 3
    labelens.save(method(2, random_state=0).fit(X, y), tmp_path / "m", moments=True)
    content = (tmp_path / "m").read_bytes()
    assert not [value for value in X.ravel() if value.tobytes() in content]  # not one value
    assert info(tmp_path / "m")["training_rows"] == 0


@pytest.mark.parametrize("approximation", ["exact", "nystroem"])
@pytest.mark.parametrize("moments", [False, True])
def test_a_file_with_training_rows_says_so(data, tmp_path, approximation, moments):
    model = KernelSupervisedPCA(2, approximation=approximation, n_random_features=20)
    rows = 90 if approximation == "exact" else 20
    with pytest.warns(UserWarning, match=rf"m holds {rows} rows of the training data"):
        labelens.save(model.fit(*data), tmp_path / "m", moments=moments)
    assert info(tmp_path / "m")["training_rows"] == rows


def test_without_moments_nothing_of_them(blobs, tmp_path):
    model = SupervisedPCA(2, shrinkage=0.5, scale="standard").fit(*blobs)
    labelens.save(model, tmp_path / "m")
    assert not [name for name in info(tmp_path / "m")["arrays"] if "moments" in name]
    assert (tmp_path / "m").stat().st_size < 5000


def test_info(blobs, tmp_path):
    X, y = pd.DataFrame(blobs[0], columns=list("abcdefg")), np.array([*"wxyz"])[blobs[1]]
    model = KernelSupervisedPCA(
        2, approximation="nystroem", n_random_features=20, missing_label="?"
    )
    labelens.save(model.fit(X, y), tmp_path / "m.labelens")
    facts = info(str(tmp_path / "m.labelens"))
    assert facts["method"] == "KernelSupervisedPCA"
    assert facts["parameters"] == model.get_params()
    assert facts["feature_names"] == list("abcdefg")
    assert facts["classes"] == list("wxyz")
    assert (facts["n_samples"], facts["training_rows"], facts["moments"]) == (240, 20, False)
    assert facts["label_kernel"] == "delta"
    assert facts["size"] == (tmp_path / "m.labelens").stat().st_size
    assert (facts["format"], facts["labelens"]) == (1, labelens.__version__)
    assert facts["arrays"]["map.landmarks"] == "float64 (20, 7)"


def test_the_safetensors_library_reads_it(blobs, tmp_path):
    model = SupervisedRandomProjection(2, random_state=0).fit(*blobs)
    labelens.save(model, tmp_path / "m", moments=True)
    from safetensors import safe_open

    with safe_open(tmp_path / "m", framework="np") as file:
        header = json.loads(file.metadata()["labelens"])
        np.testing.assert_array_equal(file.get_tensor("solution.components"), model.components_)
        assert set(file.keys()) == set(header["arrays"])


def test_an_old_file(tmp_path):
    """Written by labelens 0.1.0, never to be written again: format 1 stays readable."""
    expected = json.loads((DATA / "model-v1.json").read_text())
    model = labelens.load(DATA / "model-v1.labelens")
    assert model.classes_.tolist() == expected["classes"]
    assert model.feature_names_in_.tolist() == expected["feature_names"]
    rows = pd.DataFrame(expected["rows"], columns=expected["feature_names"])
    np.testing.assert_allclose(model.transform(rows), expected["embedding"], rtol=1e-13)
    np.testing.assert_array_equal(model.components_, expected["components"])


def test_factors_of_columns_come_back_as_a_tuple(blobs, tmp_path):
    X, y = blobs
    model = SupervisedPCA(2, scale=np.arange(1, 8)).fit(X, y)
    labelens.save(model, tmp_path / "m")
    loaded = labelens.load(tmp_path / "m")
    assert loaded.scale == (1, 2, 3, 4, 5, 6, 7)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
