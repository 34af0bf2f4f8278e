"""MNIST from a folder or from OpenML; nothing here needs a network."""

import gzip
import re
from hashlib import sha256
from http.client import IncompleteRead
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from conftest import SHARED_DATA
from labelens.datasets import load_mnist
from labelens.datasets import mnist as idx


@pytest.fixture
def tiny(monkeypatch):
    """MNIST made small, six training and four test images of 2 x 3: the arrays, file by file."""
    arrays = [
        (np.arange(36) * 7).astype(np.uint8).reshape(6, 2, 3),
        np.array([5, 0, 4, 1, 9, 2], dtype=np.uint8),
        (255 - np.arange(24)).astype(np.uint8).reshape(4, 2, 3),
        np.array([7, 2, 1, 0], dtype=np.uint8),
    ]
    for name, array in zip(idx.SHAPES, arrays, strict=True):
        monkeypatch.setitem(idx.SHAPES, name, array.shape)
        monkeypatch.setitem(idx.DIGESTS, name, sha256(array.tobytes()).hexdigest())
    return arrays


@pytest.fixture
def contents(tiny):
    """The bytes of the four IDX files, headers spelled out, by name."""
    dimensions = [
        "00000006 00000002 00000003",
        "00000006",
        "00000004 00000002 00000003",
        "00000004",
    ]
    return {
        name: bytes.fromhex(f"0000080{array.ndim} {sizes}") + array.tobytes()
        for name, sizes, array in zip(idx.SHAPES, dimensions, tiny, strict=True)
    }


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def fetch(*args, **kwargs):
        raise URLError("no network in tests")

    monkeypatch.setattr(idx, "fetch_openml", fetch)


def write(folder, contents, *, zipped=True):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        path = folder / (f"{name}.gz" if zipped else name)
        path.write_bytes(gzip.compress(content) if zipped else content)
    return folder


def fetched(tiny):
    """What OpenML would send: floats and digits in strings."""
    pixels = np.concatenate([array.reshape(-1, 6) for array in tiny[::2]])
    digits = np.array([str(digit) for digit in np.concatenate(tiny[1::2])], dtype=object)
    return Bunch(data=pixels.astype(np.float64), target=digits)


def assert_is(found, tiny):
    images, digits = np.concatenate(tiny[::2]), np.concatenate(tiny[1::2])
    assert found.data.dtype == np.float32
    assert (found.data == images.reshape(10, 6) / np.float32(255)).all()
    assert found.target.dtype == np.int64
    assert (found.target == digits).all()
    assert found.n_train == 6


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("path_type", [Path, str])
def test_a_folder_that_the_user_names(tiny, contents, tmp_path, zipped, path_type):
    folder = write(tmp_path / "mine", contents, zipped=zipped)
    found = load_mnist(path_type(folder))
    assert_is(found, tiny)
    assert found.feature_names == [f"pixel_{i}_{j}" for i in range(2) for j in range(3)]
    assert "LeCun" in found.DESCR
    X, y = load_mnist(folder, return_X_y=True)
    assert (found.data == X).all()
    assert (y == found.target).all()


def test_gzipped_and_plain_files_side_by_side(tiny, contents, tmp_path):
    names = list(contents)
    write(tmp_path, {name: contents[name] for name in names[:2]})
    write(tmp_path, {name: contents[name] for name in names[2:]}, zipped=False)
    # A folder named like a file, as some archives unpack to, is no file.
    (tmp_path / names[0]).mkdir()
    (tmp_path / f"{names[2]}.gz").mkdir()
    assert_is(load_mnist(tmp_path), tiny)


