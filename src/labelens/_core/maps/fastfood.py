"""Fastfood (Le, Sarlos and Smola, 2013): Gaussian frequencies as S H G P H B.

B are random signs, P a permutation, G a Gaussian diagonal, and S gives every frequency the length
of a Gaussian vector. Frequencies of a group are not independent, so the error is somewhat larger
than that of independent ones.
"""

from __future__ import annotations

import numpy as np

from ..kernels import Kernel
from .base import feature_generator, radial_scale
from .structured import Structured, n_groups, padded_size


def fastfood(kernel: Kernel, d: int, n_features: int, seed: int) -> Structured:
    if kernel.name == "laplacian":
        raise ValueError(
            "approximation='fastfood' draws radial kernels only, and the 'laplacian' kernel is a "
            "product over coordinates; use approximation='orthogonal' or 'fourier', or "
            "kernel='matern' with kernel_params={'nu': 0.5}."
        )
    draw = feature_generator(seed)
    shape = groups, size = n_groups(d, n_features), padded_size(d)
    signs, gaussian = draw.choice([-1.0, 1.0], shape), draw.standard_normal(shape)
    shuffled = np.stack([draw.permutation(size) for _ in range(groups)])
    # Rows of H G P H B all have length |G| sqrt(D); a Gaussian vector has a chi length.
    lengths = np.sqrt(draw.chisquare(size, shape) / size)
    lengths *= radial_scale(kernel, groups * size, draw).reshape(shape)
    lengths /= np.linalg.norm(gaussian, axis=1, keepdims=True)
    return Structured(
        n_features,
        d,
        np.stack([signs, gaussian], axis=1),
        np.stack([np.broadcast_to(np.arange(size), shape), shuffled], axis=1),
        lengths,
        draw.uniform(0, 2 * np.pi),
    )
