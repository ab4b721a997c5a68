import numpy as np
import pandas as pd
import pytest

from zslearn.core.rows import plain_labels
from zslearn.exceptions import InvalidInputError


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (pd.Series([True, False], dtype="boolean"), "b"),
        (pd.Series([True, False], dtype=object), "b"),
        (pd.Series([3, 4], dtype="Int64"), "i"),
        (np.array([3, 4], dtype=object), "i"),
        ([True, False], "b"),
    ],
    ids=str,
)
def test_booleans_and_numbers_get_their_own_type(labels, kind):
    plain = plain_labels(labels)
    assert plain.dtype.kind == kind
    assert plain.tolist() == list(labels)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "b"]),
        np.array([1.0, np.nan]),
        pd.Series(["a", "b"], dtype="string"),
        ["a", "b"],
        [1, "b"],
        np.array([[1, 2]], dtype=object),
        [[1, 0], [0, 1]],
        7,
    ],
    ids=str,
)
def test_others_are_left_to_the_checks_that_follow(labels):
    assert plain_labels(labels) is labels


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("kind", [list, pd.Series, lambda values: np.array(values, dtype=object)])
def test_a_missing_label_is_refused_with_its_row(missing, kind):
    with pytest.raises(InvalidInputError, match="label of row 1 is missing; fill it in or leave"):
        plain_labels(kind(["a", missing, "b"]))


def test_a_missing_label_of_a_nullable_type():
    for dtype in ("boolean", "Int64", "string"):
        labels = pd.Series([None, None], dtype=dtype)
        with pytest.raises(InvalidInputError, match="label of row 0 is missing"):
            plain_labels(labels)
