"""Accuracies against scikit-learn, against sorting, and at their limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hmean
from sklearn.dummy import DummyClassifier
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    make_scorer,
    top_k_accuracy_score,
)

from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.metrics import harmonic_mean, hit_at_k, per_class_accuracy, per_sample_accuracy

METRICS = (per_class_accuracy, per_sample_accuracy)
label_pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


@given(label_pairs)
def test_per_class_equals_mean_of_recalls(pairs):
    y_true, y_pred = np.array(pairs).T
    recalls = [np.mean([p == t for t, p in pairs if t == c]) for c in sorted({t for t, _ in pairs})]
    assert per_class_accuracy(y_true, y_pred) == pytest.approx(np.mean(recalls), abs=1e-12)


@given(label_pairs)
def test_per_sample_equals_sklearn(pairs):
    y_true, y_pred = np.array(pairs).T
    assert per_sample_accuracy(y_true, y_pred) == pytest.approx(accuracy_score(y_true, y_pred))


def test_per_class_equals_sklearn_balanced_accuracy():
    rng = np.random.default_rng(0)
    y_true = np.repeat(["bat", "cow", "fox"], [50, 7, 3])
    y_pred = rng.choice(["bat", "cow", "fox"], size=60)
    expected = balanced_accuracy_score(y_true, y_pred)
    assert per_class_accuracy(y_true, y_pred) == pytest.approx(expected, abs=1e-12)
    assert per_class_accuracy(y_true, y_pred) != pytest.approx(per_sample_accuracy(y_true, y_pred))


@given(label_pairs, st.randoms(use_true_random=False))
def test_order_of_samples_and_repeating_all_change_nothing(pairs, random):
    y_true, y_pred = np.array(pairs).T
    shuffled = random.sample(pairs, len(pairs)) * 2
    again_true, again_pred = np.array(shuffled).T
    for metric in METRICS:
        assert metric(again_true, again_pred) == pytest.approx(metric(y_true, y_pred), abs=1e-12)


def test_equal_class_sizes_make_both_the_same():
    y_true = np.repeat([0, 1, 2], 4)
    y_pred = np.array([0, 0, 1, 2, 1, 1, 1, 1, 0, 0, 0, 2])
    assert per_class_accuracy(y_true, y_pred) == pytest.approx(per_sample_accuracy(y_true, y_pred))


def test_repeating_one_class_moves_only_per_sample():
    y_true, y_pred = ["a", "a", "b"], ["a", "b", "b"]
    more_true, more_pred = [*y_true, "b", "b"], [*y_pred, "b", "b"]
    assert per_class_accuracy(more_true, more_pred) == per_class_accuracy(y_true, y_pred) == 0.75
    assert per_sample_accuracy(y_true, y_pred) == pytest.approx(2 / 3)
    assert per_sample_accuracy(more_true, more_pred) == pytest.approx(4 / 5)


def test_prediction_outside_the_true_classes_is_a_miss():
    assert per_class_accuracy(["a", "b"], ["a", "never seen"]) == 0.5


def test_stating_the_classes_in_any_order_gives_the_same():
    y_true, y_pred = ["a", "b", "b"], ["a", "a", "b"]
    assert per_class_accuracy(y_true, y_pred, classes=["b", "a"]) == 0.75


@pytest.mark.parametrize("metric", METRICS)
def test_usable_as_scorer(metric):
    X, y = np.zeros((4, 1)), np.array([1, 1, 1, 0])
    score = make_scorer(metric)(DummyClassifier(strategy="most_frequent").fit(X, y), X, y)
    assert score == {per_class_accuracy: 0.5, per_sample_accuracy: 0.75}[metric]


def test_class_without_samples_is_named_not_counted_as_zero():
    with pytest.raises(
        InvalidInputError, match=r"classes lists class 'zebra'.*no sample in y_true"
    ):
        per_class_accuracy(["otter"], ["otter"], classes=["otter", "zebra"])


def test_sample_outside_the_classes_is_named_with_the_closest():
    with pytest.raises(
        InvalidInputError,
        match=r"y_true contains class 'zebra\+', closest 'zebra', .* not in classes",
    ):
        per_class_accuracy(["otter", "zebra", "zebra+"], ["otter"] * 3, classes=["otter", "zebra"])


def test_several_unlisted_classes_are_counted():
    with pytest.raises(InvalidInputError, match=r"class 'b' \(and 1 more\)"):
        per_class_accuracy(["a", "b", "c"], ["a"] * 3, classes=["a"])


def test_class_listed_twice_is_refused():
    with pytest.raises(InvalidInputError, match="classes lists class 'a' twice"):
        per_class_accuracy(["a"], ["a"], classes=["a", "a"])


def test_classes_of_another_kind_are_refused():
    with pytest.raises(InvalidTypeError, match="y_true holds text and classes holds numbers"):
        per_class_accuracy(["1"], ["1"], classes=[1])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([1, 2], [1], "y_true has 2 labels and y_pred has 1"),
        ([], [], "y_true is empty"),
        ([1], [], "y_pred is empty"),
        ([[1], [2]], [1, 2], r"y_true must be one-dimensional.*got shape \(2, 1\)"),
        ([1, 2], [[1, 2]], r"y_pred must be one-dimensional.*got shape \(1, 2\)"),
        ([1.0, np.nan], [1, 2], "y_true contains NaN"),
    ],
)
def test_unusable_labels_are_refused(metric, y_true, y_pred, message):
    with pytest.raises(InvalidInputError, match=message):
        metric(y_true, y_pred)


@pytest.mark.parametrize("metric", METRICS)
def test_text_against_numbers_is_refused(metric):
    with pytest.raises(InvalidTypeError, match="y_true holds text and y_pred holds numbers"):
        metric(["1", "2"], [1, 2])


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


ANIMALS = np.array(["zebra", "bat", "otter", "cow"])


@st.composite
def scored_samples(draw):
    n_candidates = draw(st.integers(1, 6))
    n_samples = draw(st.integers(1, 12))
    # Few distinct values, so that ties are common.
    score = st.lists(st.integers(-2, 2), min_size=n_candidates, max_size=n_candidates)
    scores = np.array(draw(st.lists(score, min_size=n_samples, max_size=n_samples)), dtype=float)
    candidates = np.array(draw(st.permutations(range(n_candidates))))
    y_true = np.array(
        draw(st.lists(st.sampled_from(candidates.tolist()), min_size=n_samples, max_size=n_samples))
    )
    return y_true, scores, candidates


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_equals_sklearn_without_ties(k):
    rng = np.random.default_rng(k)
    scores = rng.standard_normal((80, 7))
    y_true = rng.integers(0, 7, 80)
    expected = top_k_accuracy_score(y_true, scores, k=k, labels=range(7))
    assert hit_at_k(y_true, scores, candidates=range(7), k=k) == pytest.approx(expected)


@given(scored_samples(), st.data())
def test_equals_a_stable_sort(sample, data):
    y_true, scores, candidates = sample
    k = data.draw(st.integers(1, len(candidates)))
    top = candidates[np.argsort(-scores, axis=1, kind="stable")[:, :k]]
    hits = [true in row for true, row in zip(y_true, top, strict=True)]
    assert hit_at_k(y_true, scores, candidates=candidates, k=k) == pytest.approx(np.mean(hits))


@given(scored_samples())
def test_first_guess_is_accuracy_and_all_guesses_hit(sample):
    y_true, scores, candidates = sample
    predicted = candidates[np.argmax(scores, axis=1)]
    metrics = {"sample": per_sample_accuracy, "class": per_class_accuracy}
    for average, metric in metrics.items():
        first = hit_at_k(y_true, scores, candidates=candidates, k=1, average=average)
        assert first == pytest.approx(metric(y_true, predicted))
        everything = hit_at_k(
            y_true, scores, candidates=candidates, k=len(candidates), average=average
        )
        assert everything == 1.0


@given(scored_samples())
def test_more_guesses_never_hit_less(sample):
    y_true, scores, candidates = sample
    ks = range(1, len(candidates) + 1)
    values = [hit_at_k(y_true, scores, candidates=candidates, k=k) for k in ks]
    assert values == sorted(values)


@given(scored_samples())
def test_any_increasing_function_of_the_scores_gives_the_same(sample):
    y_true, scores, candidates = sample
    stretched = np.exp(scores) * 1e3 - 7
    assert hit_at_k(y_true, stretched, candidates=candidates, k=1) == hit_at_k(
        y_true, scores, candidates=candidates, k=1
    )


def test_names_are_matched_to_columns_in_the_order_given():
    scores = np.array([[0.9, 0.1, 0.2, 0.3], [0.0, 0.0, 1.0, 0.5]])
    assert hit_at_k(["zebra", "otter"], scores, candidates=ANIMALS, k=1) == 1.0
    assert hit_at_k(["zebra", "otter"], scores, candidates=ANIMALS[::-1], k=1) == 0.0


def test_equal_scores_rank_in_candidate_order():
    scores = np.zeros((1, 4))
    ranks = [hit_at_k([name], scores, candidates=ANIMALS, k=2) for name in ANIMALS]
    assert ranks == [1.0, 1.0, 0.0, 0.0]


def test_adding_candidates_can_only_lower_it():
    rng = np.random.default_rng(0)
    scores, y_true = rng.standard_normal((200, 10)), rng.integers(0, 5, 200)
    unseen_only = hit_at_k(y_true, scores[:, :5], candidates=range(5), k=2)
    everything = hit_at_k(y_true, scores, candidates=range(10), k=2)
    assert everything < unseen_only


def test_class_average_weighs_classes_equally():
    scores = [[1, 0], [1, 0], [1, 0], [1, 0]]
    y_true = ["a", "a", "a", "b"]
    assert hit_at_k(y_true, scores, candidates=["a", "b"], k=1) == 0.75
    assert hit_at_k(y_true, scores, candidates=["a", "b"], k=1, average="class") == 0.5


def test_masked_candidates_of_minus_infinity_rank_last():
    scores = [[-np.inf, 0.0, -1.0]]
    hits = [hit_at_k(["a"], scores, candidates=["a", "b", "c"], k=k) for k in (1, 2, 3)]
    assert hits == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("k", [0, -1, 5, 2.0, True])
def test_impossible_k_is_refused(k):
    with pytest.raises(InvalidInputError, match=f"from 1 to 4, the number of candidates; got {k}"):
        hit_at_k(["bat"], np.zeros((1, 4)), candidates=ANIMALS, k=k)


def test_default_k_needs_five_candidates():
    with pytest.raises(InvalidInputError, match="from 1 to 4, the number of candidates; got 5"):
        hit_at_k(["bat"], np.zeros((1, 4)), candidates=ANIMALS)


def test_true_class_that_is_no_candidate_is_named():
    with pytest.raises(
        InvalidInputError, match=r"y_true contains class 'zebr', closest 'zebra', .* 4 candidates"
    ):
        hit_at_k(["bat", "zebr"], np.zeros((2, 4)), candidates=ANIMALS, k=1)


@pytest.mark.parametrize("shape", [(2, 3), (3, 4), (2,), (2, 4, 1)])
def test_scores_of_another_shape_are_refused(shape):
    with pytest.raises(InvalidInputError, match=r"= \(2, 4\); got \(" + str(shape[0])):
        hit_at_k(["bat", "cow"], np.zeros(shape), candidates=ANIMALS, k=1)


def test_nan_scores_are_located():
    scores = np.zeros((3, 4))
    scores[1:, 2] = np.nan
    with pytest.raises(InvalidInputError, match="NaN in 2 of 3 rows, first in row 1"):
        hit_at_k(["bat"] * 3, scores, candidates=ANIMALS, k=1)


def test_candidate_listed_twice_is_refused():
    with pytest.raises(InvalidInputError, match="candidates lists class 'bat' twice"):
        hit_at_k(["bat"], [[0, 1]], candidates=["bat", "bat"], k=1)


def test_unknown_average_is_refused():
    with pytest.raises(InvalidInputError, match="'sample' or 'class'; got 'macro'"):
        hit_at_k(["bat"], [[1.0]], candidates=["bat"], k=1, average="macro")


def test_empty_input_is_refused():
    with pytest.raises(InvalidInputError, match="y_true is empty"):
        hit_at_k([], np.zeros((0, 4)), candidates=ANIMALS, k=1)


def test_numbers_against_text_are_refused():
    with pytest.raises(InvalidTypeError, match="y_true holds numbers and candidates holds text"):
        hit_at_k([1], [[0.0]], candidates=["1"], k=1)
