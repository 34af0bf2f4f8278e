"""Choose method, kernel coefficient, shrinkage and dimensions by cross-validated scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import sem
from sklearn.base import clone

from .._base import devices
from .._base.jit import get_ready
from .._base.types import LabelsLike, MatrixLike, RandomState
from .._base.validation import check_number, check_seed, refuse_non_finite
from .._fit import settings
from .._fit.batch import read_batch
from .._fit.projection import Projection
from .._fit.task import Kind, Task
from ..methods import METHODS, SupervisedPCA
from .candidates import MOST_COMPONENTS, make_candidates, read_templates, what_varies
from .comparison import Judging, compared, simpler_first
from .learned import with_learned_metric

if TYPE_CHECKING:
    from .atlas import Atlas

__all__ = ["Selection", "select"]

SHOWN = 10
SCORES = ("score", "error", "smoothed")
ALWAYS = ("method", "score", "error")  # shown even where all shown candidates agree
LARGEST = 1e140
ATLAS_OF = "Atlas of "  # before the name of its base model


@dataclass(frozen=True, eq=False)
class Selection:
    """The outcome of `select`: the best candidate, fitted on all rows, and why it is the best.

    Attributes
    ----------
    estimator : estimator
        The best candidate, fitted on all rows.
    params : dict
        Its values of the parameters that candidates differ in.
    score, error : float
        Its held-out score, and the standard error of that over folds, corrected for the training
        rows that folds have in common (Nadeau and Bengio, 2003).
    metric : str
        What the score is, such as "mean of 1-NN and 15-NN accuracy".
    table : list of dict
        A row for each candidate, the best first. Printing shows the columns in which they differ.
        They are ordered by "smoothed": half the score and half that of the neighbours in the
        default grid, or the score alone with more than 1,000 rows or given estimators. A simpler
        model comes first if it is within one standard error of the best, and within 0.01 (R^2:
        0.03; less if only a share of the rows was compared): discriminant analysis with estimated
        shrinkage, else the best linear method.
    reason : str
        Why it is the best, in a sentence.
    map : Atlas or None
        For more than three classes, the map of them over the estimator, not fitted; or the
        estimator, where it is an atlas. None for other labels.
    """

    estimator: Projection | Atlas
    params: dict[str, Any]
    score: float
    error: float
    metric: str
    table: list[dict[str, Any]]
    reason: str
    map: Atlas | None = None

    def __repr__(self) -> str:
        best = _described(self.table[0], list(self.params))
        return (
            f"Selection of {best}, the best of {len(self.table)}: {self.metric} "
            f"{self.score:.4f} ± {self.error:.4f}"
        )

    def __str__(self) -> str:
        best, shown = self.table[0], self.table[:SHOWN]
        names = [n for n in best if n in ALWAYS or any(line[n] != best[n] for line in shown)]
        lines = [names, *([_cell(line, name) for name in names] for line in shown)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        if len(self.table) > SHOWN:
            text.append(f"... and {len(self.table) - SHOWN} more in `table`")
        return "\n".join([self.reason, "", *text])


def select(
    X: MatrixLike,
    y: LabelsLike,
    estimators: Projection | Iterable[Projection] | None = None,
    *,
    n_components: int | Sequence[int] | None = None,
    grid: Mapping[str, Sequence[Any] | None] | None = None,
    cv: int = 5,
    scoring: Literal["knn", "hsic"] = "knn",
    n_neighbors: int | None = None,
    max_rows: int = 3_000,
    effort: Literal["high", "low"] = "high",
    task: Kind | None = None,
    groups: ArrayLike | None = None,
    nuisance: LabelsLike | None = None,
    random_state: RandomState | None = None,
) -> Selection:
    """Choose method and parameters by cross-validation, and fit the best on all rows.

    Candidates are compared by the accuracy with which their embeddings predict held-out labels.
    They share random numbers, passes and moments, so a grid costs little more than a few fits: one
    pass over the rows for each gamma serves all folds, solvers, shrinkages, target weights and
    numbers of components. With more than 1,000 rows, successive halving compares many candidates on
    a third of the rows in two folds first. With fewer rows all candidates are compared in all
    folds, and those of the default grid are also judged by their neighbours in the grid (one
    step of gamma or shrinkage away), because the best score of many is often luck. Samples of rows
    get fewer random features and a larger shrinkage, which corresponds to the fit on all rows.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    estimators : estimator or list of estimators, default=None
        Methods of labelens to vary; `grid` names the parameters that change. None tries linear
        methods, including PCA and linear discriminant analysis, and kernel methods: the exact
        kernel for at most 25,000 rows (10,000 with numbers as labels), landmarks ("falkon") for
        more. For fewer components than the labels have directions it also tries the random
        projections with `label_map="spread"`. All use the default lists of `grid`. For more
        columns than rows it tries supervised PCA of few columns (`n_nonzero`), selected without
        the held-out rows. For numbers as labels it tries the label kernels "rbf" and "linear", and
        sliced inverse regression. Without a grid and with `effort="high"`, the best kernel method
        is also tried with columns scaled by their importances (`scale` is a tuple then). It is
        chosen if its score is higher than all others by more than 0.01 and one standard error.
    n_components : int or list of int, default=None
        Numbers of components to try. None keeps those of `estimators`. Without estimators it is
        n_classes - 1, at most the number of columns and 32; for numbers it is two, or one for
        each column of labels with a linear label kernel. For 2 or 3 components and more classes
        than that plus one, without `estimators` and `grid`, `labelens.Atlas` over the best model
        of n_classes - 1 components is tried too, scored by its held-out positions.
    grid : dict of parameter names and lists of values, default=None
        Parameters to vary; estimators without a parameter ignore it. None instead of a list is the
        default list of "gamma" (0.1, 0.3, 1, 3 and 10 times the rule "scale"), "shrinkage" (1,
        0.1, 0.01, 0.001) or "scale" (None, "standard").
    cv : int, default=5
        Number of folds, with classes in proportion.
    scoring : {"knn", "hsic"}, default="knn"
        "knn" predicts held-out labels from the nearest rows: accuracy for classes, R^2 for
        numbers, micro-F1 for multilabel indicators. "hsic" is the dependence of the held-out
        embedding, whitened, on its labels, tr(P H L H) / tr(H L H), corrected for chance like an
        adjusted R^2: 1 at best, 0 on average for labels that are independent of X.
    n_neighbors : int, default=None
        Number of neighbours of "knn". None is the mean of two scores for classes, those of 1 and 15
        neighbours (fewer for small classes), because 1-NN alone favours embeddings in which
        training rows collapse onto their class. It is 10 for numbers, and 1 for multilabel
        indicators.
    max_rows : int, default=3000
        Candidates are compared on a sample of at most `max_rows` rows. The best is fitted on all.
    effort : {"high", "low"}, default="high"
        "low" compares candidates in two folds, and uses the exact kernel for at most 4,000 rows
        and at most 3,000 landmarks for more. It is faster and slightly less accurate.
    task : {"classes", "numbers", "multilabel"}, default=None
        Kind of labels. None: columns of 0 and 1 are multilabel; numbers with fractions, and whole
        numbers with more than 100 values (unless they number classes), are numbers; all others
        are classes.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are held out together.
    nuisance : array-like of shape (n_samples,) or (n_samples, n_columns), default=None
        A batch, donor or site with which components should be uncorrelated: see `fit` of the
        methods. The exact kernel and "falkon" are not tried.
    random_state : int, RandomState instance or None, default=None
        Seed of samples, folds and estimators.

    Returns
    -------
    Selection
        Print it. Fitting the best warns as `fit` does where components carry no information.

    See Also
    --------
    labelens.cross_embed : each row embedded by a model fitted without its label.
    labelens.permutation_report : whether the embedding is better than chance.

    Notes
    -----
    The score of the best of many candidates is optimistic, more so with many candidates and few
    rows. For an unbiased score, hold out rows from `select` and score the estimator on them.
    `cross_embed` and `permutation_report` use rows that also helped to choose the parameters.

    No label of a held-out row is used to embed it. `gamma` rules, landmarks and the scaling of
    kernel methods use all compared rows, without their labels.

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

    The paper's choice of gamma by ten folds:

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
    if effort not in ("high", "low"):
        raise ValueError(f"effort must be 'high' or 'low', got {effort!r}.")
    templates, seed = read_templates(estimators), check_seed(random_state)
    lead = clone(templates[0] if templates else SupervisedPCA())
    rows = Task.of(lead, X, y, task, groups)
    batch = read_batch(lead, X, y, None, True, True, nuisance)
    _refuse_values(batch.rows, getattr(lead, "feature_names_in_", None))
    if len(batch.numbers):  # a class of weight zero is as if it were not there
        rows = rows.only(batch.numbers)
    if (n := min(rows.n, max_rows)) < 2 * cv:
        more = " or a larger max_rows" if n < rows.n else ""
        raise ValueError(f"{n} rows are too few for cv={cv} folds; pass a smaller cv{more}.")
    get_ready(batch.rows.shape[0] * batch.rows.shape[1])
    if effort == "low":
        cv = 2
    one_column = rows.kind == "classes" and rows.labels.ndim == 1
    classes = len(set(rows.labels.tolist())) if one_column else 0
    full = min(classes - 1, batch.rows.shape[1], MOST_COMPONENTS)
    plain = not templates and not grid and groups is None and nuisance is None
    plain = plain and scoring == "knn" and not n_neighbors
    few = n_components if plain and n_components in (2, 3) else full
    with_atlas = isinstance(few, int) and full > few
    sizes = [few, full] if with_atlas else n_components
    candidates = make_candidates(templates, rows, batch, sizes, grid, seed, effort)
    _refuse_other_rows(candidates, lead)
    judging = Judging(scoring, n_neighbors, seed)
    outcomes = compared(candidates, rows, batch, max_rows, cv, judging, not templates)
    # Candidates of later rounds first, the best of each round first.
    order = sorted(
        range(len(candidates)), key=lambda i: (-outcomes[i].round, -outcomes[i].smoothed)
    )
    bases = [i for i in order if with_atlas and candidates[i].n_components == full]
    order = [i for i in order if i not in bases]
    order = simpler_first(order, candidates, outcomes, rows)
    bases = simpler_first(bases, candidates, outcomes, rows)
    if plain and effort == "high":
        first = bases or order
        ahead, best_yet = [candidates[i] for i in first], outcomes[first[0]]
        if found := with_learned_metric(ahead, best_yet, rows, batch, max_rows, cv, judging):
            first.insert(0, len(candidates))
            candidates, outcomes = [*candidates, found[0]], [*outcomes, found[1]]
    names = what_varies([candidates[i] for i in order])
    table: list[dict[str, Any]] = [
        {
            "method": type(candidates[i]).__name__,
            **{name: getattr(candidates[i], name, None) for name in names},
            "score": outcomes[i].score,
            "error": outcomes[i].error,
            "smoothed": outcomes[i].smoothed,
            "rows": outcomes[i].rows,
            "folds": len(outcomes[i].scores),
        }
        for i in order
    ]
    best: Any = None
    if bases:
        base = candidates[bases[0]]
        atlas, line = _try_atlas(base, X, y, few, judging.neighbours(rows), rows.labels, seed)
        if line["score"] > table[0]["score"]:
            best = atlas
            varied = {name: getattr(base, name, None) for name in names}
            table.insert(0, {**table[0], **varied, **line})
    if best is None:
        best = clone(candidates[order[0]]).fit(X, y, nuisance=nuisance)
    metric, model = judging.metric(rows), getattr(best, "estimator_", best)
    return Selection(
        best,
        {name: getattr(model, name) for name in names if hasattr(model, name)},
        table[0]["score"],
        table[0]["error"],
        metric,
        table,
        _reason(table, names, metric, cv, rows.n),
        _map_over(best, seed) if classes > 3 else None,
    )


