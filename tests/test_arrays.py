"""Arrays of other libraries: answered in kind, and never different from NumPy's.

What runs on a card is run here too, on the host: arrays are told apart by where their memory is,
and `on_device` makes that of the host look like a card's.
"""

import copy
import sys
from dataclasses import is_dataclass

import numpy as np
import pandas as pd
import pytest
import scipy
from sklearn.base import clone
from sklearn.utils.fixes import parse_version

import labelens
from array_cases import (
    CANNOT,
    KERNEL,
    LINEAR,
    array_checks,
    compared,
    distance,
    named,
    on_the_host,
    public_calls,
)
from labelens import KernelSupervisedPCA, SupervisedPCA, select
from labelens._base import device_algebra, devices
from labelens._core import device_systems, gradients, tiles
from labelens._core.kernels import make_kernel
from labelens._core.maps import structured
from labelens._core.moments import fold
from labelens._out_of_core import plan
from labelens.datasets import make_xor

strict = pytest.importorskip("array_api_strict")
pytest.importorskip("array_api_compat")


@pytest.fixture
def data(rng):
    """Far from zero in some columns, of three classes."""
    y = rng.integers(0, 3, 700)
    X = rng.normal(size=(700, 12)) + 2 * np.eye(12)[y]
    X[:, 5] += 100
    return X, y


@pytest.fixture
def on_device(monkeypatch):
    monkeypatch.setattr(devices, "_in_host_memory", lambda array: False)


@pytest.fixture(params=["strict", "torch"])
def put(request):
    """From NumPy to another library."""
    if request.param == "strict":
        return strict.asarray
    return pytest.importorskip("torch").asarray


def back(Z):
    return devices.host(Z)


# On the host -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*LINEAR, *KERNEL], ids=named)
def test_memory_of_the_host_is_numpys_by_another_name(data, put, model):
    X, y = data
    truth = clone(model).fit(X, y).transform(X)
    found = clone(model).fit(put(X), put(y)).transform(put(X))
    assert type(found) is type(put(X))
    np.testing.assert_array_equal(back(found), truth)


def test_attributes_and_the_way_back_are_in_kind(data, put):
    X, y = data
    model = SupervisedPCA(2).fit(put(X), y.astype(str))
    for shown in (model.components_, model.mean_, model.inverse_transform(model.transform(put(X)))):
        assert type(shown) is type(put(X))
    assert isinstance(model.transform(X), np.ndarray)
    assert isinstance(SupervisedPCA(2).fit(X, y).components_, np.ndarray)


def test_gradients_do_not_matter(data):
    torch = pytest.importorskip("torch")
    X, y = data
    rows = torch.tensor(X, requires_grad=True)
    truth = SupervisedPCA(2).fit(X, y).transform(X)
    np.testing.assert_array_equal(SupervisedPCA(2).fit(rows, y).transform(rows).numpy(), truth)


@pytest.mark.skipif(
    parse_version(scipy.__version__) < parse_version("1.14"),
    reason="scikit-learn's array API dispatch needs SciPy 1.14",
)
@pytest.mark.parametrize(("estimator", "check"), list(array_checks(on_the_host)))
@pytest.mark.filterwarnings("ignore:Only . of the 2 components:UserWarning")
def test_scikit_learns_array_checks(estimator, check):
    check(estimator)


# On a device -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", [*LINEAR, *KERNEL], ids=named)
def test_a_device_gives_the_same_model(data, put, on_device, model, dtype):
    X, y = data
    if getattr(model, "approximation", "") in ("exact", "falkon"):
        X[:, 5] -= 100  # gamma="scale" takes an offset for spread: K would be 1 to three digits
    X = X.astype(dtype)
    known, found = clone(model).fit(X, y), clone(model).fit(put(X), put(y))
    truth, Z = known.transform(X), back(found.transform(put(X)))
    assert Z.dtype == dtype
    bar = 1e-10 if dtype == np.float64 else 1e-5
    if getattr(model, "approximation", "") in ("exact", "falkon") and model.shrinkage < 1:
        bar *= 10  # coefficients of both signs multiply what kernel values err by
    assert distance(truth, Z) < bar
    np.testing.assert_allclose(Z, truth, atol=30 * bar * np.abs(truth).max())
    if getattr(model, "label_map", "") != "gaussian":  # which keeps no list of classes
        assert found.classes_.tolist() == [0, 1, 2]
    assert found.shrinkage_ == pytest.approx(known.shrinkage_, rel=30 * bar)


