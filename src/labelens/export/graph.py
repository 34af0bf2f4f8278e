"""`transform` as nodes of an ONNX graph.

All of it in float64, whatever the rows are: kernel values against landmarks, angles of large
numbers and sums far from zero lose their digits in float32. Only operators of opset 13 are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import PolynomialCountSketch

from .._base.validation import check_is_fitted
from .._core.kernels import Kernel
from .._core.maps import Identity
from .._core.maps.fourier import Fourier
from .._core.maps.nystroem import Nystroem
from .._core.maps.structured import Structured
from .._core.maps.transformed import Transformed
from .._core.moments import Array
from .._core.scaling import Scaling
from .._fit.fitted import recipe_of, solution_of
from .._fit.projection import Projection
from .._fit.solution import Solved
from .._judge.atlas import Atlas

OLDEST_OPSET = 13


class Graph:
    """Where nodes go: a file of our own, or a graph that skl2onnx is building."""

    def node(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node and return its name; inputs that are no names become constants."""
        names = [x if isinstance(x, str) else self.constant(np.asarray(x)) for x in inputs]
        return self.add(operator, names, **attributes)

    def constant(self, array: NDArray[Any]) -> str:
        raise NotImplementedError

    def add(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        raise NotImplementedError

    def several(self, count: int, operator: str, *inputs: Any, **attributes: Any) -> list[str]:
        """The same for a node with several outputs."""
        raise TypeError(f"{operator} is not written here.")

    def features(self, transformer: Any, rows: str) -> str:
        """The features that a scikit-learn transformer makes of rows."""
        raise TypeError(f"{transformer!r} is not written by labelens.")


def exportable(estimator: Any) -> Any:
    """The estimator, if it is one of ours, fitted, and computes something that ends."""
    if isinstance(estimator, Atlas):
        check_is_fitted(estimator, "anchors_")
        exportable(estimator.estimator_)
        return estimator
    if not isinstance(estimator, Projection):
        raise TypeError(f"labelens.export takes a fitted method of labelens, got {estimator!r}.")
    check_is_fitted(estimator, "moments_")
    if recipe_of(estimator).phi is None:
        raise ValueError(
            f"approximation={estimator.approximation!r} compares every row with training rows, and "
            "is not exported; "
            "fit with approximation='nystroem' or 'orthogonal'."
        )
    return estimator


def has_own_nodes(estimator: Any) -> bool:
    """Whether no other library is needed to write the feature map down."""
    phi = recipe_of(estimator).phi
    return not isinstance(phi, Transformed) or isinstance(phi.transformer, PolynomialCountSketch)


def embedding(estimator: Any, graph: Graph, rows: str) -> str:
    """(n, d) rows in float64 -> (n, k) embedding."""
    recipe, solved = recipe_of(estimator), solution_of(estimator)
    phi, scaling = recipe.phi, recipe.scaling
    if isinstance(phi, Identity):
        origin, projector, shift = affine(estimator)
        centred = graph.node("Sub", rows, origin)
        return graph.node("Add", graph.node("MatMul", centred, projector), shift)
    if scaling is not None:
        if scaling.shift.any():
            rows = graph.node("Sub", rows, scaling.shift)
        rows = graph.node("Mul", rows, scaling.factor)
    projector, centre = solved.projector, sum(solved.centre)
    match phi:
        case Fourier() | Structured():
            placed = _waves(graph, phi, rows, projector)
        case Nystroem():
            if phi.origin is not None:
                rows = graph.node("Sub", rows, phi.origin)
            landmarks: Any = phi.landmarks
            landmarks = landmarks.toarray() if hasattr(landmarks, "toarray") else landmarks
            values = _kernel(graph, phi.kernel, rows, landmarks)
            placed = graph.node("MatMul", values, phi.host_whitening @ projector)
        case Transformed(transformer=PolynomialCountSketch() as sketch):
            placed = _sketched(graph, sketch, rows, projector)
        case Transformed():
            placed = graph.node("MatMul", graph.features(phi.transformer, rows), projector)
        case _:
            raise TypeError(f"A {type(phi).__name__} map is not exported.")
    return graph.node("Add", placed, -centre)


def affine(estimator: Any) -> tuple[Array, Array, Array]:
    """A linear model as z = (x - origin) @ projector + shift: (d,), (d, k), (k,).

    Scaling, if there is any, gives s = (x - a) f, and z = (s - m) P - c is
    (x - a - m / f) (f P) - c. The origin is near the rows, so that nothing cancels.
    """
    solved: Solved = solution_of(estimator)
    scaling: Scaling | None = recipe_of(estimator).scaling
    origin, projector = solved.mean[0], solved.projector
    if scaling is not None:
        origin = scaling.shift + origin / scaling.factor
        projector = scaling.factor[:, None] * projector
    return origin, projector, -solved.centre[1]


def _waves(graph: Graph, phi: Fourier | Structured, rows: str, projector: Array) -> str:
    """cos(A) P_cos + sin(A) P_sin; the phase is that of the last feature where p is odd."""
    p, pairs = phi.n_features, phi.n_features // 2
    weights = projector * np.sqrt(2 / p)
    cosines, sines = weights[:pairs], weights[pairs : 2 * pairs]
    angles = graph.node("MatMul", rows, phi.frequencies)
    if p % 2:
        phases = np.zeros(pairs + 1)
        phases[-1] = phi.phase
        angles = graph.node("Add", angles, phases)
        cosines = np.vstack([cosines, weights[-1:]])
        sines = np.vstack([sines, np.zeros_like(weights[-1:])])
    return graph.node(
        "Add",
        graph.node("MatMul", graph.node("Cos", angles), cosines),
        graph.node("MatMul", graph.node("Sin", angles), sines),
    )


def _sketched(graph: Graph, sketch: Any, rows: str, projector: Array) -> str:
    """A tensor sketch: Fourier transforms of count sketches, multiplied and transformed back.

    Count sketch and transform are one complex matrix for each degree, (d, p); the way back and
    the projector another, (p, k).
    """
    p, d = sketch.n_components, sketch.n_features_in_
    real, imaginary = "", ""
    for places, signs in zip(sketch.indexHash_, sketch.bitHash_, strict=True):
        counts = np.zeros((len(places), p))
        counts[np.arange(len(places)), places] = signs
        forth = np.fft.fft(counts, axis=1)
        # A last row is that of the constant feature, sqrt(coef0).
        constant = np.sqrt(sketch.coef0) * forth[d:].sum(axis=0)
        forth = np.sqrt(sketch.gamma) * forth[:d]
        a = graph.node("Add", graph.node("MatMul", rows, forth.real), constant.real)
        b = graph.node("Add", graph.node("MatMul", rows, forth.imag), constant.imag)
        if not real:
            real, imaginary = a, b
            continue
        real, imaginary = (
            graph.node("Sub", graph.node("Mul", real, a), graph.node("Mul", imaginary, b)),
            graph.node("Add", graph.node("Mul", real, b), graph.node("Mul", imaginary, a)),
        )
    back = np.fft.ifft(np.eye(p), axis=1) @ projector
    return graph.node(
        "Sub", graph.node("MatMul", real, back.real), graph.node("MatMul", imaginary, back.imag)
    )


def _kernel(graph: Graph, kernel: Kernel, rows: str, landmarks: NDArray[Any]) -> str:
    """(n, d) and (m, d) landmarks -> (n, m), as `Kernel.__call__`."""
    if kernel.name == "laplacian":
        across = graph.node("Unsqueeze", rows, np.array([1]))
        apart = graph.node("Abs", graph.node("Sub", across, landmarks[None]))
        lengths = summed(graph, apart, axis=2, keep=False)
        return graph.node("Exp", graph.node("Mul", lengths, -kernel.gamma))
    products = graph.node("MatMul", rows, landmarks.T)
    if kernel.name == "linear":
        return products
    if kernel.name == "polynomial":
        inner = graph.node("Mul", products, kernel.gamma)
        inner = graph.node("Add", inner, float(kernel.params["coef0"]))
        return graph.node("Pow", inner, float(kernel.params["degree"]))
    squares, sizes = _apart(graph, rows, landmarks, products)
    if kernel.name == "rbf":
        return graph.node("Exp", graph.node("Mul", squares, -kernel.gamma))
    # Zero where it is rounding: the square root would magnify that.
    rounding = graph.node("Mul", sizes, 16 * np.finfo(float).eps)
    near = graph.node("Less", squares, rounding)
    squares = graph.node("Where", near, 0.0, squares)
    nu = kernel.params["nu"]
    stretch = np.sqrt(4 * nu * kernel.gamma)
    distance = graph.node("Mul", graph.node("Sqrt", squares), stretch)
    decay = graph.node("Exp", graph.node("Neg", distance))
    if nu == 0.5:
        return decay
    factor = graph.node("Add", distance, 1.0)
    if nu == 2.5:
        third = graph.node("Mul", graph.node("Mul", distance, distance), 1 / 3)
        factor = graph.node("Add", factor, third)
    return graph.node("Mul", factor, decay)


def squared_distances(graph: Graph, rows: str, landmarks: NDArray[Any]) -> str:
    """(n, d) and (m, d) -> (n, m)"""
    return _apart(graph, rows, landmarks, graph.node("MatMul", rows, landmarks.T))[0]


def _apart(graph: Graph, rows: str, landmarks: NDArray[Any], products: str) -> tuple[str, str]:
    """(n, m) squared distances, and sums of squared lengths."""
    sizes = summed(graph, graph.node("Mul", rows, rows), axis=1, keep=True)
    sizes = graph.node("Add", sizes, (landmarks**2).sum(axis=1))
    squares = graph.node("Sub", sizes, graph.node("Mul", products, 2.0))
    return graph.node("Max", squares, 0.0), sizes


def summed(graph: Graph, values: str, axis: int, keep: bool) -> str:
    return graph.node("ReduceSum", values, np.array([axis]), keepdims=int(keep))
