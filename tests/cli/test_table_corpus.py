"""The corpus of messy tables: each file gives what is declared of it, by every route."""

import importlib.util
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from labelens import tables
from labelens._base.optional import require
from labelens.persist import load_with_table
from labelens.tables.cells import cells_of, read_as
from labelens.tables.encoding import _as_text

CORPUS = Path(__file__).parents[1] / "data" / "tables"
OUTCOMES = json.loads((CORPUS / "outcomes.json").read_text())
GOOD = [name for name, outcome in OUTCOMES.items() if not outcome["error"]]


@pytest.fixture
def outcome(request, tmp_path):
    shutil.copy(CORPUS / request.param, tmp_path)
    return request.param, OUTCOMES[request.param]


def test_there_are_many():
    assert len(OUTCOMES) >= 40


def test_the_script_writes_the_corpus(tmp_path):
    shutil.copy(CORPUS / "generate.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "generate.py"], check=True)
    assert json.loads((tmp_path / "outcomes.json").read_text()) == OUTCOMES
    for name in ("plain.csv", "dollars.csv", "category_gaps.csv"):
        assert (tmp_path / name).read_bytes() == (CORPUS / name).read_bytes()


@pytest.mark.parametrize("outcome", [n for n in OUTCOMES if n not in GOOD], indirect=True)
def test_it_is_rejected_in_words(run, outcome):
    name, wanted = outcome
    done = run("embed", name, *wanted["options"])
    assert done.exit_code == 1
    assert wanted["error"] in " ".join(done.output.split())


@pytest.mark.filterwarnings("ignore:Only")
@pytest.mark.parametrize("outcome", GOOD, indirect=True)
def test_it_is_embedded_as_declared(run, outcome):
    name, wanted = outcome
    done = run("embed", name, *wanted["options"], "--method", "spca", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert (facts["features"], facts["task"]) == (wanted["features"], wanted["task"])
    notes = " ".join(facts.get("notes", []))
    assert all(words in notes for words in wanted["told"]), notes


@pytest.mark.filterwarnings("ignore:Only")
@pytest.mark.parametrize("outcome", GOOD, indirect=True)
def test_every_route_gives_the_same_rows(run, outcome, tmp_path):
    name, wanted = outcome
    options = [*wanted["options"], "--method", "spca"]
    done = run("fit", name, *options)
    assert done.exit_code == 0, done.output
    Z = embedded(run, tmp_path, "model.labelens", name)
    scale = np.abs(Z.to_numpy()).max()
    # A row alone, as parquet, is where it is in its file.
    frame = tables.read(tmp_path / name)
    for row in (0, len(Z) - 1):
        number = Z.index[row]
        frame.loc[[number]].to_parquet(tmp_path / "one.parquet")
        one = embedded(run, tmp_path, "model.labelens", "one.parquet")
        np.testing.assert_allclose(one.to_numpy(), Z.iloc[[row]].to_numpy(), atol=1e-10 * scale)
    done = run("fit", name, *options, "--memory", "4GB", "--out", "stream.labelens")
    if wanted["stream"]:
        assert done.exit_code == 1
        assert wanted["stream"] in " ".join(done.output.split())
    else:
        assert done.exit_code == 0, done.output
        guesses = [words for words in wanted["told"] if "read as" in words or "no line" in words]
        assert all(words in " ".join(done.output.split()) for words in guesses)
        streamed = embedded(run, tmp_path, "stream.labelens", name)
        np.testing.assert_allclose(streamed.to_numpy(), Z.to_numpy(), atol=1e-10 * scale)
    done = run("export", "model.labelens", "--sql", "m.sql", "--table", "t")
    assert (done.exit_code == 0) == (wanted["sql"] is not False), done.output
    if wanted["sql"]:
        query = (tmp_path / "m.sql").read_text()
        base = sqlite3.connect(":memory:")
        frame.to_sql("t", base, index=False)
        found = [pd.read_sql(query, base)]
        if importlib.util.find_spec("duckdb"):
            base = require("duckdb", "files").connect()
            base.register("t", frame)
            found.append(base.sql(query).df())
        for rows in found:
            np.testing.assert_allclose(rows.dropna().to_numpy(), Z.to_numpy(), atol=1e-9 * scale)


@pytest.mark.filterwarnings("ignore:Only")
@pytest.mark.parametrize("outcome", GOOD, indirect=True)
def test_onnx_gives_the_same_rows(run, outcome, tmp_path):
    """Its inputs are what the encoder reads: numbers, days since 1970, text, lists."""
    runtime = pytest.importorskip("onnxruntime")
    name, wanted = outcome
    assert run("fit", name, *wanted["options"], "--method", "spca").exit_code == 0
    done = run("export", "model.labelens", "--onnx", "m.onnx", "--double")
    assert (done.exit_code == 0) == wanted["onnx"], done.output
    if not wanted["onnx"]:
        assert "'c' is text, which ONNX cannot encode" in " ".join(done.output.split())
        return
    encoder, frame = load_with_table("model.labelens")[1], tables.read(tmp_path / name)
    given = {}
    for column in encoder.columns_:
        kind, cells = cells_of(frame[column.name], encoder.na)
        if column.kind == "category":
            spelled = cells if kind == "text" else _as_text(cells)
            given[column.name] = np.array([c or "" for c in spelled], object)[:, None]
        elif kind == "text":
            given[column.name] = read_as(column.reading, cells)[:, None]
        else:
            given[column.name] = cells.reshape(len(frame), -1)
    session = runtime.InferenceSession("m.onnx")
    if [one.name for one in session.get_inputs()] == ["X"]:  # numbers without gaps alone
        given = {"X": encoder.transform(frame)}
    (found,) = session.run(None, given)
    found = found[~np.isnan(found).any(axis=1)]
    Z = embedded(run, tmp_path, "model.labelens", name).to_numpy()
    np.testing.assert_allclose(found, Z, atol=1e-9 * np.abs(Z).max())


def embedded(run, tmp_path, model, data):
    done = run("transform", model, data, "--out", "z.csv", "--force")
    assert done.exit_code == 0, done.output
    return pd.read_csv(tmp_path / "z.csv").set_index("row")
