"""The four methods of the paper: which map, which labels, which solver. No algorithm lives here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._base import wording as words
from ._base.wording import worded
from ._core.solvers import DIRECT, SPECTRAL
from ._fit.projection import Projection

__all__ = [
    "KernelSupervisedPCA",
    "KernelSupervisedRandomProjection",
    "SupervisedPCA",
    "SupervisedRandomProjection",
]


@worded(words.EVERY, words.LINEAR, words.SPECTRAL)
class SupervisedPCA(Projection):
    """Supervised PCA: the linear projection that depends most on the labels.

    The directions u that maximise the HSIC between u.x and y (Barshan et al., 2011; section 2.1 of
    the paper), exactly: for classes one read of X and a thin SVD of n_features x n_classes. With
    y=None it is PCA; with `shrinkage=0` and `label_shrinkage=0` it is linear discriminant analysis.

    Parameters
    ----------
    n_components : ...
    label_kernel : ...
    label_gamma : ...
    target_weight : ...
    shrinkage : ...
    label_shrinkage : ...
    scale : ...
    class_weight : ...
    missing_label : ...
    random_state : int, RandomState instance or None, default=None
        Used only for continuous labels of several columns.
    batch_size : ...
    precision : ...

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, orthonormal when `shrinkage` is 1; of scaled columns if `scale` is set.
        Those that carry no information are zero.
    mean_ : ...
    singular_values_ : ...
    dependence_, dependence_ratio_ : ...
    classes_ : ...
    label_kernel_ : ...
    shrinkage_ : ...
    moments_ : ...
    n_components_ : ...
    n_samples_seen_, n_features_in_ : ...
    feature_names_in_ : ...

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
        n_components: int = 2,
        *,
        label_kernel: Any = "auto",
        label_gamma: float | None = None,
        target_weight: float = 1.0,
        shrinkage: float | str = 1.0,
        label_shrinkage: float = 1.0,
        scale: str | None = None,
        class_weight: Any = None,
        missing_label: Any = None,
        random_state: Any = None,
        batch_size: int | None = None,
        precision: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.target_weight = target_weight
        self.shrinkage = shrinkage
        self.label_shrinkage = label_shrinkage
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size
        self.precision = precision


@worded(words.EVERY, words.LINEAR, words.DIRECT)
class SupervisedRandomProjection(Projection):
    """Supervised random projection (SRP): random directions that follow the labels.

    U = C_xy R: the covariance of X with k random features of the labels (section 2.2 of the
    paper). No decomposition at all, one pass, and memory that need not grow with the number of
    classes. With y=None it is the paper's randomized PCA.

    Parameters
    ----------
    n_components : ...
    label_kernel : ...
    label_gamma : ...
    label_map : ...
    target_weight : ...
    shrinkage : ...
    label_shrinkage : ...
    scale : ...
    class_weight : ...
    missing_label : ...
    random_state : ...
    batch_size : ...
    precision : ...

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, rows of U^T; random mixtures of what the labels give. Of scaled columns if
        `scale` is set.
    mean_ : ...
    singular_values_ : ...
    dependence_, dependence_ratio_ : ...
    classes_ : ...
    label_kernel_ : ...
    shrinkage_ : ...
    moments_ : ...
    n_components_ : ...
    n_samples_seen_, n_features_in_ : ...
    feature_names_in_ : ...

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
        n_components: int = 2,
        *,
        label_kernel: Any = "auto",
        label_gamma: float | None = None,
        label_map: str = "orthogonal",
        target_weight: float = 1.0,
        shrinkage: float | str = 1.0,
        label_shrinkage: float = 1.0,
        scale: str | None = None,
        class_weight: Any = None,
        missing_label: Any = None,
        random_state: Any = None,
        batch_size: int | None = None,
        precision: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.label_map = label_map
        self.target_weight = target_weight
        self.shrinkage = shrinkage
        self.label_shrinkage = label_shrinkage
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size
        self.precision = precision


@worded(words.EVERY, words.KERNEL, words.SPECTRAL)
class KernelSupervisedPCA(Projection):
    """Kernel supervised PCA (KSPCA): the nonlinear projection that depends most on the labels.

    `SupervisedPCA` on random features of a kernel, or with the exact kernel (section 2.1 of the
    paper). A small `shrinkage`, such as 1e-3, is often far more accurate than the paper's 1.

    Parameters
    ----------
    n_components : ...
    kernel : ...
    gamma : ...
    kernel_params : ...
    approximation : ...
    n_random_features : ...
    label_kernel : ...
    label_gamma : ...
    target_weight : ...
    shrinkage : ...
    label_shrinkage : ...
    scale : ...
    class_weight : ...
    missing_label : ...
    random_state : ...
    batch_size : ...
    precision : ...

    Attributes
    ----------
    components_ : ...
    mean_ : ...
    singular_values_ : ...
    dependence_, dependence_ratio_ : ...
    classes_ : ...
    gamma_ : ...
    label_kernel_ : ...
    shrinkage_ : ...
    moments_ : ...
    n_components_ : ...
    n_samples_seen_, n_features_in_ : ...
    feature_names_in_ : ...
    dual_coef_ : ...

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

    _solver = SPECTRAL
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
        label_shrinkage: float = 1.0,
        scale: str | None = None,
        class_weight: Any = None,
        missing_label: Any = None,
        random_state: Any = None,
        batch_size: int | None = None,
        precision: str | None = None,
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
        self.label_shrinkage = label_shrinkage
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size
        self.precision = precision


@worded(words.EVERY, words.KERNEL, words.DIRECT)
class KernelSupervisedRandomProjection(Projection):
    """Kernel supervised random projection (KSRP): SRP on random features of a kernel.

    U = C_xy R, where the rows went through a feature map first (section 2.2 of the paper).

    Parameters
    ----------
    n_components : ...
    kernel : ...
    gamma : ...
    kernel_params : ...
    approximation : ...
    n_random_features : ...
    label_kernel : ...
    label_gamma : ...
    label_map : ...
    target_weight : ...
    shrinkage : ...
    label_shrinkage : ...
    scale : ...
    class_weight : ...
    missing_label : ...
    random_state : ...
    batch_size : ...
    precision : ...

    Attributes
    ----------
    components_ : ...
    mean_ : ...
    singular_values_ : ...
    dependence_, dependence_ratio_ : ...
    classes_ : ...
    gamma_ : ...
    label_kernel_ : ...
    shrinkage_ : ...
    moments_ : ...
    n_components_ : ...
    n_samples_seen_, n_features_in_ : ...
    feature_names_in_ : ...
    dual_coef_ : ...

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

    _solver = DIRECT
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
        label_shrinkage: float = 1.0,
        scale: str | None = None,
        class_weight: Any = None,
        missing_label: Any = None,
        random_state: Any = None,
        batch_size: int | None = None,
        precision: str | None = None,
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
        self.label_shrinkage = label_shrinkage
        self.scale = scale
        self.class_weight = class_weight
        self.missing_label = missing_label
        self.random_state = random_state
        self.batch_size = batch_size
        self.precision = precision


# By the names of the paper.
METHODS: dict[str, type[Projection]] = {
    "spca": SupervisedPCA,
    "srp": SupervisedRandomProjection,
    "kspca": KernelSupervisedPCA,
    "ksrp": KernelSupervisedRandomProjection,
}
