"""
A second axis for two classes
=============================

Labels of two classes span one direction, and linear discriminant analysis has one component. With
``target_weight`` below 1 the objective includes variance: the first axis follows the labels, the
second is a direction of large variance.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from labelens import SupervisedPCA, knn_score, plot
from labelens.datasets import load_sonar

# %%
# Sonar echoes of mines and rocks in sixty frequency bands. The figure shows the 30 % of rows that
# were held out. All three models have the same scaling and shrinkage.
X, y = load_sonar(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

figure, axes = plt.subplots(1, 3, figsize=(12.5, 4))
panels = ((1, 1.0, "labels only"), (2, 0.9, "labels and variance"), (2, 0.0, "variance only"))
for ax, (components, weight, what) in zip(axes, panels, strict=True):
    model = SupervisedPCA(components, scale="minmax", shrinkage=0.1, target_weight=weight)
    Z_train = model.fit(X_train, y_train).transform(X_train)
    Z_test = model.transform(X_test)
    score = knn_score(Z_train, y_train, Z_test, y_test)
    plot.scatter(Z_test, y_test, ax=ax, names=["mine", "rock"])
    ax.set_title(f"target_weight={weight:g}: {what}\nheld-out 1-NN: {score:.0%}")
    if ax.get_legend() and ax is not axes[-1]:
        ax.get_legend().remove()
plt.show()
