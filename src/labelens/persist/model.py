"""Save, load and describe model files."""

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

    The file replaces an older one only when it is complete. It contains what `transform` and the
    fitted attributes need. It contains training rows only if the model consists of them: landmarks
    (`approximation="nystroem"` and "falkon") and all rows with `approximation="exact"`. A warning
    then says how many, and so does `labelens.persist.info`.

    Parameters
    ----------
    estimator : one of the four methods, or an Atlas or ValueMap of one, fitted
    path : str or path
        By convention `*.labelens`.
    moments : bool, default=False
        Whether to save the moments too, which `partial_fit` and `merge` need. With exact kernels
        they include the training rows and their labels.
    table : labelens.tables.TableEncoder, default=None
        How columns of a table became the features, with the imputed values. `labelens transform`
        applies it to new rows.

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
    with _in_words(None, "saved"):  # a file that could not be loaded is not written
        built(parse(json.dumps(header), "its header"), arrays)
    container.write(Path(path), header, arrays)
    if rows := header["training_rows"]:
        warn_user(
            f"{named(path)} holds {rows} rows of the training data, because a model with "
            f"approximation={header['parameters']['approximation']!r} consists of them. Everyone "
            "who can read the file can read these rows."
        )


def load(path: PathLike) -> Projection:
    """Read an estimator that `labelens.save` has written.

    Files from untrusted sources are safe to load: nothing in them is executed. A file that `save`
    cannot have written raises ValueError; a link, folder or pipe raises OSError. This says nothing
    about the quality of the model.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Fitted; it gives the same bits as the saved one. Without moments `partial_fit` and `merge`
        raise ValueError.

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
    """The estimator, and the encoder of its table if the file has one."""
    with _in_words(path, "loaded"):
        header, arrays = container.read(Path(path))
        return built(checked(header, arrays), arrays)


def save_state(estimator: Projection, path: Path, note: dict[str, Any]) -> None:
    """Write an unfinished fit with a note on its progress, for `load_state`."""
    header, arrays = packed(estimator, moments=True)
    container.write(path, header | {"unfinished": note}, arrays)


def load_state(path: Path) -> tuple[Projection, dict[str, Any]]:
    """The estimator and the note that `save_state` has written."""
    with _in_words(path, "continued from"):
        header, arrays = container.read(path)
        note = header.pop("unfinished", None)
        if type(note) is not dict:
            raise ValueError("it is a model, not the state of an unfinished fit")
        return built(checked(header, arrays), arrays)[0], note


def save_method(estimator: Projection, path: Path) -> None:
    """Write an estimator and its parameters, fitted or not, for `load_method`."""
    arrays: Puts = {}
    header = signed(estimator) | {"unfitted": put_parameters(estimator, arrays)}
    container.write(path, header, arrays)


def load_method(path: Path) -> Projection:
    """The estimator that `save_method` has written, not fitted."""
    with _in_words(path, "loaded"):
        header, stored = container.read(path)
        facts = fields({"set_output": None} | header, "its header", unfitted=dict, **SIGNED)
        method, arrays = method_of(facts), Arrays(stored)
        estimator: Any = method(**take_parameters(facts["unfitted"], method, arrays))
        arrays.done()
        return configured(estimator, facts)


def info(path: PathLike) -> dict[str, Any]:
    """Describe a model file in JSON's types, after the checks of `load`.

    Labels without a JSON type become text. Several columns of classes become pairs of column and
    class.

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
    with _in_words(path, "read"):
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
def _in_words(path: Any, verb: str) -> Iterator[None]:
    """Turn a ValueError into one sentence about the file."""
    try:
        yield
    except ValueError as error:
        reason = str(error).rstrip(".").replace("\n", " ")
        what = "This model" if path is None else named(path)
        more = "..." if len(reason) > 500 else ""
        raise ValueError(f"{what} cannot be {verb}: {reason[:500]}{more}.") from None
