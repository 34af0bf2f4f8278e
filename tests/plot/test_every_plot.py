"""What all plots have in common: on which Axes they draw, and what they leave alone."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from labelens import (
    Atlas,
    KernelSupervisedPCA,
    SupervisedPCA,
    Wheel,
    approximation_report,
    cross_embed,
    permutation_report,
    plot,
    stability_report,
)
from labelens.plot.canvas import shown
from plot.pictures import HOSTILE, rendered

DRAW = {
    "scatter": lambda model, X, y, ax: plot.scatter(model.transform(X), y, ax=ax),
    "scree": lambda model, X, y, ax: plot.scree(model, ax=ax),
    "loadings": lambda model, X, y, ax: plot.loadings(model, ax=ax),
    "biplot": lambda model, X, y, ax: plot.biplot(model, X, y, ax=ax),
    "gamma_curve": lambda model, X, y, ax: plot.gamma_curve(X, y, gammas=[0.1, 1], cv=2, ax=ax),
    "atlas": lambda model, X, y, ax: plot.atlas(X, y, estimator=Atlas(model), ax=ax),
    "wheel": lambda model, X, y, ax: plot.wheel(X, y, estimator=Wheel(model), ax=ax),
    "cross_embedding": lambda model, X, y, ax: plot.cross_embedding(
        cross_embed(model, X, y, random_state=0), y,
        axes=None if ax is None else (ax, Figure().subplots()),
    )[0],
    "permutation": lambda model, X, y, ax: plot.permutation(
        permutation_report(model, X, y, n_permutations=19, random_state=0), ax=ax
    ),
    "approximation": lambda model, X, y, ax: plot.approximation(
        approximation_report(
            KernelSupervisedPCA(n_random_features=32), X, y, n_draws=2, random_state=0
        ), ax=ax,
    ),
    "stability": lambda model, X, y, ax: plot.stability(
        stability_report(model, X, y, n_resamples=2, random_state=0), ax=ax
    ),
}  # fmt: skip


def test_every_plot_is_tested():
    assert sorted(DRAW) == sorted(plot.__all__)


@pytest.mark.parametrize("name", DRAW)
def test_draws_on_the_axes_given_or_makes_some(name, fitted, iris):
    given = Figure().subplots()
    assert DRAW[name](fitted, *iris, given) is given
    made = DRAW[name](fitted, *iris, None)
    assert made is not given
    for ax in (given, made):
        assert ax.has_data()
        rendered(ax)
    with pytest.raises(TypeError, match="one matplotlib Axes, got Figure"):
        DRAW[name](fitted, *iris, Figure())


def test_settings_are_left_alone(fitted, iris):
    before = dict(matplotlib.rcParams)
    for draw in DRAW.values():
        draw(fitted, *iris, None)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
def test_text_of_other_plots_is_drawn_as_it_is(rng):
    y = np.array(HOSTILE, dtype=object)[np.arange(80) % len(HOSTILE)]
    X = pd.DataFrame(rng.normal(size=(80, len(HOSTILE))), columns=HOSTILE)
    model = SupervisedPCA(2).fit(X, y)
    bars, arrows = plot.loadings(model), plot.biplot(model, X, y, n_features=10)
    wheel = plot.wheel(X, y, estimator=Wheel(SupervisedPCA(shrinkage=0.1)))
    atlas = plot.atlas(X, y, estimator=Atlas(SupervisedPCA(shrinkage=0.1)))
    many = plot.scatter(X, np.array([f"$_{{{i}" for i in range(80)]))
    for ax in (bars, arrows, wheel, atlas, many):
        assert not any(text.get_parse_math() for text in ax.texts if text.get_text())
        rendered(ax)
    for ax in (wheel, atlas):
        assert sorted(text.get_text() for text in ax.texts) == sorted(map(shown, HOSTILE))
