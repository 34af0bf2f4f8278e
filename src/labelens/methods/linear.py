"""The linear methods."""

from __future__ import annotations

from typing import Literal

from .._base.types import ClassWeight, Factors, LabelMap, Precision, RandomState, Scale
from .._core.solvers import DIRECT, SPECTRAL
from .._fit.projection import Projection
from ..label_kernels.base import LabelKernelLike


class SupervisedPCA(Projection):
    """Supervised PCA: the linear projection that depends most on the labels.

    The directions u that maximise the HSIC between u.x and y (Barshan et al., 2011; section 2.1 of
    the paper), exactly: for classes one read of X and a thin SVD of n_features x n_classes. With
    y=None it is PCA; with `shrinkage=0` and `label_shrinkage=0` it is linear discriminant analysis.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of components, the paper's k. "auto" keeps the components that depend on the labels
        more than chance explains, 32 at most: the singular value of component j must exceed that
        of component j in each of 19 shuffles of y. Class weights move with the shuffled labels.
        With `sample_weight`, 19 more shuffles move the sample weights with the labels too,
        because weights may depend on the rows or on the labels. `n_components_` is the number used.
    label_kernel : str, label kernel or transformer, default="auto"
        Similarity of the labels. "delta": equal labels are similar. "linear", "rbf": close numbers.
        "ranked": close ranks of numbers, for skewed labels. "sliced": numbers in the same tenth of
        all labels (sliced inverse regression). "ordinal": close grades. "tree": paths with a common
        start ("animal/dog"). "jaccard": overlapping sets (a multilabel indicator). Objects of
        `labelens.label_kernels`: orders, hierarchies, similarity matrices, cycles, slices, several
        columns. A scikit-learn transformer: inner products of its output for y. "auto" chooses
        "linear" for a multilabel indicator, "rbf" for continuous labels and "delta" for everything
        else (int, str, bool: classes). `fit` chooses by all labels. `partial_fit` chooses by the
        first batch, and raises ValueError if a later batch contradicts. `label_kernel_` is the
        kernel used.
    label_gamma : float, default=None
        Coefficient of the "rbf" label kernel, an inverse squared width. None means
        1 / (n_outputs * y.var()), and 12 for "ranked".
    target_weight : float, default=1.0
        1 maximizes dependence on the labels, 0 variance (PCA). Values in between give more than
        n_classes - 1 useful components.
    shrinkage : float or "auto", default=1.0
        1 treats all directions of the features equally, 0 divides by their covariance, and values
        in between regularize the covariance. "auto" is the estimate of Ledoit and Wolf.
        `shrinkage_` is the value used.
    label_shrinkage : float, default=1.0
        The same for the label features: 1 keeps them, 0 divides by their covariance. With
        `shrinkage=0` and `label_shrinkage=0` the method is linear discriminant analysis for
        classes and canonical correlation analysis for `label_kernel="linear"`, for every
        `n_components`. Values below 1 allow at most 10000 classes or label features.
    component_scale : {"total", "within"}, default="total"
        Length of the components. "total": the regularized variance along a component is one
        (`shrinkage` below 1). "within": the same for the variance within classes, as in linear
        discriminant analysis, so that distances weigh a component by how well it separates the
        classes. It needs one column of classes, and changes nothing where `shrinkage` is 1.
    n_nonzero : int, default=None
        Number of columns with a weight other than zero, for many more columns than rows: those with
        the largest correlations with the labels. Their weights are soft-thresholded, as in sparse
        PLS and nearest shrunken centroids. The columns follow from the moments, so streams and
        merged models choose those of `fit`. None keeps all columns.
    scale : {None, "minmax", "standard"} or array-like of shape (n_features,), default=None
        Scale columns to [0, 1] ("minmax", as in the paper) or to unit variance ("standard"), or
        multiply them by given factors.
    class_weight : dict or "balanced", default=None
        Weight of the rows of a class, multiplied by `sample_weight`. A dict maps classes to
        weights; other classes have weight 1. "balanced" gives all classes the same total weight;
        only `fit` supports it, because it requires all class sizes. y must be one column of
        classes.
    missing_label : scalar, default=None
        Value of y that marks unlabelled rows. They count for variances (`target_weight` or
        `shrinkage` below 1) and scaling, not for dependence. NaN stands for NaN, None, NaT, NA
        and null. None means that every row has a label (-1 is a class).
    random_state : int, RandomState instance or None, default=None
        Seed of all random numbers. `SupervisedPCA` uses it only for `n_components="auto"` and for
        continuous labels of several columns.
    batch_size : int, default=None
        Rows per block. Values below 1024 save memory. All values from 1024 on, and None, give the
        same bits.
    precision : None or "tf32", default=None
        Precision of products of float32 rows on a GPU that supports TF32. None multiplies in
        float32. "tf32" keeps eleven bits of every number and is several times faster. Sums over
        blocks are float64 in both cases. It has no effect on the host.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, orthonormal when `shrinkage` is 1; of scaled columns if `scale` is set.
        Those that carry no information are zero.
    mean_ : ndarray of shape (n_features,)
        Mean of the columns.
    singular_values_ : ndarray of shape (n_components,)
        Square roots of the eigenvalues; with the default parameters, singular values of C_xy.
    dependence_, dependence_ratio_ : ndarray of shape (n_components,)
        HSIC with the labels that each component adds to the components before it, and its share
        of the HSIC of all features. With `label_shrinkage` below 1 the labels are whitened.
    classes_ : ndarray of shape (n_classes,)
        Classes seen so far, sorted; a list of such arrays for several columns of classes.
    label_kernel_ : str, label kernel or transformer
        Label kernel used; None if unsupervised.
    shrinkage_ : float
        Shrinkage used.
    moments_ : Moments
        Statistics of the training data: mergeable, and without any row of it.
    n_components_ : int
        Number of components used.
    n_samples_seen_, n_features_in_ : int
        Number of rows seen and number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string names.

    See Also
    --------
    SupervisedRandomProjection : a random counterpart, without any decomposition.
    KernelSupervisedPCA : the same with a kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedPCA
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SupervisedPCA(n_components=2).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    >>> model.dependence_ratio_.round(3)
    array([0.991, 0.009])
    """

    _solver = SPECTRAL
    _kernelised = False

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        label_kernel: LabelKernelLike = "auto",
        label_gamma: float | None = None,
        target_weight: float = 1.0,
        shrinkage: float | Literal["auto"] = 1.0,
        label_shrinkage: float = 1.0,
        component_scale: Literal["total", "within"] = "total",
        n_nonzero: int | None = None,
        scale: Scale | Factors | None = None,
        class_weight: ClassWeight | None = None,
        missing_label: object = None,
        random_state: RandomState | None = None,
        batch_size: int | None = None,
        precision: Precision | None = None,
    ) -> None:
        self.n_components = n_components
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.target_weight = target_weight
        self.shrinkage = shrinkage
        self.label_shrinkage = label_shrinkage
        self.component_scale = component_scale
        self.n_nonzero = n_nonzero
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size
        self.precision = precision


