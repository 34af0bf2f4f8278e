"""A fitted estimator as a header and arrays, and back."""

from __future__ import annotations

import json
import os
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _parameters
from .._files import named
from .._validation import check_is_fitted
from .._warn import warn_user
from ..kernels import Kernel, make_kernel
from ..labels import Unlabelled
from ..methods import METHODS
from ..moments import refuse_sealed
from ..projection import Projection
from ..recipe import Recipe, scales_moments, statistics
from . import container
from .labels import (
    KnownLabels,
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
    parse,
    texts,
    within,
)

BY_NAME = {method.__name__: method for method in METHODS.values()}


# The three public functions ----------------------------------------------------------------------


def save(estimator: Any, path: str | os.PathLike[str], *, moments: bool = False) -> None:
    """Write a fitted estimator to one file, which `labelens.load` reads.

    The file takes the place of an older one only when it is complete. It holds what `transform`
    and the fitted attributes need, and of the training data no row, unless the model is made of
    rows: landmarks (`approximation="nystroem"`) and those of `approximation="exact"`. A warning
    then says how many they are, and so does `labelens.persist.info`.

    Parameters
    ----------
    estimator : one of the four methods, fitted
    path : str or path
        By convention `*.labelens`.
    moments : bool, default=False
        Whether the moments go with it, so that `partial_fit` and `merge` can go on from the file.
        With exact kernels that is everything known of the training rows, labels included.

    Examples
    --------
    >>> import labelens, numpy as np, tempfile, os
    >>> X, y = np.random.default_rng(0).normal(size=(100, 5)), np.arange(100) % 3
    >>> model = labelens.SupervisedPCA(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labelens.save(model, os.path.join(folder, "model.labelens"))
    ...     same = labelens.load(os.path.join(folder, "model.labelens"))
    >>> bool((same.transform(X) == model.transform(X)).all())
    True
    """
    header, arrays = _packed(estimator, moments)
    try:  # what could not be loaded is not saved
        _built(parse(json.dumps(header), "its header"), arrays)
    except ValueError as error:
        raise _refusal(None, "saved", error) from error
    container.write(Path(path), header, arrays)
    if rows := header["training_rows"]:
        warn_user(
            f"{named(path)} holds {rows} rows of the training data, of which a model with "
            f"approximation={estimator.approximation!r} is made: who may read it may read them."
        )


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that `labelens.save` has written.

    Safe with files from anyone: nothing in a file is run, and one that is not exactly what `save`
    writes is refused with a ValueError; a link, folder or pipe with an OSError. (What a stranger's
    model computes is another question.)

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Fitted; it gives the same bits as the one that was saved. A model saved without its
        moments can be used, but not continued.

    Examples
    --------
    >>> import labelens, os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = labelens.SupervisedPCA(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labelens.save(model, os.path.join(folder, "iris.labelens"))
    ...     again = labelens.load(os.path.join(folder, "iris.labelens"))
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    try:
        header, arrays = container.read(Path(path))
        return _built(_checked(header, arrays), arrays)
    except ValueError as error:
        raise _refusal(path, "loaded", error) from None


def save_state(estimator: Any, path: Path, note: dict[str, Any]) -> None:
    """A fit that is under way, with a note on where it stands: for `load_state`, not for `load`."""
    header, arrays = _packed(estimator, moments=True)
    container.write(path, header | {"unfinished": note}, arrays)


def load_state(path: Path) -> tuple[Any, dict[str, Any]]:
    """What `save_state` has written."""
    try:
        header, arrays = container.read(path)
        note = header.pop("unfinished", None)
        if type(note) is not dict:
            raise ValueError("it is a model, not the state of a fit that is under way")
        return _built(_checked(header, arrays), arrays), note
    except ValueError as error:
        raise _refusal(path, "continued from", error) from None


def save_method(estimator: Any, path: Path) -> None:
    """A method and its parameters, fitted or not: for `load_method`, not for `load`."""
    arrays: dict[str, NDArray[Any]] = {}
    header = _signed(estimator) | {"unfitted": put_parameters(estimator, arrays)}
    container.write(path, header, arrays)


def load_method(path: Path) -> Any:
    """What `save_method` has written, not fitted."""
    try:
        header, stored = container.read(path)
        signed = dict(format=INTEGER, labelens=TEXT, method=TEXT)
        lists = dict(arrays=OBJECT, arrays_sha256=TEXT)
        facts = fields(header, "its header", unfitted=OBJECT, **signed, **lists)
        method, arrays = _method(facts), Arrays(stored)
        estimator: Any = method(**take_parameters(facts["unfitted"], method, arrays))
        arrays.done()
        return estimator
    except ValueError as error:
        raise _refusal(os.fspath(path), "loaded", error) from None


def info(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file holds, in JSON's types; what `load` refuses is refused here too.

    Labels that JSON has no type for are shown as text; several columns of classes are pairs of
    column and class.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict

    Examples
    --------
    >>> import labelens, os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = labelens.SupervisedPCA(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labelens.save(model, os.path.join(folder, "iris.labelens"))
    ...     facts = labelens.persist.info(os.path.join(folder, "iris.labelens"))
    >>> facts["method"], facts["classes"], facts["training_rows"]
    ('SupervisedPCA', [0, 1, 2], 0)
    """
    try:
        header, arrays = container.read(Path(path))
        facts = _checked(header, arrays)
        _built(facts, arrays)
        left = Arrays(arrays, d=facts["n_features_in"])
        labels = _known_labels(facts["labels"], left)
        classes = _classes(facts, labels, left)
        names = take_texts("feature_names", left, "d") if facts["feature_names"] else None
        parameters = take_parameters(facts["parameters"], BY_NAME[facts["method"]], left)
    except ValueError as error:
        raise _refusal(path, "read", error) from None
    return {
        "method": facts["method"],
        "parameters": {name: _shown(value) for name, value in parameters.items()},
        "n_features_in": facts["n_features_in"],
        "feature_names": names,
        "label_kernel": None if labels is None else _shown(labels.kernel),
        "classes": None if classes is None else [_shown(label) for label in classes],
        "n_samples": facts["n_samples"],
        "training_rows": facts["training_rows"],
        "moments": facts["moments"],
        "arrays": {name: f"{a.dtype} {a.shape}" for name, a in sorted(arrays.items())},
        "size": Path(path).stat().st_size,
        "format": facts["format"],
        "labelens": facts["labelens"],
    }


def _shown(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_shown(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _shown(item) for key, item in value.items()}
    plain = value is None or type(value) in (bool, int, str, list)
    return value if plain or (type(value) is float and isfinite(value)) else str(value)


def _refusal(path: Any, verb: str, error: ValueError) -> ValueError:
    reason = str(error).rstrip(".").replace("\n", " ")
    what = "This model" if path is None else named(path)
    return ValueError(f"{what} cannot be {verb}: {reason[:500]}{'...' * (len(reason) > 500)}.")


# Into a file -------------------------------------------------------------------------------------


def _packed(estimator: Any, moments: bool) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    signed = _signed(estimator)
    check_is_fitted(estimator, "moments_")
    arrays: dict[str, NDArray[Any]] = {}
    recipe, known = estimator._recipe, estimator.moments_
    parameters = put_parameters(estimator, arrays)
    parameters["n_components"] = int(recipe.n_components)  # "auto" has done its work
    _parameters.check_unchanged(estimator, recipe.parameters)
    if moments:
        refuse_sealed(known)
    solved = estimator._solved if moments else estimator._solve()
    feature_names = getattr(estimator, "feature_names_in_", None)
    if feature_names is not None:
        put_texts("feature_names", map(str, feature_names), arrays)
    psi, kernel, noise = recipe.psi, recipe.kernel, recipe.noise
    put_scaling("scaling", recipe.scaling, arrays)
    header = signed | {
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
    return header, arrays


def _signed(estimator: Any) -> dict[str, Any]:
    """What every file of ours begins with."""
    from .. import __version__  # ours is imported before it is set

    name = type(estimator).__name__
    if BY_NAME.get(name) is not type(estimator):
        raise TypeError(
            f"labelens.save takes one of {', '.join(BY_NAME)}, got {type(estimator)!r}."
        )
    return {"format": container.FORMAT, "labelens": __version__, "method": name}


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


def _checked(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """The header with all of its fields, each of its type."""
    facts = fields(
        header,
        "its header",
        format=INTEGER,
        labelens=TEXT,
        method=TEXT,
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
    _method(facts)
    for name, low in (("n_features_in", 1), ("n_samples", 1), ("block", 1), ("training_rows", 0)):
        within(facts[name], low, 2**48, name)
    if facts["training_rows"] != _training_rows(arrays):
        raise ValueError("it does not say how many training rows it holds")
    return facts


def _method(facts: dict[str, Any]) -> type[Projection]:
    if facts["method"] not in BY_NAME:
        raise ValueError(f"there is no method {facts['method'][:60]!r}")
    return BY_NAME[facts["method"]]


def _built(facts: dict[str, Any], stored: dict[str, NDArray[Any]]) -> Projection:
    """The estimator, from a header whose fields have been checked."""
    method, d = BY_NAME[facts["method"]], facts["n_features_in"]
    arrays = Arrays(stored, d=d)
    estimator: Any = method(**take_parameters(facts["parameters"], method, arrays))
    labelled = facts["labels"] is not None
    check_parameters(estimator, labelled)
    moments, arrays.sizes["k"] = facts["moments"], estimator.n_components
    kernel = _kernel(estimator, facts["gamma"])
    phi = take_map(facts["map"], arrays, estimator, kernel)
    psi: Any = _known_labels(facts["labels"], arrays)
    if psi is not None and not agree(estimator.label_kernel, psi.kernel):
        raise ValueError(f"its labels are {psi.kernel!r}, not {estimator.label_kernel!r}")
    classes = _classes(facts, psi, arrays)
    scatter, sketch, spread = statistics(estimator, labelled)
    noise = None
    if (facts["label_map"] is None) != (not moments or psi is None):
        raise ValueError("its label_map is there without its moments, or they without it")
    if (facts["noise"] is None) != (not moments or not sketch):
        raise ValueError("its noise is there without its moments, or they without it")
    if moments and psi is not None:
        mix = None if estimator._spectral else estimator.label_map
        psi, width = take_label_map(facts["label_map"], arrays, psi, mix, estimator.label_gamma)
        if width is not None:
            arrays.sizes["q"] = width
    if moments and sketch:
        stream = within(facts["noise"], 0, 2**64, "its noise")
        noise = Unlabelled(int(estimator.n_components), stream)
    scaling = None
    if estimator.scale is not None and not scales_moments(estimator):
        scaling = take_scaling("scaling", arrays)
    estimator._recipe = recipe = Recipe(
        estimator.get_params(deep=False),
        estimator.n_components,
        estimator._spectral,
        psi,
        kernel,
        phi,
        scaling,
        noise,
        scatter,
        spread,
        facts["block"],
    )
    take = take_moments if moments else take_kept
    estimator.moments_ = take(recipe, facts["n_samples"], classes, arrays)
    estimator._solved = None
    if facts["solution"] is not None:
        estimator._solved = take_solution(facts["solution"], arrays, estimator, recipe)
    elif not moments:
        raise ValueError("it has neither a solution nor moments")
    estimator.n_features_in_ = d
    if facts["feature_names"]:
        estimator.feature_names_in_ = np.array(take_texts("feature_names", arrays, "d"), object)
    arrays.done()
    return estimator


def _kernel(estimator: Any, gamma: Any) -> Kernel | None:
    if (gamma is None) == estimator._kernelised:
        raise ValueError("it has a gamma without a kernel, or a kernel without a gamma")
    if gamma is None:
        return None
    if not isinstance(estimator.gamma, str) and gamma != estimator.gamma:
        raise ValueError(f"its gamma is {gamma!r}, and gamma={estimator.gamma!r}")
    return make_kernel(estimator.kernel, gamma, estimator.kernel_params)


def _known_labels(facts: Any, arrays: Arrays) -> KnownLabels | None:
    return None if facts is None else take_labels(facts, arrays, "labels.kernel")


def _classes(
    facts: dict[str, Any], labels: KnownLabels | None, arrays: Arrays
) -> tuple[Any, ...] | None:
    kinds = () if labels is None else labels.kinds
    if (facts["classes"] is None) == bool(kinds):
        raise ValueError("it has classes without labels, or labels without classes")
    if facts["classes"] is None:
        return None
    return take_classes(texts(facts["classes"], "the types of its classes"), kinds, arrays)