IMAGES, LABELS = "train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"
DAMAGE = {
    "another magic number": (IMAGES, lambda raw: b"\0\0\x0d\x03" + raw[4:]),
    "labels for images": (IMAGES, lambda raw: b"\0\0\x08\x01\0\0\0\x06" + bytes(6)),
    "empty": (LABELS, lambda raw: b""),
    "cut in the header": (IMAGES, lambda raw: raw[:9]),
    "other dimensions": (
        IMAGES,
        lambda raw: raw[:4] + bytes.fromhex("00000006 00000003 00000002") + raw[16:],
    ),
    "dimensions beyond memory": (LABELS, lambda raw: raw[:4] + b"\xff\xff\xff\xff" + raw[8:]),
    "one byte short": (LABELS, lambda raw: raw[:-1]),
    "one byte long": (LABELS, lambda raw: raw + b"\0"),
    "one bit flipped": (IMAGES, lambda raw: raw[:20] + bytes([raw[20] ^ 1]) + raw[21:]),
}


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named(contents, tmp_path, damage, zipped):
    name, spoil = DAMAGE[damage]
    contents[name] = spoil(contents[name])
    write(tmp_path, contents, zipped=zipped)
    path = tmp_path / (f"{name}.gz" if zipped else name)
    shape = {IMAGES: "6 x 2 x 3", LABELS: "4"}[name]
    digest = idx.DIGESTS[name]
    message = f"does not hold {name} of MNIST: {shape} numbers .*{digest}.*Fashion-MNIST.*again"
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} {message}"):
        load_mnist(tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda packed: b"no gzip at all",
        lambda packed: packed[:-1],
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed[:-8] + b"\0\0\0\0" + packed[-4:],
        lambda packed: packed[:10] + b"\xff" * 20 + packed[30:],
    ],
    ids=["no gzip", "cut at the end", "cut in the middle", "another CRC", "no deflate"],
)
def test_a_damaged_gzip_is_named(contents, tmp_path, spoil):
    path = write(tmp_path, contents) / f"{IMAGES}.gz"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is damaged, gzip says: .*again"):
        load_mnist(tmp_path)


@pytest.mark.parametrize("zipped", [True, False])
def test_no_more_is_unpacked_than_was_expected(contents, tmp_path, monkeypatch, zipped):
    """A file of 30 MB that packs into 30 KB: reading stops one byte after the expected ones."""
    contents[IMAGES] += bytes(30_000_000)
    write(tmp_path, contents, zipped=zipped)
    asked = []

    class Watched:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.stream.close()

        def read(self, size=-1):
            asked.append(size)
            return self.stream.read(size)

    for module, name in ((gzip, "open"), (Path, "open")):
        opened = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, opened=opened, **k: Watched(opened(*a, **k)))
    with pytest.raises(ValueError, match=f"does not hold {IMAGES}"):
        load_mnist(tmp_path)
    assert asked == [53]


def test_a_missing_file_is_named_and_nothing_else_is_tried(tiny, contents, tmp_path, monkeypatch):
    monkeypatch.setattr(idx, "fetch_openml", lambda *a, **k: fetched(tiny))
    for name in contents:
        others = {key: value for key, value in contents.items() if key != name}
        folder = write(tmp_path / f"without {name}", others)
        with pytest.raises(FileNotFoundError, match=f"{re.escape(str(folder))} has no file {name}"):
            load_mnist(folder)
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere"):
        load_mnist(tmp_path / "nowhere")
    assert_is(load_mnist(), tiny)


@pytest.mark.parametrize("parser", ["pandas", "liac-arff"])
def test_scikit_learn_fetches_and_keeps_it(tiny, monkeypatch, parser):
    calls = []

    def fetch(*args, **kwargs):
        calls.append((args, kwargs))
        return fetched(tiny)

    monkeypatch.setattr(idx, "fetch_openml", fetch)
    monkeypatch.setattr(idx, "find_spec", lambda name: parser if name == parser else None)
    assert_is(load_mnist(), tiny)
    assert calls == [(("mnist_784",), dict(version=1, as_frame=False, parser=parser))]


@pytest.mark.parametrize(
    "error", [URLError("no network in tests"), IncompleteRead(b"", 100), ValueError("md5 checksum")]
)
def test_what_to_do_without_openml(monkeypatch, error):
    def fails(*args, **kwargs):
        raise error

    monkeypatch.setattr(idx, "fetch_openml", fails)
    with pytest.raises(FileNotFoundError) as caught:
        load_mnist()
    message = str(caught.value)
    assert f"from OpenML ({type(error).__name__}: {error})" in message
    assert "load_mnist(folder)" in message
    assert all(name in message for name in idx.SHAPES)


def test_mnist_itself(mnist):
    digits = load_mnist(SHARED_DATA / "mnist")
    X_train, y_train, X_test, y_test = mnist
    assert digits.data.shape == (70000, 784)
    assert digits.data.dtype == np.float32
    n = digits.n_train
    assert n == 60000
    assert (digits.data[:n] == X_train).all()
    assert (digits.data[n:] == X_test).all()
    assert (digits.target[:n] == y_train).all()
    assert (digits.target[n:] == y_test).all()
    assert digits.target[:5].tolist() == [5, 0, 4, 1, 9]
    assert digits.feature_names[783] == "pixel_27_27"
