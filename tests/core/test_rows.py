"""Rows as a method sees them, their labels, and memory that is used again."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from zslearn.core.rows import RowTransform, Scratch, plain_labels, signed_power
from zslearn.exceptions import InvalidInputError


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("norm", ["l2", None])
def test_used_memory_gives_the_rows_that_new_memory_gives(dtype, power, norm):
    rng = np.random.default_rng(0)
    X = (9 * rng.standard_normal((700, 5))).astype(dtype)
    transform, scratch = RowTransform(norm, power), Scratch()
    for part in (X, X[:300], X[300:]):
        numbers = np.arange(len(part))
        rows = transform.apply(part, numbers, scratch)
        wide = part.astype(np.float64)
        expected = np.sign(wide) * np.abs(wide) ** power
        if norm == "l2":
            length = np.linalg.norm(expected, axis=1, keepdims=True)
            expected = np.divide(expected, length, out=expected, where=length > 0)
        precise = dtype in ("float64", "int32")
        np.testing.assert_allclose(rows, expected, rtol=1e-12 if precise else 2e-5, atol=1e-7)
        assert rows.dtype == (np.float64 if precise else np.float32)
        np.testing.assert_array_equal(rows, transform.apply(part, numbers))


def test_the_rows_handed_in_stay_as_they_are():
    X = np.array([[3.0, 4.0], [0.0, 2.0]])
    RowTransform("l2").apply(X, np.arange(2), Scratch())
    np.testing.assert_array_equal(X, [[3.0, 4.0], [0.0, 2.0]])


@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("norm", ["l2", None])
def test_sparse_rows_are_transformed_like_dense_ones(power, norm):
    X = np.random.default_rng(1).standard_normal((20, 6))
    X[np.abs(X) < 0.8] = 0.0
    X[:, 0] = 1.0
    X[3] = 0.0
    transform = RowTransform(norm, power)
    np.testing.assert_allclose(transform.apply(sparse.csr_array(X)).toarray(), transform.apply(X))
    if norm == "l2":
        with pytest.raises(InvalidInputError, match="row 13 of X holds only zeros"):
            RowTransform(norm, power, allow_zero=False).apply(
                sparse.csr_array(X), np.arange(10, 30)
            )


def test_numbers_whose_squares_underflow_are_not_zeros():
    rows = RowTransform("l2", allow_zero=False).apply(np.array([[3e-200, 4e-200], [3.0, 4.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.6, 0.8]])


@pytest.mark.parametrize("p", [0.25, 0.5, 1.0, 2.0, np.float64(0.3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_signed_power_of_dense_and_sparse_rows_is_that_of_every_number(p, dtype):
    X = np.array([[0.0, -4.0, 9.0], [0.5, 0.0, -0.0]], dtype=dtype)
    literal = [[math.copysign(abs(x) ** float(p), x) if x else 0.0 for x in row] for row in X]
    before = X.copy()
    for rows in (X, sparse.csr_array(X)):
        found = signed_power(rows, p)
        assert found.dtype == dtype
        dense = found.toarray() if sparse.issparse(found) else found
        np.testing.assert_allclose(dense, literal, rtol=1e-6 if dtype == np.float32 else 1e-14)
    np.testing.assert_array_equal(X, before)


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
