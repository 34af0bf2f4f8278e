"""Model files taken apart, changed, and put together again with checksums that are right."""

import json
from hashlib import sha256

import numpy as np
import pandas as pd

from labelens import SupervisedPCA


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
    "scale of text": (put("parameters", "scale", value=["1"] * 9), "scale must be"),
    "scale ragged": (put("parameters", "scale", value=[1.0, [2.0]]), "scale|inhomogeneous"),
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
    "map": (put("map", "kind", value="fourier"), "does not match its parameters"),
    "map of none": (put("map", value={}), "does not match its parameters"),
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
    "classes of a unit": (put("classes", value=["datetime64[s]"]), "no label of type"),
    "classes of bad dates": (put("classes", value=["datetime64"]), "kind|no label"),
    "classes twice": (texts("classes", "0", "1", "1"), "listed twice"),
    "classes equal": (texts("classes", "0", "1", "1.0"), "listed twice"),
    "classes in other digits": (texts("classes", "0", "1", "٢"), "no label of type 'number'"),
    "classes with a zero": (texts("classes", "0", "1", "02"), "no label of type 'number'"),
    "classes too long": (texts("classes", "0", "1", "9" * 5000), "no label of type 'number'"),
    "classes not finite": (texts("classes", "0", "1", "inf"), "inf is not a class"),
    "classes missing": (texts("classes", "0", "1", "nan"), "nan is not a class"),
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


def minus_identity(a):
    return a - 2 * np.eye(len(a))


WHERE, FOUND = ("parameters", "label_kernel"), ("labels", "kernel")


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
    "slices": ("slices", put(*WHERE, "n_slices", value=1), "n_slices must be"),
    "edges text": ("slices", put(*FOUND, "edges", value=["1", "2"]), "sequence of numbers"),
    "edges that fall": ("slices", put(*FOUND, "edges", value=[2, 1]), "that increase"),
    "edges missing": ("slices", put(*FOUND, "edges", value=None), "lacks the quantiles"),
    "an edge more": ("slices", put(*FOUND, "edges", value=[1, 2, 3]), "shape"),
    "other edges": ("slices", put(*WHERE, "edges", value=[1, 2]), "its labels are Sliced"),
    "ranks for slices": ("slices", put(*WHERE, value="ranked"), "its labels are Sliced"),
    "quantiles": ("ranks", put(*WHERE, "n_quantiles", value=1), "n_quantiles must be"),
    "quantiles missing": (
        "ranks",
        lambda forged: [put(*FOUND, x, value=None)(forged) for x in ("quantiles", "levels")],
        "lacks the quantiles",
    ),
    "a level less": ("ranks", put(*FOUND, "levels", value=[0.5]), "each of the 30 quantiles"),
    "levels without": ("ranks", put(*FOUND, "quantiles", value=None), "pass quantiles too"),
    "columns of ranks": (
        "ranks",
        lambda forged: [
            put("label_map", "reach", value=None)(forged),
            array("labels.frequencies", lambda a: np.vstack([a, a]))(forged),
        ],
        "is not of shape",
    ),
    "not semidefinite": ("similar", array("label_kernel.similarity", minus_identity), "eigenvalue"),
    "not finite": ("similar", array("label_kernel.similarity", with_nan), "not finite"),
    "not square": ("similar", array("label_kernel.similarity", lambda a: a[:2]), "shape"),
    "no similarity": ("similar", without("labels.kernel.similarity"), "missing"),
    "a class less": ("similar", put(*WHERE, "classes", value=[["str", "a"]]), "must name each"),
    "classes": ("similar", put(*WHERE, "classes", value=["a", "b", "c"]), "a type and a text"),
    "width": ("similar", put("label_map", "width", value=0), "width of its label_map"),
    "circle": (
        "tree",
        put(*WHERE, "parents", value=[[["str", "a"], ["str", "a"]]]),
        "a cycle at 'a'",
    ),
    "a node twice": (
        "tree",
        put(*WHERE, "parents", value=[[["str", "a"], None], [["str", "a"], None]]),
        "a node twice",
    ),
    "no pairs": ("tree", put(*WHERE, "parents", value=[["str", "a", "b"]]), "not pairs"),
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
    "huge shape": (dict(index=changed_entry(COMPONENTS, shape=[2**62, 3])), "invalid sizes"),
    "negative shape": (dict(index=changed_entry(COMPONENTS, shape=[-2, -3])), "invalid sizes"),
    "shape of flags": (dict(index=changed_entry(COMPONENTS, shape=[True, 6])), "invalid sizes"),
    "shape of floats": (dict(index=changed_entry(COMPONENTS, shape=[2.0, 3])), "invalid sizes"),
    "shape a number": (dict(index=changed_entry(COMPONENTS, shape=6)), "must be a list"),
    "offsets missing": (dict(index=changed_entry(COMPONENTS, data_offsets=[])), "out of place"),
    "offsets huge": (
        dict(index=changed_entry(COMPONENTS, data_offsets=[0, 10**30])),
        "invalid sizes",
    ),
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
    "header NaN": (dict(text=lambda t: t.replace('"rank": 2', '"rank": NaN')), "not finite"),
    "header -inf": (dict(text=lambda t: t.replace('"rank": 2', '"rank": -Infinity')), "not finite"),
    "header 1e999": (dict(text=lambda t: t.replace('"rank": 2', '"rank": 1e999')), "not finite"),
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
