"""Models in files: `save`, `load` and `info`.

A model is one safetensors file, by convention `*.labelens`: arrays, and a JSON header that says
what they are. It holds no code, and loading runs none: every class that a file may name is in a
table of ours, every number, shape and size is checked before it is used, and a file with one
wrong bit is refused.

Both directions are our own few lines and not the safetensors library: a strict reader must see
duplicate keys, gaps and sizes before it allocates, and the writer must be atomic and not copy.
(The library reads the files; a test sees to that.)

    8 bytes                 length of the index, little-endian
    index, JSON             {"__metadata__": {"labelens": header, "sha256": of the header},
                             name: {"dtype", "shape", "data_offsets"}, ...}
    bytes of the arrays     C order, little-endian, no gaps

    header, JSON in a string: the facts of `packing.HEADER`

A method that is not fitted (`save_method`) has the facts of `packing.SIGNED`, and its parameters as
`unfitted`. The state of a fit that is under way (`save_state`) has a note more, `unfinished`, and
`load` refuses it.
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
