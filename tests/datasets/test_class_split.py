"""ClassSplit holds two disjoint lists of classes and, if any, disjoint rows."""

import numpy as np
import pytest

from zslearn.datasets import ClassSplit
from zslearn.exceptions import InvalidInputError


def test_keeps_read_only_copies():
    seen = np.array(["bat", "cow"])
    split = ClassSplit(seen, ["fox"], train=[0, 2], test_seen=[1])
    seen[0] = "elk"
    assert split.seen.tolist() == ["bat", "cow"]
    for part in (split.seen, split.unseen, split.train, split.test_seen):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = part[0]


def test_cannot_be_reassigned():
    split = ClassSplit([0], [1])
    with pytest.raises(AttributeError, match="cannot assign to field 'seen'"):
        split.seen = [1]


def test_repr_counts():
    assert repr(ClassSplit([0, 1], [2])) == "ClassSplit(2 seen, 1 unseen)"
    with_rows = ClassSplit([0, 1], [2], train=[4, 5, 6], test_seen=[7])
    assert repr(with_rows) == "ClassSplit(2 seen, 1 unseen, 3 train rows, 1 test_seen rows)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"], ["b", "c"]), "Class 'b' is in both seen and unseen"),
        ((["a", "b"], ["b", "a"]), r"Class 'a' \(and 1 more\) is in both"),
        (([], ["a"]), r"seen must be a non-empty list of class labels; got shape \(0,\)"),
        ((["a"], []), "unseen must be a non-empty list"),
        (("a", ["b"]), r"seen must be a non-empty list of class labels; got shape \(\)"),
        ((["a", "a"], ["b"]), "seen lists class 'a' twice"),
        ((["a"], ["b"], [0, 1], [1, 2]), "Row 1 is in both train and test_seen"),
        ((["a"], ["b"], None, [1]), "test_seen rows need train rows"),
        ((["a"], ["b"], [0, 0]), "train lists row 0 twice"),
        ((["a"], ["b"], [-1, 0]), "train has the negative row index -1"),
        ((["a"], ["b"], [0.0, 1.0]), "train must be .* row indices; .* of type float64"),
        ((["a"], ["b"], [True, False]), "train must be .* row indices; .* of type bool"),
        ((["a"], ["b"], [0], []), "test_seen must be a non-empty list of row indices"),
    ],
)
def test_parts_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        ClassSplit(*arguments)
