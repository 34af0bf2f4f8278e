"""What is refused on saving; and writing is all or nothing."""

import datetime
import os
import stat

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA
from persist.compositions import assert_same

# Which models hold rows is the matter of one test.
pytestmark = pytest.mark.filterwarnings("ignore:.* rows of the training data")


class Odd(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KernelSupervisedPCA(kernel=np.dot, approximation="exact"), "kernel=.*named kernels"),
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
    [pd.Period("2024-01"), Odd("a"), datetime.time(12), (1, "a")],
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
    with pytest.raises(TypeError, match=r"takes a fitted SupervisedPCA.*StandardScaler"):
        labelens.save(StandardScaler().fit(X), tmp_path / "m")
    with pytest.raises(TypeError, match=r"got <class '.*SupervisedPCA"):
        labelens.save(namesake(1).fit(X, y), tmp_path / "m")
    with pytest.raises(ValueError, match="n_components was 1"):
        labelens.save(SupervisedPCA(1).fit(X, y).set_params(n_components=2), tmp_path / "m")
    changed = KernelSupervisedPCA(1, kernel="matern", kernel_params={"nu": 0.5}).fit(X, y)
    changed.kernel_params["nu"] = 7
    with pytest.raises(ValueError, match="cannot be saved: nu of the Matern"):
        labelens.save(changed, tmp_path / "m")
    assert not list(tmp_path.iterdir())


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
