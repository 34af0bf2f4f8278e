"""
PCA shows a blob. What do labels add?
=====================================

PCA looks for directions in which the data vary. What varies most need not have anything to do with
what you care about. Supervised PCA looks for directions that depend most on the labels, and costs
no more.

All points below are rows that the model has not seen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from labelens import SupervisedPCA, knn_score, plot

# %%
# Thirteen measurements of wines from three growers. One of them, proline, is in the hundreds, so
# PCA sees little else. Standardizing mends that; labels do the rest.
wine = load_wine(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    wine.data, wine.target, test_size=0.5, stratify=wine.target, random_state=0
)
methods = {
    "PCA": PCA(2),
    "Supervised PCA": SupervisedPCA(2, scale="standard"),
    "Supervised PCA, shrinkage=0.1": SupervisedPCA(2, scale="standard", shrinkage=0.1),
}

figure, axes = plt.subplots(1, 3, figsize=(12, 4))
for ax, (name, model) in zip(axes, methods.items(), strict=True):
    Z_train = model.fit(X_train, y_train).transform(X_train)
    Z_test = model.transform(X_test)
    score = knn_score(Z_train, y_train, Z_test, y_test)
    plot.scatter(Z_test, y_test, ax=ax, names=["grower A", "grower B", "grower C"])
    ax.set_title(f"{name}\nheld-out 1-NN: {score:.0%}")
    if ax is not axes[-1]:
        ax.get_legend().remove()
plt.show()

# %%
# Components are directions over the columns, as in PCA, so they can be read. Flavanoids and the
# hue of the wine set the growers apart.
figure, ax = plt.subplots(figsize=(7.5, 3.4))
plot.loadings(methods["Supervised PCA"], n_features=8, ax=ax)
plt.show()
