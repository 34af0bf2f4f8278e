"""Coverage-guided fuzzing (atheris) of the model reader and of the readers of tables.

`python -m torture.fuzzing TARGET FOLDER ...` fuzzes one target with libFuzzer's options. What a
run finds interesting goes into tests/data/fuzz by `python -m torture.fuzzing --keep`; that corpus
is replayed also where atheris is not installed.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import sys
import tempfile
import warnings
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "data" / "fuzz"
SECONDS_LONG, SECONDS_SHORT = 90, 2
LARGEST = 16384  # bytes of an input
MOST_KEPT = 40  # inputs that a run adds to the corpus
# What users see as a sentence; anything else is a crash.
REFUSALS = (ValueError, TypeError, OSError, MemoryError)
BREAK = b"\n\0\n"  # between the header and the arrays of a model whose sums are made right


def shared_folder():
    memory = Path("/dev/shm")
    return tempfile.mkdtemp(dir=memory if memory.is_dir() else None)


def repaired(data):
    """A model file with this header and these bytes of arrays, checksums and index made right."""
    text, _, raw = data.partition(BREAK)
    text = text.decode("utf-8", "replace")
    index = {}
    try:
        header = json.loads(text)
        header["arrays_sha256"] = sha256(raw).hexdigest()
        text, offset = json.dumps(header), 0
        sizes = {"F64": 8, "I64": 8, "U8": 1, "F32": 4, "I32": 4, "BOOL": 1}
        for name, entry in header["arrays"].items():
            size = sizes[entry["dtype"]]
            for side in entry["shape"]:
                size *= side
            index[name] = {"dtype": entry["dtype"], "shape": entry["shape"]}
            index[name]["data_offsets"] = [offset, offset := offset + size]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        index = {}
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    front = json.dumps({"__metadata__": {"labelens": text, "sha256": digest}} | index).encode()
    return len(front).to_bytes(8, "little") + front + raw


def taken_apart(content):
    """A model file as `repaired` takes it."""
    length = int.from_bytes(content[:8], "little")
    index = json.loads(content[8 : 8 + length])
    header = json.loads(index["__metadata__"]["labelens"])
    header["arrays"] = {name: header["arrays"][name] for name in index if name in header["arrays"]}
    return json.dumps(header).encode() + BREAK + content[8 + length :]


def targets():
    """name: what is done with some bytes. (Imported late, so that atheris sees it.)"""
    import numpy as np

    import labelens
    from labelens import tables
    from labelens._engines import sources
    from labelens.persist import info

    folder = Path(shared_folder())
    warnings.simplefilter("ignore")

    def read_model(data):
        path = folder / "m.labelens"
        for content in (data, repaired(data)):
            path.write_bytes(content)
            for read in (labelens.load, info):
                try:
                    model = read(path)
                except (ValueError, OSError) as error:
                    if "\n" in str(error):
                        raise AssertionError("several lines") from error
                    continue
                if read is labelens.load:
                    use(model)

    def use(model):
        """What loads can be used: it gives numbers, or a sentence."""
        if model.n_features_in_ > 1000:
            return
        try:
            model.transform(np.ones((2, model.n_features_in_)))
        except (ValueError, FloatingPointError):
            return

    def read_table(data):
        if not data:
            return
        suffix = (".csv", ".npz", ".npy", ".tsv", ".csv.gz")[data[0] % 5]
        path = folder / f"t{suffix}"
        path.write_bytes(data[1:])
        for read in (tables.read, whole):
            try:
                read(path)
            except REFUSALS:
                continue

    def whole(path):
        source = sources.open_source(str(path))
        for chunk in source.chunks(64):
            assert chunk.X.shape[0]

    return {"model": read_model, "table": read_table}


def seeds(folder):
    """Whole files of every kind, to begin with."""
    import numpy as np

    import labelens
    from persist import compositions

    rng = np.random.default_rng(0)
    made = {"model": [], "table": []}
    for kind in compositions.KINDS:
        kind = (*kind[:3], kind[3] | ({"n_random_features": 4} if "Kernel" in str(kind[0]) else {}))
        model, *_ = compositions.fitted(kind, rng)
        labelens.save(model, folder / "seed", moments=len(made["model"]) % 2 > 0)
        content = (folder / "seed").read_bytes()
        made["model"] += [content, taken_apart(content)]
    np.savez(folder / "seed.npz", X=np.ones((3, 2)), y=np.arange(3))
    np.save(folder / "seed.npy", np.ones((3, 2), dtype=np.float32))
    made["table"] += [b"\x01" + (folder / "seed.npz").read_bytes()]
    made["table"] += [b"\x02" + (folder / "seed.npy").read_bytes()]
    made["table"] += [b"\x00a,b\n1,2\n3,x\n", b"\x00a;b\n1,5;2\n", b"\x03a\tb\n1\t2\n"]
    return made


def fuzz(name, options):
    import atheris

    with atheris.instrument_imports(include=["labelens"]):
        import labelens._engines.sources
        import labelens.persist
        import labelens.tables  # noqa: F401
    work = targets()[name]
    atheris.Setup([sys.argv[0], f"-max_len={LARGEST}", *options], work)
    # libFuzzer ends by exit(), with the lock of Python, for which threads of pyarrow wait that
    # exit() waits for. Crashes end by _Exit() of their own.
    libc = ctypes.CDLL(None)
    libc.__cxa_atexit(libc._exit, None, None)
    atheris.Fuzz()


def fuzzed(tally, name, seconds):
    """A bounded run from the corpus; what it finds is left behind if it is a crash."""
    with tempfile.TemporaryDirectory() as found:
        command = [sys.executable, "-m", "torture.fuzzing", name, found, str(CORPUS / name)]
        options = [f"-max_total_time={seconds}", "-timeout=20", f"-artifact_prefix={found}/crash-"]
        options += ["-rss_limit_mb=4096", "-print_final_stats=1"]
        done = subprocess.run(
            [*command, *options],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds + 300,
        )
        runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
        fault = None if done.returncode == 0 else done.stderr[-1500:]
        for _ in range(int(runs[1]) - 1 if runs else 0):
            tally.check(name)
        tally.check(f"{name}, {seconds} s", fault)


def run(tally):
    for name, work in targets().items():
        files = sorted((CORPUS / name).iterdir())
        for path in files:
            tally.attempt(f"{name}, {path.name}", work, path.read_bytes())
        if find_spec("atheris") is None:
            print(f"    no atheris: {len(files)} inputs of {name} replayed, none new", flush=True)
            continue
        fuzzed(tally, name, SECONDS_LONG if tally.long else SECONDS_SHORT)


def keep(options):
    """Seeds, and the shortest of what a run of some seconds finds new."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, contents in seeds(folder).items():
            found = folder / name
            found.mkdir()
            (CORPUS / name).mkdir(parents=True, exist_ok=True)
            for content in contents:
                (CORPUS / name / sha256(content).hexdigest()[:16]).write_bytes(content)
            command = [sys.executable, "-m", "torture.fuzzing", name, str(found)]
            subprocess.run([*command, str(CORPUS / name), *options], check=True)
            for path in sorted(found.iterdir(), key=lambda p: p.stat().st_size)[:MOST_KEPT]:
                (CORPUS / name / path.name[:16]).write_bytes(path.read_bytes())


if __name__ == "__main__":
    if sys.argv[1] == "--keep":
        keep(sys.argv[2:])
    else:
        fuzz(sys.argv[1], sys.argv[2:])
