"""A recipe: what is done to every block of rows, and `summarize`, which does it.

A recipe is drawn once, from the parameters and the first batch; then it is frozen, and the same
recipe on any block of any data set gives moments that can be merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base import devices
from .._base.rounding import EPS
from .._base.scratch import Empty
from .._base.threads import in_order
from .._base.validation import check_seed, refuse_non_finite
from .._base.warn import warn_user
from .._core.kernels import Kernel, make_kernel, settle_gamma
from .._core.labels import EncodedLabels, LabelMap, Unlabelled, make_label_map
from .._core.maps import FeatureMap, Identity, make_feature_map
from .._core.moments import (
    BLOCK_ROWS,
    Array,
    Scatter,
    Spread,
)
from .._core.moments.fold import spread_on_device
from .._core.scaling import Scaling
from .._core.screening import chosen_columns
from .._core.solvers import Solver
from . import settings
from .batch import Batch

# Columns up to which `n_nonzero` chooses some of a C_xx of all, so that one pass is enough.
WIDEST_SCREENED = 2048
BY_DISTANCES = ("nystroem", "falkon", "exact")
LOST = 1e-6  # error of kernel values
# Parameters that models have to share to be merged.
COMPARED = (
    "target_weight",
    "shrinkage",
    "label_shrinkage",
    "component_scale",
    "scale",
    "n_nonzero",
)


@dataclass(frozen=True)
class Recipe:
    parameters: Mapping[str, Any]  # as they were at the first batch
    n_components: int  # a number also where the parameter says "auto"
    solver: Solver
    psi: LabelMap | None  # None: no labels, L = I
    kernel: Kernel | None  # None: linear method, or a transformer
    phi: FeatureMap | None  # None: the exact kernel, which has no features
    scaling: Scaling | None  # applied to rows before phi; None where it is fused into the moments
    noise: Unlabelled | None  # the sketch of C_xx
    scatter: bool
    spread: bool
    label_scatter: bool
    block: int  # rows
    landmarks: tuple[int, int] | None = None  # of approximation="falkon": their number and a seed
    columns: NDArray[np.intp] | None = None  # those of C_xx, where it is of some columns only
    nuisance: LabelMap | None = None  # psi of what components are to be uncorrelated with

    @property
    def target_weight(self) -> float:
        """The target weight; 0 without labels, because only the variance is left."""
        return 0.0 if self.psi is None else float(self.parameters["target_weight"])

    @property
    def whitens_labels(self) -> bool:
        return self.target_weight > 0 and self.parameters["label_shrinkage"] != 1

    @property
    def within_classes(self) -> bool:
        return self.parameters.get("component_scale") == "within"

    @property
    def label_columns(self) -> int:
        """How many columns of classes y has."""
        return len(getattr(self.psi, "kinds", ()))

    @property
    def screens(self) -> bool:
        """Whether columns must be chosen before C_xx, which is too large for all of them."""
        wanted = self.scatter and self.parameters.get("n_nonzero") is not None
        wide = self.phi is not None and self.phi.n_features > WIDEST_SCREENED
        return wanted and wide and self.columns is None

    @property
    def of_nuisance(self) -> Recipe:
        """The cross-moment of the same features with the nuisance, and nothing else."""
        return replace(
            self,
            psi=self.nuisance,
            nuisance=None,
            noise=None,
            scatter=False,
            spread=False,
            label_scatter=False,
            columns=None,
        )

    def screened(self, moments: Any) -> Recipe:
        """With columns chosen by the moments of all rows, C_xx apart."""
        columns, _ = chosen_columns(moments.cross, moments.spread, self.parameters["n_nonzero"])
        return replace(self, columns=columns)

    @property
    def plain(self) -> bool:
        """Whether the features are the rows as they are."""
        return isinstance(self.phi, Identity) and self.scaling is None

    @property
    def class_sums_only(self) -> bool:
        """Whether nothing is wanted of plain rows but sums over classes."""
        more = self.scatter or self.spread or self.noise is not None
        return self.plain and not (more or (self.label_scatter and self.label_columns > 1))

    @property
    def keeps_all_rows(self) -> bool:
        """Whether the exact kernel keeps unlabelled rows too: they count for C_xx."""
        return self.psi is None or self.scatter or self.noise is not None

    @property
    def dual_precision(self) -> str | None:
        """Of kernel values: systems with them, and what they solve, do not bear TF32's errors."""
        precision: str | None = self.parameters["precision"]
        return None if self.scatter or self.landmarks else precision

    def scaled(self, rows: Any) -> Any:
        """Rows that are their own features go into sums, which are float64; others into maps."""
        rounded = not isinstance(self.phi, Identity)
        return rows if self.scaling is None else self.scaling(rows, rounded)

    def encode(self, batch: Batch) -> EncodedLabels | None:
        """The labels of a batch, seen through the label map; None where there are none."""
        if self.psi is None or not batch.labelled.any():
            return None
        encoded = self.psi.encode(batch.labels, batch.numbers)
        if self.label_scatter and encoded.codes is None:
            settings.check_label_features(encoded.features.shape[1])
        return encoded

    def label_scatter_of(self, encoded: EncodedLabels, weight: Array | None) -> Scatter | None:
        """C_yy of some rows, where it is wanted and the weights of classes do not give it."""
        if not self.label_scatter or (encoded.codes is not None and encoded.codes.shape[1] == 1):
            return None
        return Scatter.of(encoded.features if encoded.codes is None else encoded.dense(), weight)

    def features(self, rows: Any, empty: Empty = np.empty) -> Any:
        assert self.phi is not None
        return self.phi(self.scaled(rows), empty)

    def difference(self, other: Recipe) -> str:
        """Why moments made with the one cannot be merged with the other's; empty if they can."""
        if self.n_components != other.n_components:
            return f"n_components is {self.n_components} and {other.n_components}"
        for name in COMPARED:
            mine, theirs = self.parameters.get(name), other.parameters.get(name)
            if mine != theirs:
                return f"{name} is {mine!r} and {theirs!r}"
        mine, theirs = self.parameters["class_weight"], other.parameters["class_weight"]
        if mine != theirs or mine == "balanced":
            return (
                f"class_weight is {mine!r} and {theirs!r}; both need the same dict, because "
                "'balanced' weighs the rows of each by themselves"
            )
        if (self.psi is None) != (other.psi is None):
            return "one was fitted with labels, the other without"
        if self.psi is not None and not self.psi.same_as(other.psi):
            return (
                "their label maps differ; both need labels of the same type and number of "
                "columns, the same label_kernel and random_state, and a number for label_gamma "
                "('sliced', 'ranked': pass the label_kernel_ of one as label_kernel of the other)"
            )
        exact = (self.phi is None, other.phi is None)
        maps_agree = all(exact) if any(exact) else self.phi.same_as(other.phi)  # type: ignore[union-attr]
        if self.kernel != other.kernel or not maps_agree:
            return (
                "their feature maps differ; give both the same approximation, kernel and "
                "random_state, and a number for gamma (landmarks and transformers need the same "
                "first batch)"
            )
        if (self.nuisance is None) != (other.nuisance is None):
            return "one was fitted with a nuisance, the other without"
        if self.nuisance is not None and not self.nuisance.same_as(other.nuisance):
            return "their nuisance is of different kinds or numbers of columns"
        if not np.array_equal(self.columns, other.columns):  # type: ignore[arg-type]
            return (
                "n_nonzero has chosen different columns for each; use shrinkage=1, which needs no "
                "covariance of columns chosen beforehand"
            )
        if self.scaling is not None and not self.scaling.same_as(other.scaling):
            return "their scale was taken from different first batches"
        return ""


