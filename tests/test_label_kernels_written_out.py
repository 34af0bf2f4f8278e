"""Label kernels against the n x n matrices that they mean."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

import labelens
from label_cases import GRID, KERNELS, N, rows_of_all
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    subspace_distance,
)
from labelens.label_kernels import Product, Sum
from oracles import gram, hsic, kspca_embedding, spca_q, top_eigenvectors


@pytest.fixture
def rows(rng):
    return rows_of_all(rng)


def take(y, which):
    return y.iloc[which] if isinstance(y, pd.DataFrame) else y[which]


@GRID
def test_spectral_components_are_those_of_the_written_out_kernel(rows, name):
    kernel, y, L = KERNELS[name]
    model = SupervisedPCA(2, label_kernel=kernel).fit(rows, y)
    truth, values = top_eigenvectors(spca_q(rows, L), 8)
    assert subspace_distance(model.components_, truth[:2]) < 1e-10
    np.testing.assert_allclose(model.singular_values_ * N, np.sqrt(values[:2]), rtol=1e-9)
    # HSIC of both, and of all features together.
    np.testing.assert_allclose(
        model.dependence_.sum() / model.dependence_ratio_.sum(), hsic(rows @ rows.T, L), rtol=1e-10
    )


@GRID
@pytest.mark.parametrize("label_map", ["orthogonal", "gaussian"])
def test_direct_components_are_a_mixture_of_the_written_out_kernel(rows, name, label_map):
    kernel, y, L = KERNELS[name]
    found = []
    for k, seeds in ((2, 5), (400, 1)):
        for seed in range(seeds):
            model = SupervisedRandomProjection(
                k, label_kernel=kernel, label_map=label_map, random_state=seed
            )
            if k > 2:
                with pytest.warns(UserWarning, match="components carry information"):
                    model.fit(rows, y)
            else:
                model.fit(rows, y)
            found.append(model.components_.T)
    truth = spca_q(rows, L) / N**2
    if label_map == "orthogonal":  # more vectors than the kernel has directions: nothing is lost
        U = found[-1]
        np.testing.assert_allclose(U @ U.T, truth, atol=1e-11 * np.trace(truth))
    span, values = top_eigenvectors(truth, 8)
    span = span[values > 1e-12 * values[0]]
    for U in found:
        assert np.abs(U - span.T @ (span @ U)).max() < 1e-9 * np.abs(U).max()


@GRID
def test_exact_kernel(rows, name):
    kernel, y, L = KERNELS[name]
    model = KernelSupervisedPCA(2, gamma=0.05, approximation="exact", label_kernel=kernel)
    found = model.fit(rows, y).transform(rows)
    truth = kspca_embedding(rbf_kernel(rows, gamma=0.05), L, 2)
    np.testing.assert_allclose(gram(found), gram(truth), atol=1e-8 * np.abs(gram(truth)).max())


@GRID
@pytest.mark.parametrize(
    "model",
    [
        SupervisedPCA(2, shrinkage=0.1),
        SupervisedRandomProjection(2, random_state=0),
        KernelSupervisedRandomProjection(2, gamma=0.1, n_random_features=32, random_state=0),
        KernelSupervisedPCA(2, gamma=0.1, approximation="exact"),
    ],
    ids=repr,
)
def test_any_split_and_merge_is_a_fit(rows, name, model):
    kernel, y, _ = KERNELS[name]
    model = clone(model).set_params(label_kernel=kernel, label_gamma=0.7)
    whole = clone(model).fit(rows, y)
    if name in ("sliced", "ranked"):  # with the quantiles of all labels
        model.set_params(label_kernel=whole.label_kernel_)
    elif name == "sum of slices and ranks":
        parts = [column.psi.kernel for column in whole._recipe.psi.columns]
        model.set_params(label_kernel=Sum(*parts))
    whole = whole.transform(rows)
    order = np.random.default_rng(0).permutation(N)
    fixed = isinstance(kernel, (Sum, Product))  # which need all classes in the first batch
    parts = clone(model)
    for some in np.split(order, [70, 71, 100] if fixed else [1, 30, 100]):
        parts.partial_fit(rows[some], take(y, some))
    tolerance = dict(rtol=0, atol=1e-8 * np.abs(whole).max())
    np.testing.assert_allclose(parts.transform(rows), whole, **tolerance)
    one, two = (clone(model).fit(rows[s], take(y, s)) for s in np.split(order, [60]))
    np.testing.assert_allclose(one.merge(two).transform(rows), whole, **tolerance)


@GRID
def test_weights_are_repeated_rows(rows, rng, name):
    kernel, y, _ = KERNELS[name]
    times = rng.integers(1, 4, N)
    again = np.repeat(np.arange(N), times)
    model = SupervisedPCA(2, label_kernel=kernel)
    found = clone(model).fit(rows, y, sample_weight=times)
    truth = clone(model).fit(rows[again], take(y, again))
    np.testing.assert_allclose(found.components_, truth.components_, atol=1e-9)
    np.testing.assert_allclose(found.transform(rows), truth.transform(rows), atol=1e-8)


@GRID
def test_files_keep_them(rows, name, tmp_path):
    kernel, y, _ = KERNELS[name]
    for moments in (False, True):
        model = SupervisedPCA(2, label_kernel=kernel, label_gamma=2.0)
        model.partial_fit(rows[:100], take(y, slice(100)))
        labelens.save(model, tmp_path / "model", moments=moments)
        loaded = labelens.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.transform(rows), model.transform(rows))
        assert loaded.label_kernel == model.label_kernel
        assert loaded.label_kernel_ == model.label_kernel_
        assert repr(loaded) == repr(model)
        if hasattr(model, "classes_"):
            assert loaded.classes_.tolist() == model.classes_.tolist()
    for each in (model, loaded):
        each.partial_fit(rows[100:], take(y, slice(100, None)))
    np.testing.assert_array_equal(loaded.transform(rows), model.transform(rows))
