"""Write constraints-lowest.txt: the oldest versions that pyproject.toml allows; --check compares.

    python scripts/lowest_versions.py [--check]

`make test-lowest` installs them in a separate environment and runs scripts/smoke.py.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "constraints-lowest.txt"


def lowest(requirements: list[str]) -> list[str]:
    """Return ``name==version`` of requirements with a lower bound."""
    found = [re.match(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)", text) for text in requirements]
    return sorted({f"{part[1]}=={part[2]}" for part in found if part})


def document() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return "".join(f"{line}\n" for line in lowest(project["dependencies"]))


def main() -> None:
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(document(), "utf-8")
    elif TARGET.read_text("utf-8") != document():
        sys.exit(f"{TARGET.name} is out of date; run python scripts/lowest_versions.py")


if __name__ == "__main__":
    main()
