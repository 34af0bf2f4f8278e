"""Models in files: `save`, `load` and `info`.

A model is one safetensors file, by convention `*.labelens`: arrays, and a JSON header that
describes them. It contains no code, and loading runs none. Every class that a file may name is in
a fixed table. Every number, shape and size is checked before it is used, and a file with one wrong
bit raises ValueError.

labelens reads and writes the format itself: a strict reader must see duplicate keys, gaps and
sizes before it allocates memory, and the writer must be atomic without a copy. A test reads the
files with the safetensors library.

    8 bytes                 length of the index, little-endian
    index, JSON             {"__metadata__": {"labelens": header, "sha256": of the header},
                             name: {"dtype", "shape", "data_offsets"}, ...}
    bytes of the arrays     C order, little-endian, no gaps

    header, JSON in a string: the facts of `packing.HEADER`

An estimator that is not fitted (`save_method`) has the facts of `packing.SIGNED`, and its
parameters as `unfitted`. The state of an unfinished fit (`save_state`) has one more field,
`unfinished`, and `load` rejects it.
"""

from .model import (
    info,
    load,
    load_method,
    load_state,
    load_with_table,
    save,
    save_method,
    save_state,
)

__all__ = [
    "info",
    "load",
    "load_method",
    "load_state",
    "load_with_table",
    "save",
    "save_method",
    "save_state",
]
