"""
Number of random features
=========================

Kernel methods use random features instead of the matrix of all pairs of rows.
:func:`labelens.approximation_report` measures the difference from the exact kernel on your data,
and estimates how many features halve the error.
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
# Error of the kernel by number of features: measured at half, once and twice as many, and the
# estimated number that halves it.
figure, ax = plt.subplots(figsize=(7.5, 4.4))
plot.approximation(report, ax=ax)
plt.show()
