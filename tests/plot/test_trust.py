"""Pictures of what can be trusted."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from labelens import (
    KernelSupervisedPCA,
    SupervisedPCA,
    approximation_report,
    cross_embed,
    permutation_report,
    plot,
    stability_report,
)
from plot.pictures import legend_texts, rendered


def drawn_points(ax):
    points = np.concatenate([c.get_offsets() for c in ax.collections])
    return points[np.lexsort(points.T)]


@pytest.mark.parametrize("columns", [1, 2])
def test_both_pictures_have_one_frame(iris, columns):
    X, y = iris
    crossed = cross_embed(SupervisedPCA(columns), X, y, random_state=0)
    left, right = plot.cross_embedding(crossed, y, names=["a", "b", "c"])
    assert left.get_xlim() == right.get_xlim()
    assert left.get_ylim() == right.get_ylim()
    for ax, Z in ((left, crossed.fitted), (right, crossed.Z)):
        np.testing.assert_allclose(np.sort(drawn_points(ax)[:, 0]), np.sort(Z[:, 0]))
    if columns == 2:
        assert left.get_legend() is None
        assert legend_texts(right) == ["a", "b", "c"]
    rendered(left)


def test_lines_stand_where_the_scores_are(iris):
    report = permutation_report(SupervisedPCA(2), *iris, n_permutations=19, random_state=0)
    ax = plot.permutation(report)
    at = [line.get_xdata()[0] for line in ax.lines]
    assert at == [report.score, report.training_score]
    counts = [bar.get_height() for bar in ax.patches]
    assert sum(counts) == 2 * 19
    assert ax.get_title("left") == "evidence: p = 0.05"


def test_the_ring_is_at_half_the_error(iris):
    model = KernelSupervisedPCA(n_random_features=32)
    report = approximation_report(model, *iris, random_state=0)
    ax = plot.approximation(report)
    ring = ax.lines[-1].get_xydata()[0]
    np.testing.assert_allclose(ring, [report.features_for_half, report.kernel_error / 2])
    assert f"{report.features_for_half:,}" in [text.get_text() for text in ax.get_xticklabels()]
    with pytest.raises(ValueError, match="no approximation"):
        plot.approximation(approximation_report(SupervisedPCA(), *iris))


def test_stability_without_seeds(iris):
    report = stability_report(PCA(2, random_state=0), *iris, n_resamples=3, random_state=0)
    assert legend_texts(plot.stability(report)) == ["other rows", "other seeds"]
    report = stability_report(LinearDiscriminantAnalysis(), *iris, n_resamples=3, random_state=0)
    ax = plot.stability(report)
    assert legend_texts(ax) == ["other rows"]
    shown = np.sort(ax.lines[0].get_ydata())
    np.testing.assert_allclose(shown, np.sort(report.rows.found, axis=None))
