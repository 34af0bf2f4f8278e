"""`python benchmarks/cells.py --cells 1000000 --folder DIR`: memory and time of labelens.tl.embed.

Writes an .h5ad file of simulated sparse counts (2000 genes, 5 % of the entries, eight cell types),
embeds it backed in a new process, and prints the peak of its memory. The file is removed.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from measure import machine
from publish import Printed

GENES, SHARE, TYPES, AT_A_TIME = 2000, 0.05, 8, 50_000


def written(path: Path, n: int) -> None:
    import h5py
    from anndata.io import write_elem

    draw = np.random.default_rng(0)
    cell_type = draw.integers(TYPES, size=n)
    # One block of counts, its rows drawn anew for every block of cells; markers come on top.
    pool = sparse.random_array((AT_A_TIME, GENES), density=SHARE, format="csr", rng=draw)
    pool.data = np.ceil(pool.data * 4)
    with h5py.File(path, "w") as file:
        write_elem(file, "obs", pd.DataFrame(
            {"cell_type": pd.Categorical(np.char.add("type ", cell_type.astype(str)))},
            index=np.arange(n).astype(str)))  # fmt: skip
        write_elem(file, "var", pd.DataFrame(index=np.arange(GENES).astype(str)))
        for begin in range(0, n, AT_A_TIME):
            own = cell_type[begin : begin + AT_A_TIME]
            rows = pool[draw.permutation(AT_A_TIME)[: len(own)]]
            marked = sparse.csr_array(draw.poisson(1.0, size=(len(own), TYPES * 5)).astype(float))
            marked = marked.multiply(np.repeat(np.eye(TYPES)[own], 5, axis=1)).tocsr()
            marked.resize(rows.shape)
            part = (rows + marked).astype(np.float32).tocsr()
            if not begin:
                write_elem(file, "X", sparse.csr_matrix(part))
                X = file["X"]
                for name in ("data", "indices", "indptr"):
                    values, kind = X[name][:], np.int64 if name == "indptr" else X[name].dtype
                    del X[name]
                    X.create_dataset(name, data=values.astype(kind), maxshape=(None,), chunks=True)
                    X[name].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
                continue
            for name in ("data", "indices", "indptr"):
                values = getattr(part, name)
                values = values[1:] + X["indptr"][-1] if name == "indptr" else values
                X[name].resize(len(X[name]) + len(values), axis=0)
                X[name][-len(values) :] = values
        X.attrs["shape"] = np.array([n, GENES])
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})


def embedded(path: Path) -> None:
    import anndata

    import labelens

    start = time.perf_counter()
    cells = anndata.read_h5ad(path, backed="r")
    labelens.tl.embed(cells, label="cell_type")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    say = Printed()
    say.head("cells x genes", "file", "seconds", "peak memory", "held-out accuracy")
    scores = cells.uns["labelens"]["scores"]
    say.row(
        f"{cells.n_obs:,} x {cells.n_vars:,}", f"{path.stat().st_size / 2**30:.2f} GiB",
        f"{time.perf_counter() - start:.0f}", f"{peak:.2f} GiB", f"{scores['held_out']:.3f}",
    )  # fmt: skip
    say.keep("cells", machine())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--embed", type=Path)
    args = parser.parse_args()
    if args.embed is not None:
        embedded(args.embed)
        return
    path = args.folder / "cells.h5ad"
    try:
        written(path, args.cells)
        again = [sys.executable, __file__, "--folder", str(args.folder), "--embed", str(path)]
        subprocess.run(again, check=True)
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
