"""
Two classes give one direction. How do I get a second axis?
===========================================================

Labels of c classes span c - 1 directions; with two classes all that they say is on one line, and
linear discriminant analysis stops there. A ``target_weight`` below 1 mixes in what varies most: the
first axis stays with the labels, the second is the best that PCA has beside it.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from labelens import SupervisedPCA, knn_score, plot
from labelens.datasets import load_sonar

# %%
# Echoes of mines and rocks in sixty bands of frequency; three in ten are held out, and drawn.
X, y = load_sonar(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

figure, axes = plt.subplots(1, 3, figsize=(12.5, 4))
panels = ((1, 1.0, "labels alone"), (2, 0.9, "labels, and some variance"), (2, 0.0, "PCA"))
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
