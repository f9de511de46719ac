"""The documentation site: Sphinx with MyST and furo, over the Markdown files as they lie. `make site` builds it.

The source folder is the root of the repository, so that links between `docs/`, README.md and the other pages above it
work on a code host, in the site and in an editor. `toc.yml` has the navigation, `links.py` is about links to code.
"""

import gc
import sys
import tomllib
from pathlib import Path

SITE = Path(__file__).resolve().parent
ROOT = SITE.parents[1]
sys.path.insert(0, str(SITE))
gc.set_threshold(200_000)  # a build makes millions of nodes and keeps most: looking for garbage takes 15 % of its time

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

project = "Hopweave"
author = "Hopweave"
copyright = "the authors of Hopweave"  # Sphinx's own name
release = _PROJECT["version"]
language = "en"

extensions = ["myst_parser", "sphinx_external_toc", "links"]
root_doc = "docs/index"
include_patterns = ["docs/**", "*.md", "examples/README.md"]
exclude_patterns = [
    *(entry.name for entry in ROOT.iterdir() if entry.is_dir() and entry.name not in {"docs", "examples"}),
    "docs/site",
    "examples/*/**",
]
external_toc_path = "docs/site/toc.yml"
repository = _PROJECT["urls"]["Source"]

myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # pages may begin below the first level

html_theme = "furo"
html_title = "Hopweave"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
templates_path = ["templates"]
html_additional_pages = {"index": "redirect.html"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
