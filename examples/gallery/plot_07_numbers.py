"""
Continuous labels
=================

Floats are continuous labels by default: close numbers are similar. A kernel method also finds a
dependence that is not linear.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from labelens import KernelSupervisedPCA, knn_score, plot

# %%
# Eight simulated columns with the same distribution. The label is the distance from the origin in
# the first two columns. It is not correlated with any direction.
draw = np.random.default_rng(0)
X = draw.uniform(-1, 1, size=(1500, 8))
y = np.hypot(X[:, 0], X[:, 1])
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# The score is the R² of held-out rows, predicted from the five nearest training rows.
methods = {
    "PCA": PCA(2),
    "Partial least squares": PLSRegression(2),
    "Kernel supervised PCA": KernelSupervisedPCA(2, gamma=0.1, shrinkage=1e-3, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(13, 4))
for ax, (name, model) in zip(axes, methods.items(), strict=True):
    Z_train = model.fit(X_train, y_train).transform(X_train)
    Z_test = model.transform(X_test)
    score = knn_score(Z_train, y_train, Z_test, y_test, n_neighbors=5)
    plot.scatter(Z_test, y_test, ax=ax)
    ax.set_title(f"{name}\nheld-out R²: {score:.2f}")
plt.show()