@pytest.mark.parametrize(
    ("kernel", "params"),
    [("rbf", {}), ("laplacian", {}), ("linear", {}), ("polynomial", {"degree": 3, "coef0": 1.0})]
    + [("matern", {"nu": nu}) for nu in (0.5, 1.5, 2.5)],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_device_gives_the_same_gradients(data, put, on_device, kernel, params, dtype):
    """Also of rows that the kernel knows, where a distance is zero."""
    X, _ = data
    X = ((X - X.mean(axis=0)) / 10).astype(dtype)
    own = make_kernel(kernel, 0.3, params)
    coefficients = np.random.default_rng(0).normal(size=(400, 2))
    truth = gradients.of_kernel(own, X[:400], coefficients, X[200:])
    found = gradients.of_kernel(own, put(X[:400]), put(coefficients), put(X[200:]))
    np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-12 * truth.max())


def test_a_device_learns_the_same_metric(put, on_device, rng, monkeypatch):
    """XOR among columns of noise, whose factors are made where the rows are."""
    X, y = make_xor(200, noise=0.4, random_state=0)
    X = np.column_stack([X[:, :2], rng.normal(size=(200, 10))])
    known, kinds, of_kernel = select(X, y, random_state=0), [], gradients.of_kernel

    def watched(*arguments):
        kinds.append(type(arguments[-1]))
        return of_kernel(*arguments)

    monkeypatch.setattr(gradients, "of_kernel", watched)
    found = select(put(X), y, random_state=0)
    assert set(kinds) == {type(put(X))}
    assert found.table[0]["score"] == pytest.approx(known.table[0]["score"], abs=0.01)
    np.testing.assert_allclose(found.estimator.scale, known.estimator.scale, rtol=2e-3)


@pytest.mark.parametrize("kind", ["words", "numbers", "indicator", "two columns", "none"])
@pytest.mark.parametrize("model", [LINEAR[2], LINEAR[7], KERNEL[1]], ids=named)
def test_labels_of_every_kind(data, put, on_device, rng, model, kind):
    X, y = data
    labels = {
        "words": np.array(["a", "b", "c"])[y],
        "numbers": y + 0.1 * rng.normal(size=len(y)),
        "indicator": np.eye(3, dtype=int)[y],
        "two columns": np.stack([y, y % 2 + 5], axis=1),
        "none": None,
    }[kind]
    truth = clone(model).fit(X, labels).transform(X)
    found = back(clone(model).fit(put(X), labels).transform(put(X)))
    assert distance(truth, found) < 1e-10


@pytest.mark.parametrize("labels", ["classes", "numbers"])
@pytest.mark.parametrize("model", [LINEAR[0], LINEAR[4], LINEAR[7], KERNEL[1]], ids=named)
def test_weights_and_rows_without_a_label(data, put, on_device, rng, model, labels):
    X, y = data
    y = y.astype(float) if labels == "classes" else y + 0.1 * rng.normal(size=len(y))
    y[rng.random(len(y)) < 0.3] = np.nan
    weight = rng.integers(0, 3, len(y)) * 0.5
    model = clone(model).set_params(missing_label=np.nan)
    truth = clone(model).fit(X, y, sample_weight=weight).transform(X)
    found = clone(model).fit(put(X), y, sample_weight=weight).transform(put(X))
    assert distance(truth, back(found)) < 1e-10


