"""Strategies that draw a data set and an estimator.

rows        shape, dtype, storage, offsets up to 1e8, constant, equal and one-hot rows
labels      every kind of label that `fit` accepts
missing     unlabelled rows: none, anywhere, at the start, at the end
weights     None, positive, some zero
parameters  the estimator
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens.label_kernels import Cyclic, Precomputed, Product, Ranked, Sliced, Sum
from routes.labels import LABELS, Labels, draw_labels, missing

BLOCK = 1024  # rows that are summed at a time: more of them make several chunks


@dataclass(frozen=True)
class Case:
    X: Any  # (n, d) array, CSR or frame
    labels: Labels | None
    labelled: np.ndarray  # (n,)
    marker: Any  # what stands in y where there is no label
    weight: np.ndarray | None
    model: Any  # unfitted
    rng: np.random.Generator
    before: str = "nothing"  # what the estimator was used for before
    output: str | None = None  # its set_output

    @property
    def n(self):
        return self.X.shape[0]

    @property
    def y(self):
        """What `fit` gets."""
        return None if self.labels is None else self.labels.marked(self.labelled, self.marker)

    @property
    def dense(self):
        """(n, d) float64."""
        X = self.X.toarray() if sparse.issparse(self.X) else np.asarray(self.X)
        return X.astype(np.float64)

    @property
    def kernelised(self):
        return isinstance(self.model, (KernelSupervisedPCA, KernelSupervisedRandomProjection))

    @property
    def single(self):
        """Whether rows are float32."""
        return getattr(self.X, "dtype", None) == np.float32

    @property
    def random(self):
        """Whether labels are mixed by random vectors."""
        return hasattr(self.model, "label_map")

    @property
    def sketched(self):
        """Whether every row has a random vector of its own."""
        return self.random and (self.labels is None or self.model.target_weight < 1)

    def fitted(self):
        return clone(self.model).fit(self.X, self.y, self.weight)

    def start(self):
        """The estimator before the fit, perhaps with the remains of another one."""
        model = clone(self.model)
        if self.output is not None:
            model.set_output(transform=self.output)
        if self.before != "nothing":
            self._use(model)
        return model

    def _use(self, model):
        """Fit it on rows with one more column, in another container."""
        X = np.c_[self.dense, self.dense[:, 0]]
        if self.before == "frame":
            X = pd.DataFrame(X, columns=[f"before{j}" for j in range(X.shape[1])])
        elif self.before == "torch":
            X = import_module("torch").asarray(X)
        factors = model.scale if isinstance(model.scale, tuple) else None
        if factors is not None:
            model.set_params(scale=(*factors, 1.0))
        model.fit(X, self.y)
        if factors is not None:
            model.set_params(scale=factors)

    def with_model(self, model):
        return replace(self, model=model)

    def __repr__(self):
        kind = "none" if self.labels is None else self.labels.kind
        X, missing = self.X, int((~self.labelled).sum())
        dtype = X.dtypes.iloc[0] if isinstance(X, pd.DataFrame) else X.dtype
        return (
            f"Case({type(X).__name__} {X.shape} {dtype}, labels={kind}, missing={missing} as "
            f"{self.marker!r}, weighted={self.weight is not None}, before={self.before}, "
            f"output={self.output}, {self.model!r})"
        )


# Rows --------------------------------------------------------------------------------------------

ROWS = ("normal", "far", "integers", "one-hot", "equal", "constant", "rank one", "mixed scales")
STORED = ("C", "F", "float32", "int16", "uint8", "bool", "sparse", "frame")


def draw_rows(draw, rng, n, d, signal):
    """(n, d) rows whose means differ by `signal`, (n, d)."""
    kind = draw(st.sampled_from(ROWS), label="rows")
    X = rng.normal(size=(n, d)) + 2 * signal
    match kind:
        case "far":
            X += 10.0 ** draw(st.integers(2, 8), label="offset") * rng.choice([-1, 1], d)
        case "integers":
            X = np.round(2 * X)
        case "one-hot":
            X = np.eye(d)[np.argmax(X, axis=1)]
        case "equal":
            X = X[rng.integers(0, max(2, n // 4), n)]
        case "constant":
            X[:, rng.integers(0, d)] = rng.normal()
        case "rank one":
            X = np.outer(X[:, 0], rng.normal(size=d))
        case "mixed scales":
            X *= 10.0 ** rng.integers(-4, 5, d)
    return stored(X, draw(st.sampled_from(STORED), label="stored"), rng)


def stored(X, how, rng):
    match how:
        case "F":
            return np.asfortranarray(X)
        case "float32":
            return X.astype(np.float32)
        case "int16" | "uint8":
            low, high = np.iinfo(how).min, np.iinfo(how).max
            return np.clip(np.round(4 * X), low, high).astype(how)
        case "bool":
            return np.median(X, axis=0) < X
        case "sparse":
            density = rng.choice([0.3, 0.6, 1.0])
            return sparse.csr_array(np.where(rng.random(X.shape) < density, X, 0))
        case "frame":
            return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return X


# Parameters --------------------------------------------------------------------------------------

METHODS = (
    SupervisedPCA,
    SupervisedRandomProjection,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
)


def draw_parameters(draw, labels, missing_label, small, d):
    method = draw(st.sampled_from(METHODS), label="method")
    sizes = [1, 2, 3, 4, 2, 3, 4, *(["auto"] if labels is not None and small else [])]
    parameters: dict[str, Any] = {
        "n_components": draw(st.sampled_from(sizes), label="n_components")
    }
    if "random_state" in method().get_params():
        parameters["random_state"] = draw(st.integers(0, 3), label="random_state")
    kernelised = issubclass(method, (KernelSupervisedPCA, KernelSupervisedRandomProjection))
    parameters["target_weight"] = draw(st.sampled_from([1.0, 1.0, 0.5]), label="target_weight")
    parameters["shrinkage"] = draw(st.sampled_from([1.0, 1.0, 0.1, 0.5, "auto"]), label="shrinkage")
    factors = tuple(1.5 - j % 3 * 0.6 for j in range(d))
    scales = [None, None, "minmax", "standard", factors]
    parameters["scale"] = draw(st.sampled_from(scales), label="scale")
    if kernelised:
        parameters |= draw_kernel(draw, small)
    elif labels is not None and draw(st.integers(0, 3), label="n_nonzero") == 0:
        parameters["n_nonzero"] = 2
    if labels is not None:
        parameters["missing_label"] = missing_label
        parameters["label_kernel"] = draw_label_kernel(draw, labels)
        if hasattr(method(), "label_map"):
            parameters["label_map"] = draw_label_map(draw, labels, parameters["label_kernel"])
        # Several targets have 1024 random label features, too many to whiten in a moment.
        whitened = st.sampled_from([1.0] if labels.kind == "targets" else [1.0, 1.0, 0.5, 0.0])
        parameters["label_shrinkage"] = draw(whitened, label="label_shrinkage")
        if (
            hasattr(method(), "component_scale")
            and labels.classes
            and labels.ndim == 1
            and parameters["label_kernel"] in ("auto", "delta")
        ):
            scales = st.sampled_from(["total", "within"])
            parameters["component_scale"] = draw(scales, label="component_scale")
        if labels.classes and draw(st.integers(0, 3), label="class_weight") == 0:
            parameters["class_weight"] = "balanced"
    if parameters.get("approximation") == "exact":
        parameters |= {"target_weight": 1.0, "shrinkage": 1.0}
        if labels is None and not hasattr(method(), "label_map"):
            parameters["approximation"] = "nystroem"
    if labels is None:
        parameters["shrinkage"] = 1.0
        if parameters.get("gamma") == "auto":
            parameters["gamma"] = "scale"
    return method(**parameters)


def draw_kernel(draw, small):
    gammas = [0.1, "scale", "scale", "median", *(["auto"] if small else [])]
    approximations = ["fourier", "orthogonal", "fastfood", "nystroem", "exact"]
    return {
        "approximation": draw(st.sampled_from(approximations), label="approximation"),
        "gamma": draw(st.sampled_from(gammas), label="gamma"),
        "n_random_features": draw(st.sampled_from([6, 16]), label="n_random_features"),
    }


def draw_label_kernel(draw, labels):
    """A kernel for labels of this kind; "auto" half of the time."""
    choices: list[Any] = ["auto"]
    if labels.classes:
        choices += ["delta", "ordinal"] if labels.ordered else ["delta"]
        if labels.ndim == 1 and labels.kind == "integers":
            names = sorted(set(labels.values))
            corner = np.full((len(names), len(names)), 0.4) + 0.6 * np.eye(len(names))
            corner[0, 1:] = corner[1:, 0] = 0
            choices.append(Precomputed(corner, names))
    if labels.kind in ("continuous", "targets", "indicator", "grades"):
        choices += ["linear", "rbf"]
    if labels.kind == "continuous":
        choices += [Cyclic(3.0), "ranked", Ranked(9), "sliced", Sliced(3)]
    if labels.kind == "indicator":
        choices.append("jaccard")
    if labels.kind == "mixed columns":
        choices = [Sum("delta", "rbf"), Product("delta", "linear"), Sum("delta", "ranked")]
        choices.append(Product("delta", Sliced(3)))
    elif labels.kind == "graded columns":
        choices = [Sum("ordinal", "rbf"), Product("ordinal", "linear")]
    elif draw(st.booleans(), label="label_kernel auto"):
        return "auto"
    return draw(st.sampled_from(choices), label="label_kernel")


def draw_label_map(draw, labels, kernel):
    maps = ["orthogonal", "gaussian"]
    if labels.classes and labels.ndim == 1 and kernel in ("auto", "delta"):
        maps += ["spread", "fourier"]
    return draw(st.sampled_from(maps), label="label_map")


# All together ------------------------------------------------------------------------------------


def draw_missing(draw, rng, n, labels):
    """(n,) which rows are labelled, and the marker of the others."""
    place = draw(st.sampled_from(["nowhere", "nowhere", "anywhere", "first", "last"]), label="gaps")
    labelled = np.ones(n, dtype=bool)
    if labels is None or place == "nowhere" or not labels.markers:
        return labelled, None
    gap = min(max(1, n // 2), BLOCK + n // 3) if n > BLOCK else n // 3
    match place:
        case "anywhere":
            labelled = rng.random(n) < 0.7
        case "first":
            labelled[:gap] = False
        case "last":
            labelled[n - gap :] = False
    return labelled, draw(st.sampled_from(labels.markers), label="marker")


@st.composite
def cases(draw, sizes=("small", "small", "blocks")):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    size = draw(st.sampled_from(sizes), label="size")
    n = draw(
        st.integers(8, 60) if size == "small" else st.integers(BLOCK - 1, 2 * BLOCK + 99), label="n"
    )
    d = draw(st.integers(1, 6), label="d")
    kind = draw(st.sampled_from([None, *LABELS]), label="labels")
    labels = None if kind is None else draw_labels(kind, n, rng)
    signal = np.zeros((n, d))
    if labels is not None:
        signal = labels.signal @ rng.normal(size=(labels.signal.shape[1], d))
    X = draw_rows(draw, rng, n, d, signal)
    labelled, marker = draw_missing(draw, rng, n, labels)
    weight = None
    weighted = draw(st.sampled_from(["no", "no", "positive", "zeros"]), label="weights")
    if weighted != "no":
        weight = rng.uniform(0.1, 3, n)
        if weighted == "zeros":
            weight[rng.random(n) < 0.3] = 0
    # NaN stands for every null; None for no missing labels at all.
    missing_label = None if labelled.all() else np.nan if missing(marker) else marker
    model = draw_parameters(draw, labels, missing_label, size == "small", d)
    uses = ["nothing", "nothing", "frame", "torch" if find_spec("torch") else "frame"]
    before = draw(st.sampled_from(uses), label="before")
    output = draw(st.sampled_from([None, None, "pandas"]), label="output")
    return Case(X, labels, labelled, marker, weight, model, rng, before, output)
