"""
Ten classes, two dimensions: how?
=================================

Ten classes span nine directions. The best two of nine cannot tell ten classes apart, whatever the
method. Two ways out: give every class a place of its own before fitting
(``label_map="spread"``), or embed in nine dimensions and draw rows between anchors of their classes
on a circle (:class:`labelens.Wheel`).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from labelens import KernelSupervisedPCA, KernelSupervisedRandomProjection, Wheel, knn_score, plot

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
kernel = dict(gamma=2e-4, shrinkage=0.01, random_state=0)
methods = {
    "Best two of nine directions": KernelSupervisedPCA(2, **kernel),
    'Classes well apart: label_map="spread"': KernelSupervisedRandomProjection(
        2, label_map="spread", **kernel
    ),
    "Nine dimensions on a wheel": Wheel(KernelSupervisedPCA(9, **kernel)),
}

# %%
# All three have seen the same training rows; what is drawn are the others. The wheel puts classes
# that are confused with each other side by side, and a row that could be of two classes between
# them.
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4))
for ax, (name, model) in zip(axes, methods.items(), strict=True):
    Z_train = model.fit(X_train, y_train).transform(X_train)
    Z_test = model.transform(X_test)
    score = knn_score(Z_train, y_train, Z_test, y_test)
    if isinstance(model, Wheel):
        plot.wheel(X_test, y_test, estimator=model, ax=ax)
    else:
        plot.scatter(Z_test, y_test, ax=ax)
        ax.get_legend().remove()
        for digit in range(10):
            middle = np.median(Z_test[y_test == digit], axis=0)
            ax.annotate(str(digit), middle, weight="bold", size=13)
    ax.set_title(f"{name}\nheld-out 1-NN: {score:.0%}")
plt.show()