def draw_recipe(estimator: Any, batch: Batch) -> Recipe:
    """Draw the maps that an estimator's parameters ask for, from its first batch."""
    rows = batch.rows
    seed, kernelised = check_seed(estimator.random_state), estimator._kernelised
    psi = draw_label_map(estimator, batch, seed)
    settings.check_against_labels(estimator, psi is not None)
    settings.check_one_column_of_classes(estimator, psi)
    kernel, scaling = settle_kernel(estimator, batch, seed)
    scaled = rows if scaling is None else scaling.view(rows)
    phi: FeatureMap | None = Identity(rows.shape[1])
    if kernelised:
        phi = make_feature_map(
            estimator.approximation, kernel, scaled, estimator.n_random_features, seed
        )
    scatter, sketch, spread_kept, label_scatter = statistics(estimator, psi is not None)
    most = getattr(estimator, "n_nonzero", None)
    if scatter and phi is not None:
        p = phi.n_features if most is None else min(phi.n_features, max(WIDEST_SCREENED, most))
        settings.check_room(estimator, p, rows)
    noise = Unlabelled.of(estimator.n_components, seed) if sketch else None
    nuisance = None if batch.nuisance is None else nuisance_map(batch.nuisance)
    if nuisance is not None and phi is None:
        raise ValueError(
            f"nuisance with approximation={estimator.approximation!r} is not supported: the exact "
            "kernel has no moments to project it out of. Use approximation='orthogonal' or "
            "'nystroem'."
        )
    block = block_rows(rows, estimator.batch_size)
    if sparse.issparse(rows) and (phi is None or not sparse.issparse(phi(scaled[:1]))):
        block = min(block, BLOCK_ROWS)  # features that are dense leave no more behind than others
    return Recipe(
        settings.values(estimator),
        estimator.n_components,
        estimator._solver,
        psi,
        kernel,
        phi,
        scaling,
        noise,
        scatter,
        spread_kept,
        label_scatter,
        block,
        (estimator.n_random_features, seed) if settings.has_falkon(estimator) else None,
        nuisance=nuisance,
    )


def nuisance_map(values: NDArray[Any]) -> LabelMap:
    """Floats with fractions are numbers, which enter as they are; all others are classes."""
    numbers = values.dtype.kind == "f" and not (values == np.floor(values)).all()
    return make_label_map(values, None, "linear" if numbers else "delta", None, 1, None, 0)


