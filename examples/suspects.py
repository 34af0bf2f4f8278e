"""The 25 of MNIST's test digits whose labels `label_issues` ranks lowest: docs/images/suspects.png.

python examples/suspects.py [FOLDER with the four files of MNIST] [FILE.png]
"""

import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure

from labelens import label_issues
from labelens.datasets import load_mnist


def main(folder: str | None = None, file: str = "suspects.png") -> None:
    bunch = load_mnist(folder)
    X, y = bunch.data[bunch.n_train :], bunch.target[bunch.n_train :]
    issues = label_issues(X, y, random_state=0).sort_values("label_quality")
    figure = Figure(figsize=(8, 9), layout="constrained")
    for ax, (_, issue) in zip(figure.subplots(5, 5).ravel(), issues.iterrows(), strict=False):
        ax.imshow(X[issue.row].reshape(28, 28), cmap="gray_r")
        ax.set_title(f"{issue.row}: {issue.given_label}, not {issue.predicted_label}?", size=10)
        ax.axis("off")
    figure.savefig(file, dpi=100)
    print(f"{issues.is_label_issue.sum()} of {len(y):,} labels flagged")


if __name__ == "__main__":
    main(*sys.argv[1:])
