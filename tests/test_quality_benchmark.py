"""`benchmarks/quality.py`: its measures and ranks compared with formulas, and a short run."""

import json
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

BENCHMARKS = str(Path(__file__).parents[1] / "benchmarks")
sys.path.append(BENCHMARKS)  # last: it has names of the standard library
try:
    import quality
    import quality_measures as measures
    import quality_peers as peers
    import quality_report as report
finally:
    sys.path.remove(BENCHMARKS)


@pytest.fixture
def wine():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


# Measures --------------------------------------------------------------------------------------


def slow_separability(X, y, shuffles):
    """Jeon et al. (2024): the index of one pair, as the authors' code has it."""

    def index(labels):
        spread = np.std([np.linalg.norm(x - X.mean(axis=0)) for x in X])
        compact = separate = np.longdouble(0)
        for name in np.unique(labels):
            own = X[labels == name]
            centroid = own.mean(axis=0)
            compact += sum(
                np.exp(np.longdouble(np.linalg.norm(x - centroid) / spread)) for x in own
            )
            apart = np.linalg.norm(centroid - X.mean(axis=0))
            separate += len(own) * np.exp(np.longdouble(apart / spread))
        return (len(X) - 2) * separate / compact

    found, chance = index(y), np.mean([index(shuffled) for shuffled in shuffles])
    found, chance = 1 / (1 + 1 / found), 1 / (1 + 1 / chance)
    return (found - chance) / (1 - chance)


def test_separability_is_the_formula_of_the_authors(wine):
    X, y = wine
    draw, expected = np.random.default_rng(0), []
    for a, b in combinations(range(3), 2):
        rows = (y == a) | (y == b)
        shuffles = [draw.permutation(y[rows] == a) for _ in range(measures.SHUFFLES)]
        expected.append(slow_separability(X[rows], y[rows] == a, shuffles))
    np.testing.assert_allclose(measures.separability(X, y), np.array(expected, float), rtol=1e-9)
    np.testing.assert_allclose(measures.separability(sparse.csr_array(X), y), expected, rtol=1e-9)


def test_separability_of_rows_in_one_place_is_zero():
    assert measures.separability(np.ones((20, 2)), np.arange(20) % 2) == [0]


def test_label_measures_count_pairs_that_come_together_or_apart():
    data, embedding = np.array([0.9, 0.5, 0.2]), np.array([0.6, 0.5, 0.8])
    found = measures.label_measures(data, embedding)
    assert found == pytest.approx({"label_trust": 1 - 0.3 / 3, "label_cont": 1 - 0.6 / 3})


def test_accuracies_are_those_of_scikit_learn(wine):
    X, y = wine
    names = np.array(["b", "a", "c"])[y]
    found = measures.predictions("classes", X[::2, :2], names[::2], X[1::2, :2], names[1::2])
    for measure, k in (("acc1", 1), ("acc15", 15)):
        model = KNeighborsClassifier(k).fit(X[::2, :2], names[::2])
        assert found[measure] == model.score(X[1::2, :2], names[1::2])


def test_r2_is_the_mean_of_the_targets(wine):
    X, _ = wine
    found = measures.predictions("numbers", X[::2, :5], X[::2, 5:7], X[1::2, :5], X[1::2, 5:7])
    each = []
    for target in (5, 6):
        model = KNeighborsRegressor(10).fit(X[::2, :5], X[::2, target])
        errors = X[1::2, target] - model.predict(X[1::2, :5])
        each.append(1 - (errors**2).sum() / (X[1::2, target].var() * len(errors)))
    assert found["r2"] == pytest.approx(np.mean(each))


def test_trustworthiness_within_classes_is_the_formula(wine):
    X, y = wine
    X, y = np.vstack([X, X[:4] + 1]), np.append(y, [3] * 4)  # a class of 4 rows does not count
    Z, expected = X[:, :2], []
    for name in range(3):
        own, map_ = X[y == name], Z[y == name]
        n, k, penalty = len(own), 10, 0
        for i in range(n):
            order = np.argsort(np.linalg.norm(own - own[i], axis=1)).tolist()
            near = np.argsort(np.linalg.norm(map_ - map_[i], axis=1))[1 : k + 1]
            penalty += sum(max(order.index(j) - k, 0) for j in near)
        expected.append(1 - 2 / (n * k * (2 * n - 3 * k - 1)) * penalty)
    assert measures.class_trustworthiness(X, Z, y) == pytest.approx(np.mean(expected))


# Peers -----------------------------------------------------------------------------------------


def test_sliced_inverse_regression_is_discriminant_analysis_of_slices(rng):
    X = rng.normal(size=(400, 6))
    y = X @ rng.normal(size=6) + (X @ rng.normal(size=6)) ** 2
    slices = np.argsort(np.argsort(y)) // 40
    axes = LinearDiscriminantAnalysis(solver="eigen").fit(X, slices).scalings_[:, :2]
    assert subspace_angles(peers.SIR(2).fit(X, y).axes, axes).max() < 1e-5


