"""What is released, and by which steps: the Makefile, the workflows and pyproject.toml agree."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import labelens

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Extras of those who work on labelens, and all the others together.
# anndata has no release for pandas 3, with which all others are tried.
NOT_FOR_USERS = {"test", "torture", "bench", "docs", "dist", "all", "anndata"}


def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


def commands(path):
    return [step["run"] for job in jobs(path).values() for step in job["steps"] if "run" in step]


def makefile():
    return (ROOT / "Makefile").read_text()


def targets():
    """All that can be made: as make itself writes them, patterns filled in."""
    extras = re.search(r"^EXTRAS := (.*)$", makefile(), re.MULTILINE)[1].split()
    named = re.findall(r"^([\w -]+):(?!=)", makefile(), re.MULTILINE)
    return {target for line in named for target in line.split()} | {f"smoke-{x}" for x in extras}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_targets_of_the_makefile_and_nothing_else(path):
    assert commands(path)
    for command in commands(path):
        make, target = command.split(" ")
        assert make == "make"
        assert target in targets()


def test_what_ci_runs_is_in_the_workflow():
    ours = re.findall(r"^make (\S+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert ours
    assert {f"make {target}" for target in ours} <= set(commands(ROOT / ".github/workflows/ci.yml"))


def test_pythons_of_the_workflow_are_those_that_we_say():
    tested = jobs(ROOT / ".github/workflows/ci.yml")["tests"]["strategy"]["matrix"]["python"]
    said = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert tested == said
    assert PROJECT["requires-python"] == f">={said[0]}"


def test_the_lowest_versions_are_the_floors():
    extras = PROJECT["optional-dependencies"]
    installed = ("cli", "explore", "test", "anndata", "dask")
    named = PROJECT["dependencies"] + [one for extra in installed for one in extras[extra]]
    floors = {
        one.name: str(one.specifier) for one in map(Requirement, named) if one.name != "labelens"
    }
    pinned = {}
    for line in (ROOT / "constraints-lowest.txt").read_text().splitlines():
        if line.partition("#")[0].strip():
            one = Requirement(line)
            if one.marker is None or one.marker.evaluate({"python_version": "3.11"}):
                pinned[one.name] = Version(str(one.specifier).removeprefix("=="))
    for name, floor in floors.items():
        assert pinned[name] == Version(floor.removeprefix(">=")), name


def test_every_extra_is_tried():
    tried = set(runpy.run_path(str(ROOT / "scripts" / "smoke.py"))["EXTRAS"]) - {"none"}
    assert tried == set(PROJECT["optional-dependencies"]) - NOT_FOR_USERS
    assert {f"smoke-{extra}" for extra in tried} <= targets()


def test_every_user_extra_is_in_all():
    (everything,) = PROJECT["optional-dependencies"]["all"]
    named = set(re.search(r"\[(.*)\]", everything)[1].split(","))
    assert named == set(PROJECT["optional-dependencies"]) - NOT_FOR_USERS


def test_one_version():
    newest = re.search(r"^## (\S+) ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest == labelens.__version__.removesuffix(".dev0")
    elsewhere = [
        path
        for path in (ROOT / "src").rglob("*.py")
        if path.name != "__init__.py" and f'"{labelens.__version__}"' in path.read_text()
    ]
    assert elsewhere == []
    assert PROJECT["dynamic"] == ["version"]
