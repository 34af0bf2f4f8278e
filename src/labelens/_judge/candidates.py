"""The candidates of `select`: estimators with all combinations of the values of a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._base.validation import check_number, check_seed
from .._core.labels import make_label_map
from .._fit import settings
from .._fit.batch import Batch
from .._fit.projection import Projection
from .._fit.recipe import settle_kernel
from .._fit.settings import grouped, is_kernel_method
from .._fit.task import Task, seeded
from ..label_kernels import Sliced
from ..methods import METHODS

# Default candidates: multiples of gamma="scale", and of its counterpart for
# sums of absolute differences.
WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
LAPLACIAN_WIDTHS = (0.3, 1.0, 3.0)
SHRINKAGES = (1.0, 0.1, 1e-2, 1e-3)
# Rows up to which the exact kernel is tried, for classes, for numbers and with low effort. Pairs of
# rows times columns up to which the Laplacian one is: its distances are no product of matrices.
EXACT_ROWS, EXACT_NUMBERS, EXACT_LOW, MOST_DIFFERENCES = 25_000, 10_000, 4_000, 2e10
# Beyond that: landmarks of "falkon", at most, with low effort, of the rows, and times the rows.
FALKON, FALKON_LOW, SHARE, PAIRS = 10_000, 3_000, 0.4, 6e8
TARGET_WEIGHTS = (0.9, 0.5)  # where labels have fewer directions than are wanted
# Landmarks: one for so many rows, within bounds, and for very many rows as many as a fit of so many
# steps allows, which takes the rows times their square.
LANDMARKS, ROWS_A_LANDMARK, STEPS = (1024, 4096), 4, 4.5e11
MOST_COMPONENTS = 32
# Columns with a weight, where there are more columns than rows.
NONZERO, MOST_NONZERO, MOST_SCREENED = (10, 20, 30, 50, 100, 300, 1000, 3000), 3000, 300
SCREENED_SHRINKAGES = [0.5, 0.1]
WIDEST = 2048  # columns whose covariance is still cheap
MOST_SPREAD = 128  # classes, every one of which is compared with every other
LABELS_LOOKED_AT = 4000
SLICES = 10  # of numbers
DEFAULT_LISTS = ("gamma", "shrinkage", "scale")


def make_candidates(
    templates: list[Any],
    task: Task,
    batch: Batch,
    n_components: Any,
    grid: Any,
    seed: int,
    effort: str = "high",
) -> list[Any]:
    """Every template with every combination of values, each once; a default grid without any.

    That grid has the exact kernel, or "falkon" where rows are too many for it.
    """
    grid = _checked(
        grid, n_components, templates or [method() for method in METHODS.values()], seed
    )
    if templates:
        made = [one for template in templates for one in _filled_in(template, grid, batch, seed)]
    else:
        made = _defaults(task, batch, grid, seed, effort == "high")
    return [
        same[0]
        for same in grouped(made, lambda one: [type(one).__name__, *settings.values(one).values()])
    ]


def _checked(grid: Any, n_components: Any, templates: list[Any], seed: int) -> dict[str, list[Any]]:
    """Lists of values for parameters that some template has."""
    if not isinstance(grid, Mapping | None):
        raise TypeError(
            'grid must be a dict of parameter names and lists of values, such as {"gamma": [0.1, '
            f"1]}}, got {grid!r}."
        )
    grid = {n: None if values is None else _as_list(values) for n, values in (grid or {}).items()}
    if n_components is not None:
        if "n_components" in grid:
            raise ValueError("n_components is named twice, in grid too; leave one of them out.")
        grid["n_components"] = _as_list(n_components)
    known = set().union(*(one.get_params(deep=False) for one in templates))
    if unknown := [name for name in grid if name not in known]:
        raise ValueError(
            f"grid names {', '.join(map(repr, unknown))}, which none of the estimators has; they "
            f"have {', '.join(sorted(known))}."
        )
    for name, values in grid.items():
        if values is None:
            if name not in DEFAULT_LISTS:
                raise ValueError(f"grid[{name!r}] is None, and has no default list; name values.")
            continue
        if not values:
            raise ValueError(f"The list of values of {name} is empty. Name at least one.")
        grid[name] = [seeded(one, seed) if hasattr(one, "get_params") else one for one in values]
    return grid


def _defaults(task: Task, batch: Batch, grid: dict[str, Any], seed: int, high: bool) -> list[Any]:
    """Linear and kernel methods, spectral and direct, over the default lists."""
    d, most = batch.rows.shape[1], _label_directions(task, seed)
    ks = grid.get("n_components", [min(most, d, MOST_COMPONENTS)])
    for k in ks:
        check_number(k, "n_components", 1, integer=True)
    numbers, columns = task.kind == "numbers", 1
    if task.labels.ndim > 1:
        columns = task.labels.shape[1]
    labels: dict[str, Any] = {"label_kernel": "rbf"} if numbers else {}
    several = task.kind == "classes" and task.labels.ndim == 1 and most < MOST_SPREAD
    apart = "spread" if several else "orthogonal"
    landmarks = min(task.n // ROWS_A_LANDMARK, int(np.sqrt(STEPS / task.n)))
    landmarks = min(int(np.clip(landmarks, *LANDMARKS)), task.n)
    nystroem: dict[str, Any] = {"approximation": "nystroem", "n_random_features": landmarks}
    falkon = int(min(FALKON if high else FALKON_LOW, SHARE * task.n, PAIRS / task.n))
    precise: dict[str, Any] = {"approximation": "falkon", "n_random_features": falkon}
    few = task.n <= (EXACT_LOW if not high else EXACT_NUMBERS if numbers else EXACT_ROWS)
    if few:
        precise = {"approximation": "exact"}
    if batch.nuisance is not None:
        precise = nystroem  # what has moments
    pairs = task.n * (task.n if few else falkon)
    laplacian = not sparse.issparse(batch.rows) and pairs * d <= MOST_DIFFERENCES
    # With a component for every direction of the labels both solvers span the same space, but
    # nearest neighbours depend on the lengths of components too: the random projections weigh them
    # by their singular values. Further components must come from the variance.
    plans: list[tuple[bool, list[int], list[float], dict[str, Any]]] = [
        (False, [k for k in ks if k <= most], [1.0], labels),
        (False, [k for k in ks if k > most], list(TARGET_WEIGHTS), labels),
        (True, [k for k in ks if k < most], [1.0], labels | {"label_map": apart}),
        (True, [k for k in ks if k == most and several], [1.0], labels),
    ]
    if numbers and "label_kernel" not in grid:
        # Nothing predicts numbers better than their own mean, which needs a component for a column.
        sizes = ks if "n_components" in grid else [min(columns, ks[0])]
        plans.append((False, sizes, [1.0], {"label_kernel": "linear"}))
    made = []
    for direct, sizes, weights, own in plans:
        here = {**dict.fromkeys(DEFAULT_LISTS), "target_weight": weights, **grid}
        here["n_components"] = sizes
        if several and most > 1 and not direct and "component_scale" not in grid:
            here["component_scale"] = ["total", "within"]
        linear: Any = METHODS["srp" if direct else "spca"]
        narrow = here | {"n_components": [k for k in sizes if k <= d]}
        made += _filled_in(linear(**own), narrow, batch, seed)
        if own == labels and "label_shrinkage" not in grid:  # LDA, CCA, sliced inverse regression
            made += _filled_in(linear(**own, label_shrinkage=0.0), narrow, batch, seed)
            shrunk = several and not direct and weights == [1.0] and d <= WIDEST
            shrunk &= batch.nuisance is None
            if shrunk and not {"shrinkage", "component_scale"} & grid.keys():
                within = ["within" if most > 1 else "total"]
                own_rule = narrow | {"shrinkage": ["auto"], "component_scale": within}
                made += _filled_in(linear(label_shrinkage=0.0), own_rule, batch, seed)
            if numbers and columns == 1 and "label_kernel" not in grid:
                sliced = linear(label_kernel=Sliced(SLICES), label_shrinkage=0.0)
                made += _filled_in(sliced, narrow, batch, seed)
        if d > task.n and not direct and weights == [1.0] and "n_nonzero" not in grid:
            for shrinkages, most in ([1.0], MOST_NONZERO), (SCREENED_SHRINKAGES, MOST_SCREENED):
                counts = [m for m in NONZERO if m < min(d, most + 1)]
                some = narrow | {"n_nonzero": counts, "shrinkage": shrinkages} | grid
                made += _filled_in(linear(**own), some, batch, seed)
        pca = not direct and own == labels and d <= WIDEST
        if pca and not {"target_weight", "shrinkage"} & grid.keys():
            plain = narrow | {"target_weight": [0.0], "shrinkage": [1.0]}
            made += _filled_in(linear(), plain, batch, seed)  # PCA
        kernel: Any = METHODS["ksrp" if direct else "kspca"]
        # Landmarks by conjugate gradients have no C_xx for variance.
        features = precise if few or weights == [1.0] else nystroem
        made += _filled_in(kernel(**own, **features), here, batch, seed)
        if (
            laplacian
            and batch.nuisance is None
            and features is precise
            and not direct
            and not {"kernel", "gamma"} & grid.keys()
        ):
            template = kernel(**own, **features, kernel="laplacian")
            made += _filled_in(template, here, batch, seed)
    return made


def _filled_in(template: Any, grid: Mapping[str, Any], batch: Batch, seed: int) -> list[Any]:
    """The template over a grid in which None stands for a default list."""
    grid = dict(grid)
    if "scale" in grid and grid["scale"] is None:
        grid["scale"] = [None] if sparse.issparse(batch.rows) else [None, "standard"]
    if "shrinkage" in grid and grid["shrinkage"] is None:
        wide = not is_kernel_method(template) and batch.rows.shape[1] > WIDEST
        wide &= getattr(template, "n_nonzero", None) is None
        grid["shrinkage"] = list(SHRINKAGES[:1] if wide else SHRINKAGES)
    if not is_kernel_method(template) or grid.get("gamma", ()) is not None:
        return _varied(template, grid, seed)
    # The value of gamma="scale" depends on the scaling of the rows.
    made = []
    for scale in grid.get("scale", [template.scale]):
        scaled = clone(template).set_params(scale=scale, gamma="scale")
        here = {"scale": [scale], "gamma": _widths(scaled, batch, seed)}
        made += _varied(scaled, grid | here, seed)
    return made


def _widths(template: Any, batch: Batch, seed: int) -> list[float]:
    settled, _ = settle_kernel(template, batch, seed)
    gamma = 1.0 if settled is None else settled.gamma  # a transformer has no use for it
    if template.kernel == "laplacian":
        # 1 / (n_features * standard deviation), where "scale" has the variance.
        return [float(np.sqrt(gamma / batch.rows.shape[1])) * width for width in LAPLACIAN_WIDTHS]
    return [gamma * width for width in WIDTHS]


def _label_directions(task: Task, seed: int) -> int:
    """The dimensions that labels span; two for numbers, whose kernel has infinitely many."""
    if task.kind == "numbers":
        return 2
    if task.labels.ndim == 1:
        return max(1, len(set(task.labels.tolist())) - 1)
    # Columns may be redundant.
    some = task.only(task.sample(LABELS_LOOKED_AT, np.random.default_rng(seed)))
    psi = make_label_map(some.labels, None, "auto", None, 1, None, seed)
    right = psi.encode(some.labels, np.arange(some.n)).dense()
    if right.shape[1] > WIDEST:
        return right.shape[1]
    right = right - right.mean(axis=0)
    return max(1, int(np.linalg.matrix_rank(right.T @ right, hermitian=True)))


def _varied(template: Any, grid: Mapping[str, Sequence[Any]], seed: int) -> list[Any]:
    """The template with every combination of values for the parameters that it has."""
    template = seeded(template, seed)
    grid = {name: grid[name] for name in grid if name in settings.values(template)}
    made = []
    for values in product(*grid.values()):
        one = settings.altered(template, **dict(zip(grid, values, strict=True)))
        if one.shrinkage == 1 and getattr(one, "component_scale", "total") != "total":
            continue  # the same model
        settings.check(one)
        for name in ("gamma", "n_components"):
            if isinstance(value := getattr(one, name, None), str) and value == "auto":
                raise ValueError(f"{name}='auto' is chosen by fit; select compares numbers.")
        if one.random_state is None:
            one.random_state = seed
        elif not isinstance(one.random_state, Integral):  # would give new numbers at each fit
            one.random_state = check_seed(deepcopy(one.random_state))
        made.append(one)
    return made


def read_templates(estimators: Any) -> list[Any]:
    if estimators is None:
        return []
    templates = _as_list(estimators)
    for one in templates:
        if not isinstance(one, Projection):
            raise TypeError(
                f"estimators must be methods of labelens, such as SupervisedPCA(), got {one!r}."
            )
    if not templates:
        raise ValueError("estimators is an empty list; None tries those of a default grid.")
    return templates


def _as_list(values: Any) -> list[Any]:
    one = isinstance(values, (str, Projection)) or not hasattr(values, "__iter__")
    return [values] if one else list(values)


def what_varies(candidates: list[Any]) -> list[str]:
    """Parameters in which candidates of one method differ."""
    names: dict[str, None] = {}
    for method in dict.fromkeys(map(type, candidates)):
        some = [settings.values(one) for one in candidates if type(one) is method]
        for name in some[0]:
            if len({repr(one[name]) for one in some}) > 1:
                names[name] = None
    return list(names)
