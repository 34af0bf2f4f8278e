"""
Only a few rows have labels. Do the others help?
================================================

Less than one would hope. Unlabelled rows say nothing of classes; they say how columns vary
together. Name their marker with ``missing_label``, and they count for variances. That helps where
variance is what you ask for, by a ``target_weight`` below 1, and can harm where it is divided by.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelens import SupervisedPCA, knn_score

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]


def held_out(count, others, **knobs):
    """Mean accuracy over ten draws of which of 1200 rows have a label, each digit as often."""
    scores = []
    for seed in range(10):
        draw = np.random.default_rng(seed)
        each = [np.flatnonzero(y[:1200] == digit) for digit in range(10)]
        known = np.concatenate([draw.choice(rows, count // 10, replace=False) for rows in each])
        marked = np.full(1200, -1)
        marked[known] = y[known]
        rows = slice(None) if others else known
        model = SupervisedPCA(9, missing_label=-1, **knobs).fit(X[:1200][rows], marked[rows])
        Z = model.transform(X)
        scores.append(knn_score(Z[known], y[known], Z[1200:], y[1200:]))
    return np.mean(scores)


# %%
# On the left, variance is wanted: what varies in all rows is a good supplement to what 20 labels
# can say. On the right it is divided by, and there the covariance of the labelled rows alone is the
# better one: it knows the accidents that the few class means have, and takes out just those.
counts = np.array([20, 40, 80, 160, 320])
figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.2), sharey=True)
for ax, knobs in zip(axes, (dict(target_weight=0.1), dict(shrinkage=0.1)), strict=True):
    for others, style, colour, name in (
        (True, "o-", "#0072B2", "all 1200 rows, most without a label"),
        (False, "s--", "0.4", "labelled rows alone"),
    ):
        scores = [held_out(count, others, **knobs) for count in counts]
        ax.semilogx(counts, scores, style, color=colour, label=name)
    ax.set_xticks(counts, counts)
    ax.minorticks_off()
    (knob,) = knobs.items()
    ax.set(title="{}={}".format(*knob), xlabel="rows with a label")
axes[0].set_ylabel("held-out 1-NN")
axes[0].legend(loc="lower right")
plt.show()
