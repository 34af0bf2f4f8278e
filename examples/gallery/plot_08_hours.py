"""
Cyclic labels: hours of the day
===============================

As numbers, 23 and 0 are far apart; as classes, all hours are equally different.
:class:`labelens.label_kernels.Cyclic` is the label kernel for cyclic labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from labelens import SupervisedPCA
from labelens.label_kernels import Cyclic

# %%
# Simulated data: thirty sensors with a daily and a half-daily rhythm, and noise.
draw = np.random.default_rng(0)
hour = draw.integers(0, 24, 600)
angle = 2 * np.pi * hour / 24
circle = np.column_stack([np.cos(angle), np.sin(angle)])
rhythm = np.column_stack([circle, np.cos(2 * angle), np.sin(2 * angle)])
X = rhythm @ draw.normal(size=(4, 30)) / 2 + draw.normal(size=(600, 30))
train, test = slice(0, 300), slice(300, None)


def hours_off(Z):
    """Mean error in hours of held-out rows, predicted from the ten nearest training rows."""
    guess = KNeighborsRegressor(10).fit(Z[train], circle[train]).predict(Z[test])
    off = np.abs(np.arctan2(guess[:, 1], guess[:, 0]) * 12 / np.pi - hour[test]) % 24
    return np.minimum(off, 24 - off).mean()


# %%
# Held-out rows. With the cyclic kernel the embedding is a ring in the order of the hours.
kernels = {
    'classes: "delta"': "delta",
    'numbers: "rbf"': "rbf",
    "Cyclic(period=24)": Cyclic(period=24),
}
figure, axes = plt.subplots(1, 3, figsize=(13, 4.2))
for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
    model = SupervisedPCA(2, label_kernel=kernel).fit(X[train], hour[train])
    Z = model.transform(X)
    points = ax.scatter(*Z[test].T, c=hour[test], cmap="twilight", vmin=0, vmax=24, s=40)
    for whole in range(0, 24, 3):
        middle = Z[test][hour[test] == whole].mean(axis=0)
        ax.annotate(f"{whole}", middle, weight="bold", ha="center", va="center", size=11,
                    bbox=dict(boxstyle="circle,pad=0.2", fc="white", ec="0.5"))  # fmt: skip
    ax.set(title=f"label_kernel: {name}\n{hours_off(Z):.1f} hours mean error", aspect="equal")
    ax.axis("off")
figure.colorbar(points, ax=axes, label="hour", ticks=range(0, 25, 6))
plt.show()
