"""Bars in the report: importances with their noise, shuffled labels, other rows and seeds."""

import re
from html import escape

import numpy as np
import pytest
from sklearn.datasets import load_iris

import report_contents as make
from labelens import (
    SupervisedPCA,
    SupervisedRandomProjection,
    importances,
    permutation_report,
    stability_report,
)
from labelens.report import write_report
from labelens.report.bars import bars_of, drawn

X, Y = load_iris(return_X_y=True)
NOISY = np.hstack([X, np.random.default_rng(0).normal(size=(150, 3))])


@pytest.fixture(scope="module")
def shares():
    model = SupervisedPCA(2, scale="standard").fit(NOISY, Y)
    return importances(model, NOISY, Y, n_resamples=10, random_state=0)


def test_bars_of_importances(shares):
    bars = bars_of(shares, 5)
    assert len(bars) == 5
    assert [bar["value"] for bar in bars] == sorted(shares.overall)[::-1][:5]
    for bar in bars:
        j = shares.names.index(bar["name"])
        assert bar["tick"] == shares.shuffled[j]
        assert bar["text"] == (
            f"{shares.overall[j]:.3f} ± {shares.error[j]:.3f} ({shares.shuffled[j]:.3f})"
        )


def test_bars_of_reports():
    shuffled = permutation_report(SupervisedPCA(2), X, Y, n_permutations=19, random_state=0)
    score, dependence = bars_of(shuffled, 9)
    assert (score["name"], score["value"]) == ("Held-out 1-NN accuracy", shuffled.score)
    assert score["tick"] == np.quantile(shuffled.null_score, 0.95) < score["value"]
    assert dependence["tick"] == np.quantile(shuffled.null_dependence, 0.95)
    report = stability_report(SupervisedRandomProjection(2), X, Y, n_resamples=5, random_state=0)
    names = [f"Component {j}, other {cause}" for j in (1, 2) for cause in ("rows", "seeds")]
    bars = bars_of(report, 9)
    assert [bar["name"] for bar in bars] == names
    assert bars[3]["value"] == report.seeds.found.mean(axis=0)[1]
    assert [bar["name"] for bar in bars_of(report, 1)] == names[:2]


def test_widths_are_those_of_the_values():
    bars = [("<b>", 0.3, "a & b", 0.6), ("c", -2.0, "", None), ("d", 9.0, "", 0.0)]
    names = ("name", "value", "text", "tick")
    markup = drawn([dict(zip(names, bar, strict=True)) for bar in bars], 0.6)
    widths = re.findall(r"(?:width|left): ([\d.]+)%", markup)
    assert widths == ["50.0", "100.0", "0.0", "100.0", "0.0"]
    assert "&lt;b&gt;" in markup
    assert "a &amp; b" in markup


def test_they_are_in_the_report(tmp_path):
    contents = make.make_checked()
    write_report(tmp_path / "r.html", contents)
    page = (tmp_path / "r.html").read_text()
    part = {
        name: page.partition(f'<section id="{name}">')[2].partition("</section>")[0]
        for name in ("importances", "checks")
    }
    assert part["importances"].count('<table class="bars">') == 4  # overall, and three classes
    assert part["importances"].count(" ± ") == 4
    assert escape(make.HOSTILE[1]) in part["importances"]
    assert part["checks"].count("<tr>") == 2 + 4
    for report in contents.checks.values():
        assert report.verdict in part["checks"]
    assert "largest angle" in part["checks"]  # the whole table
