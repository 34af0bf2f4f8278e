"""Whether a wheel and an sdist hold what they should: `python scripts/check_dist.py FOLDER`."""

from __future__ import annotations

import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST_SDIST = 2 << 20  # bytes


def sources() -> set[str]:
    """The files of the package, as they are in the tree."""
    package = ROOT / "src" / "labelens"
    files = (path for path in package.rglob("*") if path.is_file())
    return {
        path.relative_to(package.parent).as_posix()
        for path in files
        if "__pycache__" not in path.parts
    }


def check_wheel(path: Path) -> None:
    with zipfile.ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        about = {name.partition(".dist-info/")[2] for name in wheel.namelist()} - {""}
    assert names == sources(), f"{path.name} and src differ in {names ^ sources()}"
    assert {"licenses/LICENSE", "entry_points.txt", "METADATA"} <= about, about


def check_sdist(path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {*project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]}
    wanted |= {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"}
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    found = {name.partition("/")[0] for name in names}
    assert found == wanted, f"{path.name} has {found ^ wanted} too many or too few"
    assert {f"src/{name}" for name in sources()} <= names
    size = path.stat().st_size
    assert size < LARGEST_SDIST, f"{path.name} has {size:,} bytes: what is in it?"


def main(folder: Path) -> None:
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    check_wheel(wheel)
    check_sdist(sdist)
    for path in (wheel, sdist):
        print(f"{path.name}: {path.stat().st_size:,} bytes, as it should be")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
