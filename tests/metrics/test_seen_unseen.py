"""The exact sweep against plain predictions at a bias."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zslearn.exceptions import InvalidInputError
from zslearn.metrics import (
    ausuc,
    harmonic_mean,
    per_class_accuracy,
    per_sample_accuracy,
    seen_unseen_curve,
)

CANDIDATES = np.array(["bat", "cow", "fox", "okapi", "yak"])
SEEN = np.array(["bat", "fox", "yak"])


def problem(seed, *, n=60, levels=None):
    """Random scores, on a coarse grid if levels is given, so that gaps tie."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([CANDIDATES, rng.choice(CANDIDATES, n, p=[0.4, 0.1, 0.1, 0.3, 0.1])])
    scores = rng.normal(size=(len(y), 5)) + 1.2 * (y[:, None] == CANDIDATES)
    scores += 1.0 * np.isin(CANDIDATES, SEEN)
    return y, scores if levels is None else np.round(scores * levels) / levels


def predicted_accuracies(y, scores, gamma, accuracy):
    """What a user would do: subtract the bias, take the best, measure both sides."""
    predicted = CANDIDATES[(scores - gamma * np.isin(CANDIDATES, SEEN)).argmax(axis=1)]
    side = np.isin(y, SEEN)
    return accuracy(y[side], predicted[side]), accuracy(y[~side], predicted[~side])


@pytest.mark.parametrize(
    ("average", "accuracy"), [("class", per_class_accuracy), ("sample", per_sample_accuracy)]
)
@pytest.mark.parametrize("levels", [None, 2])
def test_every_point_is_what_its_bias_predicts(average, accuracy, levels):
    y, scores = problem(0, levels=levels)
    curve = seen_unseen_curve(y, scores, candidates=CANDIDATES, seen=SEEN, average=average)
    expected = np.array([predicted_accuracies(y, scores, g, accuracy) for g in curve.gammas])
    np.testing.assert_allclose(curve.seen, expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(curve.unseen, expected[:, 1], atol=1e-12)


@pytest.mark.parametrize(
    ("average", "accuracy"), [("class", per_class_accuracy), ("sample", per_sample_accuracy)]
)
def test_a_fine_grid_of_biases_finds_the_same_area(average, accuracy):
    y, scores = problem(1)
    grid = np.linspace(-8, 8, 4001)
    points = np.array([predicted_accuracies(y, scores, g, accuracy) for g in grid])
    by_grid = np.trapezoid(points[:, 0], points[:, 1])
    exact = ausuc(y, scores, candidates=CANDIDATES, seen=SEEN, average=average)
    assert exact == pytest.approx(by_grid, abs=5e-3)


def test_class_and_sample_averages_differ_on_unequal_classes():
    y, scores = problem(2)
    areas = [
        ausuc(y, scores, candidates=CANDIDATES, seen=SEEN, average=average)
        for average in ("class", "sample")
    ]
    assert abs(areas[0] - areas[1]) > 1e-3


def test_equal_gaps_make_one_point():
    scores = np.array([[1.0, 0.5], [2.0, 1.5], [0.0, 3.0]])
    curve = seen_unseen_curve(["a", "b", "b"], scores, candidates=["a", "b"], seen=["a"])
    assert curve.gaps.tolist() == [-3.0, 0.5]
    assert curve.seen.tolist() == [1.0, 1.0, 0.0]
    assert curve.unseen.tolist() == [0.0, 0.5, 1.0]
    # From (½, 1) to (1, 0) in one step: a trapezoid, not a rectangle.
    assert curve.area == pytest.approx(0.75)


def test_a_tie_of_the_two_sides_counts_as_unseen():
    y, scores = ["bat", "cow"], [[1.5, 0.0], [1.5, 1.0]]  # gaps 1.5 and 0.5
    curve = seen_unseen_curve(y, scores, candidates=["bat", "cow"], seen=["bat"])
    for gamma, seen, unseen in ((0.49, 1, 0), (0.5, 1, 1), (1.49, 1, 1), (1.5, 0, 1)):
        assert (curve.at(gamma).seen, curve.at(gamma).unseen) == (seen, unseen), gamma


def test_known_areas():
    separate = np.array([[2.0, 0.0], [0.0, 2.0]])
    assert ausuc(["a", "b"], separate, candidates=["a", "b"], seen=["a"]) == 1.0
    assert ausuc(["a", "b"], separate[::-1], candidates=["a", "b"], seen=["a"]) == 0.0
    constant = np.zeros((2, 2))
    assert ausuc(["a", "b"], constant, candidates=["a", "b"], seen=["a"]) == 0.5


def test_ends_are_the_accuracies_within_each_side():
    y, scores = problem(3)
    curve = seen_unseen_curve(y, scores, candidates=CANDIDATES, seen=SEEN)
    side, columns = np.isin(y, SEEN), np.isin(CANDIDATES, SEEN)
    among_seen = SEEN[scores[side][:, columns].argmax(axis=1)]
    among_unseen = CANDIDATES[~columns][scores[~side][:, ~columns].argmax(axis=1)]
    assert curve.seen[0] == pytest.approx(per_class_accuracy(y[side], among_seen))
    assert curve.unseen[-1] == pytest.approx(per_class_accuracy(y[~side], among_unseen))
    assert curve.unseen[0] == curve.seen[-1] == 0.0


def test_named_points():
    y, scores = problem(4)
    curve = seen_unseen_curve(y, scores, candidates=CANDIDATES, seen=SEEN)
    plain = predicted_accuracies(y, scores, 0.0, per_class_accuracy)
    assert (curve.uncalibrated.seen, curve.uncalibrated.unseen) == pytest.approx(plain)
    best = max(harmonic_mean(s, u) for s, u in zip(curve.seen, curve.unseen, strict=True))
    assert curve.oracle.harmonic_mean == pytest.approx(best)
    again = predicted_accuracies(y, scores, curve.oracle.gamma, per_class_accuracy)
    assert harmonic_mean(*again) == pytest.approx(best)
    assert curve.at(0.7).seen == pytest.approx(
        predicted_accuracies(y, scores, 0.7, per_class_accuracy)[0]
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(-5, 5), st.floats(0.1, 10))
def test_shifting_seen_scores_or_scaling_all_keeps_the_area(seed, shift, scale):
    y, scores = problem(seed, n=20)
    area = ausuc(y, scores, candidates=CANDIDATES, seen=SEEN)
    moved = scale * scores + shift * np.isin(CANDIDATES, SEEN)
    assert ausuc(y, moved, candidates=CANDIDATES, seen=SEEN) == pytest.approx(area)
    assert 0 <= area <= 1


def test_order_of_samples_and_columns_does_not_matter():
    y, scores = problem(5)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(y)), rng.permutation(5)
    shuffled = seen_unseen_curve(
        y[rows], scores[rows][:, columns], candidates=CANDIDATES[columns], seen=SEEN[::-1]
    )
    curve = seen_unseen_curve(y, scores, candidates=CANDIDATES, seen=SEEN)
    np.testing.assert_allclose(shuffled.seen, curve.seen, atol=1e-12)
    np.testing.assert_allclose(shuffled.unseen, curve.unseen, atol=1e-12)


