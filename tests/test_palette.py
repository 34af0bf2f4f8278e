"""Colours of classes: far enough apart for every kind of colour vision."""

import re

import numpy as np
import pytest

from labelens._base.palette import COLOURS, N_COLOURS, ON_DARK, css, look

# Machado, Oliveira and Fernandes 2009, severity 1: what an eye without one kind of cone sees of
# linear red, green and blue.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip


def linear(colours):
    parts = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colours, vision):
    seen = np.clip(linear(colours) @ np.transpose(vision), 0, 1)
    ratio = seen @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], 1)


def ciede2000(first, second):
    """Sharma, Wu and Dalal 2005, for all pairs."""
    l1, a1, b1 = first.T[:, :, None]
    l2, a2, b2 = second.T[:, None, :]
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean**7 / (mean**7 + 25.0**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    turn = np.where(c1 * c2 == 0, 0, (h2 - h1 + 180) % 360 - 180)
    dl, dc, dh = l2 - l1, c2 - c1, 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    total = h1 + h2
    far = np.where(total < 360, (total + 360) / 2, (total - 360) / 2)
    hm = np.where(c1 * c2 == 0, total, np.where(np.abs(h1 - h2) <= 180, total / 2, far))
    t = (
        1 - 0.17 * np.cos(np.radians(hm - 30)) + 0.24 * np.cos(np.radians(2 * hm))
        + 0.32 * np.cos(np.radians(3 * hm + 6)) - 0.2 * np.cos(np.radians(4 * hm - 63))
    )  # fmt: skip
    sl = 1 + 0.015 * (lm - 50) ** 2 / np.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    rc = 2 * np.sqrt(cm**7 / (cm**7 + 25.0**7))
    rt = -rc * np.sin(np.radians(60 * np.exp(-(((hm - 275) / 25) ** 2))))
    return np.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * dc / sc * dh / sh)


def test_the_formula():
    """Two pairs of the table of Sharma, Wu and Dalal."""
    first = np.array([[50.0, 2.6772, -79.7751], [2.0776, 0.0795, -1.1350]])
    second = np.array([[50.0, 0.0, -82.7485], [0.9033, -0.0636, -0.5514]])
    np.testing.assert_allclose(np.diag(ciede2000(first, second)), [2.0425, 0.9082], atol=5e-4)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize(("colours", "ground"), [(COLOURS, "#ffffff"), (ON_DARK, "#1d2126")])
def test_colours_can_be_told_apart(colours, ground, vision):
    """A difference of 2 can just be seen side by side."""
    assert N_COLOURS == len(set(colours)) >= 20
    seen = lab(colours, VISION[vision])
    apart = ciede2000(seen, seen) + 100 * np.eye(N_COLOURS)
    assert apart.min() > (12 if vision == "normal" else 8)
    assert apart[:10, :10].min() > (13 if vision == "normal" else 10)
    assert ciede2000(seen, lab([ground], VISION[vision])).min() > 10


def test_a_hundred_classes_differ_in_colour_or_marker():
    assert len({look(i) for i in range(100)}) == 100


def test_pages_have_these_colours():
    for colours, text in zip((COLOURS, ON_DARK), css().split("@media"), strict=True):
        assert tuple(re.findall(r"--c\d+: (#\w+);", text)) == colours
        assert f"--n-colours: {N_COLOURS};" in text
