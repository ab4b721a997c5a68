"""Change one line of the library at a time, and say which changes the tests notice.

    python scripts/mutants.py [--only core,...] [--write]

The changes are the rows of tests/mutants.md: a file, a piece of one line, what takes its place, the
tests to run, which must pass without it. They run in a copy of the tree up to the first failure,
in a fork of a process that has imported numpy, scikit-learn and pytest already. --write fills the
last column.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "mutants.md"
SECONDS = 900  # a mutant that never ends is noticed as well
HEAVY = ("hypothesis", "pandas", "pytest", "sklearn.pipeline", "starlette.testclient")
ROW = re.compile(r"^\| ([\w./]+\.py) \| `(.+?)` \| `(.+?)` \| ([^|]+) \| *([^|]*?) *\|$", re.M)


class Mutant(NamedTuple):
    """A change of one place, the tests that should notice, and whether they did."""

    file: str
    old: str
    new: str
    tests: str
    noticed: str

    @property
    def line(self) -> str:
        """The row of the table."""
        old, new = (code.replace("|", "\\|") for code in (self.old, self.new))
        return f"| {self.file} | `{old}` | `{new}` | {self.tests} | {self.noticed} |"


def mutants() -> list[Mutant]:
    """Return the rows of the table; each piece must be in its file exactly once."""
    found = []
    for row in ROW.findall(TABLE.read_text(encoding="utf-8")):
        mutant = Mutant(*(cell.replace("\\|", "|") for cell in row))
        source = ROOT / "src" / "zslearn" / mutant.file
        if (times := source.read_text(encoding="utf-8").count(mutant.old)) != 1:
            sys.exit(f"{mutant.file} has {mutant.old!r} {times} times, not once; mend {TABLE.name}")
        found.append(mutant)
    return found


def copied(folder: Path) -> Path:
    """Copy what tests need, and return the copy."""
    copy = folder / "tree"
    copy.mkdir()
    unwanted = shutil.ignore_patterns("__pycache__", "_build", "auto_examples")
    for name in ("src", "tests", "examples"):
        shutil.copytree(ROOT / name, copy / name, ignore=unwanted)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, copy / name)
    for name in ("docs", "scripts", "results"):
        (copy / name).symlink_to(ROOT / name)
    return copy


def run(copy: Path, tests: str, log: Path) -> int:
    """Run tests in this process, which is a fork, and return pytest's exit code."""
    os.chdir(copy)
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    sys.path[:0] = [str(copy / "src"), str(copy)]
    os.environ |= {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    signal.alarm(SECONDS)
    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
    names = [f"tests/{name}" for name in tests.split()]
    return int(importlib.import_module("pytest").main([*options, *names]))


def tested(copy: Path, tests: str, log: Path) -> int:
    """Run tests of the copy in a fork, and return the exit code: 0 if they all pass."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = run(copy, tests, log)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def is_noticed(copy: Path, mutant: Mutant, log: Path) -> bool:
    """Make a change, return whether the tests fail, and take it back."""
    path = copy / "src" / "zslearn" / mutant.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
    log.unlink(missing_ok=True)
    code = tested(copy, mutant.tests, log)
    path.write_text(whole, encoding="utf-8")
    if code in (3, 4, 5):  # pytest itself failed, or found no test
        sys.exit(f"{mutant.tests} could not be run:\n{log.read_text(errors='replace')[-2000:]}")
    return code != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only files that begin so, with commas between")
    parser.add_argument("--write", action="store_true", help="fill the table")
    given = parser.parse_args()
    chosen = [one for one in mutants() if one.file.startswith(tuple(given.only.split(",")))]
    for name in HEAVY:
        importlib.import_module(name)
    noticed, sound = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        for mutant in chosen:
            start, log = time.monotonic(), Path(folder, "log")
            if mutant.tests not in sound and tested(copy, mutant.tests, log):
                sys.exit(f"{mutant.tests} fail without any change; see\n{log.read_text()[-2000:]}")
            sound.add(mutant.tests)
            answer = is_noticed(copy, mutant, log)
            noticed += answer
            said = "noticed" if answer else "NOT NOTICED"
            passed = time.monotonic() - start
            print(f"{said:12}{passed:5.0f} s  {mutant.file}: {mutant.new}", flush=True)
            if given.write:
                filled = mutant._replace(noticed="yes" if answer else "**no**")
                table = TABLE.read_text(encoding="utf-8").replace(mutant.line, filled.line)
                TABLE.write_text(table, encoding="utf-8")
    print(f"{noticed} of {len(chosen)} are noticed")


if __name__ == "__main__":
    main()
