"""
Choosing the shrinkage
======================

``shrinkage`` goes from 1 (all directions of the columns count equally, as in the paper) to 0
(divide by the covariance of the columns). With n_classes - 1 components, 0 gives the span of
linear discriminant analysis; with fewer components, set ``label_shrinkage=0`` too. Values in
between are often better than both ends.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split

from labelens import KernelSupervisedPCA, SupervisedPCA, knn_score

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)


def held_out(model):
    Z_train = model.fit(X_train, y_train).transform(X_train)
    return knn_score(Z_train, y_train, model.transform(X_test), y_test)


shrinkages = np.logspace(-4, 0, 13)
kernel = KernelSupervisedPCA(9, gamma=4e-4, n_random_features=512, random_state=0)
curves = {
    "KernelSupervisedPCA": [held_out(kernel.set_params(shrinkage=s)) for s in shrinkages],
    "SupervisedPCA": [held_out(SupervisedPCA(9, shrinkage=s)) for s in shrinkages],
}

# %%
# Nine components of the digits, half of the rows held out, columns unscaled for all methods. On
# this data set PCA is better than the linear supervised methods. The kernel method is better than
# PCA if the shrinkage is small.
figure, ax = plt.subplots(figsize=(8, 4.6))
for colour, (name, scores) in zip(("#D55E00", "#0072B2"), curves.items(), strict=True):
    ax.semilogx(shrinkages, scores, "o-", color=colour, label=name)
for name, model, style in (
    ("LinearDiscriminantAnalysis", LinearDiscriminantAnalysis(n_components=9), "--"),
    ("PCA", PCA(9), ":"),
):
    ax.axhline(held_out(model), color="0.35", linestyle=style, lw=1.2, label=name)
ax.set(xlabel="shrinkage (0 is LDA, 1 is the paper)", ylabel="held-out 1-NN")
ax.legend(loc="center left", bbox_to_anchor=(0.01, 0.37), frameon=False)
plt.show()

# %%
# ``shrinkage="auto"`` is the estimate of Ledoit and Wolf, which does not use the labels.
print(f"{SupervisedPCA(9, shrinkage='auto').fit(X_train, y_train).shrinkage_:.3f}")
