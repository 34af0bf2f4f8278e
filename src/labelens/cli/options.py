"""Options that several commands take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Method(StrEnum):
    auto = "auto"
    srp = "srp"
    ksrp = "ksrp"
    spca = "spca"
    kspca = "kspca"
    pca = "pca"


class Format(StrEnum):
    parquet = "parquet"
    csv = "csv"


class Scale(StrEnum):
    none = "none"
    minmax = "minmax"
    standard = "standard"


class LabelKernel(StrEnum):
    auto = "auto"
    delta = "delta"
    linear = "linear"
    rbf = "rbf"
    ordinal = "ordinal"
    tree = "tree"
    jaccard = "jaccard"


class ClassWeight(StrEnum):
    balanced = "balanced"


class Impute(StrEnum):
    mean = "mean"
    median = "median"
    drop = "drop"


Data = Annotated[
    Path, typer.Argument(help="CSV, TSV, parquet, Arrow/feather, .npy or .npz; .gz too.")
]
Model = Annotated[Path, typer.Argument(help="A model file, .labelens.")]
Label = Annotated[
    list[str] | None, typer.Option("--label", help="The column of labels; may be repeated.")
]
Labels = Annotated[Path | None, typer.Option(help="A file of labels beside an array of rows.")]
Features = Annotated[
    list[str] | None, typer.Option(help="Only this column as a feature; may be repeated.")
]
Drop = Annotated[list[str] | None, typer.Option(help="Not this column; may be repeated.")]
Filling = Annotated[Impute | None, typer.Option("--impute", help="What to do about gaps.")]
Methods = Annotated[Method, typer.Option("--method", help="auto compares some and says why.")]
Components = Annotated[int | None, typer.Option(min=1, help="Dimensions; 2 if not given.")]
Kernel = Annotated[
    str | None, typer.Option(help="rbf, laplacian, matern, polynomial, sigmoid, linear, cosine.")
]
Gamma = Annotated[str | None, typer.Option(help="Kernel width: a number, scale or median.")]
TargetWeight = Annotated[
    float | None, typer.Option(min=0, max=1, help="1: labels alone; 0: variance alone.")
]
Shrinkage = Annotated[
    str | None, typer.Option(help="1: the paper; towards 0: discriminant analysis; or auto.")
]
Alike = Annotated[
    LabelKernel | None,
    typer.Option("--label-kernel", help="Which labels are alike: equal ones, close ones, ..."),
]
Weighing = Annotated[
    ClassWeight | None,
    typer.Option("--class-weight", help="balanced: rare classes count as much as common ones."),
]
Memory = Annotated[
    str | None, typer.Option("--memory", help="Read in pieces, with no more than this: 512MB.")
]
Kept = Annotated[
    bool, typer.Option("--moments", help="Keep what `labelens merge` and partial_fit need.")
]
Scaling = Annotated[Scale, typer.Option("--scale", help="What is done to columns first.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
