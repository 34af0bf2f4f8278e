"""A fitted estimator as a header and arrays, and back: all that is in a file, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.validation import check_is_fitted, set_output_of
from .._core.kernels import Kernel, make_kernel
from .._core.labels import Unlabelled
from .._core.moments import FirstClasses, check_can_grow
from .._fit import settings
from .._fit.projection import Projection
from .._fit.recipe import Recipe, scales_moments, statistics
from ..methods import METHODS
from ..tables import Encoding
from . import container
from .labels import (
    StoredLabelMap,
    agree,
    put_classes,
    put_label_map,
    put_labels,
    take_classes,
    take_label_map,
    take_labels,
)
from .maps import put_map, put_rows, put_scaling, take_map, take_scaling
from .parameters import check_parameters, put_parameters, take_parameters
from .solution import put_solution, take_solution
from .spelling import put_texts, take_texts
from .statistics import put_moments, take_kept, take_moments
from .strict import (
    FLAG,
    INTEGER,
    LIST,
    NOTHING,
    NUMBER,
    OBJECT,
    TEXT,
    Arrays,
    fields,
    texts,
    within,
)
from .table import put_table, take_table

OUTPUTS = ("default", "pandas", "polars")
NO_OUTPUT: dict[str, Any] = {"set_output": None}  # of files in which set_output was not called
OPTIONAL = NO_OUTPUT | {"table": None}  # what a header may lack
BY_NAME = {method.__name__: method for method in METHODS.values()}


# Into a file -------------------------------------------------------------------------------------


def packed(
    estimator: Any, moments: bool, table: Encoding | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a fitted estimator, and of the columns that it was fitted on."""
    beginning = signed(estimator)
    check_is_fitted(estimator, "moments_")
    arrays: dict[str, NDArray[Any]] = {}
    recipe, known = estimator._recipe, estimator.moments_.to(None)
    parameters = put_parameters(estimator, arrays)
    parameters["n_components"] = int(recipe.n_components)  # "auto" has done its work
    settings.check_unchanged(estimator, recipe.parameters)
    if moments:
        check_can_grow(known)
    solved = estimator._solved if moments else estimator._solve()
    feature_names = getattr(estimator, "feature_names_in_", None)
    if feature_names is not None:
        put_texts("feature_names", map(str, feature_names), arrays)
    psi, kernel, noise = recipe.psi, recipe.kernel, recipe.noise
    put_scaling("scaling", recipe.scaling, arrays)
    header = beginning | {
        "parameters": parameters,
        "n_features_in": int(estimator.n_features_in_),
        "feature_names": feature_names is not None,
        "n_samples": int(known.n_samples),
        "moments": bool(moments),
        "block": int(recipe.block),
        "gamma": None if kernel is None else kernel.gamma,
        "map": put_map(recipe.phi, arrays),
        "labels": None if psi is None else put_labels(psi, arrays, "labels.kernel"),
        "classes": put_classes(known.classes, recipe.label_columns, arrays),
        "label_map": put_label_map(psi, arrays) if moments and psi is not None else None,
        "noise": noise.stream if moments and noise is not None else None,
        "solution": None if solved is None else put_solution(solved, arrays),
    }
    if moments:
        put_moments(known, arrays)
    elif recipe.phi is None:
        put_rows("rows", known.rows, arrays)
    header["training_rows"] = _training_rows(arrays)
    if table is not None:
        header["table"] = put_table(table, estimator, arrays)
    return header, arrays


def signed(estimator: Any) -> dict[str, Any]:
    """What every file of ours begins with."""
    from .. import __version__  # ours is imported before it is set

    name = type(estimator).__name__
    if BY_NAME.get(name) is not type(estimator):
        raise TypeError(
            f"labelens.save takes one of {', '.join(BY_NAME)}, got {type(estimator)!r}."
        )
    beginning = {"format": container.FORMAT, "labelens": __version__, "method": name}
    output = set_output_of(estimator)
    return beginning if output is None else beginning | {"set_output": output}


def _training_rows(arrays: dict[str, NDArray[Any]]) -> int:
    """How many rows of the training data are among the arrays."""
    count = 0
    for name in ("rows", "map.landmarks"):
        if name in arrays:
            count += len(arrays[name])
        elif f"{name}.indptr" in arrays:
            count += max(0, len(arrays[f"{name}.indptr"]) - 1)
    return count


# Out of a file -----------------------------------------------------------------------------------


