"""On PYTHONPATH, it hides the libraries of the larger installs from a Python and its children."""

import sys
from importlib.machinery import PathFinder

HIDDEN = [
    "atheris",
    "cupy",
    "dask",
    "distributed",
    "duckdb",
    "onnx",
    "onnxruntime",
    "pyspark",
    "skl2onnx",
    "torch",
    "triton",
]


class Without:
    def find_spec(self, name, path=None, target=None):
        hidden = name.partition(".")[0] in HIDDEN
        return None if hidden else PathFinder.find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Without()
