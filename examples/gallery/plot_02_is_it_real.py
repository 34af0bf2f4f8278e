"""
Overfitting: noise with random labels
=====================================

A supervised method can separate any labels if there are enough columns. Here are 60 rows of noise
in 200 columns, with five random classes. The training rows look like five separate classes.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelens import SupervisedPCA, cross_embed, permutation_report, plot

X = np.random.default_rng(0).normal(size=(60, 200))
y = np.arange(60) % 5
model = SupervisedPCA(n_components=2)

# %%
# :func:`labelens.cross_embed` embeds every row by a model that was fitted without it, and aligns
# the models in one figure. The separation disappears.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
plot.cross_embedding(cross_embed(model, X, y, random_state=0), y, axes=axes)
plt.show()

# %%
# :func:`labelens.permutation_report` compares the held-out accuracy with that of shuffled labels.
# Here the p-value is above 0.05: there is no evidence for the classes.
report = permutation_report(model, X, y, random_state=0)
figure, ax = plt.subplots(figsize=(7, 4))
plot.permutation(report, ax=ax)
plt.show()
print(report)
