"""Noise that looks like classes, and classes that are real: as fitted, held out, and shuffled.

Prints the reports and writes the figure to out/trust/trust.png.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from labelens import SupervisedPCA, cross_embed, permutation_report, plot
from labelens._base.optional import require

SEED = 0


def main(folder: Path) -> None:
    draw = np.random.default_rng(SEED)
    digits, labels = load_digits(return_X_y=True)
    few = labels < 5
    data = {
        "Noise: 60 rows, 200 columns, 5 labels": (draw.normal(size=(60, 200)), np.arange(60) % 5),
        "Digits 0 to 4: 901 rows, 64 pixels": (digits[few], labels[few]),
    }
    figure = require("matplotlib.figure", extra="cli").Figure((15, 9), layout="constrained")
    rows = figure.subplots(2, 3, width_ratios=(1, 1, 1.1))
    for axes, (title, (X, y)) in zip(rows, data.items(), strict=True):
        model = SupervisedPCA(n_components=2)
        plot.cross_embedding(cross_embed(model, X, y, random_state=SEED), y, axes=axes[:2])
        report = permutation_report(model, X, y, random_state=SEED)
        plot.permutation(report, ax=axes[2])
        axes[0].set_ylabel(title, weight="bold")
        for ax in axes:
            ax.spines[["top", "right"]].set_visible(False)
        print(f"{title}\n{report}\n")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "trust.png", dpi=80)
    print(f"The figure is {folder / 'trust.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/trust"))
