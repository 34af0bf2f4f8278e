"""
First embedding
===============

Fit with labels, transform without labels, and plot the held-out rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from labelens import SupervisedPCA, plot

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = SupervisedPCA(n_components=9).fit(X_train, y_train)
Z_test = model.transform(X_test)

# %%
# Left: held-out digits in the first two of nine components. Right: the share of the dependence on
# the labels that each component has.
figure, axes = plt.subplots(1, 2, figsize=(12.5, 4.8), width_ratios=(1.2, 1))
plot.scatter(Z_test, y_test, ax=axes[0])
axes[0].set_title("held-out rows, first two of nine components")
plot.scree(model, ax=axes[1])
axes[1].set_title("share of the dependence on the labels")
plt.show()
