"""Every route gives the model of `fit`, and `fit` the model of the dense formulas."""

from __future__ import annotations

from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from routes.cases import cases
from routes.checking import NothingToCompareError, check_oracle, check_route
from routes.taking import routes_of

EXAMPLES = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@EXAMPLES
@given(st.data())
def test_every_route_gives_the_model_of_fit(data):
    case = data.draw(cases(), label="case")
    route = data.draw(st.sampled_from(routes_of(case)), label="route")
    try:
        check_route(case, route)
    except NothingToCompareError:
        reject()


@EXAMPLES
@given(cases(sizes=("small",)))
def test_fit_gives_the_model_of_the_dense_formulas(case):
    try:
        check_oracle(case)
    except NothingToCompareError:
        reject()
