"""Check a built site: links and anchors inside lead somewhere, nothing is loaded from elsewhere.

    python scripts/check_site.py docs/_build/html

A link that a reader may click can lead anywhere; a style, script, font or picture may not.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose address the browser fetches without being asked.
LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("embed", "src"),
    ("object", "data"),
}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect"}
IN_STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""")


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors it offers."""

    path: Path
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        text = self.path.read_text(encoding="utf-8")
        self.feed(text)
        self.loaded += IN_STYLE.findall(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, loads or names."""
        values = {name: value for name, value in attrs if value is not None}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        for name, value in values.items():
            if (tag, name) in LOADED:
                self.loaded.append(value)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and LOADED_LINKS & set(values.get("rel", "").split()):
            self.loaded.append(values.get("href", ""))


@cache
def page_of(path: Path) -> Page:
    """Read a page once."""
    return Page(path)


def is_outside(address: str) -> bool:
    """Whether an address leaves the site."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def dead(page: Page, root: Path, address: str) -> str | None:
    """Return why an address inside the site leads nowhere, or None."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
    if not target.is_relative_to(root):
        return "leaves the site"
    if not target.is_file():
        return "no such file"
    wanted = unquote(parts.fragment)
    if target.suffix == ".html" and wanted and wanted not in page_of(target).anchors:
        return "no such anchor"
    return None


def pages_of(root: Path) -> list[Path]:
    """Return the pages of a site, without templates among the theme's files."""
    return sorted(path for path in root.rglob("*.html") if "_static" not in path.parts)


def problems(root: Path) -> list[str]:
    """Return one line for everything that is wrong with a site."""
    found: list[str] = []
    for path in pages_of(root):
        page, name = page_of(path), path.relative_to(root)
        outside = [address for address in page.loaded if is_outside(address)]
        found += [f"{name}: loads {address}" for address in outside]
        for address in sorted({*page.links, *page.loaded} - set(outside)):
            reason = dead(page, root, address)
            if reason:
                found.append(f"{name}: {address}: {reason}")
    for path in sorted(root.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(root)}: loads {a}" for a in IN_STYLE.findall(text)]
    return found


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1], "index.html").is_file():
        sys.exit("usage: python scripts/check_site.py FOLDER, with a built site in FOLDER")
    root = Path(sys.argv[1]).resolve()
    found = problems(root)
    if found:
        sys.exit("\n".join(found))
    pages = pages_of(root)
    links = sum(len(page_of(path).links) for path in pages)
    print(f"{len(pages)} pages, {links} links: all inside work, nothing is loaded from outside")


if __name__ == "__main__":
    main()
