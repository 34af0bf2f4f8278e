"""MNIST from a folder, the cache or a server; nothing here needs a network."""

import gzip
import os
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
from labelens.datasets.mnist import IdxFile


@pytest.fixture
def tiny(monkeypatch):
    """MNIST made small, six training and four test images of 2 x 3: the arrays, file by file."""
    arrays = [
        (np.arange(36) * 7).astype(np.uint8).reshape(6, 2, 3),
        np.array([5, 0, 4, 1, 9, 2], dtype=np.uint8),
        (255 - np.arange(24)).astype(np.uint8).reshape(4, 2, 3),
        np.array([7, 2, 1, 0], dtype=np.uint8),
    ]
    described = tuple(
        IdxFile(file.name, array.shape, sha256(array.tobytes()).hexdigest())
        for file, array in zip(idx.MNIST, arrays, strict=True)
    )
    monkeypatch.setattr(idx, "MNIST", described)
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
        file.name: bytes.fromhex(f"0000080{len(file.shape)} {sizes}") + array.tobytes()
        for file, sizes, array in zip(idx.MNIST, dimensions, tiny, strict=True)
    }


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache folder, and no way to OpenML."""
    monkeypatch.setenv("LABELENS_HOME", str(tmp_path / "home"))

    def no_network(*args, **kwargs):
        raise URLError("no network in tests")

    monkeypatch.setattr(idx, "fetch_openml", no_network)
    return tmp_path / "home" / "mnist"


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
def test_a_folder_that_the_user_names(tiny, contents, cache, tmp_path, zipped, path_type):
    folder = write(tmp_path / "mine", contents, zipped=zipped)
    found = load_mnist(path_type(folder))
    assert_is(found, tiny)
    assert found.feature_names == [f"pixel_{i}_{j}" for i in range(2) for j in range(3)]
    assert "LeCun" in found.DESCR
    X, y = load_mnist(folder, return_X_y=True)
    assert (found.data == X).all()
    assert (y == found.target).all()
    assert not cache.exists()


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
    "another magic number": (
        IMAGES,
        lambda raw: b"\0\0\x0d\x03" + raw[4:],
        "starts with the bytes 00 00 0d 03, not with 00 00 08 03",
    ),
    "labels for images": (
        IMAGES,
        lambda raw: b"\0\0\x08\x01\0\0\0\x06" + bytes(6),
        "starts with the bytes 00 00 08 01",
    ),
    "empty": (LABELS, lambda raw: b"", r"starts with the bytes \(none\)"),
    "cut in the header": (IMAGES, lambda raw: raw[:9], "should hold 52 bytes.* only 9"),
    "other dimensions": (
        IMAGES,
        lambda raw: raw[:4] + bytes.fromhex("00000006 00000003 00000002") + raw[16:],
        "holds 6 x 3 x 2 numbers, and train-images-idx3-ubyte of MNIST holds 6 x 2 x 3",
    ),
    "dimensions beyond memory": (
        LABELS,
        lambda raw: raw[:4] + b"\xff\xff\xff\xff" + raw[8:],
        "holds 4294967295 numbers",
    ),
    "one byte short": (LABELS, lambda raw: raw[:-1], "should hold 12 bytes.* only 11"),
    "one byte long": (LABELS, lambda raw: raw + b"\0", "should hold 12 bytes.* has more"),
    "one bit flipped": (
        IMAGES,
        lambda raw: raw[:20] + bytes([raw[20] ^ 1]) + raw[21:],
        r"does not hold the numbers of MNIST.*SHA-256(.|\n)*Fashion-MNIST",
    ),
}


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named(contents, cache, tmp_path, damage, zipped):
    name, spoil, message = DAMAGE[damage]
    contents[name] = spoil(contents[name])
    write(tmp_path, contents, zipped=zipped)
    path = tmp_path / (f"{name}.gz" if zipped else name)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} .*{message}"):
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
    with pytest.raises(ValueError, match="should hold 52 bytes, unpacked, and has more"):
        load_mnist(tmp_path)
    assert asked == [53]


def test_a_missing_file_is_named_and_nothing_else_is_tried(tiny, contents, cache, tmp_path):
    write(cache, contents)
    for name in contents:
        others = {key: value for key, value in contents.items() if key != name}
        folder = write(tmp_path / f"without {name}", others)
        with pytest.raises(FileNotFoundError, match=f"{re.escape(str(folder))} has no file {name}"):
            load_mnist(folder)
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere"):
        load_mnist(tmp_path / "nowhere")
    assert_is(load_mnist(), tiny)


@pytest.mark.parametrize(
    ("variables", "where"),
    [
        ({"LABELENS_HOME": "a", "XDG_CACHE_HOME": "b"}, "a/mnist"),
        ({"LABELENS_HOME": "", "XDG_CACHE_HOME": "b"}, "b/labelens/mnist"),
        ({"LABELENS_HOME": "~/a"}, "a/mnist"),
        ({"XDG_CACHE_HOME": ""}, ".cache/labelens/mnist"),
        ({}, ".cache/labelens/mnist"),
    ],
)
def test_where_the_cache_is(tiny, contents, cache, tmp_path, monkeypatch, variables, where):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for name in ("LABELENS_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, str(tmp_path / value) if value.isalpha() else value)
    write(tmp_path / where, contents)
    assert_is(load_mnist(), tiny)


@pytest.mark.parametrize("parser", ["pandas", "liac-arff"])
def test_fetched_once_and_kept(tiny, cache, monkeypatch, parser):
    calls = []

    def fetch(*args, **kwargs):
        calls.append((args, kwargs))
        return fetched(tiny)

    monkeypatch.setattr(idx, "fetch_openml", fetch)
    monkeypatch.setattr(idx, "find_spec", lambda name: parser if name == parser else None)
    assert_is(load_mnist(), tiny)
    assert calls == [(("mnist_784",), dict(version=1, as_frame=False, parser=parser))]
    assert sorted(os.listdir(cache)) == sorted(f"{file.name}.gz" for file in idx.MNIST)
    assert_is(load_mnist(), tiny)
    assert len(calls) == 1
    # What is kept are ordinary files of MNIST.
    assert_is(load_mnist(cache), tiny)


@pytest.mark.parametrize("damage", ["a file is missing", "a file is cut"])
def test_a_spoilt_cache_is_mended(tiny, contents, cache, monkeypatch, damage):
    path = write(cache, contents) / f"{LABELS}.gz"
    path.unlink()
    if damage == "a file is cut":
        path.write_bytes(b"\x1f\x8b")
    monkeypatch.setattr(idx, "fetch_openml", lambda *a, **k: fetched(tiny))
    assert_is(load_mnist(), tiny)
    assert gzip.decompress(path.read_bytes()) == contents[LABELS]


def test_one_error_names_the_three_ways(tiny, contents, cache):
    with pytest.raises(FileNotFoundError) as caught:
        load_mnist()
    message = str(caught.value)
    assert "1. load_mnist(folder)" in message
    assert f"{IMAGES}.gz" in message
    assert f"2. The same files in the cache folder, {cache};" in message
    assert "LABELENS_HOME" in message
    assert f"This time: There is no folder {cache}." in message
    assert "3. A connection to OpenML" in message
    assert "no network in tests" in message
    assert not cache.exists()

    path = write(cache, contents) / f"{LABELS}.gz"
    path.write_bytes(b"")
    with pytest.raises(FileNotFoundError, match=f"This time: {re.escape(str(path))} "):
        load_mnist()


def test_a_connection_that_breaks_off(tiny, cache, monkeypatch):
    def breaks_off(*args, **kwargs):
        raise IncompleteRead(b"", 100)

    monkeypatch.setattr(idx, "fetch_openml", breaks_off)
    with pytest.raises(FileNotFoundError, match="This time: IncompleteRead: "):
        load_mnist()


@pytest.mark.parametrize("wrong", ["pixels", "digits", "order", "rows", "words"])
def test_what_openml_sends_is_verified(tiny, cache, monkeypatch, wrong):
    sent = fetched(tiny)
    if wrong == "pixels":
        sent.data[3, 2] += 1
    elif wrong == "digits":
        sent.target[9] = "1"
    elif wrong == "order":
        sent.data, sent.target = sent.data[::-1], sent.target[::-1]
    elif wrong == "rows":
        sent.data, sent.target = sent.data[:-1], sent.target[:-1]
    else:
        sent.target[0] = "five"
    monkeypatch.setattr(idx, "fetch_openml", lambda *a, **k: sent)
    with pytest.raises(FileNotFoundError, match=r"(OpenML sent does not hold|invalid literal)"):
        load_mnist()
    assert not cache.exists()


@pytest.mark.parametrize("when", ["writing", "replacing"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_nothing_half_written_stays_behind(tiny, cache, monkeypatch, when, error):
    monkeypatch.setattr(idx, "fetch_openml", lambda *a, **k: fetched(tiny))
    module, name = (gzip.GzipFile, "write") if when == "writing" else (os, "replace")
    works, countdown = getattr(module, name), iter(range(3))

    def fails_the_fourth_time(*args, **kwargs):
        if next(countdown, None) is None:
            raise error
        return works(*args, **kwargs)

    with monkeypatch.context() as broken:
        broken.setattr(module, name, fails_the_fourth_time)
        if isinstance(error, OSError):
            with pytest.warns(UserWarning, match="could not be kept in .*disk full") as caught:
                assert_is(load_mnist(), tiny)
            assert caught[0].filename == __file__
        else:
            with pytest.raises(KeyboardInterrupt):
                load_mnist()
    left = sorted(os.listdir(cache))
    assert left == ([] if when == "writing" else sorted(f"{f.name}.gz" for f in idx.MNIST[:3]))
    for file in idx.MNIST:
        if f"{file.name}.gz" in left:
            idx._read_idx(cache / f"{file.name}.gz", file)
    assert_is(load_mnist(), tiny)


def test_a_cache_that_cannot_be_made(tiny, cache, monkeypatch):
    cache.parent.write_text("a file where the folder should be")
    monkeypatch.setattr(idx, "fetch_openml", lambda *a, **k: fetched(tiny))
    with pytest.warns(UserWarning, match="Set the environment variable LABELENS_HOME"):
        assert_is(load_mnist(), tiny)


def test_mnist_itself(cache, mnist):
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
