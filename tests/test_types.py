"""Annotations of public names: what type checkers and editors tell a user."""

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import labelens
from labelens._base import types
from labelens._core.kernels import PARAMETERS, RULES
from labelens._core.labels import make_label_map
from labelens._core.maps import APPROXIMATIONS
from labelens._core.scaling import SCALES
from labelens._fit.settings import LABEL_MAPS, PRECISIONS
from labelens.label_kernels.base import LabelKernelName
from labelens.tables.encoder import IMPUTE
from pages import python_blocks

ROOT = Path(__file__).parents[1]
PUBLIC = "plot datasets label_kernels persist export spark report tables explorer"

# A user's configuration: strict, and scikit-learn has no types.
STRICT = """
[mypy]
strict = True
[mypy-sklearn.*,scipy.*,pandas.*]
ignore_missing_imports = True
[mypy-labelens.*]
follow_imports = silent
"""

# Arguments of public functions that take anything.
ANYTHING = {
    "Tree.path label",  # a class of any type
    "Table.__init__ labels",  # an array, or None where no label was asked for
}

RIGHT = """
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import KFold

import labelens
from labelens import KernelSupervisedPCA, SupervisedPCA
from labelens.label_kernels import Cyclic, Ordinal, Precomputed, Ranked, Sliced, Sum

X, y = np.zeros((4, 3)), ["a", None, "b", "b"]
model = SupervisedPCA("auto", scale="minmax", class_weight={"a": 2.0}, missing_label=np.nan)
assert_type(model, SupervisedPCA)
assert_type(model.fit(X, y), SupervisedPCA)
assert_type(model.partial_fit(sparse.csr_array(X), [1, 2, 3, 4]).merge(model), SupervisedPCA)
assert_type(model.fit(X, sample_weight=[1, 2, 0, 1]).to("cuda"), SupervisedPCA)
assert_type(model.fit_transform([[0.0, 1.0], [1.0, 0.0]], [0, 1]), NDArray[Any])
assert_type(model.transform(X), NDArray[Any])
assert_type(model.components_, NDArray[np.float64])
assert_type(labelens.fit(model, Path("X.npy"), label="y.npy", memory="1GB"), SupervisedPCA)
assert_type(labelens.fit(model, [(X, y), (X, y)]), SupervisedPCA)
assert_type(labelens.transform(model, ["a.csv", "b.csv"], "Z.npy"), Path)
assert_type(labelens.load("model.labelens").transform(X), NDArray[Any])
assert_type(labelens.select(X, y, model).estimator.transform(X), NDArray[Any])
assert_type(labelens.cross_embed(RBFSampler(), X, y, cv=KFold(3)).Z, NDArray[np.float64])
KernelSupervisedPCA(gamma="auto", approximation=RBFSampler(), label_kernel=TfidfVectorizer())
KernelSupervisedPCA(kernel=lambda a, b: 1.0, approximation="exact", label_kernel="ordinal")
SupervisedPCA(label_kernel=Sum("delta", Cyclic(24)), random_state=np.random.RandomState(0))
SupervisedPCA(label_kernel=Ordinal(["low", "high"]), precision="tf32")
SupervisedPCA(label_kernel=Sliced(5)).set_params(label_kernel=Ranked(quantiles=np.arange(9)))
SupervisedPCA(label_kernel="sliced")
SupervisedPCA(label_kernel=Precomputed([[1, 0.5], [0.5, 1]], classes=["car", "lorry"]))
"""

