"""Features and signatures of any magnitude: answers are finite, or one line says what is wrong.

Every registered method and mapping is fitted on data multiplied by up to 1e±300, with and without
scaling to unit length. ``ZSLEARN_FUZZ_SCALES`` is the number of cases, 700 by ``make fuzz``.
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fuzz.estimators import KINDS, answers, fitted, problem, quiet, takes_norms
from zslearn.exceptions import ZslearnError
from zslearn.persistence import load, save

CASES = int(os.environ.get("ZSLEARN_FUZZ_SCALES", "150"))
# Where products of numbers, and products of these, begin to overflow or to vanish.
EXPONENTS = st.sampled_from([-160, -120, -100, -80, -40, 40, 80, 100, 120, 160]) | st.integers(
    -300, 300
)


def outcome(kind, norms, given, path):
    """Return what is wrong with how one estimator takes a problem; None if nothing is."""
    try:
        model = fitted(kind, given, norms=norms)
        found = answers(model, given)
    except ZslearnError as error:
        return f"several lines: {error}" if "\n" in str(error) else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not np.isfinite(found).all():
        return "answers that are not finite"
    save(model, path)
    again = answers(load(path), given)
    return None if np.allclose(again, found, rtol=1e-9, atol=0) else "other answers when loaded"


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_finite_or_one_line(kind, tmp_path_factory):
    path = tmp_path_factory.mktemp("scales") / "m.zsl"

    @settings(
        max_examples=-(-CASES // len(KINDS)),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(norms=st.booleans(), where=st.sampled_from(["X", "S", "XS"]), exponent=EXPONENTS)
    @example(norms=False, where="X", exponent=-160)
    @example(norms=False, where="S", exponent=120)
    def attack(norms, where, exponent):
        scaled = problem().scaled(**dict.fromkeys(where, 10.0**exponent))
        with quiet():
            assert outcome(kind, norms or not takes_norms(kind), scaled, path) is None

    attack()
