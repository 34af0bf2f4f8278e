"""The kernels for cards, without one: in Triton's interpreter."""

import os
import subprocess
import sys

import pytest

INTERPRETED = """
import contextlib, numpy as np, torch
torch.cuda.device = lambda device: contextlib.nullcontext()
from labelens._base import triton_kernels
from labelens._core.moments.common import round_origin
draw = np.random.default_rng(0)
n, p, c = 2500, 150, 7
X = torch.asarray(draw.normal(size=(n, p)).astype(np.float32) + 100)
codes = torch.asarray(draw.integers(-1, c, n).astype(np.int32))
weight, origin = torch.asarray(draw.random(n).astype(np.float32)), X[:3].mean(0)

def same(found, truth):
    assert found.shape == truth.shape and found.dtype == torch.float64
    assert (found - truth).abs().max() < 1e-6 * truth.abs().max() + 1e-4

for w in (None, weight):
    heavy = torch.ones(n, 1).double() if w is None else w[:, None].double()
    hot = (codes[:, None] == torch.arange(c)).double() * heavy
    one = heavy * 0 + 1
    same(triton_kernels.class_sums(X, codes, c, w), hot.T @ torch.hstack([X.double(), one]))
    found = triton_kernels.class_sums(X, codes, c, w, centred=True)
    centre = X[torch.arange(16) * n // 16].mean(0).double()
    assert torch.allclose(found[-1, :-1], centre, rtol=1e-5)
    single = triton_kernels.class_sums(X[:1] / 3, codes[:1], c, centred=True)[-1, :-1]
    assert (single.numpy() == round_origin(X[0].numpy() / 3)).all()
    same(found[:-1], hot.T @ torch.hstack([X.double() - found[-1, :-1], one]))
    waves = torch.hstack([(X - 100).double().cos(), (X - 100).double().sin(), one])
    same(triton_kernels.class_sums(X - 100, codes, c, w, waves=True), hot.T @ waves)
    for o in (None, origin):
        about = X.double() - (0 if o is None else o)
        sums, low, high = triton_kernels.column_sums(X, w, o)
        same(sums, torch.stack([(heavy * about).sum(0), (heavy * about**2).sum(0)]))
        assert (low == X.amin(0)).all() and (high == X.amax(0)).all()
"""


@pytest.mark.slow
def test_the_kernels_for_cards_in_tritons_interpreter():
    pytest.importorskip("triton")
    subprocess.run(
        [sys.executable, "-c", INTERPRETED], env=os.environ | {"TRITON_INTERPRET": "1"}, check=True
    )
