"""A model as an ONNX file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.files import named, replaced
from .._base.optional import require
from .._base.types import PathLike
from .._base.warn import warn_user
from .._core.maps.nystroem import Nystroem
from .._fit.fitted import recipe_of
from .._fit.projection import Projection
from .._judge.atlas import Atlas
from ..tables import TableEncoder
from .atlas_graph import atlas_outputs
from .converter import converted
from .graph import Graph, embedding, exportable, has_own_nodes
from .table_graph import ML, table_features

OPSET, IR_VERSION = 17, 8
MOST_BYTES = (1 << 31) - (1 << 20)  # of a protocol buffer


def onnx(
    estimator: Projection | Atlas,
    path: PathLike,
    *,
    double: bool = False,
    encoder: TableEncoder | None = None,
) -> None:
    """Write what `transform` computes to an ONNX file, for any runtime of that format.

    The graph takes `X`, any number of dense rows in the columns of `fit`, and returns `embedding`;
    for an atlas also `probabilities` of its classes. It computes in float64. A row with NaN becomes
    NaN, where `transform` raises ValueError. The metadata field `feature_names` has the names of
    columns as JSON.

    Parameters
    ----------
    estimator : one of the four methods or an atlas of one
        With any `approximation` but "exact" and "falkon".
        A scikit-learn transformer in its place needs skl2onnx, and a converter there.
    path : str or path
        By convention `*.onnx`.
    double : bool, default=False
        Whether rows and embedding are float64, rather than float32.
    encoder : TableEncoder, default=None
        How columns became the features. If not all are numbers without gaps, the graph takes an
        input (n, 1) for every column instead of `X`: numbers with NaN for gaps, dates as days since
        1970, categories as strings with "" for gaps, and lists as (n, length).

    Examples
    --------
    >>> import labelens, numpy as np
    >>> X, y = np.random.default_rng(0).normal(size=(100, 5)), np.arange(100) % 3
    >>> model = labelens.KernelSupervisedPCA(2, random_state=0).fit(X, y)
    >>> labelens.export.onnx(model, "model.onnx")  # doctest: +SKIP
    >>> import onnxruntime  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession("model.onnx")  # doctest: +SKIP
    >>> (Z,) = session.run(None, {"X": X.astype(np.float32)})  # doctest: +SKIP
    """
    estimator = exportable(estimator)
    base: Any = estimator.estimator_ if isinstance(estimator, Atlas) else estimator
    library = require("onnx", extra="onnx")
    if encoder is not None and all(c.kind == "number" and not c.gaps for c in encoder.columns_):
        encoder = None
    if has_own_nodes(base):
        model = _model(library, estimator, double, encoder)
    elif encoder is not None or base is not estimator:
        what = "an atlas" if base is not estimator else "a table of categories or gaps"
        raise ValueError(
            f"approximation={base.approximation!r} is not exported with {what}. Fit with a name, "
            "such as approximation='orthogonal'."
        )
    else:
        model = converted(estimator, double, OPSET)
    _describe(model, estimator)
    if model.ByteSize() > MOST_BYTES:
        raise ValueError(
            f"The graph has {model.ByteSize() / 2**30:.1f} GiB, and an ONNX file has at most 2; "
            "fit with fewer n_random_features."
        )
    library.checker.check_model(model)
    with replaced(Path(path)) as file:
        file.write(model.SerializeToString())
    phi = recipe_of(base).phi
    if isinstance(phi, Nystroem):
        warn_user(
            f"{named(path)} holds {phi.n_features} rows of the training data, the landmarks of "
            "approximation='nystroem'. Everyone who can read the file can read these rows."
        )


class OwnGraph(Graph):
    """Nodes and constants, named in the order of their creation."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, array: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        whole = np.ascontiguousarray(array).reshape(array.shape)  # a number has no dimension
        self.constants.append(self._library.numpy_helper.from_array(whole, name))
        return name

    def add(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        made = self._library.helper.make_node(operator, inputs, [name], name=name, **attributes)
        self.nodes.append(made)
        return name

    def several(self, count: int, operator: str, *inputs: Any, **attributes: Any) -> list[str]:
        first = self.node(operator, *inputs, **attributes)
        others = [f"{first}_{i}" for i in range(1, count)]
        self.nodes[-1].output.extend(others)
        return [first, *others]


def _model(library: Any, estimator: Any, double: bool, encoder: TableEncoder | None) -> Any:
    graph, helper, types = OwnGraph(library), library.helper, library.TensorProto
    kind = types.DOUBLE if double else types.FLOAT
    inputs = [helper.make_tensor_value_info("X", kind, ["n", estimator.n_features_in_])]
    if encoder is None:
        rows = "X" if double else graph.node("Cast", "X", to=types.DOUBLE)
    else:
        rows = table_features(encoder, graph, types)
        inputs = [
            helper.make_tensor_value_info(
                c.name,
                types.STRING if c.kind == "category" else kind,
                ["n", max(1, len(c.fill))],
            )
            for c in encoder.columns_
        ]
    if isinstance(estimator, Atlas):
        places, p = atlas_outputs(estimator, graph, rows)
        found = {"embedding": (places, estimator.anchors_.shape[1])}
        found["probabilities"] = p, len(estimator.classes_)
    else:
        found = {"embedding": (embedding(estimator, graph, rows), estimator.n_components_)}
    outputs = []
    for name, (values, width) in found.items():
        graph.node("Cast", values, to=kind)
        graph.nodes[-1].output[0] = name
        outputs.append(helper.make_tensor_value_info(name, kind, ["n", width]))
    body = helper.make_graph(
        graph.nodes,
        "labelens",
        inputs,
        outputs,
        graph.constants,
    )
    opset = [
        helper.make_opsetid("", OPSET),
        *([helper.make_opsetid(ML, 3)] if encoder is not None else []),
    ]
    return helper.make_model(body, opset_imports=opset, ir_version=IR_VERSION)


def _describe(model: Any, estimator: Any) -> None:
    from .. import __version__

    names: NDArray[Any] | None = getattr(estimator, "feature_names_in_", None)
    model.producer_name, model.producer_version = "labelens", __version__
    model.doc_string = f"{type(estimator).__name__}: supervised dimensionality reduction"
    if isinstance(estimator, Atlas):
        stored = model.metadata_props.add()
        stored.key, stored.value = "classes", json.dumps(estimator.classes_.tolist(), default=str)
    if names is not None:
        stored = model.metadata_props.add()
        stored.key, stored.value = "feature_names", json.dumps(names.tolist())
