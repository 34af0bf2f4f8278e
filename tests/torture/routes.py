"""The differential test at length: every route against `fit`, `fit` against the dense oracle."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from routes.cases import cases
from routes.checking import NothingToCompareError, check_oracle, check_route
from routes.taking import routes_of

LONG, SHORT = 5_000, 10


def run(tally):
    drawn = settings(
        max_examples=LONG if tally.long else SHORT,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    def attempt(case, name, check, *arguments):
        described = repr(case)
        try:
            check(case, *arguments)
        except NothingToCompareError:
            return
        except Exception as error:
            return tally.check(name, f"{type(error).__name__}: {error} {described}")
        tally.check(name)

    def repeatable(test):
        return test if tally.seed is None else seed(tally.seed)(test)

    @repeatable
    @drawn
    @given(st.data())
    def routes(data):
        case = data.draw(cases())
        route = data.draw(st.sampled_from(routes_of(case)))
        attempt(case, route.__name__, check_route, route)

    @repeatable
    @drawn
    @given(cases(sizes=("small",)))
    def oracle(case):
        attempt(case, "oracle", check_oracle)

    routes()
    oracle()
