"""Choosing method, kernel width, shrinkage and dimensions by what rows never seen say of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from . import _parameters
from ._jit import get_ready
from ._validation import check_number, check_seed
from .batch import Batch, read_batch
from .folds import Judge, cross_validate, passes_of
from .methods import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from .moments import Array
from .projection import Projection
from .recipe import settle_kernel
from .task import Task

__all__ = ["Selection", "select"]

# What is tried where the user names nothing; widths are multiples of gamma="scale".
WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
SHRINKAGES = (1.0, 0.1, 1e-2, 1e-3)
TARGET_WEIGHTS = (0.9, 0.5)  # where labels have fewer directions than are wanted
LANDMARKS, ROWS_A_LANDMARK = (1024, 4096), 4
MOST_COMPONENTS = 32
WIDEST = 2048  # columns whose covariance is still cheap
# Many candidates meet in heats first: a third of the rows, but not too few, in two folds. The
# better half goes on, but no more of it than so many passes over the rows can serve.
FEW, HEAT, HEAT_ROWS, HEAT_FOLDS, MOST_PASSES = 10, 3, 1500, 2, 3
FEWEST_FEATURES = 256
JUDGED_ROWS = 4000
SHOWN = 10


@dataclass(frozen=True, eq=False)
class Selection:
    """The outcome of `select`: the best candidate, fitted on all rows, and why it is the best."""

    estimator: Any
    params: dict[str, Any]  # those that candidates differ in, of the best
    score: float  # held out, and its standard error over folds
    error: float
    metric: str
    table: list[dict[str, Any]]  # a row for every candidate, the best first
    reason: str

    def __str__(self) -> str:
        names = list(self.table[0])
        lines = [names, *([_shown(line[name]) for name in names] for line in self.table[:SHOWN])]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        if len(self.table) > SHOWN:
            text.append(f"... and {len(self.table) - SHOWN} more in `table`")
        return "\n".join([self.reason, "", *text])


def select(
    X: Any,
    y: Any,
    estimators: Any = None,
    *,
    n_components: int | Sequence[int] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    cv: int = 5,
    scoring: str = "knn",
    n_neighbors: int | None = None,
    max_rows: int = 8_000,
    random_state: Any = None,
) -> Selection:
    """Choose method and parameters by cross-validation, and fit the best on all rows.

    Candidates are compared by what their embedding of held-out rows says of the labels. They share
    draws, passes and moments, so a grid costs little more than a few fits: one pass over the rows
    for every kernel width serves all folds, solvers, shrinkages, target weights and numbers of
    components. Many candidates meet in heats first, on a third of the rows and in two folds, and
    the better ones go on. Fewer rows get fewer random features and a stronger ridge, so that a
    candidate stands for what it will be on all rows.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    estimators : estimator or list of estimators, default=None
        Methods of labelens to start from; parameters that `grid` does not name stay as they are.
        None tries linear and kernel methods, the latter with landmarks ("nystroem"), and for
        fewer components than the labels have directions the random projections too, with
        `label_map="spread"`; over the default lists of `grid`.
    n_components : int or list of int, default=None
        Dimensions to try. None leaves those of the `estimators`; without these it is as many as
        the labels have: the classes less one, at most the columns of X, and at most 32.
    grid : dict of parameter names and lists of values, default=None
        What to vary; an estimator that lacks a parameter is not varied in it. None in place of a
        list is the default one of "gamma" (0.1, 0.3, 1, 3 and 10 times the rule "scale"),
        "shrinkage" (1, 0.1, 0.01, 0.001) or "scale" (None, "standard").
    cv : int, default=5
        Number of folds, with classes in proportion.
    scoring : {"knn", "hsic"}, default="knn"
        "knn" predicts held-out labels from the nearest rows: accuracy for classes, R^2 for
        numbers, micro-F1 for multilabel indicators. "hsic" is the dependence of the held-out
        embedding, whitened, on its labels: tr(P H L H) / tr(H L H), from 0 to 1.
    n_neighbors : int, default=None
        Of "knn". None is 1, and 5 for numbers.
    max_rows : int, default=8000
        Candidates are compared on a sample of at most so many rows. The best is fitted on all.
    random_state : int, RandomState instance or None, default=None
        Seed of samples, folds and estimators.

    Returns
    -------
    Selection
        With `estimator`, fitted on all rows, `params`, `score` and its standard `error`, the
        `table` of all candidates as dicts, and the `reason` in a sentence.

    See Also
    --------
    labelens.permutation_report : whether there was anything to find at all.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import select
    >>> X, y = load_iris(return_X_y=True)
    >>> selection = select(X, y, random_state=0)
    >>> selection.estimator.transform(X).shape
    (150, 2)
    >>> selection.score > 0.9
    True

    The paper's choice of a kernel width by ten folds:

    >>> from labelens import KernelSupervisedPCA
    >>> chosen = select(X, y, KernelSupervisedPCA(2), grid={"gamma": [0.01, 0.1, 1, 10]}, cv=10,
    ...                 random_state=0)
    >>> sorted(chosen.params)
    ['gamma']
    """
    check_number(cv, "cv", 2, integer=True)
    check_number(max_rows, "max_rows", 10, integer=True)
    if n_neighbors is not None:
        check_number(n_neighbors, "n_neighbors", 1, integer=True)
    if scoring not in ("knn", "hsic"):
        raise ValueError(f"scoring must be 'knn' or 'hsic', got {scoring!r}.")
    templates, seed = _templates(estimators), check_seed(random_state)
    lead = templates[0] if templates else SupervisedPCA()
    task, batch = Task.of(lead, X, y), read_batch(clone(lead), X, y, None, True, True)
    get_ready(batch.rows.size)
    if task.n < 2 * cv:
        raise ValueError(f"{task.n} rows are too few for cv={cv} folds; pass a smaller cv.")
    candidates = _candidates(templates, task, batch, n_components, grid, seed)
    judging = _Judging(scoring, n_neighbors, seed)
    outcomes = _compared(candidates, task, batch, max_rows, cv, judging)
    # Those that went further first, the better of them first.
    final = max(one.rows for one in outcomes)
    order = sorted(
        range(len(candidates)),
        key=lambda i: (len(outcomes[i].scores) < cv, outcomes[i].rows < final, -outcomes[i].score),
    )
    names = _what_varies(candidates)
    table: list[dict[str, Any]] = [
        {
            "method": type(candidates[i]).__name__,
            **{name: getattr(candidates[i], name, None) for name in names},
            "score": outcomes[i].score,
            "error": outcomes[i].error,
            "rows": outcomes[i].rows,
            "folds": len(outcomes[i].scores),
        }
        for i in order
    ]
    best = clone(candidates[order[0]]).fit(X, y)
    metric = task.metric(n_neighbors) if scoring == "knn" else "dependence"
    return Selection(
        best,
        {name: getattr(best, name) for name in names if hasattr(best, name)},
        table[0]["score"],
        table[0]["error"],
        metric,
        table,
        _reason(table, names, metric, cv, task.n),
    )


# Candidates ------------------------------------------------------------------------------------


def _candidates(
    templates: list[Any], task: Task, batch: Batch, n_components: Any, grid: Any, seed: int
) -> list[Any]:
    """Every template with every combination of values for the parameters that it has."""
    grid = dict(grid or {})
    if n_components is not None:
        grid["n_components"] = n_components
    if not templates:
        grid = {"gamma": None, "shrinkage": None, "scale": None} | grid
        grid.setdefault(
            "n_components", min(_directions(task), batch.rows.shape[1], MOST_COMPONENTS)
        )
        templates = _defaults(task, batch, max(_as_list(grid["n_components"])), grid)
    known = set().union(*(one.get_params(deep=False) for one in templates))
    if unknown := sorted(set(grid) - known):
        raise ValueError(
            f"grid names {', '.join(map(repr, unknown))}, which none of the estimators has; they "
            f"have {', '.join(sorted(known))}."
        )
    return [made for one in templates for made in _varied(one, grid, batch, seed)]


def _defaults(task: Task, batch: Batch, k: int, grid: dict[str, Any]) -> list[Any]:
    """Linear and kernel methods, spectral and direct."""
    most, d = _directions(task), batch.rows.shape[1]
    if k > most:
        grid.setdefault("target_weight", list(TARGET_WEIGHTS))
    landmarks = min(task.n, int(np.clip(task.n // ROWS_A_LANDMARK, *LANDMARKS)))
    features: dict[str, Any] = dict(approximation="nystroem", n_random_features=landmarks)
    labels: dict[str, Any] = {"label_kernel": "rbf"} if task.kind == "numbers" else {}
    templates = [SupervisedPCA(**labels), KernelSupervisedPCA(**labels, **features)]
    if min(_as_list(grid["n_components"])) < most:
        # With a component for every direction of the labels both solvers span the same space.
        single = task.kind == "classes" and task.labels.ndim == 1
        labels["label_map"] = "spread" if single else "orthogonal"
        templates += [
            SupervisedRandomProjection(**labels),
            KernelSupervisedRandomProjection(**labels, **features),
        ]
    return [one for one in templates if one._kernelised or k <= d]


def _directions(task: Task) -> int:
    """Dimensions that labels can tell apart; two of numbers, whose kernel has no end of them."""
    if task.kind == "numbers":
        return 2
    if task.kind == "multilabel":
        return int(task.labels.shape[1])
    columns = task.labels[:, None] if task.labels.ndim == 1 else task.labels
    return max(1, sum(len(set(column.tolist())) - 1 for column in columns.T))


def _varied(template: Any, grid: Mapping[str, Any], batch: Batch, seed: int) -> list[Any]:
    parameters = template.get_params(deep=False)
    if parameters["random_state"] is None:
        parameters["random_state"] = seed
    lists = {
        name: _default_values(name, template, batch) if values is None else _as_list(values)
        for name, values in grid.items()
        if name in parameters
    }
    scales: dict[Any, float] = {}  # gamma="scale", for rows scaled so or so
    made = []
    for values in product(*lists.values()):
        chosen = parameters | dict(zip(lists, values, strict=True))
        if "gamma" in lists and grid["gamma"] is None:
            if chosen["scale"] not in scales:
                rule = type(template)(**chosen | {"gamma": "scale"})
                kernel, _ = settle_kernel(rule, batch, seed)
                scales[chosen["scale"]] = 1.0 if kernel is None else kernel.gamma
            chosen["gamma"] *= scales[chosen["scale"]]
        one = type(template)(**chosen)
        _parameters.check(one)
        for name in ("gamma", "n_components"):
            if isinstance(value := getattr(one, name, None), str) and value == "auto":
                raise ValueError(f"{name}='auto' is chosen by fit; select compares numbers.")
        made.append(one)
    return made


def _default_values(name: str, template: Any, batch: Batch) -> list[Any]:
    match name:
        case "gamma":
            return list(WIDTHS)
        case "shrinkage":
            wide = not template._kernelised and batch.rows.shape[1] > WIDEST
            return list(SHRINKAGES[:1] if wide else SHRINKAGES)
        case "scale":
            return [None] if sparse.issparse(batch.rows) else [None, "standard"]
    raise ValueError(f"grid[{name!r}] is None, and there is no default list for it; name values.")


def _templates(estimators: Any) -> list[Any]:
    if estimators is None:
        return []
    templates = _as_list(estimators)
    for one in templates:
        if not isinstance(one, Projection):
            raise TypeError(
                f"estimators must be methods of labelens, such as SupervisedPCA(), got {one!r}."
            )
    if any(one.class_weight != templates[0].class_weight for one in templates):
        raise ValueError("The estimators must have the same class_weight to be compared.")
    return templates


def _as_list(values: Any) -> list[Any]:
    one = isinstance(values, (str, Projection)) or not hasattr(values, "__iter__")
    return [values] if one else list(values)


def _what_varies(candidates: list[Any]) -> list[str]:
    """Parameters in which candidates of one method differ."""
    names: dict[str, None] = {}
    for method in {type(one) for one in candidates}:
        some = [vars(one) for one in candidates if type(one) is method]
        for name in some[0]:
            if len({repr(one[name]) for one in some}) > 1:
                names[name] = None
    return list(names)


# Comparing -------------------------------------------------------------------------------------


def _compared(
    candidates: list[Any], task: Task, batch: Batch, max_rows: int, cv: int, judging: _Judging
) -> list[_Outcome]:
    """How each of the candidates did, in the last round that it took part in."""
    n = min(task.n, max_rows)
    rounds = [(n, cv)]
    if len(candidates) > FEW:
        rounds.insert(0, (min(n, max(HEAT_ROWS, n // HEAT)), min(HEAT_FOLDS, cv)))
    draw, passes = np.random.default_rng(judging.seed), passes_of(candidates)
    outcomes: dict[int, _Outcome] = {}
    alive = list(range(len(candidates)))
    for size, folds in rounds:
        some = task.sample(size, draw)
        fitted = size - size // folds
        lean = [_lean(candidates[i], size, fitted, task.n) for i in alive]
        scores = judging(lean, task.only(some), batch.take(some), folds)
        outcomes |= {i: _Outcome(size, own) for i, own in zip(alive, scores, strict=True)}
        alive.sort(key=lambda i: -outcomes[i].score)
        served = [*dict.fromkeys(passes[i] for i in alive)][:MOST_PASSES]
        alive = [i for i in alive[: math.ceil(len(alive) / 2)] if passes[i] in served]
    return [outcomes[i] for i in range(len(candidates))]


@dataclass(frozen=True)
class _Outcome:
    rows: int
    scores: Array  # one a fold

    @property
    def score(self) -> float:
        return float(self.scores.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean, over folds."""
        return float(self.scores.std(ddof=1) / np.sqrt(len(self.scores)))


