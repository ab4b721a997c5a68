"""Hit@k against scikit-learn, against sorting, and at its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import top_k_accuracy_score

from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.metrics import hit_at_k, per_class_accuracy, per_sample_accuracy

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
