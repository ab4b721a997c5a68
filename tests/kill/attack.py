"""Kill writers at random moments: ``python -m tests.kill.attack store 0 20``.

Each case starts a job in a child of its own, kills it, looks at what it left, and does so again
before the job may end. One line of JSON is printed for each case that failed, with its number,
which is its seed, and one with the number of kills.
"""

import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.kill.jobs import JOBS

KILLS = 4


def main(name: str, first: str, last: str) -> None:
    """Run the cases of one job; `tests.warm` calls it in a fork."""
    attack(name, int(first), int(last))


def attack(name: str, first: int, last: int) -> None:
    """Run the cases from `first` to `last` - 1."""
    job, kills = JOBS[name], 0
    with tempfile.TemporaryDirectory() as place:
        job.prepare(Path(place))
        truth, _ = unbroken(job, Path(place, "first"))
        again, seconds = unbroken(job, Path(place, "second"))  # nothing is slow for the first time
        assert again == truth
        case = first
        while case < last or (not kills and case < last + 10):
            if case >= last:  # each job had ended before its kill: it is quicker than measured
                seconds /= 2
            folder = Path(place, f"case{case}")
            folder.mkdir()
            rng = random.Random(case)
            try:
                kills += sum(one_kill(job, folder, rng.uniform(0, seconds)) for _ in range(KILLS))
                assert in_child(job.run, folder) == 0, "the job could not be ended after a kill"
                assert job.content(folder) == truth, "other bits than without a kill"
                assert not list(folder.rglob(".zslearn-*")), "temporary files were left"
            except Exception:
                problem = {"case": case, "problem": traceback.format_exc(limit=-2)}
                sys.stdout.write(json.dumps(problem) + "\n")
            case += 1
    sys.stdout.write(json.dumps({"kills": kills}) + "\n")


def unbroken(job, folder: Path) -> tuple[object, float]:
    """Return what a job gives that is not killed, and its seconds."""
    folder.mkdir()
    start = time.monotonic()
    assert in_child(job.run, folder) == 0
    return job.content(folder), time.monotonic() - start


def one_kill(job, folder: Path, seconds: float) -> bool:
    """Kill a job after so many seconds; return whether it was still running."""
    code = in_child(job.run, folder, seconds)
    assert code in (0, -signal.SIGKILL), f"the job ended with {code}"
    job.look(folder)
    return code != 0


def in_child(run, folder: Path, seconds: float | None = None) -> int:
    """Run a job in a child, which may be killed; return how it ended."""
    child = os.fork()
    if child == 0:
        try:
            run(folder)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
