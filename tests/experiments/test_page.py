"""The page that shows the experiments."""

import re

import pytest

from experiments.reading import Page, words_of, written
from experiments.small import make_claims, table
from paper import alt, report
from paper import figures as drawing
from paper import frames as tidy

HOSTILE = '<script>alert("x")</script>'


def test_the_page_reads_in_order(tmp_path, full):
    page = Page(full)
    starts = ("Supervised", "What this is", "What the paper claims", "Figure 1", "Figure 2",
              "Times three", "Table 1", "Claim 1", "Kernel", "No labels", "Settings")  # fmt: skip
    assert len(page.headings) == len(starts)
    assert all(h.startswith(s) for h, s in zip(page.headings, starts, strict=True))
    assert page.links == page.ids
    for words in ("numpy 2.1", "runs of mnist", "1, 2", "MNIST was not found.", "quick run"):
        assert words in page.words
    assert "quick run" not in Page(written(tmp_path, {}, {}, about={"quick": False})).words


def test_the_page_needs_nothing_else(full):
    page = Page(full)
    text = re.sub(r"base64,[^\"]+", "", full)  # which may hold any letters
    assert "http" not in text
    assert page.tags.isdisjoint({"script", "link", "iframe", "object"})
    assert "url(" not in text
    assert "@import" not in text
    kinds = [image["src"].partition(";")[0] for image in page.images]
    assert kinds == ["data:image/png", *["data:image/svg+xml"] * 6]
    assert "prefers-color-scheme: dark" in text


def test_texts_are_escaped(tmp_path, frames):
    hostile = {
        "visualisation": frames["visualisation"].assign(
            label=frames["visualisation"]["label"].map({"a": HOSTILE, "b": r"$\nonsense$ _b"}),
            dataset=HOSTILE,
        ),
        "times": frames["times"].assign(way=HOSTILE),
        "complexity": frames["complexity"].assign(method=HOSTILE),
        "kernel_error": frames["kernel_error"].assign(dataset="$x_$", approximation=HOSTILE),
    }
    figures = drawing.draw_all(hostile)
    claim = dict.fromkeys(("sentence", "where", "figure", "note"), HOSTILE)
    claim["verdict"] = "holds"
    text = written(tmp_path, hostile, figures, [claim], {HOSTILE: HOSTILE}, [HOSTILE])
    page = Page(text)
    assert "<script" not in text
    assert page.words.count(HOSTILE) >= 7
    assert HOSTILE in page.images[0]["alt"]
    for figure in figures.values():
        assert b"<script" not in drawing.render(figure, "svg")
    assert r"$\nonsense$ _b" in words_of(figures["figure1-visualisation"])


def test_verdicts_are_words_on_badges(full):
    badges = re.findall(r'<span class="badge (\w+)">([^<]+)</span>', full)
    assert [(kind, words) for words, kind in report.VERDICTS.items()] == badges
    assert "Holds: 1; holds with a caveat: 1; does not hold: 1; not measured: 1." in full
    for kind in report.VERDICTS.values():
        assert f".{kind} {{ background" in report.CSS


@pytest.mark.parametrize("write", [report.claims_markdown, report._claims])
def test_an_unknown_verdict_is_refused(write):
    with pytest.raises(ValueError, match=r"'maybe' on 'Claim 0' is none of: holds"):
        write([make_claims()[0] | {"verdict": "maybe"}])


def test_claims_as_markdown():
    claims = make_claims()[:2]
    claims[1]["note"] = "a | b\n<b>c</b>"
    assert report.claims_markdown(claims).splitlines()[2:] == [
        "Verdicts on 2 claims. Holds: 1; holds with a caveat: 1.",
        "",
        "| Verdict | The paper says | Where | Our figure | Note |",
        "|---|---|---|---|---|",
        "| **holds** | Claim 0 | 3.2 | Figure 2 | So. |",
        r"| **holds with a caveat** | Claim 1 | 3.2 | Figure 2 | a \| b &lt;b&gt;c&lt;/b&gt; |",
    ]


def test_alt_texts_hold_the_numbers(frames, full):
    expected = {
        "figure1-visualisation": "XOR: PCA 87.5%, KPCA 87.5%",
        "figure2-classification": "XOR, k = 9: SPCA plain 86.0% in 18 ms",
        "times": "SRP at n = 400: formulas as written 160 µs, the authors' clock 80 µs, labelens",
        "complexity": "KSRP, formulas as written: n 2.00, d 2.00, k 2.00; KSRP, labelens: n 1.00",
        "claim1": "digits: orthogonal 0.0e+00 at k = 9, orthogonal 0.0e+00 at k = 20, fourier 5",
        "kernel-error": "Sonar: orthogonal 0.062 with 256 features",
        "unlabelled": "PCA 50.0% at k = 5, SRP without labels 40.0% at k = 5",
    }
    texts = alt.alt_texts(frames)
    assert {name for name, part in expected.items() if part not in texts[name]} == set()
    assert [image["alt"] for image in Page(full).images] == list(texts.values())


def test_times_are_compared_at_a_shared_size(frames, full):
    cells = [re.sub("<[^>]+>", " ", row).split() for row in re.findall("<tr>.*?</tr>", full)]
    assert ["SRP", "400", "160", "µs", "80", "µs", "40", "µs", "4×", "2×"] in cells
    assert ["KSPCA", "400", "480", "µs", "–", "120", "µs", "4×", "–"] in cells
    # The authors' clock has no SPCA of its own: the formulas as written are what it covers.
    assert report.speedups(frames["times"])[:3] == [
        ["SPCA over SRP", "formulas as written", "400", "3×"],
        ["SPCA over SRP", "the authors' clock", "400", "6×"],
        ["SPCA over SRP", "labelens", "1,600", "3×"],
    ]


def test_slopes_stand_beside_table_1(full):
    row = re.search(r"<tr><td>SPCA</td><td>d</td>.*?</tr>", full).group()
    assert re.findall(r">([^<>]+)<", row) == ["SPCA", "d", "2", "O(d² k)", "2.00", "1.00"]
    assert tidy.exponent([5, 5], [1.0, 2.0]) is None


def test_a_slope_of_nothing_has_no_sign():
    rows = [("SRP", "labelens", "k", size, 1.0 - 1e-9 * size) for size in (1, 2, 4)]
    frame = table("method way variable size seconds", rows)
    assert tidy.exponent(frame["size"], frame["seconds"]) < 0
    assert tidy.slope(frame, "SRP", "labelens", "k") == "0.00"


def test_the_keyboard_reaches_all_that_scrolls(full):
    boxes = re.findall(r'<div class="(?:scroll|plot)"[^>]*>', full)
    assert len(boxes) == 12  # seven figures, five tables
    names = [re.search(r'tabindex="0" role="region" aria-label="(.+?)"', box)[1] for box in boxes]
    assert len(set(names)) == len(names)


def test_long_lists_of_numbers_are_folded():
    claim = dict(verdict="holds", sentence="s", where="1", note="n")
    page = report._claims([claim | {"figure": "a 1; b 2; c 3"}])
    assert "a 1; b 2; c 3" in page
    assert "more</summary>" not in page
    page = report._claims([claim | {"figure": "a 1; b 2; c 3; d 4; <e> 5"}])
    assert "a 1<details><summary>4 more</summary>" in page
    assert "<li>&lt;e&gt; 5</li>" in page