def _try_atlas(
    base: Projection,
    X: Any,
    y: Any,
    k: int,
    neighbours: list[int | None],
    labels: Any,
    seed: int,
) -> tuple[Atlas, dict[str, Any]]:
    """An atlas over the base, fitted, and its line in the table, by its held-out places."""
    from .atlas import Atlas

    atlas = Atlas(base, layout="plane" if k == 2 else "sphere", random_state=seed).fit(X, y)
    task = Task(None, labels[atlas.heldout_rows_], "classes")
    places = atlas.heldout_embedding_
    several = [task.guesses(places, task.labels, k=some) == task.labels for some in neighbours]
    right = np.mean(several, axis=0)
    line = {"method": ATLAS_OF + type(base).__name__}
    mean = float(right.mean())
    score = {"score": mean, "error": float(sem(right)), "smoothed": mean}
    return atlas, line | score | {"rows": len(right), "folds": 1}


def _map_over(best: Any, seed: int) -> Atlas:
    from .atlas import Atlas

    return best if isinstance(best, Atlas) else Atlas(clone(best), random_state=seed)


def _refuse_values(rows: Any, names: Any) -> None:
    """Raise ValueError for values whose sums overflow."""
    refuse_non_finite(rows, names)
    xp = devices.namespace(rows)
    if max(float(xp.max(rows)), -float(xp.min(rows))) > LARGEST:
        raise ValueError(
            "X holds numbers whose squares overflow float64, which no kernel and no covariance "
            "can take. Scale X down first."
        )


