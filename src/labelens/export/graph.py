"""What `transform` computes, as nodes of an ONNX graph.

All of it in float64, whatever the rows are: kernel values against landmarks, angles of large
numbers and sums far from zero lose their digits in float32. Only operators of opset 13 are used.
"""

from __future__ import annotations

from typing import Any, Protocol

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
from .._fit.projection import Projection
from .._fit.solution import Solved

OLDEST_OPSET = 13
OURS = (Identity, Fourier, Structured, Nystroem)


class Graph(Protocol):
    """Where nodes go: a file of our own, or a graph that skl2onnx is building."""

    def constant(self, values: Any) -> str: ...

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str: ...

    def features(self, transformer: Any, rows: str) -> str:
        """The features that a scikit-learn transformer makes of rows."""
        ...


def exportable(estimator: Any) -> Any:
    """The estimator, if it is one of ours, fitted, and computes something that ends."""
    if not isinstance(estimator, Projection):
        raise TypeError(f"labelens.export takes a fitted method of labelens, got {estimator!r}.")
    check_is_fitted(estimator, "moments_")
    if estimator._recipe.phi is None:
        raise ValueError(
            "approximation='exact' compares every row with all training rows, and is not exported; "
            "fit with approximation='nystroem' or 'orthogonal'."
        )
    return estimator


def has_own_nodes(estimator: Any) -> bool:
    """Whether no other library is needed to write the feature map down."""
    phi = estimator._recipe.phi
    return isinstance(phi, OURS) or isinstance(
        getattr(phi, "transformer", None), PolynomialCountSketch
    )


def embedding(estimator: Any, graph: Graph, rows: str) -> str:
    """(n, d) rows in float64 -> (n, k) embedding."""
    recipe, solved = estimator._recipe, estimator._solve()
    phi, scaling = recipe.phi, recipe.scaling
    if isinstance(phi, Identity):
        origin, projector, shift = affine(estimator)
        centred = graph.node("Sub", rows, graph.constant(origin))
        return _plus(graph, _times(graph, centred, projector), shift)
    if scaling is not None:
        rows = _scaled(graph, rows, scaling)
    projector, centre = solved.projector, sum(solved.centre)
    match phi:
        case Fourier() | Structured():
            placed = _waves(graph, phi, rows, projector)
        case Nystroem():
            if phi.origin is not None:
                rows = graph.node("Sub", rows, graph.constant(phi.origin))
            landmarks: Any = phi.landmarks
            landmarks = landmarks.toarray() if hasattr(landmarks, "toarray") else landmarks
            values = _kernel(graph, phi.kernel, rows, landmarks)
            placed = _times(graph, values, phi.whitening @ projector)
        case Transformed(transformer=PolynomialCountSketch() as sketch):
            placed = _sketched(graph, sketch, rows, projector)
        case Transformed():
            placed = _times(graph, graph.features(phi.transformer, rows), projector)
        case _:
            raise TypeError(f"A {type(phi).__name__} map is not exported.")
    return _plus(graph, placed, -centre)


def affine(estimator: Any) -> tuple[Array, Array, Array]:
    """A linear model as z = (x - origin) @ projector + shift: (d,), (d, k), (k,).

    Scaling, if there is any, gives s = (x - a) f, and z = (s - m) P - c is
    (x - a - m / f) (f P) - c. The origin is near the rows, so that nothing cancels.
    """
    solved: Solved = estimator._solve()
    scaling: Scaling | None = estimator._recipe.scaling
    origin, projector = solved.mean[0], solved.projector
    if scaling is not None:
        origin = scaling.shift + origin / scaling.factor
        projector = scaling.factor[:, None] * projector
    return origin, projector, -solved.centre[1]


def _times(graph: Graph, left: str, right: NDArray[Any]) -> str:
    return graph.node("MatMul", left, graph.constant(right))


def _plus(graph: Graph, left: str, right: NDArray[Any]) -> str:
    return graph.node("Add", left, graph.constant(right))


def _scaled(graph: Graph, rows: str, scaling: Scaling) -> str:
    if scaling.shift.any():
        rows = graph.node("Sub", rows, graph.constant(scaling.shift))
    return graph.node("Mul", rows, graph.constant(scaling.factor))


