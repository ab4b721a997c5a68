"""A share of every class, and nothing twice."""

import numpy as np
import pytest

from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import stratified_holdout


def test_holds_out_the_share_of_every_class():
    y = np.repeat([0, 1, 2, 3], [10, 25, 2, 1])
    kept, held_out = stratified_holdout(y, share=0.2, random_state=0)
    assert np.bincount(y[held_out], minlength=4).tolist() == [2, 5, 1, 0]
    np.testing.assert_array_equal(np.sort(np.concatenate([kept, held_out])), np.arange(38))


def test_same_seed_same_rows_other_seed_others():
    y = np.repeat(["a", "b"], 50)
    first, again, other = (stratified_holdout(y, random_state=seed)[1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_every_sample_is_equally_likely():
    y = np.array([0, 1] * 10)
    drawn = [stratified_holdout(y, share=0.3, random_state=seed)[1] for seed in range(400)]
    shares = np.bincount(np.concatenate(drawn), minlength=20) / 400
    assert abs(shares - 0.3).max() < 0.1


@pytest.mark.parametrize("share", [0, 1, -0.1, "a", True])
def test_refuses_no_share(share):
    with pytest.raises(InvalidInputError, match="share must be a number above 0 and below 1"):
        stratified_holdout([0, 0, 1], share=share)
