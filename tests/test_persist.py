"""Models in files: the same bits back, nothing else in, nothing half-written."""

import copy
import datetime
import json
import os
import pickle
import stat
import struct
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler

import labelens
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens.label_kernels import Cyclic, Ordinal, Precomputed, Sum, Tree
from labelens.persist import info

DATA = Path(__file__).parent / "data"
LINEAR = (SupervisedPCA, SupervisedRandomProjection)
KERNEL = (KernelSupervisedPCA, KernelSupervisedRandomProjection)


# Which models hold rows is the matter of one test.
pytestmark = pytest.mark.filterwarnings("ignore:.* rows of the training data")


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


# The grid ----------------------------------------------------------------------------------------


def rows_of(kind, rng, n=96, d=6):
    d = 160 if kind == "wide" else d
    X = rng.normal(size=(n, d)) + np.arange(n)[:, None] % 3 * np.linspace(1, 2, d)
    match kind:
        case "float32":
            return X.astype(np.float32)
        case "sparse":
            return sparse.csr_array(np.where(np.abs(X) > 1, X, 0))
        case "frame":
            return pd.DataFrame(X, columns=[*"abcd", "é\n", ""])
        case "integers":
            return (X * 4).astype(np.int16)
        case "fortran":
            return np.asfortranarray(X)
    return X


def labels_of(kind, n=96):
    number = np.arange(n) % 3
    day = np.datetime64("2024-02-28", "D")
    match kind:
        case "int":
            return number - 1
        case "seven":
            return np.arange(n) % 7
        case "whole float":
            return number.astype(float)
        case "huge and mixed":
            return np.array([10**40, 0.5, -7], dtype=object)[number]
        case "str":
            return np.array(["a", "", "\ud800é\0"], dtype=object)[number]
        case "bytes":
            return np.array([b"a", b"\xff", b"\n"])[number]
        case "bool":
            return number > 0
        case "datetime64":
            return day + number
        case "timedelta64":
            return number.astype("m8[25s]")
        case "date":
            return np.array([datetime.date(2024, 1, 1 + i) for i in number], dtype=object)
        case "datetime":
            return np.array([datetime.datetime(1, 1, 1, 0, i, 0, i) for i in number], dtype=object)
        case "columns":
            return np.stack([number, np.arange(n) % 4], axis=1)
        case "columns of objects":
            return np.array([["xyz"[i], i > 1] for i in number], dtype=object)
        case "continuous":
            return number + np.sin(np.arange(n))
        case "continuous columns":
            return np.stack([number + np.sin(np.arange(n)), np.cos(np.arange(n))], axis=1)
        case "multilabel":
            return np.stack([number == 0, number > 0, np.arange(n) % 2], axis=1).astype(int)
        case "sparse multilabel":
            return sparse.csr_matrix(labels_of("multilabel", n))
        case "some missing":
            return np.where(np.arange(n) % 5 == 1, np.nan, number)
        case "some marked":
            return np.where(np.arange(n) % 5 == 1, "?", np.array(["u", "v", "w"])[number])


def case(method, rows="dense", labels="int", **parameters):
    name = "-".join(
        [method.__name__, rows, str(labels), *(f"{k}={v}" for k, v in parameters.items())]
    )
    return pytest.param((method, rows, labels, parameters), id=name)


GRID = [
    *(case(m, rows=r) for m in LINEAR for r in ("dense", "float32", "sparse", "frame", "fortran")),
    *(case(m, scale=s) for m in LINEAR + KERNEL for s in ("minmax", "standard")),
    *(case(m, rows="sparse", scale="standard") for m in LINEAR + KERNEL),
    *(
        case(SupervisedPCA, labels=y, n_components=1)
        for y in ("whole float", "huge and mixed", "bytes", "bool", "datetime64")
    ),
    *(
        case(m, labels=y, n_components=1)
        for m in (SupervisedPCA, SupervisedRandomProjection)
        for y in ("str", "timedelta64", "date", "datetime", "columns", "columns of objects")
    ),
    *(
        case(m, labels=y)
        for m in LINEAR
        for y in ("continuous", "continuous columns", "multilabel", "sparse multilabel", None)
    ),
    case(SupervisedPCA, labels="int", label_kernel="rbf", label_gamma=2),
    *(case(m, labels="some missing", missing_label=float("nan")) for m in LINEAR + KERNEL),
    case(SupervisedPCA, labels="str", class_weight={"a": 2.0}),
    case(SupervisedPCA, labels="date", class_weight={datetime.date(2024, 1, 2): 2}),
    case(SupervisedPCA, class_weight={np.int64(0): np.float32(2.5), 1: 0}, n_components=1),
    case(SupervisedPCA, labels="some marked", missing_label="?", target_weight=0.5),
    *(
        case(SupervisedRandomProjection, labels=y, label_map=how)
        for y, how in (
            ("int", "gaussian"),
            ("str", "gaussian"),
            ("int", "fourier"),
            ("seven", "spread"),
            ("int", "spread"),
        )
    ),
    *(
        case(SupervisedRandomProjection, labels=y, label_map=how)
        for y, how in (("continuous", "fourier"), ("continuous columns", "gaussian"))
    ),
    *(
        case(m, **{name: value})
        for m in LINEAR + KERNEL
        for name, value in (("target_weight", 0.3), ("shrinkage", 0.1), ("shrinkage", "auto"))
    ),
    case(SupervisedPCA, scale="standard", shrinkage="auto"),
    case(SupervisedPCA, scale="minmax", target_weight=0.5, shrinkage=0.5),
    case(SupervisedRandomProjection, scale="minmax", target_weight=0.5, shrinkage=0.5),
    case(SupervisedPCA, batch_size=16, rows="float32"),
    case(SupervisedPCA, batch_size=16, labels="continuous"),
    *(
        case(KernelSupervisedPCA, rows=rows, approximation=a)
        for a in ("fourier", "orthogonal", "fastfood", "nystroem", "exact")
        for rows in ("float32", "sparse", "integers")
    ),
    *(
        case(KernelSupervisedRandomProjection, approximation=a)
        for a in ("fourier", "orthogonal", "fastfood", "nystroem", "exact")
    ),
    *(case(m, rows="wide", n_random_features=1024) for m in KERNEL),
    *(
        case(KernelSupervisedPCA, kernel=k, approximation=a, gamma="median")
        for k in ("laplacian", "matern", "polynomial", "linear")
        for a in ("orthogonal", "nystroem", "exact")
    ),
    case(KernelSupervisedPCA, rows="sparse", kernel="poly"),
    case(KernelSupervisedPCA, kernel="polynomial", kernel_params={"degree": 2, "coef0": 0}),
    case(KernelSupervisedPCA, kernel="matern", kernel_params={"nu": np.float64(2.5)}, gamma=0.1),
    *(
        case(KernelSupervisedRandomProjection, labels=y, approximation="exact", label_map=how)
        for y, how in (("int", "gaussian"), ("continuous", "orthogonal"), (None, "orthogonal"))
    ),
    case(KernelSupervisedPCA, labels="sparse multilabel", approximation="exact"),
    case(KernelSupervisedPCA, labels="columns", approximation="exact", rows="fortran"),
    case(KernelSupervisedPCA, rows="fortran", kernel="polynomial", approximation="exact"),
    case(KernelSupervisedPCA, labels=None),
]

