"""Both knobs on the eigenvalues of C_xx, against the generalised eigenproblem written out."""

import numpy as np
import pytest
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from labelens import SupervisedPCA
from labelens._core import spectrum
from labelens._core.moments import ClassSums, Scatter
from labelens._core.solvers import spectral
from labelens._core.spectrum import Spectrum, Whitening, _count, _lanczos, largest


@pytest.fixture(scope="module")
def moments():
    """Classes in columns of which some nearly follow from others; (scatter, cross, covariances)."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 6, 3000)
    X = rng.normal(size=(6, 200))[codes] + rng.normal(size=(3000, 200)) * np.geomspace(0.1, 3, 200)
    X[:, 190:] = X[:, :10] + 1e-2 * X[:, 190:]
    scatter, cross = Scatter.of(X), ClassSums.of(X, codes[:, None], 6)
    hot = np.eye(6)[codes]
    return scatter, cross, np.cov(X.T, bias=True), (X - X.mean(0)).T @ (hot - hot.mean(0)) / 3000


def written_out(cxx, cxy, t, s, k):
    """The design's A(t) u = lambda B(s) u."""
    a = t * cxy @ cxy.T / np.sum(cxy**2) + (1 - t) * cxx / np.trace(cxx) if t else cxx
    b = (1 - s) * cxx * len(cxx) / np.trace(cxx) + s * np.eye(len(cxx))
    values, vectors = linalg.eigh(a, b)
    return np.sqrt(np.maximum(values[::-1][:k], 0)), vectors[:, ::-1][:, :k]


@pytest.mark.parametrize("k", [1, 2, 9, 30])  # the last by the dense way
@pytest.mark.parametrize("s", [1e-4, 0.1, 0.9, 1.0])
@pytest.mark.parametrize("t", [0, 0.01, 0.5, 0.99])
def test_components_are_those_of_the_formula(moments, t, s, k):
    scatter, cross, cxx, cxy = moments
    found = spectral(cross, scatter, k, t, Spectrum(scatter).whitening(s))
    values, vectors = written_out(cxx, cxy, t, s, k)
    assert found.rank == k
    np.testing.assert_allclose(found.values, values, rtol=1e-8)
    vectors *= np.sign(np.sum(vectors * found.components.T, axis=0))
    np.testing.assert_allclose(found.components.T, vectors, atol=1e-6 * np.abs(vectors).max())


@pytest.mark.parametrize("s", [1e-4, 0.1, 0.9])
def test_labels_alone_and_the_direct_solver(moments, s):
    """W W^T = B^-1, which is all that they use."""
    scatter, cross, cxx, cxy = moments
    white = Spectrum(scatter).whitening(s)
    b = (1 - s) * cxx * 200 / np.trace(cxx) + s * np.eye(200)
    wanted = linalg.solve(b, cxy)
    np.testing.assert_allclose(white.out(white.into(cxy)), wanted, atol=1e-9 * abs(wanted).max())
    plain, mine = (spectral(cross, scatter, 4, 1, w) for w in (Whitening(scatter, s), white))
    size = abs(plain.components).max()
    np.testing.assert_allclose(mine.components, plain.components, atol=1e-7 * size)


@pytest.mark.parametrize("singular", [False, True])
def test_without_shrinkage_a_single_number_is_the_diagonal(moments, rng, singular):
    """At s = 0 any W has W^T C_xx W = tr / p I, on the range of C_xx."""
    scatter, cross, cxx, cxy = moments
    if singular:
        turn = rng.normal(size=(200, 150))
        turn = turn @ linalg.pinv(turn)
        scatter = Scatter(scatter.weight, scatter.origin, scatter.offset,
                          turn @ scatter.comoment @ turn, scatter.cubic, 0.0)  # fmt: skip
        cxx, cxy = turn @ cxx @ turn, turn @ cxy
    white = Whitening(scatter, 0.0)
    assert len(white.spread) == (150 if singular else 200)
    within = white.into(white.into(cxx).T)
    np.testing.assert_allclose(within, np.diag(white.spread), atol=1e-6 * white.spread[0])
    if not singular:
        found = spectral(cross, scatter, 3, 0.4, white)
        np.testing.assert_allclose(found.values, written_out(cxx, cxy, 0.4, 0.0, 3)[0], rtol=1e-8)


def test_what_is_nearly_singular_is_left_to_others(moments):
    spread = Spectrum(moments[0])
    assert spread.whitening(0.0) is None or spread.variances[0] > 1e-7 * spread.variances[-1]
    flat = Scatter(10.0, np.zeros(3), np.zeros(3), np.diag([1.0, 1.0, 0.0]), np.zeros(3), 0.0)
    assert Spectrum(flat).whitening(0.0) is None
    assert Spectrum(flat).whitening(0.01) is not None
    nothing = Scatter(10.0, np.zeros(3), np.zeros(3), np.zeros((3, 3)), np.zeros(3), 0.0)
    np.testing.assert_array_equal(Spectrum(nothing).whitening(0.5).spread, 0)


