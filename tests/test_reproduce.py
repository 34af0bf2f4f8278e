"""The reproduction: what is stored, what is resumed, what is said of the claims."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from paper import classification, reproduce, visualisation
from paper.__main__ import app
from paper.approximation import procrustes_residual
from paper.claims import RULES, judge
from paper.lab import LITERAL, Lab, choose_gamma, make_method
from paper.report import claims_markdown
from paper.store import Store
from paper.verdicts import CAVEAT, HOLDS, NO, UNKNOWN

QUICK = Lab(quick=True)
SETTINGS = dict(seed=0, quick=True, version="1")


# What is stored ------------------------------------------------------------------------------


def test_finished_runs_are_found_again(tmp_path):
    store = Store(tmp_path / "runs.jsonl", SETTINGS)
    store.add("times/1", [dict(n=1, seconds=0.1)])
    store.add("timesheet/1", [dict(n=2)])
    again = Store(tmp_path / "runs.jsonl", SETTINGS)
    assert "times/1" in again
    assert "times/2" not in again
    assert again.of("times") == [dict(n=1, seconds=0.1)]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_off_is_run_again(tmp_path, cut):
    path = tmp_path / "runs.jsonl"
    store = Store(path, SETTINGS)
    store.add("a/1", [dict(x=1)])
    store.add("a/2", [dict(x=2)])
    path.write_bytes(path.read_bytes()[:-cut])
    again = Store(path, SETTINGS)
    assert "a/1" in again
    assert "a/2" not in again
    again.add("a/2", [dict(x=3)])
    assert Store(path, SETTINGS).of("a") == [dict(x=1), dict(x=3)]


def test_runs_with_other_settings_are_not_mixed(tmp_path):
    Store(tmp_path / "runs.jsonl", SETTINGS)
    with pytest.raises(ValueError, match=r"seed: 0, now 1\).*--out"):
        Store(tmp_path / "runs.jsonl", SETTINGS | dict(seed=1))


# The experiments -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["PCA", "KPCA", "SPCA", "SRP", "KSPCA", "KSRP"])
def test_every_method_embeds(method):
    split = QUICK.split("Sonar")
    model = make_method(method, 2, split, 0.5, 0, 0.9)
    assert model.fit(split.X_train, split.y_train).transform(split.X_test).shape == (63, 2)


def test_splits_are_fresh_and_repeatable():
    one, two = QUICK.split("Ionosphere", 0), QUICK.split("Ionosphere", 1)
    assert not np.array_equal(one.X_train, two.X_train)
    np.testing.assert_array_equal(one.X_train, Lab().split("Ionosphere", 0).X_train)
    rows, test = one.unit_rows
    assert rows.min() == 0
    assert rows.max() == 1
    assert len(rows) == 245
    assert len(test) == 106


def test_gamma_is_chosen_for_kernels_only():
    split = QUICK.split("XOR")
    assert choose_gamma("SPCA", 1, split, QUICK, 0) is None
    gamma = choose_gamma("KSPCA", 1, split, QUICK, 0)
    assert gamma == choose_gamma("KSPCA", 1, split, QUICK, 0)
    assert 0.05 < gamma < 20


def test_the_same_seed_gives_the_same_numbers():
    def numbers():
        task = next(t for t in visualisation.tasks(QUICK) if t.name.endswith("Sonar/KSRP"))
        return task.run()

    assert numbers() == numbers()


def test_xor_with_labels_and_with_noise_on_them():
    records = pd.DataFrame(classification._small(QUICK, "XOR", 0))
    mean = records.groupby(["device", "method", "k"]).accuracy.mean()
    assert min(mean["plain", "KSPCA", 2], mean["plain", "KSRP", 2]) >= 0.95
    assert max(mean["plain", "SPCA", 2], mean["plain", "SRP", 2]) < 0.65
    assert mean["label noise", "KSRP", 2] < 0.8  # L = I: what remains is a random sketch
    assert set(records.device) == {"plain", "label noise", "target_weight"}


def test_labels_as_written_stand_beside_the_exact_ones():
    records = classification._literal(QUICK, "XOR", 0, 1)
    assert [r["method"] for r in records] == ["SRP, sigma_Y = 1e-10", "KSRP, sigma_Y = 1e-10"]
    assert records[0]["accuracy"] < 0.65
    assert records[1]["accuracy"] > 0.9  # two classes: any two different numbers will do
    model = make_method("SRP" + LITERAL, 2, QUICK.split("XOR"), None, 0)
    assert model.label_map == "fourier"


def test_residual_knows_rotations_and_scales(rng):
    Z = rng.normal(size=(50, 4))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert procrustes_residual(3 * Z @ turn + 1, Z) < 1e-14
    wide = np.hstack([Z, np.zeros((50, 2))]) @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    assert procrustes_residual(wide, Z) < 1e-14
    assert procrustes_residual(Z + 1e-3 * rng.normal(size=Z.shape), Z) == pytest.approx(1e-3, rel=1)
    assert procrustes_residual(rng.normal(size=Z.shape), Z) > 0.5
    assert procrustes_residual(0 * Z, Z) == 1


# Claims --------------------------------------------------------------------------------------


def test_without_numbers_nothing_is_claimed():
    claims = judge({})
    assert len(claims) == len(RULES)
    assert {claim["verdict"] for claim in claims} == {UNKNOWN}


def classified(accuracies):
    return pd.DataFrame(
        [
            dict(dataset=d, method=m, device=v, k=k, run=0, accuracy=a, fit_seconds=1.0)
            for (d, m, v, k), a in accuracies.items()
        ]
    )


@pytest.mark.parametrize(("srp", "verdict"), [(0.88, HOLDS), (0.86, NO)])
def test_very_close_is_three_hundredths(srp, verdict):
    frame = classified({("MNIST", "SPCA", "plain", 9): 0.9, ("MNIST", "SRP", "plain", 9): srp})
    assert judge({"classification": frame})[0]["verdict"] == verdict


def test_very_close_counts_every_number_of_components():
    accuracies = {("MNIST", m, "plain", k): 0.9 for m in ("SPCA", "SRP") for k in (2, 9)}
    accuracies["MNIST", "SRP", "plain", 2] = 0.8
    claim = judge({"classification": classified(accuracies)})[0]
    assert claim["verdict"] == CAVEAT
    assert "up to 0.100 (k = 2, plain)" in claim["figure"]


def timed(*factors):
    """SPCA and KSPCA take `factor` times as long as SRP and KSRP, a factor for each n."""
    rows = [
        dict(method=m, n=100 * 2**i, way=way, seconds=seconds)
        for i, factor in enumerate(factors)
        for m in ("SPCA", "SRP", "KSPCA", "KSRP")
        for way, seconds in [
            ("formulas as written", factor if m in ("SPCA", "KSPCA") else 1.0),
            ("the authors' clock", 0.1),
            ("labelens", 0.5),
        ]
    ]
    return {"times": pd.DataFrame(rows)}


def of(sentence, frames):
    """The one claim with these words."""
    (claim,) = [claim for claim in judge(frames) if sentence in claim["sentence"]]
    return claim


@pytest.mark.parametrize(
    ("factors", "verdict"), [((8.0, 9.0), HOLDS), ((3.0, 8.0), CAVEAT), ((3.0, 4.0), NO)]
)
def test_speed_is_judged_at_every_size(factors, verdict):
    claim = of("5-20x", timed(*factors))
    assert claim["verdict"] == verdict
    assert f"as written: {factors[0]:.1f}x, {factors[1]:.1f}x" in claim["figure"]
    assert "labelens 1x" in claim["note"]


@pytest.mark.parametrize(("factor", "verdict"), [(30.0, HOLDS), (9.0, NO)])
def test_orders_of_magnitude_start_at_ten(factor, verdict):
    assert of("1-2 orders", timed(factor))["verdict"] == verdict


@pytest.mark.parametrize(("power", "verdict"), [(3, CAVEAT), (2, NO)])
def test_orders_of_magnitude_come_with_growth(power, verdict):
    growth = [
        dict(method=m, way=way, variable="n", size=n, seconds=1e-9 * n**p)
        for m, p in (("SPCA", power), ("SRP", 2), ("KSPCA", power), ("KSRP", 2))
        for way in ("formulas as written", "labelens")
        for n in (100, 200, 400)
    ]
    claim = of("orders of magnitude better time", timed(5.0) | {"complexity": pd.DataFrame(growth)})
    assert claim["verdict"] == verdict
    assert (power == 3) == ("100x at n = 2e+03" in claim["figure"])


@pytest.mark.parametrize("apart", [True, False])
def test_generalizing_compares_training_rows_with_test_rows(rng, apart):
    label = np.repeat(["a", "b"], 50)
    Z = rng.normal(size=(100, 2)) * 0.1 + (label == "b")[:, None]
    part = np.tile(["train", "test"], 50)
    if not apart:
        Z[part == "test"] = rng.normal(size=(50, 2))
    frame = pd.DataFrame(dict(dataset="XOR", method="SRP", part=part, label=label))
    frame[["z1", "z2"]] = Z
    claim = of("generalize", {"visualisation": frame.assign(plain=0.5)})
    assert claim["verdict"] == (HOLDS if apart else NO)


def test_the_page_of_claims_follows_from_the_tables():
    page = Path(__file__).parents[1] / "docs" / "paper" / "claims.md"
    if not page.exists():
        pytest.skip("docs/paper is not part of the source distribution")
    tables = page.parent / "tables"
    frames = {path.stem: pd.read_csv(path) for path in tables.glob("*.csv")}
    frames |= {path.stem: pd.read_parquet(path) for path in tables.glob("*.parquet")}
    assert page.read_text(encoding="utf-8") == claims_markdown(judge(frames))


# The command ---------------------------------------------------------------------------------


@pytest.fixture
def invoke(monkeypatch):
    monkeypatch.setattr(
        reproduce,
        "EXPERIMENTS",
        {n: reproduce.EXPERIMENTS[n] for n in ("claim1", "unlabelled", "classification")},
    )

    def no_mnist(*args, **kwargs):
        raise FileNotFoundError("no MNIST here")

    monkeypatch.setattr("paper.lab.load_mnist", no_mnist)
    return lambda *args: CliRunner().invoke(app, [*map(str, args)])


def test_command_writes_a_report_and_resumes(tmp_path, invoke, monkeypatch):
    out = tmp_path / "paper"
    first = invoke("--out", out, "--quick", "--only", "unlabelled")
    assert first.exit_code == 0, first.output
    assert "<html" in (out / "report.html").read_text()
    assert {p.name for p in (out / "tables").iterdir()} == {
        "unlabelled.csv",
        "unlabelled.parquet",
    }
    assert (out / "figures" / "unlabelled.png").exists()
    numbers = (out / "tables" / "unlabelled.csv").read_bytes()

    def fail(*args):
        raise AssertionError("run again")

    monkeypatch.setattr("paper.approximation._unlabelled", fail)
    assert invoke("--out", out, "--quick", "--only", "unlabelled").exit_code == 0
    assert (out / "tables" / "unlabelled.csv").read_bytes() == numbers


def test_interrupted_it_keeps_what_is_done(tmp_path, invoke, monkeypatch):
    def interrupt(lab, label_map):
        if label_map == "gaussian":
            raise KeyboardInterrupt
        return [dict(dataset="d", label_map=label_map, k=1, seed=0, n_classes=3, residual=0.5)]

    monkeypatch.setattr("paper.approximation._claim", interrupt)
    stopped = invoke("--out", tmp_path, "--quick", "--only", "claim1")
    assert stopped.exit_code == 130
    assert "goes on from here" in stopped.output
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert [json.loads(line).get("task") for line in lines] == [None, "claim1/orthogonal"]


def test_missing_mnist_is_told_and_the_rest_runs(tmp_path, invoke, monkeypatch):
    monkeypatch.setattr(classification, "_small", lambda *a: [])
    done = invoke("--out", tmp_path, "--quick", "--only", "classification")
    assert done.exit_code == 0, done.output
    assert "MNIST was left out. no MNIST here" in done.output
    assert "no MNIST here" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "nonsense"], "no experiment 'nonsense'"),
        (["--data", "/no/such/folder"], "There is no folder"),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_wrong_options_are_named(tmp_path, invoke, options, message):
    failed = invoke("--out", tmp_path, "--quick", *options)
    assert failed.exit_code != 0
    assert message in failed.output
    assert "Traceback" not in failed.output
