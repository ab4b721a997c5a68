"""What the searches of zero-shot methods share: folds, rows, accuracy, and what is kept."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from zslearn.metrics import per_class_accuracy
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import ConSEClassifier
from zslearn.zero_shot.search import (
    Fold,
    choose_parameters,
    even_rows,
    grid_points,
    held_out_accuracy,
    parameter_folds,
    unseen_class_folds,
)

GRID = {"temperature": (1.0, 0.3), "center": (False, True)}


@pytest.fixture
def classes():
    return np.repeat([4, 0, 2, 7, 1], [3, 2, 4, 2, 5])


def test_the_grid_keeps_what_the_user_gave():
    free = grid_points(ConSEClassifier(), GRID)
    assert [tuple(point.values()) for point in free] == [
        (1.0, False),
        (1.0, True),
        (0.3, False),
        (0.3, True),
    ]
    given = grid_points(ConSEClassifier(temperature=2.0), GRID)
    assert given == [{"temperature": 2.0, "center": c} for c in (False, True)]


def test_only_what_was_left_open_counts_as_chosen():
    clf = ConSEClassifier(temperature=2.0)
    points = grid_points(clf, GRID)
    taken = choose_parameters(clf, points, ["fold"], lambda fold: [0.1, 0.9])
    assert taken == {"temperature": 2.0, "center": True} == clf.cv_results_["params"][1]
    assert clf.best_params_ == {"center": True}


@pytest.mark.parametrize("default", [None, {"temperature": 7.0, "center": True}])
def test_without_folds_the_default_is_taken(default):
    clf = ConSEClassifier()
    points = grid_points(clf, GRID)
    taken = choose_parameters(clf, points, [], lambda fold: 1 / 0, default=default)
    assert clf.cv_results_ is None
    assert clf.best_params_ == taken == (points[0] if default is None else default)


def test_nothing_is_searched_if_all_is_given():
    clf = ConSEClassifier(temperature=2.0, center=False)
    choose_parameters(clf, grid_points(clf, GRID), ["fold"], lambda fold: 1 / 0)
    assert clf.cv_results_ is None
    assert clf.best_params_ == {}


def test_folds_hold_out_whole_classes_as_class_k_fold_does(classes):
    folds = unseen_class_folds(ConSEClassifier({}, cv=2, random_state=3), classes)
    splitter = ClassKFold(2, shuffle=True, random_state=3)
    for fold, (train, held_out) in zip(folds, splitter.split(classes, classes), strict=True):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.held_out, held_out)
        np.testing.assert_array_equal(fold.known[fold.y_train], classes[train])
        np.testing.assert_array_equal(fold.new[fold.y_held_out], classes[held_out])
        assert len(fold.new) >= 2


def test_samples_are_held_out_with_one_hot_signatures(classes):
    folds = parameter_folds(classes, 5, 3, one_hot=True)
    splitter = StratifiedKFold(2, shuffle=True, random_state=3)
    for fold, wanted in zip(folds, splitter.split(classes, classes), strict=True):
        np.testing.assert_array_equal(fold[0], wanted[0])
        np.testing.assert_array_equal(fold[1], wanted[1])
    assert parameter_folds(np.array([0, 0, 1]), 5, 3, one_hot=True) == []


def test_no_folds_of_one_hot_signatures_or_too_few_classes(classes):
    assert unseen_class_folds(ConSEClassifier(None), classes) == []
    assert unseen_class_folds(ConSEClassifier({}), np.array([0, 1, 2, 2])) == []


def test_rows_are_cut_to_the_same_number_of_each_class():
    y = np.repeat([0, 1, 2], [50, 3, 20])
    rows = even_rows(y, 30, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(y[rows]), [10, 3, 10])
    np.testing.assert_array_equal(rows, np.unique(rows))
    np.testing.assert_array_equal(even_rows(y, 100, np.random.default_rng(0)), np.arange(73))


def test_rows_fill_up_to_the_limit():
    y = np.repeat([0, 1, 2], [50, 20, 5])
    rows = even_rows(y, 30, np.random.RandomState(0), fill=True)
    assert np.bincount(y[rows]).tolist() in ([13, 12, 5], [12, 13, 5])
    np.testing.assert_array_equal(rows, np.unique(rows))
    full = even_rows(y, 100, np.random.RandomState(0), fill=True)
    np.testing.assert_array_equal(full, np.arange(75))


def test_accuracy_is_the_per_class_accuracy_of_the_best_column(classes):
    fold = Fold.of(classes, np.arange(3), np.arange(3, len(classes)))
    scores = np.random.default_rng(0).standard_normal((len(fold.y_held_out), len(fold.new)))
    wanted = per_class_accuracy(fold.y_held_out, scores.argmax(axis=1))
    assert held_out_accuracy(scores, fold.y_held_out) == pytest.approx(wanted)
