"""Files that are no models of ours: refused in one sentence, running nothing."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import resource
import signal
import socket
import sys
import tarfile
import tempfile
import tracemalloc
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import joblib
import numpy as np

import labelens
from labelens.persist import info
from persist import compositions, forging

FLIPS_LONG, FLIPS_SHORT = 10_000, 400
MEMORY = 50e6
ALLOWED = ("object", "sys", "array", "builtins", "cpython")


class Payload:
    """What a pickle would run."""

    def __init__(self, folder):
        self.command = f"touch {folder}/ran"

    def __reduce__(self):
        return os.system, (self.command,)


def good_models(folder):
    """The content of one file for every kind of model there is."""
    rng, contents = np.random.default_rng(0), []
    for kind in compositions.KINDS:
        for moments in (False, True):
            model, *_ = compositions.fitted(kind, rng)
            labelens.save(model, folder / "good", moments=moments)
            contents.append((folder / "good").read_bytes())
    labelens.save(forging.good()[1], folder / "good", moments=True)
    return (folder / "good").read_bytes(), contents


def bombs(folder):
    """Pickles, archives and compressed zeros."""
    zeros = bytes(200_000_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.pkl", zeros)
    yield "zip bomb", packed.getvalue()
    nested = io.BytesIO()
    with zipfile.ZipFile(nested, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(50):
            archive.writestr(f"{i}.zip", packed.getvalue())
    yield "nested zip bomb", nested.getvalue()
    arrays = io.BytesIO()
    np.savez_compressed(arrays, a=np.zeros(20_000_000))
    yield "npz bomb", arrays.getvalue()
    yield "gzip bomb", gzip.compress(zeros)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        entry = tarfile.TarInfo("../../escape")
        archive.addfile(entry, io.BytesIO())
    yield "tar", tar.getvalue()
    objects = io.BytesIO()
    np.save(objects, np.array([Payload(folder)], dtype=object), allow_pickle=True)
    yield "npy of objects", objects.getvalue()
    claims = io.BytesIO()
    facts = {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
    np.lib.format.write_array_header_1_0(claims, facts)
    yield "npy that claims terabytes", claims.getvalue()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield f"pickle {protocol}", pickle.dumps(Payload(folder), protocol)
    kept = io.BytesIO()
    joblib.dump(Payload(folder), kept)
    yield "joblib", kept.getvalue()
    torch = io.BytesIO()
    with zipfile.ZipFile(torch, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Payload(folder)))
    yield "torch", torch.getvalue()
    yield "python", b"import os; os.system('touch ran')\n"
    yield "yaml", b"!!python/object/apply:os.system ['touch ran']\n"
    yield "sqlite", b"SQLite format 3\0" + bytes(4096)
    # A pickle inside of what safetensors allows.
    index = json.dumps({"__metadata__": {"pickle": pickle.dumps(Payload(folder), 0).decode()}})
    yield "pickle in metadata", len(index).to_bytes(8, "little") + index.encode()


def mutations(good, others, rng):
    """Whole files, changed: cut, grown, shifted, mixed."""
    for cut in np.unique(np.linspace(0, len(good) - 1, 40).astype(int)):
        yield f"cut to {cut}", good[:cut]
    for more in (1, 8, 4096):
        yield f"{more} zeros more", good + bytes(more)
    for length in (0, 1, 7, 2**20, 2**20 + 1, 2**31, 2**63, 2**64 - 1):
        yield f"length {length}", length.to_bytes(8, "little") + good[8:]
    size = int.from_bytes(good[:8], "little")
    for shift in (-8, -1, 1, 8):
        yield f"length {shift:+}", (size + shift).to_bytes(8, "little") + good[8:]
    yield "big-endian length", size.to_bytes(8, "big") + good[8:]
    yield "front of another", others[0][:1000] + good[1000:]
    yield "index of another", good[: 8 + size] + others[1][8 + size :]
    yield "reversed", good[::-1]
    yield "random", rng.bytes(len(good))
    yield "random behind the index", good[: 8 + size] + rng.bytes(len(good) - 8 - size)
    front = good[8 : 8 + size].rstrip()
    name = b'"solution.components"'
    again = front.replace(name, b'"solution.components":{},' + name, 1)
    again += b" " * (-len(again) % 8)
    yield "a tensor twice", len(again).to_bytes(8, "little") + again + good[8 + size :]
    for i, other in enumerate(others):
        for cut in rng.integers(8, len(other), 3):
            yield f"kind {i} cut to {cut}", other[:cut]


def forgeries(good, kernels):
    """Files with right checksums that are wrong all the same."""
    for name, (change, _) in forging.FORGERIES.items():
        forged = forging.Forgery(good)
        change(forged)
        yield f"forged: {name}", forged.content()
    for name, (how, _) in forging.CONTAINERS.items():
        yield f"container: {name}", forging.Forgery(good).content(**how)
    for i, content in enumerate(kernels):
        for name, values in forging.Forgery(content).arrays.items():
            if values.dtype.kind == "f" and values.size and not name.startswith("solution.dep"):
                forged = forging.Forgery(content)
                forged.arrays[name] = forging.with_nan(np.atleast_1d(values)).reshape(values.shape)
                free = ("cubic", "quartic")  # which may overflow
                if not name.endswith(free):
                    yield f"NaN in {name} of kind {i}", forged.content()


def odd_places(folder, good):
    """What is no plain file."""
    (folder / "real").write_bytes(good)
    (folder / "link.labelens").symlink_to(folder / "real")
    (folder / "loop.labelens").symlink_to(folder / "loop.labelens")
    (folder / "dangling.labelens").symlink_to(folder / "nothing")
    (folder / "zero.labelens").symlink_to("/dev/zero")
    (folder / "folder.labelens").mkdir()
    os.mkfifo(folder / "pipe.labelens")
    server = socket.socket(socket.AF_UNIX)
    before = os.getcwd()
    os.chdir(folder)  # such names are short
    server.bind("socket.labelens")
    os.chdir(before)
    names = ("link", "loop", "dangling", "zero", "folder", "pipe", "socket", "nothing")
    yield from (folder / f"{name}.labelens" for name in names)
    yield Path("/dev/zero")
    yield Path("/dev/stdin")
    (folder / "name\nof\x1b[31m two lines").write_bytes(good[:-1])
    yield folder / "name\nof\x1b[31m two lines"


def terabytes(folder, good):
    """An index for far more than there is memory, and a file of that size, all holes."""
    forged = forging.Forgery(good)
    size = 1 << 40
    last = list(forged.arrays)[-1]

    def larger(index):
        start = index[last]["data_offsets"][0]
        index[last] |= {"shape": [size], "dtype": "U8", "data_offsets": [start, start + size]}
        return index

    def agreeing(text):
        header = json.loads(text)
        header["arrays"][last] |= {"shape": [size], "dtype": "U8"}
        return json.dumps(header)

    content = forged.content(index=larger, text=agreeing)
    path = folder / "terabytes.labelens"
    with open(path, "wb") as file:
        file.write(content)
        file.truncate(len(content) - forged.arrays[last].nbytes + size)
    return path


class Watch:
    """While it is on, all that Python does beside computing is noted; it can never be removed."""

    def __init__(self):
        self.path, self.seen = None, []
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if self.path is None:
            return
        if event == "open":
            name, mode, flags = arguments
            if name == self.path and not (mode or "r").strip("rb") and not (flags or 0) & 0o3:
                return
        elif event == "import":
            if arguments[0] in sys.modules:
                return
        elif event.partition(".")[0] in ALLOWED:
            return
        self.seen.append(f"{event} {str(arguments)[:80]}")

    def refusal(self, path):
        """What is wrong with how this path is refused; nothing if it is as promised."""
        size = path.stat().st_size if path.is_file() else 0
        for read in (labelens.load, info):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            self.path, self.seen = str(path), []
            try:
                read(self.path)
                fault = "it was taken for a model"
            except (ValueError, OSError) as error:
                fault = wording(str(error))
            except BaseException as error:
                fault = f"{type(error).__name__}: {error}"
            finally:
                self.path = None
            taken = tracemalloc.get_traced_memory()[1] - before
            if taken > 2 * size + MEMORY:
                fault = f"took {taken / 1e6:.0f} MB for {size / 1e6:.1f} MB"
            if self.seen:
                fault = f"did {self.seen[:3]}"
            if fault:
                return f"{read.__name__}: {fault}"
        return None


def wording(message):
    """What keeps a message from being one sentence."""
    if "\n" in message or not message.isprintable():
        return f"several lines, or unprintable: {message!r}"
    if not 20 < len(message) < 800:
        return f"{len(message)} characters: {message[:200]!r}"
    return None


def late(*_):
    raise TimeoutError("took longer than 20 seconds")


def run(tally):
    warnings.filterwarnings("ignore", ".* rows of the training data")
    os.fsync = lambda _: None  # for the many good files that are written first
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        good, kinds = good_models(folder)
        files = [*mutations(good, kinds, rng), *forgeries(good, kinds[::3]), *bombs(folder)]
        places = [*odd_places(folder, good), terabytes(folder, good)]
        paths = []
        for i, (_, content) in enumerate(files):
            paths.append(folder / f"{i}.labelens")
            paths[-1].write_bytes(content)
        for _ in range(2):  # what Python itself loads for later, such as codecs
            for path in (folder / "good", paths[0], paths[5], paths[-1]):
                for read in (labelens.load, info):
                    with suppress(ValueError):
                        read(path)
        limit = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (1 << 35, limit))
        tracemalloc.start()
        signal.signal(signal.SIGALRM, late)
        watch = Watch()
        for path, label in [
            *zip(paths, [label for label, _ in files], strict=True),
            *((place, place.name) for place in places),
        ]:
            signal.alarm(20)
            tally.attempt(label, watch.refusal, path)
        flipped = folder / "flipped.labelens"
        for i in range(FLIPS_LONG if tally.long else FLIPS_SHORT):
            content = bytearray([good, *kinds][i % (1 + len(kinds))])
            bit = int(rng.integers(8 * len(content)))
            content[bit // 8] ^= 1 << bit % 8
            flipped.write_bytes(content)
            signal.alarm(20)
            tally.attempt(f"bit {bit} of kind {i % (1 + len(kinds))}", watch.refusal, flipped)
        signal.alarm(0)
        tally.check("no payload ran", "it did" if (folder / "ran").exists() else None)
