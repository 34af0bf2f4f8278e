"""How the columns of a table become the features of a model: decided once, where it is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._base.types import Impute

IMPUTE = (None, "mean", "median", "drop")


@dataclass(frozen=True)
class Encoding:
    """A feature is a column of numbers, or one level of a column of text, named column=level."""

    names: tuple[str, ...]  # of the features, in the order of the model
    splits: tuple[int, ...]  # letters of a name that are the column's; -1: a column of numbers
    impute: Impute | None = None  # what is done about gaps; None: they raise
    fill: tuple[float, ...] = ()  # values for gaps, if they are filled

    def __post_init__(self) -> None:
        if len(self.splits) != len(self.names) or self.impute not in IMPUTE:
            raise ValueError("the columns of its table do not fit its features")
        if len(self.fill) != len(self.names) * (self.impute in ("mean", "median")):
            raise ValueError("its table has values for gaps that it does not fill, or lacks some")
        for name, split in zip(self.names, self.splits, strict=True):
            if split != -1 and (split < 0 or name[split : split + 1] != "="):
                raise ValueError(f"its table has a feature {name[:40]!r} of no column")

    @classmethod
    def of(cls, parts: Sequence[tuple[str, str | None]], impute: Impute | None) -> Encoding:
        """For columns and levels; without values for gaps yet."""
        names = tuple(name if level is None else f"{name}={level}" for name, level in parts)
        splits = tuple(-1 if level is None else len(name) for name, level in parts)
        return cls(names, splits, impute, (0.0,) * len(names) * (impute in ("mean", "median")))

    @property
    def parts(self) -> list[tuple[str, str | None]]:
        """The column and the level of every feature; no level in a column of numbers."""
        pairs = zip(self.names, self.splits, strict=True)
        return [(n, None) if split < 0 else (n[:split], n[split + 1 :]) for n, split in pairs]
