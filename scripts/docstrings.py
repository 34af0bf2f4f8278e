"""Write the parameters and attributes that several methods share into their docstrings.

python scripts/docstrings.py           rewrite src/labelens/methods
python scripts/docstrings.py --check   fail if a docstring differs from the text below

An entry of a docstring keeps its place; its text comes from here. For a new parameter, add the text
below and the line "name : ..." to the docstrings.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from textwrap import indent

METHODS = Path(__file__).parents[1] / "src" / "labelens" / "methods"

EVERY = """
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
classes_ : ndarray of shape (n_classes,)
    Classes seen so far, sorted; a list of such arrays for several columns of classes.
label_kernel_ : str, label kernel or transformer
    Label kernel used; None if unsupervised.
shrinkage_ : float
    Shrinkage used.
n_components_ : int
    Number of components used.
n_samples_seen_, n_features_in_ : int
    Number of rows seen and number of columns of X.
feature_names_in_ : ndarray of shape (n_features,)
    Column names, if X had string names.
"""

LINEAR = """
n_nonzero : int, default=None
    Number of columns with a weight other than zero, for many more columns than rows: those with
    the largest correlations with the labels. Their weights are soft-thresholded, as in sparse
    PLS and nearest shrunken centroids. The columns follow from the moments, so streams and
    merged models choose those of `fit`. None keeps all columns.
mean_ : ndarray of shape (n_features,)
    Mean of the columns.
moments_ : Moments
    Statistics of the training data: mergeable, and without any row of it.
"""

KERNEL = """
kernel : {"rbf", "laplacian", "matern", "polynomial", "linear"} or callable, default="rbf"
    Kernel of the rows. A callable takes two rows and returns a number; it requires
    `approximation="exact"` or "falkon".
gamma : float or {"scale", "median", "auto"}, default="scale"
    Kernel coefficient, an inverse squared width: 1 / (2 sigma^2) for "rbf". "scale" is
    1 / (n_features * X.var()). "median" sets sigma to the median distance between rows. "auto"
    compares nine values, from 1/100 to 100 times "scale", in three folds of at most 2000 rows.
    It chooses the one for which held-out rows depend most on their labels, among equal ones the
    nearest to "scale". Unlabelled rows count for "scale". `gamma_` is the value used.
kernel_params : dict, default=None
    `nu` (0.5, 1.5 or 2.5; default 1.5) of the Matern kernel; `degree` (default 3) and `coef0`
    (default 1) of the polynomial kernel; keyword arguments of a callable.
approximation : str or transformer, default="orthogonal"
    Features of the kernel: random features ("orthogonal", "fourier", "fastfood"), landmarks
    ("nystroem"), or the output of a scikit-learn transformer such as `RBFSampler()`, which
    replaces `kernel`. "exact" uses the kernel itself and keeps the training rows. It takes
    O(n^2) time; with `shrinkage` or `target_weight` below 1 it takes O(n^3) time and a matrix
    of n^2 numbers (float32 above 8192 rows: 21,000 rows take 1.8 GB). "falkon" approximates
    "exact" with m = `n_random_features` landmarks and conjugate gradients, in O(n m) time a
    step and O(m^3) once. It needs labels, `target_weight=1` and a `shrinkage` above 0.
n_random_features : int, default=1024
    Number of features, the paper's k_x, or of landmarks. "exact" and transformers ignore it.
scale : {None, "minmax", "standard"} or array-like of shape (n_features,), default=None
    Scale columns to [0, 1] ("minmax", as in the paper) or to unit variance ("standard"), or
    multiply them by given factors.
    `partial_fit` takes the scaling from the first batch.
components_ : ndarray of shape (n_components, p)
    Directions over the p features of the kernel (of scaled rows if `scale` is set). "exact"
    and "falkon" have none.
mean_ : ndarray of shape (p,)
    Mean of the features.
gamma_ : float
    Kernel coefficient used.
moments_ : Moments
    Statistics of the training data; with "exact" and "falkon", the training rows.
dual_coef_ : ndarray of shape (n_components, n_samples)
    Coefficient of every training row ("exact") or landmark ("falkon") in every component.
"""

SPECTRAL = """
component_scale : {"total", "within"}, default="total"
    Length of the components. "total": the regularized variance along a component is one
    (`shrinkage` below 1). "within": the same for the variance within classes, as in linear
    discriminant analysis, so that distances weigh a component by how well it separates the
    classes. It needs one column of classes, and changes nothing where `shrinkage` is 1.
singular_values_ : ndarray of shape (n_components,)
    Square roots of the eigenvalues; with the default parameters, singular values of C_xy.
dependence_, dependence_ratio_ : ndarray of shape (n_components,)
    HSIC with the labels that each component adds to the components before it, and its share
    of the HSIC of all features. With `label_shrinkage` below 1 the labels are whitened.
"""

DIRECT = """
label_map : {"orthogonal", "spread", "gaussian", "fourier"}, default="orthogonal"
    Vectors of length k for the labels. "orthogonal": random vectors, exact if
    k >= n_classes - 1. "spread": separates more classes with fewer components. The vectors are
    not random but as far apart as possible, on a polygon or a sphere, and classes with similar
    means are neighbours; y must be one column of at most 5000 classes. "gaussian": a hashed
    vector for every class. Memory does not grow with the number of classes, and there is no
    `classes_`. "fourier": as in the paper.
singular_values_ : ndarray of shape (n_components,)
    Singular values of `components_`, largest first.
dependence_, dependence_ratio_ : ndarray of shape (n_components,)
    HSIC with the labels that each component adds to the components before it, and its share
    of the HSIC of all features. With `label_shrinkage` below 1 the labels are whitened. With
    `label_map` "gaussian" or "fourier" both refer to the k random label features. NaN if
    unsupervised, because no variances are kept.
"""

# Where two texts have the same entry, the later one counts.
TEXTS = {
    "SupervisedPCA": (EVERY, LINEAR, SPECTRAL),
    "SupervisedRandomProjection": (EVERY, LINEAR, DIRECT),
    "KernelSupervisedPCA": (EVERY, KERNEL, SPECTRAL),
    "KernelSupervisedRandomProjection": (EVERY, KERNEL, DIRECT),
}
ENTRY = re.compile(r"^    (\w+(?:, \w+)*) : .*\n(?:        .*\n)*", re.MULTILINE)


def filled(docstring: str, texts: tuple[str, ...]) -> str:
    """A docstring whose entries have the text that is given for them."""
    found = (entry for text in texts for entry in ENTRY.finditer(indent(text, "    ")))
    known = {entry[1]: entry[0] for entry in found}
    return ENTRY.sub(lambda entry: known.get(entry[1], entry[0]), docstring)


def rewritten(source: str) -> str:
    """The source of a module, with the docstrings of its methods filled."""
    lines = source.splitlines(keepends=True)
    for node in reversed(ast.parse(source).body):  # so that earlier line numbers stay valid
        if isinstance(node, ast.ClassDef) and node.name in TEXTS:
            start, end = node.body[0].lineno - 1, node.body[0].end_lineno
            lines[start:end] = [filled("".join(lines[start:end]), TEXTS[node.name])]
    return "".join(lines)


def main() -> int:
    stale = []
    for path in sorted(METHODS.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        if (text := rewritten(source)) != source:
            stale.append(path)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        names = ", ".join(path.name for path in stale)
        print(f"Docstrings in {names} differ from the shared text. Run scripts/docstrings.py.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
