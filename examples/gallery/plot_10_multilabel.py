"""
Several labels per row
======================

A matrix of zeros and ones with a column for each label is a multilabel indicator: rows that share
labels are similar.
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
# Simulated documents as counts of two hundred words. Half of the words depend on five subjects, of
# which each document has some; the other half is noise.
X, Y = make_multilabel_classification(
    1500, n_features=100, n_classes=5, n_labels=2, length=60, random_state=1
)
X = np.hstack([X, np.random.default_rng(0).poisson(3.0, size=(1500, 100))])
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, random_state=0)

# %%
# The same held-out documents, one panel for each subject: PCA above, supervised PCA below, both on
# unscaled counts. The score is the micro-F1 of the ten nearest training documents in four
# components.
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
