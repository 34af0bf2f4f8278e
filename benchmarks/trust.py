"""`python benchmarks/trust.py`: pure noise, over many data sets (docs/trust.md, decision 11)."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestCentroid

from labelens import SupervisedPCA, cross_embed, permutation_report
from labelens._core.neighbours import nearest
from measure import machine
from publish import Printed


def noise(seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(60, 200)), np.arange(60) % 5


def false_alarms(data_sets: int = 200, shuffles: int = 39) -> None:
    reports = [
        permutation_report(
            SupervisedPCA(4), *noise(seed), n_permutations=shuffles, random_state=seed
        )
        for seed in range(data_sets)
    ]
    fitted = [one.training_score for one in reports]
    say = Printed()
    say.head("data sets of noise", "found evidence", "1-NN accuracy as fitted, mean", "lowest")
    evidence = sum(one.evidence for one in reports)
    say.row(data_sets, evidence, f"{np.mean(fitted):.2f}", f"{np.min(fitted):.2f}")
    say.keep("noise", machine())


def left_in_the_picture(data_sets: int = 150) -> None:
    """How often a row is closest to the mean of its own class, or to a row of it."""
    means: dict[str, list[float]] = {"held out": [], "as fitted": []}
    rows: dict[str, list[float]] = {"held out": [], "as fitted": []}
    for seed in range(data_sets):
        X, y = noise(seed)
        crossed = cross_embed(SupervisedPCA(4), X, y, random_state=seed)
        for name, Z in (("held out", crossed.Z), ("as fitted", crossed.fitted)):
            others = [np.delete(np.arange(60), i) for i in range(60)]
            guesses = [
                NearestCentroid().fit(Z[o], y[o]).predict(Z[[i]])[0] for i, o in enumerate(others)
            ]
            means[name].append(float(np.mean(guesses == y)))
            rows[name].append(
                float(
                    np.mean(
                        [y[o][nearest(Z[o], Z[[i]], 1)[0, 0]] == y[i] for i, o in enumerate(others)]
                    )
                )
            )
    for name in means:
        print(
            f"{name}: nearest class mean of the others right {np.mean(means[name]):.3f} (chance "
            f"0.2), nearest other row of the same class {np.mean(rows[name]):.3f} (chance 11/59)"
        )


if __name__ == "__main__":
    false_alarms()
    left_in_the_picture()
