"""From options to an estimator; and which one, where the user leaves that to us."""

from __future__ import annotations

import fnmatch
import shlex
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .. import tables
from .._fit.task import Kind, is_continuous, task_kind
from .._judge.atlas import Atlas
from .._judge.candidates import NONZERO
from .._judge.selection import select
from ..methods import METHODS, SupervisedPCA
from . import options as o
from .output import Bar

READING, COMPARING = "reading", "comparing methods"
LABEL_KERNELS = {"classes": "delta", "numbers": "rbf", "multilabel": "linear"}
DOUBTFUL = 20  # different whole numbers, above which classes may well be numbers
FOLDS = 5  # that methods are compared in; fewer of very few rows


def build(method: str, options: dict[str, Any]) -> Any:
    """An estimator from the options that were given; those for kernels need a kernel method."""
    given = {name: value for name, value in options.items() if value is not None}
    kernelised = method in ("ksrp", "kspca")
    for name in ("kernel", "gamma"):
        if name in given and not kernelised:
            raise ValueError(
                f"--{name} is for the kernel methods, and --method is {method}; use ksrp or kspca."
            )
    if given["scale"] == "none":
        given["scale"] = None
    if method in ("spca", "pca"):
        given.pop("random_state", None)
    return (SupervisedPCA if method == "pca" else METHODS[method])(**given)


def read(data: Path, columns: o.ColumnOptions, bar: Bar, transpose: bool = False) -> Any:
    """A file as a DataFrame, with the labels of a second file; rows are named by --id."""
    frame = tables.read(
        data,
        columns.labels,
        columns.label or (),
        lambda share: bar.at(READING, share),
        on=columns.on,
        by_position=columns.by_position,
        transpose=transpose,
    )
    if columns.id is None or columns.id == frame.index.name:
        return frame
    if columns.id not in frame.columns:
        raise ValueError(f"--id {columns.id}: there is no such column.")
    return frame.set_index(columns.id)


def matching(asked: list[str] | None, names: list[str]) -> list[str]:
    """Names of columns, and those that patterns such as GENE* stand for."""
    found: list[str] = []
    for name in asked or ():
        some = [name] if name in names or not has_magic(name) else fnmatch.filter(names, name)
        if not some:
            raise ValueError(f"--features {name!r} matches no column.")
        found += some
    return found


def load(
    data: Path,
    columns: o.ColumnOptions,
    bar: Bar,
    encoder: tables.TableEncoder | None = None,
    transpose: bool = False,
) -> tables.Table:
    """Read a file and pick its columns, as the encoder does if there is one; a label is needed."""
    frame = read(data, columns, bar, transpose)
    label = label_names(list(frame.columns), columns)
    # Columns of .obs of an AnnData file are features only if they are named.
    asked = {*label, *(columns.features or ()), *(columns.nuisance or ()), columns.groups}
    aside = [name for name in frame.attrs.get("obs", ()) if name not in asked]
    table = tables.pick(
        frame,
        label,
        features=matching(columns.features, [n for n in frame.columns if n not in label]),
        drop=[*(columns.drop or ()), *aside],
        impute=o.filling(columns.impute),
        na=columns.na or (),
        groups=columns.groups,
        nuisance=columns.nuisance or (),
        text=columns.text,
        encoder=encoder,
    )
    check_labels(table.labels, ", ".join(map(repr, label)), columns.kind)
    return table


def aligned(
    frame: Any, model: Any, encoder: tables.TableEncoder | None, impute: Any = None
) -> tuple[tables.Table, Any]:
    """New rows as a table, and as the model takes them."""
    names = getattr(model, "feature_names_in_", None)
    features: Any = names if encoder is None else encoder
    if features is None:
        features = [f"x{i}" for i in range(model.n_features_in_)]
    table = tables.align(frame, features, impute)
    return table, table.X if names is None else table.frame


def label_names(names: list[str], columns: o.ColumnOptions) -> list[str]:
    """The columns of labels: those that were named, or the only one of a file of labels."""
    label = columns.label
    if not label and columns.labels is not None:
        label = [name for name in names if name == "label"] or None
    if not label:
        raise ValueError(f"Which column is the label? {_in_question(names)}")
    return label


def _in_question(names: list[str]) -> str:
    """Columns that are called what labels are often called; the others from both ends."""
    likely = tables.likely_labels(names)[:3]
    ends = names if len(names) <= 6 else [*names[:3], *names[-3:]]
    listed = [*map(repr, ends)]
    if len(names) > 6:
        listed.insert(3, "...")
    guess = f"Perhaps --label {shlex.quote(likely[0])}. " if likely else "Name it with --label. "
    return f"{guess}The file has {len(names):,} columns: {', '.join(listed)}."


def check_labels(labels: NDArray[Any], names: str, kind: Kind | None = None) -> None:
    """Say why nothing can be learnt from them, if so."""
    values = set(map(str, labels.ravel().tolist()))
    if len(values) < 2:
        raise ValueError(
            f"The label has a single value, {values.pop()!r}; at least two are required."
        )
    if len(labels) < 8:
        raise ValueError(f"The data have {len(labels)} rows, too few to hold some out.")
    if labels.dtype == object and len(values) == labels.size:
        raise ValueError(
            f"Every row has a different label in {names}, so there are no classes; name "
            "a column whose values repeat."
        )
    columns = [np.array(column.tolist()) for column in labels.T] if labels.ndim == 2 else []
    task = task_kind(labels, kind)
    if kind is None and task != "numbers" and any(map(is_continuous, columns)):
        raise ValueError(
            f"Some of the labels {names} are classes and some are numbers; name labels of one "
            "kind, or cut the numbers into classes first."
        )