def test_peers_choose_standardized_columns_where_these_predict(wine):
    X, y = wine
    X = X * np.array([1e-3] * 12 + [1])  # the last column hides all others
    found = peers.fit_peer(peers.PEERS["PCA"], X, y, "classes", 2, seed=0)
    assert found.setting == "standardized"
    assert found.train.shape == (178, 2)
    np.testing.assert_allclose(found.transform(X), found.train, atol=1e-9)


# The page --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("methods", "quantile"), [(2, 1.960), (4, 2.569), (7, 2.949), (10, 3.164)])
def test_critical_differences_are_those_of_demsar(methods, quantile):
    """Table 5 (a) of Demšar (2006)."""
    expected = quantile * np.sqrt(methods * (methods + 1) / (6 * 14))
    assert report.critical_difference(methods, 14) == pytest.approx(expected, abs=2e-3)


def test_ties_share_their_ranks():
    ranks = report.mean_ranks(np.array([[0.9, 0.9, 0.1], [0.3, 0.2, 0.1]]))
    np.testing.assert_allclose(ranks, [1.25, 1.75, 3])


@pytest.mark.parametrize(
    ("peer", "verdict"),
    [([0.9, 0.8, 0.7], "tie"), ([0.92, 0.81, 0.73], "loss"), ([0.5, 0.5, 0.5], "win")],
)
def test_differences_are_judged_by_their_paired_standard_error(peer, verdict):
    ours = peers.SELECT
    values = {ours: [0.9, 0.8, 0.7], "PCA": peer, "raw columns": [1.0, 1.0, 1.0]}
    records = [
        dict(data="iris", kind="classes", k=2, full=2, method=name, split=split, part=0)
        | dict(acc1=own[split], seconds=1.0, cpu=1.0, tuning=0.0)
        for name, own in values.items()
        for split in range(3)
    ]
    (found,) = report.outcomes(report.blocks(records, ["iris"]), ours)
    differences = np.subtract(values[ours], peer)
    assert found.peer == "PCA"
    assert found.verdict == verdict
    assert found.error == pytest.approx(differences.std(ddof=1) / np.sqrt(3))
    (raw,) = report.outcomes(report.blocks(records, ["iris"]), ours, raw=True)
    assert raw.verdict == "loss"


def run(folder, *options):
    quality.main(["--out", str(folder), "--quick", *options, "iris"])
    return json.loads((folder / "quality.json").read_text())["records"]


def check(records, methods):
    assert {one["method"] for one in records} == methods
    assert len(records) == 2 * len(methods)  # two splits, and k = 2 = n_classes - 1
    for one in records:
        assert one["acc1"] > 0.7
        assert all(0 < one[name] <= 1 for name in ("acc15", "label_trust", "label_cont", "trust"))


@pytest.mark.slow
def test_a_short_run_and_ours_again(tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "has_umap", lambda: False)
    methods = {*peers.OURS, *peers.peers("classes")} - {peers.UMAP}
    records = run(tmp_path)
    check(records, methods)
    text = (tmp_path / "quality.md").read_text()
    assert text.index("## Losses") < text.index("## Ties") < text.index("## Figures")
    again = run(tmp_path, "--again", "--only", peers.SELECT)
    check(again, methods)
    kept = [[one for one in some if one["method"] != peers.SELECT] for some in (records, again)]
    assert kept[0] == kept[1]
    assert {one["run"] for one in again if one["method"] == peers.SELECT} == {1}
    assert run(tmp_path) == again  # nothing is missing, so nothing is measured


def test_the_raw_columns_have_the_accuracy_of_scikit_learn():
    split = quality.DATA["iris"].split(None, 0)
    assert len(split.y) + len(split.parts[0].y) == len(load_iris().target)
    assert len(split.parts[0].y) == 38  # a quarter
    model = KNeighborsClassifier(1).fit(split.X, split.y)
    (found,) = quality.measure("iris", 0, None, lambda k, name: name == peers.RAW)
    scaler = measures.standardizer(split.X)
    scaled = KNeighborsClassifier(1).fit(scaler.transform(split.X), split.y)
    expected = {
        "": model.score(split.parts[0].X, split.parts[0].y),
        "standardized": scaled.score(scaler.transform(split.parts[0].X), split.parts[0].y),
    }
    assert found[0]["acc1"] == expected[found[0]["setting"]]


@pytest.mark.long
def test_a_short_run_with_umap(tmp_path):
    pytest.importorskip("umap")
    check(run(tmp_path), {*peers.OURS, *peers.peers("classes")})