# With `strict`, mypy reports an ignored error that does not occur.
WRONG = """
import labelens
from labelens import KernelSupervisedRandomProjection, SupervisedPCA

SupervisedPCA("all")  # type: ignore[arg-type]
SupervisedPCA(scale="minimax")  # type: ignore[arg-type]
SupervisedPCA(shrinkage="none")  # type: ignore[arg-type]
SupervisedPCA(class_weight="equal")  # type: ignore[arg-type]
SupervisedPCA(label_kernel="gaussian")  # type: ignore[arg-type]
SupervisedPCA(precision="fp16")  # type: ignore[arg-type]
SupervisedPCA(random_state="seed")  # type: ignore[arg-type]
KernelSupervisedRandomProjection(label_map="random")  # type: ignore[arg-type]
KernelSupervisedRandomProjection(kernel="sigmoid")  # type: ignore[arg-type]
KernelSupervisedRandomProjection(gamma="mean")  # type: ignore[arg-type]
KernelSupervisedRandomProjection(approximation="random")  # type: ignore[arg-type]
labelens.fit(SupervisedPCA(), "X.npy", engine="spark")  # type: ignore[arg-type]
labelens.permutation_report("SupervisedPCA", [[1.0]], [1])  # type: ignore[arg-type]
labelens.select([[1.0]], [1], scoring="accuracy")  # type: ignore[arg-type]
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """What mypy says of the files of a user, as a dict of their names."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    folder = tmp_path_factory.mktemp("user")
    files = {"right": RIGHT, "wrong": WRONG}
    files["readme"] = "\n".join(block.code for block in python_blocks("README.md"))
    for name, code in files.items():
        (folder / f"{name}.py").write_text(code)
    (folder / "mypy.ini").write_text(STRICT)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", "cache"]
    done = subprocess.run(
        [*command, *(f"{name}.py" for name in files)],
        cwd=folder,
        env={"MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    assert all(line.partition(".py:")[0] in files for line in lines), done.stdout
    return {name: [line for line in lines if line.startswith(f"{name}.py:")] for name in files}


def test_code_of_the_readme_passes_strictly(reported):
    assert reported["readme"] == []


@pytest.mark.parametrize("name", ["right", "wrong"])
def test_what_is_accepted_and_what_is_not(reported, name):
    assert reported[name] == []


def test_literals_are_the_values_that_are_accepted():
    assert {*get_args(types.KernelName)} == {*PARAMETERS, "poly"}
    assert {*get_args(types.Gamma)[1].__args__} == {*RULES}
    assert {*get_args(types.ApproximationName)} == {*APPROXIMATIONS}
    assert {*get_args(types.LabelMap)} == {*LABEL_MAPS}
    assert {None, *get_args(types.Scale)} == {*SCALES}
    assert {None, *get_args(types.Precision)} == {*PRECISIONS}
    assert {*get_args(types.Impute)} == {*IMPUTE}
    with pytest.raises(ValueError, match="label_kernel must be") as error:
        make_label_map([1, 2], None, "none", None, 1, None, 0)
    message = str(error.value)
    assert {*get_args(LabelKernelName)} == {*message.partition(", an object")[0].split("'")[1::2]}


def public_functions():
    """Functions and methods that users call."""
    for place in (labelens, *(getattr(labelens, name) for name in PUBLIC.split())):
        for name in place.__all__:
            if name.startswith("Labelens"):
                continue  # stages of Spark, which need pyspark
            member = getattr(place, name)
            if not inspect.isclass(member):
                yield member
                continue
            for name, method in inspect.getmembers(member, callable):
                method = inspect.unwrap(getattr(method, "__func__", method))
                if name == "__init__" or not name.startswith("_"):
                    yield method


def arguments():
    """Every argument of public functions with its annotation, once."""
    found = {}
    for function in public_functions():
        if not getattr(function, "__module__", "").startswith("labelens"):
            continue  # of scikit-learn
        for name, annotation in function.__annotations__.items():
            if name == "return":
                continue
            try:
                kind = eval(annotation, vars(sys.modules[function.__module__]))
            except NameError:  # only type checkers import it
                kind = annotation
            found[function, name] = kind
    return found


def test_few_arguments_take_anything():
    found = arguments()
    anything = {f"{f.__qualname__} {name}" for (f, name), kind in found.items() if kind is Any}
    print(f"{len(anything)} of {len(found)} arguments take anything")
    assert anything <= ANYTHING