# Largest eigenvalues ---------------------------------------------------------------------------

DIAGONALS = {
    "apart": np.linspace(0, 3, 600),
    "equal": np.repeat([0.5, 1.0, 2.0], 200),
    "one number": np.full(600, 0.7),
    "wide": np.geomspace(1e-12, 1, 600),
    "nothing": np.zeros(600),
}


@pytest.mark.parametrize("q", [0, 1, 9, 140, 250])
@pytest.mark.parametrize("name", DIAGONALS)
def test_the_largest_against_the_whole_decomposition(rng, name, q):
    diagonal, columns = DIAGONALS[name], rng.normal(size=(600, q)) / 24
    matrix = np.diag(diagonal) + columns @ columns.T
    for k in (1, 6, 20, 600):
        values, vectors = largest(diagonal, columns, k)
        wanted = np.linalg.eigvalsh(matrix)[::-1][:k]
        np.testing.assert_allclose(values, wanted, atol=1e-12 * max(wanted[0], 1e-300))
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-11)
        left = matrix @ vectors - vectors * values
        np.testing.assert_allclose(left, 0, atol=1e-11 * max(wanted[0], 1e-300))


@pytest.mark.parametrize("levels", [1, 3, 30])
def test_equal_eigenvalues_give_the_same_bits_each_time(rng, levels):
    """ARPACK draws vectors of its own where few eigenvalues differ."""
    diagonal, columns = (
        np.repeat(np.linspace(1, 2, levels), 600 // levels),
        rng.normal(size=(600, 1)),
    )
    bits = {b"".join(part.tobytes() for part in largest(diagonal, columns, 6)) for _ in range(5)}
    assert len(bits) == 1


def test_a_direction_that_was_missed_is_noticed(rng, monkeypatch):
    diagonal, columns = np.linspace(0, 1, 600), rng.normal(size=(600, 5)) / 9
    values, vectors = np.linalg.eigh(np.diag(diagonal) + columns @ columns.T)
    assert _lanczos(diagonal, columns, 3) is not None
    missing = [-1, -3, -4]
    monkeypatch.setattr(spectrum, "eigsh", lambda *_, **__: (values[missing], vectors[:, missing]))
    assert _lanczos(diagonal, columns, 3) is None
    np.testing.assert_allclose(largest(diagonal, columns, 3)[0], values[:-4:-1])


def test_eigenvalues_are_counted(rng):
    diagonal, columns = rng.normal(size=50), rng.normal(size=(50, 7))
    values = np.linalg.eigvalsh(np.diag(diagonal) + columns @ columns.T)
    for bound in rng.uniform(values[0] - 1, values[-1] + 1, 40):
        assert _count(diagonal, columns, bound) == (values > bound).sum()
    assert _count(diagonal, columns, diagonal[3]) == -1  # cannot say


def test_an_empty_range():
    values, vectors = largest(np.zeros(0), np.zeros((0, 4)), 3)
    assert values.shape == (0,)
    assert vectors.shape == (0, 0)


def test_unsupervised_without_shrinkage_in_constant_columns():
    """Where nothing varies there is no range, with the labels or without."""
    X, y = np.ones((30, 4)), np.arange(30) % 3
    with pytest.warns(UserWarning, match="Only 0 of the 2"):
        model = SupervisedPCA(2, target_weight=0.5, shrinkage=0).fit(X, y)
    np.testing.assert_array_equal(model.components_, 0)


def test_close_eigenvalues_take_few_steps(monkeypatch):
    """As of a narrow kernel: Lanczos would restart thousands of times."""
    products, asked = [], spectrum.eigsh

    def counted(matrix, *args, **more):
        product = matrix.matvec
        counting = LinearOperator(
            matrix.shape, dtype=float, matvec=lambda x: products.append(1) or product(x)
        )
        return asked(counting, *args, **more)

    monkeypatch.setattr(spectrum, "eigsh", counted)
    draw = np.random.default_rng(0)
    diagonal = 1 + 1e-7 * draw.normal(size=600)
    columns = 1e-5 * draw.normal(size=(600, 2))
    values, vectors = spectrum.largest(diagonal, columns, 5)
    dense = np.diag(diagonal) + columns @ columns.T
    np.testing.assert_allclose(values, np.linalg.eigvalsh(dense)[::-1][:5], rtol=1e-12)
    np.testing.assert_allclose(dense @ vectors, vectors * values, atol=1e-9)
    assert 0 < len(products) < 1500
