"""Two data sets in two dimensions, by PCA and by two methods that see the labels.

Prints the held-out accuracy of each picture beside that of a control with shuffled labels, and
draws the pictures to out/demo/embedding.png.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from labelens import KernelSupervisedPCA, SupervisedPCA, knn_score
from labelens._base.optional import require
from labelens.datasets import load_sonar

SEED = 0
# A colour for each of ten classes that colour-blind readers can tell apart (Okabe-Ito, Tol).
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
    "#56B4E9", "#882255", "#999933", "#332288", "#000000",
)  # fmt: skip


def main(folder: Path) -> None:
    plt = require("matplotlib.pyplot", extra="cli")
    plt.switch_backend("agg")
    data = {
        "Digits, 64 pixels, 10 classes": load_digits(return_X_y=True),
        "Sonar, 60 bands, 2 classes": load_sonar(return_X_y=True),
    }
    print(f"{'data':32}{'method':28}{'held-out 1-NN':>14}{'shuffled labels':>17}")
    figure, axes = plt.subplots(2, 3, figsize=(12, 8.2), layout="constrained")
    for row, (title, (X, y)) in zip(axes, data.items(), strict=True):
        # Two classes span one direction; a little variance gives the picture its second.
        weight = 1.0 if len(set(y)) > 2 else 0.9
        methods = {
            "PCA": PCA(2, random_state=SEED),
            "Supervised PCA": SupervisedPCA(2, target_weight=weight, scale="minmax"),
            "Kernel supervised PCA": KernelSupervisedPCA(
                2, target_weight=weight, shrinkage=0.01, scale="minmax", random_state=SEED
            ),
        }
        split = train_test_split(X, y, test_size=0.3, random_state=SEED, stratify=y)
        for ax, (name, model) in zip(row, methods.items(), strict=True):
            accuracy, embedded = held_out(model, *split)
            control, _ = held_out(model, *shuffled(split))
            print(f"{title:32}{name:28}{accuracy:14.3f}{control:17.3f}")
            draw(ax, embedded, split[2:], f"{name} (held-out 1-NN: {accuracy:.0%})")
        row[0].set_ylabel(title)
    handles = [
        plt.Line2D([], [], ls="", marker="o", color="0.3", mfc=fill, label=label)
        for label, fill in (("training rows", "none"), ("held-out rows", "0.3"))
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "embedding.png", dpi=110)
    print(f"\nThe pictures are in {folder / 'embedding.png'}")


def held_out(model, X_train, X_test, y_train, y_test):
    """Accuracy of 1-NN on rows that the model has not seen, and both embeddings."""
    train = model.fit(X_train, y_train).transform(X_train)
    test = model.transform(X_test)
    return knn_score(train, y_train, test, y_test), (train, test)


def shuffled(split):
    """The same rows with training labels that mean nothing: what luck alone would show."""
    X_train, X_test, y_train, y_test = split
    return X_train, X_test, np.random.default_rng(SEED).permutation(y_train), y_test


def draw(ax, embedded, labels, title):
    """Training rows hollow, held-out ones filled, as in all pictures of labelens."""
    size = 10 if len(labels[0]) > 500 else 26
    for points, own, held_out in zip(embedded, labels, (False, True), strict=True):
        for colour, label in zip(COLOURS, np.unique(own), strict=False):
            part = points[own == label]
            look = dict(facecolors=colour, lw=0) if held_out else dict(facecolors="none", lw=0.6)
            ax.scatter(*part.T, s=size, edgecolors=colour, alpha=0.8 if held_out else 0.5, **look)
            if held_out:
                ax.annotate(
                    str(label), np.median(part, axis=0), ha="center", va="center", weight="bold",
                    size=11, bbox=dict(boxstyle="circle,pad=0.2", fc="white", ec=colour, alpha=0.9),
                )  # fmt: skip
    ax.set(title=title, xticks=[], yticks=[])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/demo"))
