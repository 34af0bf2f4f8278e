"""Count what a reader of src/labelens has to hold in mind, and fail where it is too much.

    python scripts/layout.py          print the counts and every reach into private attributes
    python scripts/layout.py --check  fail if a count is above its limit

A reach is `other._name` where no module of the same package defines `_name`, unless `other` is
self, cls or super(). `docs/design.md` has the counts; a test compares them with this script.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "labelens"
LIMITS = {
    "entries at the top": 20,
    "lines of Python": 37_000,
    "class names used twice": 0,
    "reaches into private attributes of another package": 10,
    "files past 400 lines": 0,
}


def counts(source: Path = SOURCE) -> tuple[dict[str, int], list[str]]:
    """The figures by their names in LIMITS, and the reaches."""
    files = sorted(source.rglob("*.py"))
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    trees = {file: ast.parse(text) for file, text in texts.items()}
    package = {file: file.relative_to(source).parts[0] for file in files}
    paths = (p.relative_to(source) for p in source.rglob("*") if p.is_file())
    entries = {path.parts[0] for path in paths if "__pycache__" not in path.parts}
    classes = Counter(
        node.name for tree in trees.values() for node in ast.walk(tree) if is_class(node)
    )
    own: dict[str, set[str]] = {}
    for file, tree in trees.items():
        own.setdefault(package[file], set()).update(defined(tree))
    reaches = [
        f"{file.relative_to(source)}:{node.lineno} {ast.unparse(node)}"
        for file, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and not is_own(node.value)
        and node.attr not in own[package[file]]
    ]
    lengths = [len(text.splitlines()) for text in texts.values()]
    found = [
        len(entries),
        sum(lengths),
        sum(count > 1 for count in classes.values()),
        len(reaches),
        sum(length > 400 for length in lengths),
    ]
    return dict(zip(LIMITS, found, strict=True)), reaches


def is_class(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_own(value: ast.expr) -> bool:
    """Whether an attribute of this is one's own: of self, cls or super()."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def defined(tree: ast.Module) -> set[str]:
    """Names of functions, classes and attributes that a module defines or assigns."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if is_own(node.value):
                names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def main() -> None:
    found, reaches = counts()
    check = "--check" in sys.argv[1:]
    for name, number in found.items():
        if not check or number > LIMITS[name]:
            print(f"{name}: {number:,} (at most {LIMITS[name]:,})")
    if not check or found["reaches into private attributes of another package"] > 10:
        print("\n".join(reaches))
    if check and any(number > LIMITS[name] for name, number in found.items()):
        sys.exit(1)


if __name__ == "__main__":
    main()
