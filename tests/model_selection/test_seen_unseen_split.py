"""SeenUnseenSplit: one split, by name or by draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_validate

from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import SeenUnseenSplit

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
def test_y_without_class_labels_is_refused(y, message):
    with pytest.raises(InvalidInputError, match=f"SeenUnseenSplit .*{message}"):
        list(SeenUnseenSplit(n_unseen=1).split(Y, y))
