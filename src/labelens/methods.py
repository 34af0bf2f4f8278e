"""The four methods of the paper: which map, which labels, which solver. No algorithm lives here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .projection import Projection

__all__ = [
    "KernelSupervisedPCA",
    "KernelSupervisedRandomProjection",
    "SupervisedPCA",
    "SupervisedRandomProjection",
]


class SupervisedPCA(Projection):
    """Supervised PCA: the linear projection that depends most on the labels.

    The directions u that maximise the HSIC between u.x and y (Barshan et al., 2011; section 2.1 of
    the paper), exactly: for classes one read of X and a thin SVD of n_features x n_classes. With
    y=None it is PCA; with `shrinkage=0` and n_classes - 1 components it spans the space of linear
    discriminant analysis.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of dimensions of the embedding, the paper's k. "auto" takes as many as depend on the
        labels beyond chance: more than in each of 19 shuffles of y, the j-th component compared
        with the j-th. The number used is `n_components_`.
    label_kernel : str, label kernel or transformer, default="auto"
        Which labels are alike: "delta" the equal ones, "linear" and "rbf" close numbers, "ordinal"
        close grades, "tree" paths that start alike ("animal/dog"), "jaccard" sets that overlap (a
        multilabel indicator); an object of `labelens.label_kernels` (orders and hierarchies of
        your own, similarities of classes, hours, several columns); or the inner products of what
        a scikit-learn transformer makes of y. "auto" takes "linear" for a multilabel indicator,
        "rbf" for continuous labels and "delta" for everything else (int, str, bool: classes); the
        first batch decides. The choice made is `label_kernel_`.
    label_gamma : float, default=None
        Width of the "rbf" label kernel; None is 1 / (n_outputs * y.var()).
    target_weight : float, default=1.0
        1 looks for dependence on the labels only, 0 for variance only (PCA). Values between give
        more than n_classes - 1 useful components.
    shrinkage : float or "auto", default=1.0
        1 treats all directions alike, 0 divides by the covariance of the features (LDA, CCA);
        values between are regularised. "auto" is Ledoit and Wolf's estimate, as `shrinkage_`.
    scale : {None, "minmax", "standard"}, default=None
        Scale columns to [0, 1], as the paper does, or to unit variance first.
    class_weight : dict or "balanced", default=None
        What the rows of a class count for, times `sample_weight`: a dict of weights by class (1
        for those it does not name), or "balanced", so that all classes count the same; only with
        `fit`, which knows their sizes. For classes in one column of y.
    missing_label : scalar, default=None
        The value of y that marks a row without a label; such rows count for variances (a
        `target_weight` or `shrinkage` below 1) and scaling, not for dependence. None: every row
        has one (-1 is a class). nan stands for NaN, None and NaT.
    random_state : int, RandomState instance or None, default=None
        Used only for continuous labels of several columns.
    batch_size : int, default=None
        Rows handled at a time: below 1024 it saves memory, and all values from 1024 on (None) are
        the same, bit for bit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, orthonormal when `shrinkage` is 1. Those that carry no information are zero.
    mean_ : ndarray of shape (n_features,)
        Mean of the features.
    singular_values_ : ndarray of shape (n_components,)
        Square roots of the eigenvalues: at the defaults, singular values of C_xy.
    dependence_, dependence_ratio_ : ndarray of shape (n_components,)
        HSIC with the labels that each component adds to those before it, and its share of the
        HSIC of all features.
    classes_ : ndarray of shape (n_classes,)
        The classes seen so far, sorted (a list of such arrays for several columns of classes).
    label_kernel_ : str, label kernel or transformer
        The label kernel used.
    shrinkage_ : float
        The shrinkage used.
    moments_ : Moments
        All that was kept of the data: mergeable, and without a row of it.
    n_samples_seen_, n_features_in_ : int
        Rows seen and columns expected.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string ones.

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

    _spectral = True
    _kernelised = False

    def __init__(
        self,
        n_components: int = 2,
        *,
        label_kernel: Any = "auto",
        label_gamma: float | None = None,
        target_weight: float = 1.0,
        shrinkage: float | str = 1.0,
        scale: str | None = None,
        class_weight: Any = None,
        missing_label: Any = None,
        random_state: Any = None,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.target_weight = target_weight
        self.shrinkage = shrinkage
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size


class SupervisedRandomProjection(Projection):
    """Supervised random projection (SRP): random directions that follow the labels.

    U = C_xy R: the covariance of X with k random features of the labels (section 2.2 of the
    paper). No decomposition at all, one pass, and memory that need not grow with the number of
    classes. With y=None it is the paper's randomized PCA.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of dimensions of the embedding, the paper's k. "auto" takes as many as depend on the
        labels beyond chance: more than in each of 19 shuffles of y, the j-th component compared
        with the j-th. The number used is `n_components_`.
    label_kernel : str, label kernel or transformer, default="auto"
        Which labels are alike: "delta" the equal ones, "linear" and "rbf" close numbers, "ordinal"
        close grades, "tree" paths that start alike ("animal/dog"), "jaccard" sets that overlap (a
        multilabel indicator); an object of `labelens.label_kernels` (orders and hierarchies of
        your own, similarities of classes, hours, several columns); or the inner products of what
        a scikit-learn transformer makes of y. "auto" takes "linear" for a multilabel indicator,
        "rbf" for continuous labels and "delta" for everything else (int, str, bool: classes); the
        first batch decides. The choice made is `label_kernel_`.
    label_gamma : float, default=None
        Width of the "rbf" label kernel; None is 1 / (n_outputs * y.var()).
    label_map : {"orthogonal", "spread", "gaussian", "fourier"}, default="orthogonal"
        The k-vectors of the labels. "orthogonal" are random and lose nothing once
        k >= n_classes - 1. "spread" are for fewer components, and tell more classes apart there:
        not random but as far from each other as they get, on a polygon or a sphere, classes with
        similar means side by side (one column of at most 5000 classes). "gaussian" gives every
        class a hashed vector of its own: memory does not grow with the number of classes.
        "fourier" is the paper to the letter.
    target_weight : float, default=1.0
        1 looks for dependence on the labels only, 0 for variance only (PCA). Values between give
        more than n_classes - 1 useful components.
    shrinkage : float or "auto", default=1.0
        1 treats all directions alike, 0 divides by the covariance of the features (LDA, CCA);
        values between are regularised. "auto" is Ledoit and Wolf's estimate, as `shrinkage_`.
    scale : {None, "minmax", "standard"}, default=None
        Scale columns to [0, 1], as the paper does, or to unit variance first.
    class_weight : dict or "balanced", default=None
        What the rows of a class count for, times `sample_weight`: a dict of weights by class (1
        for those it does not name), or "balanced", so that all classes count the same; only with
        `fit`, which knows their sizes. For classes in one column of y.
    missing_label : scalar, default=None
        The value of y that marks a row without a label; such rows count for variances (a
        `target_weight` or `shrinkage` below 1) and scaling, not for dependence. None: every row
        has one (-1 is a class). nan stands for NaN, None and NaT.
    random_state : int, RandomState instance or None, default=None
        Seed of every draw.
    batch_size : int, default=None
        Rows handled at a time: below 1024 it saves memory, and all values from 1024 on (None) are
        the same, bit for bit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, rows of U^T; random mixtures of what the labels give.
    mean_ : ndarray of shape (n_features,)
        Mean of the features.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of `components_`, largest first.
    dependence_, dependence_ratio_ : ndarray of shape (n_components,)
        HSIC with the labels that each component adds to those before it, and its share of the
        HSIC of all features. With `label_map` "gaussian" or "fourier" both are against the k
        random label features; without labels NaN (no variances are kept).
    classes_ : ndarray of shape (n_classes,)
        The classes seen so far, sorted (a list of such arrays for several columns of classes).
    label_kernel_ : str, label kernel or transformer
        The label kernel used.
    shrinkage_ : float
        The shrinkage used.
    moments_ : Moments
        All that was kept of the data: mergeable, and without a row of it.
    n_samples_seen_, n_features_in_ : int
        Rows seen and columns expected.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string ones.

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

    _spectral = False
    _kernelised = False

    def __init__(
        self,
        n_components: int = 2,
        *,
        label_kernel: Any = "auto",
        label_gamma: float | None = None,
        label_map: str = "orthogonal",
        target_weight: float = 1.0,
        shrinkage: float | str = 1.0,
        scale: str | None = None,
        class_weight: Any = None,
        missing_label: Any = None,
        random_state: Any = None,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.label_map = label_map
        self.target_weight = target_weight
        self.shrinkage = shrinkage
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size


class KernelSupervisedPCA(Projection):
    """Kernel supervised PCA (KSPCA): the nonlinear projection that depends most on the labels.

    `SupervisedPCA` on random features of a kernel, or with the exact kernel (section 2.1 of the
    paper). A small `shrinkage`, such as 1e-3, is often far more accurate than the paper's 1.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of dimensions of the embedding, the paper's k. "auto" takes as many as depend on the
        labels beyond chance: more than in each of 19 shuffles of y, the j-th component compared
        with the j-th. The number used is `n_components_`.
    kernel : {"rbf", "laplacian", "matern", "polynomial", "linear"} or callable, default="rbf"
        Kernel of the rows. A callable takes two rows and returns a number; it needs
        `approximation="exact"`.
    gamma : float or {"scale", "median", "auto"}, default="scale"
        Kernel width, 1 / (2 sigma^2). "scale" is 1 / (n_features * X.var()), "median" takes the
        median distance between rows for sigma, and "auto" what makes held-out rows depend most on
        their labels: of nine widths from 1/100 to 100 times "scale", in three folds of at most
        2000 rows. The number used is `gamma_`.
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
    label_kernel : str, label kernel or transformer, default="auto"
        Which labels are alike: "delta" the equal ones, "linear" and "rbf" close numbers, "ordinal"
        close grades, "tree" paths that start alike ("animal/dog"), "jaccard" sets that overlap (a
        multilabel indicator); an object of `labelens.label_kernels` (orders and hierarchies of
        your own, similarities of classes, hours, several columns); or the inner products of what
        a scikit-learn transformer makes of y. "auto" takes "linear" for a multilabel indicator,
        "rbf" for continuous labels and "delta" for everything else (int, str, bool: classes); the
        first batch decides. The choice made is `label_kernel_`.
    label_gamma : float, default=None
        Width of the "rbf" label kernel; None is 1 / (n_outputs * y.var()).
    target_weight : float, default=1.0
        1 looks for dependence on the labels only, 0 for variance only (PCA). Values between give
        more than n_classes - 1 useful components.
    shrinkage : float or "auto", default=1.0
        1 treats all directions alike, 0 divides by the covariance of the features (LDA, CCA);
        values between are regularised. "auto" is Ledoit and Wolf's estimate, as `shrinkage_`.
    scale : {None, "minmax", "standard"}, default=None
        Scale columns to [0, 1], as the paper does, or to unit variance first.
        The scaling comes from the first batch.
    class_weight : dict or "balanced", default=None
        What the rows of a class count for, times `sample_weight`: a dict of weights by class (1
        for those it does not name), or "balanced", so that all classes count the same; only with
        `fit`, which knows their sizes. For classes in one column of y.
    missing_label : scalar, default=None
        The value of y that marks a row without a label; such rows count for variances (a
        `target_weight` or `shrinkage` below 1) and scaling, not for dependence. None: every row
        has one (-1 is a class). nan stands for NaN, None and NaT.
    random_state : int, RandomState instance or None, default=None
        Seed of every draw.
    batch_size : int, default=None
        Rows handled at a time: below 1024 it saves memory, and all values from 1024 on (None) are
        the same, bit for bit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, p)
        The directions, over p features of the kernel; not there with "exact".
    mean_ : ndarray of shape (p,)
        Mean of the features.
    singular_values_ : ndarray of shape (n_components,)
        Square roots of the eigenvalues: at the defaults, singular values of C_xy.
    dependence_, dependence_ratio_ : ndarray of shape (n_components,)
        HSIC with the labels that each component adds to those before it, and its share of the
        HSIC of all features.
    classes_ : ndarray of shape (n_classes,)
        The classes seen so far, sorted (a list of such arrays for several columns of classes).
    gamma_ : float
        The kernel width used.
    label_kernel_ : str, label kernel or transformer
        The label kernel used.
    shrinkage_ : float
        The shrinkage used.
    moments_ : Moments
        All that was kept of the data; with "exact" that is the training rows.
    n_samples_seen_, n_features_in_ : int
        Rows seen and columns expected.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string ones.
    dual_coef_ : ndarray of shape (n_components, n_samples)
        With "exact" only: what every training row adds to a component.

    See Also
    --------
    KernelSupervisedRandomProjection : a random counterpart, without any decomposition.
    SupervisedPCA : the linear method.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from labelens import KernelSupervisedPCA
    >>> X, y = make_circles(n_samples=200, factor=0.3, noise=0.1, random_state=0)
    >>> model = KernelSupervisedPCA(n_components=1, gamma=1.0, random_state=0).fit(X, y)
    >>> z = model.transform(X)[:, 0]
    >>> bool(max(z[y == 0]) < min(z[y == 1]) or max(z[y == 1]) < min(z[y == 0]))
    True
    """

    _spectral = True
    _kernelised = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | str = "scale",
        kernel_params: Mapping[str, Any] | None = None,
        approximation: Any = "orthogonal",
        n_random_features: int = 1024,
        label_kernel: Any = "auto",
        label_gamma: float | None = None,
        target_weight: float = 1.0,
        shrinkage: float | str = 1.0,
        scale: str | None = None,
        class_weight: Any = None,
        missing_label: Any = None,
        random_state: Any = None,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_random_features = n_random_features
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.target_weight = target_weight
        self.shrinkage = shrinkage
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size


class KernelSupervisedRandomProjection(Projection):
    """Kernel supervised random projection (KSRP): SRP on random features of a kernel.

    U = C_xy R, where the rows went through a feature map first (section 2.2 of the paper).

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of dimensions of the embedding, the paper's k. "auto" takes as many as depend on the
        labels beyond chance: more than in each of 19 shuffles of y, the j-th component compared
        with the j-th. The number used is `n_components_`.
    kernel : {"rbf", "laplacian", "matern", "polynomial", "linear"} or callable, default="rbf"
        Kernel of the rows. A callable takes two rows and returns a number; it needs
        `approximation="exact"`.
    gamma : float or {"scale", "median", "auto"}, default="scale"
        Kernel width, 1 / (2 sigma^2). "scale" is 1 / (n_features * X.var()), "median" takes the
        median distance between rows for sigma, and "auto" what makes held-out rows depend most on
        their labels: of nine widths from 1/100 to 100 times "scale", in three folds of at most
        2000 rows. The number used is `gamma_`.
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
    label_kernel : str, label kernel or transformer, default="auto"
        Which labels are alike: "delta" the equal ones, "linear" and "rbf" close numbers, "ordinal"
        close grades, "tree" paths that start alike ("animal/dog"), "jaccard" sets that overlap (a
        multilabel indicator); an object of `labelens.label_kernels` (orders and hierarchies of
        your own, similarities of classes, hours, several columns); or the inner products of what
        a scikit-learn transformer makes of y. "auto" takes "linear" for a multilabel indicator,
        "rbf" for continuous labels and "delta" for everything else (int, str, bool: classes); the
        first batch decides. The choice made is `label_kernel_`.
    label_gamma : float, default=None
        Width of the "rbf" label kernel; None is 1 / (n_outputs * y.var()).
    label_map : {"orthogonal", "spread", "gaussian", "fourier"}, default="orthogonal"
        The k-vectors of the labels. "orthogonal" are random and lose nothing once
        k >= n_classes - 1. "spread" are for fewer components, and tell more classes apart there:
        not random but as far from each other as they get, on a polygon or a sphere, classes with
        similar means side by side (one column of at most 5000 classes). "gaussian" gives every
        class a hashed vector of its own: memory does not grow with the number of classes.
        "fourier" is the paper to the letter.
    target_weight : float, default=1.0
        1 looks for dependence on the labels only, 0 for variance only (PCA). Values between give
        more than n_classes - 1 useful components.
    shrinkage : float or "auto", default=1.0
        1 treats all directions alike, 0 divides by the covariance of the features (LDA, CCA);
        values between are regularised. "auto" is Ledoit and Wolf's estimate, as `shrinkage_`.
    scale : {None, "minmax", "standard"}, default=None
        Scale columns to [0, 1], as the paper does, or to unit variance first.
        The scaling comes from the first batch.
    class_weight : dict or "balanced", default=None
        What the rows of a class count for, times `sample_weight`: a dict of weights by class (1
        for those it does not name), or "balanced", so that all classes count the same; only with
        `fit`, which knows their sizes. For classes in one column of y.
    missing_label : scalar, default=None
        The value of y that marks a row without a label; such rows count for variances (a
        `target_weight` or `shrinkage` below 1) and scaling, not for dependence. None: every row
        has one (-1 is a class). nan stands for NaN, None and NaT.
    random_state : int, RandomState instance or None, default=None
        Seed of every draw.
    batch_size : int, default=None
        Rows handled at a time: below 1024 it saves memory, and all values from 1024 on (None) are
        the same, bit for bit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, p)
        The directions, over p features of the kernel; not there with "exact".
    mean_ : ndarray of shape (p,)
        Mean of the features.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of `components_`, largest first.
    dependence_, dependence_ratio_ : ndarray of shape (n_components,)
        HSIC with the labels that each component adds to those before it, and its share of the
        HSIC of all features. With `label_map` "gaussian" or "fourier" both are against the k
        random label features; without labels NaN (no variances are kept).
    classes_ : ndarray of shape (n_classes,)
        The classes seen so far, sorted (a list of such arrays for several columns of classes).
    gamma_ : float
        The kernel width used.
    label_kernel_ : str, label kernel or transformer
        The label kernel used.
    shrinkage_ : float
        The shrinkage used.
    moments_ : Moments
        All that was kept of the data; with "exact" that is the training rows.
    n_samples_seen_, n_features_in_ : int
        Rows seen and columns expected.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if X had string ones.
    dual_coef_ : ndarray of shape (n_components, n_samples)
        With "exact" only: what every training row adds to a component.

    See Also
    --------
    KernelSupervisedPCA : the directions that KSRP approximates, one by one.
    SupervisedRandomProjection : the linear method.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from labelens import KernelSupervisedRandomProjection, knn_score
    >>> X, y = make_circles(n_samples=400, factor=0.3, noise=0.1, random_state=0)
    >>> model = KernelSupervisedRandomProjection(n_components=1, gamma=1.0, random_state=0)
    >>> Z = model.fit(X[:300], y[:300]).transform(X)
    >>> knn_score(Z[:300], y[:300], Z[300:], y[300:])
    1.0
    """

    _spectral = False
    _kernelised = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | str = "scale",
        kernel_params: Mapping[str, Any] | None = None,
        approximation: Any = "orthogonal",
        n_random_features: int = 1024,
        label_kernel: Any = "auto",
        label_gamma: float | None = None,
        label_map: str = "orthogonal",
        target_weight: float = 1.0,
        shrinkage: float | str = 1.0,
        scale: str | None = None,
        class_weight: Any = None,
        missing_label: Any = None,
        random_state: Any = None,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.approximation = approximation
        self.n_random_features = n_random_features
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.label_map = label_map
        self.target_weight = target_weight
        self.shrinkage = shrinkage
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size


# By the names of the paper.
METHODS: dict[str, type[Projection]] = {
    "spca": SupervisedPCA,
    "srp": SupervisedRandomProjection,
    "kspca": KernelSupervisedPCA,
    "ksrp": KernelSupervisedRandomProjection,
}