ATTRIBUTES = ["components_", "mean_", "dual_coef_", "classes_", "singular_values_", "dependence_"]
ATTRIBUTES += ["dependence_ratio_", "n_samples_seen_", "n_features_in_", "feature_names_in_"]
ATTRIBUTES += ["gamma_", "label_kernel_", "shrinkage_"]


def fitted(composition, rng, n=96, solve=True):
    """A model with its rows and labels."""
    method, rows, labels, parameters = composition
    X = rows_of(rows, rng)
    y = None if labels is None else labels_of(labels)
    usual = {"n_components": 2, "random_state": 3}
    if method in KERNEL:
        usual["n_random_features"] = 33
    model = method(**usual | parameters)
    some = X[:n] if not isinstance(X, pd.DataFrame) else X.iloc[:n]
    (model.fit if solve else model.partial_fit)(some, None if y is None else y[:n])
    return model, X, y


def bits(value):
    """Something that is equal only where every bit, type and order in memory is."""
    match value:
        case np.ndarray() if value.dtype == object:
            return ["objects", *map(bits, value.tolist())]
        case np.ndarray():
            return value.dtype.str, value.shape, value.flags.f_contiguous, value.tobytes()
        case list() | tuple():
            return [bits(item) for item in value]
        case dict():
            return {key: bits(item) for key, item in value.items()}
        case np.floating() | float():
            return "float", struct.pack("<d", value)
    return type(value).__name__, value


def asked(model, name):
    try:
        return bits(getattr(model, name))
    except AttributeError as error:
        return str(error)


def forms(X):
    if isinstance(X, pd.DataFrame):
        return [X]
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return [
        form(dense.astype(dtype))
        for dtype in (np.float32, np.float64)
        for form in (np.ascontiguousarray, np.asfortranarray, sparse.csr_array)
    ]


def embedded(model, X):
    try:
        return bits(model.transform(X))
    except ValueError as error:  # sparse rows where dense ones were scaled
        return str(error)


def assert_same(model, other, *rows):
    assert type(model) is type(other)
    assert bits(model.get_params()) == bits(other.get_params())
    for name in ATTRIBUTES:
        assert asked(model, name) == asked(other, name), name
    assert bits(model.get_feature_names_out()) == bits(other.get_feature_names_out())
    for X in rows:
        assert embedded(model, X) == embedded(other, X)
    if isinstance(model, LINEAR):
        Z = np.arange(2.0 * model.n_components).reshape(2, -1)
        for dtype in (np.float32, np.float64):
            ours, theirs = (m.inverse_transform(Z.astype(dtype)) for m in (model, other))
            assert bits(ours) == bits(theirs)


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
    with pytest.raises(NotFittedError, match="Only one class"):
        loaded.transform(X)
    loaded.partial_fit(X[y < 2], y[y < 2])
    truth = SupervisedPCA(1).partial_fit(X[y == 2], y[y == 2]).partial_fit(X[y < 2], y[y < 2])
    assert_same(truth, loaded, X)
    labelens.save(loaded, tmp_path / "m")
    assert_same(labelens.load(tmp_path / "m").fit(X, y), SupervisedPCA(1).fit(X, y), X)


def test_unsolved_models_need_moments(data, tmp_path):
    X, y = data
    with pytest.raises(NotFittedError, match="Only one class"):
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


# What is refused on saving -----------------------------------------------------------------------


class Odd(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KernelSupervisedPCA(kernel=np.dot, approximation="exact"), "kernel=.*knows by name"),
        (KernelSupervisedPCA(approximation=RBFSampler(random_state=0)), "approximation=.*'exact'"),
        (SupervisedPCA(1, label_kernel=StandardScaler()), "label_kernel=.*transform y before"),
        (SupervisedPCA(random_state=np.random.RandomState(0)), "random_state=.*an integer"),
        (SupervisedPCA(missing_label=pd.NA), "missing_label=<NA>.*NaN"),
        (SupervisedPCA(missing_label=Odd("?")), "missing_label='\\?'.*type Odd"),
    ],
)
def test_parameters_without_a_text_are_refused_by_name(data, tmp_path, model, words):
    with pytest.raises(TypeError, match=words):
        labelens.save(model.fit(*data), tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "label",
    [pd.Timestamp("2024-01-01"), Odd("a"), datetime.datetime.now(datetime.UTC), (1, "a")],
)
def test_classes_without_a_text_are_refused_by_name(data, tmp_path, label):
    X, y = data
    labels = np.empty(len(X), dtype=object)
    labels[:] = [Odd(i) if isinstance(label, Odd) else label for i in y]
    model = SupervisedPCA(1).partial_fit(X, labels)
    with pytest.raises(TypeError, match=rf"of type {type(label).__name__}.*y.astype\(str\)"):
        labelens.save(model, tmp_path / "m", moments=True)