def _lean(estimator: Any, sampled: int, fitted: int, n: int) -> Any:
    """What stands for an estimator of n rows where only some are sampled, and some of those fitted.

    Fewer rows get fewer random features. And they need more of a ridge: n times what is added to
    C_xx is kept, which is s / (1 - s) of its trace over p.
    """
    s, changed, most = estimator.shrinkage, {}, max(FEWEST_FEATURES, sampled // ROWS_A_LANDMARK)
    features = 1.0
    if estimator._kernelised and estimator.n_random_features > most:
        changed["n_random_features"] = most
        features = most / estimator.n_random_features
    if not isinstance(s, str) and 0 < s < 1:
        ridge = s / (1 - s) * features * n / fitted
        changed["shrinkage"] = ridge / (1 + ridge)
    return type(estimator)(**vars(estimator) | changed)


@dataclass(frozen=True)
class _Judging:
    scoring: str
    n_neighbors: int | None
    seed: int

    def __call__(self, estimators: list[Any], task: Task, batch: Batch, folds: int) -> Array:
        """(m, folds)"""
        fold = np.empty(task.n, dtype=np.intp)
        for number, (_, test) in enumerate(task.folds(folds, self.seed)):
            fold[test] = number
        judged = task.sample(JUDGED_ROWS, np.random.default_rng(self.seed))
        judge = self._judge(task.only(judged), fold[judged])
        return cross_validate(estimators, batch, fold, judged, judge)

    def _judge(self, task: Task, fold: NDArray[np.intp]) -> Judge:
        labels = task.dense_labels()
        if self.scoring == "hsic":
            held = [task.only(np.flatnonzero(fold == f)) for f in range(fold.max() + 1)]
            shares = [one.dependence(self.seed) for one in held]
            return lambda Z, f: shares[f](Z[fold == f])

        def score(Z: Array, f: int) -> float:
            known, asked = fold != f, fold == f
            guesses = task.guesses(Z[known], labels[known], Z[asked], self.n_neighbors)
            return task.score(guesses, labels[asked])

        return score


# Telling ---------------------------------------------------------------------------------------


def _reason(table: list[dict[str, Any]], names: list[str], metric: str, cv: int, n: int) -> str:
    best = table[0]
    rows = f"{best['rows']:,} of the {n:,} rows" if best["rows"] < n else f"all {n:,} rows"
    text = (
        f"{_described(best, names)} has the best held-out {metric}, {best['score']:.4f} ± "
        f"{best['error']:.4f}, in {cv} folds of {rows}"
    )
    others = [line for line in table if line["method"] != best["method"]]
    rival = max(
        (line for line in others or table[1:]),
        key=lambda line: (line["rows"], line["score"]),
        default=None,
    )
    if rival is None:
        return text + "."
    less = "" if rival["rows"] == best["rows"] else f" on {rival['rows']:,} rows"
    return (
        f"{text}; {_described(rival, names)} has {rival['score']:.4f} ± {rival['error']:.4f}{less}."
    )


def _described(line: Mapping[str, Any], names: list[str]) -> str:
    values = [f"{name}={_shown(line[name])}" for name in names if line[name] is not None]
    return line["method"] + (f" with {', '.join(values)}" if values else "")


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
