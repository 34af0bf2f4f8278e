"""
Choosing gamma
==============

The kernel coefficient gamma sets the scale of the kernel. If it is too small, the kernel is
nearly linear; if it is too large, every row is similar only to itself.
:func:`labelens.plot.gamma_curve` shows the held-out accuracy over gamma, together with that of
shuffled labels. :func:`labelens.select` compares a grid of gamma and shrinkage.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from labelens import KernelSupervisedPCA, knn_score, plot, select
from labelens.datasets import load_ionosphere

# %%
# Radar returns of two classes, good and bad, in one dimension.
X, y = load_ionosphere(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = KernelSupervisedPCA(1, shrinkage=0.1, n_random_features=256, random_state=0)
gammas = np.logspace(-3, 1.5, 10)
figure, ax = plt.subplots(figsize=(8, 4.6))
plot.gamma_curve(X_train, y_train, estimator=model, gammas=gammas, ax=ax, random_state=0)
plt.show()

# %%
# The best shrinkage depends on gamma, so compare pairs.
grid = {"gamma": np.logspace(-2.5, 0.5, 7), "shrinkage": [1, 0.3, 0.1, 0.03, 0.01]}
chosen = select(X_train, y_train, model, grid=grid, random_state=0)
scores = {(line["gamma"], line["shrinkage"]): line["score"] for line in chosen.table}
table = np.array([[scores[gamma, s] for gamma in grid["gamma"]] for s in grid["shrinkage"]])
figure, ax = plt.subplots(figsize=(7.5, 3.8))
image = ax.imshow(table, cmap="viridis", aspect="auto")
for (i, j), score in np.ndenumerate(table):
    ax.text(j, i, f"{score:.2f}", ha="center", va="center", color="w" if score < 0.85 else "k")
ax.set(xlabel="gamma", ylabel="shrinkage")
ax.set_xticks(range(7), [f"{gamma:.2g}" for gamma in grid["gamma"]])
ax.set_yticks(range(5), grid["shrinkage"])
figure.colorbar(image, label="cross-validated 1-NN")
plt.show()

# %%
# The best of many candidates has an optimistic score. This is its accuracy on rows that `select`
# did not use:
best = chosen.estimator
print(f"{knn_score(best.transform(X_train), y_train, best.transform(X_test), y_test):.3f}")
