"""One page that shows every experiment: report.html, complete in itself."""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from labelens._base.files import replaced
from labelens._base.page import MISSING, facts, paragraph, scrolled, table

from .alt import alt_texts
from .figures import FIGURES, render
from .frames import Frame, compared, duration, in_order, measured, slope
from .looks import DATASETS, METHODS, VARIABLES, WAYS, Figure

TITLE = "Supervised Random Projections, measured again"

# What the paper's Table 1 says about a variable: its highest power, and the term that has it.
TABLE_1 = {
    "SPCA": {"n": (3, "O(n³)"), "d": (2, "O(d² k)"), "k": (1, "O(d² k)")},
    "KSPCA": {"n": (3, "O(n³)"), "d": (1, "O(d n²)"), "k": (1, "O(n² k)")},
    "SRP": {"n": (2, "O(d n²)"), "d": (1, "O(d n²)"), "k": (1, "O(k d n)")},
    "KSRP": {"n": (2, "O(k_x n²)"), "d": (1, "O(k_x d n)"), "k": (1, "O(k d n)")},
}
# Exact, randomised.
PAIRS = (("SPCA", "SRP"), ("SPCA, randomized SVD", "SRP"), ("KSPCA", "KSRP"))
VERDICTS = {
    "holds": "yes",
    "holds with a caveat": "partly",
    "does not hold": "no",
    "not measured": "unknown",
}

CSS = Path(__file__).with_name("style.css").read_text(encoding="utf-8")


