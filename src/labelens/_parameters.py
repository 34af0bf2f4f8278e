"""Parameters that are out of range, and pairs of parameters that mean nothing together."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from ._validation import check_number
from .kernels import Kernel, make_kernel
from .maps import APPROXIMATIONS
from .scaling import SCALES

LABEL_MAPS = ("orthogonal", "gaussian", "fourier")


def check(estimator: Any) -> None:
    """Everything that can be told without data. Parameters are checked, never changed."""
    check_number(estimator.n_components, "n_components", 1, integer=True)
    check_number(estimator.target_weight, "target_weight", 0, 1)
    if isinstance(estimator.shrinkage, str):
        _one_of(estimator.shrinkage, "shrinkage", ("auto",), "a number from 0 to 1")
    else:
        check_number(estimator.shrinkage, "shrinkage", 0, 1)
    _one_of(estimator.scale, "scale", SCALES)
    if estimator.batch_size is not None:
        check_number(estimator.batch_size, "batch_size", 1, integer=True)
    if estimator.label_gamma is not None:
        check_number(estimator.label_gamma, "label_gamma", 0, open_low=True)
    if estimator.label_map is not None:
        _one_of(estimator.label_map, "label_map", LABEL_MAPS)
    if estimator.approximation is None:
        return
    check_number(estimator.n_random_features, "n_random_features", 1, integer=True)
    kernel = make_kernel(estimator.kernel, estimator.gamma, estimator.kernel_params)
    if isinstance(estimator.approximation, str):
        _one_of(
            estimator.approximation, "approximation", APPROXIMATIONS, "a scikit-learn transformer"
        )
    _check_exact(estimator, kernel)


def _check_exact(estimator: Any, kernel: Kernel) -> None:
    approximation = estimator.approximation
    if not (isinstance(approximation, str) and approximation == "exact"):
        if callable(kernel.name) and isinstance(approximation, str):
            raise ValueError(
                f"A callable kernel has no features to draw (approximation={approximation!r}); "
                "use approximation='exact', or a transformer that makes the features."
            )
        return
    for name in ("shrinkage", "target_weight"):
        if (value := getattr(estimator, name)) != 1:
            raise ValueError(
                f"{name}={value!r} needs the covariance of the features, and "
                "approximation='exact' has no features to take it of (it would be n x n); use "
                f"approximation='nystroem' or 'orthogonal', or {name}=1."
            )


def check_some_labels(estimator: Any, labels: Any) -> None:
    if labels is not None and labels.shape[0] == 0:
        raise ValueError(
            f"Every label of the first batch is missing_label={estimator.missing_label!r}; start "
            "with a batch that has some labels, or pass y=None."
        )


def check_against_labels(estimator: Any, labelled: bool) -> None:
    exact = isinstance(estimator.approximation, str) and estimator.approximation == "exact"
    if exact and not labelled and estimator._spectral:
        raise ValueError(
            "y=None is kernel PCA, which approximation='exact' cannot do without an n x n matrix; "
            "use approximation='nystroem' or 'orthogonal', or scikit-learn's KernelPCA."
        )


def check_against_rows(estimator: Any, rows: Any, kernel: Kernel | None) -> None:
    """A sparse X is scaled without a shift, which only shift-invariant kernels cannot tell."""
    if not sparse.issparse(rows) or kernel is None:
        return
    transformer = not isinstance(estimator.approximation, str)
    if transformer or not (kernel.shift_invariant or kernel.name == "linear"):
        what = "this transformer" if transformer else f"kernel={kernel.name!r}"
        raise ValueError(
            f"scale={estimator.scale!r} with {what} would make a sparse X dense; use scale=None "
            "and scikit-learn's MaxAbsScaler."
        )


def too_wide(estimator: Any, p: int) -> str:
    cause = (
        "y=None"
        if estimator.shrinkage == 1 and estimator.target_weight == 1
        else (
            f"shrinkage={estimator.shrinkage!r}"
            if estimator.shrinkage != 1
            else f"target_weight={estimator.target_weight!r}"
        )
    )
    return (
        f"{cause} needs the {p} x {p} covariance of the features ({8 * p * p / 2**30:.1f} GiB). "
        "Use shrinkage=1 with the random methods, which need no such matrix, or reduce the number "
        "of features first."
    )


def _one_of(value: Any, name: str, allowed: tuple[Any, ...], otherwise: str = "") -> None:
    if value not in allowed:
        choices = ", ".join(map(repr, allowed)) + (f" or {otherwise}" if otherwise else "")
        raise ValueError(f"{name} must be one of {choices}, got {value!r}.")
