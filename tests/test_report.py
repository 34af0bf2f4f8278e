"""How the experiments are shown: figures and the page that holds them."""

import re
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from labelens.experiments import alt, looks, report
from labelens.experiments import figures as drawing
from labelens.experiments import frames as tidy

HOSTILE = '<script>alert("x")</script>'
METHODS = ("SPCA", "KSPCA", "SRP", "KSRP")
WAYS = ("formulas as written", "the authors' clock", "labelens")


def table(columns, rows):
    return pd.DataFrame(list(rows), columns=columns.split())


def make_frames():
    """Small frames of every kind; one run in places, a flat and a proportional embedding."""
    draw = np.random.default_rng(0)
    panels = []
    for dataset in ("XOR", "Spirals", "Sonar"):
        for method in ("PCA", "KPCA", *METHODS):
            z = draw.normal(size=(12, 2))
            z[:, 1] *= {"SPCA": 0.0, "KSPCA": 1e-17}.get(method, 1.0)
            if method == "SRP":
                z[:, 1] = 2 * z[:, 0]
            panels += [
                (dataset, method, ("train", "test")[i % 2], "ab"[i % 3 % 2], *z[i], 0.875)
                for i in range(12)
            ]
    seconds = {"formulas as written": 4e-7, "the authors' clock": 2e-7, "labelens": 1e-7}
    return dict(
        visualisation=table("dataset method part label z1 z2 accuracy", panels),
        classification=table(
            "dataset method device k run accuracy fit_seconds",
            (
                (dataset, method, device, k, run, 0.5 + 0.04 * k, 1e-3 * k * (1 + run))
                for dataset, runs in (("XOR", 3), ("Ionosphere", 1), ("MNIST", 2))
                for method in METHODS
                for device in ("plain", "label noise", "target_weight")
                for k in (1, 2, 9)
                for run in range(runs)
            ),
        ),
        times=table(
            "method n way seconds",
            (
                (method, n, way, seconds[way] * n * (1 if "SR" in method else 3))
                for method in METHODS
                for way in WAYS
                for n in ((100, 400) if way != "labelens" else (100, 400, 1600))
                if way != "the authors' clock" or "SR" in method
            ),
        ),
        complexity=table(
            "method way variable size seconds",
            (
                (method, way, variable, size, 1e-6 * size ** (2 if way != "labelens" else 1))
                for method in METHODS
                for way in ("formulas as written", "labelens")
                for variable in "ndk"
                for size in (10, 20, 40)
            ),
        ),
        claim1=table(
            "dataset n_classes label_map k seed residual",
            (
                ("digits", 10, name, k, seed, 0.0 if name == "orthogonal" and k >= 9 else 0.5 / k)
                for name in ("orthogonal", "gaussian", "fourier")
                for k in (1, 9, 20)
                for seed in range(2)
            ),
        ),
        kernel_error=table(
            "dataset approximation n_features seed error",
            (
                ("Sonar", name, m, seed, m**-0.5)
                for name in ("fourier", "orthogonal", "fastfood", "nystroem")
                for m in (64, 256)
                for seed in range(2)
            ),
        ),
        unlabelled=table(
            "k seed method captured",
            (
                (k, seed, name, share * k)
                for name, share in (("PCA", 0.1), ("SRP without labels", 0.08))
                for k in (1, 5)
                for seed in range(2)
            ),
        ),
    )


def make_claims():
    return [
        dict(sentence=f"Claim {i}", where="3.2", figure="Figure 2", verdict=verdict, note="So.")
        for i, verdict in enumerate(report.VERDICTS)
    ]


@pytest.fixture(scope="module")
def frames():
    return make_frames()


@pytest.fixture(scope="module")
def figures(frames):
    return drawing.draw_all(frames)


@pytest.fixture(scope="module")
def full(tmp_path_factory, frames, figures):
    """The text of a page that has everything."""
    about = dict(seed=3, quick=True, versions=dict(numpy="2.1"), runs_of_mnist=[1, 2])
    notes = ["MNIST was not found."]
    return written(tmp_path_factory.mktemp("page"), frames, figures, make_claims(), about, notes)


