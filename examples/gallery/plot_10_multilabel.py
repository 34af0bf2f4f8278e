"""
Every row has several labels at once. What do I see?
====================================================

A matrix of zeros and ones, a column for each label, is a multilabel indicator: rows are alike if
they share labels. Components follow what labels have in common, and one picture serves all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from labelens import SupervisedPCA

# %%
# Documents as counts of two hundred words. Half of the words are about five subjects, of which each
# document has some; the other half is about nothing.
X, Y = make_multilabel_classification(
    1500, n_features=100, n_classes=5, n_labels=2, length=60, random_state=1
)
X = np.hstack([X, np.random.default_rng(0).poisson(3.0, size=(1500, 100))])
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, random_state=0)

# %%
# The same held-out documents, once for each subject, by PCA above and by supervised PCA below. The
# score is micro-F1 of the ten nearest training documents, in four components.
figure, axes = plt.subplots(2, 5, figsize=(13, 5.6), sharex="row", sharey="row")
for row, model in zip(axes, (PCA(4), SupervisedPCA(4, shrinkage=0.1)), strict=True):
    Z_train = model.fit(X_train, Y_train).transform(X_train)
    Z_test = model.transform(X_test)
    guess = KNeighborsClassifier(10).fit(Z_train, Y_train).predict(Z_test)
    score = f1_score(Y_test, guess, average="micro")
    row[0].set_ylabel(f"{type(model).__name__}\nheld-out F1: {score:.2f}", size=11)
    for subject, ax in enumerate(row):
        has = Y_test[:, subject] == 1
        ax.scatter(*Z_test[~has, :2].T, s=7, color="0.82")
        ax.scatter(*Z_test[has, :2].T, s=10, color="#0072B2")
        ax.set(xticks=[], yticks=[])
        if isinstance(model, PCA):
            ax.set_title(f"subject {subject}")
plt.show()