def _waves(graph: Graph, phi: Fourier | Structured, rows: str, projector: Array) -> str:
    """cos(A) P_cos + sin(A) P_sin; the phase is that of the last feature where p is odd."""
    frequencies = phi.frequencies if isinstance(phi, Fourier) else phi._frequencies
    p, pairs = phi.n_features, phi.n_features // 2
    weights = projector * np.sqrt(2 / p)
    cosines, sines = weights[:pairs], weights[pairs : 2 * pairs]
    angles = _times(graph, rows, frequencies)
    if p % 2:
        phases = np.zeros(pairs + 1)
        phases[-1] = phi.phase
        angles = _plus(graph, angles, phases)
        cosines = np.vstack([cosines, weights[-1:]])
        sines = np.vstack([sines, np.zeros_like(weights[-1:])])
    return graph.node(
        "Add",
        _times(graph, graph.node("Cos", angles), cosines),
        _times(graph, graph.node("Sin", angles), sines),
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
        a = _plus(graph, _times(graph, rows, forth.real), constant.real)
        b = _plus(graph, _times(graph, rows, forth.imag), constant.imag)
        if not real:
            real, imaginary = a, b
            continue
        real, imaginary = (
            graph.node("Sub", graph.node("Mul", real, a), graph.node("Mul", imaginary, b)),
            graph.node("Add", graph.node("Mul", real, b), graph.node("Mul", imaginary, a)),
        )
    back = np.fft.ifft(np.eye(p), axis=1) @ projector
    return graph.node("Sub", _times(graph, real, back.real), _times(graph, imaginary, back.imag))


def _kernel(graph: Graph, kernel: Kernel, rows: str, landmarks: NDArray[Any]) -> str:
    """(n, d) and (m, d) landmarks -> (n, m), as `Kernel.__call__`."""
    if kernel.name == "laplacian":
        across = graph.node("Unsqueeze", rows, graph.constant(np.array([1])))
        apart = graph.node("Abs", graph.node("Sub", across, graph.constant(landmarks[None])))
        lengths = _summed(graph, apart, axis=2, keep=False)
        return graph.node("Exp", graph.node("Mul", lengths, graph.constant(-kernel.gamma)))
    products = _times(graph, rows, landmarks.T)
    if kernel.name == "linear":
        return products
    if kernel.name == "polynomial":
        inner = graph.node("Mul", products, graph.constant(kernel.gamma))
        inner = graph.node("Add", inner, graph.constant(float(kernel.params["coef0"])))
        return graph.node("Pow", inner, graph.constant(float(kernel.params["degree"])))
    sizes = _summed(graph, graph.node("Mul", rows, rows), axis=1, keep=True)
    sizes = _plus(graph, sizes, (landmarks**2).sum(axis=1))
    twice = graph.node("Mul", products, graph.constant(2.0))
    squares = graph.node("Max", graph.node("Sub", sizes, twice), graph.constant(0.0))
    if kernel.name == "rbf":
        return graph.node("Exp", graph.node("Mul", squares, graph.constant(-kernel.gamma)))
    # Zero where it is rounding: the square root would magnify that.
    rounding = graph.node("Mul", sizes, graph.constant(16 * np.finfo(float).eps))
    near = graph.node("Less", squares, rounding)
    squares = graph.node("Where", near, graph.constant(0.0), squares)
    nu = kernel.params["nu"]
    stretch = graph.constant(np.sqrt(4 * nu * kernel.gamma))
    distance = graph.node("Mul", graph.node("Sqrt", squares), stretch)
    decay = graph.node("Exp", graph.node("Neg", distance))
    if nu == 0.5:
        return decay
    factor = graph.node("Add", distance, graph.constant(1.0))
    if nu == 2.5:
        third = graph.node("Mul", graph.node("Mul", distance, distance), graph.constant(1 / 3))
        factor = graph.node("Add", factor, third)
    return graph.node("Mul", factor, decay)


def _summed(graph: Graph, values: str, axis: int, keep: bool) -> str:
    return graph.node("ReduceSum", values, graph.constant(np.array([axis])), keepdims=int(keep))