def stages(method: o.Method, *others: str) -> list[str]:
    """The stages of `load` and `pick_model`, then the others."""
    return [READING, *([COMPARING] if method in (o.Method.auto, o.Method.atlas) else []), *others]


def pick_model(
    method: o.Method,
    table: tables.Table,
    asked: dict[str, Any],
    bar: Bar,
    kind: Kind,
    train: NDArray[np.intp],
) -> tuple[Any, str]:
    """The estimator to fit, and the reason for it unless the user named it."""
    if method in (o.Method.auto, o.Method.atlas):
        bar.at(COMPARING)
        groups, nuisance = (None if a is None else a[train] for a in (table.groups, table.nuisance))
        return choose(table.X[train], table.labels[train], asked, kind, groups, nuisance)
    return build(method.value, asked), ""


def pick_map(
    wanted: o.MethodOptions, table: tables.Table, bar: Bar, kind: Kind, train: NDArray[np.intp]
) -> tuple[Any, str] | None:
    """An atlas, and why it has its base model; None where no atlas is wanted.

    It is the default for one column of classes, unless an option of another method is given.
    """
    given = {name: value for name, value in wanted.parameters().items() if value is not None}
    others = given.keys() - {"random_state", "scale"}
    classes = table.labels.ndim == 1 and kind == "classes"
    aside = table.groups is not None or table.nuisance is not None
    if wanted.method == o.Method.atlas:
        if others:
            name = min(others).replace("n_components", "components").replace("_", "-")
            raise ValueError(f"--{name} is not for --method atlas, which chooses its base model.")
        if not classes or aside:
            raise ValueError(
                "--method atlas needs one column of classes, no --groups and no --nuisance; use "
                "another --method."
            )
    elif wanted.method != o.Method.auto or others or not classes or aside:
        return None
    bar.at(COMPARING)
    seed = wanted.seed
    folds = min(FOLDS, len(train) // 2)
    chosen = select(table.X[train], table.labels[train], cv=folds, random_state=seed)
    base = clone(chosen.estimator).set_params(random_state=seed)
    return Atlas(base, random_state=seed), chosen.reason


def settle(
    options: dict[str, Any],
    labels: NDArray[Any],
    n_features: int,
    notes: list[str],
    asked: Kind | None = None,
    found: Kind | None = None,
) -> tuple[dict[str, Any], Kind]:
    """Fill in what labels decide, and what they are: the one decision of a command.

    `found` is the decision on all rows, where these labels are some of them.
    """
    options, kind = dict(options), task_kind(labels, asked or found)
    if asked is None and (note := _doubt(labels, kind)):
        notes.append(note)
    if options.get("label_kernel") is None and (asked is not None or kind == "numbers"):
        # Whole numbers would be classes by default.
        options["label_kernel"] = LABEL_KERNELS[kind]
    if options.get("n_components") is None:
        options["n_components"] = min(2, n_features)
    k = options["n_components"]
    if kind == "classes" and labels.ndim == 1 and options.get("target_weight") is None:
        classes = len(set(labels.tolist()))
        if classes <= k:
            options["target_weight"] = 0.9
            notes.append(
                f"{classes} classes span {classes - 1} direction{'s' if classes > 2 else ''}: "
                "the rest show variance (target_weight 0.9)."
            )
    return options, kind


def _doubt(labels: NDArray[Any], kind: Kind) -> str:
    """A note on whole numbers, which may be classes or numbers."""
    if labels.ndim > 1 or labels.dtype.kind not in "iuf":
        return ""
    count = len(np.unique(labels))
    if kind == "numbers" and (labels == np.floor(labels)).all():
        return (
            f"The labels are whole numbers with {count:,} different values: taken as numbers. Use "
            "--task classes if they are classes."
        )
    if kind == "classes" and count > DOUBTFUL:
        return (
            f"The labels are whole numbers with {count:,} different values: taken as classes. Use "
            "--task numbers if they measure something."
        )
    return ""


def choose(
    X: NDArray[Any],
    labels: NDArray[Any],
    options: dict[str, Any],
    kind: Kind,
    groups: Any = None,
    nuisance: Any = None,
) -> tuple[Any, str]:
    """The best of several methods by cross-validation, and a sentence with the reason."""
    seed = options["random_state"]
    kernel = any(options.get(name) is not None for name in ("kernel", "gamma"))
    rivals: list[Any] = [
        build(method, options) for method in (["kspca"] if kernel else ["spca", "kspca"])
    ]
    if not kernel and X.shape[1] > len(X):
        counts = [m for m in NONZERO if m < X.shape[1]]
        rivals += [clone(rivals[0]).set_params(n_nonzero=m) for m in counts]
    grid: dict[str, Any] = {}  # None: the default list
    if options.get("gamma") in (None, "auto"):
        grid["gamma"] = None
    if options.get("shrinkage") is None:
        grid["shrinkage"] = None
    folds = min(FOLDS, len(X) // 2)
    if groups is not None:
        folds = min(folds, len(set(groups.tolist())))
    chosen = select(
        X,
        labels,
        rivals,
        grid=grid,
        cv=folds,
        task=kind,
        groups=groups,
        nuisance=nuisance,
        random_state=seed,
    )
    model = clone(chosen.estimator)
    if "random_state" in model.get_params():  # as it was asked for, not as drawn for the folds
        model.set_params(random_state=seed)
    return model, chosen.reason
