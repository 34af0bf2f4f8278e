"""What it takes for two models to be the same, however well the problem is posed.

Moments are sums, so they agree to rounding, and to what rounding does to the features of a kernel.
Components are as well posed as the gap behind the last of them is wide: the tolerance of embeddings
grows with its inverse, and where the gap is rounding there is nothing to compare.
"""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
from scipy import sparse

from labelens._base import devices
from labelens._core.screening import chosen_columns
from labelens._fit.batch import read_batch
from labelens._fit.solution import solve
from oracles import gram

MOST = 1e-6  # where the tolerance is larger, the problem is posed too badly to compare


def assert_same_model(found, wanted, case, tolerance):
    """A tolerance of 0 means the same bits."""
    assert_same_choices(found, wanted, case)
    error = 0.0 if tolerance == 0 else feature_error(wanted, case)
    # Classes in another order are added up in another order; the solver sorts them.
    assert_same_moments(found, wanted, max(tolerance, 1e-15), error, case)
    Z, other = np.asarray(devices.host(found.transform(case.dense))), wanted.transform(case.dense)
    if tolerance == 0:
        np.testing.assert_array_equal(Z, other)
    else:
        if error:
            tolerance += error / max(np.abs(wanted._recipe.features(case.dense)).max(), 1e-300)
        compare_embeddings(Z, other, tolerance * condition_of(wanted, case.dense))


def assert_same_choices(found, wanted, case):
    assert found.n_samples_seen_ == wanted.n_samples_seen_
    assert repr(found.label_kernel_) == repr(wanted.label_kernel_)
    assert found.n_components_ == wanted.n_components_
    np.testing.assert_allclose(
        getattr(found, "gamma_", 0.0), getattr(wanted, "gamma_", 0.0), rtol=rounding_of_gamma(case)
    )
    assert hasattr(found, "classes_") == hasattr(wanted, "classes_")
    if hasattr(wanted, "classes_"):
        assert plain(found.classes_) == plain(wanted.classes_)


def assert_nothing_is_left(found, wanted, case):
    """What a fit leaves behind says nothing of fits before it; set_output stays."""
    changed = {"feature_names_in_", "_place", "_sklearn_output_config"}
    assert set(vars(found)) - changed == set(vars(wanted)) - changed
    assert found.n_features_in_ == wanted.n_features_in_
    config = getattr(found, "_sklearn_output_config", {})
    assert config.get("transform") == case.output
    names = list(getattr(found, "feature_names_in_", ()))
    assert not any(name.startswith("before") for name in names), names


def plain(classes):
    """Labels as Python has them: a file has other types for the same dates."""
    if isinstance(classes, list):
        return [plain(c) for c in classes]
    return [instant(label) for label in classes.tolist()]


def instant(label):
    dates = (datetime.date, np.datetime64)
    return np.datetime64(label, "ns") if isinstance(label, dates) else label


def assert_same_moments(found, wanted, tolerance, error, case):
    """`error`: see `feature_error`.

    C_xy is a mean of products of features and labels about their mean, C_xx one of two features:
    the error counts once, and twice.
    """
    mine, other = found.moments_, wanted.moments_
    if not hasattr(other, "cross"):
        return  # the exact kernel keeps rows
    if other.cross is not None:
        covariance = mine.cross.covariance
        if other.classes is not None and hasattr(other.cross, "numbered"):
            number = {instant(label): i for i, label in enumerate(mine.classes)}
            covariance = covariance[:, [number[instant(label)] for label in other.classes]]
        size = max(cancelled(other.cross), rounding(other.cross))
        slack = error * label_range(wanted, case) if error else 0.0
        compare(covariance, other.cross.covariance, tolerance, "C_xy", size, slack)
    if other.scatter is not None:
        mine, other = mine.scatter, other.scatter
        deviation = np.sqrt(max(devices.host(other.covariance).diagonal().max(), 0))
        compare(
            devices.host(mine.covariance),
            devices.host(other.covariance),
            tolerance,
            "C_xx",
            rounding(other),
            error * (2 * deviation + error),
        )


