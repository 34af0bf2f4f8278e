"""Contents of reports, for the tests of the page and of the page in a browser."""

from dataclasses import replace

import numpy as np
from sklearn.datasets import load_digits, load_iris

from hostile_names import HOSTILE_NAMES
from labelens import (
    KernelSupervisedPCA,
    SupervisedPCA,
    importances,
    knn_score,
    permutation_report,
    stability_report,
)
from labelens.report import Contents, Label

HOSTILE = HOSTILE_NAMES[:30]


def make_contents(**changes):
    """The digits under supervised PCA, every part of the page filled."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    test = rng.random(len(y)) < 0.3
    model = SupervisedPCA(n_components=5, scale=None).fit(X[~test], y[~test])
    Z = model.transform(X)
    counts = np.zeros((10, 10), dtype=int)
    distances = np.square(Z[test][:, None] - Z[~test][None]).sum(axis=2)
    np.add.at(counts, (y[test], y[~test][distances.argmin(axis=1)]), 1)
    contents = dict(
        title="Digits seen through their labels",
        command="labelens embed digits.csv --label digit --components 5 --seed 0",
        about={"n_components": 5, "scale": None, "versions": {"labelens": "0.1.0", "numpy": "2"}},
        Z=Z,
        test=test,
        labels=y,
        continuous=False,
        hover={"pixel 20": X[:, 20], "name": [f"image {i}" for i in range(len(y))]},
        model=model,
        scores=dict(
            heldout=knn_score(Z[~test], y[~test], Z[test], y[test]),
            train=0.95, raw=0.985, majority=0.104, shuffled=0.11, metric="1-NN accuracy",
        ),
        confusion=(list(range(10)), counts),
        gamma_curve=dict(
            gammas=[1e-4, 1e-3, 1e-2, 1e-1], mean=[0.7, 0.93, 0.97, 0.4],
            std=[0.02, 0.01, 0.01, 0.05], shuffled_mean=[0.1, 0.11, 0.1, 0.09],
        ),
        notes=["Rows 3 and 7 had missing values and were left out."],
    )  # fmt: skip
    contents |= changes
    label = Label(*(contents.pop(part) for part in ("labels", "scores", "confusion")))
    return Contents(labels={contents.pop("name", "digit"): label}, **contents)


def make_checked():
    """Iris with the reports of `--check`, and importances with their noise."""
    X, y = load_iris(return_X_y=True)
    model = SupervisedPCA(2, scale="standard")
    checks = {
        "Shuffled labels": permutation_report(model, X, y, n_permutations=19, random_state=0),
        "Other rows and seeds": stability_report(model, X, y, n_resamples=3, random_state=0),
    }
    fitted = model.fit(X, y)
    shares = importances(fitted, X, y, n_resamples=5, random_state=0)
    return make_contents(
        Z=fitted.transform(X), test=np.arange(150) % 4 == 0, labels=y, hover={}, model=fitted,
        checks=checks, importances=replace(shares, names=[HOSTILE[1], *shares.names[1:]]),
        confusion=None,
    )  # fmt: skip


def make_several():
    """Two labels of the digits, one of them with hostile names."""
    one = make_contents()
    y = one.labels["digit"].values
    sizes = np.array(["small", "<b>large</b>"], dtype=object)[(y > 4).astype(int)]
    scores = dict(heldout=0.62, train=0.9, raw=0.97, majority=0.5, shuffled=0.5)
    size = Label(
        sizes,
        scores | {"metric": "1-NN accuracy"},
        (["<b>large</b>", "small"], [[200, 68], [60, 197]]),
    )
    changed = {name: getattr(one, name) for name in one.__dataclass_fields__}
    return Contents(**changed | {"labels": {**one.labels, HOSTILE[3]: size}, "title": "Two labels"})


def make_hostile():
    """The iris rows with hostile text wherever text can go."""
    X, _ = load_iris(return_X_y=True)
    c = len(HOSTILE)
    y = np.array([HOSTILE[i % c] for i in range(150)], dtype=object)
    model = SupervisedPCA(n_components=3).fit(X, np.arange(150) % c)
    Z = model.transform(X)
    model.feature_names_in_ = np.array(HOSTILE[:4], dtype=object)
    scores = dict(heldout=0.5, train=1.0, raw=None, majority=0.1, shuffled=0.45)
    return make_contents(
        title=HOSTILE[1], command=HOSTILE[1], about=dict(zip(HOSTILE, HOSTILE, strict=True)),
        Z=Z, test=np.arange(150) % 2 == 0, labels=y, model=model,
        hover={HOSTILE[2]: y, HOSTILE[12]: y[::-1], HOSTILE[28]: list(y)},
        scores=scores | {"metric": "1-NN accuracy"},
        confusion=(HOSTILE, np.eye(c, dtype=int) + 1), notes=HOSTILE,
    )  # fmt: skip


def make_large(n=200_001, c=40, k=3):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(c, k)) * 5
    y = rng.integers(c - 1, size=n)
    y[0] = c - 1  # a class of one row
    Z = centres[y] + rng.normal(size=(n, k))
    return make_contents(
        title="Many rows", Z=Z, test=rng.random(n) < 0.2, labels=y, confusion=None,
        hover={"value": rng.normal(size=n)},
    )  # fmt: skip


def make_many_classes(c=5000, n=20_000):
    rng = np.random.default_rng(0)
    y = np.minimum(rng.zipf(1.3, n), c) - 1
    y[:c] = np.arange(c)
    centres = rng.normal(size=(c, 3)) * 5
    confusion = None
    if c <= 500:
        counts = np.diag(np.bincount(y, minlength=c))
        np.add.at(counts, (rng.integers(c, size=3000), rng.integers(c, size=3000)), 1)
        confusion = [f"species {i}" for i in range(c)], counts
    return make_contents(
        title="Many classes", Z=centres[y] + rng.normal(size=(n, 3)),
        test=rng.random(n) < 0.3, labels=np.array([f"species {i}" for i in y]),
        hover={}, confusion=confusion,
    )  # fmt: skip


def make_continuous(k=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.1 * rng.normal(size=1200)
    model = KernelSupervisedPCA(n_components=k, random_state=0).fit(X, y)
    scores = dict(heldout=0.71, train=0.8, raw=0.6, majority=None, shuffled=-0.9)
    return make_contents(
        title="A number as the label", Z=model.transform(X), test=np.arange(1200) % 4 == 0,
        labels=y, continuous=True, hover={"x0": X[:, 0]}, model=model, confusion=None,
        scores=scores | {"metric": "k-NN R^2"}, notes=[],
    )  # fmt: skip


def make_line():
    """One component: a strip a class."""
    contents = make_contents()
    names = np.array(["setosa <b>", "versicolor & co", "virginica", "%{x}"], dtype=object)
    digits = contents.labels["digit"].values
    return make_contents(
        title="One component", Z=contents.Z[:, :1], labels=names[digits % 4],
        confusion=None, gamma_curve=None,
    )  # fmt: skip
