"""Data in pieces: every kind of source gives the model that one array gives."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from sklearn.base import clone

import labelens
from conftest import read_only
from labelens import (
    KernelSupervisedPCA,
    KernelSupervisedRandomProjection,
    SupervisedPCA,
    SupervisedRandomProjection,
)
from labelens._engines.sources import open_source
from labelens._fit import first_pass
from labelens._out_of_core import plan, progress
from labelens.label_kernels import Product, Sum
from source_kinds import (
    KINDS,
    NAMES,
    D,
    N,
    arrow,
    as_table,
    batches,
    fixed_lists,
    npy,
    some_parquet,
    text,
)

COLUMNS = [f"x{j}" for j in range(D)]
MODELS = [
    SupervisedPCA(2),
    SupervisedRandomProjection(2, random_state=0),
    SupervisedPCA(2, target_weight=0.5, shrinkage=0.1, scale="minmax"),
    SupervisedRandomProjection(2, target_weight=0.5, label_map="gaussian", random_state=0),
    SupervisedPCA(2, shrinkage="auto", scale="standard"),
    SupervisedPCA(2, class_weight="balanced"),
    KernelSupervisedPCA(2, gamma=0.1, n_random_features=64, random_state=0),
    KernelSupervisedRandomProjection(
        2, n_random_features=64, scale="minmax", target_weight=0.5, random_state=0
    ),
    KernelSupervisedPCA(
        2, n_random_features=64, scale="standard", class_weight="balanced", random_state=0
    ),
    KernelSupervisedPCA(2, gamma=0.1, approximation="exact"),
]


@pytest.fixture
def rows(rng):
    y = rng.choice(4, N, p=[0.4, 0.3, 0.2, 0.1])
    X = rng.normal(size=(N, D)) + np.eye(4, D)[y] * [3, 2, 1.5, 1, 1, 1]
    return read_only(X.astype(np.float32), y)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Several chunks, although the data is small."""
    for name in ("CHUNK_BYTES", "KERNEL_CHUNK_BYTES"):
        monkeypatch.setattr(plan, name, 2 * 1024 * D * 4)
    monkeypatch.setattr(plan, "KERNEL_BLOCKS", 1)


def same_model(mine, other):
    assert np.array_equal(mine.singular_values_, other.singular_values_)
    attribute = "dual_coef_" if mine._recipe.phi is None else "components_"
    assert np.array_equal(getattr(mine, attribute), getattr(other, attribute))
    assert mine.n_samples_seen_ == other.n_samples_seen_
    assert mine.get_params() == other.get_params()


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_parquet_gives_every_bit_of_fit(tmp_path, rows, model):
    source, label = some_parquet(tmp_path, *rows)
    same_model(labelens.fit(clone(model), source, label=label), clone(model).fit(*rows))


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@pytest.mark.parametrize("model", [MODELS[1], MODELS[7]], ids=repr)
def test_every_kind_gives_every_bit_of_fit(tmp_path, rows, model, kind):
    source, label = kind(tmp_path, *rows)
    X, y = rows
    if "csv" in str(source):
        X = X.astype(np.float64)  # text has no float32
    same_model(labelens.fit(clone(model), source, label=label), clone(model).fit(X, y))


def test_names_of_columns(tmp_path, rows):
    source, label = fixed_lists(tmp_path, *rows)
    model = labelens.fit(SupervisedPCA(2), source, label=label)
    assert list(model.feature_names_in_) == ["x[0]", "x[1]", "x[2]", "x[3]", "u", "v"]
    chosen = labelens.fit(SupervisedPCA(2), source, label=label, features=["v", "u"])
    expected = SupervisedPCA(2).fit(rows[0][:, [5, 4]], rows[1])
    assert np.array_equal(chosen.components_, expected.components_)


def test_an_index_of_pandas_is_no_feature(tmp_path, rows):
    frame = as_table(*rows).to_pandas().sample(frac=1, random_state=0)
    frame.to_parquet(tmp_path / "a.parquet")
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "a.parquet").names
    model = labelens.fit(SupervisedPCA(2), tmp_path / "a.parquet", label="label")
    same_model(model, SupervisedPCA(2).fit(frame.drop(columns="label"), frame["label"]))


def test_sparse_rows(rows):
    X, y = sparse.csr_array(np.where(np.abs(rows[0]) > 1, rows[0], 0)), rows[1]
    whole = SupervisedPCA(2).fit(X, y)
    same_model(labelens.fit(SupervisedPCA(2), X, label=y), whole)
    pairs = [(X[:2000], y[:2000]), (X[2000:], y[2000:])]
    same_model(labelens.fit(SupervisedPCA(2), pairs), whole)


