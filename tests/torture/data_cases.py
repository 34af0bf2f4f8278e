"""Adversarial data, each case with a declared outcome: the right result, or the named error.

What is right comes from the formulas, in long double: with G the features of the rows (the rows
themselves for the linear methods), C = G^T H Y / n and Z = H G U,

    SPCA, KSPCA    U the top singular vectors of C
    SRP, KSRP      Z Z^T = (H G C)(H G C)^T, for every seed, at k = classes - 1

and embeddings are compared by Z Z^T, which no sign and no rotation changes.
"""

from __future__ import annotations

import re
import warnings

import numpy as np
from sklearn.base import clone

from torture.adversarial import CASES
from torture.case import ESTIMATORS, KERNEL


def truth(name, model, case):
    """The embedding by the formulas, in long double, but for the rotation."""
    rows = np.asarray(case.X if case.plain is None else case.plain).astype(np.longdouble)
    codes = np.unique(np.asarray(case.y if case.codes is None else case.codes), return_inverse=True)
    weight = np.ones(len(rows)) if case.weight is None else np.asarray(case.weight)
    weight = weight.astype(np.longdouble) / weight.astype(np.longdouble).sum()
    size = np.abs(rows).max() or 1
    if (
        name == "KSRP" and model._recipe.phi is None
    ):  # G G^T = K; U = G^T H W Y, so Z Z^T needs K alone
        kernel = model._recipe.kernel
        squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
        K = np.exp(-np.longdouble(kernel.gamma) * squares)
        onehot = np.eye(len(codes[0]), dtype=np.longdouble)[codes[1]]
        Z = K @ (weight[:, None] * (onehot - weight @ onehot))
        return Z - weight @ Z
    if name in KERNEL:
        angles = rows @ model._recipe.phi.frequencies.astype(np.longdouble)
        rows = np.hstack([np.cos(angles), np.sin(angles)]) * np.sqrt(2 / np.longdouble(40))
        size = np.longdouble(1)
    centred = (rows - weight @ rows) / size
    sums = np.zeros((len(codes[0]), rows.shape[1]), dtype=np.longdouble)
    np.add.at(sums, codes[1], weight[:, None] * centred)
    if (scale := np.abs(sums).max()) < 1e-17:  # what long double rounds by
        return np.zeros((len(rows), case.k))
    if name in ("SRP", "KSRP"):
        if case.k < len(sums) - 1:  # the vectors that were drawn for the classes
            classes = tuple(codes[0].tolist())
            sums = model._recipe.psi.mixing(classes, len(classes), case.k).T @ sums
        return centred @ sums.T * size**2
    vectors, values, _ = np.linalg.svd((sums / scale).astype(float).T, full_matrices=False)
    vectors = vectors[:, : case.k] * (values[: case.k] > 1e-10 * values[0])
    return centred @ vectors * size


def gram(Z, size):
    Z = np.asarray(Z, np.longdouble) / size
    return Z @ Z.T


def different(found, wanted):
    """How far Z Z^T are apart, of the larger of both; for many rows Z^T Z says the same."""
    with np.errstate(under="ignore"):
        if not wanted.astype(found.dtype).any():  # nothing, or too little to be a number
            return float(np.abs(found).max())
    size = max(np.abs(found).max(), np.abs(wanted).max())
    if len(found) > 3000:
        return float(np.abs(gram(found.T, size) - gram(wanted.T, size)).max() / len(found))
    return float(np.abs(gram(found, size) - gram(wanted, size)).max())


def fault(name, case):
    """What is not as declared; nothing if all is."""
    model = clone(ESTIMATORS[name]).set_params(n_components=case.k)
    model.set_params(**{k: v for k, v in case.changes.items() if k in model.get_params()})
    declared = None if case.error is None else case.error[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(case.X, case.y, sample_weight=case.weight)
            Z = model.transform(case.X if case.then is None else case.then)
        except Exception as error:
            return _refusal(error, declared)
    said = [str(w.message) for w in caught]
    if declared:
        return f"not refused; {declared[1]!r} was declared"
    if [w for w in said if not (case.says and case.says in w)] or (case.says and not said):
        return f"warnings {said}, declared {case.says!r}"
    if not np.isfinite(Z).all():
        return "numbers that are not finite"
    apart = different(Z, truth(name, model, case))
    return f"off by {apart:.1e}" if not apart <= case.tolerance else None


def _refusal(error, declared):
    if declared is None:
        return f"refused: {type(error).__name__}: {error}"
    kind, words = declared
    if not isinstance(error, kind) or not re.search(words, str(error), re.DOTALL):
        return f"{type(error).__name__}: {error}, declared {words!r}"
    return None


def run(tally):
    for label, case in CASES.items():
        made = case() if callable(case) else case
        for name in made.only:
            tally.attempt(f"{label}, {name}", fault, name, made)