def test_other_things_are_refused(data, tmp_path):
    X, y = data

    namesake = type("SupervisedPCA", (SupervisedPCA,), {})
    with pytest.raises(TypeError, match=r"one of SupervisedPCA.*StandardScaler"):
        labelens.save(StandardScaler().fit(X), tmp_path / "m")
    with pytest.raises(TypeError, match=r"got <class '.*SupervisedPCA"):
        labelens.save(namesake(1).fit(X, y), tmp_path / "m")
    with pytest.raises(ValueError, match="n_components was 1"):
        labelens.save(SupervisedPCA(1).fit(X, y).set_params(n_components=2), tmp_path / "m")
    changed = KernelSupervisedPCA(1, kernel="matern", kernel_params={"nu": 0.5}).fit(X, y)
    changed.kernel_params["nu"] = 7
    with pytest.raises(ValueError, match="cannot be saved: nu of the Matern"):
        labelens.save(changed, tmp_path / "m")
    units = SupervisedPCA(1).partial_fit(X, y.astype("M8[D]"))
    units.partial_fit(X, (y + 86400 * 9).astype("M8[s]"))
    with pytest.raises(TypeError, match=r"datetime64\[D\] and datetime64\[s\]"):
        labelens.save(units, tmp_path / "m")
    assert not list(tmp_path.iterdir())


# Writing is all or nothing -----------------------------------------------------------------------


@pytest.fixture
def model(data):
    return SupervisedPCA(2).fit(*data)


