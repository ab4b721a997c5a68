import numpy as np
import pytest

from zslearn.core.moments import BlockSums, BlockTotal, Grouping, Moments
from zslearn.exceptions import InvalidInputError


def labeled_rows(n=500, d=7, n_classes=6, dtype=np.float64):
    rng = np.random.default_rng(1)
    return rng.standard_normal((n, d)).astype(dtype), rng.integers(0, n_classes, n)


def summed(X, y, size, grouping=None, origin=None):
    total = BlockTotal(X.shape[1], origin)
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        x = X[rows] if origin is None else X[rows] - origin
        total.add(BlockSums.of(x, y[rows], grouping))
    return total


@pytest.mark.parametrize("size", [1, 37, 500])
def test_blocks_add_up_to_the_moments_of_all_rows(size):
    X, y = labeled_rows()
    got, expected = Moments.of_total(summed(X, y, size)), Moments.of(X, y)
    np.testing.assert_array_equal(got.classes, expected.classes)
    np.testing.assert_array_equal(got.counts, expected.counts)
    np.testing.assert_allclose(got.sums, expected.sums, atol=1e-12)
    np.testing.assert_allclose(got.gram, expected.gram, atol=1e-11)


def test_each_group_of_classes_gets_its_own_moments():
    X, y = labeled_rows()
    folds = np.array([5, 0]), np.array([1, 2]), np.array([4, 3])
    grouping = Grouping.of_folds(folds)
    total = summed(X, y, 64, grouping)
    for number, fold in enumerate(folds):
        rows = np.isin(y, fold)
        expected = Moments.of(X[rows], y[rows])
        part = Moments.of_total(total, number, np.isin(total.classes, fold))
        np.testing.assert_array_equal(part.classes, expected.classes)
        np.testing.assert_allclose(part.gram, expected.gram, atol=1e-11)


def test_an_origin_near_the_data_keeps_the_digits_of_a_large_offset():
    X, y = labeled_rows()
    expected = Moments.of(X, y, centered=True)
    moved = Moments.of_total(summed(X + 1e6, y, 64, origin=(X + 1e6)[:64].mean(axis=0)))
    assert moved.centered
    assert np.abs(moved.gram - expected.gram).max() < 1e-9 * np.abs(expected.gram).max()


@pytest.mark.parametrize("n_classes", [2, 300])
def test_sums_of_float32_rows_are_those_of_float64(n_classes):
    X, y = labeled_rows(20000, 16, n_classes, np.float32)
    got = Moments.of_total(summed(X, y, 8192))
    expected = Moments.of(X.astype(np.float64), y)
    scale = np.abs(expected.sums).max()
    np.testing.assert_allclose(got.sums, expected.sums, atol=2e-7 * scale)
    assert np.linalg.norm(got.gram - expected.gram) < 1e-7 * np.linalg.norm(expected.gram)


def test_a_restored_sum_continues_to_the_same_bits():
    X, y = labeled_rows()
    whole = summed(X, y, 50)
    half = BlockTotal.restored(summed(X[:250], y[:250], 50).state())
    for start in range(250, 500, 50):
        half.add(BlockSums.of(X[start : start + 50], y[start : start + 50]))
    for name, array in whole.state().items():
        np.testing.assert_array_equal(half.state()[name], array)


def test_no_rows_are_refused():
    with pytest.raises(InvalidInputError, match="no samples to learn from"):
        Moments.of_total(BlockTotal(3))
