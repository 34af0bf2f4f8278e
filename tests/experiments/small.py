"""The outcome of a small reproduction."""

import numpy as np
import pandas as pd

from paper import report

METHODS = ("SPCA", "KSPCA", "SRP", "KSRP")
WAYS = ("formulas as written", "the authors' clock", "labelens")


def table(columns, rows):
    return pd.DataFrame(list(rows), columns=columns.split())


def make_frames():
    """Small frames of every kind; one run in places, a flat and a proportional embedding."""
    draw = np.random.default_rng(0)
    panels = []
    for dataset in ("XOR", "Spirals", "Sonar"):
        for method in ("PCA", "KPCA", *METHODS):
            z = draw.normal(size=(12, 2))
            z[:, 1] *= {"SPCA": 0.0, "KSPCA": 1e-17}.get(method, 1.0)
            if method == "SRP":
                z[:, 1] = 2 * z[:, 0]
            panels += [
                (dataset, method, ("train", "test")[i % 2], "ab"[i % 3 % 2], *z[i], 0.875)
                for i in range(12)
            ]
    seconds = {"formulas as written": 4e-7, "the authors' clock": 2e-7, "labelens": 1e-7}
    return dict(
        visualisation=table("dataset method part label z1 z2 accuracy", panels),
        classification=table(
            "dataset method device k run accuracy fit_seconds",
            (
                (dataset, method, device, k, run, 0.5 + 0.04 * k, 1e-3 * k * (1 + run))
                for dataset, runs in (("XOR", 3), ("Ionosphere", 1), ("MNIST", 2))
                for method in METHODS
                for device in ("plain", "label noise", "target_weight")
                for k in (1, 2, 9)
                for run in range(runs)
            ),
        ),
        times=table(
            "method n way seconds",
            (
                (method, n, way, seconds[way] * n * (1 if "SR" in method else 3))
                for method in METHODS
                for way in WAYS
                for n in ((100, 400) if way != "labelens" else (100, 400, 1600))
                if way != "the authors' clock" or "SR" in method
            ),
        ),
        complexity=table(
            "method way variable size seconds",
            (
                (method, way, variable, size, 1e-6 * size ** (2 if way != "labelens" else 1))
                for method in METHODS
                for way in ("formulas as written", "labelens")
                for variable in "ndk"
                for size in (10, 20, 40)
            ),
        ),
        claim1=table(
            "dataset n_classes label_map k seed residual",
            (
                ("digits", 10, name, k, seed, 0.0 if name == "orthogonal" and k >= 9 else 0.5 / k)
                for name in ("orthogonal", "gaussian", "fourier")
                for k in (1, 9, 20)
                for seed in range(2)
            ),
        ),
        kernel_error=table(
            "dataset approximation n_features seed error",
            (
                ("Sonar", name, m, seed, m**-0.5)
                for name in ("fourier", "orthogonal", "fastfood", "nystroem")
                for m in (64, 256)
                for seed in range(2)
            ),
        ),
        unlabelled=table(
            "k seed method captured",
            (
                (k, seed, name, share * k)
                for name, share in (("PCA", 0.1), ("SRP without labels", 0.08))
                for k in (1, 5)
                for seed in range(2)
            ),
        ),
    )


def make_claims():
    return [
        dict(sentence=f"Claim {i}", where="3.2", figure="Figure 2", verdict=verdict, note="So.")
        for i, verdict in enumerate(report.VERDICTS)
    ]
