"""Files that are not exactly what `save` writes are refused in a sentence."""

import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA
from labelens.label_kernels import Cyclic, Ordinal, Precomputed, Ranked, Sliced, Sum, Tree
from labelens.persist import info, load_with_table
from labelens.tables import EncodedColumn, TableEncoder
from persist.compositions import KERNEL, KINDS, assert_same, fitted
from persist.forging import (
    CONTAINERS,
    FORGERIES,
    KERNEL_FORGERIES,
    Forgery,
    array,
    good,
    put,
    texts,
    with_nan,
)

# Which models hold rows is the matter of one test.
pytestmark = pytest.mark.filterwarnings("ignore:.* rows of the training data")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "m"
    labelens.save(good()[1], path, moments=True)
    return path.read_bytes()


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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("table", value=None), "no array 'table"),
        (put("table", value=[]), "must be"),
        (put("table", "impute", value="mode"), "fills gaps with 'mode'"),
        (put("table", "na", value=[1]), "must be strings"),
        (put("table", "code", value="x"), "'code'.*does not know"),
        (put("table", value={}), "lacks 'impute'"),
        (array("table.facts", lambda a: a[:2]), "shape"),
        (array("table.facts", lambda a: a * 0), "do not fill their arrays"),
        (array("table.facts", lambda a: a - 2), "of no known kind"),
        (array("table.facts", lambda a: a + 2**60), "of no known kind"),
        (
            array("table.facts", lambda a: a + np.eye(6, dtype=int)[0] * 2),
            "do not fit|levels without",
        ),
        (array("table.facts", lambda a: a + np.eye(6, dtype=int)[4]), "do not fit its features"),
        (array("table.fill", with_nan), "not finite"),
    ],
)
def test_forged_tables_are_refused(tmp_path, change, words):
    model = good()[1]
    names = tuple(model.feature_names_in_)
    table = TableEncoder.of([EncodedColumn(n, "number", fill=(0.5,)) for n in names], "mean")
    labelens.save(model, tmp_path / "m", table=table)
    assert load_with_table(tmp_path / "m")[1].columns_ == table.columns_
    forged = Forgery((tmp_path / "m").read_bytes())
    change(forged)
    (tmp_path / "m").write_bytes(forged.content())
    refused(tmp_path / "m", words)


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
        "slices": (Sliced(3), np.arange(30.0)),
        "ranks": (Ranked(), np.arange(30.0)),
        "sum": (Sum(similar, Ordinal(), "rbf"), both),
    }
    for name, (kernel, y) in models.items():
        model = SupervisedPCA(1, label_kernel=kernel).fit(X, y)
        labelens.save(model, folder / name, moments=True)
    return {name: (folder / name).read_bytes() for name in models}


@pytest.mark.parametrize("name", KERNEL_FORGERIES)
def test_forged_label_kernels_are_refused(saved_kernels, tmp_path, name):
    model, change, words = KERNEL_FORGERIES[name]
    forged = Forgery(saved_kernels[model])
    (tmp_path / "m").write_bytes(forged.content())
    labelens.load(tmp_path / "m")  # as it was
    change(forged)
    (tmp_path / "m").write_bytes(forged.content())
    refused(tmp_path / "m", words)


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
    texts("classes", "2024-02-28", "2024-02-29", "NaT")(forged)
    (tmp_path / "m").write_bytes(forged.content())
    refused(tmp_path / "m", r"NaT.* is not a class")


@pytest.mark.parametrize(
    ("approximation", "change", "words"),
    [
        ("nystroem", put("parameters", "n_random_features", value=5), "33 landmarks"),
        ("exact", array("moments.weight", lambda a: a * 0), "without a weight"),
        ("exact", put("gamma", value=0.25), "its gamma is 0.25, and gamma=0.5"),
        ("exact", put("gamma", value=None), "a kernel without a gamma"),
        ("exact", put("parameters", "kernel", value="numpy.dot"), "kernel must be"),
        ("exact", put("parameters", "kernel_params", value={"nu": 1}), "may hold nothing"),
        ("exact", put("parameters", "shrinkage", value=0.5), "shrinkage is 1.0, and shrinkage=0.5"),
        ("fourier", put("map", "phase", value="0"), "'phase' of its map"),
        ("fourier", put("map", "kind", value="structured"), "does not match its parameters"),
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
    refused(tmp_path / "m", "not permutations")