def feature_error(model, case):
    """By how much the features of a kernel differ where rows are multiplied in other blocks.

    BLAS adds up products in an order that depends on how many rows there are, and gamma is as good
    as the sums that it is made of. So, to first order and with eps of the dtype of rows:

    angles     w.x is off by eps sum_j |w_j x_j|, and its cosine and sine by as much.
    landmarks  k(a, b) = exp(-gamma |a|^2 - gamma |b|^2 + 2 gamma a.b) is off by eps (1 + 4 e),
               where e is the largest gamma |a|^2. Features are L^-1 k with L L^T = K: an error dK
               of K turns them by L^-1 dK L^-T, so that the error grows by |L^-1|^2.
    """
    phi, eps = model._recipe.phi, np.finfo(np.float32 if case.single else np.float64).eps
    if not hasattr(model, "gamma_") or phi is None:
        return 0.0
    rows = np.asarray(model._recipe.scaled(case.dense), dtype=np.float64)
    if hasattr(phi, "whitening"):
        rows = rows - (rows[0] if phi.origin is None else phi.origin)
        exponent = model.gamma_ * np.square(rows).sum(axis=1).max()
        error = (
            np.finfo(np.float64).eps * (1 + 4 * exponent) * np.linalg.norm(phi.whitening, 2) ** 2
        )
        return max(float(error), float(eps))  # which features are rounded to
    angle = np.abs(rows).sum(axis=1).max() * np.abs(phi.frequencies).max()
    if sparse.issparse(case.X) and isinstance(case.model.gamma, str):
        eps = max(eps, rounding_of_gamma(case))
    return float(eps * (1 + angle) * np.sqrt(2 / phi.n_features))


def label_range(model, case):
    """By how much encoded labels differ."""
    batch = read_batch(model, case.X, case.y, case.weight, first=False, last=True)
    return float(np.ptp(model._recipe.encode(batch).dense(), axis=0).max())


def rounding(moment):
    """The size of features that do not vary: what is left of them is rounding, by any route."""
    size = float(np.abs(np.add(*moment.mean)).max())
    return size if np.abs(moment.covariance).max(initial=0) < 1e-15 * size else 0.0


def cancelled(cross):
    """The size of what cancels in C_xy, of which rounding is a part."""
    return float(np.linalg.norm(cross.offset_left) * np.linalg.norm(cross.offset_right))


def compare(found, wanted, tolerance, what, size=0.0, slack=0.0):
    assert found.shape == wanted.shape, f"{what}: shapes {found.shape} and {wanted.shape}"
    size = max(np.abs(wanted).max(initial=0), size, 1e-300)
    apart, tolerance = np.abs(found - wanted).max(initial=0) / size, tolerance + slack / size
    assert apart <= tolerance, f"{what}: apart by {apart:.1e}, not {tolerance:.0e}"


