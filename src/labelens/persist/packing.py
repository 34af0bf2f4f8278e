"""A fitted estimator as a header and arrays, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.validation import check_is_fitted, set_output_of
from .._core.kernels import Kernel, make_kernel
from .._core.labels import Unlabelled
from .._core.moments import FirstClasses, SavedSummary, check_can_grow
from .._core.scaling import Scaling
from .._fit import settings
from .._fit.fitted import recipe_of, restore, solution_of, solved_so_far
from .._fit.projection import Projection
from .._fit.recipe import Recipe, scales_moments, screens, statistics
from .._fit.settings import is_kernel_method, solver_of
from ..methods import METHODS
from ..tables import TableEncoder
from . import container
from .atlas import MAPS, base_of, name_of_map, put_atlas, take_atlas
from .labels import (
    agree,
    n_label_features,
    put_classes,
    put_label_map,
    put_labels,
    take_classes,
    take_label_map,
    take_labels,
)
from .maps import SCALING, put_map, take_map
from .parameters import check_parameters, put_parameters, take_parameters
from .schema import Puts, put, take
from .solution import put_solution, take_solution
from .spelling import put_texts, take_texts
from .statistics import ROWS, put_moments, take_moments
from .strict import NUMBER, WHOLE, Arrays, fields, within
from .tables import put_table, take_table

NUISANCE = "nuisance."  # prefix of the arrays of a nuisance
OUTPUTS = ("default", "pandas", "polars")
BY_NAME = {method.__name__: method for method in METHODS.values()}
# The facts in a header and their types: first those of any file.
SIGNED = {
    "format": int,  # 1; a newer one raises ValueError
    "labelens": str,  # the version that wrote it
    "method": str,  # one of the four public classes
    "set_output": str | None,  # absent where it was not called
    "arrays": dict,  # name -> dtype, shape, order in memory
    "arrays_sha256": str,  # of all their bytes
}
HEADER = SIGNED | {
    "parameters": dict,  # all that the constructor takes
    "n_features_in": int,
    "feature_names": bool,  # whether the arrays contain them
    "table": dict | None,  # how gaps were imputed; absent without a table
    "n_samples": int,  # rows seen
    "training_rows": int,  # rows of the training data inside the file
    "moments": bool,  # whether partial_fit and merge can continue
    "block": int,  # rows in a block of the grid
    "gamma": NUMBER | None,  # of the kernel, settled; null for the linear methods
    "map": dict,  # the feature map: its kind, and the facts of it
    "labels": dict | None,  # the label kernel, and the kind of label in every column
    "classes": list | None,  # the type of label in every column; labels are in the arrays
    "label_map": dict | None,  # for later labels; null without moments
    "noise": int | None,  # random streams; null without moments
    "solution": dict | None,  # null if not solved yet
    "nuisance": dict | None,  # its labels, label_map and classes; absent without moments
    # The map that the model is the base of, if any; absent where there is none.
    "atlas": dict | None,
    "value_map": dict | None,
}
# Optional fields of a header.
OPTIONAL: dict[str, Any] = dict.fromkeys(("set_output", "table", "nuisance", *MAPS))
LOWEST = {"n_features_in": 1, "n_samples": 1, "block": 1, "training_rows": 0}


def packed(
    estimator: Any, moments: bool, table: TableEncoder | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a fitted estimator and of the encoder of its table."""
    own, name = estimator, name_of_map(estimator)
    if name is not None:
        estimator = base_of(own)
    beginning = signed(estimator) | _output(own)
    check_is_fitted(estimator, "moments_")
    arrays: Puts = {}
    recipe, known = recipe_of(estimator), estimator.moments_.to(None)
    parameters = put_parameters(estimator, arrays)
    parameters["n_components"] = int(recipe.n_components)  # "auto" has done its work
    settings.check_unchanged(estimator, recipe.parameters)
    if moments:
        check_can_grow(known)
        if recipe.landmarks is not None:
            raise ValueError(
                "approximation='falkon' cannot be saved with moments=True: its file holds the "
                "landmarks only. Use moments=False, or approximation='nystroem'."
            )
    solved = solved_so_far(estimator) if moments else solution_of(estimator)
    feature_names = getattr(estimator, "feature_names_in_", None)
    if feature_names is not None:
        put_texts("feature_names", map(str, feature_names), arrays)
    psi, kernel, noise = recipe.psi, recipe.kernel, recipe.noise
    if recipe.scaling is not None:
        put(SCALING, recipe.scaling, "scaling", arrays)
    header = beginning | {
        "parameters": parameters,
        "n_features_in": int(estimator.n_features_in_),
        "feature_names": feature_names is not None,
        "n_samples": int(known.n_samples),
        "moments": bool(moments),
        "block": int(recipe.block),
        "gamma": None if kernel is None else kernel.gamma,
        "map": put_map(recipe.phi, arrays),
        "labels": None if psi is None else put_labels(psi, arrays),
        "classes": put_classes(known.classes, recipe.label_columns, arrays),
        "label_map": put_label_map(psi, arrays) if moments and psi is not None else None,
        "noise": noise.stream if moments and noise is not None else None,
        "solution": None if solved is None else put_solution(solved, arrays),
    }
    if moments:
        put_moments(known, arrays)
        if recipe.columns is not None:
            arrays["columns"] = recipe.columns
        if recipe.nuisance is not None:
            header["nuisance"] = _put_nuisance(recipe.of_nuisance, known.nuisance, arrays)
    elif recipe.phi is None:
        landmarks = None if solved is None else solved.rows
        ROWS.put(known.rows if landmarks is None else landmarks, "rows", arrays)
    header["training_rows"] = _training_rows(arrays)
    if name is not None:
        header[name] = put_atlas(own, arrays)
    if table is not None:
        names = [] if feature_names is None else list(feature_names)
        if table.get_feature_names_out().tolist() != names:
            raise ValueError("The columns of the table are not those that the model was fitted on.")
        header["table"] = put_table(table, arrays)
    return header, arrays


