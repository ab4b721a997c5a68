"""Check that the library can be released: version, changelog, package contents, a clean install.

    python scripts/release.py [--version 1.2.3] [--keep FOLDER]

Builds sdist and wheel from what is committed, twice, and the wheel once more from the sdist; looks
inside; installs the wheel in a new environment without extras and runs it there. Publishes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# Files without which an installed library does not work.
NEEDED = ("zslearn/__init__.py", "zslearn/py.typed", "zslearn/cli/__init__.py")
# Folders that belong to developers.
UNWANTED = ("tests/", "docs/", "examples/", "benchmarks/", "scripts/", "results/")
LARGEST_WHEEL_MB = 6
# What builds and what looks at the metadata; each in the environment "tools".
TOOLS = ("hatchling>=1.26", "twine>=6")
# A model of 0.x, with samples and the scores that its version gave them.
OLD = ROOT / "tests" / "persistence" / "old"
ANSWER_AS_THEN = """
import json, sys
import numpy as np
from zslearn import load

told = json.load(open(sys.argv[2]))
scores = load(sys.argv[1]).decision_function(np.array(told["X"]))
np.testing.assert_allclose(scores, told["calibrated"]["scores"], atol=1e-9)
"""


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
    if re.search(rf"^## {re.escape(version)} \(unreleased\)", changelog, flags=re.M):
        found.append(f"CHANGELOG.md has no date at {version}")
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


def run(command: list[str], **options: Any) -> str:
    """Run a command that must succeed, and return what it printed; a failure ends this program."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def environment(home: Path, *packages: str) -> Path:
    """Make an environment with some packages, and return its folder of programs."""
    venv.create(home, with_pip=True)
    pip = [str(home / "bin" / "pip"), "--disable-pip-version-check", "-q", "install"]
    run([*pip, "-c", str(ROOT / "constraints.txt"), *packages])
    return home / "bin"


def build(folder: Path, tools: Path) -> tuple[Path, Path, list[str]]:
    """Build sdist and wheel of what is committed; return both, and what differs between builds."""
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    python = [str(tools / "python"), "-m", "hatchling", "build", "-d"]
    made: list[dict[str, str]] = []
    for name in ("first", "second"):
        source = folder / name / "source"
        source.mkdir(parents=True)
        subprocess.run(["tar", "x", "-C", str(source)], input=archive, check=True)
        run([*python, str(folder / name)], cwd=source, env=os.environ | {"TZ": name})
        files = [path for path in (folder / name).iterdir() if path.is_file()]
        made.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files})
    found = [f"two builds of {name} differ" for name in made[0] if made[0][name] != made[1][name]]
    sdist, wheel = (next((folder / "first").glob(kind)) for kind in ("*.tar.gz", "*.whl"))
    (folder / "unpacked").mkdir()
    subprocess.run(["tar", "xzf", str(sdist), "-C", str(folder / "unpacked")], check=True)
    (again,) = (folder / "unpacked").iterdir()
    run([*python, str(folder / "third"), "-t", "wheel"], cwd=again)
    if (folder / "third" / wheel.name).read_bytes() != wheel.read_bytes():
        found.append("the wheel that is built from the sdist differs from the other")
    run([str(tools / "python"), "-m", "twine", "check", "--strict", str(sdist), str(wheel)])
    return sdist, wheel, found


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
    """Install a wheel in a new environment without extras, run it, and return what went wrong."""
    binaries = environment(folder / "clean", str(wheel))
    python, program = str(binaries / "python"), str(binaries / "zslearn")
    old = [str(OLD / "calibrated.zsl"), str(OLD / "answers.json")]
    trials = {
        "zslearn --version": [program, "--version"],
        "zslearn --version --verbose": [program, "--version", "--verbose"],
        "zslearn demo": [program, "demo", "--json"],
        "scripts/smoke.py": [python, str(ROOT / "scripts" / "smoke.py")],
        "a model file of 0.x": [python, "-c", ANSWER_AS_THEN, *old],
    }
    for name, command in trials.items():
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            return [f"{name} failed in a clean environment: {' '.join(last)}"]
        if "--version" in name and version not in done.stdout:
            return [f"{name} prints {done.stdout.strip()!r}, not {version}"]
    return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", help="what is to be released; by default the package's own")
    parser.add_argument("--keep", type=Path, help="leave sdist and wheel in this folder")
    options = parser.parse_args()
    version = own_version()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = version_problems(version, options.version, changelog, citation)
    with tempfile.TemporaryDirectory() as name:
        tools = environment(Path(name, "tools"), *TOOLS)
        sdist, wheel, differences = build(Path(name), tools)
        found += differences + inspect(wheel, version)
        found += try_out(wheel, Path(name), version)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            for made in (sdist, wheel):
                (options.keep / made.name).write_bytes(made.read_bytes())
    if found:
        sys.exit("not ready:\n" + "\n".join(f"- {problem}" for problem in found))
    print(f"zslearn {version} is ready: {sdist.name} and {wheel.name}")


if __name__ == "__main__":
    main()
