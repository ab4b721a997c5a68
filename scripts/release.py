"""Check that the library can be released: version, changelog, package contents, a clean install.

    python scripts/release.py [--version 1.2.3] [--keep FOLDER]

Builds the wheel from a copy of what is committed, looks inside, installs the wheel in a new
environment and runs it there. Publishes nothing.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Files without which an installed library does not work.
NEEDED = ("zslearn/__init__.py", "zslearn/py.typed", "zslearn/cli/__init__.py")
# Folders that belong to developers.
UNWANTED = ("tests/", "docs/", "examples/", "benchmarks/", "scripts/", "results/")
LARGEST_WHEEL_MB = 20


def own_version() -> str:
    """Return the version that the package declares."""
    text = (ROOT / "src" / "zslearn" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, flags=re.M)
    if found is None:
        sys.exit('src/zslearn/__init__.py has no line __version__ = "..."')
    return found[1]


def version_problems(version: str, wanted: str | None, changelog: str, citation: str) -> list[str]:
    """Return what is wrong with the version in the places that name it.

    Parameters
    ----------
    version : str
        What the package declares.
    wanted : str or None
        What is to be released; None takes the package's.
    changelog, citation : str
        Text of CHANGELOG.md and of CITATION.cff.
    """
    found = []
    if wanted is not None and wanted != version:
        found.append(f"the package is version {version}, not {wanted}")
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        found.append(f"version {version} is not of the form 1.2.3 or 1.2.3rc1")
    if not re.search(rf"^## {re.escape(version)}( |$)", changelog, flags=re.M):
        found.append(f"CHANGELOG.md has no section '## {version}'")
    cited = re.search(r"^version: *[\"']?([^\"'\s]+)", citation, flags=re.M)
    if cited is None or cited[1] != version:
        found.append(f"CITATION.cff names version {cited[1] if cited else 'none'}, not {version}")
    return found


def wheel_problems(names: list[str], metadata: str, version: str, extras: set[str]) -> list[str]:
    """Return what is wrong with the contents of a wheel.

    Parameters
    ----------
    names : list of str
        Paths in the wheel.
    metadata : str
        Text of its METADATA.
    version : str
        What it should be.
    extras : set of str
        Extras of pyproject.toml.
    """
    found = [f"the wheel lacks {name}" for name in NEEDED if name not in names]
    found += [f"the wheel holds {name}" for name in names if name.startswith(UNWANTED)]
    if not any(re.search(r"dist-info/.*LICENSE$", name) for name in names):
        found.append("the wheel lacks its LICENSE")
    facts = Parser().parsestr(metadata)
    if facts["Version"] != version:
        found.append(f"the wheel is version {facts['Version']}, not {version}")
    missing = extras - set(facts.get_all("Provides-Extra") or [])
    return found + [f"the wheel lacks the extra {extra}" for extra in sorted(missing)]


def build(folder: Path) -> Path:
    """Build the wheel of what is committed, and return its path."""
    source = folder / "source"
    source.mkdir()
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "x", "-C", str(source)], input=archive, check=True)
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel"]
    subprocess.run([*command, "--no-deps", "-w", str(folder), str(source)], check=True)
    return next(folder.glob("zslearn-*.whl"))


def inspect(wheel: Path, version: str) -> list[str]:
    """Return what is wrong with a wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        place = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(place).decode()
    found = wheel_problems(names, metadata, version, set(project["optional-dependencies"]))
    size = wheel.stat().st_size / 1e6
    if size > LARGEST_WHEEL_MB:
        found.append(f"the wheel has {size:.0f} MB, more than {LARGEST_WHEEL_MB}")
    return found


def try_out(wheel: Path, folder: Path, version: str) -> list[str]:
    """Install a wheel in a new environment, run it, and return what went wrong."""
    home = folder / "clean"
    venv.create(home, with_pip=True)
    binaries = home / "bin"
    pip = [str(binaries / "pip"), "--disable-pip-version-check", "-q", "install"]
    constraints = ["-c", str(ROOT / "constraints.txt")]
    trials = {
        "installation": [*pip, *constraints, str(wheel)],
        "zslearn --version": [str(binaries / "zslearn"), "--version"],
        "zslearn demo": [str(binaries / "zslearn"), "demo", "--json"],
        "scripts/smoke.py": [str(binaries / "python"), str(ROOT / "scripts" / "smoke.py")],
    }
    for name, command in trials.items():
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            return [f"{name} failed in a clean environment: {' '.join(last)}"]
        if name.endswith("--version") and version not in done.stdout:
            return [f"{name} prints {done.stdout.strip()!r}, not {version}"]
    return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", help="what is to be released; by default the package's own")
    parser.add_argument("--keep", type=Path, help="leave the wheel in this folder")
    options = parser.parse_args()
    version = own_version()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = version_problems(version, options.version, changelog, citation)
    with tempfile.TemporaryDirectory() as name:
        wheel = build(Path(name))
        found += inspect(wheel, version)
        found += try_out(wheel, Path(name), version)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / wheel.name).write_bytes(wheel.read_bytes())
    if found:
        sys.exit("not ready:\n" + "\n".join(f"- {problem}" for problem in found))
    print(f"zslearn {version} is ready: {wheel.name} installs and runs in a clean environment")


if __name__ == "__main__":
    main()
