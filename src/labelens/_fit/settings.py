"""Parameters that are out of range, and pairs of parameters that mean nothing together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import signature
from numbers import Number
from pickle import PicklingError
from typing import Any, TypeVar

import joblib
import numpy as np
from scipy import sparse

from .._base import devices
from .._base.validation import OUTPUT, check_number
from .._core.kernels import Kernel, make_kernel
from .._core.labels import SimilarityLabels
from .._core.maps import APPROXIMATIONS
from .._core.scaling import SCALES
from .._core.solvers import Solver
from ..label_kernels.base import LabelKernel

PRECISIONS = (None, "tf32")
Item = TypeVar("Item")
MOST_LABEL_FEATURES = 10_000
# Bytes of C_xx in memory at a time.
COPIES = 4
ROWS_KEPT = ("falkon", "exact")  # approximations that keep training rows
COMPONENT_SCALES = ("total", "within")
LABEL_MAPS = ("orthogonal", "spread", "gaussian", "fourier")


@cache
def names(method: Any) -> tuple[str, ...]:
    """The parameters of a class, in the order of its signature.

    scikit-learn looks at the signature each time, which takes longer than a small fit.
    """
    return tuple(sorted(method._get_param_names(), key=list(signature(method).parameters).index))


def values(estimator: Any) -> dict[str, Any]:
    """`get_params(deep=False)`, in the order of the signature; factors of columns as a tuple."""
    found = {name: getattr(estimator, name) for name in names(estimator.__class__)}
    if isinstance(found.get("scale"), (list, np.ndarray)):
        found["scale"] = tuple(np.asarray(found["scale"]).tolist())
    return found


def is_kernel_method(method: Any) -> bool:
    """Whether rows go through a feature map; of an estimator or its class."""
    return bool(method._kernelised)


def solver_of(method: Any) -> Solver:
    return method._solver


def altered(estimator: Any, **changes: Any) -> Any:
    """The same estimator, not fitted, with other values; as `set_output` has configured it.

    Values are shared and not copied, as `clone` would: a RandomState goes on where it was.
    """
    made = type(estimator)(**values(estimator) | changes)
    if OUTPUT in vars(estimator):
        vars(made)[OUTPUT] = dict(vars(estimator)[OUTPUT])
    return made


def check(estimator: Any) -> None:
    """Checks that need no data. Parameters are checked, never changed."""
    if isinstance(estimator.n_components, str):
        _one_of(estimator.n_components, "n_components", ("auto",), "an integer >= 1")
    else:
        check_number(estimator.n_components, "n_components", 1, integer=True)
    check_number(estimator.target_weight, "target_weight", 0, 1)
    if isinstance(estimator.shrinkage, str):
        _one_of(estimator.shrinkage, "shrinkage", ("auto",), "a number from 0 to 1")
    else:
        check_number(estimator.shrinkage, "shrinkage", 0, 1)
    check_number(estimator.label_shrinkage, "label_shrinkage", 0, 1)
    if hasattr(estimator, "component_scale"):
        _one_of(estimator.component_scale, "component_scale", COMPONENT_SCALES)
    if getattr(estimator, "n_nonzero", None) is not None:
        check_number(estimator.n_nonzero, "n_nonzero", 1, integer=True)
        if estimator.shrinkage == "auto":
            raise ValueError(
                "shrinkage='auto' is estimated from all columns, and n_nonzero chooses some. Give "
                "shrinkage a number, or use n_nonzero=None."
            )
    _check_scale(estimator.scale)
    if estimator.batch_size is not None:
        check_number(estimator.batch_size, "batch_size", 1, integer=True)
    _one_of(estimator.precision, "precision", PRECISIONS)
    if estimator.label_gamma is not None:
        check_number(estimator.label_gamma, "label_gamma", 0, open_low=True)
    if estimator._solver.random_labels:
        _one_of(estimator.label_map, "label_map", LABEL_MAPS)
    _check_class_weight(estimator.class_weight)
    if estimator.shrinkage == 0 and estimator.target_weight == 0:
        raise ValueError(
            "target_weight=0 looks for variance and shrinkage=0 makes it the same in every "
            "direction, so there is nothing to find; use shrinkage=1 (PCA) or target_weight=1 "
            "(LDA, with label_shrinkage=0)."
        )
    if estimator._kernelised:
        check_kernel(
            estimator.kernel,
            estimator.gamma,
            estimator.kernel_params,
            estimator.approximation,
            estimator.n_random_features,
        )
        if has_falkon(estimator):
            _check_falkon(estimator)


def _check_scale(scale: Any) -> None:
    if not isinstance(scale, (tuple, list, np.ndarray)):
        return _one_of(scale, "scale", SCALES, "a factor for each column")
    factors = np.asarray(scale)
    numbers = factors.ndim == 1 and factors.dtype.kind in "iuf"
    if not (numbers and ((factors > 0) & np.isfinite(factors)).all()):
        raise ValueError(
            "scale must be one finite number above 0 for each column, or "
            f"{', '.join(map(repr, SCALES))}; got {scale!r}."
        )


def _check_falkon(estimator: Any) -> None:
    for name in ("target_weight", "shrinkage"):
        value = getattr(estimator, name)
        if value == "auto" or value == 0 or (name == "target_weight" and value < 1):
            allowed = "1" if name == "target_weight" else "a number above 0, such as 0.001"
            raise ValueError(
                f"{name}={value!r} needs the covariance of the features, which "
                f"approximation='falkon' does not compute. Use {name} = {allowed}, or "
                "approximation='nystroem'."
            )


def check_kernel(
    kernel: Any, gamma: Any, kernel_params: Any, approximation: Any, n_random_features: Any
) -> None:
    check_number(n_random_features, "n_random_features", 1, integer=True)
    made = make_kernel(kernel, gamma, kernel_params)
    if isinstance(approximation, str):
        _one_of(approximation, "approximation", APPROXIMATIONS, "a scikit-learn transformer")
        if callable(made.name) and approximation not in ROWS_KEPT:
            raise ValueError(
                f"A callable kernel has no features to draw (approximation={approximation!r}); "
                "use approximation='exact', or a transformer that makes the features."
            )
    elif not hasattr(approximation, "fit") or not hasattr(approximation, "transform"):
        raise TypeError(
            f"approximation must be one of {', '.join(map(repr, APPROXIMATIONS))} or a "
            f"scikit-learn transformer, got {approximation!r}."
        )


def _check_class_weight(class_weight: Any) -> None:
    if isinstance(class_weight, Mapping):
        for label, factor in class_weight.items():
            check_number(factor, f"class_weight[{label!r}]", 0)
    else:
        _one_of(class_weight, "class_weight", (None, "balanced"), "a dict of classes and weights")


def check_streams(estimator: Any) -> None:
    if isinstance(estimator.class_weight, str) and estimator.class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs the number of rows in every class, which partial_fit "
            "cannot know before the last batch. Pass a dict of weights, for example from "
            "sklearn.utils.class_weight.compute_class_weight on a part of y."
        )


def check_unchanged(estimator: Any, before: Mapping[str, Any]) -> None:
    """Raise ValueError if parameters changed after the first batch."""
    for name, value in values(estimator).items():
        old = before[name]
        if not same(value, old) and name not in ("batch_size", "precision"):
            raise ValueError(
                f"{name} was {old!r} at the first batch and is {value!r} now; call fit, or restore "
                "the first value."
            )


def same(value: Any, old: Any) -> bool:
    """By value where it has one: after a trip through a file nothing is the object it was."""
    if value is old or not isinstance(value, (str, Number, dict, tuple, LabelKernel)):
        return value is old
    return bool(value == old or (value != value and old != old))  # NaN does not equal itself


def keeps_rows(estimator: Any) -> bool:
    """Whether training rows take the place of moments."""
    return (
        estimator._kernelised
        and isinstance(estimator.approximation, str)
        and estimator.approximation in ROWS_KEPT
    )


def has_falkon(estimator: Any) -> bool:
    return keeps_rows(estimator) and estimator.approximation == "falkon"


def check_some_labels(estimator: Any, labels: Any) -> None:
    if labels is not None and labels.shape[0] == 0:
        raise ValueError(
            f"y has no labels: every value is missing_label={estimator.missing_label!r}. Start "
            "with rows that have labels, or pass y=None."
        )


def check_has_classes(estimator: Any, labels: Any) -> None:
    if labels is None:
        raise ValueError(
            f"class_weight={estimator.class_weight!r} weighs classes, and there is no y; use "
            "class_weight=None."
        )


def check_against_labels(estimator: Any, labelled: bool) -> None:
    if has_falkon(estimator) and not labelled:
        raise ValueError(
            "approximation='falkon' needs labels, and y is None. Use approximation='nystroem', or "
            "pass labels."
        )
    if getattr(estimator, "n_nonzero", None) is not None and (
        not labelled or estimator.target_weight == 0
    ):
        raise ValueError(
            f"n_nonzero={estimator.n_nonzero} chooses columns by their dependence on labels, and "
            f"{'target_weight is 0' if labelled else 'y is None'}. Use n_nonzero=None, or pass "
            "labels and a target_weight above 0."
        )
    if not labelled and estimator.shrinkage == 0:
        raise ValueError(
            "y=None looks for variance and shrinkage=0 makes it the same in every direction, so "
            "there is nothing to find; use shrinkage=1 (PCA), or pass labels."
        )


def check_one_column_of_classes(estimator: Any, psi: Any) -> None:
    if getattr(estimator, "component_scale", None) != "within" or (
        len(getattr(psi, "kinds", ())) == 1 and not isinstance(psi, SimilarityLabels)
    ):
        return
    raise ValueError(
        "component_scale='within' needs one column of classes (label_kernel='delta'). Use "
        "component_scale='total' for other labels and for y=None."
    )


def check_label_features(q: int) -> None:
    """Whitening takes the (q, q) covariance of the labels apart, in minutes for this many."""
    if q > MOST_LABEL_FEATURES:
        raise ValueError(
            f"label_shrinkage below 1 whitens {MOST_LABEL_FEATURES} label features (or classes) at "
            f"most, and there are {q} label features. Use label_shrinkage=1."
        )


def check_against_rows(estimator: Any, rows: Any, kernel: Kernel | None) -> None:
    """Raise ValueError if a sparse X would need a shift: only some kernels do without one."""
    if not sparse.issparse(rows) or not estimator._kernelised:
        return
    if kernel is None or not kernel.blind_to_shift:
        what = "this transformer" if kernel is None else f"kernel={kernel.name!r}"
        raise ValueError(
            f"scale={estimator.scale!r} with {what} would make a sparse X dense; use scale=None "
            "and scikit-learn's MaxAbsScaler."
        )


def check_room(estimator: Any, p: int, rows: Any) -> None:
    """Whether C_xx and what is made of it fit into the memory where the rows are."""
    place = devices.place_of(rows) if devices.on_device(rows) else None
    size = COPIES * 8 * p * p
    if size <= devices.free_bytes(place):
        return
    cause = "y=None"
    for name in ("target_weight", "shrinkage"):
        if (value := getattr(estimator, name)) != 1:
            cause = f"{name}={value!r}"
    raise devices.no_room(
        size,
        place,
        f"{cause} needs the {p} x {p} covariance of the features and its factor",
        "Use shrinkage=1 with the random methods, which need no such matrix, or reduce the number "
        "of features first.",
    )


def _one_of(value: Any, name: str, allowed: tuple[Any, ...], otherwise: str = "") -> None:
    if not (value is None or isinstance(value, str)) or value not in allowed:
        choices = ", ".join(map(repr, allowed)) + (f" or {otherwise}" if otherwise else "")
        raise ValueError(f"{name} must be one of {choices}, got {value!r}.")


def grouped(items: Iterable[Item], key: Callable[[Item], list[Any]]) -> list[list[Item]]:
    """Items with equal keys together, in the order of the first of them."""
    groups: dict[tuple[Any, ...], list[Item]] = {}
    for item in items:
        groups.setdefault(tuple(map(_identity, key(item))), []).append(item)
    return list(groups.values())


def _identity(value: Any) -> Any:
    """Equal for equal values; what cannot be pickled, as lambdas cannot, equals itself only."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    try:
        return joblib.hash(value)
    except (PicklingError, TypeError):
        return id(value)