class Page(HTMLParser):
    """Checks that tags balance, and keeps headings, text, images and links."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.images, self.tags = [], [], [], set()
        self.links, self.ids, self.words = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "img":
            self.images.append(attrs)
        if tag == "a":
            self.links.append(attrs["href"].removeprefix("#"))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)
        if self.open and self.open[-1] != "style":
            self.words += data


def written(tmp_path, frames, figures, claims=(), about=None, notes=()):
    path = tmp_path / "new" / "report.html"
    report.write_report(path, frames, figures, claims, about or {}, notes)
    return path.read_text(encoding="utf-8")


def words_of(figure):
    svg = drawing.render(figure, "svg").decode()
    return re.sub(r"<[^>]+>", "", svg)


def test_every_figure_shows_its_parts(figures):
    assert list(figures) == [
        "figure1-visualisation", "figure2-classification", "times", "complexity", "claim1",
        "kernel-error", "unlabelled",
    ]  # fmt: skip
    expected = {
        "figure1-visualisation": ("XOR", "Sonar", "KSRP, 1-NN 87.5%", "class a", "test row"),
        "figure2-classification": ("MNIST", "fit time", "KSPCA", "label noise", "target_weight"),
        "times": ("KSRP", "authors' clock", "labelens", "1,600"),
        "complexity": ("d, columns", "formulas as written", "SRP"),
        "claim1": ("digits", "orthogonal", "k = classes - 1"),
        "kernel-error": ("Sonar", "fastfood", "random features"),
        "unlabelled": ("PCA", "SRP without labels", "share of variance"),
    }
    for name, parts in expected.items():
        words = words_of(figures[name])
        assert [part for part in parts if part not in words] == [], name


def test_no_text_leaves_its_figure(figures):
    for name, figure in figures.items():
        figure.draw_without_rendering()
        inside = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert min(inside.x0, inside.y0, width - inside.x1, height - inside.y1) >= 0, name


def test_a_method_looks_the_same_everywhere(figures):
    looks = set()
    for name in ("figure2-classification", "complexity"):
        for legend in figures[name].legends:
            for line in legend.get_lines():
                if line.get_label() in METHODS:
                    looks.add((line.get_label(), line.get_color(), line.get_marker()))
    panels = figures["times"].axes
    looks |= {(ax.get_title(), ax.lines[0].get_color(), ax.lines[0].get_marker()) for ax in panels}
    assert len(looks) == len(METHODS) == len({look[1:] for look in looks})


def test_classes_differ_in_shape_and_test_rows_are_filled(figures):
    ax = figures["figure1-visualisation"].axes[0]
    train_a, train_b, test_a, test_b = ax.collections
    assert len(train_a.get_paths()[0]) != len(train_b.get_paths()[0])
    assert [len(part.get_facecolor()) for part in (train_a, train_b, test_a, test_b)] == [
        0,
        0,
        1,
        1,
    ]


def test_the_spread_of_a_single_run_is_zero(frames):
    one = frames["classification"].query("dataset == 'Ionosphere' and method == 'SRP'")
    spread = tidy.spread(one[one["device"] == "plain"], "k", "accuracy")
    assert spread["std"].tolist() == [0, 0, 0]
    assert spread["mean"].tolist() == pytest.approx([0.54, 0.58, 0.86])


def test_bands_on_logarithmic_axes_stay_positive():
    """A standard deviation above the mean would reach below zero."""
    ax = looks.new_figure(3, 3).subplots()
    runs = table("k run value", [(1, 0, 1.0), (1, 1, 1.0), (1, 2, 16.0), (2, 0, 1.0)])
    spread = tidy.spread(runs, "k", "value")
    looks.line(ax, spread, ("#000000", "o"), band="std", logs=True)
    heights = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == 1
    assert heights.max() == pytest.approx(6 + np.sqrt(75))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(2e-6, "2 µs"), (9.996e-4, "1 ms"), (0.9996, "1 s"), (0.25, "250 ms"), (4321.0, "4,321 s")],
)
def test_durations(seconds, shown):
    assert tidy.duration(seconds) == shown


def test_missing_frames_are_told(tmp_path, frames):
    hollow = {
        "visualisation": frames["visualisation"].iloc[:0],
        "classification": pd.DataFrame(),
        "times": frames["times"].assign(seconds=np.nan),
        "unlabelled": None,
    }
    figures = drawing.draw_all(hollow)
    assert len(figures) == 7
    assert all("no numbers for this figure" in words_of(figure) for figure in figures.values())
    page = Page(written(tmp_path, hollow, figures))
    assert page.words.count("This run has no numbers for this part") == 7
    assert page.images == []
    assert "No claims were checked" in page.words


def test_a_run_without_mnist_shows_the_rest(tmp_path, frames):
    fewer = {"classification": frames["classification"].query("dataset != 'MNIST'")}
    figures = drawing.draw_all(fewer)
    assert "MNIST" not in words_of(figures["figure2-classification"])
    page = Page(written(tmp_path, fewer, figures))
    assert "no numbers for it: MNIST." in page.words


def test_a_panel_that_was_not_measured_says_so(frames):
    two = frames["visualisation"].query("method in ('SRP', 'KSRP')")
    cut = two.query("dataset != 'Sonar' or method != 'KSRP'")
    figure = drawing.draw_all({"visualisation": cut})["figure1-visualisation"]
    assert words_of(figure).count("not measured") == 1


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


def test_the_same_numbers_give_the_same_files(figures):
    names = {"figure1-visualisation": "visualisation", "times": "times", "claim1": "claim1"}
    first = {name: drawing.render(figures[name], "svg") for name in names}
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.facecolor": "red"}):
        frames = make_frames()
        again = drawing.draw_all({source: frames[source] for source in names.values()})
        assert first == {name: drawing.render(again[name], "svg") for name in names}
        assert mpl.rcParams["font.size"] == 20
    assert drawing.render(figures["claim1"], "png") == drawing.render(again["claim1"], "png")
    # A second rendering does not move anything.
    assert drawing.render(again["claim1"], "svg") == first["claim1"]
    assert b"<dc:date>" not in first["claim1"]
    assert b"<text" in first["claim1"]


def test_save_writes_whole_files_or_none(tmp_path, figures, monkeypatch):
    one = {"unlabelled": figures["unlabelled"]}
    paths = drawing.save(one, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["unlabelled.png", "unlabelled.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    before = paths[0].read_bytes()

    def full_disk(*_):
        raise OSError("disk full")

    monkeypatch.setattr(drawing.os, "replace", full_disk)
    with pytest.raises(OSError, match="disk full"):
        drawing.save({"unlabelled": figures["times"]}, tmp_path / "new" / "folder")
    assert sorted(paths[0].parent.iterdir()) == paths
    assert paths[0].read_bytes() == before
