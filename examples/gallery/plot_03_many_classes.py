"""
Many classes in two dimensions
==============================

Labels of ten classes span nine directions. The two best of them do not separate ten classes.
Alternatives are class vectors that are far apart (``label_map="spread"``), class anchors on a
circle (:class:`labelens.Wheel`), and a map with a disc for each class (:class:`labelens.Atlas`),
which also shows the variation within the classes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from labelens import (
    Atlas,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    Wheel,
    knn_score,
    plot,
)

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
kernel = dict(gamma=2e-4, shrinkage=0.01, random_state=0)
methods = {
    "Two best of nine directions": KernelSupervisedPCA(2, **kernel),
    'label_map="spread"': KernelSupervisedRandomProjection(2, label_map="spread", **kernel),
    "Wheel": Wheel(KernelSupervisedPCA(9, **kernel)),
    "Atlas": Atlas(KernelSupervisedPCA(9, **kernel), random_state=0),
}

# %%
# All four models use the same training rows, and the figures show held-out rows. Wheel and atlas
# place similar classes near each other, and uncertain rows between their probable classes.
figure, axes = plt.subplots(2, 2, figsize=(10, 9))
for ax, (name, model) in zip(axes.flat, methods.items(), strict=True):
    Z_train = model.fit(X_train, y_train).transform(X_train)
    Z_test = model.transform(X_test)
    score = knn_score(Z_train, y_train, Z_test, y_test)
    if isinstance(model, Wheel):
        plot.wheel(X_test, y_test, estimator=model, ax=ax)
    elif isinstance(model, Atlas):
        plot.atlas(X_test, y_test, estimator=model, ax=ax)
    else:
        plot.scatter(Z_test, y_test, ax=ax)
        ax.get_legend().remove()
    ax.set_title(f"{name}\nheld-out 1-NN: {score:.0%}")
plt.show()
