"""Measured figures of the pages come from benchmarks/results, and sentences quote these."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labelens.cli.app import app

ROOT = Path(__file__).parents[1]
BENCHMARKS = str(ROOT / "benchmarks")
sys.path.append(BENCHMARKS)  # last: it has names of the standard library
try:
    import publish

    for records in publish.RECORDS:
        importlib.import_module(records)
finally:
    sys.path.remove(BENCHMARKS)

PAGES = [str(page.relative_to(ROOT)) for page in publish.pages()]
WITH_PARTS = [page for page in PAGES if publish.PART.search((ROOT / page).read_text("utf-8"))]


@pytest.mark.parametrize("name", WITH_PARTS)
def test_tables_are_those_of_the_results(name):
    text = (ROOT / name).read_text("utf-8")
    assert publish.written(text) == text, "run python benchmarks/publish.py"


@pytest.mark.parametrize("name", WITH_PARTS)
def test_pages_name_the_script_of_each_table(name):
    text = (ROOT / name).read_text("utf-8")
    for found in publish.PART.finditer(text):
        section = text[max(0, text.rfind("\n## ", 0, found.start())) : found.start()]
        after = text[found.end() : found.end() + 300]
        assert re.search(r"make\s+bench|benchmarks/\w+\.py", section + after), found[2]


def test_all_results_are_on_a_page():
    named = {name for page in WITH_PARTS
             for _, name, *_ in publish.PART.findall((ROOT / page).read_text("utf-8"))}  # fmt: skip
    quoted = {name for _, _, *found in QUOTES for name, *_ in found}
    assert named | quoted == {file.stem for file in publish.RESULTS.glob("*.json")}


def test_a_changed_figure_is_found():
    text = (ROOT / "docs/guides/batches.md").read_text("utf-8")
    table = publish.PART.search(text)[3]
    changed = text.replace(table, re.sub(r"\d\.\d{3} \|$", "0.999 |", table, flags=re.M))
    assert changed != text
    assert publish.written(changed) == text


def test_printed_markdown_is_kept_and_written_again(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(publish, "RESULTS", tmp_path)
    say = publish.Printed()
    say("A sentence.\n")
    say.head("a", "b")
    say.row("1 | x".replace("|", r"\|"), 2.5)
    say.keep("some", {"cores": 2})
    assert publish.stored("some")["machine"] == {"cores": 2}
    assert publish.markdown(publish.stored("some")) == capsys.readouterr().out
    assert publish.cell("some", "1", "b") == "2.5"
    with pytest.raises(LookupError, match="no row 'c'"):
        publish.cell("some", "c", "b")


ACCURACY = "KSPCA, 4096 features, shrinkage=1e-3"
NCA = "SPCA fit, 2000 rows | NCA"
# A page, a sentence with figures left out, and where they are: results, row, column.
QUOTES = [
    ("docs/which.md", "1-NN: {} (`make bench`); linear supervised PCA {}",
     ("bench", ACCURACY, "ours"), ("bench", "SPCA (", "ours")),
    ("docs/which.md", "their accuracy is nearly the same (MNIST, 9 dimensions, 1-NN: {} and {})",
     ("bench", "KSRP, 1024 features (", "ours"), ("bench", "KSPCA, 1024 features (", "ours")),
    ("docs/which.md", "1000 classes take {} times as long as 10; `SupervisedPCA` {} times",
     ("bench", "SRP fit, 1000 classes", "ratio"), ("bench", "SPCA fit, 1000 classes", "ratio")),
    ("docs/guides/choosing.md", "{} with 1024 random features at `shrinkage=1`, and {} with 4096",
     ("bench", "KSPCA, 1024 features (", "ours"), ("bench", ACCURACY, "ours")),
    ("docs/umap.md", "{} s for 4000 rows of MNIST",
     ("bench", "KSRP fit, 4000 rows", "theirs")),
    ("docs/umap.md", "1-NN accuracy of {} in nine dimensions",
     ("bench", "supervised UMAP, fitted on 4000 rows", "ours")),
    ("docs/migration.md", "{} s for 2000 rows of MNIST, where `SupervisedPCA` takes {} ms",
     ("bench", NCA, "theirs"), ("bench", NCA, "ours")),
    ("docs/trust.md", "On {} data sets of noise", ("noise", "200", "data sets of noise")),
    ("docs/trust.md", "the report found evidence in {}", ("noise", "200", "found evidence")),
    ("docs/trust.md", "with a 1-NN accuracy of {} on average",
     ("noise", "200", "1-NN accuracy as fitted, mean")),
    ("docs/guides/batches.md", "on Vowel {} after `SupervisedPCA`",
     ("nuisance", "vowel, sex, 0.533 | SupervisedPCA | yes", "nuisance: 15-NN")),
    ("docs/guides/batches.md", "{} and {} after the kernel method",
     ("nuisance", "vowel, sex, 0.533 | KernelSupervisedPCA | yes", "nuisance: 15-NN"),
     ("nuisance", "vowel, speaker, 0.067 | KernelSupervisedPCA | yes", "nuisance: 15-NN")),
    ("docs/guides/batches.md", "on the simulated batches {}",
     ("nuisance", "simulated, 3 batches, 0.346 | SupervisedPCA | yes", "nuisance: 15-NN")),
    ("docs/guides/text.md", "and `TruncatedSVD` in {} ms",
     ("bench", "SRP fit | TruncatedSVD", "theirs")),
    ("docs/guides/text.md", "1-NN accuracy of test rows is {} for `select`",
     ("larger", "newsgroups, 11,293 x 42,254, 19 | high", "1-NN")),
    ("docs/guides/images.md", "is {} for `select`, {} for LDA and {} for PCA",
     ("larger", "mnist, 60,000 x 784, 9 | high", "1-NN"),
     ("bench", "LDA(eigen, shrinkage=1e-3) (", "ours"), ("bench", "PCA (", "ours")),
    ("docs/faq.md", "60,000 rows of MNIST took {} s",
     ("bench", "exact KSPCA fit, all of MNIST", "ours")),
    ("docs/guides/cells.md", "in {} s with a peak of {} GiB of memory",
     ("cells", "1,000,000", "seconds"), ("cells", "1,000,000", "peak memory")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "sentence", "found"), [(p, s, f) for p, s, *f in QUOTES])
def test_sentences_quote_the_results(name, sentence, found):
    text = " ".join((ROOT / name).read_text("utf-8").split())
    pattern = re.escape(sentence).replace(re.escape("{}"), r"(\d[\d.]*)")
    match = re.search(pattern, text)
    assert match, f"{name} has no sentence {sentence!r}"
    for quoted, place in zip(match.groups(), found, strict=True):
        measured = float(publish.cell(*place).partition(" ")[0])
        places = len(quoted.partition(".")[2])
        assert quoted == f"{measured:.{places}f}", f"{name}: {sentence}"


@pytest.mark.slow
def test_report_page_quotes_the_verdict_of_the_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["embed", str(ROOT / "examples" / "flowers.csv"), "--label", "species", "--json"]
    (label,) = json.loads(CliRunner().invoke(app, command).stdout)["labels"]
    quoted = " ".join((ROOT / "docs/guides/report.md").read_text("utf-8").replace(">", "").split())
    said = re.search(r"(\w+)\. (This embedding [^;]*), largest class ([\d.]+)\.", quoted)
    assert said[1] == label["grade"]
    assert label["verdict"].startswith(said[2])
    assert f"{label['majority']:.3f}" == said[3]