def test_labels_far_apart_and_with_gaps_are_numbered_on_the_device(data, put, on_device):
    X, y = data
    for labels in (np.array([-7, 10**12, 3])[y], np.array([2, 9, 4], dtype=np.int16)[y]):
        found = SupervisedPCA(2).fit(put(X), put(labels))
        assert found.classes_.tolist() == sorted(set(labels.tolist()))
        truth = SupervisedPCA(2).fit(X, labels).transform(X)
        assert distance(truth, back(found.transform(put(X)))) < 1e-10


@pytest.mark.parametrize("model", [LINEAR[0], LINEAR[2], KERNEL[1], KERNEL[4]], ids=named)
def test_batches_and_merging(data, put, on_device, model):
    X, y = data
    model = clone(model).set_params(**{"gamma": 0.1} if "gamma" in model.get_params() else {})
    truth = clone(model).fit(X, y).transform(X)
    one, two = (
        clone(model).partial_fit(put(X[part]), y[part]) for part in (slice(300), slice(300, None))
    )
    parts = clone(model)
    for start in range(0, 700, 100):
        parts.partial_fit(put(X[start : start + 100]), put(y[start : start + 100]))
    host = clone(model).partial_fit(X[300:], y[300:])
    for found in (
        one.merge(two),
        parts,
        host.merge(clone(model).partial_fit(put(X[:300]), y[:300])),
    ):
        assert distance(truth, back(found.transform(put(X)))) < 1e-10


def test_blocks_do_not_show(data, put, on_device, monkeypatch):
    X, y = data
    monkeypatch.setattr(fold, "SCRATCH", 1 << 14)
    monkeypatch.setattr(fold, "STRIP", 5)
    monkeypatch.setattr(tiles, "BAND", 1 << 14)
    monkeypatch.setattr(fold, "PRODUCT_ROWS", 64)
    for model in (LINEAR[3], LINEAR[7], KERNEL[1], KERNEL[4], KERNEL[-3]):
        truth = clone(model).fit(X, y).transform(X)
        found = clone(model).fit(put(X), put(y)).transform(put(X))
        assert distance(truth, back(found)) < 1e-10


@pytest.mark.parametrize("free", [6_000_000, 1000])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_more_rows_than_a_factor_has_room_for(data, put, on_device, monkeypatch, free, kernel):
    """Bands of the kernel matrix are kept, or made anew for every product."""
    X, y = data
    X[:, 5] -= 100
    model = KernelSupervisedPCA(2, approximation="exact", kernel=kernel, shrinkage=0.01)
    truth = clone(model).fit(X, y).transform(X)
    monkeypatch.setattr(device_systems, "SCRATCH", 0)
    monkeypatch.setattr(devices, "free_bytes", lambda place: free)
    monkeypatch.setattr(tiles, "BAND", 1 << 16)
    found = clone(model).fit(put(X), put(y)).transform(put(X))
    assert distance(truth, back(found)) < 1e-4
    with pytest.raises(ValueError, match=r"700 x 700 kernel matrix .* device .* free"):
        clone(model).set_params(target_weight=0.5).fit(put(X), put(y))
    if free == 1000:
        with pytest.raises(ValueError, match=r"12 x 12 covariance .* device .* free"):
            SupervisedPCA(2, shrinkage=0.1).fit(put(X), y)


@pytest.mark.parametrize("approximation", ["orthogonal", "fastfood"])
def test_transforms_and_products_make_the_same_angles(
    rng, put, on_device, monkeypatch, approximation
):
    X, y = rng.normal(size=(300, 100)), np.arange(300) % 3
    X[:, 0] += y
    model = KernelSupervisedPCA(
        2, approximation=approximation, n_random_features=601, random_state=0, gamma=0.01
    )
    monkeypatch.setattr(sys.modules["labelens._core.maps.orthogonal"], "COST_OF_A_NUMBER", 0)
    truth = clone(model).fit(X, y).transform(X)
    for start in (1 << 20, 1):
        monkeypatch.setattr(structured, "TRANSFORMED_FROM", (start, start))
        found = clone(model).fit(put(X), y).transform(put(X))
        assert distance(truth, back(found)) < 1e-10


