"""Models elsewhere: ONNX in onnxruntime, SQL in duckdb, both beside transform."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from typer.testing import CliRunner

import labelens
from hostile_names import HOSTILE_NAMES
from labelens import (
    Atlas,
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
    export,
)
from labelens.cli.app import app

LINEAR = (SupervisedPCA, SupervisedRandomProjection)
KERNEL = (KernelSupervisedPCA, KernelSupervisedRandomProjection)
FACTORS = (2.0, 0.1, 1.0, 0.5, 3.0, 1.0)
# Nystroem files warn that they hold rows; one test is about that.
pytestmark = pytest.mark.filterwarnings("ignore:.* rows of the training data")


def rows_and_labels(rng, d=6, offset=0.0):
    y = np.arange(120) % 3
    X = rng.normal(size=(120, d)) + np.eye(3, d)[y] * 3
    return X * np.logspace(-1, 1, d) + offset, y


@pytest.fixture
def run_onnx():
    runtime = pytest.importorskip("onnxruntime", reason="needs the onnx extra")
    pytest.importorskip("onnx", reason="needs the onnx extra")

    def run(model, X, several=False):
        content = os.fspath(model) if isinstance(model, os.PathLike) else model
        session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
        found = session.run(None, {session.get_inputs()[0].name: X})
        return found if several else found[0]

    return run


def composed():
    """name: an estimator, for every map, kernel, scaling and label solver there is."""
    found = {}
    for method in LINEAR:
        for scale in (None, "minmax", "standard"):
            for shrinkage in (1.0, 0.3, "auto"):
                found[f"{method.__name__}-{scale}-{shrinkage}"] = method(
                    2, scale=scale, shrinkage=shrinkage
                )
        found[f"{method.__name__}-factors"] = method(2, scale=FACTORS)
    for name in ("gaussian", "fourier", "spread"):
        found[f"label map {name}"] = SupervisedRandomProjection(2, label_map=name)
    for method in KERNEL:
        for approximation in ("fourier", "orthogonal", "fastfood", "nystroem"):
            for kernel in ("rbf", "laplacian", "matern", "polynomial", "linear"):
                if (approximation, kernel) == ("fastfood", "laplacian"):
                    continue
                for scale in (None, "minmax", "standard"):
                    name = f"{method.__name__}-{approximation}-{kernel}-{scale}"
                    found[name] = method(
                        2,
                        approximation=approximation,
                        kernel=kernel,
                        scale=scale,
                        n_random_features=33,
                    )
    for nu in (0.5, 2.5):
        found[f"matern {nu}"] = KernelSupervisedPCA(
            2, kernel="matern", kernel_params={"nu": nu}, approximation="nystroem"
        )
    for degree, coef0 in ((1, 0), (2, 0), (4, 2.5)):
        found[f"polynomial {degree} {coef0}"] = KernelSupervisedPCA(
            2,
            kernel="polynomial",
            kernel_params={"degree": degree, "coef0": coef0},
            n_random_features=64,
        )
    for model in found.values():
        if "random_state" in model.get_params():
            model.set_params(random_state=3)
    return found


COMPOSED = composed()


@pytest.mark.parametrize("name", COMPOSED)
def test_a_graph_does_what_transform_does(name, rng, tmp_path, run_onnx):
    model = COMPOSED[name]
    X, y = rows_and_labels(rng)
    model.fit(X, y)
    # Landmarks are whitened by numbers up to 1e7, with what kernel values are rounded by.
    fine = 1e-7 if model.get_params().get("approximation") == "nystroem" else 1e-9
    for dtype, tolerance in ((np.float32, 1e-5), (np.float64, fine)):
        export.onnx(model, tmp_path / "m.onnx", double=dtype == np.float64)
        for n in (1, 7, 120):
            found = run_onnx(tmp_path / "m.onnx", X[:n].astype(dtype))
            truth = model.transform(X[:n].astype(dtype))
            assert found.dtype == dtype
            size = max(1.0, np.abs(truth).max())
            np.testing.assert_allclose(found, truth, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("several_modes", [False, True])
@pytest.mark.parametrize("layout", ["plane", "sphere"])
@pytest.mark.parametrize(
    "base",
    [
        SupervisedPCA(shrinkage=0.1, scale="standard"),
        KernelSupervisedPCA(shrinkage=0.01, n_random_features=64, random_state=0),
    ],
)
def test_an_atlas_is_written_out(rng, tmp_path, run_onnx, base, layout, several_modes):
    X, y = rows_and_labels(rng)
    if several_modes:
        angle = rng.uniform(0, 2 * np.pi, 300)
        X = np.column_stack([np.cos(angle), np.sin(angle), 0.1 * rng.normal(size=300)])
        y = np.floor(angle / (np.pi / 4)).astype(int) % 4
    atlas = Atlas(base, layout=layout, random_state=0).fit(X, y)
    export.onnx(atlas, tmp_path / "m.onnx", double=True)
    Z, p = run_onnx(tmp_path / "m.onnx", X, several=True)
    np.testing.assert_allclose(Z, atlas.transform(X), atol=1e-8)
    np.testing.assert_allclose(p, atlas.predict_proba(X), atol=1e-8)
    if several_modes and base.scale is not None:
        assert atlas.votes_  # or they are not tested


@pytest.mark.parametrize("d", [3, 17, 200])
def test_transforms_are_written_out(rng, tmp_path, run_onnx, d):
    """SORF at d = 200 and Fastfood: Walsh-Hadamard transforms as one matrix."""
    X, y = rows_and_labels(rng, d)
    for approximation in ("orthogonal", "fastfood"):
        model = KernelSupervisedPCA(
            2, approximation=approximation, n_random_features=1000, random_state=0, scale="standard"
        ).fit(X, y)
        export.onnx(model, tmp_path / "m.onnx", double=True)
        found = run_onnx(tmp_path / "m.onnx", X)
        np.testing.assert_allclose(found, model.transform(X), atol=1e-10)
        assert (tmp_path / "m.onnx").stat().st_size < 8 * 500 * d + 40_000


@pytest.mark.parametrize("method", LINEAR)
def test_far_from_zero(rng, tmp_path, run_onnx, method):
    X, y = rows_and_labels(rng, offset=1e8)
    model = method(2, **({"random_state": 0} if method is LINEAR[1] else {})).fit(X, y)
    export.onnx(model, tmp_path / "m.onnx", double=True)
    np.testing.assert_allclose(run_onnx(tmp_path / "m.onnx", X), model.transform(X), atol=1e-6)


@pytest.mark.parametrize("approximation", ["orthogonal", "nystroem"])
def test_models_fitted_on_sparse_rows(rng, tmp_path, run_onnx, approximation):
    X = np.where(rng.random((100, 30)) < 0.1, rng.random((100, 30)), 0)
    y = np.arange(100) % 4
    for model in (
        SupervisedPCA(3, scale="standard"),
        KernelSupervisedPCA(3, approximation=approximation, random_state=0, n_random_features=40),
    ):
        model.fit(sparse.csr_array(X), y)
        export.onnx(model, tmp_path / "m.onnx")
        found = run_onnx(tmp_path / "m.onnx", X.astype(np.float32))
        np.testing.assert_allclose(found, model.transform(sparse.csr_array(X)), atol=1e-5)


def test_other_labels_and_pca(rng, tmp_path, run_onnx):
    X, y = rows_and_labels(rng)
    labels = (None, X[:, 0], np.eye(3)[y], np.array([*"abc"])[y])
    for y in labels:
        for method in (*LINEAR, KernelSupervisedRandomProjection):
            model = method(2, **({} if method is SupervisedPCA else {"random_state": 0})).fit(X, y)
            export.onnx(model, tmp_path / "m.onnx")
            found = run_onnx(tmp_path / "m.onnx", X.astype(np.float32))
            truth = model.transform(X)
            np.testing.assert_allclose(found, truth, atol=1e-5 * max(1, np.abs(truth).max()))


def test_a_saved_model_and_one_in_batches(rng, tmp_path, run_onnx):
    X, y = rows_and_labels(rng)
    model = KernelSupervisedPCA(2, gamma=0.1, random_state=0)
    model.partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    labelens.save(model, tmp_path / "m.labelens")
    export.onnx(labelens.load(tmp_path / "m.labelens"), tmp_path / "m.onnx")
    found = run_onnx(tmp_path / "m.onnx", X.astype(np.float32))
    np.testing.assert_allclose(found, model.transform(X), atol=1e-5)


def test_what_the_file_says(rng, tmp_path):
    library = pytest.importorskip("onnx", reason="needs the onnx extra")
    X, y = rows_and_labels(rng)
    frame = pd.DataFrame(X, columns=["a", "b", "é", '"', "", "x"])
    export.onnx(SupervisedPCA(2).fit(frame, y), tmp_path / "m.onnx")
    model = library.load(tmp_path / "m.onnx")
    assert json.loads(model.metadata_props[0].value) == list(frame.columns)
    assert [i.name for i in model.graph.input] == ["X"]
    assert [o.name for o in model.graph.output] == ["embedding"]
    shape = model.graph.input[0].type.tensor_type.shape.dim
    assert (shape[0].dim_param, shape[1].dim_value) == ("n", 6)
    content = (tmp_path / "m.onnx").read_bytes()
    assert not [value for value in X.ravel() if value.tobytes() in content]


def test_landmarks_are_mentioned(data, tmp_path):
    pytest.importorskip("onnx", reason="needs the onnx extra")
    model = KernelSupervisedPCA(2, approximation="nystroem", n_random_features=12).fit(*data)
    with pytest.warns(UserWarning, match=r"m\.onnx holds 12 rows of the training data"):
        export.onnx(model, tmp_path / "m.onnx")


# Pipelines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        SupervisedPCA(2, scale="minmax"),
        SupervisedRandomProjection(2, random_state=0),
        KernelSupervisedPCA(2, random_state=0, n_random_features=65),
        KernelSupervisedPCA(2, random_state=0, kernel="laplacian", approximation="nystroem"),
        KernelSupervisedRandomProjection(2, random_state=0, kernel="polynomial"),
        KernelSupervisedPCA(2, approximation=PCA(4)),
    ],
    ids=repr,
)
def test_whole_pipelines_convert(rng, run_onnx, model, double):
    skl2onnx = pytest.importorskip("skl2onnx", reason="needs the onnx extra")
    X, y = rows_and_labels(rng)
    X = X if double else X.astype(np.float32)
    pipeline = make_pipeline(StandardScaler(), model, MinMaxScaler()).fit(X, y)
    found = run_onnx(skl2onnx.to_onnx(pipeline, X[:1]).SerializeToString(), X)
    np.testing.assert_allclose(found, pipeline.transform(X), atol=1e-9 if double else 1e-5)


def test_a_transformer_for_a_feature_map(rng, tmp_path, run_onnx):
    pytest.importorskip("skl2onnx", reason="needs the onnx extra")
    X, y = rows_and_labels(rng)
    model = KernelSupervisedPCA(2, approximation=PCA(4, whiten=True), scale="standard").fit(X, y)
    export.onnx(model, tmp_path / "m.onnx")
    found = run_onnx(tmp_path / "m.onnx", X.astype(np.float32))
    np.testing.assert_allclose(found, model.transform(X), atol=1e-5)
    model = KernelSupervisedPCA(2, approximation=AdditiveChi2Sampler()).fit(X**2, y)
    with pytest.raises(ValueError, match=r"AdditiveChi2Sampler\(\) is not exported: skl2onnx"):
        export.onnx(model, tmp_path / "other.onnx")
    assert os.listdir(tmp_path) == ["m.onnx"]


def test_an_opset_that_is_too_old(rng):
    skl2onnx = pytest.importorskip("skl2onnx", reason="needs the onnx extra")
    X, y = rows_and_labels(rng)
    with pytest.raises(ValueError, match="target_opset=13 or newer, got 12"):
        skl2onnx.to_onnx(SupervisedPCA(2).fit(X, y), X[:1], target_opset=12)


# Refusals ----------------------------------------------------------------------------------------


def test_what_is_not_exported(data, tmp_path):
    X, y = data
    exact = KernelSupervisedPCA(2, approximation="exact").fit(X, y)
    for model, error, words in (
        (exact, ValueError, "approximation='exact' compares every row"),
        (StandardScaler().fit(X), TypeError, r"takes a .* method.*, got Standard"),
    ):
        for write in (export.onnx, export.sql):
            with pytest.raises(error, match=words):
                write(model, str(tmp_path / "m.onnx"))
    with pytest.raises(ValueError, match=r"not fitted"):
        export.onnx(SupervisedPCA(2), tmp_path / "m.onnx")
    assert not os.listdir(tmp_path)


# SQL ---------------------------------------------------------------------------------------------


def selected(model, frame, table="rows", keep=("id",)):
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    base = duckdb.connect()
    base.register("given", frame)
    place = ".".join('"' + part.replace('"', '""') + '"' for part in table.split("."))
    if "." in table:
        base.execute(f"CREATE SCHEMA {place.partition('.')[0]}")
    base.execute(f"CREATE TABLE {place} AS SELECT * FROM given")
    found = base.execute(export.sql(model, table, keep=keep)).df()
    return found.sort_values("id") if keep else found


@pytest.mark.parametrize(
    "model",
    [
        SupervisedPCA(2),
        SupervisedPCA(2, scale="standard", shrinkage="auto"),
        SupervisedPCA(3, scale="minmax", target_weight=0.5),
        SupervisedRandomProjection(2, random_state=0, scale="minmax"),
        SupervisedPCA(2, scale=FACTORS),
        KernelSupervisedPCA(2, kernel="linear"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("offset", [0, 1e8])
def test_one_select(rng, model, offset):
    X, y = rows_and_labels(rng, offset=offset)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model.fit(frame, y)
    found = selected(model, frame.assign(id=np.arange(len(frame))))
    assert list(found) == ["id", *(f"z{j + 1}" for j in range(model.n_components))]
    truth = model.transform(frame)
    size = np.abs(truth).max()
    np.testing.assert_allclose(found.iloc[:, 1:], truth, atol=1e-12 * size if not offset else 1e-6)


def test_columns_of_other_types_and_gaps(rng):
    X = rng.integers(0, 50, (90, 3))
    frame = pd.DataFrame(X, columns=["small", "wide", "single"])
    frame = frame.astype({"small": "int8", "wide": "int64", "single": "float32"})
    model = SupervisedPCA(1).fit(frame, np.arange(90) % 2)
    shown = frame.assign(id=np.arange(90), wide=frame["wide"].astype("Int64").where(X[:, 1] > 9))
    found = selected(model, shown)["z1"].to_numpy()
    gaps = X[:, 1] <= 9
    assert np.isnan(found[gaps]).all()
    np.testing.assert_allclose(found[~gaps], model.transform(frame)[~gaps, 0], atol=1e-12 * 50)


def test_names_are_quoted(rng):
    """A name is a name, whatever it says; case alone does not tell names apart in duckdb."""
    spelled = [name for name in HOSTILE_NAMES if not {"\0", "\ud800"} & set(name)]
    names = list({name.lower(): name for name in spelled}.values())
    X, y = rng.normal(size=(60, len(names))), np.arange(60) % 2
    frame = pd.DataFrame(X, columns=names)
    model = SupervisedPCA(1).fit(frame, y)
    found = selected(model, frame.assign(id=np.arange(60)), table='s".t"; DROP TABLE x; --')
    np.testing.assert_allclose(found["z1"], model.transform(frame)[:, 0], atol=1e-12)
    frame = frame.rename(columns={names[0]: "a\0b"})
    with pytest.raises(ValueError, match="NUL in its name"):
        export.sql(SupervisedPCA(1).fit(frame, y))


def test_thousands_of_columns(rng):
    """As deep as the logarithm of their number."""
    X, y = rng.normal(size=(20, 3000)), np.arange(20) % 2
    model = SupervisedPCA(1).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(3000)])
    found = selected(model, frame.assign(id=np.arange(20)))
    np.testing.assert_allclose(found["z1"], model.transform(X)[:, 0], atol=1e-10)


def test_one_column_to_keep_is_no_list_of_letters(data):
    model = SupervisedPCA(2).fit(*data)
    assert export.sql(model, keep="id") == export.sql(model, keep=["id"])
    with pytest.raises(ValueError, match="keep has 'z2', which is the name of a component"):
        export.sql(model, keep=["id", "z2"])


def test_only_linear_models_are_sql(data):
    with pytest.raises(ValueError, match="SQL is for linear models, and this KernelSupervisedPCA"):
        export.sql(KernelSupervisedPCA(2).fit(*data))


# The command -------------------------------------------------------------------------------------


def test_the_command(data, tmp_path, monkeypatch, run_onnx):
    monkeypatch.chdir(tmp_path)
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = SupervisedPCA(2).fit(frame, y)
    labelens.save(model, "m.labelens")
    run = CliRunner().invoke
    done = run(app, ["export", "m.labelens", "--onnx", "m.onnx", "--sql", "m.sql", "--table", "t"])
    assert done.exit_code == 0, done.output
    found = run_onnx(tmp_path / "m.onnx", X.astype(np.float32))
    np.testing.assert_allclose(found, model.transform(frame), atol=1e-5)
    assert (tmp_path / "m.sql").read_text().strip() == export.sql(model, "t")
    assert "m.onnx" in done.output
    again = run(app, ["export", "m.labelens", "--onnx", "m.onnx"])
    assert again.exit_code == 1
    assert "already holds m.onnx" in again.output
    assert (
        run(app, ["export", "m.labelens", "--onnx", "m.onnx", "--force", "--double"]).exit_code == 0
    )
    assert run_onnx(tmp_path / "m.onnx", X).dtype == np.float64
    for wrong, words in (
        (["m.labelens"], "--onnx FILE, --sql FILE"),
        (["nothing", "--onnx", "x.onnx"], "nothing"),
    ):
        done = run(app, ["export", *wrong])
        assert done.exit_code == 1
        assert words in done.output
    assert sorted(os.listdir()) == ["m.labelens", "m.onnx", "m.sql"]
