import numpy as np
import pytest

from zslearn.core.nearest import Targets
from zslearn.exceptions import InvalidTypeError
from zslearn.zero_shot.candidates import with_row


def states(P, metric):
    targets = Targets.of(P, metric)
    return {"a": targets, "b": (P[:, 0].copy(), None)}


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("position", [0, 2, 4, 5])
def test_a_row_exchanged_or_added_is_as_if_prepared_with_the_others(metric, position):
    rng = np.random.default_rng(0)
    P, new, X = rng.random((5, 3)), rng.random((1, 3)), rng.random((7, 3)).astype(np.float32)
    before = states(P, metric)
    expected_before = before["a"].scores(X)
    changed = with_row(before, position, states(new, metric))
    wanted = states(np.vstack([P[:position], new, P[position + 1 :]]), metric)
    np.testing.assert_array_equal(changed["a"].scores(X), wanted["a"].scores(X))
    np.testing.assert_array_equal(changed["b"][0], wanted["b"][0])
    assert changed["b"][1] is None
    np.testing.assert_array_equal(before["a"].scores(X), expected_before)


def test_what_is_not_made_of_rows_is_refused():
    with pytest.raises(InvalidTypeError, match="arrays, tuples, dicts and dataclasses; got 'text'"):
        with_row("text", 0, "text")
