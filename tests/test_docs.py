"""The pages: their code runs and prints what they say, their commands work, their links lead on."""

import importlib.util
import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from itertools import takewhile

import pytest
from typer.testing import CliRunner

import labelens
from labelens.cli.app import app
from labelens.explorer.server import Explorer
from pages import (
    FENCE,
    GENERATED,
    IN_A_CONSOLE,
    ROOT,
    anchors,
    commands,
    lay_out,
    links,
    optional,
    pages,
    python_blocks,
    run_blocks,
)

GALLERY = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def missing(code):
    """Optional libraries that some code imports and that are not here."""
    named = optional(code)
    gone = sorted(name for name in named if importlib.util.find_spec(name) is None)
    if "pyspark" in named and not (shutil.which("java") or "JAVA_HOME" in os.environ):
        gone.append("Java 17")
    return gone


@pytest.mark.parametrize("page", [p for p in pages() if python_blocks(p) and p not in IN_A_CONSOLE])
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning")
def test_code_runs_and_prints_what_the_page_says(page, folder, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # a PATH may have another Python first
    blocks = python_blocks(page)
    # What follows a block that cannot run may need what it made.
    here = list(takewhile(lambda block: not missing(block.code), blocks))
    if any("pyspark" in block.code for block in here):
        # Spark reads and writes in the folder that its Java was started in.
        path = r'(read\.parquet|overwrite\(\)\.save|Model\.load)\("'
        there = rf'\1("{folder}/'
        here = [block._replace(code=re.sub(path, there, block.code)) for block in here]
    namespace = {"__name__": "page"}
    try:
        for block, printed in run_blocks(here, namespace):
            if block.printed is not None:
                assert printed == block.printed
    finally:
        for name, end in (("client", "close"), ("spark", "stop")):
            if name in namespace:
                getattr(namespace[name], end)()
    if len(here) < len(blocks):
        pytest.skip(f"some of it needs {', '.join(missing(''.join(b.code for b in blocks)))}")


@pytest.mark.parametrize("page", [page for page in pages() if commands(page)])
def test_commands_work(page, folder, monkeypatch):
    """Those of labelens are run; make must have its targets, and pip its extras."""
    monkeypatch.setattr(Explorer, "run", lambda self: self.stop())
    monkeypatch.setattr("webbrowser.open", lambda url: None)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for command in commands(page):
        program, *arguments = shlex.split(command)
        if program == "make":
            assert {word for word in arguments if "=" not in word} <= set(targets), command
        elif program == "pip":
            asked = re.findall(r"\[(.*?)\]", command)
            assert {extra for names in asked for extra in names.split(",")} <= set(extras), command
        elif program == "labelens":
            if "--onnx" in arguments and missing("export.onnx"):
                continue
            monkeypatch.setattr(sys, "argv", [program, *arguments])
            done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 0, f"{command}\n{done.output}"


@pytest.mark.parametrize("name", pages())
def test_links_lead_somewhere(name):
    for link in links(name):
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        there = os.path.relpath(target.resolve(), ROOT).replace(os.sep, "/")
        if f"{there}/".startswith(GENERATED):
            continue
        assert target.exists(), f"{name} points to {link}"
        if anchor:
            assert anchor in anchors(there), f"{name} points to {link}"


def test_the_built_site_is_checked(tmp_path):
    """`make docs` ends with it: whatever leads nowhere, or is fetched from elsewhere, is named."""
    (tmp_path / "two.html").write_text('<h1 id="here">Two</h1>')
    page = tmp_path / "one.html"
    check = [sys.executable, str(ROOT / "scripts" / "check_site.py"), str(tmp_path)]
    page.write_text('<a href="two.html#here">a</a> <a href="https://example.org">b</a>')
    assert subprocess.run(check).returncode == 0
    wrong = {
        '<a href="three.html">': "no such file",
        '<a href="two.html#there">': "no such anchor",
        '<img src="lost.png">': "no such file",
        '<script src="https://example.org/x.js">': "fetches",
    }
    for markup, complaint in wrong.items():
        page.write_text(markup)
        found = subprocess.run(check, capture_output=True, text=True)
        assert found.returncode == 1
        assert complaint in found.stdout
    page.write_text("")
    for number in range(90):
        (tmp_path / f"{number}.html").touch()
    assert subprocess.run(check, stdout=subprocess.DEVNULL).returncode == 1


def test_images_of_pages_are_in_the_repository():
    """Not only after a build, so that they show on a code host."""
    for page in pages():
        text = FENCE.sub("", (ROOT / page).read_text())
        for image in re.findall(r"!\[[^]]*\]\(([^)\s]+)\)", text):
            if not re.match(r"[a-z]+:", image):
                file = ((ROOT / page).parent / image).resolve()
                assert not file.relative_to(ROOT).as_posix().startswith(GENERATED), (page, image)
                assert file.exists(), (page, image)


def test_prose_check_finds_terms_of_the_glossary(tmp_path):
    check = [sys.executable, str(ROOT / "scripts" / "check_prose.py")]
    assert subprocess.run(check).returncode == 0
    planted = {
        "page.md": "Rows that are alike.\n\n`beside`\n\n```\nbeside\n```\n",
        "code.py": 'beside = 1\n\n\ndef fit():\n    """Fit.\n\n    On the\n    card.\n    """\n',
    }
    for name, text in planted.items():
        (tmp_path / name).write_text(text)
    found = subprocess.run([*check, *map(str, tmp_path.iterdir())], capture_output=True, text=True)
    assert found.returncode == 1
    lines = sorted(line.rpartition("/")[2] for line in found.stdout.splitlines())
    assert lines == [
        "code.py:8: write 'GPU' instead of 'card'",
        "page.md:1: write 'similar' instead of 'are alike'",
    ]


def test_tests_that_pages_name_are_there():
    for page in pages():
        for file, test in re.findall(r"(tests/[\w/]+\.py)::(\w+)", (ROOT / page).read_text()):
            assert f"def {test}(" in (ROOT / file).read_text(), f"{page} names {file}::{test}"


def test_every_page_of_the_site_can_be_reached():
    """Sphinx warns of pages in no table of contents; the reference must list every public name."""
    reference = (ROOT / "docs" / "api.md").read_text()
    for name in public():
        listed = name.removeprefix("labelens.").replace(".", r"\.")
        assert re.search(rf"^   {listed}$", reference, re.MULTILINE), name


def public():
    rooms = (labelens, labelens.label_kernels, labelens.plot, labelens.datasets, labelens.export)
    found = {
        f"{room.__name__}.{name}": getattr(room, name) for room in rooms for name in room.__all__
    }
    return found | {
        "labelens.persist.info": labelens.persist.info,
        "labelens.spark.fit": labelens.spark.fit,
        "labelens.spark.transform": labelens.spark.transform,
    }


@pytest.mark.parametrize("name", public())
def test_every_parameter_is_described(name):
    thing = public()[name]
    described = inspect.getdoc(thing) or ""
    outcome = described.startswith("The outcome of")  # functions make it; its fields are read
    section = re.search(
        rf"^{'Attributes' if outcome else 'Parameters'}\n-+\n(.*?)(?=^\w+\n-+$|\Z)",
        described,
        re.DOTALL | re.MULTILINE,
    )
    heads = re.findall(r"^(\*?\w[\w, ]*?)(?: : .*)?$", section[1] if section else "", re.MULTILINE)
    listed = {word.strip(" *") for head in heads for word in head.split(",")}
    assert set(inspect.signature(thing).parameters) == listed
    if name not in WITHOUT_EXAMPLE and not outcome:
        assert ">>> " in described


# They need what a doctest has not: a cluster, a download, files of another library.
WITHOUT_EXAMPLE = {
    "labelens.spark.fit",
    "labelens.spark.transform",
    "labelens.export.register",
}


def test_gallery_scripts_have_titles_and_figures():
    assert len(GALLERY) >= 12
    for script in GALLERY:
        _, title, underline, *_ = (text := script.read_text()).split("\n")
        assert underline == "=" * len(title), script.name
        assert "plt.show()" in text
        assert not re.search(r"shared|https?:|fetch_|load_mnist", text), script.name


@pytest.mark.long  # `make docs` runs them too
@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_gallery_runs(script, tmp_path):
    run = [sys.executable, str(script)]
    subprocess.run(run, check=True, cwd=tmp_path, env=os.environ | {"MPLBACKEND": "agg"})
