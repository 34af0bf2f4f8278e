"""Would shuffled labels look as good?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.types import CrossValidation, LabelsLike, MatrixLike, RandomState, Transformer
from .._base.validation import check_number, check_seed
from .._core.moments import Array
from .._fit.shuffles import shuffler
from .._fit.task import Rows, Task, embedded, in_parallel, seeded
from .crossed import fold_embeddings

LEVEL = 0.05  # p-values up to here are evidence


@dataclass(frozen=True, eq=False)
class PermutationReport:
    """The outcome of `permutation_report`; print it.

    Attributes
    ----------
    metric : str
        What the scores are, such as "1-NN accuracy".
    score : float
        How well the nearest training row predicts held-out labels (accuracy; 5 rows and R^2 for
        numbers; micro-F1 for a multilabel indicator).
    dependence : float
        Of the labels on the held-out embedding of `cross_embed`, from 0 to 1: the HSIC of the
        whitened embedding over the largest that it could be.
    training_score : float
        How well the nearest other row predicts labels in the plot of `fit_transform`.
    null_score, null_dependence, null_training_score : ndarray of shape (n_permutations,)
        The same with shuffled labels.
    n_folds : int
        Parts that were held out in turn.
    n_rows : int
        Rows that were used.
    n_samples : int
        Rows that were passed.
    """

    metric: str
    score: float
    dependence: float
    training_score: float
    null_score: Array
    null_dependence: Array
    null_training_score: Array
    n_folds: int
    n_rows: int
    n_samples: int

    @property
    def score_pvalue(self) -> float:
        """How often shuffled labels score as high, the labels themselves counted as one shuffle."""
        return float(_pvalues(self._table)[0, 0])

    @property
    def dependence_pvalue(self) -> float:
        """How often the dependence on shuffled labels is as high."""
        return float(_pvalues(self._table)[0, 1])

    @property
    def pvalue(self) -> float:
        """Of both together: how often the smaller p-value of shuffled labels is as small.

        Taking the smaller of two p-values would find evidence in noise twice as often; comparing it
        with what it is under the same shuffles does not.
        """
        smaller = _pvalues(self._table).min(axis=1)
        return float(np.mean(smaller <= smaller[0]))

    @property
    def evidence(self) -> bool:
        """Whether `pvalue` is at most 0.05."""
        return self.pvalue <= LEVEL

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        name, own, null = f"held-out {self.metric}", self.score, self.null_score
        if self.dependence_pvalue < self.score_pvalue:
            name, own, null = "held-out dependence", self.dependence, self.null_dependence
        measured = (
            f"{name} is {own:.3f} and shuffled labels give {null.mean():.3f} (p = "
            f"{self.pvalue:.2g} for score and dependence together)"
        )
        if self.evidence:
            return f"The embedding predicts held-out rows better than chance: {measured}."
        return f"There is no evidence that the embedding shows more than chance: {measured}."

    @property
    def _table(self) -> Array:
        """(1 + n_permutations, 2), the labels as they are first."""
        null = np.column_stack([self.null_score, self.null_dependence])
        return np.vstack([[self.score, self.dependence], null])

    def __repr__(self) -> str:
        lines = [f"{'':28}{'labels':>8}{'shuffled labels':>26}{'p':>9}"]
        of_score, of_dependence = f"{self.score_pvalue:9.2g}", f"{self.dependence_pvalue:9.2g}"
        rows = (
            (f"held-out {self.metric}", self.score, self.null_score, of_score),
            ("held-out dependence", self.dependence, self.null_dependence, of_dependence),
            (f"{self.metric} as fitted", self.training_score, self.null_training_score, ""),
        )
        for name, own, null, pvalue in rows:
            low, high = np.quantile(null, (0.05, 0.95))
            shuffled = f"{null.mean():.3f} ({low:.3f} to {high:.3f})"
            lines.append(f"{name:28}{own:8.3f}{shuffled:>26}{pvalue}")
        rows_used = f"{self.n_rows:,} rows"
        if self.n_rows < self.n_samples:
            rows_used = f"a sample of {self.n_rows:,} of {self.n_samples:,} rows"
        lines.append(f"{len(self.null_score)} shuffles, {self.n_folds} folds, {rows_used}.")
        return "\n".join([*lines, self.verdict])


def permutation_report(
    estimator: Transformer,
    X: MatrixLike,
    y: LabelsLike,
    *,
    n_permutations: int = 99,
    cv: CrossValidation = 5,
    max_rows: int = 2000,
    nuisance: LabelsLike | None = None,
    random_state: RandomState | None = None,
) -> PermutationReport:
    """Compare an embedding with those of the same method on shuffled labels.

    Each shuffle repeats all steps, including fits and folds. So the p-value is valid even if the
    method overfits: it is at most 0.05 in one of twenty data sets without dependence. (The rows are
    shuffled, and labels and folds stay in place, so folds keep their classes in proportion.) Rows
    that are equal and have equal labels, such as copies, count as one observation: shuffles keep
    them together. Rows that are similar for other reasons, such as several rows of one person, are
    not detected: pass their means instead.

    Parameters
    ----------
    estimator : transformer
        One of labelens, or any other with `fit(X, y)` and `transform(X)`. It is cloned.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    n_permutations : int, default=99
        At least 19, because fewer cannot give a p-value of 0.05. From 39 on, either the score or
        the dependence can give it alone; with fewer, both must exceed all shuffles.
    cv : int, splitter or iterable of (train, test) rows, default=5
        As in `cross_embed`.
    max_rows : int, default=2000
        Of more rows a stratified sample is used, for the given labels and for every shuffle. More
        rows detect weaker dependence, and take longer.
    nuisance : array-like of shape (n_samples,) or (n_samples, n_columns), default=None
        That of `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of shuffles, folds and the sample, and of the estimator if it has none.

    Returns
    -------
    PermutationReport
        With `verdict`, `evidence` and `pvalue`, and the scores that they come from.

    See Also
    --------
    labelens.plot.permutation : the scores, and those of shuffled labels.
    hsic_test : test whether X and y are independent, without an embedding.

    Examples
    --------
    >>> import numpy as np
    >>> from labelens import SupervisedPCA, permutation_report
    >>> X, y = np.random.default_rng(0).normal(size=(60, 200)), np.arange(60) % 5
    >>> report = permutation_report(SupervisedPCA(4), X, y, random_state=0)
    >>> bool(report.training_score > 0.9), report.evidence
    (True, False)
    """
    check_number(n_permutations, "n_permutations", 19, integer=True)
    check_number(max_rows, "max_rows", 2, integer=True)
    whole, seed = Task.of(estimator, X, y, nuisance=nuisance), check_seed(random_state)
    draw = np.random.default_rng(seed)
    task, model = whole.only(whole.sample(max_rows, draw)), seeded(estimator, seed)
    folds, labels, depends = task.folds(cv, seed), task.dense_labels(), task.dependence(seed)

    def measured(order: Rows) -> tuple[float, float, float]:
        """Held-out score and dependence, and the score as fitted, of rows in some order."""
        moved = task.only(order)  # the nuisance stays with the rows
        mixed = Task(moved.X, task.labels, task.kind, nuisance=moved.nuisance)
        fitted = embedded(mixed.fit(model), mixed.X)
        held_out = np.empty_like(fitted)
        guesses = np.empty(labels.shape, dtype=float if task.kind == "numbers" else labels.dtype)
        for fold in fold_embeddings(model, mixed, folds):
            held_out[fold.test] = fold.moved_onto(fitted)
            known, asked = fold.Z[fold.train], fold.Z[fold.test]
            guesses[fold.test] = task.guesses(known, labels[fold.train], asked)
        of_each_other = task.guesses(fitted, labels)
        return (
            task.score(guesses, labels),
            depends(held_out),
            task.score(of_each_other, labels),
        )

    own, shuffle = measured(np.arange(task.n)), shuffler(task.X, task.labels)
    orders = [shuffle(draw) for _ in range(n_permutations)]
    score, dependence, training = np.array(in_parallel(measured, orders, task.X)).T
    return PermutationReport(
        task.metric(), *own, score, dependence, training, len(folds), task.n, whole.n
    )


def _pvalues(table: Array) -> Array:
    """(m, 2) -> (m, 2): for every entry the share of its column that is as large.

    Equal up to rounding counts as equal: labels that repeat make many shuffles the same.
    """
    rounded = table.round(12).T
    below = [np.searchsorted(np.sort(column), column) for column in rounded]
    return (len(table) - np.column_stack(below)) / len(table)