def test_no_labels(tmp_path, rows):
    source, _ = npy(tmp_path, *rows)
    for model in (SupervisedPCA(2), SupervisedRandomProjection(2, random_state=0)):
        same_model(labelens.fit(clone(model), source), clone(model).fit(rows[0]))


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: pa.array([f"class {i}" for i in y]),
        lambda y: pa.array([f"class {i}" for i in y]).dictionary_encode(),
        lambda y: pa.array(y > 1),
        lambda y: pa.array(np.datetime64("2020-01-01") + y),
        lambda y: pa.array(y + 0.5),
    ],
    ids=["text", "dictionary", "bool", "date", "real"],
)
def test_labels_of_any_type(tmp_path, rows, labels):
    X, y = rows
    column = labels(y)
    table = as_table(X, y).set_column(D, "label", column)
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=500)
    model = labelens.fit(SupervisedPCA(1), tmp_path / "a.parquet", label="label")
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    same_model(model, SupervisedPCA(1).fit(X, plain.to_numpy(zero_copy_only=False)))


def test_several_labels(tmp_path, rows):
    X, y = rows
    table = as_table(X, y).append_column("other", pa.array(y % 2))
    parquet.write_table(table, tmp_path / "a.parquet")
    model = labelens.fit(SupervisedPCA(2), tmp_path / "a.parquet", label=["label", "other"])
    same_model(model, SupervisedPCA(2).fit(X, np.column_stack([y, y % 2])))


def test_ordered_labels_keep_their_order(tmp_path, rows):
    X, y = rows
    grades = pd.Categorical.from_codes(y, ["low", "fair", "good", "best"], ordered=True)
    frame = pd.DataFrame(X).rename(columns=str).assign(grade=grades)
    frame.to_parquet(tmp_path / "a.parquet")
    model = SupervisedPCA(2, label_kernel="ordinal")
    found = labelens.fit(clone(model), tmp_path / "a.parquet", label="grade")
    same_model(found, clone(model).fit(X, frame["grade"]))


@pytest.mark.parametrize("once", [False, True])
def test_sparse_labels_in_batches(rows, once):
    X, y = rows
    sets = sparse.coo_array(np.eye(4)[y])
    parts = slice(0, 700), slice(700, None)
    pairs = [(X[here], sparse.coo_array(np.eye(4)[y[here]])) for here in parts]
    whole = SupervisedPCA(2).fit(X, sets)
    same_model(labelens.fit(SupervisedPCA(2), iter(pairs) if once else pairs), whole)
    same_model(labelens.fit(SupervisedPCA(2), X, label=sets), whole)
    drawn = KernelSupervisedPCA(2, gamma="median", n_random_features=16, random_state=0)
    same_model(labelens.fit(clone(drawn), X, label=sets), clone(drawn).fit(X, sets))


def test_batches_may_be_lists(rows):
    X, y = rows
    pairs = [(X[:900].astype(float).tolist(), y[:900]), (X[900:].astype(float), y[900:].tolist())]
    same_model(labelens.fit(SupervisedPCA(2), pairs), SupervisedPCA(2).fit(X.astype(float), y))


@pytest.mark.parametrize("kernel", [Sum("delta", "rbf"), Product("delta", "rbf")], ids=repr)
def test_columns_of_labels_are_known_from_all_rows(rows, kernel):
    """Classes, and the width of an RBF kernel, that the first chunk does not have."""
    X, y = rows
    labels = pd.DataFrame({"late": np.repeat(["a", "b"], [4000, N - 4000]), "number": y / 3})
    model = SupervisedPCA(2, label_kernel=kernel)
    same_model(labelens.fit(clone(model), X, label=labels), clone(model).fit(X, labels))


def test_labels_of_an_archive_may_be_an_array(tmp_path, rows):
    np.savez(tmp_path / "all.npz", rows=rows[0], other=rows[1])
    found = labelens.fit(SupervisedPCA(2), tmp_path / "all.npz", label=rows[1])
    same_model(found, SupervisedPCA(2).fit(*rows))


def test_unlabelled_rows_and_late_classes(tmp_path, rows):
    X, y = rows
    y = np.sort(y).astype(float)
    y[:2500] = np.nan  # the first chunk has no label at all
    y[4000:4100] = np.nan
    labels = pa.array([None if np.isnan(v) else int(v) for v in y])
    table = as_table(X, y).set_column(D, "label", labels)
    parquet.write_table(table, tmp_path / "a.parquet")
    model = KernelSupervisedPCA(
        2, missing_label=float("nan"), gamma="median", n_random_features=32, random_state=0
    )
    objects = np.array(labels.to_pylist(), dtype=object)
    found = labelens.fit(clone(model), tmp_path / "a.parquet", label="label")
    same_model(found, clone(model).fit(X, objects))
    with pytest.raises(ValueError, match=r"In rows 0 to 2047 .* contains NaN at row 0"):
        labelens.fit(SupervisedPCA(2), tmp_path / "a.parquet", label="label")


