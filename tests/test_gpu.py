"""On a card: what test_arrays.py cannot see. `make bench-gpu` runs these too and keeps the outcome.

python -m pytest -m gpu
"""

import numpy as np
import pytest
from sklearn.base import clone

import labelens
from array_cases import (
    CANNOT,
    KERNEL,
    LINEAR,
    array_checks,
    compared,
    distance,
    named,
    public_calls,
)
from labelens import KernelSupervisedPCA, SupervisedPCA
from labelens._base import devices, sending
from labelens._core import device_systems, tiles
from labelens._core.moments import fold

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no card here"),
]


def on_card(values):
    return torch.asarray(values, device="cuda")


@pytest.fixture(params=["torch", "cupy"])
def put(request):
    return on_card if request.param == "torch" else pytest.importorskip("cupy").asarray


@pytest.fixture
def data(rng):
    y = rng.integers(0, 4, 20_000)
    return rng.normal(size=(20_000, 60)) + 1.5 * np.eye(60)[y], y


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", [*LINEAR, *KERNEL], ids=named)
def test_the_same_model_as_on_the_host(data, put, model, dtype):
    X, y = data
    if getattr(model, "approximation", "") == "exact":
        X, y = X[:4000], y[:4000]
    X = X.astype(dtype)
    truth, there = clone(model).fit(X, y).transform(X), put(X)
    found = clone(model).fit(there, put(y)).transform(there)
    assert type(found) is type(there)
    assert found.device == there.device
    bar = 1e-10 if dtype == np.float64 else 1e-5
    if getattr(model, "approximation", "") in ("exact", "falkon") and model.shrinkage < 1:
        bar *= 10  # coefficients of both signs multiply what kernel values err by
    assert distance(truth, devices.host(found)) < bar


def test_far_from_zero_in_float32(data):
    X, y = (data[0] + 1000).astype(np.float32), data[1]
    for model in (LINEAR[0], LINEAR[2], LINEAR[5]):
        truth = clone(model).fit(X, y).transform(X)
        found = clone(model).fit(on_card(X), y).transform(on_card(X))
        assert distance(truth, devices.host(found)) < 1e-5


def test_tf32_only_if_asked(data):
    X, y = data[0].astype(np.float32), data[1]
    model = KernelSupervisedPCA(3, n_random_features=512, random_state=0)
    truth = clone(model).fit(X, y).transform(X)
    torch.backends.cuda.matmul.fp32_precision = "tf32"  # the user's own choice for other work
    try:
        found = clone(model).fit(on_card(X), y).transform(on_card(X))
        asked = clone(model).set_params(precision="tf32").fit(on_card(X), y).transform(on_card(X))
        assert torch.backends.cuda.matmul.fp32_precision == "tf32"
    finally:
        torch.backends.cuda.matmul.fp32_precision = "ieee"
    assert distance(truth, devices.host(found)) < 1e-5
    assert 1e-5 < distance(truth, devices.host(asked)) < 1e-2