def test_only_what_a_model_is_made_of_crosses_over(rng, on_device, monkeypatch):
    torch = pytest.importorskip("torch")
    X, y = rng.normal(size=(20_000, 50)), rng.integers(0, 3, 20_000)
    X[:, 0] += y
    crossed, plain = [], devices.host

    def logged(array):
        crossed.append(getattr(array, "shape", ()))
        return plain(array)

    for module in (devices, device_algebra):
        monkeypatch.setattr(module, "host", logged)
    for model in (LINEAR[0], LINEAR[3], LINEAR[7], KERNEL[1]):
        model = clone(model).fit(torch.asarray(X), torch.asarray(y))
        model.transform(torch.asarray(X))
    assert crossed
    largest = max(int(np.prod(shape)) for shape in crossed if len(shape) == 2)
    assert largest < X.size // 10


def test_what_is_wrong_is_said(data, put, on_device):
    X, y = data
    broken = X.copy()
    broken[610, 3] = np.nan
    for model in (SupervisedPCA(2), KernelSupervisedPCA(2, random_state=0)):
        with pytest.raises(ValueError, match="contains NaN at row 610, column 3"):
            clone(model).fit(put(broken), y)
        fitted = clone(model).fit(put(X), y)
        with pytest.raises(ValueError, match="contains NaN at row 610, column 3"):
            fitted.transform(put(broken))
        with pytest.raises(ValueError, match="11 features"):
            fitted.transform(put(X[:, :11]))
    with pytest.raises(ValueError, match="Expected 2D array"):
        SupervisedPCA(2).fit(put(X[:, 0]), y)
    with pytest.raises(ValueError, match="0 sample"):
        SupervisedPCA(2).fit(put(X[:0]), y[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SupervisedPCA(2).fit(put(X), y[:-1])
    with pytest.raises(TypeError, match="function of two rows on the host"):
        KernelSupervisedPCA(2, approximation="exact", kernel=lambda a, b: 1.0).fit(put(X), y)


def test_integers_and_names(data, put, on_device):
    X, y = data
    whole = np.round(10 * X).astype(np.int64)
    truth = SupervisedPCA(2).fit(whole, y).transform(whole)
    assert distance(truth, back(SupervisedPCA(2).fit(put(whole), y).transform(put(whole)))) < 1e-10
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)])
    model = SupervisedPCA(2).fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(put(X))
    assert not hasattr(model.fit(put(X), y), "feature_names_in_")


def test_precision_is_checked():
    with pytest.raises(ValueError, match="precision must be one of None, 'tf32'"):
        SupervisedPCA(2, precision="half").fit(np.eye(4), [0, 1, 0, 1])


def test_the_librarys_precision_is_put_back(data, on_device):
    torch = pytest.importorskip("torch")
    X, y = data
    matmul = torch.backends.cuda.matmul
    before = matmul.fp32_precision
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        plain = fold.class_sums
        patch.setattr(
            fold, "class_sums", lambda *a: (seen.append(matmul.fp32_precision), plain(*a))[1]
        )
        for precision in (None, "tf32"):
            SupervisedPCA(2, precision=precision).fit(torch.asarray(X), y)
    assert list(dict.fromkeys(seen)) == ["ieee", "tf32"]
    assert matmul.fp32_precision == before


CALLS = dict(public_calls())


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:Only . of the:UserWarning")
def test_everything_that_takes_rows_takes_those_of_a_device(data, put, on_device, name):
    X, y = data[0][:150], data[1][:150]
    there = put(X)
    if name in CANNOT:
        with pytest.raises(TypeError, match=CANNOT[name]):
            CALLS[name](there, put(y))
        return
    known, found = CALLS[name](X, y), CALLS[name](there, put(y))
    if name == "transform":
        assert distance(known, back(found)) < 1e-6
    else:
        compared(known, found, devices.place_of(there))