def checked(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The header with all of its fields, each of its type."""
    facts = fields(
        OPTIONAL | header,
        "its header",
        format=INTEGER,
        labelens=TEXT,
        method=TEXT,
        set_output=TEXT + NOTHING,
        table=OBJECT + NOTHING,
        parameters=OBJECT,
        n_features_in=INTEGER,
        feature_names=FLAG,
        n_samples=INTEGER,
        training_rows=INTEGER,
        moments=FLAG,
        block=INTEGER,
        gamma=NUMBER + NOTHING,
        map=OBJECT,
        labels=OBJECT + NOTHING,
        classes=LIST + NOTHING,
        label_map=OBJECT + NOTHING,
        noise=INTEGER + NOTHING,
        solution=OBJECT + NOTHING,
        arrays=OBJECT,
        arrays_sha256=TEXT,
    )
    method_of(facts)
    for name, low in (("n_features_in", 1), ("n_samples", 1), ("block", 1), ("training_rows", 0)):
        within(facts[name], low, 2**48, name)
    if facts["training_rows"] != _training_rows(arrays):
        raise ValueError("it does not say how many training rows it holds")
    return facts


def method_of(facts: dict[str, Any]) -> type[Projection]:
    if facts["method"] not in BY_NAME:
        raise ValueError(f"there is no method {facts['method'][:60]!r}")
    return BY_NAME[facts["method"]]


def configured(estimator: Any, facts: dict[str, Any]) -> Any:
    """The estimator with the `set_output` of a file."""
    if (output := facts["set_output"]) is None:
        return estimator
    if output not in OUTPUTS:
        raise ValueError(f"its set_output is {output[:60]!r}, not one of {', '.join(OUTPUTS)}")
    return estimator.set_output(transform=output)


def built(facts: dict[str, Any], stored: dict[str, NDArray[Any]]) -> Projection:
    """The estimator, from a header whose fields have been checked."""
    method, d = BY_NAME[facts["method"]], facts["n_features_in"]
    arrays = Arrays(stored, d=d)
    estimator: Any = method(**take_parameters(facts["parameters"], method, arrays))
    labelled = facts["labels"] is not None
    check_parameters(estimator, labelled)
    moments, arrays.sizes["k"] = facts["moments"], estimator.n_components
    kernel = _kernel(estimator, facts["gamma"])
    phi = take_map(facts["map"], arrays, estimator, kernel)
    psi: Any = known_labels(facts["labels"], arrays)
    if psi is not None and not agree(estimator.label_kernel, psi.kernel):
        raise ValueError(f"its labels are {psi.kernel!r}, not {estimator.label_kernel!r}")
    classes = classes_of(facts, psi, arrays, vars(estimator))
    scatter, sketch, spread, label_scatter = statistics(estimator, labelled)
    noise = None
    if (facts["label_map"] is None) != (not moments or psi is None):
        raise ValueError("its label_map is there without its moments, or they without it")
    if (facts["noise"] is None) != (not moments or not sketch):
        raise ValueError("its noise is there without its moments, or they without it")
    if moments and psi is not None:
        mix = estimator.label_map if estimator._solver.random_labels else None
        psi, width = take_label_map(
            facts["label_map"], arrays, psi, mix, estimator.label_gamma, estimator.label_kernel
        )
        if width is not None:
            arrays.sizes["q"] = width
    if moments and sketch:
        stream = within(facts["noise"], 0, 2**64, "its noise")
        noise = Unlabelled(int(estimator.n_components), stream)
        arrays.sizes["g"] = noise.width
    scaling = None
    if estimator.scale is not None and not scales_moments(estimator):
        scaling = take_scaling("scaling", arrays)
    estimator._recipe = recipe = Recipe(
        parameters=estimator.get_params(deep=False),
        n_components=estimator.n_components,
        solver=estimator._solver,
        psi=psi,
        kernel=kernel,
        phi=phi,
        scaling=scaling,
        noise=noise,
        scatter=scatter,
        spread=spread,
        label_scatter=label_scatter,
        block=facts["block"],
    )
    take = take_moments if moments else take_kept
    estimator.moments_ = take(recipe, facts["n_samples"], classes, arrays)
    estimator._solved = None
    if facts["solution"] is not None:
        estimator._solved = take_solution(facts["solution"], arrays, estimator, recipe)
    elif not moments:
        raise ValueError("it has neither a solution nor moments")
    estimator.n_features_in_ = d
    facts = OPTIONAL | facts
    if facts["feature_names"]:
        estimator.feature_names_in_ = np.array(take_texts("feature_names", arrays, "d"), object)
    take_table(facts["table"], getattr(estimator, "feature_names_in_", None), arrays)
    arrays.done()
    return configured(estimator, facts)


def _kernel(estimator: Any, gamma: Any) -> Kernel | None:
    if (gamma is None) == estimator._kernelised:
        raise ValueError("it has a gamma without a kernel, or a kernel without a gamma")
    if gamma is None:
        return None
    if not isinstance(estimator.gamma, str) and gamma != estimator.gamma:
        raise ValueError(f"its gamma is {gamma!r}, and gamma={estimator.gamma!r}")
    return make_kernel(estimator.kernel, gamma, estimator.kernel_params)


def known_labels(facts: Any, arrays: Arrays) -> StoredLabelMap | None:
    return None if facts is None else take_labels(facts, arrays, "labels.kernel")


def classes_of(
    facts: dict[str, Any],
    labels: StoredLabelMap | None,
    arrays: Arrays,
    parameters: Mapping[str, Any],
) -> tuple[Any, ...] | None:
    """The classes, or the first of them where the label map keeps no more."""
    kinds = () if labels is None else labels.kinds
    if (facts["classes"] is None) == bool(kinds):
        raise ValueError("it has classes without labels, or labels without classes")
    if facts["classes"] is None:
        return None
    classes = take_classes(texts(facts["classes"], "the types of its classes"), kinds, arrays)
    assert labels is not None
    if labels.kernel == "delta" and parameters.get("label_map") == "gaussian":
        return FirstClasses.of(classes, parameters["n_components"] + len(kinds))
    return classes
