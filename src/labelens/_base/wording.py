"""What the docstrings of several methods say alike, said once.

A docstring leaves a parameter or an attribute to this page by an ellipsis for its type; `worded`
fills it in, so that `help()` and whatever else reads `__doc__` sees the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])


def worded(*pages: str) -> Callable[[Class], Class]:
    """Fill in the docstring of a class from some of the pages below; later ones have precedence."""
    known = {
        entry.partition(" :")[0]: entry
        for page in pages
        for entry in re.split(r"\n(?=\w)", cleandoc(page))
    }

    def fill(cls: Class) -> Class:
        if cls.__doc__ is not None:  # as it is with python -OO
            left_out = r"^(\w+(?:, \w+)*) : \.\.\.$"
            text = cleandoc(cls.__doc__)
            cls.__doc__ = re.sub(left_out, lambda line: known[line[1]], text, flags=re.MULTILINE)
        return cls

    return fill


EVERY = """
n_components : int or "auto", default=2
    Number of dimensions of the embedding, the paper's k. "auto" takes as many as depend on the
    labels beyond chance, 32 at most: more than in each of 19 shuffles of y, the j-th component
    compared with the j-th. Class weights follow the shuffled labels. With `sample_weight` there
    are 19 more shuffles, in which the weights move with the labels, since they may depend on
    either rows or labels. The number used is `n_components_`.
label_kernel : str, label kernel or transformer, default="auto"
    Which labels are alike: "delta" the equal ones, "linear" and "rbf" close numbers, "ordinal"
    close grades, "tree" paths that start alike ("animal/dog"), "jaccard" sets that overlap (a
    multilabel indicator); an object of `labelens.label_kernels` (orders and hierarchies of
    your own, similarities of classes, hours, several columns); or the inner products of what
    a scikit-learn transformer makes of y. "auto" takes "linear" for a multilabel indicator,
    "rbf" for continuous labels and "delta" for everything else (int, str, bool: classes), by
    all labels; `partial_fit` decides by its first batch, and rejects a later one that
    contradicts. The choice made is `label_kernel_`.
label_gamma : float, default=None
    Width of the "rbf" label kernel; None is 1 / (n_outputs * y.var()).
target_weight : float, default=1.0
    1 looks for dependence on the labels only, 0 for variance only (PCA). Values between give
    more than n_classes - 1 useful components.
shrinkage : float or "auto", default=1.0
    1 treats all directions of the features equally, 0 divides by their covariance; values
    between are regularised. "auto" is Ledoit and Wolf's estimate, as `shrinkage_`.
label_shrinkage : float, default=1.0
    The same for the label features: 1 takes them as they are, 0 divides by their covariance.
    With `shrinkage=0` and `label_shrinkage=0` the method is linear discriminant analysis for
    classes and canonical correlation analysis for `label_kernel="linear"`, for every
    `n_components`. At most 10000 classes or label features if below 1.
scale : {None, "minmax", "standard"}, default=None
    Scale columns to [0, 1], as the paper does, or to unit variance first.
class_weight : dict or "balanced", default=None
    What the rows of a class count for, times `sample_weight`: a dict of weights by class (1
    for those it does not name), or "balanced", so that all classes count the same; only with
    `fit`, which knows their sizes. For classes in one column of y.
missing_label : scalar, default=None
    The value of y that marks a row without a label; such rows count for variances (a
    `target_weight` or `shrinkage` below 1) and scaling, not for dependence. None: every row
    has one (-1 is a class). nan stands for NaN, None, NaT, NA and null.
random_state : int, RandomState instance or None, default=None
    Seed of every draw.
batch_size : int, default=None
    Rows handled at a time: below 1024 it saves memory, and all values from 1024 on (None) are
    the same, bit for bit.
precision : None or "tf32", default=None
    How float32 rows are multiplied on a device that has TF32: as float32, or, if asked, with eleven
    bits of every number, which is several times faster. Sums over blocks are float64 either way;
    on the host it changes nothing.
