"""List what zslearn needs: a bill of materials (CycloneDX) and a page of licenses.

``python scripts/dependencies.py`` writes docs/licenses.md from pyproject.toml and the metadata of
the packages that are installed here; ``--sbom FILE`` writes the bill of materials instead.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licenses.md"
HEAD = """# Licenses of what zslearn needs

Made by `scripts/dependencies.py` from the metadata of installed packages: those of
`pip install zslearn` and of every extra, with all that they need themselves. zslearn is under the
license in LICENSE. `make sbom` writes the same list, with versions, as a bill of materials
(CycloneDX 1.5).

| package | license | needed by |
|---|---|---|
"""
TOOLS = ("test", "lint", "docs", "dev")


def main() -> None:
    """Write the page or the bill of materials."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sbom", type=Path, help="write a bill of materials to this file")
    target = parser.parse_args().sbom
    found = needed()
    if target is None:
        PAGE.write_text(HEAD + "".join(map(line, found.values())), encoding="utf-8")
    else:
        target.write_text(json.dumps(bill(found), indent=1) + "\n", encoding="utf-8")


def needed() -> dict[str, dict[str, Any]]:
    """Return every package that zslearn needs, directly or not, by name."""
    found: dict[str, dict[str, Any]] = {}
    waiting = [("zslearn", requirement) for requirement in own_requirements()]
    while waiting:
        owner, requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in found:
            found[name] = describe(name) if installed(name) else missing(name)
            waiting += [(name, more) for more in requirements(name, requirement.extras)]
        found[name]["needed by"].add(owner)
    return dict(sorted(found.items()))


def own_requirements() -> list[Requirement]:
    """Return what pyproject.toml lists, without the tools of developers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    groups = [project["dependencies"], *(extras[name] for name in extras if name not in TOOLS)]
    listed = [Requirement(text) for group in groups for text in group]
    return [requirement for requirement in listed if requirement.name != "zslearn"]


def requirements(name: str, extras: Iterable[str]) -> list[Requirement]:
    """Return what an installed package needs on this machine."""
    listed = (
        [Requirement(text) for text in metadata.requires(name) or []] if installed(name) else []
    )
    wanted = ("", *extras)
    return [
        one
        for one in listed
        if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in wanted)
    ]


def installed(name: str) -> bool:
    """Whether a package is installed here."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def describe(name: str) -> dict[str, Any]:
    """Return name, version and license of an installed package."""
    facts = metadata.metadata(name)
    classifiers = [c for c in facts.get_all("Classifier") or [] if c.startswith("License ::")]
    named = ", ".join(c.rpartition(" :: ")[2] for c in classifiers)
    first = (facts.get("License") or "").strip().partition("\n")[0]
    short = first if len(first) <= 60 else ""
    spoken = facts.get("License-Expression") or named or short or "see its page"
    return {
        "name": name,
        "version": facts["Version"],
        "license": re.sub(r"\s+", " ", spoken),
        "needed by": set(),
    }


def missing(name: str) -> dict[str, Any]:
    """Return what is known of a package that is not installed here."""
    unknown = "not installed where this page was made"
    return {"name": name, "version": None, "license": unknown, "needed by": set()}


def line(package: dict[str, Any]) -> str:
    """Return the row of one package."""
    owners = ", ".join(sorted(package["needed by"]))
    return f"| {package['name']} | {package['license'].replace('|', '/')} | {owners} |\n"


def bill(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the list in the form of CycloneDX."""
    own = metadata.version("zslearn")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": "zslearn", "version": own}},
        "components": [
            {
                "type": "library",
                "name": p["name"],
                "version": p["version"],
                "purl": f"pkg:pypi/{p['name']}@{p['version']}",
                "licenses": [{"license": {"name": p["license"]}}],
            }
            for p in found.values()
            if p["version"] is not None
        ],
    }


if __name__ == "__main__":
    main()
