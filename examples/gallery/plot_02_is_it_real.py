"""
Is this picture real, or did it memorise the labels?
====================================================

A method that sees labels can always be fooled by them. Here are 60 rows of pure noise in 200
columns, with five labels that mean nothing. As fitted, they look like five classes.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelens import SupervisedPCA, cross_embed, permutation_report, plot

X = np.random.default_rng(0).normal(size=(60, 200))
y = np.arange(60) % 5
model = SupervisedPCA(n_components=2)

# %%
# :func:`labelens.cross_embed` places every row by a model that has not seen its label, all in one
# picture. What was memorised is gone.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
plot.cross_embedding(cross_embed(model, X, y, random_state=0), y, axes=axes)
plt.show()

# %%
# :func:`labelens.permutation_report` does the same with labels that were shuffled on purpose. If
# these score as well, there is nothing to see.
report = permutation_report(model, X, y, random_state=0)
figure, ax = plt.subplots(figsize=(7, 4))
plot.permutation(report, ax=ax)
plt.show()
print(report)