def test_public_names_without_rows():
    results = {name for name in labelens.__all__ if name not in CALLS}
    assert {"load", "save"} < results
    assert all(is_dataclass(getattr(labelens, name)) for name in results - {"load", "save"})


# Moving, saving, streaming -----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*rows of the training data:UserWarning")
def test_a_model_moves_and_files_know_no_device(data, on_device, tmp_path):
    torch = pytest.importorskip("torch")
    X, y = data
    for model in (LINEAR[2], KERNEL[1], KERNEL[3], KERNEL[4]):
        model = clone(model).fit(torch.asarray(X), torch.asarray(y))
        path = tmp_path / "model.labelens"
        labelens.save(model, path, moments=True)
        loaded = labelens.load(path)
        truth = model.transform(torch.asarray(X)).numpy()
        np.testing.assert_allclose(loaded.transform(X), truth, atol=1e-10)
        shown = "dual_coef_" if model._recipe.phi is None else "components_"
        assert isinstance(getattr(loaded, shown), np.ndarray)
        for where, kind in (("torch", torch.Tensor), ("numpy", np.ndarray), (torch, torch.Tensor)):
            assert isinstance(getattr(loaded.to(where), shown), kind)
            np.testing.assert_allclose(loaded.transform(X), truth, atol=1e-10)
            found = loaded.transform(torch.asarray(X))
            np.testing.assert_allclose(found.numpy(), truth, atol=1e-10)


@pytest.mark.parametrize("model", [LINEAR[2], KERNEL[1], KERNEL[4]], ids=named)
def test_a_model_goes_on_where_it_was_moved_to(data, put, model):
    X, y = data
    model = clone(model).fit(X, y)
    truth = copy.deepcopy(model).partial_fit(X, y).transform(X)
    moved = model.to(sys.modules[type(put(X)).__module__.partition(".")[0]])
    moved.merge(copy.deepcopy(moved))
    np.testing.assert_allclose(back(moved.transform(X)), truth, atol=1e-10)


def test_places_that_are_none(data):
    torch = pytest.importorskip("torch")
    model = SupervisedPCA(2).fit(*data)
    with pytest.raises(ValueError, match="'gpu' is not a device that torch can use here"):
        model.to("gpu")
    with pytest.raises(TypeError, match="A place is a device"):
        model.to(3)
    assert model.to(torch.device("cpu")).components_.device.type == "cpu"


@pytest.mark.parametrize(
    "model", [LINEAR[0], LINEAR[2], LINEAR[7], KERNEL[1], KERNEL[4]], ids=named
)
def test_streams_through_a_device(data, on_device, monkeypatch, tmp_path, model):
    pytest.importorskip("torch")
    monkeypatch.setattr(plan, "SENT_BYTES", 1)
    monkeypatch.setattr(devices, "free_bytes", lambda place: 1 << 17)
    X, y = (np.tile(part, (4, 1) if part.ndim == 2 else 4) for part in data)
    truth = clone(model).fit(X, y).transform(X)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    for source, label in (
        (X, y),
        (pd.DataFrame(X, columns=[f"x{i}" for i in range(12)]).assign(y=y), "y"),
        (tmp_path / "X.npy", tmp_path / "y.npy"),
    ):
        found = labelens.fit(clone(model), source, label=label, device="cpu")
        rows = source.drop(columns="y") if isinstance(source, pd.DataFrame) else X
        assert distance(truth, found.transform(rows)) < 1e-9


