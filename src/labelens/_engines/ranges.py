"""Files cut into parts: ranges of rows that workers read themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .._core.moments import BLOCK_ROWS
from .sources import Chunk, Source

# Bytes of a part, large compared with its moments. A constant, so that the parts, and with them the
# bits of the model, do not depend on the number of workers.
PART_BYTES = 64 << 20


@dataclass(frozen=True)
class Range:
    """Rows `start` to `stop` (None: the end) of a source, in chunks of at most `rows` rows."""

    source: Source
    start: int
    stop: int | None
    rows: int

    def chunks(self, features: bool = True) -> Iterator[Chunk]:
        left = self.stop if self.stop is None else self.stop - self.start
        rows = self.rows
        if left is not None:  # equal chunks, so that little is read beyond the end
            blocks, most = -(-left // BLOCK_ROWS), max(1, rows // BLOCK_ROWS)
            rows = -(-blocks // -(-blocks // most)) * BLOCK_ROWS
        for chunk in self.source.chunks(rows, self.start, features):
            if left is None:
                yield chunk
                continue
            yield chunk.take(slice(0, left))
            left -= min(left, chunk.n_rows)
            if not left:
                return


def ranges_of(source: Source, rows: int) -> list[Range]:
    """The parts of a source, each read in chunks of at most so many rows.

    If the number of rows is unknown, each file is a part.
    """
    if source.n_rows is None:
        return [Range(file, 0, None, rows) for file in source.files()]
    enough = max(1, PART_BYTES // source.row_bytes)
    cuts = [0]
    for row in source.cuts():
        if row - cuts[-1] >= enough:
            cuts.append(row)
    return [Range(source, a, b, rows) for a, b in pairwise([*cuts, source.n_rows])]