def settle_kernel(estimator: Any, batch: Batch, seed: int) -> tuple[Kernel | None, Scaling | None]:
    """The kernel with a number for gamma, and what is done to rows before it."""
    rows, kernelised = batch.rows, estimator._kernelised
    kernel: Kernel | None = None
    if kernelised and isinstance(estimator.approximation, str):
        kernel = make_kernel(estimator.kernel, estimator.gamma, estimator.kernel_params)
    rule = kernel is not None and isinstance(kernel.gamma, str)  # gamma is still a rule
    scaling = None
    if needs_spread(estimator):
        names = getattr(estimator, "feature_names_in_", None)
        spread = spread_of(batch, names=names) if batch.spread is None else batch.spread
        if estimator.scale is not None:
            settings.check_against_rows(estimator, rows, kernel)
            scaling = Scaling.of(spread, estimator.scale)
            spread = scaling.applied_to(spread)
            if sparse.issparse(rows):
                scaling = scaling.without_shift()
    if rule and kernel is not None:
        scaled = rows if scaling is None else scaling.view(rows)
        kernel = settle_gamma(kernel, scaled, spread, seed)
    if kernel is not None and sparse.issparse(rows) and estimator.approximation in BY_DISTANCES:
        error = EPS * kernel.lost_digits(rows if scaling is None else scaling(rows))
        if error > LOST:
            warn_user(
                f"Kernel values of these sparse rows have errors of about {min(error, 1):.0e}, "
                "because the rows are far from zero compared with their distances. Subtract the "
                "column means and pass dense rows, or use approximation='orthogonal'."
            )
    return kernel, scaling


def draw_label_map(estimator: Any, batch: Batch, seed: int) -> LabelMap | None:
    if batch.labels is None:
        return None
    source = batch if batch.known is None else batch.known
    return make_label_map(
        source.labels,
        source.label_weight,
        estimator.label_kernel,
        estimator.label_gamma,
        estimator.n_components,
        estimator.label_map if estimator._solver.random_labels else None,
        seed,
        source.orders,
        None if batch.known is None else batch.known.kernel,
    )


def scales_moments(estimator: Any) -> bool:
    """Whether scaling is applied to the moments, and not to the rows.

    Linear features commute with scaling, so it can wait; not so kernels, nor the fourth moments
    of Ledoit-Wolf.
    """
    return not estimator._kernelised and estimator.shrinkage != "auto"


def statistics(estimator: Any, labelled: bool) -> tuple[bool, bool, bool, bool]:
    """Which of scatter, sketch, spread and scatter of labels go with the cross-moment."""
    varies = not labelled or estimator.target_weight < 1  # variance counts, not labels alone
    sketch = varies and estimator._solver.random_labels
    scatter = estimator.shrinkage != 1 or (varies and not estimator._solver.random_labels)
    spread = sketch or (estimator.scale is not None and scales_moments(estimator))
    spread = spread or getattr(estimator, "n_nonzero", None) is not None
    return scatter, sketch, spread, labelled and estimator.label_shrinkage != 1


def screens(estimator: Any) -> bool:
    """Whether C_xx is wanted of some columns only."""
    return getattr(estimator, "n_nonzero", None) is not None and statistics(estimator, True)[0]


def needs_spread(estimator: Any) -> bool:
    """Whether ranges and variances of columns are wanted before anything can be drawn."""
    rule = (
        estimator._kernelised
        and isinstance(estimator.approximation, str)
        and isinstance(estimator.gamma, str)
    )
    return rule or (estimator.scale is not None and not scales_moments(estimator))


def spread_of(batch: Batch, before: Spread | None = None, names: Any = None) -> Spread:
    """The first pass of kernel methods: ranges and variances of all columns.

    `names` are those of the columns, for a message.
    """
    rows, weight = batch.rows, batch.weight
    if devices.on_device(rows):
        spread = spread_on_device(rows, weight)
        return _checked(spread if before is None else before.merge(spread), rows, names)
    block = block_rows(rows, None)

    def of(start: int) -> Spread:
        here = slice(start, start + block)
        with np.errstate(over="ignore", invalid="ignore"):  # looked at once, at the end
            return Spread.of(rows[here], None if weight is None else weight[here])

    total = before
    for part in in_order(of, range(0, rows.shape[0], block)):
        with np.errstate(over="ignore", invalid="ignore"):
            total = part if total is None else total.merge(part)
    assert total is not None
    return _checked(total, rows, names)


def _checked(total: Spread, rows: Any, names: Any) -> Spread:
    if not np.isfinite(total.squares).all():
        refuse_non_finite(rows, names)
        raise ValueError(
            "The variances of X overflow float64: X or sample_weight is too large. Scale them down "
            "first."
        )
    return total


def block_rows(rows: Any, batch_size: int | None) -> int:
    """Rows in a block of the grid.

    A block of sparse features leaves a dense p x q moment behind, which costs more to merge than
    its few entries to read, so wide sparse data takes larger blocks.
    """
    block = BLOCK_ROWS
    if sparse.issparse(rows):
        block = max(block, 1 << (rows.shape[1] - 1).bit_length())
    return block if batch_size is None or batch_size >= BLOCK_ROWS else batch_size
