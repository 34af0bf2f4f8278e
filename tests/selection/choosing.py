"""How tests call `select`."""

from __future__ import annotations

import warnings

from labelens import select

KERNEL_METHODS = "KernelSupervisedPCA", "KernelSupervisedRandomProjection"


def quietly(*args, **options):
    """select, with any warning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return select(*args, random_state=0, **options)
