"""
Components of images
====================

Components of images are images. PCA components show what varies, supervised PCA components show
what separates the classes, and with a small ``shrinkage`` they show contrasts between
neighbouring pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from labelens import SupervisedPCA

X, y = load_digits(return_X_y=True)
methods = {
    "PCA": PCA(6),
    "SupervisedPCA": SupervisedPCA(6),
    "shrinkage=0.03": SupervisedPCA(6, shrinkage=0.03),
}
figure, axes = plt.subplots(3, 6, figsize=(9.5, 5.2))
for row, (name, model) in zip(axes, methods.items(), strict=True):
    for number, (ax, direction) in enumerate(zip(row, model.fit(X, y).components_, strict=True)):
        most = np.abs(direction).max()
        ax.imshow(direction.reshape(8, 8), cmap="RdBu_r", vmin=-most, vmax=most)
        ax.set(xticks=[], yticks=[])
        if row is axes[0]:
            ax.set_title(f"component {number + 1}", size=9)
    row[0].set_ylabel(name)
plt.show()

# %%
# ``inverse_transform`` returns the image that fits an embedding best. Nine numbers keep the class
# of most digits, and lose the handwriting.
model = SupervisedPCA(9).fit(X, y)
back = model.inverse_transform(model.transform(X))
figure, axes = plt.subplots(2, 10, figsize=(9.5, 2.3))
for digit in range(10):
    shown = np.flatnonzero(y == digit)[3]
    for ax, image in zip(axes[:, digit], (X[shown], back[shown]), strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("64 pixels")
axes[1, 0].set_ylabel("from 9")
plt.show()
