"""The two comparisons: a route with `fit`, and `fit` with the dense oracle."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from oracles import gram
from routes.comparing import (
    MOST,
    assert_nothing_is_left,
    assert_same_model,
    compare,
    condition_of,
    feature_error,
)
from routes.dense import NoOracleError, expected_gram
from routes.taking import ROUTES, SAME_BITS
from routes.ways import on_torch, settled


class NothingToCompareError(Exception):
    """`fit` rejects the case, or there is no formula for it."""


def check_route(case, route):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = fitted(case)
        in_batches = ROUTES[route].settled
        if in_batches:
            case = case.with_model(settled(case, whole))
            whole = fitted(case)
        found = route(case)
        assert_same_model(found, whole, case, tolerance_of(route))
        if not in_batches:
            assert_nothing_is_left(found, whole, case)
            assert route is on_torch or isinstance(shown(found), np.ndarray)


def check_oracle(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(case)
        try:
            wanted = expected_gram(case, model)
        except NoOracleError:
            raise NothingToCompareError from None
        tolerance = 1e-10
        if (error := feature_error(model, case)) and sparse.issparse(case.X):
            tolerance += error / np.abs(model._recipe.features(case.dense)).max()
        tolerance *= condition_of(model, case.dense)
        if not tolerance <= MOST:
            raise NothingToCompareError
        compare(gram(model.transform(case.dense)), wanted, tolerance, "embedding")


def fitted(case):
    try:
        return case.fitted()
    except ValueError:
        raise NothingToCompareError from None


def tolerance_of(route):
    return 0 if route in SAME_BITS else 1e-12


def shown(model):
    """An array that a model shows where its rows were."""
    return model.dual_coef_ if model._recipe.phi is None else model.components_
