"""Options that several commands take.

Those that go together are a dataclass, one parameter of a command: `spread_out` makes an option of
each of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from .._core.kernels import PARAMETERS as KERNELS

Method = StrEnum("Method", ["auto", "atlas", "srp", "ksrp", "spca", "kspca", "pca"])
Format = StrEnum("Format", ["parquet", "csv"])
Scale = StrEnum("Scale", ["none", "minmax", "standard"])
LabelKernelName = StrEnum(
    "LabelKernelName",
    ["auto", "delta", "linear", "rbf", "ranked", "sliced", "ordinal", "tree", "jaccard"],
)
TaskName = StrEnum("TaskName", ["classes", "numbers", "multilabel"])
ClassWeight = StrEnum("ClassWeight", ["balanced"])
Impute = StrEnum("Impute", ["mean", "median", "drop"])


def filling(impute: Impute | None) -> Any:
    """The value for the library."""
    return None if impute is None else impute.value


Data = Annotated[
    str | None,
    typer.Argument(
        help="CSV, TSV, text, JSON lines, Excel, parquet, Arrow, .h5ad, .npy, .npz, IDX; .gz, .zip "
        "too; a URL; a Delta table or a data set of Hugging Face; - for standard input.",
        show_default=False,
    ),
]
Sql = Annotated[
    str | None,
    typer.Option("--sql", help="A query of DuckDB in place of a file, or of DATA, its database."),
]
Transpose = Annotated[
    bool,
    typer.Option("--transpose", help="Columns of the file are rows; its first column, names."),
]
Model = Annotated[Path, typer.Argument(help="A model file, .labelens.")]
Memory = Annotated[
    str | None, typer.Option("--memory", help="Read in chunks, within this memory: 512MB.")
]
Kept = Annotated[
    bool, typer.Option("--moments", help="Keep what `labelens merge` and partial_fit need.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
ModelOut = Annotated[Path, typer.Option("--out", "--model", help="The model file.")]


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns are labels, and which are features."""

    label: Annotated[
        list[str] | None, typer.Option(help="The column of labels; may be repeated.")
    ] = None
    labels: Annotated[str | None, typer.Option(help="A second file, of labels.")] = None
    on: Annotated[
        str | None, typer.Option(help="The key that joins --labels; found if there is one only.")
    ] = None
    by_position: Annotated[
        bool, typer.Option("--by-position", help="Join --labels by row position.")
    ] = False
    task: Annotated[
        TaskName | None, typer.Option(help="What labels are, if not what their values say.")
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(help="A column: rows with the same value are held out together."),
    ] = None
    nuisance: Annotated[
        list[str] | None,
        typer.Option(help="A column, such as a batch, that components must not follow linearly."),
    ] = None
    id: Annotated[
        str | None, typer.Option(help="A column that names rows: no feature, but in the output.")
    ] = None
    features: Annotated[
        list[str] | None,
        typer.Option(help="Only this column as a feature, or 'GENE*'; may be repeated."),
    ] = None
    drop: Annotated[list[str] | None, typer.Option(help="Not this column; may be repeated.")] = None
    impute: Annotated[
        Impute, typer.Option(help="What to do about gaps; the model keeps it for new rows.")
    ] = Impute.mean
    text: Annotated[
        bool, typer.Option("--text", help="Use text with many values, by hashed letter triples.")
    ] = False
    na: Annotated[
        list[str] | None, typer.Option(help="A cell that stands for a gap; may be repeated.")
    ] = None

    @property
    def kind(self) -> Any:
        """The task that was asked for, as the library takes it."""
        return None if self.task is None else self.task.value


@dataclass(frozen=True)
class MethodOptions:
    """The method and its parameters."""

    method: Annotated[Method, typer.Option(help="auto compares several methods.")] = Method.auto
    components: Annotated[int | None, typer.Option(min=1, help="Dimensions; 2 if not given.")] = (
        None
    )
    kernel: Annotated[str | None, typer.Option(help=f"{', '.join(KERNELS)}.")] = None
    gamma: Annotated[
        str | None, typer.Option(help="Kernel coefficient: a number, scale, median or auto.")
    ] = None
    target_weight: Annotated[
        float | None, typer.Option(min=0, max=1, help="1: labels only; 0: variance only.")
    ] = None
    shrinkage: Annotated[
        str | None, typer.Option(help="1: the paper; 0: features are whitened; or auto.")
    ] = None
    label_shrinkage: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="1: the paper; 0: labels are whitened (LDA and CCA)."),
    ] = None
    label_kernel: Annotated[
        LabelKernelName | None,
        typer.Option(help="Which labels are similar: equal ones, close ones, ..."),
    ] = None
    class_weight: Annotated[
        ClassWeight | None,
        typer.Option(help="balanced: rare classes count as much as common ones."),
    ] = None
    scale: Annotated[Scale, typer.Option(help="Scaling of the columns.")] = Scale.standard
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")] = 0

    def parameters(self) -> dict[str, Any]:
        """The parameters of an estimator; None where no option was given."""
        blind = self.method == Method.pca
        if blind and self.target_weight:
            raise ValueError(
                f"--method pca ignores the labels: its --target-weight is 0, not "
                f"{self.target_weight:g}; for some of both use spca."
            )
        return dict(
            n_components=self.components,
            kernel=self.kernel,
            gamma=_number("gamma", self.gamma, "scale", "median", "auto"),
            target_weight=0.0 if blind else self.target_weight,
            shrinkage=_number("shrinkage", self.shrinkage, "auto"),
            label_shrinkage=self.label_shrinkage,
            label_kernel=self.label_kernel and self.label_kernel.value,
            class_weight=self.class_weight and self.class_weight.value,
            random_state=self.seed,
            scale=self.scale.value,
        )


def _number(option: str, text: str | None, *words: str) -> float | str | None:
    """The number that an option was given, or one of the words that it takes instead."""
    if text is None or text in words:
        return text
    try:
        return float(text)
    except ValueError:
        or_word = " or ".join(map(repr, words))
        raise ValueError(f"--{option} must be a number or {or_word}, got {text!r}.") from None


def spread_out(command: Callable[..., None]) -> Callable[..., None]:
    """The command for typer: fields in place of a dataclass, because typer has no groups."""
    asked = signature(command, eval_str=True)
    groups: dict[str, Any] = {
        p.name: p.annotation for p in asked.parameters.values() if is_dataclass(p.annotation)
    }
    others = [p for p in asked.parameters.values() if p.name not in groups]
    spread = [*others, *(option for group in groups.values() for option in _options(group))]

    @wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
        command(**given)

    parameters = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in spread]
    called.__signature__ = asked.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in spread}
    called.__doc__ = _unwrapped(command.__doc__ or "")
    return called


def _unwrapped(text: str) -> str:
    r"""A line for each paragraph, for terminals of any width; what follows \b stays as it is."""
    paragraphs = cleandoc(text).split("\n\n")
    return "\n\n".join(p if p.startswith("\b") else p.replace("\n", " ") for p in paragraphs)


def _options(group: Any) -> Iterator[Parameter]:
    """One for each field, under the group's own words in `--help`."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        kind, option = get_args(hints[field.name])
        option = copy(option)
        option.rich_help_panel = group.__doc__.rstrip(".")
        hint: Any = Annotated[kind, option]
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)