@pytest.mark.parametrize("n_classes", [2, 10, 17, 32, 33, 200])
@pytest.mark.parametrize("width", [1, 127, 128, 300])
def test_sums_over_classes(rng, n_classes, width):
    X = rng.normal(size=(5001, width)).astype(np.float32) + 50
    codes, weight = rng.integers(-1, n_classes, (5001, 1)), rng.random(5001)
    truth = np.zeros((n_classes + 1, width))
    np.add.at(truth, codes[:, 0], weight[:, None] * (X.astype(float) - 50))
    there = on_card(X) - 50, on_card(codes.astype(np.int32)), n_classes
    sums = devices.host(fold.class_sums(*there, on_card(weight.astype(np.float32))))
    np.testing.assert_allclose(sums[:, :-1], truth[:-1], atol=2e-4)
    heavy = np.bincount(codes[:, 0] + 1, weight)[1:]
    np.testing.assert_allclose(sums[:, -1], heavy, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_columns(rng, weighted):
    X = rng.normal(size=(5001, 300)).astype(np.float32) + 50
    weight = rng.random(5001).astype(np.float32) if weighted else np.ones(5001, np.float32)
    about = X.astype(float) - 50
    truth = [(weight[:, None] * about).sum(0), (weight[:, None] * about**2).sum(0)]
    origin = on_card(np.full(300, 50, np.float32))
    sums, low, high = fold.column_sums(on_card(X), on_card(weight) if weighted else None, origin)
    np.testing.assert_allclose(devices.host(sums), truth, rtol=1e-5, atol=2e-3)
    np.testing.assert_array_equal(devices.host(low), X.min(0))
    np.testing.assert_array_equal(devices.host(high), X.max(0))


@pytest.mark.parametrize("labels", [[0, 1, 2], [3, 5, 15], [0, 2, 16], [-1, 0, 1], [0, 1, 1000]])
@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_labels_are_numbered_on_the_card(data, labels, dtype):
    X, y = data[0].astype(np.float32), np.array(labels, dtype)[data[1] % 3]
    truth = SupervisedPCA(2).fit(X, y)
    found = SupervisedPCA(2).fit(on_card(X), on_card(y))
    assert list(found.classes_) == list(truth.classes_) == sorted(labels)
    assert distance(truth.transform(X), devices.host(found.transform(on_card(X)))) < 1e-5


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("model", [LINEAR[0], LINEAR[2], KERNEL[1], KERNEL[4]], ids=named)
def test_streams(data, monkeypatch, model, pinned):
    X, y = (
        part[:3000] if getattr(model, "approximation", "") == "exact" else part for part in data
    )
    monkeypatch.setattr("labelens._out_of_core.plan.SENT_BYTES", 1 << 20)
    monkeypatch.setattr(sending, "PINNED_BYTES", 1 << 16)
    monkeypatch.setattr(devices, "free_bytes", lambda place: 1 << 22)
    rows = torch.asarray(X).pin_memory() if pinned else X
    found = labelens.fit(clone(model), rows, label=y, device="cuda")
    truth = clone(model).fit(X, y).transform(X)
    assert distance(truth, found.transform(X)) < 1e-9


def test_a_model_moves(data):
    X, y = data
    model = SupervisedPCA(3).fit(X, y)
    assert model.to("cuda").components_.device.type == "cuda"
    assert type(model.to("cupy").components_).__module__.startswith("cupy")
    assert isinstance(model.to("numpy").components_, np.ndarray)


CALLS = dict(public_calls())


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:Only . of the:UserWarning")
def test_everything_that_takes_rows_takes_those_of_a_gpu(data, put, name):
    X, y = data[0][:150, :12], data[1][:150]
    there = put(X)
    if name in CANNOT:
        with pytest.raises(TypeError, match=CANNOT[name]):
            CALLS[name](there, put(y))
        return
    known, found = CALLS[name](X, y), CALLS[name](there, put(y))
    if name == "transform":
        assert distance(known, devices.host(found)) < 1e-6
    else:
        compared(known, found, devices.place_of(there))


@pytest.mark.parametrize("free", [None, 1 << 27, 1000])
def test_more_rows_than_a_factor_has_room_for(data, put, monkeypatch, free):
    X, y = data[0][:3000], data[1][:3000]
    model = KernelSupervisedPCA(2, approximation="exact", gamma=0.01, shrinkage=0.01)
    truth = clone(model).fit(X, y).transform(X)
    if free is not None:
        monkeypatch.setattr(device_systems, "SCRATCH", 0)
        monkeypatch.setattr(devices, "free_bytes", lambda place: free)
    found = clone(model).fit(put(X), put(y)).transform(put(X))
    assert distance(truth, devices.host(found)) < 1e-4


def test_memory(rng):
    """X and 2 GB at most, whatever the method."""
    X = torch.rand(1_000_000, 100, device="cuda")
    y = torch.randint(0, 5, (1_000_000,), device="cuda")
    for model in (LINEAR[0], LINEAR[2], LINEAR[7], KernelSupervisedPCA(2, random_state=0)):
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        clone(model).fit(X, y)
        assert torch.cuda.max_memory_allocated() - before < 2e9
    assert tiles.BAND * 8 < 2e9


def for_cards(check):
    return any(name in repr(check.keywords) for name in ("cuda", "cupy"))


@pytest.mark.parametrize(("estimator", "check"), list(array_checks(for_cards)))
@pytest.mark.filterwarnings("ignore:Only . of the 2 components:UserWarning")
def test_scikit_learn_array_check(estimator, check):
    check(estimator)