def write_report(
    path: str | os.PathLike[str],
    frames: Mapping[str, Frame],
    figures: Mapping[str, Figure],
    claims: Sequence[Mapping[str, str]],
    about: Mapping[str, Any],
    notes: Sequence[str],
) -> None:
    """Write the whole page as one HTML file without scripts or outside resources."""
    alts = alt_texts(frames)

    def plot(name: str, caption: str) -> str:
        # A scatter of thousands of points is smaller as pixels.
        kind = "png" if name == "figure1-visualisation" else "svg"
        mime = {"png": "image/png", "svg": "image/svg+xml"}[kind]
        code = base64.b64encode(render(figures[name], kind)).decode()
        width, height = (round(96 * inches) for inches in figures[name].get_size_inches())
        # On a phone a wide figure scrolls instead of shrinking past reading.
        least = min(width, 700)
        return (
            f'<figure><div class="plot" tabindex="0" role="region" aria-label="Figure: {name}">'
            f'<img width="{width}" height="{height}" style="min-width: {least}px" '
            f'alt="{escape(alts[name])}" src="data:{mime};base64,{code}"></div>'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )

    sections = [("what", "What this is", _introduction(claims, about, notes))]
    sections.append(("claims", "What the paper claims, and what we found", _claims(claims)))
    for name, heading, lead, caption in SECTIONS:
        source = FIGURES[name][0]
        frame = measured(frames, source)
        body = paragraph(lead)
        if frame is None:
            body += paragraph("This run has no numbers for this part, so nothing is shown here.")
        else:
            body += _absent(source, frame) + plot(name, caption)
            if name == "times":
                body += _times_tables(frame)
            elif name == "complexity":
                body += _complexity_table(frame)
        sections.append((name, heading, body))
    sections.append(("settings", "Settings and machine", _settings(about)))
    contents = "".join(
        f'<li><a href="#{i}">{escape(heading)}</a></li>' for i, heading, _ in sections
    )
    body = "\n".join(
        f'<section id="{i}"><h2>{escape(heading)}</h2>\n{content}</section>'
        for i, heading, content in sections
    )
    page = skeleton(
        TITLE,
        CSS,
        f"""<header><h1>{TITLE}</h1></header>
<nav aria-label="Contents"><ol>{contents}</ol></nav>
<main>
{body}
</main>""",
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replaced(Path(path)) as file:
        file.write(page.encode())


def claims_markdown(claims: Sequence[Mapping[str, str]]) -> str:
    """The claims as a Markdown page."""
    lines = ["# The paper's claims, one by one", "", _tally(claims), ""]
    if claims:
        lines += [
            "| Verdict | The paper says | Where | Our figure | Note |",
            "|---|---|---|---|---|",
        ]
    for claim in claims:
        _check_verdict(claim)
        cells = (claim[part] for part in ("verdict", "sentence", "where", "figure", "note"))
        plain = (" ".join(escape(cell, quote=False).split()) for cell in cells)
        verdict, *rest = (cell.replace("|", "\\|") for cell in plain)
        lines.append(f"| {' | '.join([f'**{verdict}**', *rest])} |")
    return "\n".join(lines) + "\n"


# Of every figure: name, heading, what to look at, and how to read it.
SECTIONS = (
    (
        "figure1-visualisation",
        "Figure 1: the data sets in two dimensions",
        "Look for classes that lie apart, and for test rows that fall where the training rows of "
        "their class are.",
        "Every panel is one method on one data set; its title gives the accuracy of 1-NN on the "
        "test rows. Colour and shape tell the classes apart; training rows are hollow, test rows "
        "filled. Two classes span one direction. To show a second axis, the supervised methods "
        "use target_weight = 0.9, which adds variance.",
    ),
    (
        "figure2-classification",
        "Figure 2: accuracy and fit time against k",
        "Look at how close SRP comes to SPCA, and KSRP to KSPCA, above, and at what each costs, "
        "below.",
        "Lines are means over the runs and bands are one standard deviation to either side. Colour "
        "and marker tell the method. The style of the line tells where directions beyond the "
        "number of classes less one come from: solid, none are added; dashed, noise on the "
        "labels, by the paper's formulas as written; dotted, a target_weight below one. Time is on "
        "a logarithmic axis.",
    ),
    (
        "times",
        "Times three ways",
        "Look at how far apart the lines of one panel lie: the cost of a method depends on how it "
        "is computed, and on which part of it is timed.",
        "Medians over repeats on logarithmic axes. Dotted: the paper's formulas computed as they "
        "are written, with n x n matrices. Dashed: only the part of them that the authors' "
        "published script times. Solid: a whole fit by labelens.",
    ),
    (
        "complexity",
        "Table 1: how the cost grows",
        "Compare the power that Table 1 of the paper states with the slope that was measured.",
        "Medians over repeats on logarithmic axes, where a power is the slope of a line. Dotted: "
        "the formulas as written. Solid: labelens.",
    ),
    (
        "claim1",
        "Claim 1: SRP is SPCA scaled by the square root of its singular values",
        "Look for the k at which the residual falls to rounding error: from there on the two "
        "embeddings are the same.",
        "Lines are means over seeds and bands reach from the smallest to the largest. The residual "
        "is what remains between the two embeddings after the best rotation and scale; zero is "
        "drawn at 1e-16. The vertical line is at the number of classes less one.",
    ),
    (
        "kernel-error",
        "Kernel approximation",
        "Look at how many random features each map needs for the same error.",
        "Lines are means over seeds and bands reach from the smallest to the largest; both axes "
        "are logarithmic.",
    ),
    (
        "unlabelled",
        "No labels: SRP as a randomised PCA",
        "Look at how much of the variance SRP without labels keeps of what PCA keeps.",
        "Lines are means over seeds and bands are one standard deviation to either side.",
    ),
)


def _ratio(value: float) -> str:
    return f"{value:,.0f}×" if value >= 99.5 else f"{value:.2g}×"


def speedups(frame: Frame) -> list[list[str]]:
    """Methods, way, n and ratio: how much longer an exact method takes than its randomised one."""
    medians = frame.pivot_table("seconds", "n", ["method", "way"], aggfunc="median")
    rows = []
    for exact, randomised in PAIRS:
        for way in in_order(frame["way"], WAYS):
            # The authors time all of an exact method, which is the formulas as written.
            whole = "formulas as written" if way == "the authors' clock" else way
            if (exact, whole) not in medians or (randomised, way) not in medians:
                continue
            ratios = (medians[exact, whole] / medians[randomised, way]).dropna()
            if len(ratios):
                pair = f"{exact} over {randomised}"
                rows.append([pair, way, f"{ratios.index[-1]:,}", _ratio(ratios.iloc[-1])])
    return rows


def _times_tables(frame: Frame) -> str:
    ways = in_order(frame["way"], WAYS)
    others = [way for way in ways if way != "labelens" and "labelens" in ways]
    rows = []
    for method in in_order(frame["method"], METHODS):
        n, medians = compared(frame, method)
        seconds = [duration(medians[way]) if way in medians else MISSING for way in ways]
        ratios = [
            _ratio(medians[way] / medians["labelens"])
            if {way, "labelens"} <= set(medians)
            else MISSING
            for way in others
        ]
        rows.append([method, f"{n:,}", *seconds, *ratios])
    heads = ["Method", "n", *ways, *(f"{way}, over labelens" for way in others)]
    tables = paragraph("Median fit times at the largest n that every way reached.")
    tables += table(heads, rows, "Median fit times")
    faster = speedups(frame)
    if faster:
        text = paragraph(
            "At the largest n that both methods reached; the paper reports 5 to 20 times. The "
            "authors' clock covers all of an exact method."
        )
        shown = table(["Methods", "Way", "n", "Ratio of times"], faster, "What randomising saves")
        tables += _folded("What randomising saves", text + shown)
    return tables


def _complexity_table(frame: Frame) -> str:
    ways = in_order(frame["way"], WAYS)
    rows = []
    for method in in_order(frame["method"], METHODS):
        for variable in VARIABLES:
            power, term = TABLE_1.get(method, {}).get(variable, (MISSING, MISSING))
            slopes = [slope(frame, method, way, variable) for way in ways]
            rows.append([method, variable, str(power), term, *slopes])
    heads = ["Method", "Variable", "Power in Table 1", "Its term", *(f"{w}, slope" for w in ways)]
    note = (
        "Table 1 states bounds term by term, so a slope may be smaller where another term "
        "dominates. The text of section 3 gives SPCA O(d n²) where Table 1 gives O(n³). "
        "k_x is the number of random features of the data kernel."
    )
    name = "Powers stated and measured"
    return _folded(name, table(heads, rows, name) + paragraph(note))


def _folded(summary: str, markup: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{markup}</details>\n"


def _absent(source: str, frame: Frame) -> str:
    """A sentence about data sets that this run should show and does not."""
    expected = {
        "visualisation": {"XOR", "Spirals", "Sonar"},
        "classification": {"XOR", "Ionosphere", "MNIST"},
    }
    if source not in expected:
        return ""
    absent = in_order(expected[source] - set(frame["dataset"]), DATASETS)
    if not absent:
        return ""
    return paragraph(f"Not shown, because this run has no numbers for it: {', '.join(absent)}.")


def _introduction(
    claims: Sequence[Mapping[str, str]], about: Mapping[str, Any], notes: Sequence[str]
) -> str:
    text = paragraph(
        "This page repeats every experiment of the paper “Supervised Random Projections” and "
        "compares each of its claims with the measurements."
    )
    text += paragraph(_tally(claims))
    text += paragraph(
        "SPCA and KSPCA are supervised principal component analysis and its kernel version; SRP "
        "and KSRP are the randomised methods that the paper proposes in their place; k is the "
        "number of dimensions kept, and 1-NN is the nearest-neighbour classifier that judges them."
    )
    if about.get("quick"):
        text += (
            '<p class="notice">This was a quick run with fewer runs and smaller sizes, so its '
            "numbers are rough.</p>\n"
        )
    if notes:
        text += f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>\n"
    return text


def _tally(claims: Sequence[Mapping[str, str]]) -> str:
    if not claims:
        return "No claims were checked in this run."
    counts = Counter(claim["verdict"] for claim in claims)
    parts = [f"{verdict}: {counts[verdict]}" for verdict in VERDICTS if counts[verdict]]
    return f"Verdicts on {len(claims)} claims. {'; '.join(parts).capitalize()}."


def _check_verdict(claim: Mapping[str, str]) -> None:
    if claim["verdict"] not in VERDICTS:
        raise ValueError(
            f"The verdict {claim['verdict']!r} on {claim['sentence']!r} is none of: "
            f"{', '.join(VERDICTS)}."
        )


def _claims(claims: Sequence[Mapping[str, str]]) -> str:
    lead = "Read the verdicts from top to bottom; each names the figure that shows it."
    if not claims:
        return paragraph("No claims were checked in this run.")
    names = dict(verdict="Verdict", sentence="The paper says", where="Where",
                 figure="Our figure", note="Note")  # fmt: skip
    lines = []
    for claim in claims:
        _check_verdict(claim)
        verdict = claim["verdict"]
        cells = {part: escape(claim[part]) for part in names}
        cells["verdict"] = f'<span class="badge {VERDICTS[verdict]}">{escape(verdict)}</span>'
        first, *more = claim["figure"].split("; ")
        if len(more) > 3:
            cells["figure"] = escape(first) + _folded(
                f"{len(more)} more", f"<ul>{''.join(f'<li>{escape(m)}</li>' for m in more)}</ul>"
            )
        shown = (f'<td data-name="{names[part]}">{cell}</td>' for part, cell in cells.items())
        lines.append(f"<tr>{''.join(shown)}</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in names.values())
    rows = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return paragraph(lead) + f'<div class="claims">{scrolled(rows, "Claims")}</div>'


def _settings(about: Mapping[str, Any]) -> str:
    return paragraph("Look here for what another run needs to give the same numbers.") + facts(
        about
    )


def skeleton(title: str, css: str, body: str) -> str:
    """The whole page; `css` and `body` are markup, the title is text."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{css}</style>
</head>
<body>
{body}
</body>
</html>
"""