def _refuse_other_rows(candidates: list[Any], lead: Any) -> None:
    for name in ("class_weight", "missing_label"):
        wanted = getattr(lead, name)
        for one in candidates:
            value = getattr(one, name)
            if not settings.same(value, wanted):
                raise ValueError(
                    f"{name} is {wanted!r} and {value!r}, and candidates are compared by the same "
                    "rows with the same weights; pass estimators that have the same, and no grid "
                    "of it."
                )


# Telling ---------------------------------------------------------------------------------------


def _reason(table: list[dict[str, Any]], names: list[str], metric: str, cv: int, n: int) -> str:
    best = table[0]
    rows = f"{best['rows']:,} of the {n:,} rows" if best["rows"] < n else f"all {n:,} rows"
    again = f", drawn {best['folds'] // cv} times" if best["folds"] >= 2 * cv else ""
    compared = [line for line in table if line["folds"] == best["folds"]]
    simpler = best["smoothed"] < max(line["smoothed"] for line in compared)
    lucky = best["score"] < max(line["score"] for line in compared)
    nearby = " with its neighbours in the grid" if lucky else ""
    why = f"has the best held-out {metric}{nearby},"
    if simpler:
        why = f"is within one standard error of the best candidate, and simpler: held-out {metric}"
    text = f"{_described(best, names)} {why} {best['score']:.4f} ± {best['error']:.4f}, "
    is_map = best["method"].startswith(ATLAS_OF)
    text += f"of {best['rows']:,} rows" if is_map else f"in {cv} folds of {rows}{again}"
    others = [] if simpler else [line for line in table if line["method"] != best["method"]]
    if len(table) == 1:
        return text + "."
    rival, less = (others or table[1:])[0], ""  # the table has the best first
    if (rival["rows"], rival["folds"]) != (best["rows"], best["folds"]):
        less = f" in {rival['folds']} folds of {rival['rows']:,} rows"
    return (
        f"{text}; {_described(rival, names)} has {rival['score']:.4f} ± {rival['error']:.4f}{less}."
    )


def _described(line: Mapping[str, Any], names: list[str]) -> str:
    """The method and what it has other than by default."""
    method = line["method"].removeprefix(ATLAS_OF)
    usual = {one.__name__: settings.values(one()) for one in METHODS.values()}[method]
    values = [
        f"{name}={_shown(line[name])}"
        for name in names
        if line[name] is not None and not settings.same(line[name], usual.get(name))
    ]
    return line["method"] + (f" with {', '.join(values)}" if values else "")


def _cell(line: Mapping[str, Any], name: str) -> str:
    return f"{line[name]:.4f}" if name in SCORES else _shown(line[name])


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} factors"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
