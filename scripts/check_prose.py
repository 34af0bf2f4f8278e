"""Find terms that docs/glossary.md replaces, in pages, docstrings, comments and messages.

    python scripts/check_prose.py            check all files
    python scripts/check_prose.py FILE ...   check these files

Code in Markdown (fences and backticks), addresses of links, dotted names and strings of one word
are not checked.
"""

from __future__ import annotations

import re
import sys
import tokenize
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A pattern, without regard to case, and what to write instead.
TERMS = {
    r"(?:labels?|classes|rows|are|is|be|kernels?) alike": "similar",
    r"\b(?:rooms?|houses?)\b": "module, package",
    r"(?<!-)\b(?:graphics? )?cards?(?!-|\[)\b": "GPU",
    r"\b(?:picture|pictures)\b": "plot, figure",
    r"\bin pieces\b": "out-of-core, in chunks",
    r"\bbeside\b": "compared with, next to",
    r"\bdrawn (?:data|rows|classes)\b|\bdata (?:are|is) drawn\b": "simulated data",
    r"\bkernel widths?\b|\bgamma is (?:a|the) width\b": "gamma, kernel coefficient",
    r"\bridges?\b(?! regression| penalty| I\b)": "shrinkage, regularization",
    r"\bby heats\b|\bheats\b": "successive halving",
    r"\b(?:has|have|had) not seen\b|\bnever s(?:aw|een)\b": "held-out rows",
    r"\brefuse[sd]?\b|\bcomplain(?:s|ed)?\b": "raises, rejects",
    r"\bwhat (?:the )?(?:held-out )?(?:rows|embeddings) tell\b|\btell of\b": "predict, accuracy",
    r"\bas long as one thinks\b|\bmood\b": "a literal statement",
    r"\b(?:nobody|whoever|somebody)\b": "the actor, or the passive voice",
    r"\b(?:has|have) to be\b": "must be",
    r"\blest\b": "so that ... not",
    r"\bknobs?\b": "parameter",
    r"\bon the way\b": "a literal statement",
    r"!\[[^\]\n]*\n": "an alternative text in one line; pages lose the space at the end of a line",
}
PLACES = ("*.md", "docs/**/*.md", "src/**/*.py", "examples/**/*.py", "examples/gallery/*.rst")
PLACES += ("benchmarks/*.py", "paper/*.py")
BUILT = ("docs/api/", "docs/gallery/")  # by `make docs`
NOT_PROSE = re.compile(
    r"""^```.*?^```|`[^`\n]*`|(?<=\])\([^)\s]*\)|class="[^"]*"|\{[^{}\n]*\}|(?<=\w)\.\w+|(?<=[\s(\[{=,:])(["'])\w+\1""",
    re.DOTALL | re.MULTILINE,
)


def prose_of(source: str) -> str:
    """Comments and strings of Python code, at their places."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}
    lines = [" " * len(line) for line in source.splitlines()]
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type in kinds:
            for number, text in enumerate(token.string.split("\n"), token.start[0] - 1):
                start = token.start[1] if number == token.start[0] - 1 else 0
                lines[number] = lines[number][:start] + text + lines[number][start + len(text) :]
    return "\n".join(lines)


def faults(text: str, python: bool = False) -> list[tuple[int, str, str]]:
    """Line, term found and the replacement, in the order of lines."""
    text = prose_of(text) if python else text
    blank = NOT_PROSE.sub(lambda match: re.sub(r"\S", " ", match[0]), text)
    return sorted(
        (blank.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), better)
        for term, better in TERMS.items()
        for match in re.finditer(term.replace(" ", r"\s+"), blank, re.IGNORECASE)
    )


def covered() -> list[Path]:
    """Files of the repository that are checked without arguments."""
    files = sorted({path for place in PLACES for path in ROOT.glob(place)})
    return [path for path in files if not str(path.relative_to(ROOT)).startswith(BUILT)]


def main(names: list[str]) -> int:
    found = [
        f"{path}:{line}: write {better!r} instead of {term!r}"
        for path in ([Path(name) for name in names] or covered())
        for line, term, better in faults(path.read_text(encoding="utf-8"), path.suffix == ".py")
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
