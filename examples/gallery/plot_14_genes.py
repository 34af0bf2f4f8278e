"""
Many more columns than rows
===========================

With 5000 genes and 80 patients every supervised method separates its training rows. What counts
is the accuracy of held-out rows, and whether the columns with the largest weights are the right
ones. The data are simulated, so the right columns are known.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelens import SupervisedPCA, cross_embed, permutation_report, plot

# %%
# Three subtypes. Thirty marker genes are higher in one subtype each. All genes depend on twenty
# pathways, which vary between patients independently of the subtype.
draw = np.random.default_rng(0)
subtype = np.arange(80) % 3
X = draw.normal(size=(80, 20)) @ draw.normal(size=(20, 5000)) * 0.1 + draw.normal(size=(80, 5000))
marker = np.full(5000, -1)
marker[:30] = np.arange(30) % 3
X[:, :30] += 3.5 * (subtype[:, None] == marker[:30])
names = np.array([f"subtype {letter}" for letter in "ABC"])

# %%
# The training rows are perfectly separated. Show the held-out rows: their separation is good, not
# perfect.
model = SupervisedPCA(2, scale="standard")
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
crossed = cross_embed(model, X, names[subtype], random_state=0)
plot.cross_embedding(crossed, names[subtype], axes=axes)
plt.show()
print(permutation_report(model, X, names[subtype], n_permutations=39, random_state=0).verdict)

# %%
# How many of the thirty genes with the largest weights are markers?
length = np.linalg.norm(model.fit(X, subtype).components_, axis=0)
found = np.argsort(-length)[:30]
print(f"{np.sum(marker[found] >= 0)} of the 30 genes with the largest weights are markers")

figure, ax = plt.subplots(figsize=(6.4, 5))
ax.scatter(*model.components_[:, marker < 0], s=5, color="0.75", label="other genes")
for kind, colour in enumerate(("#0072B2", "#D55E00", "#009E73")):
    own = model.components_[:, marker == kind]
    ax.scatter(*own, s=45, color=colour, label=f"markers of {names[kind]}")
ax.set(xlabel="weight in component 1", ylabel="weight in component 2", aspect="equal")
ax.locator_params(nbins=5)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
plt.show()