def compare_embeddings(Z, wanted, tolerance):
    """By inner products of rows, which no sign and no rotation changes."""
    if tolerance < MOST:
        # The outermost rows too: where few rows differ from the others, the rest is rounding.
        outermost = np.abs(wanted - wanted.mean(axis=0)).argmax(axis=0)
        some = np.append(np.arange(0, len(Z), max(1, len(Z) // 200)), outermost)
        compare(gram(Z[some]), gram(wanted[some]), tolerance, "embedding")


def rounding_of_gamma(case):
    """Of a rule. Sparse rows are scaled without a shift, and rounded at their size."""
    if not sparse.issparse(case.X) or not isinstance(getattr(case.model, "gamma", 1), str):
        return 1e-12
    return max(1e-12, 4 * np.finfo(float).eps * distance_from_zero(case.dense))


def distance_from_zero(X):
    """How much larger the numbers of a column are than their range, at most."""
    spread, largest = np.ptp(X, axis=0), np.abs(X).max(axis=0)
    return float(np.max(largest[spread > 0] / spread[spread > 0], initial=0))


def stretch_of(model, solution):
    """How much longer than the shortest the longest component is for its scatter within classes."""
    whole = solve(
        replace(model._recipe, parameters=model._recipe.parameters | {"component_scale": "total"}),
        model.moments_,
    ).solution
    lengths = [np.linalg.norm(s.components[: s.rank], axis=1) for s in (solution, whole)]
    m = min(map(len, lengths))
    return float(np.square(lengths[0][:m] / lengths[1][:m]).max(initial=1.0))


def condition_of(model, X):
    """How many times rounding errors grow on their way to the embedding of X."""
    k, moments = model.n_components_, model.moments_
    random = hasattr(model, "label_map")
    recipe = model._recipe if random else replace(model._recipe, n_components=k + 1)
    wider = solve(recipe, moments).solution
    scatter, cross = wider.scatter, wider.cross
    condition = 1.0
    if model._recipe.phi is None:
        # The exponents of the kernel are differences of gamma |a|^2; where they are small, the
        # kernel is 1 less a little.
        rows = moments.rows
        dense = (rows.toarray() if sparse.issparse(rows) else devices.host(rows)).astype(float)
        exponent = model.gamma_ * float(np.square(dense - dense[0]).sum(axis=1).max())
        condition = max(exponent, 1 / exponent) if exponent > 0 else np.inf
        if random and cross is not None and len(cross.covariance):
            # Its rows have the lengths sigma, from C_xy^T C_xy. Eigenvectors of the least of them
            # turn by eps sigma_1^2 / sigma_r^2, and have the share sigma_r / sigma_1 of Z.
            sigma = np.linalg.norm(cross.covariance, axis=1)
            least = sigma[sigma > 0].min(initial=np.inf)
            condition = max(condition, np.finfo(float).eps * sigma.max() / least / 1e-12)
    elif hasattr(model, "gamma_"):  # features of which little is left once they are centred
        features = model._recipe.features(X)
        deviation = float(np.sqrt(features.var(axis=0).sum()))
        condition = max(1.0, float(np.abs(features).max()) / max(deviation, 1e-300))
        if model.scale is not None:
            # Scaling subtracts a number of 53 bits from every column; the phases of random features
            # are off by its rounding, in units of the spread.
            shift = distance_from_zero(X) * X.shape[1]
            condition = max(condition, np.finfo(float).eps * shift / 1e-10)
    if isinstance(model.scale, tuple):  # no shift: products are rounded at the size of rows
        shift = distance_from_zero(X) * X.shape[1]
        condition = max(condition, np.finfo(float).eps * shift / 1e-10)
    if cross is not None:
        size = np.linalg.norm(cross.covariance)
        condition *= max(1.0, cancelled(cross) / size) if size > 0 else np.inf
    if model.shrinkage_ != 1:
        scatter = moments.scatter if scatter is None else scatter  # of some columns only
        values = np.linalg.eigvalsh(devices.host(scatter.covariance))
        floor = model.shrinkage_ * values.mean()
        condition *= ((1 - model.shrinkage_) * values[-1] + floor) / max(floor, 1e-300)
    if (most := getattr(model, "n_nonzero", None)) is not None and model.shrinkage_ == 1:
        # The weight 1 - r' / r of a column has the rounding of 1.
        weights = chosen_columns(moments.cross, moments.spread, most)[1]
        condition /= max(weights.max(), 1e-300)
    if model.label_shrinkage < 1 and cross is not None:
        condition *= 1e2  # shares of classes are above 1e-2
        if model.label_shrinkage == 0 and model.label_kernel_ not in ("delta", "linear"):
            return np.inf  # features of labels whose variance falls off to nothing
    if random:
        return condition
    if getattr(model, "component_scale", "total") == "within" and wider.rank:
        condition *= stretch_of(model, wider)
    values = wider.singular_values**2
    gaps = values[:k] - values[1:]
    rank = min(k, wider.rank)
    if rank == 0 or gaps[rank - 1] <= 0:
        return np.inf
    return condition * values[0] / gaps[rank - 1]
