"""Partial results as bytes, read without trust in the machine that sent them: the reader accepts
our statistics and NumPy's arrays only.
"""

from __future__ import annotations

import pickle
from collections import Counter
from datetime import date, datetime
from io import BytesIO
from typing import Any

import numpy as np
from scipy import sparse

from .._core.labels import Labels, Traits
from .._core.moments import ClassSums, CrossMoment, FirstClasses, Moments, Scatter, Spread
from .._engines.parts import Refused
from .._engines.sources import Chunk
from .._fit.first_pass import LabelSurvey, RowSurvey, Sample
from ..tables import TableEncoder
from ..tables.summary import ColumnSummary, Distinct, Sums, TableSummary

# NumPy's functions for arrays and scalars, whose names are in pickles.
MAKERS = [
    np.ones(1).__reduce_ex__(5)[0],
    np.array([None]).__reduce__()[0],
    np.float64().__reduce__()[0],
]
KNOWN = {
    (known.__module__, known.__qualname__): known
    for known in (
        *(Moments, ClassSums, FirstClasses, CrossMoment, Scatter, Spread),
        *(RowSurvey, Sample, Chunk),
        *(LabelSurvey, Labels, Traits),
        *(TableEncoder, TableSummary, ColumnSummary, Sums, Distinct, Counter),
        *(Refused, ValueError, TypeError, OSError, FileNotFoundError),
        *(np.ndarray, np.dtype, *MAKERS, sparse.csr_matrix, sparse.csr_array, date, datetime),
    )
}


def dumped(partial: Any) -> bytes:
    return pickle.dumps(partial, protocol=5)


def loaded(stored: bytes) -> Any:
    return _PartialReader(BytesIO(stored)).load()


class _PartialReader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return KNOWN[module, name]
        except KeyError:
            raise ValueError(
                f"A partial result from a worker of Spark names {module}.{name}, which is none of "
                "the things that partial results are made of; it is not read."
            ) from None
