"""What held-out classes tell: the choice, what it flatters, and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from zslearn.zero_shot.expectation import (
    FoldRanks,
    accuracy_among,
    choose_member,
    class_table,
    expect,
    optimism,
    standard_errors,
)


def test_the_first_member_about_as_good_as_the_leader_is_taken():
    rng = np.random.default_rng(0)
    first = rng.random(20)
    noisy = first + 0.02 + 0.3 * rng.standard_normal(20)
    assert choose_member(np.stack([first, first + 0.001], axis=1)) == 1  # no error at all
    assert choose_member(np.stack([first, noisy - noisy.mean() + first.mean() + 0.02], axis=1)) == 0
    assert choose_member(np.stack([first, noisy - noisy.mean() + first.mean() + 0.1], axis=1)) == 1
    assert choose_member(np.array([[0.2, 0.3]])) == 1


def test_the_table_of_classes_has_the_means_over_repeats_of_those_tested_by_all():
    one = [FoldRanks(np.array([0, 2]), np.array([[0.5, 0.5], [1.0, 0.0]]))] * 2
    other = [
        FoldRanks(np.array([0]), np.array([[0.2, 0.8]])),
        FoldRanks(np.array([0, 1]), np.array([[0.4, 0.6], [1.0, 0.0]])),
    ]
    np.testing.assert_allclose(class_table([one, other], 3), [[0.5, 0.3]])


def test_nothing_is_taken_off_where_there_is_no_choice():
    column = np.linspace(0, 1, 30)[:, None]
    assert optimism(column, 0) == 0.0
    clear = np.hstack([column, column + 5])
    assert optimism(clear, 1, n_draws=2000) < 0.01


def test_ranks_and_accuracies_among_fewer_candidates_are_those_of_an_enumeration():
    rng = np.random.default_rng(0)
    scores, truth = rng.standard_normal((40, 5)).round(1), rng.integers(0, 5, 40)
    fold = FoldRanks.of(scores, truth, np.arange(5))
    right = scores.argmax(axis=1) == truth
    np.testing.assert_allclose(fold.among(), [right[truth == c].mean() for c in np.unique(truth)])
    # Two candidates: the true class against each of the four others in turn.
    plain = rng.standard_normal((40, 5))
    fold = FoldRanks.of(plain, truth, np.arange(5))
    own = plain[np.arange(40), truth][:, None]
    wins = ((plain < own).sum(axis=1)) / 4
    by_hand = [wins[truth == c].mean() for c in np.unique(truth)]
    np.testing.assert_allclose(accuracy_among(fold.shares, 2), by_hand)
    np.testing.assert_allclose(accuracy_among(fold.shares, 5), fold.among())
    assert (accuracy_among(fold.shares, 9) <= fold.among()).all()
    # What a seen class has won is wrong among any number of candidates.
    lost = rng.random(40) < 0.5
    fold = FoldRanks.of(plain, truth, np.arange(5), lost)
    by_hand = [(wins * ~lost)[truth == c].mean() for c in np.unique(truth)]
    np.testing.assert_allclose(accuracy_among(fold.shares, 2), by_hand)


def drawn(rng, n_classes, n_folds):
    share = rng.beta(4, 3, n_classes)
    parts = np.split(rng.permutation(n_classes), n_folds)
    return [FoldRanks(part, np.stack([share[part], 1 - share[part]], axis=1)) for part in parts]


@pytest.mark.parametrize("n_classes", [10, 30])
def test_the_interval_holds_nine_of_ten_means_of_new_classes(n_classes):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        found = expect(drawn(rng, n_classes, 5), 2)
        hits += found.low <= rng.beta(4, 3, 2).mean() <= found.high
    assert 0.85 < hits / 300 < 0.99


def test_what_the_classes_of_a_fold_share_does_not_average_out():
    """Folds that differ by more than their classes do, as under a bias that fits some of them."""
    rng = np.random.default_rng(0)

    def fold(n_classes, start=0):
        right = 0.5 + 0.12 * rng.standard_normal() + 0.08 * rng.standard_normal(n_classes)
        shares = np.zeros((n_classes, 20))
        shares[:, 0], shares[:, -1] = right, 1 - right
        return FoldRanks(start + np.arange(n_classes), shares)

    hits = 0
    for _ in range(300):
        found = expect([fold(4, 4 * i) for i in range(5)], 20)
        hits += found.low <= fold(20).shares[:, 0].mean() <= found.high
    assert 0.85 < hits / 300 < 0.99


@pytest.mark.parametrize(("n_classes", "low"), [(3, 0.587), (12, 0.863), (120, 0.959)])
def test_classes_that_are_all_right_do_not_promise_that_others_are(n_classes, low):
    # One class more that is right and one that is wrong: g = (c + 1)/(c + 2), s² = .15·g·(1 − g).
    sure = [FoldRanks(np.arange(n_classes), np.array([[1.0, 0.0]] * n_classes))]
    found = expect(sure, 2)
    assert (found.accuracy, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(low, abs=5e-4)


def test_an_interval_is_within_what_is_possible_and_moves_with_the_optimism():
    folds = drawn(np.random.default_rng(0), 4, 2)
    found = expect(folds, 2)
    assert 0 <= found.low < found.accuracy < found.high <= 1
    assert expect(folds, 2, too_high=0.1).accuracy == pytest.approx(found.accuracy - 0.1)
    assert str(found).endswith("among 2 unseen classes, chance 0.50")


def test_beyond_what_was_compared_the_interval_ends_where_it_did():
    folds = drawn(np.random.default_rng(1), 12, 3)
    known, more = expect(folds, 2), expect(folds, 40)
    assert more.high <= known.high
    assert more.low <= more.accuracy < known.accuracy
    assert expect(folds, 2, learned=0.1).high > known.high
    assert expect(folds, 2, learned=0.1).accuracy == known.accuracy


def test_standard_errors_are_those_of_means_of_few_classes():
    table = np.random.default_rng(0).random((5, 3))
    np.testing.assert_allclose(standard_errors(table), stats.sem(table))
    assert standard_errors(table[:1]).tolist() == [0.0, 0.0, 0.0]
