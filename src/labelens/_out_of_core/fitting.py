"""Out-of-core fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain
from typing import Any, Literal, TypeVar

from .._base import devices
from .._base.jit import get_ready
from .._base.types import DeviceLike, LabelsLike, Memory, PathLike, SourceLike
from .._core.exact_kernel import KernelRows
from .._core.moments import BLOCK_ROWS, Moments
from .._engines import ENGINES, engine_of
from .._engines.errors import placed
from .._engines.parts import Merge, Part, Parts, Step
from .._engines.ranges import ranges_of
from .._engines.sources import Batches, Chunk, Source, absolute, open_source
from .._engines.sources.beside import names_of, open_beside
from .._fit import driver, settings
from .._fit.batch import numbers_classes
from .._fit.driver import Progress
from .._fit.projection import Projection
from ..tables import TableEncoder
from .checkpoint import Checkpoint
from .plan import chunk_rows
from .progress import ProgressCallback, ProgressMeter
from .sending import Sent

Estimator = TypeVar("Estimator", bound=Projection)


def fit(
    estimator: Estimator,
    source: SourceLike,
    *,
    label: PathLike | LabelsLike | None = None,
    features: Sequence[str] | None = None,
    nuisance: LabelsLike | str | None = None,
    encoder: TableEncoder | None = None,
    engine: Literal["dask"] | None = None,
    device: DeviceLike | None = None,
    memory: Memory | None = None,
    checkpoint: PathLike | None = None,
    progress: bool | ProgressCallback | None = None,
) -> Estimator:
    """Fit an estimator on data that need not fit in memory.

    The model is that of `estimator.fit` on all rows, bit for bit, unless a parameter comes from a
    sample of the rows. With more than 16384 rows (fewer if rows are wider than 4 KB) these do:
    `gamma="median"` and `"auto"`, landmarks, `n_components="auto"`, `label_gamma` of the "rbf"
    label kernel, and the classes of `Sum` and `Product`. Scaling and `gamma="scale"` of the kernel
    methods take a first pass over all rows, `class_weight="balanced"` one over the labels.

    Parameters
    ----------
    estimator : one of the four methods
        It is fitted in place, and unchanged after an error.
    source : array, frame, path, glob, list of paths, iterable of (X, y), or dask array or frame
        Files are parquet, Arrow, CSV, .npy or .npz, all of one kind and with the same columns;
        those of a glob are sorted by name. Batches may have any size.
    label : str, list of str, or array-like, default=None
        The column of labels, or several; for an array the labels themselves; for .npy files a
        second .npy file. None: no labels.
    features : list of str, default=None
        The columns of files to use; None: all but the labels and the nuisance. A column may hold
        lists of numbers.
    nuisance : str, list of str, or array-like, default=None
        One or more columns with which components should be uncorrelated, such as a batch, donor or
        site; see `fit` of the estimators. For arrays the values.
    encoder : labelens.tables.TableEncoder, default=None
        Turns columns of any type into numbers. If it is not fitted, a first pass over all rows
        fits it; pass it to `labelens.transform` and `labelens.save` (`table`) too.
    engine : None or "dask", default=None
        None reads files in this process, "dask" on the workers of the active Dask client. Dask
        arrays and frames are always summed on their workers. See docs/engines.md.
    device : str, device or module, default=None
        Compute on a device, such as "cuda": chunks are copied while previous ones are summed. Takes
        the same values as the `to` method of an estimator. See docs/gpu.md.
    memory : str or int, default=None
        Limit of the memory in use beyond that at the call, such as "512MB"; with an engine, of each
        task. labelens raises ValueError before it reads if the limit is too small.
    checkpoint : path, default=None
        File for the state of the fit, saved every few seconds. If it exists at the start, the fit
        continues from it. It is removed at the end.
    progress : bool or callable, default=None
        True prints rows, GB/s and the remaining time. A callable gets the rows, the total rows
        (None if unknown) and the bytes.

    Returns
    -------
    estimator

    Examples
    --------
    >>> import labelens, numpy as np, tempfile, os
    >>> X, y = np.random.default_rng(0).normal(size=(3000, 5)), np.arange(3000) % 3
    >>> whole = labelens.SupervisedPCA(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(os.path.join(folder, "X.npy"), X)
    ...     np.save(os.path.join(folder, "y.npy"), y)
    ...     model = labelens.fit(
    ...         labelens.SupervisedPCA(2), f"{folder}/X.npy", label=f"{folder}/y.npy"
    ...     )
    >>> bool((model.components_ == whole.components_).all())
    True
    """
    if not isinstance(estimator, Projection):
        name = type(estimator).__name__
        raise TypeError(f"labelens.fit takes one of the four methods, got {name}.")
    if engine is not None or engine_of(source) is not None:
        others: dict[str, object] = dict(checkpoint=checkpoint, progress=progress, device=device)
        for name, value in others.items():
            if value:
                raise ValueError(f"{name} is for fits in this process; an engine has its own.")
        return driver.fit_rows(
            estimator, _parts(estimator, source, label, features, nuisance, encoder, engine, memory)
        )
    if devices.on_device(source):
        for name, value in (("checkpoint", checkpoint), ("memory", memory), ("features", features)):
            if value is not None:
                raise ValueError(f"{name} is for files and host memory; this array is on a device.")
        return estimator.fit(source, label, nuisance=nuisance)  # type: ignore[arg-type]
    opened = _opened(source, label, features, nuisance, encoder)
    state = None if checkpoint is None else Checkpoint(checkpoint, estimator, opened)
    stream_into(estimator, opened, memory, state, progress, device)
    if state is not None:
        state.remove()
    return estimator


def _parts(
    estimator: Any,
    source: Any,
    label: Any,
    features: Any,
    nuisance: Any,
    encoder: TableEncoder | None,
    engine: str | None,
    memory: Any,
) -> Parts:
    if engine is not None and engine not in ENGINES:
        known = " or ".join(map(repr, (None, *ENGINES)))
        raise ValueError(f"engine must be {known}, got {engine!r}.")
    if (found := engine_of(source)) is not None:
        if memory is not None:
            raise ValueError("memory cuts files into chunks, and a dask collection has its own.")
        if encoder is not None:
            if nuisance is not None:
                raise ValueError("nuisance of an encoded dask frame is not supported yet.")
            source, features = found.encoded(source, label, features, encoder)
        names = [name for name in names_of(nuisance) if name in getattr(source, "columns", ())]
        if names:
            nuisance = source[names]
            source = source[[name for name in source.columns if name not in names]]
        return found.Collection(*found.columns_of(source, label, features), nuisance=nuisance)
    opened = _opened(absolute(source), label, features, nuisance, encoder)
    if opened.once or isinstance(opened, Batches):
        raise ValueError("Workers read files and arrays themselves, and batches are only here.")
    assert engine is not None
    return ENGINES[engine].FileParts(ranges_of(opened, chunk_rows(estimator, opened, memory)))


def _opened(source: Any, label: Any, features: Any, nuisance: Any, encoder: Any) -> Source:
    if nuisance is None:
        return open_source(source, label, features, encoder)
    return open_beside(source, label, nuisance, features, encoder)


def stream_into(
    estimator: Any,
    source: Source,
    memory: Any,
    state: Checkpoint | None,
    progress: Any,
    device: Any = None,
) -> None:
    """Fit the estimator; the state is left behind, with all rows in it."""
    settings.check(estimator)
    place = None if device is None else devices.device_of(devices.named_place(device))
    rows = chunk_rows(estimator, source, memory, place is not None)
    if place is not None and not settings.keeps_rows(estimator):
        source = Sent(source, place, numbers_classes(estimator))
    get_ready(source.n_bytes // source.head.dtype.itemsize)
    meter = ProgressMeter(progress, source.n_rows, source.row_bytes)
    resumed = None if state is None else state.load()
    newest = resumed

    def watch(now: Progress) -> None:
        nonlocal newest
        newest = now
        meter.at(now.rows)
        if state is not None:
            state.save(now)

    try:
        driver.fit_rows(estimator, Stream(source, rows, place, resumed), watch, resumed)
    except (Exception, KeyboardInterrupt):
        if state is not None and newest is not None:
            state.save(newest, now=True)  # nothing that was done is lost
        raise
    if newest is not None:
        meter.at(newest.rows, done=True)
        if state is not None:
            state.save(newest, now=True)


class Stream(Parts):
    """A source as one part, which this process reads."""

    n_parts, elsewhere = 1, False

    def __init__(
        self, source: Source, rows: int, device: Any = None, resumed: Progress | None = None
    ) -> None:
        self.title, self.names, self.labelled = source.title, source.names, source.labelled
        self.once = source.once
        self._source, self._rows, self._device = source, rows, device
        self._start = 0 if resumed is None else resumed.rows
        self._opened: Iterator[Chunk] | None = None  # the stream from its first chunk on

    def first(self, some: Callable[[Chunk], Chunk]) -> Chunk | None:
        stream = self._source.chunks(self._rows)
        chunk = next(stream, None)
        if chunk is not None:
            self._opened = chain([chunk], stream)
        return chunk

    def release(self, first: Chunk) -> Chunk:
        self._opened = None
        head = first.take(slice(BLOCK_ROWS))
        return replace(head, X=head.X.copy()) if hasattr(head.X, "copy") else head

    def located(self, chunk: Chunk) -> AbstractContextManager[None]:
        return placed(self, chunk, 0)

    def each(self, step: Step) -> Iterator[Any]:
        yield self.reduce(step, Moments.merge)

    def reduce(self, step: Step, merge: Merge, features: bool = True) -> Any:
        chunks, self._opened = self._opened, None
        if chunks is None:
            chunks = self._source.chunks(self._rows, self._start, features)
        answer = step(Part(0, self.title, self.names, chunks, self._start))
        if isinstance(answer, KernelRows) and self._device is not None:
            answer = replace(answer, place=self._device)
        return answer

    def lengths(self) -> Sequence[int]:
        return (0,)  # no part comes after it
