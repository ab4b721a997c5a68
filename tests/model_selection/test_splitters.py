"""Folds of classes, one split into seen and unseen ones, and a share of every class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score, cross_validate

from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold, SeenUnseenSplit, stratified_holdout

labels = st.lists(st.integers(0, 12), min_size=2, max_size=60).filter(lambda y: len(set(y)) > 1)


class NearestCorner(ClassifierMixin, BaseEstimator):
    """Answers the class whose number is closest to the first feature plus an offset.

    It needs no training sample of a class to predict it, and remembers what it was trained on.
    """

    def __init__(self, offset=0.0):
        self.offset = offset

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.rint(X[:, 0] + self.offset).astype(int)


@pytest.fixture
def numbered():
    y = np.repeat(np.arange(7), [3, 5, 2, 4, 1, 6, 2])
    return y[:, None] + np.linspace(-0.2, 0.2, len(y))[:, None], y


@given(labels, st.data(), st.booleans())
def test_folds_partition_the_classes_evenly(y, data, shuffle):
    n_splits = data.draw(st.integers(2, len(set(y))))
    splitter = ClassKFold(n_splits, shuffle=shuffle, random_state=3 if shuffle else None)
    folds = splitter.class_folds(y)
    sizes = [len(fold) for fold in folds]
    assert len(folds) == n_splits == splitter.get_n_splits()
    assert max(sizes) - min(sizes) <= 1
    assert sorted(np.concatenate(folds).tolist()) == sorted(set(y))


@given(labels, st.data(), st.booleans())
def test_each_class_is_wholly_in_one_test_fold(y, data, shuffle):
    n_splits = data.draw(st.integers(2, len(set(y))))
    splitter = ClassKFold(n_splits, shuffle=shuffle, random_state=3 if shuffle else None)
    y, tested = np.array(y), []
    for (train, test), fold in zip(splitter.split(y, y), splitter.class_folds(y), strict=True):
        assert set(y[test]) == set(fold)
        assert not set(y[train]) & set(y[test])
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
        tested.extend(test)
    assert sorted(tested) == list(range(len(y)))


def test_unshuffled_folds_are_consecutive_in_sorted_order():
    y = ["fox", "bat", "elk", "cow", "dog", "bat"]
    folds = [fold.tolist() for fold in ClassKFold(2).class_folds(y)]
    assert folds == [["bat", "cow", "dog"], ["elk", "fox"]]


def test_folds_depend_on_the_classes_not_on_row_order_or_counts():
    first = ClassKFold(3, shuffle=True, random_state=0).class_folds([0, 1, 2, 3, 4, 5, 6])
    again = ClassKFold(3, shuffle=True, random_state=0).class_folds([6, 6, 5, 4, 3, 2, 1, 0, 0])
    assert [fold.tolist() for fold in first] == [fold.tolist() for fold in again]


def test_shuffling_changes_the_folds_with_the_seed():
    y = np.arange(20)
    deals = {
        seed: tuple(map(tuple, ClassKFold(4, shuffle=True, random_state=seed).class_folds(y)))
        for seed in (0, 1)
    }
    in_order = tuple(map(tuple, ClassKFold(4).class_folds(y)))
    assert len({*deals.values(), in_order}) == 3


def test_cross_val_score_tests_on_classes_it_never_trained_on(numbered):
    X, y = numbered
    splitter = ClassKFold(3)
    assert check_cv(splitter) is splitter
    assert cross_val_score(NearestCorner(), X, y, cv=splitter).tolist() == [1.0, 1.0, 1.0]
    fitted = cross_validate(NearestCorner(), X, y, cv=splitter, return_estimator=True)["estimator"]
    for estimator, fold in zip(fitted, splitter.class_folds(y), strict=True):
        assert sorted([*estimator.classes_, *fold]) == list(range(7))


def test_grid_search_chooses_by_unseen_classes(numbered):
    X, y = numbered
    search = GridSearchCV(NearestCorner(), {"offset": [-1.0, 0.0, 1.0]}, cv=ClassKFold(7)).fit(X, y)
    assert search.best_params_ == {"offset": 0.0}
    assert search.n_splits_ == 7
    assert search.cv_results_["mean_test_score"].tolist() == [0.0, 1.0, 0.0]


def test_repr_tells_the_parameters():
    expected = "ClassKFold(holdout=0, n_splits=3, random_state=0, shuffle=True)"
    assert repr(ClassKFold(3, shuffle=True, random_state=0)) == expected


def test_a_share_of_the_other_classes_is_tested_too():
    y = np.repeat(["bat", "cow", "fox", "owl"], 10)
    plain, both = ClassKFold(2), ClassKFold(2, holdout=0.2, random_state=0)
    for (train, test), (less, more) in zip(plain.split(y, y), both.split(y, y), strict=True):
        assert set(test) < set(more)
        assert sorted([*less, *more]) == list(range(40))
        held_out = np.setdiff1d(more, test)
        names, counts = np.unique(y[held_out], return_counts=True)
        assert names.tolist() == np.unique(y[train]).tolist()
        assert counts.tolist() == [2, 2]
    again = [test.tolist() for _, test in both.split(y, y)]
    assert again == [test.tolist() for _, test in both.split(y, y)]
    with pytest.raises(InvalidInputError, match=r"holdout must be a number .*got 1"):
        ClassKFold(2, holdout=1)


def test_integer_valued_floats_are_classes():
    folds = ClassKFold(2).class_folds([0.0, 1.0, 1.0])
    assert [fold.tolist() for fold in folds] == [[0.0], [1.0]]


def test_too_few_classes_are_refused():
    with pytest.raises(
        InvalidInputError, match=r"cannot make 5 folds of 2 classes.*Lower n_splits"
    ):
        list(ClassKFold().split(np.zeros((4, 1)), ["a", "a", "b", "b"]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "needs y; got None"),
        ([0.5, 1.2, 3.0], "got continuous y of type float64"),
        ([0.0, np.nan, 3.0], "or NaN in it"),
        ([[0], [1], [2]], r"one class label for each sample; got y of shape \(3, 1\)"),
        (np.array(["a", None, "b"], dtype=object), "y mixes kinds"),
    ],
)
def test_y_without_class_labels_is_refused(y, message):
    with pytest.raises(InvalidInputError, match=f"ClassKFold .*{message}"):
        list(ClassKFold(2).split(np.zeros((3, 1)), y))


@pytest.mark.parametrize("n_splits", [1, 0, 2.0, True, "3"])
def test_impossible_number_of_folds_is_refused(n_splits):
    with pytest.raises(
        InvalidInputError, match=f"n_splits must be a whole number of at least 2; got {n_splits!r}"
    ):
        ClassKFold(n_splits)


def test_seed_without_shuffling_is_refused():
    with pytest.raises(InvalidInputError, match="random_state has no effect without shuffling"):
        ClassKFold(3, random_state=0)


Y = np.array(["zebra", "bat", "cow", "bat", "otter", "cow"])


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=40).filter(lambda y: len(set(y)) > 1),
    st.data(),
)
def test_rows_follow_the_named_classes(y, data):
    classes = sorted(set(y))
    unseen = data.draw(st.lists(st.sampled_from(classes), min_size=1, max_size=len(classes) - 1))
    [(train, test)] = SeenUnseenSplit(unseen).split(y, y)
    assert train.tolist() == [row for row, label in enumerate(y) if label not in unseen]
    assert test.tolist() == [row for row, label in enumerate(y) if label in unseen]


@given(st.integers(2, 30), st.data())
def test_draws_the_number_asked_for(n_classes, data):
    n_unseen = data.draw(st.integers(1, n_classes - 1))
    y = np.arange(n_classes).repeat(2)
    splitter = SeenUnseenSplit(n_unseen=n_unseen, random_state=0)
    seen, unseen = splitter.seen_unseen_classes(y)
    assert len(unseen) == n_unseen
    assert sorted([*seen, *unseen]) == list(range(n_classes))
    [(train, test)] = splitter.split(y, y)
    assert set(y[train]) == set(seen)
    assert set(y[test]) == set(unseen)


@pytest.mark.parametrize(
    ("share", "n_classes", "expected"), [(0.2, 50, 10), (0.25, 10, 3), (0.01, 5, 1), (0.07, 100, 7)]
)
def test_share_is_rounded_up_as_a_decimal_number(share, n_classes, expected):
    _, unseen = SeenUnseenSplit(n_unseen=share, random_state=0).seen_unseen_classes(
        range(n_classes)
    )
    assert len(unseen) == expected


def test_draw_repeats_with_the_seed_and_changes_with_it():
    draws = [
        SeenUnseenSplit(n_unseen=10, random_state=seed).seen_unseen_classes(range(40))[1].tolist()
        for seed in (0, 0, 1)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_one_label_may_stand_alone():
    [(_, test)] = SeenUnseenSplit("bat").split(Y, Y)
    assert test.tolist() == [1, 3]


def test_serves_as_cv():
    splitter = SeenUnseenSplit(["zebra", "otter"])
    result = cross_validate(
        DummyClassifier(), np.zeros((6, 1)), Y, cv=splitter, return_estimator=True
    )
    assert splitter.get_n_splits() == 1
    assert result["test_score"].tolist() == [0.0]
    assert result["estimator"][0].classes_.tolist() == ["bat", "cow"]


def test_unknown_class_is_named_with_the_closest():
    with pytest.raises(
        InvalidInputError,
        match=r"Unseen class 'zebbra' is not in y.*4 classes, the closest is 'zebra'",
    ):
        list(SeenUnseenSplit(["bat", "zebbra"]).split(Y, Y))


def test_unknown_class_like_no_other_has_no_hint():
    with pytest.raises(
        InvalidInputError, match=r"'quokka' is not in y, which has 4 classes\. Correct"
    ):
        list(SeenUnseenSplit(["quokka"]).split(Y, Y))


@pytest.mark.parametrize(
    "splitter",
    [SeenUnseenSplit(np.unique(Y)), SeenUnseenSplit(n_unseen=4), SeenUnseenSplit(n_unseen=9)],
)
def test_no_class_left_to_train_on_is_refused(splitter):
    with pytest.raises(InvalidInputError, match="All 4 classes in y would be unseen"):
        list(splitter.split(Y, Y))


def test_empty_list_of_unseen_classes_is_refused():
    with pytest.raises(InvalidInputError, match="unseen is empty"):
        list(SeenUnseenSplit([]).split(Y, Y))


@pytest.mark.parametrize(
    ("arguments", "got"), [({}, "neither"), ({"unseen": ["bat"], "n_unseen": 1}, "both")]
)
def test_exactly_one_way_of_choosing_is_needed(arguments, got):
    with pytest.raises(InvalidInputError, match=f"either unseen= .* or n_unseen= .*got {got}"):
        SeenUnseenSplit(**arguments)


@pytest.mark.parametrize("number", [0, -2, 0.0, 1.0, 1.5, True, float("nan")])
def test_impossible_number_is_refused(number):
    with pytest.raises(InvalidInputError, match=f"n_unseen must be .*got {number!r}"):
        SeenUnseenSplit(n_unseen=number)


def test_seed_beside_named_classes_is_refused():
    with pytest.raises(InvalidInputError, match="random_state has no effect when unseen="):
        SeenUnseenSplit(["bat"], random_state=0)


@pytest.mark.parametrize(
    ("y", "message"), [(None, "needs y; got None"), ([0.5] * 6, "continuous y of type float64")]
)
def test_y_without_class_labels_is_refused_by_the_split(y, message):
    with pytest.raises(InvalidInputError, match=f"SeenUnseenSplit .*{message}"):
        list(SeenUnseenSplit(n_unseen=1).split(Y, y))


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
