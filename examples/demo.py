"""Handwritten digits in two dimensions: PCA, supervised UMAP and labelens.Atlas, held-out rows.

All three get the same rows and columns. The second row of the figure repeats the three with
shuffled training labels, which shows how much of each map comes from chance. The positions of UMAP
are precomputed by umap_digits.py, so that this demo needs no more than labelens[cli].
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.model_selection import train_test_split

from labelens import Atlas, knn_score, plot
from labelens._base.optional import require

SEED = 0
UMAP = Path(__file__).with_name("umap_digits.npz")
LABELS = ("true labels", "shuffled labels")


def main(folder: Path) -> None:
    plt = require("matplotlib.pyplot", extra="cli")
    plt.switch_backend("agg")
    X_train, X_test, y_train, y_test = split()
    figure, axes = plt.subplots(2, 3, figsize=(13, 8.6), layout="constrained")
    print(f"{'labels':17}{'method':18}{'1-NN':>7}{'within-class':>14}{'seconds':>9}  verdict")
    for row, labels, y in zip(axes, LABELS, (y_train, shuffled(y_train)), strict=True):
        for ax, method in zip(row, ("PCA", "supervised UMAP", "labelens.Atlas"), strict=True):
            model, train, test, seconds = embedded(method, labels, X_train, y, X_test)
            accuracy, inside = knn_score(train, y, test, y_test), within(X_test, test, y_test)
            evidence = "separates the classes" if beats_chance(accuracy, y_test) else "chance"
            print(f"{labels:17}{method:18}{accuracy:7.3f}{inside:14.3f}{seconds:9.1f}  {evidence}")
            if model is None or method == "PCA":
                plot.scatter(test, y_test, ax=ax)
            else:
                plot.atlas(X_test, y_test, estimator=model, ax=ax)
            if legend := ax.get_legend():
                legend.remove()
            ax.set_axis_off()
            ax.set_aspect("equal", adjustable="box")
            note = " (chance)" * (evidence == "chance")
            ax.set_title(f"{method}, {labels}\n1-NN {accuracy:.3f}{note}, within {inside:.3f}")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "embedding.png", dpi=110)
    print(
        "\n1-NN: accuracy of the nearest training row, on held-out rows."
        "\nwithin-class: trustworthiness of the map inside the classes; 0.5 is chance."
        f"\nUMAP was computed beforehand by {stored()['versions']}.\n"
        f"\nThe figure is {folder / 'embedding.png'}."
        "\nTry your own file:  .venv/bin/labelens embed FILE --label COLUMN"
    )


def split():
    """Training and test rows and labels."""
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.3, random_state=SEED, stratify=y)


def shuffled(y):
    return np.random.default_rng(SEED).permutation(y)


def embedded(method, labels, X_train, y, X_test):
    """A fitted model or None, positions of training and of test rows, and seconds of the fit."""
    if method == "supervised UMAP":
        found = stored()
        train, test, seconds = (found[f"{labels} {part}"] for part in ("train", "test", "seconds"))
        return None, train, test, float(seconds)
    model = PCA(2) if method == "PCA" else Atlas(random_state=SEED)
    start = perf_counter()
    model.fit(X_train, y)
    seconds = perf_counter() - start
    return model, model.transform(X_train), model.transform(X_test), seconds


def stored():
    with np.load(UMAP, allow_pickle=False) as file:
        return dict(file)


def within(X, Z, y):
    """Trustworthiness of the rows of each class by themselves, averaged over the classes."""
    return np.mean([trustworthiness(X[y == c], Z[y == c], n_neighbors=10) for c in np.unique(y)])


def beats_chance(accuracy, y):
    """Whether a 95 % interval of the accuracy lies above the share of the largest class."""
    error = np.sqrt(accuracy * (1 - accuracy) / len(y))
    return accuracy - 1.96 * error > np.bincount(y).max() / len(y)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/demo"))
