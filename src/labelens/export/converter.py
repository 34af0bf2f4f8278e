"""Our estimators inside what skl2onnx converts: whole pipelines."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.optional import require
from ..methods import METHODS
from .graph import OLDEST_OPSET, Graph, embedding, exportable


def register() -> bool:
    """Tell skl2onnx how to convert our estimators; False where it is not installed.

    `import labelens.export` has done so, unless skl2onnx was installed since. From then on
    `skl2onnx.to_onnx` takes pipelines with labelens inside.
    """
    if find_spec("skl2onnx") is None:
        return False
    skl2onnx = require("skl2onnx", extra="onnx")
    for method in METHODS.values():
        skl2onnx.update_registered_converter(
            method, f"Labelens{method.__name__}", _shapes, _convert, overwrite=True
        )
    return True


def _shapes(operator: Any) -> None:
    rows, k = operator.inputs[0].type, exportable(operator.raw_operator).n_components_
    types = require("skl2onnx.common.data_types", extra="onnx")
    made = types.DoubleTensorType if _is_double(rows) else types.FloatTensorType
    operator.outputs[0].type = made([rows.shape[0], k])


def _is_double(kind: Any) -> bool:
    return type(kind).__name__.startswith("Double")


def _convert(scope: Any, operator: Any, container: Any) -> None:
    if container.target_opset < OLDEST_OPSET:
        raise ValueError(
            f"labelens needs target_opset={OLDEST_OPSET} or newer, got {container.target_opset}."
        )
    types = require("onnx", extra="onnx").TensorProto
    graph = ContainerGraph(scope, container)
    rows = graph.node("Cast", operator.inputs[0].full_name, to=types.DOUBLE)
    made = embedding(exportable(operator.raw_operator), graph, rows)
    kind = types.DOUBLE if _is_double(operator.outputs[0].type) else types.FLOAT
    graph.add("Cast", [made], operator.outputs[0].full_name, to=kind)


class ContainerGraph(Graph):
    """The graph that skl2onnx is building."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def constant(self, array: NDArray[Any]) -> str:
        types = require("onnx", extra="onnx").TensorProto
        name = self._scope.get_unique_variable_name("c")
        kind = types.INT64 if array.dtype == np.int64 else types.DOUBLE
        self._container.add_initializer(name, kind, list(array.shape), array.ravel().tolist())
        return name

    def add(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        name = self._scope.get_unique_operator_name(operator)
        output = output or self._scope.get_unique_variable_name("n")
        self._container.add_node(
            operator, inputs, output, name=name, op_version=OLDEST_OPSET, **attributes
        )
        return output

    def features(self, transformer: Any, rows: str) -> str:
        algebra = require("skl2onnx.algebra.onnx_operator", extra="onnx")
        types = require("skl2onnx.common.data_types", extra="onnx")
        kind = types.DoubleTensorType([None, transformer.n_features_in_])
        given = self._scope.declare_local_variable("rows", kind)
        self.add("Identity", [rows], given.full_name)
        made = self._scope.get_unique_variable_name("features")
        part = algebra.OnnxSubEstimator(
            transformer, given, op_version=self._container.target_opset, output_names=[made]
        )
        part.add_to(self._scope, self._container)
        return made


def converted(estimator: Any, double: bool, opset: int) -> Any:
    """The same file by way of skl2onnx, for feature maps that only it can write down."""
    skl2onnx = require("skl2onnx", extra="onnx")
    types = require("skl2onnx.common.data_types", extra="onnx")
    register()
    kind = types.DoubleTensorType if double else types.FloatTensorType
    rows = [("X", kind([None, estimator.n_features_in_]))]
    try:
        model = skl2onnx.to_onnx(estimator, initial_types=rows, target_opset=opset)
    except RuntimeError:  # raised if a converter is missing
        raise ValueError(
            f"approximation={estimator.approximation!r} is not exported: skl2onnx cannot convert "
            "it. Fit with a name, such as approximation='orthogonal'."
        ) from None
    _rename(model.graph, model.graph.output[0].name, "embedding")
    return model


def _rename(graph: Any, old: str, new: str) -> None:
    for node in graph.node:
        node.output[:] = [new if name == old else name for name in node.output]
    graph.output[0].name = new