@pytest.mark.parametrize("error", [OSError("no space"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_nothing_is_left_behind(model, tmp_path, monkeypatch, step, error):
    path = tmp_path / "m"
    for old in (None, b"old"):
        if old is not None:
            path.write_bytes(old)
        with monkeypatch.context() as patch:

            def fail(*_):
                raise error

            patch.setattr(os, step, fail)
            with pytest.raises(type(error)):
                labelens.save(model, path)
        assert [p.name for p in tmp_path.iterdir()] == ([] if old is None else ["m"])
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(os.name != "posix", reason="permissions, links and pipes of POSIX")
def test_permissions_links_and_places(model, tmp_path):
    path, link = tmp_path / "m", tmp_path / "link"
    before = os.umask(0o027)
    try:
        labelens.save(model, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    labelens.save(model, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert_same(model, labelens.load(path), np.ones((2, 4)))
    link.symlink_to(path)
    for use in (lambda: labelens.save(model, link), lambda: labelens.load(link)):
        with pytest.raises(OSError, match="link is a link"):
            use()
    assert link.is_symlink()
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        labelens.save(model, tmp_path / "nowhere" / "m")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        labelens.save(model, tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe or a device"):
        labelens.save(model, tmp_path / "pipe")
    assert len(list(tmp_path.iterdir())) == 3


# Hostile files -----------------------------------------------------------------------------------


class Forgery:
    """A file taken apart; what is put together again has checksums and offsets that are right."""

    def __init__(self, content):
        length = int.from_bytes(content[:8], "little")
        self.index = json.loads(content[8 : 8 + length])
        self.header = json.loads(self.index["__metadata__"]["labelens"])
        kinds = {"F64": "<f8", "I64": "<i8", "U8": "u1", "F32": "<f4", "I32": "<i4", "BOOL": "?"}
        self.arrays = {
            name: np.frombuffer(
                content[8 + length :][slice(*entry["data_offsets"])], kinds[entry["dtype"]]
            ).reshape(entry["shape"])
            for name, entry in self.index.items()
            if name != "__metadata__"
        }
        self.codes = {np.dtype(kind): code for code, kind in kinds.items()}
        self.orders = {name: facts["order"] for name, facts in self.header["arrays"].items()}

    def content(self, index=lambda index: index, text=lambda text: text, head=lambda head: head):
        entries, offset, raw = {}, 0, b""
        for name, array in self.arrays.items():
            facts = {"dtype": self.codes[array.dtype], "shape": list(array.shape)}
            entries[name] = facts | {"data_offsets": [offset, offset := offset + array.nbytes]}
            raw += array.tobytes()
        if "arrays" in self.header:
            self.header["arrays"] = {
                name: {key: entry[key] for key in ("dtype", "shape")}
                | {"order": self.orders.get(name, "C")}
                for name, entry in entries.items()
            }
        if "arrays_sha256" in self.header:
            self.header["arrays_sha256"] = sha256(raw).hexdigest()
        header = text(json.dumps(self.header))
        metadata = {"labelens": header, "sha256": sha256(header.encode()).hexdigest()}
        front = head(json.dumps(index({"__metadata__": metadata} | entries)).encode())
        return len(front).to_bytes(8, "little") + front + raw


def good(**parameters):
    """A linear model with names and moments: its file."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
    return X, SupervisedPCA(2, scale="standard", **parameters).fit(X, np.arange(30) % 3)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "m"
    labelens.save(good()[1], path, moments=True)
    return path.read_bytes()


def put(*keys, value):
    """A change of the header: header[key][key]... = value."""

    def change(forged):
        here = forged.header
        for key in keys[:-1]:
            here = here[key]
        here[keys[-1]] = value

    return change


def drop(*keys):
    def change(forged):
        here = forged.header
        for key in keys[:-1]:
            here = here[key]
        del here[keys[-1]]

    return change


def array(name, function):
    def change(forged):
        forged.arrays[name] = function(forged.arrays[name])

    return change


def with_nan(a):
    a = a.copy()
    a.flat[-1] = np.nan
    return a


def without(name):
    return lambda forged: forged.arrays.pop(name)


def texts(name, *values):
    def change(forged):
        pieces = [value.encode() for value in values]
        forged.arrays[f"{name}.text"] = np.frombuffer(b"".join(pieces), dtype="u1")
        forged.arrays[f"{name}.ends"] = np.cumsum([len(p) for p in pieces], dtype="<i8")

    return change


FORGERIES = {
    "newer": (put("format", value=2), "made by a newer labelens.*upgrade"),
    "older than the first": (put("format", value=0), "no file format 0"),
    "format as text": (put("format", value="1"), "no format version"),
    "format as a flag": (put("format", value=True), "no format version"),
    "no format": (drop("format"), "no format version"),
    "another method": (put("method", value="os.system"), "there is no method 'os.system'"),
    "a private class": (put("method", value="Projection"), "there is no method"),
    "no method": (drop("method"), "lacks 'method'"),
    "an unknown field": (put("code", value="import os"), "'code'.*does not know"),
    "no arrays": (drop("arrays"), "does not list its arrays"),
    "no checksum": (drop("arrays_sha256"), "does not list its arrays"),
    "parameter missing": (drop("parameters", "scale"), "parameters lacks 'scale'"),
    "parameter unknown": (put("parameters", "shell", value=1), "'shell'.*does not know"),
    "parameters a list": (put("parameters", value=[]), "'parameters' of its header must be"),
    "n_components zero": (put("parameters", "n_components", value=0), "n_components must be"),
    "n_components huge": (put("parameters", "n_components", value=10**12), "shape"),
    "n_components text": (put("parameters", "n_components", value="2"), "n_components must be"),
    "target_weight": (put("parameters", "target_weight", value=2), "target_weight must be"),
    "shrinkage": (put("parameters", "shrinkage", value=0.5), "missing|shrinkage"),
    "shrinkage list": (put("parameters", "shrinkage", value=[1]), "shrinkage must be"),
    "scale": (put("parameters", "scale", value="max"), "scale must be"),
    "scale a novel": (put("parameters", "scale", value="max" * 9999), r"scale must be.{,500}$"),
    "no scale": (put("parameters", "scale", value=None), "no array"),
    "label_kernel": (put("parameters", "label_kernel", value="rbf"), "'delta', not 'rbf'"),
    "label_kernel list": (put("parameters", "label_kernel", value=["rbf"]), "label_kernel="),
    "random_state": (put("parameters", "random_state", value=-1), "random_state must be"),
    "random_state text": (put("parameters", "random_state", value="1"), "random_state must be"),
    "batch_size": (put("parameters", "batch_size", value=0), "batch_size must be"),
    "missing_label": (put("parameters", "missing_label", value="a"), "missing_label"),
    "class_weight": (put("parameters", "class_weight", value="even"), "class_weight must be"),
    "class_weight pairs": (put("parameters", "class_weight", value=[["str", "a"]]), "class_weight"),
    "class_weight twice": (
        put("parameters", "class_weight", value=[["number", "1", 2], ["number", "1", 3]]),
        "class_weight has a class twice",
    ),
    "class_weight below zero": (
        put("parameters", "class_weight", value=[["number", "1", -2]]),
        r"class_weight\[1\] must be",
    ),
    "missing_label of three": (put("parameters", "missing_label", value=[1, 2, 3]), "a type and"),
    "missing_label of numbers": (put("parameters", "missing_label", value=[1, 2]), "be strings"),
    "missing_label evaluated": (
        put("parameters", "missing_label", value=["eval", "1"]),
        "no label of type 'eval'",
    ),
    "features": (put("n_features_in", value=4), "shape"),
    "features none": (put("n_features_in", value=0), "out of range"),
    "features float": (put("n_features_in", value=3.0), "must be an integer"),
    "features flag": (put("n_features_in", value=True), "must be an integer"),
    "names hidden": (put("feature_names", value=False), "no array 'feature_names"),
    "names a list": (put("feature_names", value=["a", "b", "c"]), "true or false"),
    "n_samples": (put("n_samples", value=-5), "n_samples is -5"),
    "training_rows": (put("training_rows", value=7), "how many training rows"),
    "moments hidden": (put("moments", value=False), "label_map is there without"),
    "block": (put("block", value=0), "block is 0"),
    "gamma": (put("gamma", value=1.0), "gamma without a kernel"),
    "map": (put("map", "kind", value="fourier"), "not what its parameters ask for"),
    "map of none": (put("map", value={}), "not what its parameters ask for"),
    "map with more": (put("map", "phase", value=1), "'phase'.*does not know"),
    "labels": (put("labels", value=None), "shape|classes without labels|label_map"),
    "labels of no kernel": (put("labels", "kernel", value="eval"), "of no kind"),
    "labels without kinds": (put("labels", "kinds", value=[]), "of no kind"),
    "labels of odd kinds": (put("labels", "kinds", value=[7]), "must be strings"),
    "labels of another kind": (put("labels", "kinds", value=["str"]), "not of kind 'str'"),
    "labels of more columns": (put("labels", "kinds", value=["number"] * 2), "do not belong"),
    "classes hidden": (put("classes", value=None), "labels without classes"),
    "classes of no type": (put("classes", value=["object"]), "no label of type 'object'"),
    "classes of another type": (put("classes", value=["str"]), "not of kind 'number'"),
    "classes of odd types": (put("classes", value=[None]), "must be strings"),
    "classes of bad unit": (put("classes", value=["datetime64[xs]"]), "no label of type"),
    "classes of huge unit": (put("classes", value=["datetime64[999999999s]"]), "kind|no label"),
    "classes twice": (texts("classes", "0", "1", "1"), "listed twice"),
    "classes equal": (texts("classes", "0", "1", "1.0"), "listed twice"),
    "classes in other digits": (texts("classes", "0", "1", "٢"), "no label of type 'number'"),
    "classes with a zero": (texts("classes", "0", "1", "02"), "no label of type 'number'"),
    "classes too long": (texts("classes", "0", "1", "9" * 5000), "no label of type 'number'"),
    "classes not finite": (texts("classes", "0", "1", "inf"), "inf is no class"),
    "classes missing": (texts("classes", "0", "1", "nan"), "nan is no class"),
    "classes too few": (texts("classes", "0", "1"), "shape"),
    "classes none": (texts("classes"), "do not belong"),
    "classes backwards": (
        array("classes.ends", lambda a: a[::-1].copy()),
        "do not fill their array",
    ),
    "classes beyond": (array("classes.ends", lambda a: a + 2**60), "do not fill their array"),
    "names not UTF-8": (
        array("feature_names.text", lambda a: a | np.uint8(0x80)),
        "not UTF-8",
    ),
    "names too few": (texts("feature_names", "a", "b"), "shape"),
    "label_map hidden": (put("label_map", value=None), "label_map is there without"),
    "label_map seed": (put("label_map", "seed", value=-1), "seed of its label_map"),
    "label_map more": (put("label_map", "mix", value="x"), "'mix'.*does not know"),
    "noise": (put("noise", value=5), "noise is there without"),
    "rank": (put("solution", "rank", value=3), "rank of its solution"),
    "solved shrinkage": (put("solution", "shrinkage", value=0.5), "its shrinkage is 0.5"),
    "solved shrinkage beyond": (put("solution", "shrinkage", value=1.5), "its shrinkage must be"),
    "cancels": (put("solution", "cancels", value="no"), "'cancels'"),
    "solution hidden": (put("solution", value=None), "no array 'solution"),
    "components missing": (without("solution.components"), "'solution.components' is missing"),
    "components float32": (
        array("solution.components", lambda a: a.astype("<f4")),
        "is float32, not float64",
    ),
    "components integers": (
        array("solution.components", lambda a: a.astype("<i8")),
        "is int64, not float64",
    ),
    "components turned": (array("solution.components", lambda a: a.T), "shape"),
    "components flat": (array("solution.components", lambda a: a.ravel()), "shape"),
    "components in a row": (array("solution.components", lambda a: a[None, None]), "shape"),
    "components NaN": (array("solution.components", with_nan), "not finite"),
    "mean NaN": (array("solution.mean.offset", with_nan), "not finite"),
    "dependence NaN": (array("solution.dependence", with_nan), "not finite"),
    "dependence all NaN": (array("solution.dependence", lambda a: a * np.nan), "not finite"),
    "sums NaN": (array("moments.cross.sums", with_nan), "not finite"),
    "weights negative": (array("moments.cross.class_weight", lambda a: -a), "no positive sum"),
    "weight zero": (array("moments.spread.weight", lambda a: a * 0), "is not positive"),
    "another array": (
        lambda forged: forged.arrays.update({"payload": np.zeros(2)}),
        "no array 'payload'",
    ),
    "odd order": (lambda forged: forged.orders.update({"solution.components": "K"}), "order"),
}


def refused(path, words, kind=ValueError):
    with pytest.raises(ValueError, match=words) as found:
        labelens.load(path)
    assert found.type is kind
    assert str(found.value).startswith(f"{path} cannot be loaded: ")
    assert "\n" not in str(found.value)


def test_a_forgery_without_a_change_loads(saved, tmp_path):
    (tmp_path / "m").write_bytes(Forgery(saved).content())
    X, model = good()
    assert_same(model, labelens.load(tmp_path / "m"), X)


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(saved, tmp_path, name):
    change, words = FORGERIES[name]
    forged = Forgery(saved)
    change(forged)
    (tmp_path / "m").write_bytes(forged.content())
    refused(tmp_path / "m", words)


@pytest.fixture(scope="module")
def saved_kernels(tmp_path_factory):
    """Models with label kernels that have arguments: their files."""
    rng, folder = np.random.default_rng(6), tmp_path_factory.mktemp("kernels")
    X, letters = rng.normal(size=(30, 3)), np.array(list("abc"))[np.arange(30) % 3]
    similar = Precomputed([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], list("abc"))
    both = np.array([letters, np.arange(30) % 5, rng.normal(size=30)], dtype=object).T
    parents = Tree(parents={"a": "r", "b": "r", "c": None})
    models = {
        "similar": (similar, letters),
        "tree": (parents, letters),
        "hours": (Cyclic(24), np.arange(30.0)),
        "sum": (Sum(similar, Ordinal(), "rbf"), both),
    }
    for name, (kernel, y) in models.items():
        model = SupervisedPCA(1, label_kernel=kernel).fit(X, y)
        labelens.save(model, folder / name, moments=True)
    return {name: (folder / name).read_bytes() for name in models}


def minus_identity(a):
    return a - 2 * np.eye(len(a))


WHERE = ("parameters", "label_kernel")
KERNEL_FORGERIES = {
    "no kind": ("hours", put(*WHERE, "kind", value="eval"), "is of no kind"),
    "kind a list": ("hours", put(*WHERE, "kind", value=["Cyclic"]), "is of no kind"),
    "unknown field": ("hours", put(*WHERE, "code", value=1), "'code'.*does not know"),
    "period": ("hours", put(*WHERE, "period", value=-24), "period must be"),
    "period text": ("hours", put(*WHERE, "period", value="24"), "'period' of its Cyclic"),
    "harmonics": ("hours", put(*WHERE, "harmonics", value=10**9), "harmonics must be"),
    "two kernels": ("hours", put(*WHERE, "period", value=12), "its labels are Cyclic"),
    "two widths": (
        "hours",
        lambda forged: [
            put(*where, "harmonics", value=3)(forged) for where in (WHERE, ("labels", "kernel"))
        ],
        "shape",
    ),
    "not semidefinite": ("similar", array("label_kernel.similarity", minus_identity), "eigenvalue"),
    "not finite": ("similar", array("label_kernel.similarity", with_nan), "not finite"),
    "not square": ("similar", array("label_kernel.similarity", lambda a: a[:2]), "shape"),
    "no similarity": ("similar", without("labels.kernel.similarity"), "missing"),
    "a class less": ("similar", put(*WHERE, "classes", value=[["str", "a"]]), "shape"),
    "classes": ("similar", put(*WHERE, "classes", value=["a", "b", "c"]), "a type and a text"),
    "width": ("similar", put("label_map", "width", value=0), "width of its label_map"),
    "circle": (
        "tree",
        put(*WHERE, "parents", value=[[["str", "a"], ["str", "a"]]]),
        "in a circle at 'a'",
    ),
    "a node twice": (
        "tree",
        put(*WHERE, "parents", value=[[["str", "a"], None], [["str", "a"], None]]),
        "a node twice",
    ),
    "no pairs": ("tree", put(*WHERE, "parents", value=[["str", "a", "b"]]), "no pairs"),
    "separator": ("tree", put(*WHERE, "separator", value=""), "separator must be"),
    "sums within": ("sum", put(*WHERE, "parts", value=[{"parts": []}] * 2), "others within"),
    "another part": ("sum", put(*WHERE, "parts", value=["delta"] * 3), "its labels are Sum"),
    "a part less": ("sum", put("label_map", "columns", value=[]), "not one column for each"),
    "column": ("sum", put("label_map", "columns", 0, "classes", value=None), "classes that it"),
    "column map": ("sum", put("label_map", "columns", 1, "map", "seed", value=-1), "seed"),
    "column kernel": (
        "sum",
        put("label_map", "columns", 2, "labels", "kernel", value="linear"),
        "column 2 of its labels is 'linear'",
    ),
    "factor": ("sum", array("labels.0.factor", lambda a: a[:2]), "shape"),
    "frequencies": ("sum", array("labels.2.frequencies", lambda a: a[:, :5]), "shape"),
}


@pytest.mark.parametrize("name", KERNEL_FORGERIES)
def test_forged_label_kernels_are_refused(saved_kernels, tmp_path, name):
    model, change, words = KERNEL_FORGERIES[name]
    forged = Forgery(saved_kernels[model])
    (tmp_path / "m").write_bytes(forged.content())
    labelens.load(tmp_path / "m")  # as it was
    change(forged)
    (tmp_path / "m").write_bytes(forged.content())
    refused(tmp_path / "m", words)


def changed_entry(name, **changes):
    def change(index):
        index[name] = index[name] | changes
        return index

    return change


def reordered(index):
    return dict(reversed(index.items()))


def overlapping(index):
    last = list(index)[-1]
    start, stop = index[last]["data_offsets"]
    index[last]["data_offsets"] = [start - 8, stop - 8]
    return index


COMPONENTS = "solution.components"
CONTAINERS = {
    "reordered": (dict(index=reordered), "overlap, or leave a gap"),
    "overlapping": (dict(index=overlapping), "overlap, or leave a gap"),
    "an entry more": (
        dict(index=lambda i: i | {"x": i[COMPONENTS]}),
        "list different arrays",
    ),
    "an entry less": (
        dict(index=lambda i: {k: v for k, v in i.items() if k != COMPONENTS}),
        "list different arrays",
    ),
    "another dtype": (dict(index=changed_entry(COMPONENTS, dtype="I64")), "than the header says"),
    "unknown dtype": (dict(index=changed_entry(COMPONENTS, dtype="F16")), "unknown dtype"),
    "another shape": (dict(index=changed_entry(COMPONENTS, shape=[3, 2])), "than the header says"),
    "huge shape": (dict(index=changed_entry(COMPONENTS, shape=[2**62, 3])), "are no sizes"),
    "negative shape": (dict(index=changed_entry(COMPONENTS, shape=[-2, -3])), "are no sizes"),
    "shape of flags": (dict(index=changed_entry(COMPONENTS, shape=[True, 6])), "are no sizes"),
    "shape of floats": (dict(index=changed_entry(COMPONENTS, shape=[2.0, 3])), "are no sizes"),
    "shape a number": (dict(index=changed_entry(COMPONENTS, shape=6)), "must be a list"),
    "offsets missing": (dict(index=changed_entry(COMPONENTS, data_offsets=[])), "out of place"),
    "offsets huge": (dict(index=changed_entry(COMPONENTS, data_offsets=[0, 10**30])), "no sizes"),
    "entry unknown field": (dict(index=changed_entry(COMPONENTS, code=1)), "does not know"),
    "entry a list": (dict(index=lambda i: i | {COMPONENTS: []}), "must be an object"),
    "no metadata": (dict(index=lambda i: i | {"__metadata__": None}), "not a model file"),
    "metadata a number": (dict(index=lambda i: i | {"__metadata__": 3}), "not a model file"),
    "metadata a string": (
        dict(index=lambda i: i | {"__metadata__": "labelens"}),
        "not a model file",
    ),
    "metadata elsewhere": (
        dict(index=lambda i: i | {"__metadata__": {"format": "pt"}}),
        "not a model file",
    ),
    "no header checksum": (
        dict(index=lambda i: i | {"__metadata__": {"labelens": "{}"}}),
        "lacks 'sha256'",
    ),
    "header changed": (
        dict(index=lambda i: i | {"__metadata__": i["__metadata__"] | {"labelens": "{}"}}),
        "header is damaged",
    ),
    "header with a surrogate": (
        dict(index=lambda i: i | {"__metadata__": i["__metadata__"] | {"labelens": "\ud800"}}),
        "header is damaged",
    ),
    "header not JSON": (dict(text=lambda text: text[:-1]), "header is not JSON"),
    "header a list": (dict(text=lambda text: f"[{text}]"), "no format version"),
    "header key twice": (dict(text=lambda text: '{"format":1,' + text[1:]), "'format' twice"),
    "inner key twice": (
        dict(text=lambda text: text.replace('"rank":', '"rank": 1, "rank":')),
        "'rank' twice",
    ),
    "header NaN": (dict(text=lambda t: t.replace('"rank": 2', '"rank": NaN')), "no finite number"),
    "header -inf": (dict(text=lambda t: t.replace('"rank": 2', '"rank": -Infinity')), "no finite"),
    "header 1e999": (dict(text=lambda t: t.replace('"rank": 2', '"rank": 1e999')), "no finite"),
    "header digits": (
        dict(text=lambda t: t.replace('"rank": 2', '"rank": ' + "9" * 9999)),
        "of 9999 digits",
    ),
    "header deep": (dict(text=lambda text: "[" * 100_000), "nested too deeply"),
    "index deep": (dict(head=lambda head: b"[" * 500_000), "nested too deeply"),
    "index key twice": (dict(head=lambda head: b'{"__metadata__":{},' + head[1:]), "twice"),
    "index not JSON": (dict(head=lambda head: head[:-1]), "index is not JSON"),
    "index not UTF-8": (dict(head=lambda head: head[:-1] + b"\xff"), "not a model file"),
    "index UTF-16": (dict(head=lambda head: head.decode().encode("utf-16")), "not a model file"),
    "index a list": (dict(head=lambda head: b"[" + head + b"]"), "not a model file"),
    "index too long": (dict(head=lambda head: head + b" " * 2**20), "not a model file"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_broken_containers_are_refused(saved, tmp_path, name):
    how, words = CONTAINERS[name]
    (tmp_path / "m").write_bytes(Forgery(saved).content(**how))
    refused(tmp_path / "m", words)


def zipped(folder):
    with zipfile.ZipFile(folder / "m", "w") as file:
        file.writestr("a", "b")
    return (folder / "m").read_bytes()


def npz(folder):
    np.savez(folder / "m.npz", a=np.ones(3))
    return (folder / "m.npz").read_bytes()


OTHERS = {
    "empty": (lambda good, folder: b"", "not a model file"),
    "eight bytes": (lambda good, folder: good[:8], "not a model file"),
    "text": (lambda good, folder: b"hello, world\n" * 50, "not a model file"),
    "JSON": (lambda good, folder: b'{"format": 1}' * 50, "not a model file"),
    "zeros": (lambda good, folder: bytes(10_000), "not a model file"),
    "pickle": (lambda good, folder: pickle.dumps(good), "not a model file"),
    "zip": (lambda good, folder: zipped(folder), "not a model file"),
    "npz": (lambda good, folder: npz(folder), "not a model file"),
    "within the index": (lambda good, folder: good[:500], "cut short"),
    "one byte less": (lambda good, folder: good[:-1], "cut short"),
    "half": (lambda good, folder: good[: -(len(good) // 8)], "cut short"),
    "one byte more": (lambda good, folder: good + b"\0", "1 bytes behind its end"),
    "twice": (lambda good, folder: good * 2, "bytes behind its end"),
    "huge length": (lambda good, folder: b"\xff" * 8 + good[8:], "not a model file"),
    "last byte": (lambda good, folder: good[:-1] + bytes([good[-1] ^ 1]), "arrays are damaged"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_refused(saved, tmp_path, name):
    content, words = OTHERS[name]
    (tmp_path / "m").write_bytes(content(saved, tmp_path))
    refused(tmp_path / "m", words)
    with pytest.raises(ValueError, match="cannot be read"):
        info(tmp_path / "m")


@pytest.mark.skipif(os.name != "posix", reason="pipes, devices and links of POSIX")
def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken").symlink_to(tmp_path / "nothing")
    for path, kind in (
        (tmp_path / "pipe", OSError),
        (Path("/dev/zero"), OSError),
        (tmp_path, IsADirectoryError),
        (tmp_path / "broken", OSError),
        (tmp_path / "nothing", FileNotFoundError),
    ):
        for read in (labelens.load, info):
            with pytest.raises(kind, match=path.name):
                read(path)


def test_bits_that_flip_are_noticed(saved, tmp_path):
    X, model = good()
    rng = np.random.default_rng(0)
    path, survivors = tmp_path / "m", 0
    for bit in [*rng.integers(0, 8 * len(saved), 250), *rng.integers(0, 8 * 2000, 150)]:
        flipped = bytearray(saved)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            loaded = labelens.load(path)
        except ValueError:
            continue
        survivors += 1
        assert_same(model, loaded, X)
    assert survivors < 5  # letters of "\u00e9", spaces


# The same, for every kind of model: whatever is changed, a sentence or a model.
KINDS = [
    (SupervisedPCA, "frame", "str", dict(shrinkage="auto", scale="standard")),
    (SupervisedRandomProjection, "sparse", "continuous", dict(target_weight=0.5)),
    (SupervisedRandomProjection, "dense", None, {}),
    (KernelSupervisedPCA, "dense", "columns", dict(approximation="fastfood")),
    (KernelSupervisedPCA, "sparse", "int", dict(approximation="nystroem")),
    (KernelSupervisedPCA, "dense", "multilabel", dict(kernel="polynomial")),
    (KernelSupervisedRandomProjection, "sparse", "sparse multilabel", dict(approximation="exact")),
    (KernelSupervisedRandomProjection, "dense", "int", dict(approximation="exact")),
]


@pytest.fixture(params=KINDS, ids=lambda kind: "-".join(map(str, kind[:3])))
def forgeable(request, rng, tmp_path):
    method, rows, labels, parameters = request.param
    if method in KERNEL:
        parameters = parameters | {"n_random_features": 8, "gamma": 0.1}
    model, X, _ = fitted((method, rows, labels, parameters), rng)
    labelens.save(model, tmp_path / "m", moments=True)
    return (tmp_path / "m").read_bytes(), X


def loads(content, path):
    path.write_bytes(content)
    try:
        return labelens.load(path)
    except ValueError as error:
        assert str(error).startswith(f"{path} cannot be loaded: ")  # noqa: PT017
        return None


def test_every_array_is_checked(forgeable, tmp_path):
    content, X = forgeable
    free = ("cubic", "quartic")
    for name, original in Forgery(content).arrays.items():
        changes = {
            "missing": None,
            "dtype": original.view("<i8" if original.dtype == "<f8" else "u1").astype("<f4"),
            "deeper": original[None] if original.ndim < 3 else original[0],
        }
        if original.ndim:
            changes["longer"] = np.concatenate([original, original[-1:]])
            changes["shorter"] = original[:-1]
        if original.dtype.kind == "f":
            changes["NaN"] = with_nan(original)
        else:
            changes["large"] = original | original.dtype.type(
                2 ** (original.dtype.itemsize * 8 - 2)
            )
        for what, value in changes.items():
            forged = Forgery(content)
            forged.arrays[name] = value
            if value is None:
                del forged.arrays[name]
            # Training rows may be of any dtype, and text is text.
            allowed = (
                (what == "NaN" and (name.endswith(free) or np.isnan(original).all()))
                or (what == "dtype" and name in ("rows", "rows.data"))
                or (what in ("large", "longer", "shorter") and name.endswith(".text"))
            )
            loaded = loads(forged.content(), tmp_path / "m")
            assert loaded is None or allowed, (name, what)
            if loaded is not None and what != "NaN":
                loaded.transform(X)


def test_every_fact_is_checked(forgeable, tmp_path):
    content, X = forgeable
    odd = (None, True, -1, 10**30, 10**400, 1e300, "x", [[]])

    def places(facts, *path):
        for key, value in facts.items() if isinstance(facts, dict) else enumerate(facts):
            if path == () and key in ("arrays", "arrays_sha256"):
                continue
            yield (*path, key)
            if isinstance(value, (dict, list)):
                yield from places(value, *path, key)

    count = 0
    for path in list(places(Forgery(content).header)):
        for value in odd:
            forged = Forgery(content)
            put(*path, value=value)(forged)
            loaded = loads(forged.content(), tmp_path / "m")
            if loaded is not None:
                count += 1
                with np.errstate(all="ignore"):
                    try:
                        loaded.transform(X)
                    except ValueError as error:
                        assert "overflows" in str(error)  # noqa: PT017
    assert count < 60


def test_a_time_that_is_none_is_no_class(rng, tmp_path):
    model, *_ = fitted((SupervisedPCA, "dense", "datetime64", {}), rng)
    labelens.save(model, tmp_path / "m")
    forged = Forgery((tmp_path / "m").read_bytes())
    texts("classes", "1", "2", str(np.iinfo(np.int64).min))(forged)
    (tmp_path / "m").write_bytes(forged.content())
    refused(tmp_path / "m", r"NaT.* is no class")


@pytest.mark.parametrize(
    ("approximation", "change", "words"),
    [
        ("nystroem", put("parameters", "n_random_features", value=5), "33 landmarks"),
        ("exact", array("moments.weight", lambda a: a * 0), "without a weight"),
        ("exact", put("gamma", value=0.25), "its gamma is 0.25, and gamma=0.5"),
        ("exact", put("gamma", value=None), "a kernel without a gamma"),
        ("exact", put("parameters", "kernel", value="numpy.dot"), "kernel must be"),
        ("exact", put("parameters", "kernel_params", value={"nu": 1}), "may hold nothing"),
        ("exact", put("parameters", "shrinkage", value=0.5), "approximation='exact' has no"),
        ("fourier", put("map", "phase", value="0"), "'phase' of its map"),
        ("fourier", put("map", "kind", value="structured"), "not what its parameters"),
    ],
)
def test_forged_kernels_are_refused(rng, tmp_path, approximation, change, words):
    parameters = dict(approximation=approximation, gamma=0.5)
    model, *_ = fitted((KernelSupervisedPCA, "dense", "int", parameters), rng)
    labelens.save(model, tmp_path / "m", moments=True)
    forged = Forgery((tmp_path / "m").read_bytes())
    change(forged)
    (tmp_path / "m").write_bytes(forged.content())
    refused(tmp_path / "m", words)


def test_permutations_point_inside(rng, tmp_path):
    model, *_ = fitted((KernelSupervisedPCA, "dense", "int", dict(approximation="fastfood")), rng)
    labelens.save(model, tmp_path / "m")
    forged = Forgery((tmp_path / "m").read_bytes())
    forged.arrays["map.permutations"] = forged.arrays["map.permutations"] + 1
    (tmp_path / "m").write_bytes(forged.content())
    refused(tmp_path / "m", "no permutations")


# What loading does beside loading ----------------------------------------------------------------

WATCH = """
import sys
import numpy, labelens
from labelens.persist import info
paths, seen = sys.argv[1:], []
def hook(event, arguments):
    if event == "open":
        name, mode, flags = arguments
        if name not in paths or (mode or "r").strip("rb") or flags & 0o3:
            seen.append((event, str(arguments)))
    elif event == "import":
        if arguments[0] not in sys.modules:
            seen.append((event, arguments[0]))
    elif event.partition(".")[0] not in ("object", "sys", "array", "builtins", "cpython"):
        seen.append((event, str(arguments)[:80]))
use = lambda: [(labelens.load(path), info(path)) for path in paths]
use()  # what Python itself loads for later, such as codecs
sys.addaudithook(hook)
use()
done = list(seen)
assert not done, done
"""


def test_loading_opens_one_file_and_runs_nothing(rng, tmp_path):
    watched = [sys.executable, "-c", WATCH]
    for number, kind in enumerate(KINDS):
        path = tmp_path / f"{number}"
        labelens.save(fitted(kind, rng)[0], path, moments=number % 2 > 0)
        watched.append(str(path))
    run = subprocess.run(watched, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


MEASURE = """
import sys, re, pathlib
from labelens import load
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
before = peak()
model = load(sys.argv[1])
print((peak() - before) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_loading_takes_little_more_memory_than_the_file(rng, tmp_path):
    X = rng.normal(size=(8, 3000))
    model = SupervisedPCA(1, shrinkage=0.5).partial_fit(X, np.arange(8) % 2)
    labelens.save(model, tmp_path / "m", moments=True)
    size = (tmp_path / "m").stat().st_size
    assert size > 70e6
    run = [sys.executable, "-c", MEASURE, str(tmp_path / "m")]
    taken = int(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    assert taken < 1.3 * size + 20e6
