"""A learned metric: columns scaled by their importances, where that predicts better."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from labelens import KernelSupervisedPCA, persist, select
from labelens._fit.batch import read_batch
from labelens._fit.task import Task
from labelens._judge import comparison, learned, selection
from labelens._judge.comparison import Judging
from labelens.datasets import make_xor


def xor_among_noise(seed, n=200, columns=10):
    X, y = make_xor(n, noise=0.4, random_state=seed)
    return np.column_stack([X[:, :2], np.random.default_rng(seed).normal(size=(n, columns))]), y


def held_out_accuracy(estimator, X, y, fresh, truth):
    judge = KNeighborsClassifier(15).fit(estimator.transform(X), y)
    return judge.score(estimator.transform(fresh), truth)


@pytest.mark.parametrize("seed", range(3))
def test_columns_of_noise_lose_their_weight(seed, monkeypatch, tmp_path):
    """As the docs say: XOR and ten columns of noise, three points at least."""
    X, y = xor_among_noise(seed)
    chosen = select(X, y, random_state=seed)
    factors = np.array(chosen.estimator.scale)
    assert factors[:2].min() > 3 * factors[2:].max()
    assert chosen.params["scale"] == chosen.estimator.scale
    assert "12 factors" in chosen.reason
    fresh, truth = xor_among_noise(100 + seed, 2000)
    found = held_out_accuracy(chosen.estimator, X, y, fresh, truth)
    monkeypatch.setattr(selection, "with_learned_metric", lambda *_: None)
    plain = select(X, y, random_state=seed)
    assert found >= held_out_accuracy(plain.estimator, X, y, fresh, truth) + 0.03
    with pytest.warns(UserWarning, match="holds 200 rows of the training data"):
        persist.save(chosen.estimator, tmp_path / "model.labelens")
    loaded = persist.load(tmp_path / "model.labelens")
    np.testing.assert_array_equal(loaded.transform(fresh), chosen.estimator.transform(fresh))


def test_numbers_too():
    X, y = make_friedman1(500, 20, noise=1.0, random_state=0)
    fresh, truth = make_friedman1(2000, 20, noise=1.0, random_state=1)
    model = select(X, y, n_components=1, random_state=0).estimator
    judge = KNeighborsRegressor(10).fit(model.transform(X), y)
    factors = np.array(model.scale)
    assert set(np.argsort(-factors)[:5]) == set(range(5))
    assert judge.score(model.transform(fresh), truth) > 0.8


def test_held_out_labels_change_no_metric(monkeypatch):
    """Metrics of a fold are learnt by its training rows."""
    X, y = make_friedman1(120, random_state=0)
    model, metrics, metric = KernelSupervisedPCA(1, gamma=0.1, random_state=0), [], learned._metric

    def watched(*arguments):
        metrics.append(metric(*arguments))
        return metrics[-1]

    monkeypatch.setattr(learned, "_metric", watched)
    held_out = Task.of(model, X, y).fold_numbers(2, 0) == 0
    for labels in (y, np.where(held_out, y[::-1], y)):
        batch = read_batch(clone(model), X, labels, None, True, True)
        judging = Judging("knn", None, 0)
        learned._scores(model, [(0, 1.0)], Task.of(model, X, labels), batch, 2, judging)
    assert len({*metrics[:2]} & {*metrics[2:]}) == 1  # threads may take folds in any order


@pytest.mark.parametrize(("n", "max_rows"), [(150, 3000), (2000, 1700)])
def test_the_rival_is_judged_once(n, max_rows, monkeypatch):
    """Its scores in the last round are of the rows and folds by which metrics are judged."""
    X, y = xor_among_noise(0, n)
    stages, judged = [], learned.with_learned_metric

    def watched(candidates, first, *others):
        stages.append((candidates[0], first.scores))
        return judged(candidates, first, *others)

    def perfect(base, variants, task, batch, cv, judging):
        stages.append((task, batch, cv, judging))
        return np.ones((len(variants), cv))

    monkeypatch.setattr(selection, "with_learned_metric", watched)
    monkeypatch.setattr(learned, "_scores", perfect)
    select(X, y, max_rows=max_rows, random_state=0)
    (rival, scores), _, (task, batch, cv, judging) = stages
    rival = comparison.lean(rival, task.n, task.n - task.n // cv, n)
    np.testing.assert_array_equal(judging([rival], task, batch, cv, range(1))[0], scores[:cv])


def test_a_seed_gives_one_metric():
    """Of more rows than importances look at."""
    X, y = xor_among_noise(0, 2100)
    model = KernelSupervisedPCA(1, shrinkage=0.1, approximation="nystroem", random_state=0)
    assert learned._metrics(model, X, y, 0) == learned._metrics(model, X, y, 0)


def test_no_metric_where_hardly_a_score_could_be_higher(monkeypatch):
    X, y = make_xor(300, noise=0.1, random_state=0)
    monkeypatch.setattr(learned, "_scores", None)  # which would raise
    assert select(X, y, random_state=0).score > 0.99


@pytest.mark.parametrize("seed", range(5))
def test_noise_learns_no_metric(seed):
    draw = np.random.default_rng(seed)
    X, y = draw.normal(size=(300, 8)), draw.integers(3, size=300)
    assert not isinstance(select(X, y, random_state=seed).params["scale"], tuple)
