"""
How many random features are enough?
====================================

Kernel methods here use random features instead of a matrix of all pairs of rows. How far is that
from the exact answer? :func:`labelens.approximation_report` measures it on your data, and says how
many features would halve the error.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from labelens import KernelSupervisedPCA, approximation_report, plot

X, y = load_digits(return_X_y=True)
X, y = X[:1000], y[:1000]
model = KernelSupervisedPCA(9, gamma=4e-4, n_random_features=256)
report = approximation_report(model, X, y, random_state=0)
print(report)

# %%
# The error of the kernel against the number of features: measured at half, once and twice as many,
# and the number that would halve it.
figure, ax = plt.subplots(figsize=(7.5, 4.4))
plot.approximation(report, ax=ax)
plt.show()
