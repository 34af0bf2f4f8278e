"""`labelens.tl`: embeddings of AnnData objects, as scanpy's tools have them.

Rows are read a chunk at a time, wherever they are: in memory, in an .h5ad file (backed), in dask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from .._base.validation import check_number, check_seed, some
from .._core.labels import Labels, as_labels
from .._engines.on_dask import is_dask
from .._engines.sources import Chunk, Source
from .._fit.fitted import embed_rows
from .._fit.projection import Projection
from .._fit.settings import is_kernel_method, keeps_rows
from .._fit.task import task_kind
from .._judge.candidates import MOST_COMPONENTS, NONZERO, WIDEST
from .._judge.selection import Selection, select
from ..methods import SupervisedPCA
from .fitting import stream_into
from .plan import chunk_rows

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["embed"]

COMPARED = 3_000  # cells that parameters are compared on
FOLDS = 5


def embed(
    adata: AnnData,
    label: str,
    *,
    estimator: Projection | None = None,
    layer: str | None = None,
    use_rep: str | None = None,
    nuisance: str | Sequence[str] | None = None,
    n_components: int | None = None,
    key_added: str = "labelens",
    copy: bool = False,
    random_state: int | None = 0,
) -> AnnData | None:
    """Embed the cells of an AnnData object by a label.

    Cells without a label are not fitted, but embedded. Objects in memory, backed by a file and of
    dask arrays are read in chunks; sparse cells stay sparse.

    Parameters
    ----------
    adata : AnnData
    label : str
        A column of `adata.obs`: classes, or numbers.
    estimator : one of the four methods, default=None
        None is `SupervisedPCA`; `select` compares its shrinkage, scaling (dense cells) and, for
        more than 2048 columns, `n_nonzero` on at most 3000 cells. The exact kernel and "falkon"
        keep cells and are for cells in memory.
    layer : str, default=None
        A layer in place of `adata.X`.
    use_rep : str, default=None
        A representation in `adata.obsm`, such as "X_pca", in place of `adata.X`.
    nuisance : str or list of str, default=None
        Columns of `adata.obs`, such as a batch, that components must not follow: see `fit` of the
        methods.
    n_components : int, default=None
        None: that of the estimator; for the default the number of classes less one, at most 32, and
        at least 2 (then the second shows variance), and 2 for numbers.
    key_added : str, default="labelens"
        Name of what is written.
    copy : bool, default=False
        Whether to return a copy and leave `adata` as it is.
    random_state : int, default=0

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. It, or `adata`, has `.obsm["X_labelens"]` (the embedding),
        `.varm["labelens"]` (the weights of genes; linear methods of `X` or a layer) and
        `.uns["labelens"]`: parameters, singular values, and the held-out score of a
        cross-validation on at most 3000 cells. The embedding of the cells that were fitted looks
        better than this score where there are few cells.

    Examples
    --------
    >>> import labelens, numpy as np
    >>> from anndata import AnnData  # doctest: +SKIP
    >>> X, cell_type = np.random.default_rng(0).normal(size=(300, 50)), np.arange(300) % 3
    >>> adata = AnnData(X, obs={"cell_type": cell_type.astype(str)})  # doctest: +SKIP
    >>> labelens.tl.embed(adata, label="cell_type")  # doctest: +SKIP
    >>> adata.obsm["X_labelens"].shape  # doctest: +SKIP
    (300, 2)
    """
    seed = check_seed(random_state)
    if copy:
        adata = adata.to_memory() if adata.isbacked else adata.copy()
    rows = _rows_of(adata, layer, use_rep)
    labels, known = _column(adata, label)
    if not known.any():
        raise ValueError(f"No cell has a label in obs[{label!r}].")
    nuisances = [nuisance] if isinstance(nuisance, str) else list(nuisance or ())
    aside = None
    if nuisances:
        beside = [_column(adata, name) for name in nuisances]
        for name, (_, there) in zip(nuisances, beside, strict=True):
            if not there[known].all():
                raise ValueError(f"obs[{name!r}] is missing for some cells with a label.")
        aside = Labels.side_by_side([values for values, _ in beside])
    cells = Cells(rows, labels, aside, np.flatnonzero(known))
    chosen = _chosen(cells, estimator, n_components, seed)
    model = clone(chosen.estimator)
    if estimator is None or estimator.random_state is None:
        model.set_params(random_state=random_state)
    # The cells that were compared may be all there are.
    if keeps_rows(model):
        held = cells.taken(np.arange(len(cells.which)))
        model.fit(held.X, held.y.values)
    else:
        stream_into(model, cells, None, None, None)
    pieces = [embed_rows(model, X, check_columns=False) for X in cells.everything(model)]
    adata.obsm[f"X_{key_added}"] = np.concatenate(pieces)
    if use_rep is None and not is_kernel_method(model):
        adata.varm[key_added] = model.components_.T
    adata.uns[key_added] = _told(model, chosen, labels, known, label, layer, use_rep, nuisances)
    return adata if copy else None


class Cells(Source):
    """Cells with a label, read a slice at a time."""

    title, names = "the cells", None

    def __init__(
        self, rows: Any, labels: Labels, nuisance: Labels | None, which: NDArray[np.intp]
    ) -> None:
        self.rows, self.labels, self.nuisance, self.which = rows, labels, nuisance, which
        first = self._read(0, 1)
        self.head = first[:0]
        self.n_rows, self.labelled = len(which), True
        self.n_bytes = self.n_rows * self.row_bytes

    def chunks(self, rows: int, start: int = 0, features: bool = True) -> Iterator[Chunk]:
        at = self.which
        for begin in range(0, self.rows.shape[0], rows):
            end = min(begin + rows, self.rows.shape[0])
            here = at[slice(*np.searchsorted(at, [begin, end]))]
            if start:  # the number of the first cell with a label
                skipped = min(start, len(here))
                here, start = here[skipped:], start - skipped
            if len(here):
                X = None
                if features:
                    X = self._read(begin, end)
                    X = X if len(here) == X.shape[0] else X[here - begin]
                aside = None if self.nuisance is None else self.nuisance[here]
                yield Chunk(X, self.labels[here], None, aside)

    def everything(self, model: Any) -> Iterator[Any]:
        """The features of all cells, in order."""
        size = chunk_rows(model, self, None)
        for begin in range(0, self.rows.shape[0], size):
            yield self._read(begin, min(begin + size, self.rows.shape[0]))

    def taken(self, some: NDArray[np.intp]) -> Chunk:
        """Some of the cells with a label, in memory."""
        here = self.which[some]
        size = max(1, (64 << 20) // self.row_bytes)
        parts = []
        for begin in range(0, self.rows.shape[0], size):
            mine = here[slice(*np.searchsorted(here, [begin, begin + size]))]
            if len(mine):
                parts.append(self._read(begin, min(begin + size, self.rows.shape[0]))[mine - begin])
        X = sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
        aside = None if self.nuisance is None else self.nuisance[here]
        return Chunk(X, self.labels[here], None, aside)

    def _read(self, begin: int, end: int) -> Any:
        some = self.rows[begin:end]
        if is_dask(some):
            some = some.compute()
        return sparse.csr_array(some) if sparse.issparse(some) else np.asarray(some)


def _rows_of(adata: Any, layer: str | None, use_rep: str | None) -> Any:
    """The matrix that is asked for, which gives its rows slice by slice."""
    if layer is not None and use_rep is not None:
        raise ValueError(f"layer={layer!r} and use_rep={use_rep!r}: name one of them.")
    for name, there, kind in ((layer, adata.layers, "layers"), (use_rep, adata.obsm, "obsm")):
        if name is not None and name not in there:
            raise ValueError(f"There is no {name!r} in {kind}; there are {some(list(there))}.")
    rows = adata.X if layer is None else adata.layers[layer]
    rows = rows if use_rep is None else adata.obsm[use_rep]
    if rows is None:
        raise ValueError("adata has no X. Name a layer, or a representation with use_rep.")
    if hasattr(rows, "to_numpy"):
        rows = rows.to_numpy()
    if getattr(rows, "format", "csr") != "csr":
        if not sparse.issparse(rows):
            raise ValueError(
                "The file stores cells by columns (CSC), which cannot be read a cell at a time. "
                "Convert it with adata.X = adata.X.tocsr(), or read it with to_memory()."
            )
        rows = rows.tocsr()
    return rows


def _column(adata: Any, name: str) -> tuple[Labels, NDArray[np.bool_]]:
    """A column of obs, and which cells have a value."""
    if name not in adata.obs:
        raise ValueError(f"There is no {name!r} in obs; there are {some(list(adata.obs))}.")
    column = adata.obs[name]
    known = column.notna().to_numpy()
    if not known.all() and known.any():
        column = column.where(known, column[known].iloc[0])  # those cells are never asked
    return as_labels(column), known


def _chosen(
    cells: Cells, estimator: Projection | None, n_components: int | None, seed: int
) -> Selection:
    """The parameters by cross-validation on a sample of the cells."""
    n, p = len(cells.which), cells.head.shape[1]
    draw = np.random.default_rng(seed)
    held = cells.taken(np.sort(draw.permutation(n)[: min(n, COMPARED)]))
    grid: dict[str, Any] = {}
    if estimator is None:
        kind = task_kind(cells.labels[cells.which].values)
        count = 2
        if kind == "classes":
            count = len(set(cells.labels[cells.which].values.tolist()))
            count = max(2, min(count - 1, MOST_COMPONENTS, p))
        estimator = SupervisedPCA(count, scale=None)
        grid = {"shrinkage": None, "scale": None}
        if kind == "classes" and len(set(held.y.values.tolist())) <= count:
            grid |= {"target_weight": [0.9]}  # labels have fewer directions
        if p > WIDEST:
            grid |= {"n_nonzero": [None, *(m for m in NONZERO if m < p)], "target_weight": [1.0]}
            grid |= {"n_components": [max(1, min(count, len(set(held.y.values.tolist())) - 1))]}
    if n_components is not None:
        check_number(n_components, "n_components", 1, integer=True)
        grid["n_components"] = [n_components]
    values, aside = held.y.values, None if held.nuisance is None else held.nuisance.values
    counts = np.unique(values.astype(str), return_counts=True)[1]
    cv = int(np.clip(counts.min(), 2, FOLDS))
    return select(held.X, values, estimator, grid=grid, cv=cv, nuisance=aside, random_state=seed)


def _told(
    model: Any,
    chosen: Selection,
    labels: Labels,
    known: NDArray[np.bool_],
    label: str,
    layer: str | None,
    use_rep: str | None,
    nuisances: list[str],
) -> dict[str, Any]:
    """The entries of uns, without None, which .h5ad files cannot store."""
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if isinstance(value, (bool, int, float, str))
    }
    sources = {"label": label, "layer": layer, "use_rep": use_rep}
    values = labels[known].values.astype(str)
    majority = np.unique(values, return_counts=True)[1].max() / len(values)
    return {
        "method": type(model).__name__,
        "params": parameters | {name: value for name, value in sources.items() if value},
        "nuisance": np.array(nuisances, dtype=str),
        "n_cells_fitted": int(known.sum()),
        "singular_values": model.singular_values_,
        "dependence_ratio": model.dependence_ratio_,
        "scores": {
            "metric": chosen.metric,
            "held_out": chosen.score,
            "standard_error": chosen.error,
            "majority": float(majority),
        },
    }
