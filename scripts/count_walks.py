"""Count how far a reader walks: functions of zslearn, and their files, that a call passes.

    python scripts/count_walks.py            # the figures
    python scripts/count_walks.py --list     # with the names, in the order they are first met

A walk counts every function of the package once, properties, lambdas and generator functions
included; what only a comprehension or a generator expression does is part of its function. The
calls are `SAEClassifier.fit` with λ chosen, and `predict` and `recognizer().rank` of 20 rows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import zslearn
from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import SAEClassifier

PACKAGE = Path(zslearn.__file__).parent
# Pieces of a function, not functions of their own.
PIECES = {"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<module>"}


def walk(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """Return file and name of each function that a call passes, in the order first met."""
    met: dict[CodeType, None] = {}

    def look(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and Path(code.co_filename).is_relative_to(PACKAGE):
            met.setdefault(code)

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [
        (str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname)
        for code in met
        if code.co_name not in PIECES
    ]


def main() -> None:
    """Print the three walks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="Name every function.")
    names = parser.parse_args().list
    data = make_zero_shot(random_state=0)
    rows = data.rows(data.split("standard").seen)
    X, y = data.X[rows], data.y[rows]
    clf = SAEClassifier(data.signatures, lam="cv").fit(X, y)  # imports are not walks
    recognizer = clf.recognizer()
    recognizer.rank(X)
    calls = {
        "fit": lambda: SAEClassifier(data.signatures, lam="cv").fit(X, y),
        "predict": lambda: clf.predict(data.X[:20]),
        "rank": lambda: recognizer.rank(data.X[:20]),
    }
    for name, call in calls.items():
        met = walk(call)
        print(f"{name:8s} {len(met):4d} functions in {len({file for file, _ in met}):3d} files")
        if names:
            print("\n".join(f"    {file}: {function}" for file, function in met))


if __name__ == "__main__":
    main()
