"""Sources of rows, one kind in each file: streams of chunks in the order of rows.

    arrays.py    arrays, sparse matrices, frames and .npz files, which are in memory
    npy.py       .npy files, read into one buffer
    columns.py   files of columns, read into one buffer: parquet, Arrow and CSV (formats.py)
    rows.py      record batches as rows, from any reader; vectors.py: columns of Spark's vectors
    batches.py   any iterable of (X, y)

A source is cut into chunks of any number of rows, starting at any row; only the last chunk may be
shorter. How the files or batches were cut does not show.
"""

from .base import Chunk, Source, join_rows, some_rows
from .batches import Batches
from .opening import absolute, column_names, has_named_columns, open_source

__all__ = [
    "Batches",
    "Chunk",
    "Source",
    "absolute",
    "column_names",
    "has_named_columns",
    "join_rows",
    "open_source",
    "some_rows",
]
