"""The benchmark of tables: TableEncoder is no worse than columns sorted by hand."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = str(Path(__file__).parents[1] / "benchmarks")
sys.path.append(BENCHMARKS)  # last: it has names of the standard library
try:
    import mixed
finally:
    sys.path.remove(BENCHMARKS)

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.mark.skipif(not (DATA / "mixed").is_dir(), reason="needs ../shared/data/mixed")
@pytest.mark.filterwarnings("ignore")
def test_titanic(monkeypatch):
    monkeypatch.setattr(mixed, "SHRINKAGE", [0.1])
    monkeypatch.setattr(mixed, "FILLS", ["mean"])
    ours, theirs = mixed.compare("titanic", DATA, draws=1).values()
    apart = ours - theirs
    assert ours.mean() > 0.78
    assert apart.mean() > -apart.std(ddof=1) / np.sqrt(len(apart))
