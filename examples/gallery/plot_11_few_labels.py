"""
Rows without a label
====================

``missing_label`` names the marker of unlabelled rows. They count for the covariance of the
columns, not for the dependence on the labels. They help where variance is part of the objective
(``target_weight`` below 1), and can harm where the model divides by the covariance (``shrinkage``
below 1).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelens import SupervisedPCA, knn_score

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]


def held_out(count, others, **parameters):
    """Mean accuracy over ten random choices of the labelled rows, with equal class sizes."""
    scores = []
    for seed in range(10):
        draw = np.random.default_rng(seed)
        each = [np.flatnonzero(y[:1200] == digit) for digit in range(10)]
        known = np.concatenate([draw.choice(rows, count // 10, replace=False) for rows in each])
        marked = np.full(1200, -1)
        marked[known] = y[known]
        rows = slice(None) if others else known
        model = SupervisedPCA(9, missing_label=-1, **parameters).fit(X[:1200][rows], marked[rows])
        Z = model.transform(X)
        scores.append(knn_score(Z[known], y[known], Z[1200:], y[1200:]))
    return np.mean(scores)


# %%
# Left: variance is part of the objective, and unlabelled rows estimate it better. Right: the model
# divides by the covariance. The covariance of the labelled rows alone is better there, because it
# contains the same random errors as the few class means and corrects for them.
counts = np.array([20, 40, 80, 160, 320])
figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.2), sharey=True)
for ax, parameters in zip(axes, (dict(target_weight=0.1), dict(shrinkage=0.1)), strict=True):
    for others, style, colour, name in (
        (True, "o-", "#0072B2", "all 1200 rows, most unlabelled"),
        (False, "s--", "0.4", "labelled rows only"),
    ):
        scores = [held_out(count, others, **parameters) for count in counts]
        ax.semilogx(counts, scores, style, color=colour, label=name)
    ax.set_xticks(counts, counts)
    ax.minorticks_off()
    (parameter,) = parameters.items()
    ax.set(title="{}={}".format(*parameter), xlabel="labelled rows")
axes[0].set_ylabel("held-out 1-NN")
axes[0].legend(loc="lower right")
plt.show()