def signed(estimator: Any) -> dict[str, Any]:
    """The facts of every file."""
    from .. import __version__  # which is set after this module is imported

    name = type(estimator).__name__
    if BY_NAME.get(name) is not type(estimator):
        raise TypeError(
            f"labelens.save takes a fitted {', '.join(BY_NAME)}, Atlas or ValueMap, got "
            f"{type(estimator)!r}."
        )
    beginning = {"format": container.FORMAT, "labelens": __version__, "method": name}
    return beginning | _output(estimator)


def _output(estimator: Any) -> dict[str, Any]:
    output = set_output_of(estimator)
    return {} if output is None else {"set_output": output}


def _training_rows(arrays: dict[str, NDArray[Any]]) -> int:
    """How many rows of the training data are among the arrays."""
    count = 0
    for name in ("rows", "map.landmarks"):
        if name in arrays:
            count += len(arrays[name])
        elif f"{name}.indptr" in arrays:
            count += max(0, len(arrays[f"{name}.indptr"]) - 1)
    return count


def checked(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The header with all of its fields, each of its type."""
    facts = fields(OPTIONAL | header, "its header", **HEADER)
    method_of(facts)
    for name, low in LOWEST.items():
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


def built(
    facts: dict[str, Any], stored: dict[str, NDArray[Any]]
) -> tuple[Any, TableEncoder | None]:
    """The estimator and its table, from a header whose fields have been checked."""
    facts, method = OPTIONAL | facts, BY_NAME[facts["method"]]
    beside = {name: a for name, a in stored.items() if name.startswith(NUISANCE)}
    arrays = Arrays({n: a for n, a in stored.items() if n not in beside}, d=facts["n_features_in"])
    estimator: Any = method(**take_parameters(facts["parameters"], method, arrays))
    labelled, moments = facts["labels"] is not None, facts["moments"]
    check_parameters(estimator, labelled)
    arrays.sizes["k"] = estimator.n_components
    kernel = _kernel(estimator, facts["gamma"])
    phi = take_map(facts["map"], arrays, estimator, kernel)
    psi: Any = take_labels(facts["labels"], arrays) if labelled else None
    if labelled and not agree(estimator.label_kernel, psi.kernel):
        raise ValueError(f"its labels are {psi.kernel!r}, not {estimator.label_kernel!r}")
    classes = _classes(facts["classes"], psi, arrays, estimator)
    scatter, sketch, spread, label_scatter = statistics(estimator, labelled)
    if (facts["label_map"] is None) == (moments and labelled):
        raise ValueError("its label_map is there without its moments, or they without it")
    if (facts["noise"] is None) == (moments and sketch):
        raise ValueError("its noise is there without its moments, or they without it")
    noise = scaling = None
    if facts["label_map"] is not None:
        mix = estimator.label_map if solver_of(estimator).random_labels else None
        asked = estimator.label_gamma, estimator.label_kernel
        psi = take_label_map(facts["label_map"], arrays, psi, mix, *asked)
        if (width := n_label_features(psi)) is not None:
            arrays.sizes["q"] = width
    if facts["noise"] is not None:
        stream = within(facts["noise"], 0, 2**64, "its noise")
        noise = Unlabelled(int(estimator.n_components), stream)
        arrays.sizes["g"] = noise.width
    if estimator.scale is not None and not scales_moments(estimator):
        scaling = Scaling(**take(SCALING, "scaling", arrays))
    recipe = Recipe(
        parameters=estimator.get_params(deep=False),
        n_components=estimator.n_components,
        solver=solver_of(estimator),
        psi=psi,
        kernel=kernel,
        phi=phi,
        scaling=scaling,
        noise=noise,
        scatter=scatter,
        spread=spread,
        label_scatter=label_scatter,
        block=facts["block"],
        columns=_columns(arrays, estimator),
    )
    if moments:
        known: Any = take_moments(recipe, facts["n_samples"], classes, arrays)
        if facts["nuisance"] is not None:
            recipe, known = _take_nuisance(facts["nuisance"], beside, recipe, known, arrays)
            beside = {}
    else:
        rows = ROWS.take("rows", arrays) if phi is None else None
        known = SavedSummary(facts["n_samples"], classes, rows)
    solved = None
    if facts["solution"] is not None:
        solved = take_solution(facts["solution"], arrays, estimator, recipe)
    elif not moments:
        raise ValueError("it has neither a solution nor moments")
    restore(estimator, recipe, known, solved)
    estimator.n_features_in_ = facts["n_features_in"]
    names = take_texts("feature_names", arrays, "d") if facts["feature_names"] else None
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    table = None if facts["table"] is None else take_table(facts["table"], names, arrays)
    for name in MAPS:
        if facts[name] is not None:
            estimator = take_atlas(name, facts[name], arrays, estimator)
    Arrays(beside).done()
    arrays.done()
    return configured(estimator, facts), table


def _put_nuisance(recipe: Recipe, moments: Any, arrays: Puts) -> dict[str, Any]:
    own: Puts = {}
    put_moments(moments, own)
    facts = {
        "labels": put_labels(recipe.psi, own),
        "label_map": put_label_map(recipe.psi, own),
        "classes": put_classes(moments.classes, recipe.label_columns, own),
    }
    arrays |= {NUISANCE + name: array for name, array in own.items()}
    return facts


def _take_nuisance(
    facts: Any, stored: dict[str, NDArray[Any]], recipe: Recipe, moments: Any, arrays: Arrays
) -> tuple[Recipe, Any]:
    """The recipe and the moments with those of the nuisance."""
    what = "its nuisance"
    fields(facts, what, labels=dict, label_map=dict, classes=list | None)
    sizes = {"k": 1} | {name: arrays.sizes[name] for name in ("d", "p") if name in arrays.sizes}
    own = Arrays({name.removeprefix(NUISANCE): array for name, array in stored.items()}, **sizes)
    known = take_labels(facts["labels"], own)
    if known.kernel not in ("delta", "linear") or recipe.phi is None:
        raise ValueError(f"{what} has the label kernel {known.kernel!r}")
    psi = take_label_map(facts["label_map"], own, known, None, None, known.kernel)
    if (facts["classes"] is None) == bool(known.kinds):
        raise ValueError(f"{what} has classes without labels, or labels without classes")
    classes = None
    if facts["classes"] is not None:
        classes = take_classes(facts["classes"], known.kinds, own)
    else:
        own.sizes["q"] = psi.width
    recipe = replace(recipe, nuisance=psi)
    found = take_moments(recipe.of_nuisance, moments.n_samples, classes, own)
    own.done()
    return recipe, replace(moments, nuisance=found)


def _columns(arrays: Arrays, estimator: Any) -> NDArray[np.intp] | None:
    """The columns of C_xx, where it is of some only."""
    if "columns" not in arrays:
        return None
    columns = arrays.take("columns", WHOLE, "m").astype(np.intp)
    inside = len(columns) and columns[0] >= 0 and columns[-1] < arrays.sizes["d"]
    if not screens(estimator) or not inside or (np.diff(columns) <= 0).any():
        raise ValueError("the array 'columns' does not name columns that n_nonzero has chosen")
    return columns


def _kernel(estimator: Any, gamma: Any) -> Kernel | None:
    if (gamma is None) == is_kernel_method(estimator):
        raise ValueError("it has a gamma without a kernel, or a kernel without a gamma")
    if gamma is None:
        return None
    if not isinstance(estimator.gamma, str) and gamma != estimator.gamma:
        raise ValueError(f"its gamma is {gamma!r}, and gamma={estimator.gamma!r}")
    return make_kernel(estimator.kernel, gamma, estimator.kernel_params)


def _classes(types: Any, psi: Any, arrays: Arrays, estimator: Any) -> tuple[Any, ...] | None:
    """The classes, or the first of them where the label map keeps no more."""
    kinds = () if psi is None else psi.kinds
    if (types is None) == bool(kinds):
        raise ValueError("it has classes without labels, or labels without classes")
    if types is None:
        return None
    classes = take_classes(types, kinds, arrays)
    if psi.kernel == "delta" and getattr(estimator, "label_map", None) == "gaussian":
        return FirstClasses.of(classes, estimator.n_components + len(kinds))
    return classes
