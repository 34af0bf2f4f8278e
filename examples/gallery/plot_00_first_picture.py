"""
What is the shortest way to a picture?
======================================

Fit with labels, transform without, draw: four lines, for any labelled table.
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
# Images of digits that the model has not seen, in the first two of nine components. There is more
# to see in the others, and on the right is how much.
figure, axes = plt.subplots(1, 2, figsize=(12.5, 4.8), width_ratios=(1.2, 1))
plot.scatter(Z_test, y_test, ax=axes[0])
axes[0].set_title("the first two of nine components")
plot.scree(model, ax=axes[1])
axes[1].set_title("what each component says of the labels")
plt.show()
