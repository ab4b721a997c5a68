"""Links to Markdown files outside of docs/ lead to the pages that include them."""

from __future__ import annotations

from sphinx.application import Sphinx

PAGES = {
    "../CONTRIBUTING.md": "contributors.md",
    "../CHANGELOG.md": "changelog.md",
    "../SECURITY.md": "security.md",
}


def point_inside(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the addresses in the text of a page."""
    for outside, inside in PAGES.items():
        source[0] = source[0].replace(f"]({outside}", f"]({inside}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page before it is parsed."""
    app.connect("source-read", point_inside)
    return {"parallel_read_safe": True}
