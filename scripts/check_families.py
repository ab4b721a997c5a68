"""Check that the default portfolio takes a member of the right kind on every synthetic family.

    python scripts/check_families.py [--seeds 1] [FAMILY ...]

One line per family and seed; the exit code is 1 if a member of another kind was taken.
"""

from __future__ import annotations

import argparse
import sys
import warnings

from zslearn.datasets import FAMILIES, make_family
from zslearn.exceptions import ZslearnWarning
from zslearn.zero_shot import AutoZeroShotClassifier

# What the name of a member of a kind holds. Quadratic discriminants and GFZSL model variances too,
# and trees see variances and products.
RIGHT = {
    "linear": ("rrzsl", "sae", "eszsl", "prototype-regression", "exem", "gfzsl"),
    "bayes": ("naive-bayes", "quadratic", "gfzsl", "quantile", "boosting"),
    "product": ("quadratic", "nystroem", "nearest-neighbors", "boosting"),
}


def checked(name: str, seed: int) -> bool:
    """Fit one family, print what was taken, and say whether it is of the right kind."""
    data = make_family(name, random_state=seed)
    split = data.split("standard")
    seen, unseen = data.train_rows(split), data.test_rows(split)
    kind = data.extra["best_kind"]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ZslearnWarning)
        clf = AutoZeroShotClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    warned = any("say nothing" in str(one.message) for one in told)
    right = warned if kind == "none" else any(part in clf.member_ for part in RIGHT[kind])
    reached = clf.score(data.X[unseen], data.y[unseen], candidates="unseen")
    sys.stdout.write(
        f"{'ok' if right else 'WRONG':<6}{name:<22}{kind:<8}{clf.member_}: reached {reached:.2f}, "
        f"expected {clf.expected_accuracy_}{', warned' if warned else ''}\n"
    )
    sys.stdout.flush()
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    names = given.families or list(FAMILIES)
    found = [checked(name, seed) for name in names for seed in range(given.seeds)]
    sys.exit(0 if all(found) else 1)


if __name__ == "__main__":
    main()
