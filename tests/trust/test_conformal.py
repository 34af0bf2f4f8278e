"""Prediction sets hold the class as often as stated; rows unlike anything seen are known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import roc_auc_score

from labelens import Atlas, SupervisedPCA, load, save


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, y, Atlas(SupervisedPCA(shrinkage=0.1), random_state=0).fit(X[:1000], y[:1000])


def coverage(atlas, X, y, **options):
    _, sets = atlas.predict_set(X, **options)
    return sets[np.arange(len(y)), np.searchsorted(atlas.classes_, y)].mean(axis=0)


def test_coverage_on_new_rows_and_by_class():
    levels, found, by_class = (0.8, 0.9), [], []
    for seed in range(5):
        X, y = make_blobs([400, 400, 100], 2, cluster_std=[1.0, 2.5, 1.5], random_state=seed + 3)
        X[y == 1] *= 0.4
        atlas = Atlas(SupervisedPCA(shrinkage=0.1), random_state=seed).fit(X[::2], y[::2])
        found.append(coverage(atlas, X[1::2], y[1::2], confidence_level=levels))
        X, y = X[1::2][y[1::2] == 2], y[1::2][y[1::2] == 2]
        by_class.append(coverage(atlas, X, y, class_conditional=True)[0])
    assert np.mean(found, axis=0) == pytest.approx(levels, abs=0.03)
    assert np.mean(by_class) == pytest.approx(0.9, abs=0.06)


def test_sets_grow_with_the_level_and_hold_all_classes_at_one(digits):
    X, _, atlas = digits
    predicted, sets = atlas.predict_set(X[1000:], (0.5, 0.9, 0.99, 1))
    assert sets.shape == (797, 10, 4)
    assert (np.diff(sets.sum(axis=1), axis=1) >= 0).all()
    assert sets[:, :, 3].all()
    assert np.array_equal(predicted, atlas.predict(X[1000:]))
    with pytest.raises(ValueError, match="confidence_level"):
        atlas.predict_set(X, 1.2)


def test_coverage_by_class_averages_to_the_level(digits):
    _, y, atlas = digits
    found = atlas.class_coverage(0.9)
    assert list(found) == list(range(10))
    shares = np.bincount(y[:1000]) / 1000
    assert np.dot(list(found.values()), shares) == pytest.approx(0.9, abs=0.005)


def test_a_digit_that_was_held_out_is_unlike_the_others(digits):
    X, y, _ = digits
    some = y != 0
    atlas = Atlas(SupervisedPCA(shrinkage=0.1), random_state=0).fit(
        X[:1000][some[:1000]], y[:1000][some[:1000]]
    )
    conformity = atlas.conformity(X[1000:])
    assert roc_auc_score(y[1000:] == 0, -conformity) > 0.9
    assert (conformity[y[1000:] != 0] < 0.1).mean() == pytest.approx(0.1, abs=0.08)


def test_files_and_the_command_line_keep_it(digits, tmp_path):
    from typer.testing import CliRunner

    from labelens.cli.app import app

    X, _, atlas = digits
    save(atlas, tmp_path / "map.labelens")
    again = load(tmp_path / "map.labelens")
    assert np.array_equal(again.predict_set(X)[1], atlas.predict_set(X)[1])
    assert np.array_equal(again.conformity(X), atlas.conformity(X))
    rows = np.vstack([X[1000:1010], np.zeros((1, 64)), 40 * np.ones((1, 64))])
    pd.DataFrame(rows).rename(columns=lambda i: f"x{i}").to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "placed.csv"
    told = ["transform", tmp_path / "map.labelens", tmp_path / "new.csv", "--out", out, "--flag"]
    done = CliRunner().invoke(app, [str(one) for one in told])
    assert done.exit_code == 0, done.output
    placed = pd.read_csv(out)
    assert placed.conformity.to_numpy() == pytest.approx(atlas.conformity(rows))
    assert (placed.unlike_anything_seen == (placed.conformity < 0.01)).all()
    save(atlas.estimator_, tmp_path / "base.labelens")
    told[1] = tmp_path / "base.labelens"
    done = CliRunner().invoke(app, [str(one) for one in [*told, "--force"]])
    assert done.exit_code == 1
    assert "needs an atlas" in done.output
