"""Model files: what is written to them, read from them and said of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from .._base.files import named
from .._base.types import PathLike
from .._base.warn import warn_user
from .._core.moments import FirstClasses
from .._fit.fitted import recipe_of
from .._fit.projection import Projection
from .._judge.atlas import Atlas
from .._judge.value_map import ValueMap
from ..tables import TableEncoder
from . import container
from .packing import SIGNED, built, checked, configured, method_of, packed, signed
from .parameters import put_parameters, take_parameters
from .schema import Puts
from .strict import Arrays, fields, parse


def save(
    estimator: Projection | Atlas | ValueMap,
    path: PathLike,
    *,
    moments: bool = False,
    table: TableEncoder | None = None,
) -> None:
    """Write a fitted estimator to one file, which `labelens.load` reads.

    The file takes the place of an older one only when it is complete. It holds what `transform`
    and the fitted attributes need, and of the training data no row, unless the model is made of
    rows: landmarks (`approximation="nystroem"` and "falkon") and those of `approximation="exact"`.
    A warning then says how many they are, and so does `labelens.persist.info`.

    Parameters
    ----------
    estimator : one of the four methods, or an Atlas or ValueMap of one, fitted
    path : str or path
        By convention `*.labelens`.
    moments : bool, default=False
        Whether the moments go with it, so that `partial_fit` and `merge` can go on from the file.
        With exact kernels that is everything known of the training rows, labels included.
    table : labelens.tables.TableEncoder, default=None
        How columns of a table became the features, with the values for gaps: `labelens transform`
        does the same to new rows.

    Examples
    --------
    >>> import labelens, numpy as np, tempfile, os
    >>> X, y = np.random.default_rng(0).normal(size=(100, 5)), np.arange(100) % 3
    >>> model = labelens.SupervisedPCA(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labelens.save(model, os.path.join(folder, "model.labelens"))
    ...     same = labelens.load(os.path.join(folder, "model.labelens"))
    >>> bool((same.transform(X) == model.transform(X)).all())
    True
    """
    header, arrays = packed(estimator, moments, table)
    with _refusals(None, "saved"):  # what could not be loaded is not saved
        built(parse(json.dumps(header), "its header"), arrays)
    container.write(Path(path), header, arrays)
    if rows := header["training_rows"]:
        warn_user(
            f"{named(path)} holds {rows} rows of the training data, of which a model with "
            f"approximation={header['parameters']['approximation']!r} is made: who may read it may "
            "read them."
        )


def load(path: PathLike) -> Projection:
    """Read an estimator that `labelens.save` has written.

    Safe with files from anyone: nothing in a file is run, and one that is not exactly what `save`
    writes is refused with a ValueError; a link, folder or pipe with an OSError. (What a stranger's
    model computes is another question.)

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Fitted; it gives the same bits as the one that was saved. A model saved without its
        moments can be used, but not continued.

    Examples
    --------
    >>> import labelens, os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = labelens.SupervisedPCA(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labelens.save(model, os.path.join(folder, "iris.labelens"))
    ...     again = labelens.load(os.path.join(folder, "iris.labelens"))
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    return load_with_table(path)[0]


def load_with_table(path: PathLike) -> tuple[Projection, TableEncoder | None]:
    """The same, and how columns of a table became the features, where the file says so."""
    with _refusals(path, "loaded"):
        header, arrays = container.read(Path(path))
        return built(checked(header, arrays), arrays)


def save_state(estimator: Projection, path: Path, note: dict[str, Any]) -> None:
    """A fit that is under way, with a note on where it stands: for `load_state`, not for `load`."""
    header, arrays = packed(estimator, moments=True)
    container.write(path, header | {"unfinished": note}, arrays)


def load_state(path: Path) -> tuple[Projection, dict[str, Any]]:
    """What `save_state` has written."""
    with _refusals(path, "continued from"):
        header, arrays = container.read(path)
        note = header.pop("unfinished", None)
        if type(note) is not dict:
            raise ValueError("it is a model, not the state of a fit that is under way")
        return built(checked(header, arrays), arrays)[0], note


def save_method(estimator: Projection, path: Path) -> None:
    """A method and its parameters, fitted or not: for `load_method`, not for `load`."""
    arrays: Puts = {}
    header = signed(estimator) | {"unfitted": put_parameters(estimator, arrays)}
    container.write(path, header, arrays)


def load_method(path: Path) -> Projection:
    """What `save_method` has written, not fitted."""
    with _refusals(path, "loaded"):
        header, stored = container.read(path)
        facts = fields({"set_output": None} | header, "its header", unfitted=dict, **SIGNED)
        method, arrays = method_of(facts), Arrays(stored)
        estimator: Any = method(**take_parameters(facts["unfitted"], method, arrays))
        arrays.done()
        return configured(estimator, facts)


def info(path: PathLike) -> dict[str, Any]:
    """What a model file holds, in JSON's types; what `load` refuses is refused here too.

    Labels that JSON has no type for are shown as text; several columns of classes are pairs of
    column and class.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict

    Examples
    --------
    >>> import labelens, os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = labelens.SupervisedPCA(2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labelens.save(model, os.path.join(folder, "iris.labelens"))
    ...     facts = labelens.persist.info(os.path.join(folder, "iris.labelens"))
    >>> facts["method"], facts["classes"], facts["training_rows"]
    ('SupervisedPCA', [0, 1, 2], 0)
    """
    with _refusals(path, "read"):
        header, arrays = container.read(Path(path))
        facts = checked(header, arrays)
        estimator, table = built(facts, arrays)
    own = estimator if isinstance(estimator, Atlas | ValueMap) else None
    names = getattr(estimator, "feature_names_in_", None)
    if own is not None:
        estimator = own.estimator_
    psi, classes = recipe_of(estimator).psi, estimator.moments_.classes
    if isinstance(classes, FirstClasses):
        classes = None  # no list of them was kept
    return {
        "method": facts["method"],
        **{name: _shown(facts[name]) for name in ("atlas", "value_map") if facts[name]},
        "parameters": _shown(estimator.get_params(deep=False)),
        "n_features_in": facts["n_features_in"],
        "feature_names": None if names is None else names.tolist(),
        "impute": None if table is None else table.impute,
        "table_rows": getattr(table, "n_samples_seen_", None),
        "label_kernel": None if psi is None else _shown(psi.kernel),
        "classes": _shown(classes),
        "n_samples": facts["n_samples"],
        "training_rows": facts["training_rows"],
        "moments": facts["moments"],
        "arrays": {name: f"{a.dtype} {a.shape}" for name, a in sorted(arrays.items())},
        "size": Path(path).stat().st_size,
        "format": facts["format"],
        "labelens": facts["labelens"],
    }


def _shown(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_shown(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _shown(item) for key, item in value.items()}
    plain = value is None or type(value) in (bool, int, str, list)
    return value if plain or (type(value) is float and isfinite(value)) else str(value)


@contextmanager
def _refusals(path: Any, verb: str) -> Iterator[None]:
    """ValueErrors as one sentence about the file."""
    try:
        yield
    except ValueError as error:
        reason = str(error).rstrip(".").replace("\n", " ")
        what = "This model" if path is None else named(path)
        more = "..." if len(reason) > 500 else ""
        raise ValueError(f"{what} cannot be {verb}: {reason[:500]}{more}.") from None
