"""
Streams with new classes
========================

``partial_fit`` accepts batches of any size and classes that no earlier batch had. The model keeps
sums, not rows: after all batches it is the model of one fit on all rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelens import SupervisedPCA, knn_score, plot

# %%
# Digits sorted by class, so that each batch has new classes only. This is the worst case for
# gradient methods.
X, y = load_digits(return_X_y=True)
train, test = np.arange(len(X)) % 3 > 0, np.arange(len(X)) % 3 == 0
order = np.argsort(y[train], kind="stable")
stream, labels = X[train][order], y[train][order]

model = SupervisedPCA(n_components=2, shrinkage=0.1)
figure, axes = plt.subplots(1, 4, figsize=(13.5, 3.6))
panels = iter(axes)
seen = 0
for last in (2, 4, 7, 9):
    upto = np.searchsorted(labels, last, side="right")
    model.partial_fit(stream[seen:upto], labels[seen:upto])
    seen = upto
    now = test & (y <= last)
    ax = plot.scatter(model.transform(X[now]), y[now], ax=next(panels))
    ax.set_title(f"{seen} rows, {len(model.classes_)} classes")
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    if ax is not axes[-1]:
        ax.get_legend().remove()
plt.show()

# %%
# The difference from one fit on all rows is rounding error:
whole = SupervisedPCA(n_components=2, shrinkage=0.1).fit(stream, labels)
print(f"largest difference: {np.abs(whole.components_ - model.components_).max():.1e}")

# %%
# Models of separate batches can be merged:
first, second = (SupervisedPCA(9).partial_fit(stream[i::2], labels[i::2]) for i in (0, 1))
Z = first.merge(second).transform(X)
print(f"held-out 1-NN of the merged model: {knn_score(Z[train], y[train], Z[test], y[test]):.3f}")