def test_candidates_without_samples_do_not_lower_the_mean():
    y, scores = problem(6)
    keep = y != "yak"
    curve = seen_unseen_curve(y[keep], scores[keep], candidates=CANDIDATES, seen=SEEN)
    expected = predicted_accuracies(y[keep], scores[keep], 0.0, per_class_accuracy)
    assert (curve.uncalibrated.seen, curve.uncalibrated.unseen) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seen": ["bat", "wolf"]}, "'wolf'.*not a candidate"),
        ({"seen": CANDIDATES}, "all 5 candidates are seen"),
        ({"average": "macro"}, "average must be 'class' or 'sample'"),
        ({"y_true": ["bat"] * 65}, "samples of unseen classes too"),
        ({"y_true": ["cow"] * 65}, "samples of seen classes too"),
        ({"scores": np.full((65, 5), np.nan)}, "contain NaN"),
        ({"scores": np.full((65, 5), np.inf)}, "infinity"),
        ({"scores": np.zeros((65, 4))}, "must have shape"),
    ],
)
def test_refuses_what_has_no_curve(change, message):
    y, scores = problem(7)
    given = {"y_true": y, "scores": scores, "candidates": CANDIDATES, "seen": SEEN} | change
    with pytest.raises(InvalidInputError, match=message):
        seen_unseen_curve(given.pop("y_true"), given.pop("scores"), **given)
