"""Labels of a second file: which row of it belongs to which row of the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._base.optional import require
from .._base.validation import some

if TYPE_CHECKING:
    from pandas import DataFrame as Frame


def join(
    frame: Frame,
    labels: Frame,
    wanted: Sequence[str] = (),
    *,
    on: str | None = None,
    by_position: bool = False,
) -> Frame:
    """The rows of `frame` with columns of `labels`: those `wanted`, or all.

    Rows are joined by the column `on`, or by the one column that both have and that is unique in
    both; the key becomes the index. The only column of a file of labels is called "label". A row
    without a partner gets empty labels.
    """
    names = list(labels.columns)
    alone = len(names) == 1 and on is None
    if alone and list(wanted) != names:
        labels, names = labels.set_axis(["label"], axis=1), ["label"]
    if unknown := [name for name in wanted if name not in names]:
        raise ValueError(f"The file of labels has no column {unknown[0]!r}. It has {some(names)}.")
    key = None if by_position else _key(frame, labels, wanted, on)
    taken = labels[list(wanted)] if wanted else labels  # the others are no features
    if both := [name for name in taken.columns if name in frame.columns and name != key]:
        raise ValueError(
            f"Both files have a column {both[0]!r}. Rename one, or name the labels with --label."
        )
    if key is None:
        if len(labels) != len(frame):
            raise ValueError(
                f"The file of labels has {len(labels)} rows, the data {len(frame)}. Rows are "
                "joined by position only if there are as many; name a key with --on."
            )
        taken = taken.set_axis(frame.index)
        return require("pandas", extra="cli").concat([frame, taken], axis=1)
    ours, theirs = _comparable(frame[key], labels[key])
    taken = taken.drop(columns=[key], errors="ignore")
    if len(taken.columns) == 1 and not wanted:
        taken = taken.set_axis(["label"], axis=1)
    found = taken.set_axis(theirs).reindex(ours)
    if not theirs.isin(ours).any():
        raise ValueError(
            f"No value of {key!r} is in both files: the data have {ours[0]!r}, the labels "
            f"{theirs[0]!r}."
        )
    joined = frame.drop(columns=[key])
    for name in found.columns:
        joined[name] = found[name].array
    return joined.set_axis(require("pandas", extra="cli").Index(frame[key], name=key))


def _key(frame: Frame, labels: Frame, wanted: Sequence[str], on: str | None) -> str:
    others = [n for n in labels.columns if n not in wanted and not n.startswith("Unnamed: ")]
    shared = [n for n in others if n in frame.columns]
    if on is not None:
        for what, names in (("data", frame.columns), ("file of labels", labels.columns)):
            if on not in names:
                raise ValueError(f"--on {on}: the {what} has no such column. It has {some(names)}.")
        if len(twice := labels[on][labels[on].duplicated()]):
            raise ValueError(f"--on {on}: {twice.iloc[0]!r} is twice in the file of labels.")
        return on
    keys = [n for n in shared if frame[n].is_unique and labels[n].is_unique]
    if len(keys) == 1:
        return keys[0]
    which = f"Several columns could be the key: {some(keys)}" if keys else "No unique key is shared"
    raise ValueError(
        f"{which}. Name the key with --on COLUMN, or join by row position with --by-position."
    )


def _comparable(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Two keys as indexes; as text where one is text."""
    index = require("pandas", extra="cli").Index
    if (ours.dtype.kind in "iuf") != (theirs.dtype.kind in "iuf"):
        ours, theirs = ours.astype(str), theirs.astype(str)
    return index(ours), index(theirs)
