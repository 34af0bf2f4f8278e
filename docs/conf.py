"""The site: `make docs` builds it, offline and with warnings as errors."""

from __future__ import annotations

import html
import json
import re
import textwrap
from pathlib import Path

import matplotlib
from docutils import nodes
from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx import addnodes

import labelens

matplotlib.use("agg")
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
    "sphinx-mathjax-offline",  # MathJax and its fonts as files of ours: nothing is fetched
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["gallery/**/*.ipynb", "gallery/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # functions in sphinx_gallery_conf cannot be pickled

# Pages -------------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_exclude = ".linenos, .gp, .go"

# Pages of the repository that are pages of the site too. Their stubs in docs/ link to them, for
# readers of the repository; here the stub is replaced by the page.
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
    """The notebook as a page: its words, its code, and what it showed when it was last run."""
    if docname != "tour":
        return
    notebook = ROOT / "notebooks" / "tour.ipynb"
    app.env.note_dependency(str(notebook))
    title, *cells = json.loads(notebook.read_text())["cells"]
    whence = "This page is [a notebook](../notebooks/tour.ipynb): take it along, and run it."
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
    """Attributes in the words of their class, where numpydoc prefers those of the property."""
    return as_parameter(self, name, words, fake_autosummary=False)


SphinxDocString._process_param = as_written

# Of the public names these are methods of every estimator too, and mostly those are meant.
PUBLIC = "|".join({*labelens.__all__} - {"fit", "transform"})


def link_names(app, what, name, obj, options, lines):
    """Docstrings name functions in backticks and pages by their files; the site links them."""
    for number, line in enumerate(lines):
        line = re.sub(rf"(?<![`:])`(labelens\.)?({PUBLIC})`(?!`)", r":obj:`~labelens.\2`", line)
        lines[number] = re.sub(r"docs/(\w+)\.md", r":doc:`/\1`", line)


# Gallery -----------------------------------------------------------------------------------------


def look(gallery_conf, name):
    """Every example starts from the same look, whatever the one before has set."""
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

# Looks -------------------------------------------------------------------------------------------

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
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "show_toc_level": 2,
    # Pages of wide tables have all the width there is.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "benchmarks": [],
        "gpu-results": [],
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
html_sidebars = {page: [] for page in ("index", "start", "tour", "how", "which")}  # on their own


def describe(app, pagename, templatename, context, doctree):
    """What search engines show of a page: its title, and how it begins."""
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