classes_ : ndarray of shape (n_classes,)
    The classes seen so far, sorted (a list of such arrays for several columns of classes).
label_kernel_ : str, label kernel or transformer
    The label kernel used; None without labels.
shrinkage_ : float
    The shrinkage used.
n_components_ : int
    The number of components used.
n_samples_seen_, n_features_in_ : int
    Rows seen and columns expected.
feature_names_in_ : ndarray of shape (n_features,)
    Column names, if X had string ones.
"""

SPECTRAL = """
singular_values_ : ndarray of shape (n_components,)
    Square roots of the eigenvalues: at the defaults, singular values of C_xy.
dependence_, dependence_ratio_ : ndarray of shape (n_components,)
    HSIC with the labels that each component adds to those before it, and its share of the
    HSIC of all features. With `label_shrinkage` below 1 the labels are the whitened ones.
"""

DIRECT = """
label_map : {"orthogonal", "spread", "gaussian", "fourier"}, default="orthogonal"
    The k-vectors of the labels. "orthogonal" are random and lose nothing once
    k >= n_classes - 1. "spread" are for fewer components, and tell more classes apart there:
    not random but as far from each other as they get, on a polygon or a sphere, classes with
    similar means side by side (one column of at most 5000 classes). "gaussian" gives every
    class a hashed vector of its own: memory does not grow with the number of classes, and
    there are no `classes_`.
    "fourier" is the paper to the letter.
singular_values_ : ndarray of shape (n_components,)
    Singular values of `components_`, largest first.
dependence_, dependence_ratio_ : ndarray of shape (n_components,)
    HSIC with the labels that each component adds to those before it, and its share of the
    HSIC of all features. With `label_shrinkage` below 1 the labels are the whitened ones.
    With `label_map` "gaussian" or "fourier" both are against the k random label features;
    without labels NaN (no variances are kept).
"""

LINEAR = """
mean_ : ndarray of shape (n_features,)
    Mean of the features.
moments_ : Moments
    All that was kept of the data: mergeable, and without a row of it.
"""

KERNEL = """
kernel : {"rbf", "laplacian", "matern", "polynomial", "linear"} or callable, default="rbf"
    Kernel of the rows. A callable takes two rows and returns a number; it needs
    `approximation="exact"`.
gamma : float or {"scale", "median", "auto"}, default="scale"
    Kernel width, 1 / (2 sigma^2). "scale" is 1 / (n_features * X.var()), "median" takes the
    median distance between rows for sigma, and "auto" what makes held-out rows depend most on
    their labels: of nine widths from 1/100 to 100 times "scale", in three folds of at most
    2000 rows; of equal ones the nearest to "scale". Rows without a label count for "scale".
    The number used is `gamma_`.
kernel_params : dict, default=None
    `nu` (0.5, 1.5 or 2.5; default 1.5) of the Matern kernel, `degree` (3) and `coef0` (1) of
    the polynomial one, keyword arguments of a callable.
approximation : str or transformer, default="orthogonal"
    How the kernel is turned into features: "orthogonal", "fourier" or "fastfood" random
    features, "nystroem" landmarks, or any scikit-learn transformer, such as `RBFSampler()`
    (it then is the kernel). "exact" uses the true kernel, in O(n^2) time, keeps the training
    rows, and needs `target_weight=1` and `shrinkage=1`.
n_random_features : int, default=1024
    Number of features, the paper's k_x; not used by "exact" and by transformers.
scale : {None, "minmax", "standard"}, default=None
    Scale columns to [0, 1], as the paper does, or to unit variance first.
    The scaling comes from the first batch.
components_ : ndarray of shape (n_components, p)
    The directions, over p features of the kernel (of scaled rows, if `scale` is set); not there
    with "exact".
mean_ : ndarray of shape (p,)
    Mean of the features.
gamma_ : float
    The kernel width used.
moments_ : Moments
    All that was kept of the data; with "exact" that is the training rows.
dual_coef_ : ndarray of shape (n_components, n_samples)
    With "exact" only: what every training row adds to a component.
"""
