"""Import every module, run the demo and the public checks of some classifiers.

    python scripts/smoke.py

Needs nothing but zslearn and what it depends on; `make test-lowest` runs it with the oldest
versions that are allowed.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import subprocess
import sys
import warnings
from importlib.metadata import version

from sklearn.utils.estimator_checks import check_estimator

import zslearn
from zslearn.estimator_checks import check_zero_shot_classifier, expected_failed_checks
from zslearn.exceptions import MissingExtraError, UncalibratedWarning
from zslearn.zero_shot import make_classifier

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "click", "safetensors")
METHODS = ("sae", "prototype-regression", "eszsl", "rrzsl", "conse", "sje")


def import_all() -> int:
    """Import every module of the package; one behind an extra may say that it is missing."""
    names = [m.name for m in pkgutil.walk_packages(zslearn.__path__, "zslearn.")]
    for name in names:
        if name == "zslearn.__main__":
            continue
        with contextlib.suppress(MissingExtraError):
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as error:
                # Only what trains networks imports torch by itself, behind the door of `fit`.
                if error.name != "torch" or not name.startswith("zslearn.zero_shot.deep."):
                    raise
    return len(names)


def main() -> None:
    print(", ".join(f"{name} {version(name)}" for name in PACKAGES))
    print(f"{import_all()} modules imported")
    subprocess.run([sys.executable, "-m", "zslearn", "demo"], check=True)
    warnings.simplefilter("error")
    # The checks compare plain methods among all classes on purpose.
    warnings.simplefilter("ignore", UncalibratedWarning)
    for name in METHODS:
        check_zero_shot_classifier(make_classifier(name))
        print(f"{name}: checks of zslearn passed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of checks it skips
        clf = make_classifier("sae", lam=1.0)
        check_estimator(clf, expected_failed_checks=expected_failed_checks(clf))
    print("sae: checks of scikit-learn passed")


if __name__ == "__main__":
    main()