def test_a_device_that_shares_the_readers_memory(data, monkeypatch, tmp_path):
    """A reader writes over a chunk as soon as the next one is asked for."""
    pytest.importorskip("torch")
    monkeypatch.setattr(plan, "SENT_BYTES", 1)
    X, y = (np.tile(part, (40, 1) if part.ndim == 2 else 40) for part in data)
    np.save(tmp_path / "X.npy", X)
    truth = SupervisedPCA(2).fit(X, y)
    found = labelens.fit(SupervisedPCA(2), tmp_path / "X.npy", label=y, device="cpu")
    assert (found.transform(X) == truth.transform(X)).all()


@pytest.mark.parametrize("model", [LINEAR[0], LINEAR[2], KERNEL[1]], ids=named)
def test_chunks_of_a_dask_array_are_fitted_where_they_are(data, on_device, monkeypatch, model):
    torch, dask = pytest.importorskip("torch"), pytest.importorskip("dask.array")
    X, y = data
    X = X.copy()
    X[:, 5] -= 100
    rows = dask.from_array(X, chunks=(200, 12))
    truth = clone(model).fit(rows, y).transform(X)
    there = rows.map_blocks(torch.asarray, meta=np.empty((0, 0)))
    crossed, plain = [], devices.host

    def logged(array):
        crossed.append(getattr(array, "shape", ()))
        return plain(array)

    monkeypatch.setattr(devices, "host", logged)
    found = clone(model).fit(there, y)
    assert not any(shape == (200, 12) for shape in crossed)  # no chunk came over
    assert distance(truth, plain(found.transform(X))) < 1e-10


@pytest.mark.parametrize("labels", [np.int8, np.uint32, np.int64, np.uint64, bool, float, str])
@pytest.mark.parametrize(
    "changes", [{}, {"class_weight": "balanced"}, {"missing_label": 2}, {"n_components": "auto"}]
)
def test_labels_go_with_the_rows(data, on_device, monkeypatch, labels, changes):
    pytest.importorskip("torch")
    monkeypatch.setattr(plan, "SENT_BYTES", 1)
    X, y = (np.tile(part, (8, 1) if part.ndim == 2 else 8) for part in data)
    y = y.astype(labels)
    model = SupervisedPCA(1).set_params(**changes)
    truth = labelens.fit(clone(model), X, label=y)
    found = labelens.fit(clone(model), X, label=y, device="cpu")
    if labels is not float:
        assert list(found.classes_) == list(truth.classes_)
    assert distance(truth.transform(X), found.transform(X)) < 1e-9


def test_masked_labels_on_the_host_need_a_marker(data, put, on_device):
    X, y = data
    masked = np.ma.masked_array(y, mask=np.arange(len(y)) == 3)
    with pytest.raises(ValueError, match="contains NaN at row 3"):
        SupervisedPCA(2).fit(put(X), masked)


@pytest.mark.parametrize("changes", [{}, {"shrinkage": 0.5}, {"target_weight": 0.5}])
def test_no_training_value_is_an_origin(data, put, on_device, changes):
    X, y = data
    X = X + np.pi * 1e3
    model = SupervisedPCA(1).set_params(**changes)
    for row in range(30):
        model.partial_fit(put(X[row : row + 1]), y[row : row + 1])
    moments = [model.moments_.cross, *([model.moments_.scatter] if changes else [])]
    for moment in moments:
        assert not np.isin(devices.host(moment.origin), X).any()
    truth = SupervisedPCA(1).set_params(**changes).fit(X[:30], y[:30])
    assert distance(truth.transform(X), back(model.transform(put(X)))) < 1e-6


def test_an_array_on_a_device_is_fitted_there(data, put, on_device):
    X, y = data
    truth = SupervisedPCA(2).fit(X, y).transform(X)
    found = labelens.fit(SupervisedPCA(2), put(X), label=y)
    assert distance(truth, back(found.transform(put(X)))) < 1e-10
    for name, value in (("checkpoint", "state"), ("memory", "1GB"), ("features", ["a"])):
        with pytest.raises(ValueError, match=f"{name} is for files and host memory"):
            labelens.fit(SupervisedPCA(2), put(X), label=y, **{name: value})
