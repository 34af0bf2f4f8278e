"""From moments to a solution that `transform` can use: which solver gets what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from .._base import devices
from .._base.rounding import lengths
from .._base.threads import cached_property
from .._core import dual, exact_kernel, solvers, spectrum
from .._core.labels import EncodedLabels, LabelMap, SimilarityLabels, class_code
from .._core.labels.vocabulary import label_order
from .._core.moments import Array, ClassSums, Moments
from .._core.scaling import Scaling
from .._core.screening import chosen_columns
from .._core.spectrum import Whitening
from . import settings
from .recipe import Recipe


@dataclass(frozen=True)
class Solved:
    """Components over the features of a map, and other values that `transform` needs."""

    solution: solvers.Solution
    mean: tuple[Array, Array]  # (p,) origin and offset of the features
    scaling: Scaling | None  # the scaling that was fused into the moments
    shrinkage: float
    label_length: float  # which no label, as a vector of features, exceeds

    @cached_property
    def projector(self) -> Array:
        """(p, k)"""
        projector = np.ascontiguousarray(self.solution.components.T)
        return projector if self.scaling is None else projector * self.scaling.factor[:, None]

    @cached_property
    def centre(self) -> tuple[Array, Array]:
        """(k,) the mean, projected."""
        return self.mean[0] @ self.projector, self.mean[1] @ self.projector

    @cached_property
    @np.errstate(over="ignore", invalid="ignore")  # looked at in the end
    def cancellation(self) -> float:
        """How many times larger than the embedding the mean that leaves it may be."""
        components, cross, scatter = (
            self.solution.components, self.solution.cross, self.solution.scatter
        )  # fmt: skip
        if scatter is not None:
            across = devices.like(components, scatter.comoment) @ scatter.comoment
            squares = np.einsum("ij,ij->i", devices.host(across), components)
            spread = np.sqrt(np.maximum(squares, 0) / scatter.weight)
        elif self.label_length == np.inf or cross is None:
            return np.inf
        else:
            # One-hot labels have a total variance below 1, so |C_xy^T u| is at most the std of
            # u.x; that of others is below the square of their length.
            spread = lengths(components @ cross.covariance) / (self.label_length or 1.0)
        if not np.isfinite(spread).all():
            return np.inf
        sizes = np.abs(self.mean[0]) @ np.abs(self.projector)
        return float(np.max(sizes / np.maximum(spread, 1e-300), where=sizes > 0, initial=0))


@dataclass(frozen=True)
class SolvedDual:
    """The same for the exact kernel, whose features are never written out."""

    solution: solvers.Solution
    coefficients: Any  # (n, k) of the training rows, where those are
    centre: Array  # (k,)
    shrinkage: float = 1.0
    rows: Any = None  # (m, d) landmarks, to which the coefficients belong; None: all rows


def sorted_classes(recipe: Recipe, moments: Any) -> tuple[Any, ...] | None:
    """The sorted classes so far; raises ValueError if there is only one."""
    if moments.classes is None:
        return None
    if len(moments.classes) <= recipe.label_columns:
        found, where = moments.classes[0], ""
        if recipe.label_columns > 1:
            found, where = tuple(label for _, label in moments.classes), " in each of its columns"
        raise NotFittedError(
            f"y has a single class{where}, {found!r} (1 class); at least two are required. "
            "Fit rows of another class, or pass y=None to look for variance."
        )
    return tuple(moments.classes[i] for i in label_order(list(moments.classes)))


def solve(recipe: Recipe, moments: Any, known: dict[Any, Any] | None = None) -> Solved | SolvedDual:
    """The solution for the moments as they are; NotFittedError while they cannot have one.

    `known` keeps what other recipes may need of the same moments (and scaling): by shrinkage, and
    the kernel matrix of exact kernels by the name "gram".
    """
    if moments.n_samples == 1:
        raise NotFittedError(
            "n_samples = 1: a projection needs at least two rows. Fit at least one more."
        )
    classes = sorted_classes(recipe, moments)
    # The one-hot columns of C_xy sum to zero, one sum for each column of classes.
    rank_limit = None if classes is None else len(classes) - recipe.label_columns
    if isinstance(moments, exact_kernel.KernelRows):
        return _solve_dual(recipe, moments, classes, rank_limit, known)
    return _solve_moments(recipe, moments, classes, rank_limit, {} if known is None else known)


def _solve_moments(
    recipe: Recipe,
    moments: Moments,
    classes: tuple[Any, ...] | None,
    rank_limit: int | None,
    known: dict[Any, Any],
) -> Solved:
    cross: Any = moments.cross
    # One-hot labels have length 1; of other features it is not known.
    label_length = 1.0 if recipe.label_columns else np.inf
    scatter: Any = moments.scatter
    sketch: Any = moments.sketch
    spread: Any = moments.spread
    factor = error = None  # combinations of the label features, and the error of rows of C_xy then
    if isinstance(cross, ClassSums):
        assert classes is not None and moments.classes is not None
        number = {label: i for i, label in enumerate(classes)}
        position = np.array([number[label] for label in moments.classes])
        moments = moments.numbered(position, classes)
        cross = moments.cross
        if isinstance(recipe.psi, SimilarityLabels):
            factor = recipe.psi.factor(classes)
            rank_limit = factor.shape[1]
            label_length = float(np.linalg.norm(factor, axis=1).max())
    # All rows where C_xx is kept, labelled or not; else the labelled ones.
    whole = (scatter if recipe.columns is None else None) or spread or cross
    mean = whole.mean
    scaling = None
    if recipe.parameters["scale"] is not None and recipe.scaling is None:
        scaling = Scaling.of(spread, recipe.parameters["scale"])
        cross, sketch, spread = (
            None if part is None else part.rescaled(scaling.factor)
            for part in (cross, sketch, spread)
        )
        if scatter is not None:
            known_columns = slice(None) if recipe.columns is None else recipe.columns
            scatter = scatter.rescaled(scaling.factor[known_columns])
    shrinkage = recipe.parameters["shrinkage"]
    if shrinkage == "auto":
        shrinkage = spectrum.ledoit_wolf(scatter)
    whole_cross, whole_scatter, which = cross, scatter, None
    nuisance: Any = None if moments.nuisance is None else moments.nuisance.cross
    if nuisance is not None and scaling is not None:
        nuisance = nuisance.rescaled(scaling.factor)
    if (most := recipe.parameters.get("n_nonzero")) is not None:
        which, kept = chosen_columns(cross, spread, most)
        if recipe.columns is not None:
            which = recipe.columns
        elif scatter is not None:
            scatter = scatter.only(which)
        cross, sketch, spread = (
            None if part is None else part.only(which) for part in (cross, sketch, spread)
        )
        if shrinkage == 1:  # below 1, B^-1 regularizes, and weights of shrunk means would mislead
            cross = cross.rescaled(kept)
        known = {}  # what is known is of all columns
        nuisance = None if nuisance is None else nuisance.only(which)
    left_out: Any = None
    if nuisance is not None:
        left_out, full = solvers.span(nuisance), cross
        if left_out.shape[1] == len(left_out):
            raise ValueError(
                f"The nuisance varies along all {len(left_out)} directions of the features, so "
                "none is left for components. Use a kernel method, which has more features, or a "
                "nuisance with fewer classes."
            )
        if cross is not None:
            error = solvers.blurred(cross)
        cross, scatter, sketch = (
            None if part is None else part.without(left_out) for part in (cross, scatter, sketch)
        )
    if shrinkage != 1 and shrinkage not in known:
        null = 0 if left_out is None else left_out.shape[1]
        known[shrinkage] = Whitening(scatter, shrinkage, null)
    white = known.get(shrinkage)
    target_weight, k = recipe.target_weight, recipe.n_components
    solver, mixing = recipe.solver, None
    if solver.random_labels and target_weight > 0:
        assert recipe.psi is not None
        width = len(cross.offset_right) if factor is None else factor.shape[1]
        mixing = _mixing(recipe.psi, classes, cross, width, k)
    if recipe.whitens_labels:
        one_hot = factor is None and isinstance(cross, ClassSums)
        covariance = _label_covariance(moments, factor)
        root, _ = solvers.label_whitening(covariance, recipe.parameters["label_shrinkage"], one_hot)
        factor = root if factor is None else factor @ root
        if np.isfinite(label_length):
            label_length *= float(np.linalg.norm(root, 2))
    one_hot_cross = cross
    if factor is not None:
        cross, error = solvers.through(cross, factor)
        if left_out is not None:
            _, error = solvers.through(full, factor)
        whole_cross, _ = solvers.through(whole_cross, factor)
    if not solver.random_labels:
        solution = solver.solve(cross, scatter, k, target_weight, white, rank_limit, error)
    else:
        trace = 0.0 if spread is None else float(spread.variance.sum())
        noise, blur = (None, None) if sketch is None else solvers.sketched(sketch, k)
        solution = solver.solve(
            cross, mixing, noise, trace, scatter, target_weight, white, rank_limit, error, blur
        )
    if recipe.within_classes and shrinkage != 1:
        variance = float(devices.host(scatter.variances).sum())
        a = (1 - shrinkage) * len(scatter.variances) / spectrum.or_one(variance)
        found = spectrum.scaled_within(solution.components, one_hot_cross, a)
        solution = replace(solution, components=found)
    if left_out is not None:  # once more, to the last digit
        found = solution.components
        found = found - found @ left_out @ left_out.T
        solution = replace(solution, components=found, cross=whole_cross, scatter=whole_scatter)
    if which is not None:
        components = np.zeros((k, len(mean[0])))
        components[:, which] = solution.components
        solution = replace(solution, components=components, cross=whole_cross, scatter=None)
    return Solved(solution, mean, scaling, shrinkage, label_length)


def _label_covariance(moments: Moments, factor: Array | None) -> Array:
    """C_yy, (q, q); of one column of classes it is diag(p) - p p^T, where p are their shares."""
    if moments.labels is not None:
        return moments.labels.covariance
    assert isinstance(moments.cross, ClassSums)
    share = moments.cross.offset_right
    settings.check_label_features(len(share))
    covariance = np.diag(share) - np.outer(share, share)
    return covariance if factor is None else factor.T @ covariance @ factor


def _solve_dual(
    recipe: Recipe,
    kept: exact_kernel.KernelRows,
    classes: tuple[Any, ...] | None,
    rank_limit: int | None,
    known: dict[Any, Any] | None,
) -> SolvedDual:
    assert recipe.kernel is not None
    place = devices.place_of(kept.rows) or kept.place
    psi, solver, k = recipe.psi, recipe.solver, recipe.n_components
    encoded, one_hot = _encoded_dual(recipe, kept, classes, place)
    if isinstance(psi, SimilarityLabels):
        rank_limit = encoded.shape[1]
    s, t = recipe.parameters["shrinkage"], recipe.target_weight
    size = root = error = None
    if recipe.whitens_labels:
        settings.check_label_features(encoded.shape[1])
        weight = kept.weight if kept.labelled is None else kept.weight[kept.labelled]
        covariance = dual.label_covariance(encoded, weight)
        root, size = solvers.label_whitening(
            covariance, recipe.parameters["label_shrinkage"], one_hot
        )
        # In comparable units already here, where what is small against the rest is left out.
        encoded = encoded / devices.like(size, encoded)
    trace, landmarks = 0.0, None
    with devices.products(place, recipe.dual_precision):
        if recipe.landmarks is not None:
            moment, landmarks = dual.by_landmarks(
                recipe.kernel, kept, encoded, s, rank_limit, recipe.landmarks, recipe.block
            )
        elif not recipe.scatter and (psi is None or recipe.noise is None):
            if psi is None:  # the features are the random vectors; C_xg has N^(-1/2), C_xy 1/N
                encoded = kept.noise * np.sqrt(kept.weight.sum())
            moment = dual.DualMoment.of(recipe.kernel, kept, encoded, rank_limit, recipe.block)
            s, t = 1.0, 1.0
        else:
            shared = {} if known is None else known
            there = dual.Labelled(recipe.kernel, kept, encoded, recipe.block, shared.get("gram"))
            shared["gram"], trace = there.gram, there.gram.trace
            if s == "auto":
                sums = there.ledoit_wolf_sums()
                weights = float(kept.weight.sum())
                s = spectrum.best_shrinkage(*sums, weights, len(there.gram))
            key = s, recipe.parameters["label_shrinkage"], t == 1
            if key not in shared:
                factored = there.by_factor(s, rank_limit) if t == 1 and s > 0 else None
                shared[key] = there.by_eigenvectors(s) if factored is None else factored
            moment = shared[key]
    cross: Any = None if psi is None and moment.scatter is not None else moment.cross
    mixing = None
    if solver.random_labels and t > 0:
        # Without labels the features are k random numbers a row already.
        width = moment.cross.comoment.shape[1]
        vectors = None if psi is None else _mixing(psi, classes, cross, width, k, known)
        mixing = np.eye(width, k) if vectors is None else vectors
    if root is not None and size is not None:
        cross, error = solvers.through(cross, size[:, None] * root)
    if not solver.random_labels:
        solution = solver.solve(cross, moment.scatter, k, t, moment.white, rank_limit, error)
    else:
        noise = None if moment.noise is None or t == 1 else moment.noise[:, :k]
        solution = solver.solve(
            cross, mixing, noise, trace, moment.scatter, t, moment.white, rank_limit, error
        )
    if recipe.within_classes:
        unit = np.ones(1) if size is None else size
        found = spectrum.scaled_within(solution.components, moment.cross, moment.a, unit)
        solution = replace(solution, components=found)
    if psi is None and moment.scatter is None:  # as for features: no C_xx to measure against
        solution = replace(solution, cross=None)
    coefficients = moment.lift @ devices.like(solution.components.T, moment.lift)
    return SolvedDual(solution, coefficients, solution.components @ moment.centre, s, landmarks)


def _encoded_dual(
    recipe: Recipe,
    kept: exact_kernel.KernelRows,
    classes: tuple[Any, ...] | None,
    place: devices.Place | None,
) -> tuple[Any, bool]:
    """Psi of the labelled rows, and whether it is one-hot; None if unsupervised."""
    if recipe.psi is None:
        return None, False
    codes = kept.codes
    if codes is not None and classes is not None:
        number = {label: i for i, label in enumerate(classes)}
        codes = np.array([number[label] for label in kept.classes or ()])[codes]
    labels = EncodedLabels(classes, codes, kept.features)
    if isinstance(recipe.psi, SimilarityLabels):
        return labels.dense() @ recipe.psi.factor(classes or ()), False
    return labels.dense_at(place), codes is not None


def _mixing(
    psi: LabelMap,
    classes: tuple[Any, ...] | None,
    cross: Any,
    width: int,
    k: int,
    known: dict[Any, Any] | None = None,
) -> Array:
    """R, (q, k) for q = `width`; vectors that are well apart depend on the class means."""
    if getattr(psi, "mix", None) == "spread" and k < width - 1:
        known = {} if known is None else known
        if ("spread", k) not in known:
            # Column j of C_xy is the share of class j times its mean's distance from the whole
            # mean.
            known["spread", k] = class_code((cross.covariance / cross.offset_right).T, k)
        return np.asarray(known["spread", k])
    return psi.mixing(classes, width, k)


def too_many_components(recipe: Recipe, moments: Any, rank: int) -> str:
    """The warning for components that carry no information."""
    k = recipe.n_components
    start = f"Only {rank} of the {k} components carry information: "
    if recipe.target_weight < 1:
        return start + f"the data has no more directions. Ask for n_components={max(rank, 1)}."
    cause = "rows and labels have no more directions in common"
    if rank == 0:
        cause = "the features do not vary with the labels"
    elif moments.classes is not None and rank == len(moments.classes) - recipe.label_columns:
        cause = f"{len(moments.classes)} classes span no more directions"
    way_out = "a target_weight below 1 adds directions of large variance"
    return (
        f"{start}{cause}. Ask for n_components={max(rank, 1)}, or, for more than the labels give, "
        f"{way_out}."
    )
