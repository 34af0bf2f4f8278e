"""
PCA and supervised PCA
======================

PCA finds the directions of largest variance, which may be unrelated to the labels. Supervised PCA
finds the directions that depend most on the labels.

The columns are standardized for all methods, and all points are held-out rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelens import SupervisedPCA, knn_score, plot

# %%
# Thirteen measurements of wines from three growers. On this data set standardization matters more
# than the labels: PCA of unscaled columns follows proline, the column with the largest variance.
# PCA of standardized columns separates the growers about as well as the supervised methods.
wine = load_wine(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    wine.data, wine.target, test_size=0.5, stratify=wine.target, random_state=0
)
methods = {
    "PCA": make_pipeline(StandardScaler(), PCA(2)),
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
# The weights of a component show which columns it uses, as in PCA. Flavanoids have the largest
# weight in the first component.
figure, ax = plt.subplots(figsize=(7.5, 3.4))
plot.loadings(methods["Supervised PCA"], n_features=8, ax=ax)
plt.show()
