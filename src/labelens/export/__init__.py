"""Models for machines without labelens: ONNX graphs, and SQL for linear models.

    graph.py       what `transform` computes, as nodes of a graph
    atlas_graph.py the same of an atlas
    onnx_file.py   `onnx`: that graph in a file
    converter.py   the same inside the pipelines that skl2onnx converts
    query.py       `sql`: a linear model as one SELECT

Importing this tells skl2onnx, where it is installed, how to convert our estimators.
"""

from .converter import register
from .onnx_file import onnx
from .query import sql

__all__ = ["onnx", "register", "sql"]

register()
