"""The harmonic mean of seen and unseen accuracy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hmean

from zslearn.exceptions import InvalidInputError
from zslearn.metrics import harmonic_mean

shares = st.floats(0, 1)


@given(st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_equals_scipy(seen, unseen):
    assert harmonic_mean(seen, unseen) == pytest.approx(hmean([seen, unseen]), rel=1e-12)


@given(shares, shares)
def test_symmetric_and_between_the_smaller_and_the_mean(seen, unseen):
    value = harmonic_mean(seen, unseen)
    assert value == harmonic_mean(unseen, seen)
    assert min(seen, unseen) * (1 - 1e-12) <= value <= (seen + unseen) / 2 * (1 + 1e-12)


@given(shares)
def test_equal_values_are_their_own_mean_and_zero_wins(share):
    assert harmonic_mean(share, share) == share
    assert harmonic_mean(0.0, share) == 0.0


def test_tiny_values_do_not_underflow():
    assert harmonic_mean(1e-200, 1e-200) == 1e-200


@pytest.mark.parametrize("wrong", [-0.1, 1.5, 81.4, float("nan"), float("inf")])
def test_values_that_are_no_share_are_refused(wrong):
    with pytest.raises(InvalidInputError, match=r"^seen must be an accuracy between 0 and 1; got"):
        harmonic_mean(wrong, 0.5)
    with pytest.raises(
        InvalidInputError, match=r"^unseen must be an accuracy .* Divide a percentage"
    ):
        harmonic_mean(0.5, wrong)
