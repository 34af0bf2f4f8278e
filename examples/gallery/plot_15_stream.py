"""
Rows come in a stream, and new classes with them. What happens?
===============================================================

``partial_fit`` takes batches of any size, and classes that nobody has seen before. What is kept is
sums, not rows, so the model after ten batches is that of one fit on all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelens import SupervisedPCA, knn_score, plot

# %%
# Digits, sorted so that they come some classes at a time: the worst case for methods that learn by
# small steps.
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
# The same as if all rows had been there from the start:
whole = SupervisedPCA(n_components=2, shrinkage=0.1).fit(stream, labels)
print(f"largest difference: {np.abs(whole.components_ - model.components_).max():.1e}")

# %%
# Models that were fitted apart can be put together as well:
first, second = (SupervisedPCA(9).partial_fit(stream[i::2], labels[i::2]) for i in (0, 1))
Z = first.merge(second).transform(X)
print(f"held-out 1-NN of the merged model: {knn_score(Z[train], y[train], Z[test], y[test]):.3f}")
