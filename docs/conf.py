"""Settings of the documentation site; `make docs` builds it into docs/_build/html."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib
from sphinx_gallery.sorting import ExplicitOrder

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
matplotlib.use("Agg")

import zslearn  # noqa: E402

project = "zslearn"
author = "The zslearn developers"
copyright = author
version = release = zslearn.__version__

extensions = [
    "api_pages",
    "myst_parser",
    "numpydoc",
    "inherited_labels",
    "outside_links",
    "plain_underscores",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "_templates",
    "**sg_execution_times*",
    "auto_examples/**/*.ipynb",
    "**/GALLERY_HEADER.*",
]
templates_path = ["_templates"]
# Functions in settings are not cached.
# Attributes of one name in several classes are looked up by that name alone.
suppress_warnings = ["config.cache", "ref.python"]

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

SECTIONS = ["first_steps", "understanding", "data", "measuring", "clustering", "production"]
FIRST = [
    *("plot_shapes.py", "plot_few_texts.py", "plot_first_classifier.py", "plot_explain.py"),
    *("plot_two_sided_map.py", "plot_lam_path.py"),
]


def place(file_name: str) -> tuple[int, str]:
    """Return the place of an example in its section: some come first, the rest by name."""
    return (FIRST.index(file_name) if file_name in FIRST else len(FIRST), file_name)


sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "subsection_order": ExplicitOrder([f"../examples/{name}" for name in SECTIONS]),
    "within_subsection_order": place,
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"__init__\.py",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("zslearn",),
    "reference_url": {"zslearn": None},
    "inspect_global_variables": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 0,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "matplotlib_animations": False,
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
}
if tags.has("lite"):  # noqa: F821 - `make docs-lite`; see docs/contributors.md
    # Notebooks that run in the reader's browser, with the wheel of this tree. The interpreter,
    # Pyodide, comes from the address below when a reader starts one.
    extensions += ["jupyterlite_sphinx", "lite_notebooks"]
    sphinx_gallery_conf["jupyterlite"] = {
        "use_jupyter_lab": False,
        "notebook_modification_function": "lite_notebooks.install_first",
    }
    # The gallery links to its notebooks as if they were not in a folder of their own.
    jupyterlite_contents = [str(HERE / "jupyterlite_contents" / "auto_examples")]
    jupyterlite_ignore_contents = [r"/jupyterlite_contents/"]
    jupyterlite_dir = str(HERE / "_build" / "lite")
    jupyterlite_build_command_options = {
        "piplite-wheels": str(Path(os.environ["ZSLEARN_WHEEL"]).resolve())
    }
    jupyterlite_silence = True

html_theme = "pydata_sphinx_theme"
html_title = f"zslearn {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "zslearn"},
    "show_toc_level": 2,
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
html_sidebars = {
    page: [] for page in ("index", "getting_started", "how_it_works", "glossary", "paper")
}
