"""A call that fails leaves a fitted estimator as it was."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

import labelens
from labelens import Atlas, KernelSupervisedPCA, SupervisedPCA, ValueMap, Wheel
from labelens.tables import TableEncoder

# Every public estimator: one that is added must be tried here too.
PUBLIC = [
    value
    for value in (getattr(labelens, name) for name in labelens.__all__)
    if isinstance(value, type) and issubclass(value, BaseEstimator)
]


class Fails(SupervisedPCA):
    """Embeds rows of five columns only, and finds that out late."""

    def transform(self, X):
        if X.shape[1] != 5:
            raise OSError("Something else has gone wrong.")
        return super().transform(X)


MODELS = {method.__name__: lambda m=method: m(random_state=0) for method in PUBLIC} | {
    "exact": lambda: KernelSupervisedPCA(approximation="exact"),
    "auto": lambda: KernelSupervisedPCA("auto", gamma="auto", random_state=0),
    "wheel that embeds": lambda: Wheel(Fails()),
    # Without an estimator they compare many: what is tried here is the fit itself.
    "Atlas": lambda: Atlas(SupervisedPCA(), random_state=0),
    "ValueMap": lambda: ValueMap(SupervisedPCA(), random_state=0),
}


@pytest.fixture
def rows(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 5))
    X[:, :3] += 3 * np.eye(3)[y]
    return X, y


def bad_calls(X, y):
    """Arguments that fail at once, and some that fail late."""
    wide = np.hstack([X, X])
    hole = X.copy()
    hole[-1, -1] = np.nan
    return {
        "NaN in other columns": (np.hstack([hole, X]), y),
        "NaN": (hole, y),
        "too large": (wide * 1e300, y),
        "one class": (wide, np.zeros(60, dtype=int)),
        "too few labels": (wide, y[:-1]),
        "labels of many kinds": (wide, np.array([1, "a", 2.5] * 20, dtype=object)),
        "broken rows": (sparse.csr_array((np.ones(60), np.full(60, 9), np.arange(61))), y[:3]),
        "no rows": (X[:0], y[:0]),
    }


def failed(model, name, arguments):
    """Whether a call fails, and whether all is as it was then."""
    before, stored = dict(vars(model)), pickle.dumps(model)
    try:
        getattr(model, name)(*arguments)
    except Exception:
        after = vars(model)
        assert after.keys() == before.keys(), name
        assert all(after[key] is before[key] for key in before), name
        assert pickle.dumps(model) == stored, name  # nothing has been changed in place
        return True
    return False


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_a_call_that_fails_changes_nothing(rows, name):
    X, y = rows
    some = 0
    for what in ("fit", "partial_fit"):
        for arguments in bad_calls(X, y).values():
            model = MODELS[name]().fit(X, y)
            if hasattr(model, what):
                shown = model.transform(X)
                if failed(model, what, arguments):
                    some += 1
                    np.testing.assert_array_equal(model.transform(X), shown)
    assert some >= 5
    if hasattr(model, "merge"):
        model = MODELS[name]().fit(X, y)
        assert failed(model, "merge", [MODELS[name]().fit(np.hstack([X, X]), y)])
        assert failed(model, "merge", [MODELS[name]()])


def test_a_wheel_with_wrong_parameters_turns_as_before(rows):
    X, y = rows
    wheel = Wheel(random_state=0).fit(X, y)
    shown = wheel.transform(X)
    wheel.set_params(temperature=-1)
    assert failed(wheel, "fit", (np.hstack([X, X]), y))
    np.testing.assert_array_equal(wheel.transform(X), shown)
    wheel.set_params(temperature="auto", estimator=Fails())
    assert failed(wheel, "fit", (np.hstack([X, X]), y))
    np.testing.assert_array_equal(wheel.transform(X), shown)


# Encoders of tables ------------------------------------------------------------------------------

TABLE = pd.DataFrame(
    {"n": [1.0, 2, None], "c": ["a", "b", "a"], "t": ["1", "x", "3"], "v": [[1, 2]] * 3}
)
BAD_TABLES = {
    "other columns": TABLE.rename(columns={"c": "d"}),
    "longer lists": TABLE.assign(n=5.0, c="c", v=[[1, 2, 3]] * 3),
    "two columns of one name": TABLE.set_axis(["n", "c", "c", "v"], axis=1),
    "no table": np.zeros(3),
}


@pytest.mark.parametrize("decided", [False, True])
@pytest.mark.parametrize("what", BAD_TABLES)
def test_an_encoder_stays_as_it_was(what, decided):
    bad = BAD_TABLES[what]
    for name in ("fit", "partial_fit", "merge"):
        encoder = TableEncoder(impute="median").fit(TABLE)
        if decided:
            assert len(encoder.columns_) == 4
        if name == "merge" and what in ("other columns", "longer lists"):
            bad = TableEncoder(impute="median").fit(bad)
        if name != "fit" or what not in ("other columns", "longer lists"):
            assert failed(encoder, name, [bad])
        assert failed(encoder.set_params(impute="none"), name, [TABLE])
        new = TableEncoder(impute="none")
        assert failed(new, "fit", [TABLE])
    before = pickle.dumps(other := TableEncoder().fit(TABLE))
    TableEncoder().merge(other).partial_fit(TABLE)
    assert pickle.dumps(other) == before


def of_frames(frames, folder, encoder):
    labelens.fit(SupervisedPCA(), [(frame, [0, 1, 0]) for frame in frames], encoder=encoder)


def of_files(frames, folder, encoder):
    for number, frame in enumerate(frames):
        frame.assign(y=[0, 1, 0]).to_parquet(folder / f"{number}.parquet")
    labelens.fit(SupervisedPCA(), str(folder / "*.parquet"), label="y", encoder=encoder)


def of_dask(frames, folder, encoder):
    config = pytest.importorskip("dask").config
    dask = pytest.importorskip("dask.dataframe")
    with config.set({"dataframe.convert-string": False}):  # lists stay lists
        parts = [dask.from_pandas(f.assign(y=[0, 1, 0]), npartitions=1) for f in frames]
        labelens.fit(SupervisedPCA(), dask.concat(parts), label="y", encoder=encoder)


@pytest.mark.parametrize("route", [of_frames, of_files, of_dask])
def test_an_encoder_is_fitted_on_all_rows_or_none(route, tmp_path):
    encoder = TableEncoder()
    with pytest.raises(ValueError, match="different lengths"):
        route([TABLE, BAD_TABLES["longer lists"]], tmp_path, encoder)
    assert vars(encoder) == vars(TableEncoder())