# Samples -----------------------------------------------------------------------------------------


def test_a_sample_is_the_same_however_rows_are_stored(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(first_pass, "SAMPLE_ROWS", 1100)
    model = KernelSupervisedPCA(2, gamma="median", n_random_features=32, random_state=0)
    found = []
    for kind in (npy, some_parquet, arrow, batches):
        source, label = kind(tmp_path, *rows)
        found.append(labelens.fit(clone(model), source, label=label))
    for other in found[1:]:
        same_model(found[0], other)
    assert found[0].gamma_ != clone(model).fit(*rows).gamma_
    assert found[0].gamma_ == pytest.approx(clone(model).fit(*rows).gamma_, rel=0.1)


def test_a_sample_is_uniform():
    """Over 200 places of a window of a tenth of all rows, the count is hypergeometric."""
    n, size = 100_000, 2000
    rows = np.arange(n, dtype=np.float64)[:, None]
    sample = first_pass.Sample(size)
    for chunk_start in range(0, n, 7000):
        here = slice(chunk_start, chunk_start + 7000)
        sample.take(first_pass.Chunk(rows[here], None), chunk_start)
    chosen = sample.rows().X[:, 0]
    assert len(chosen) == size == len(set(chosen))
    assert (np.diff(chosen) > 0).all()
    counts = np.histogram(chosen, bins=50, range=(0, n))[0]
    assert ((counts - 40) ** 2 / 40).sum() < 85.4  # chi-squared with 49 degrees: p = 0.001
    for period in (2, 3, 8, 64):
        counts = np.bincount(chosen.astype(int) % period, minlength=period)
        assert ((counts - size / period) ** 2 / (size / period)).sum() < 2 * period + 15


def test_scaling_is_that_of_all_rows(rows, monkeypatch):
    monkeypatch.setattr(first_pass, "SAMPLE_ROWS", 1024)
    X = rows[0].copy()
    X[4321] = 1000  # in no sample, most likely
    model = KernelSupervisedPCA(2, scale="minmax", n_random_features=32, random_state=0)
    same_model(labelens.fit(clone(model), X, label=rows[1]), clone(model).fit(X, rows[1]))


def test_what_can_be_read_once(rows):
    X, y = rows
    pairs = [(X[:3000], y[:3000]), (X[3000:], y[3000:])]
    once = labelens.fit(SupervisedPCA(2), iter(pairs))
    same_model(once, SupervisedPCA(2).fit(X, y))
    with pytest.raises(ValueError, match="gamma='scale' requires a first pass over the data"):
        labelens.fit(KernelSupervisedPCA(2), iter(pairs))


# What goes wrong ---------------------------------------------------------------------------------


def refused(words, source, error=ValueError, model=None, **options):
    model = model or SupervisedPCA(2)
    before = dict(vars(model))
    with pytest.raises(error, match=words):
        labelens.fit(model, source, **options)
    assert vars(model) == before


def test_files_that_are_not_there_or_hold_nothing(tmp_path, rows):
    refused("No file is called .*parquet", str(tmp_path / "*.parquet"), FileNotFoundError)
    refused("There is no file", tmp_path / "a.parquet", FileNotFoundError)
    refused("is a folder; name its files", tmp_path, IsADirectoryError)
    refused("list of files is empty", [])
    (tmp_path / "a.doc").touch()
    refused("none of the kinds of file", tmp_path / "a.doc")
    (tmp_path / "a.csv").touch()
    refused("a.csv cannot be read: it is empty", tmp_path / "a.csv")
    parquet.write_table(as_table(rows[0][:0], rows[1][:0]), tmp_path / "none.parquet")
    refused("There are no rows in", tmp_path / "none.parquet", label="label")
    refused("There are no rows", iter([]))
    refused("gave a int", [1, 2, 3], TypeError)


def test_columns_are_refused_by_name(tmp_path, rows):
    table = as_table(*rows)
    path = tmp_path / "a.parquet"

    def written(name, column):
        parquet.write_table(table.set_column(1, name, column), path)
        return path

    refused("has no column 'lable'; it has 'x0'", written("x1", table["x1"]), label="lable")
    both = "'label' is to be a label and a feature"
    refused(both, path, label="label", features=["x1", "label"])
    refused("a label twice", path, label=["label", "label"])
    refused("labels from elsewhere have to go into the files", path, label=rows[1])
    refused("'x1' of .* holds string", written("x1", pa.array(["a"] * N)), label="label")
    holes = pa.array([None] + [1.0] * (N - 1))
    refused("'x1' of .*a.parquet has empty cells", written("x1", holes), label="label")
    uneven = pa.array([[1.0, 2.0]] * (N - 1) + [[1.0]])
    refused("lists in column 'x1' .* not all 2 long", written("x1", uneven), label="label")
    nan = pa.array([1.0] * 3000 + [np.nan] + [1.0] * (N - 3001))
    refused("In rows 2048 to 3071 .* row 952, column 'x1'", written("x1", nan), label="label")


def test_labels_that_are_no_labels(tmp_path, rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=COLUMNS).assign(label=y)
    refused("frame has no column 'lable'; it has 'x0', .* 'label'", frame, label="lable")
    refused("'label' names a column, and those of an array have no names", X, label="label")
    refused(f"There are {N} rows and 1 labels", X, label=[3])
    refused(r"y is a int \(3\), and must be an array or a list", X, TypeError, label=3)
    refused("and 1 labels", npy(tmp_path, X, y)[0], label=[3])


def test_batches_that_differ(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=COLUMNS)
    refused("columns of batch 1 are not those of the first", [(frame, y), (X, y)])
    refused("Batch 1 is sparse, and the first is not", [(X, y), (sparse.csr_array(X), y)])
    refused(f"Batch 1 has {N} rows and 9 labels", [(X, y), (X, y[:9])])
    refused("Batch 1 has 3 columns, and the first 6", [(X, y), (X[:, :3], y)])
    refused("Batch 1 and the first differ in whether there is a y", [(X, y), (X, None)])


@pytest.mark.parametrize("kind", [text, npy], ids=["rows unknown", "rows known"])
def test_progress_ends_its_line_once(tmp_path, rows, capsys, monkeypatch, kind):
    monkeypatch.setattr(progress, "SECONDS", 0.0)  # every chunk is told of
    source, label = kind(tmp_path, *rows)
    labelens.fit(SupervisedPCA(2), source, label=label, progress=True)
    assert capsys.readouterr().err.count("\n") == 1


def test_files_that_differ(tmp_path, rows):
    table = as_table(*rows)
    parquet.write_table(table, tmp_path / "a.parquet")
    parquet.write_table(table.drop_columns("x3"), tmp_path / "b.parquet")
    refused("b.parquet has no column 'x3'", str(tmp_path / "*.parquet"), label="label")
    wide = table.set_column(3, "x3", table["x3"].cast(pa.float64()))
    parquet.write_table(wide, tmp_path / "b.parquet")
    refused("'x3' is float in .*a.* and double in", str(tmp_path / "*.parquet"), label="label")
    # Another order of columns is no other data.
    parquet.write_table(table.select(table.column_names[::-1]), tmp_path / "b.parquet")
    model = labelens.fit(SupervisedPCA(2), str(tmp_path / "*.parquet"), label="label")
    twice = SupervisedPCA(2).fit(*(np.concatenate([part, part]) for part in rows))
    assert np.allclose(model.components_, twice.components_, rtol=1e-12)


@pytest.mark.parametrize("kind", [some_parquet, arrow, npy], ids=["parquet", "arrow", "npy"])
def test_a_file_that_is_cut_short(tmp_path, rows, kind):
    kind(tmp_path, *rows)
    last = sorted(p for p in tmp_path.iterdir() if p.name != "y.npy")[-1]
    last.write_bytes(last.read_bytes()[:-1000])
    label = rows[1] if kind is npy else "label"
    refused(f"{last.name} cannot be read", [str(last)], label=label)


def test_text_that_changes_its_mind(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,label\n" + "1,2,0\n" * 700_000 + "1,two,0\n")
    refused("a.csv cannot be read", tmp_path / "a.csv", label="label")
    (tmp_path / "a.csv").write_text("x,y,label\n" + "1,2,0\n" * 1000 + "1.5,2,1\n")
    assert labelens.fit(SupervisedPCA(1), tmp_path / "a.csv", label="label").n_samples_seen_ == 1001


def test_opened_once_is_opened(tmp_path, rows):
    source = open_source(*some_parquet(tmp_path, *rows))
    assert source.n_rows == N
    assert sum(c.n_rows for c in source.chunks(1000, start=2222)) == N - 2222
    first = next(source.chunks(1000, start=2222))
    assert np.array_equal(first.X, rows[0][2222:3222])
    assert np.array_equal(first.y.values, rows[1][2222:3222])
    assert next(source.chunks(1000, features=False)).X is None


@pytest.mark.parametrize("kind", [some_parquet, arrow, text], ids=["parquet", "arrow", "csv"])
@pytest.mark.parametrize("start", [0, 899, 900, 901, 2222, N - 1, N])
def test_any_row_may_be_the_first(tmp_path, rows, kind, start):
    source = open_source(*kind(tmp_path, *rows))
    chunks = [chunk.X.copy() for chunk in source.chunks(1000, start=start)]
    assert np.array_equal(np.concatenate([*chunks, rows[0][:0]]), rows[0][start:])
