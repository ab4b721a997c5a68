"""Accuracy per class and per sample, against scikit-learn and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, make_scorer

from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.metrics import per_class_accuracy, per_sample_accuracy

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
