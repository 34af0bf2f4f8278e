"""What `labelens embed` adds to the report: noise of importances, rows that conform to no class."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits


def section(page, name):
    return page.partition(f'<section id="{name}">')[2].partition("</section>")[0]


def test_check_tells_the_noise_of_importances(run, iris, tmp_path):
    done = run("embed", "iris.csv", "--label", "species", "--method", "spca", "--check", "--quiet")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "embedding" / "report.html").read_text()
    lines = re.findall(r"(\d\.\d{3}) ± (\d\.\d{3}) \((\d\.\d{3})\)", page)
    assert len(lines) == 4
    own, error, shuffled = np.array(lines, dtype=float).T
    assert own.sum() == pytest.approx(1, abs=0.002)
    assert (error > 0).any()
    assert own[0] > shuffled[0] + 2 * error[0]
    assert section(page, "checks").count("<tr>") == 2 + 4  # shuffled labels, rows and seeds


def test_rows_that_conform_to_no_class_are_marked(run, tmp_path):
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"p{j}" for j in range(64)]).assign(digit=y)
    train, test = frame[:1000], frame[1000:1400].copy()
    strange = np.arange(20)
    test.iloc[strange, :64] = 16 - test.iloc[strange, :64]  # negatives
    train.to_csv(tmp_path / "train.csv", index=False)
    test.to_csv(tmp_path / "test.csv", index=False)
    done = run("embed", "train.csv", "--label", "digit", "--test", "test.csv", "--quiet")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "embedding" / "report.html").read_text()
    found = re.search(r"conformity below 0.01\): (\d+) of 400; 1 in 100", page)
    assert 15 <= int(found[1]) <= 40
    assert '"name":"conformity"' in page
