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

    header, JSON in a string
        format              1; a newer one is refused
        labelens            the version that wrote it
        method              one of the four public classes
        set_output          "default", "pandas" or "polars"; absent where it was not called
        parameters          all that the constructor takes; missing_label as [type, text], a
                            dict for class_weight as [type, text, weight] of every class, a label
                            kernel as its kind and its fields
        n_features_in       columns of X
        feature_names       whether they are there, as text in the arrays
        table               what was done about gaps in the columns of a table; which features are
                            levels of text and the values for gaps are arrays; absent where the
                            model was not fitted on one
        n_samples           rows seen
        training_rows       rows of the training data inside the file (landmarks, exact kernel)
        moments             whether a fit can go on from it
        block               rows in a block of the grid
        gamma               of the kernel, settled; null for the linear methods
        map                 the feature map: its kind, and what of it is no array
        labels              null, or the label kernel and the kind of label in every column
        classes             null, or the type of label in every column; labels are in the arrays
        label_map, noise    null without moments: what later labels go through, random streams
        solution            null if not solved yet; rank, shrinkage, cancels (null: infinite)
        arrays              name -> dtype, shape, order in memory
        arrays_sha256       of all their bytes
        unfinished          only in the state of a fit that is under way, which `load` refuses

A method that is not fitted has format, labelens, method and arrays, and its parameters are called
unfitted (`save_method`).
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
