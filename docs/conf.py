"""The site: `make docs` builds it, offline and with warnings as errors."""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
import textwrap
from pathlib import Path

import matplotlib
from docutils import nodes
from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx import addnodes

import labelens

matplotlib.use("agg")
sys.modules["labelens.tl"] = labelens.tl  # an attribute, which autosummary imports as a module
ROOT = Path(__file__).parents[1]

project = "labelens"
author = "The labelens developers"
project_copyright = author
version = release = labelens.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # MathJax and its fonts are files of the site
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["gallery/**/*.ipynb", "gallery/GALLERY_HEADER.rst", "decisions"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # functions in sphinx_gallery_conf cannot be pickled

# Pages -------------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_exclude = ".linenos, .gp, .go"

# Pages of the repository root that are pages of the site too. Their stubs in docs/ link to them for
# readers of the repository; the site shows the page itself.
FROM_ROOT = {
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
}


def take_from_root(app, docname, source):
    if docname not in FROM_ROOT:
        return
    app.env.note_dependency(str(ROOT / FROM_ROOT[docname]))
    stubs = {page: f"{stub}.md" for stub, page in FROM_ROOT.items()}

    def moved(match):
        text, target = match.groups()
        if text == target:
            text = ""  # the title of the page is filled in
        if target.startswith("docs/"):
            target = target.removeprefix("docs/")
        elif not re.match(r"[a-z]+:|#", target):
            target = stubs.get(target, f"../{target}")
        return f"[{text}]({target})"

    page = (ROOT / FROM_ROOT[docname]).read_text()
    source[0] = re.sub(r"\[([^]]*)\]\(([^)]+)\)", moved, page)


def take_the_tour(app, docname, source):
    """Show the notebook as a page: text, code and saved outputs."""
    if docname != "tour":
        return
    notebook = ROOT / "notebooks" / "tour.ipynb"
    app.env.note_dependency(str(notebook))
    title, *cells = json.loads(notebook.read_text())["cells"]
    whence = "This page is a [notebook](../notebooks/tour.ipynb). Download it to run it."
    page = ["".join(title["source"]), whence]
    for cell in cells:
        words = "".join(cell["source"])
        page.append(words if cell["cell_type"] == "markdown" else f"```python\n{words}\n```")
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream":
                page.append(f"```text\n{''.join(output['text'])}```")
            else:
                picture = "".join(output["data"]["image/png"]).strip()
                described = cell["metadata"]["alt"]
                page.append(f"![{described}](data:image/png;base64,{picture})")
    source[0] = "\n\n".join(page)


def link_for_the_site(app, docname, source):
    """Pages link to files of the repository, so that a code host resolves every link.

    Scripts of the gallery become their pages here. Decisions are for contributors and are not on
    the site: links to them become text.
    """
    page = re.sub(r"\]\((?:\.\./)+examples/gallery/(\w+)\.py\)", r"](/gallery/\1.rst)", source[0])
    page = re.sub(r"\]\((?:\.\./)+examples/gallery\)", "](/gallery/index.rst)", page)
    source[0] = re.sub(r"\[([^]]+)\]\((?:[\w.]+/)*decisions/[\w.-]+\)", r"\1", page)


def keep_figures(app):
    """Copy the first figure of each gallery script that a page shows to docs/images."""
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    for name in set(re.findall(r"images/(plot_\w+)\.png", pages)):
        figure = ROOT / "docs" / "gallery" / "images" / f"sphx_glr_{name}_001.png"
        shutil.copyfile(figure, ROOT / "docs" / "images" / f"{name}.png")


# Reference ---------------------------------------------------------------------------------------

default_role = "code"  # single backticks in docstrings
smartquotes = False  # most quotes in docstrings are those of Python's strings
autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True

as_parameter = SphinxDocString._process_param


def as_written(self, name, words, fake_autosummary):
    """Use the attribute text of the class, where numpydoc prefers that of the property."""
    return as_parameter(self, name, words, fake_autosummary=False)


SphinxDocString._process_param = as_written

# `fit` and `transform` in docstrings usually mean the methods of an estimator.
PUBLIC = "|".join({*labelens.__all__} - {"fit", "transform"})


def link_names(app, what, name, obj, options, lines):
    """Link public names in backticks and pages named by their files."""
    for number, line in enumerate(lines):
        line = re.sub(rf"(?<![`:])`(labelens\.)?({PUBLIC})`(?!`)", r":obj:`~labelens.\2`", line)
        lines[number] = re.sub(r"docs/(\w+)\.md", r":doc:`/\1`", line)


# Gallery -----------------------------------------------------------------------------------------


def look(gallery_conf, name):
    """Reset matplotlib before every example."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(
        {
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.constrained_layout.use": True,
            "figure.dpi": 100,
            "savefig.dpi": 140,
            "font.size": 10,
            "axes.titlesize": 11,
        }
    )


sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "reset_modules": (look,),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "thumbnail_size": (480, 300),
    "show_signature": False,
    "min_reported_time": 0,
    "download_all_examples": False,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("labelens",),
    "matplotlib_animations": False,
    "write_computation_times": False,  # that page fetches its scripts from elsewhere
}

# Theme -------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "labelens"
html_static_path = ["_static"]
html_css_files = ["labelens.css"]
html_js_files = ["labelens.js"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "labelens"},
    "navbar_align": "left",
    "header_links_before_dropdown": 10,
    "show_nav_level": 1,
    "show_toc_level": 2,
    # Pages with wide tables have no sidebar.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "benchmarks": [],
        "paper/README": [],
        "paper/claims": [],
        "paper/code": [],
        "which": [],
        "index": [],
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_prev_next": False,
}
html_sidebars = {page: [] for page in ("index", "start", "tour")}  # on their own


def describe(app, pagename, templatename, context, doctree):
    """Set the title and description for search engines."""
    if pagename == root_doc:
        context["title"] = "Supervised dimensionality reduction"
    begins = (nodes.section, nodes.container, addnodes.desc_content)
    for words in doctree.findall(nodes.paragraph) if doctree else ():
        if isinstance(words.parent, begins):
            shown = html.escape(textwrap.shorten(words.astext(), 160, placeholder=" ..."))
            context["metatags"] += f'<meta name="description" content="{shown}" />'
            return


def setup(app):
    app.connect("autodoc-process-docstring", link_names, priority=900)  # after numpydoc
    app.connect("html-page-context", describe)
    app.connect("source-read", take_from_root)
    app.connect("source-read", take_the_tour)
    app.connect("source-read", link_for_the_site)
    app.connect("builder-inited", keep_figures, priority=900)  # after the gallery