class SupervisedRandomProjection(Projection):
    """Supervised random projection (SRP): random directions that follow the labels.

    U = C_xy R: the covariance of X with k random features of the labels (section 2.2 of the
    paper). No decomposition at all, one pass, and memory that need not grow with the number of
    classes. With y=None it is the paper's randomized PCA.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of components, the paper's k. "auto" keeps the components that depend on the labels
        more than chance explains, 32 at most: the singular value of component j must exceed that
        of component j in each of 19 shuffles of y. Class weights move with the shuffled labels.
        With `sample_weight`, 19 more shuffles move the sample weights with the labels too,
        because weights may depend on the rows or on the labels. `n_components_` is the number used.
    label_kernel : str, label kernel or transformer, default="auto"
        Similarity of the labels. "delta": equal labels are similar. "linear", "rbf": close numbers.
        "ranked": close ranks of numbers, for skewed labels. "sliced": numbers in the same tenth of
        all labels (sliced inverse regression). "ordinal": close grades. "tree": paths with a common
        start ("animal/dog"). "jaccard": overlapping sets (a multilabel indicator). Objects of
        `labelens.label_kernels`: orders, hierarchies, similarity matrices, cycles, slices, several
        columns. A scikit-learn transformer: inner products of its output for y. "auto" chooses
        "linear" for a multilabel indicator, "rbf" for continuous labels and "delta" for everything
        else (int, str, bool: classes). `fit` chooses by all labels. `partial_fit` chooses by the
        first batch, and raises ValueError if a later batch contradicts. `label_kernel_` is the
        kernel used.
    label_gamma : float, default=None
        Coefficient of the "rbf" label kernel, an inverse squared width. None means
        1 / (n_outputs * y.var()), and 12 for "ranked".
    label_map : {"orthogonal", "spread", "gaussian", "fourier"}, default="orthogonal"
        Vectors of length k for the labels. "orthogonal": random vectors, exact if
        k >= n_classes - 1. "spread": separates more classes with fewer components. The vectors are
        not random but as far apart as possible, on a polygon or a sphere, and classes with similar
        means are neighbours; y must be one column of at most 5000 classes. "gaussian": a hashed
        vector for every class. Memory does not grow with the number of classes, and there is no
        `classes_`. "fourier": as in the paper.
    target_weight : float, default=1.0
        1 maximizes dependence on the labels, 0 variance (PCA). Values in between give more than
        n_classes - 1 useful components.
    shrinkage : float or "auto", default=1.0
        1 treats all directions of the features equally, 0 divides by their covariance, and values
        in between regularize the covariance. "auto" is the estimate of Ledoit and Wolf.
        `shrinkage_` is the value used.
    label_shrinkage : float, default=1.0
        The same for the label features: 1 keeps them, 0 divides by their covariance. With
        `shrinkage=0` and `label_shrinkage=0` the method is linear discriminant analysis for
        classes and canonical correlation analysis for `label_kernel="linear"`, for every
        `n_components`. Values below 1 allow at most 10000 classes or label features.
    n_nonzero : int, default=None
        Number of columns with a weight other than zero, for many more columns than rows: those with
        the largest correlations with the labels. Their weights are soft-thresholded, as in sparse
        PLS and nearest shrunken centroids. The columns follow from the moments, so streams and
        merged models choose those of `fit`. None keeps all columns.
    scale : {None, "minmax", "standard"} or array-like of shape (n_features,), default=None
        Scale columns to [0, 1] ("minmax", as in the paper) or to unit variance ("standard"), or
        multiply them by given factors.
    class_weight : dict or "balanced", default=None
        Weight of the rows of a class, multiplied by `sample_weight`. A dict maps classes to
        weights; other classes have weight 1. "balanced" gives all classes the same total weight;
        only `fit` supports it, because it requires all class sizes. y must be one column of
        classes.
    missing_label : scalar, default=None
        Value of y that marks unlabelled rows. They count for variances (`target_weight` or
        `shrinkage` below 1) and scaling, not for dependence. NaN stands for NaN, None, NaT, NA
        and null. None means that every row has a label (-1 is a class).
    random_state : int, RandomState instance or None, default=None
        Seed of all random numbers. `SupervisedPCA` uses it only for `n_components="auto"` and for
        continuous labels of several columns.
    batch_size : int, default=None
        Rows per block. Values below 1024 save memory. All values from 1024 on, and None, give the
        same bits.
    precision : None or "tf32", default=None
        Precision of products of float32 rows on a GPU that supports TF32. None multiplies in
        float32. "tf32" keeps eleven bits of every number and is several times faster. Sums over
        blocks are float64 in both cases. It has no effect on the host.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, rows of U^T; random mixtures of what the labels give. Of scaled columns if
        `scale` is set.
    mean_ : ndarray of shape (n_features,)
        Mean of the columns.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of `components_`, largest first.
    dependence_, dependence_ratio_ : ndarray of shape (n_components,)
        HSIC with the labels that each component adds to the components before it, and its share
        of the HSIC of all features. With `label_shrinkage` below 1 the labels are whitened. With
        `label_map` "gaussian" or "fourier" both refer to the k random label features. NaN if
        unsupervised, because no variances are kept.
    classes_ : ndarray of shape (n_classes,)
        Classes seen so far, sorted; a list of such arrays for several columns of classes.
    label_kernel_ : str, label kernel or transformer
        Label kernel used; None if unsupervised.
    shrinkage_ : float
        Shrinkage used.
    moments_ : Moments
        Statistics of the training data: mergeable, and without any row of it.
    n_components_ : int
        Number of components used.
    n_samples_seen_, n_features_in_ : int
        Number of rows seen and number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string names.

    See Also
    --------
    SupervisedPCA : exact, and for classes about as fast.
    KernelSupervisedRandomProjection : the same with a kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelens import SupervisedRandomProjection
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SupervisedRandomProjection(n_components=2, random_state=0)
    >>> for start in range(0, 150, 50):  # one class at a time, as a stream might bring them
    ...     model = model.partial_fit(X[start : start + 50], y[start : start + 50])
    >>> model.transform(X).shape
    (150, 2)
    >>> model.classes_
    array([0, 1, 2])
    """

    _solver = DIRECT
    _kernelised = False

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        label_kernel: LabelKernelLike = "auto",
        label_gamma: float | None = None,
        label_map: LabelMap = "orthogonal",
        target_weight: float = 1.0,
        shrinkage: float | Literal["auto"] = 1.0,
        label_shrinkage: float = 1.0,
        n_nonzero: int | None = None,
        scale: Scale | Factors | None = None,
        class_weight: ClassWeight | None = None,
        missing_label: object = None,
        random_state: RandomState | None = None,
        batch_size: int | None = None,
        precision: Precision | None = None,
    ) -> None:
        self.n_components = n_components
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.label_map = label_map
        self.target_weight = target_weight
        self.shrinkage = shrinkage
        self.label_shrinkage = label_shrinkage
        self.n_nonzero = n_nonzero
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size
        self.precision = precision
