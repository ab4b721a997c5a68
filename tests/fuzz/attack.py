"""Damage the files of one reader again and again: ``python -m tests.fuzz.attack npy 0 1000``.

It runs in a process of its own with bounded memory (a fork of `tests.warm`), so that a crash is
seen and not suffered. One line of JSON per failed case is printed; the number of a case is the seed
that makes it again.
"""

import contextlib
import io
import json
import resource
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

from tests.fuzz.mutation import changed_json, damaged
from tests.fuzz.targets import TARGETS
from zslearn.exceptions import ZslearnError, ZslearnWarning

MEMORY = 3 * 2**30  # more is refused by the system
ENOUGH = 2**29  # a reader of files of some kilobytes needs no more


def main(name: str, *ranges: str) -> None:
    """Run the cases of every range, each with its first number and the one after its last."""
    pairs = zip(ranges[::2], ranges[1::2], strict=True)
    attack(name, [case for first, last in pairs for case in range(int(first), int(last))])


def attack(name: str, cases: list[int]) -> None:
    """Run some cases."""
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "files")
        folder.mkdir()
        target.write(folder)
        target.read(folder)  # imports everything; the whole files are read without complaint
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ZslearnWarning)  # says what was left out
        warnings.filterwarnings("ignore", "Reading `.npy`")  # a header as Python 2 wrote it
        warnings.filterwarnings("ignore", "Found an empty list of filters")  # of Zarr 2
        whole = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        for case in cases:
            sys.stderr.write(f"case {case}\n")
            rng = np.random.default_rng([case, sum(name.encode())])
            victim = list(whole)[rng.integers(len(whole))]
            victim.write_bytes(changed(victim.name, whole[victim], rng, case))
            before = peak_memory()
            problem = outcome(target.read, folder)
            if not problem and peak_memory() > before + ENOUGH:
                problem = f"took {(peak_memory() - before) >> 20} MB"
            if problem:
                found = {"case": case, "file": victim.name, "problem": problem}
                sys.stdout.write(json.dumps(found) + "\n")
            victim.write_bytes(whole[victim])


def changed(name: str, content: bytes, rng: np.random.Generator, case: int) -> bytes:
    """Damage a file; of descriptions in JSON every second case changes one value instead."""
    if case % 2 and name.endswith((".json", ".zarray", ".zgroup")):
        return changed_json(content, rng)
    return damaged(content, rng)


def peak_memory() -> int:
    """Return the most bytes of memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def outcome(read, folder: Path) -> str | None:
    """Return what is wrong with how a reader took the files; None for an answer or one line."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            read(folder)
    except ZslearnError as error:
        text = str(error)
        if printed.getvalue():
            return f"stdout: {printed.getvalue()!r}"
        return f"several lines: {text!r}" if "\n" in text.strip() else None
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)
        ours = [f"{Path(f.filename).name}:{f.lineno}" for f in where if "zslearn" in f.filename]
        return f"{type(error).__name__}: {str(error)[:200]} ({' '.join(ours[-4:])})"
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
