"""Figure 1: two dimensions of XOR, Spirals and Sonar by six methods."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from labelens._judge.metrics import knn_score

from .lab import METHODS, TARGET_WEIGHT, Lab, Task, choose_gamma, make_method, quiet

DATASETS = ("XOR", "Spirals", "Spirals, not scaled", "Sonar")


def tasks(lab: Lab) -> Iterator[Task]:
    for dataset in DATASETS:
        for method in ("PCA", "KPCA", *METHODS):
            name = f"visualisation/{dataset}/{method}"
            yield Task(name, partial(_panel, lab, dataset, method))


def _panel(lab: Lab, dataset: str, method: str) -> list[dict[str, Any]]:
    split = lab.split(dataset)
    gamma = choose_gamma(method, 2, split, lab, lab.seed)

    def embed(target_weight: float) -> tuple[Any, Any, float]:
        model = make_method(method, 2, split, gamma, lab.seed, target_weight)
        with quiet():
            train = model.fit(split.X_train, split.y_train).transform(split.X_train)
        test = model.transform(split.X_test)
        return train, test, knn_score(train, split.y_train, test, split.y_test)

    train, test, plain = embed(1.0)
    accuracy = plain
    if method in METHODS:
        # Two classes span one direction: a second axis to look at needs some variance.
        train, test, accuracy = embed(TARGET_WEIGHT)
    return [
        dict(
            dataset=dataset,
            method=method,
            part=part,
            label=str(label),
            z1=float(z[0]),
            z2=float(z[1]),
            accuracy=accuracy,
            plain=plain,
        )
        for part, rows, labels in (("train", train, split.y_train), ("test", test, split.y_test))
        for z, label in zip(rows, labels, strict=True)
    ]
