from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from zslearn.core import Moments, PairMoments
from zslearn.core.moments import PIECE_ROWS, BlockSums, BlockTotal, Grouping, gram_of
from zslearn.exceptions import InvalidInputError

NAMES = np.array(["bat", "cow", "eel", "fox"])


def labeled(seed, n=60, d=5):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), NAMES[rng.integers(0, len(NAMES), n)]


def assert_same(a, b, rtol=1e-9):
    assert a.classes.tolist() == b.classes.tolist()
    about = a.origin
    b = b.about(about, centered=b.centered)
    for name in ("counts", "sums", "gram"):
        got, wanted = getattr(a, name), getattr(b, name)
        # The samples have unit scale; the centered moments of a single one are zero to rounding.
        scale = np.abs(wanted).max(initial=1.0)
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * scale)


def test_moments_are_what_their_definition_says():
    X, y = labeled(0)
    moments = Moments.of(X, y)
    np.testing.assert_allclose(moments.gram, X.T @ X)
    for name, count, total in zip(moments.classes, moments.counts, moments.sums, strict=True):
        assert count == np.sum(y == name)
        np.testing.assert_allclose(total, X[y == name].sum(axis=0))
    np.testing.assert_allclose(moments.mean, X.mean(axis=0))
    np.testing.assert_allclose(moments.class_means[0], X[y == moments.classes[0]].mean(axis=0))
    assert (moments.n_samples, moments.n_features) == (60, 5)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    order=st.randoms(use_true_random=False),
    centered=st.booleans(),
)
def test_parts_added_in_any_order_are_the_whole(seed, cuts, order, centered):
    X, y = labeled(seed)
    parts = [
        Moments.of(x, labels, centered=centered)
        for x, labels in zip(np.split(X, sorted(cuts)), np.split(y, sorted(cuts)), strict=True)
    ]
    order.shuffle(parts)
    total = Moments.empty(5, centered=centered)
    for part in parts:
        total = total + part
    assert_same(total, Moments.of(X, y, centered=centered))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**16), cut=st.integers(0, 59), centered=st.booleans())
def test_a_part_taken_away_was_never_seen(seed, cut, centered):
    X, y = labeled(seed)
    whole = Moments.of(X, y, centered=centered)
    rest = whole - Moments.of(X[:cut], y[:cut], centered=centered)
    assert_same(rest, Moments.of(X[cut:], y[cut:], centered=centered))


def test_a_class_taken_away_altogether_is_gone():
    X, y = labeled(1)
    cows = y == "cow"
    rest = Moments.of(X, y) - Moments.of(X[cows], y[cows])
    assert "cow" not in rest.classes
    assert_same(rest, Moments.of(X[~cows], y[~cows]))


def test_everything_taken_away_leaves_nothing():
    X, y = labeled(1)
    nothing = Moments.of(X, y) - Moments.of(X, y)
    assert len(nothing.classes) == 0
    np.testing.assert_array_equal(nothing.gram, 0.0)


def test_more_cannot_be_taken_away_than_there_is():
    X, y = labeled(2)
    with pytest.raises(InvalidInputError, match="more samples of a class"):
        Moments.of(X[:10], y[:10]) - Moments.of(X, y)


def test_a_large_offset_costs_centered_moments_no_digits():
    X, y = labeled(3, n=400)
    shifted = X + 1e6
    merged = Moments.empty(5, centered=True)
    for rows in np.array_split(np.arange(400), 7):
        merged += Moments.of(shifted[rows], y[rows], centered=True)
    # The reference is centered exactly: 1e6 + x is rounded first, then 1e6 is taken off.
    exact = Moments.of(shifted - 1e6, y, centered=True)
    np.testing.assert_allclose(merged.gram, exact.gram, rtol=1e-9, atol=1e-9 * exact.gram.max())
    np.testing.assert_allclose(merged.mean - 1e6, exact.mean, atol=1e-9)
    kept = merged - Moments.of(shifted[:200], y[:200], centered=True)
    half = Moments.of(shifted[200:] - 1e6, y[200:], centered=True)
    np.testing.assert_allclose(kept.gram, half.gram, rtol=1e-8, atol=1e-8 * half.gram.max())


def test_centered_moments_are_the_scatter_about_the_mean():
    X, y = labeled(4)
    centered = X - X.mean(axis=0)
    np.testing.assert_allclose(
        Moments.of(X, y, centered=True, block_rows=7).gram, centered.T @ centered
    )


@pytest.mark.parametrize("offset", [0.0, 1.0, 10.0])
def test_float32_blocks_lose_less_than_a_millionth(offset):
    rng = np.random.default_rng(5)
    X = (np.abs(rng.standard_normal((20_000, 16))) + offset).astype(np.float32)
    y = (np.arange(20_000) < 50).astype(int)
    single, double = Moments.of(X, y), Moments.of(X.astype(np.float64), y)
    np.testing.assert_allclose(single.sums, double.sums, rtol=1e-6)
    np.testing.assert_allclose(single.gram, double.gram, rtol=1e-6)
    assert single.gram.dtype == single.sums.dtype == np.float64


def test_half_precision_is_widened():
    X, y = labeled(6)
    half = X.astype(np.float16)
    assert_same(Moments.of(half, y), Moments.of(half.astype(np.float64), y), rtol=1e-6)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_equals_dense(centered, weighted):
    X, y = labeled(7)
    X[np.abs(X) < 0.7] = 0.0
    weight = np.linspace(0.1, 2.0, len(y)) if weighted else None
    dense = Moments.of(X, y, centered=centered, sample_weight=weight)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        assert_same(Moments.of(kind(X), y, centered=centered, sample_weight=weight), dense)


@pytest.mark.parametrize("centered", [False, True])
def test_weights_are_repetitions(centered):
    X, y = labeled(8)
    times = np.arange(len(y)) % 4
    weighted = Moments.of(X, y, sample_weight=times, centered=centered, block_rows=11)
    repeated = Moments.of(np.repeat(X, times, axis=0), np.repeat(y, times), centered=centered)
    assert_same(weighted, repeated)


def test_a_class_of_weight_zero_is_not_there():
    X, y = labeled(9)
    weight = (y != "cow").astype(float)
    assert_same(Moments.of(X, y, sample_weight=weight), Moments.of(X[y != "cow"], y[y != "cow"]))


def test_small_weights_are_not_taken_for_nothing():
    X, y = labeled(9)
    weight = np.full(len(y), 1e-12)
    light = Moments.of(X, y, sample_weight=weight, block_rows=13)
    np.testing.assert_allclose(light.class_means, Moments.of(X, y).class_means)
    rest = light - Moments.of(X[:20], y[:20], sample_weight=weight[:20])
    np.testing.assert_allclose(rest.class_means, Moments.of(X[20:], y[20:]).class_means)


def test_no_rows_are_the_neutral_element():
    X, y = labeled(10)
    nothing = Moments.of(np.empty((0, 5)), [])
    assert_same(nothing + Moments.of(X, y), Moments.of(X, y))
    assert_same(Moments.of(X, y) + nothing, Moments.of(X, y))


def test_labels_may_be_python_objects():
    X, y = labeled(11)
    moments = Moments.of(X, y.astype(object))
    assert_same(moments, Moments.of(X, y))
    assert_same(moments + Moments.of(X, y), Moments.of(np.vstack([X, X]), np.tile(y, 2)))


def test_longer_names_are_not_cut_off():
    X, _ = labeled(12, n=2)
    both = Moments.of(X[:1], ["ox"]) + Moments.of(X[1:], ["ocelot"])
    assert both.classes.tolist() == ["ocelot", "ox"]


def test_restricted_follows_the_order_asked_for():
    X, y = labeled(13)
    moments = Moments.of(X, y)
    counts, sums = moments.restricted(["fox", "bat"])
    assert counts.tolist() == [np.sum(y == "fox"), np.sum(y == "bat")]
    np.testing.assert_allclose(sums[0], X[y == "fox"].sum(axis=0))
    with pytest.raises(InvalidInputError, match="not in the moments"):
        moments.restricted(["fox", "yak"])
    with pytest.raises(InvalidInputError, match="not in the moments"):
        Moments.empty(5).restricted(["fox"])


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.ones((3, 2)), ["a", "b"], "3 rows but their labels have 2"),
        (np.ones(3), ["a", "b", "c"], "one row per sample"),
        (np.ones((2, 2)), [["a"], ["b"]], "one per sample"),
        (np.ones((2, 2)), np.array(["a", 1], dtype=object), "mix text and numbers"),
    ],
)
def test_wrong_shapes_and_labels_are_refused(X, y, says):
    with pytest.raises(InvalidInputError, match=says):
        Moments.of(X, y)


@pytest.mark.parametrize("weight", [[1.0], [1.0, -1.0], [1.0, np.nan]])
def test_wrong_weights_are_refused(weight):
    with pytest.raises(InvalidInputError, match="finite, non-negative"):
        Moments.of(np.ones((2, 2)), ["a", "b"], sample_weight=weight)


def test_moments_that_do_not_fit_together_are_refused():
    a = Moments.of(np.ones((2, 2)), ["a", "b"])
    with pytest.raises(InvalidInputError, match="2 and of 3 features"):
        a + Moments.of(np.ones((2, 3)), ["a", "b"])
    with pytest.raises(InvalidInputError, match="raw and centered"):
        a + Moments.of(np.ones((2, 2)), ["a", "b"], centered=True)
    with pytest.raises(InvalidInputError, match="text and by number"):
        a + Moments.of(np.ones((2, 2)), [1, 2])
    with pytest.raises(TypeError, match="unsupported operand"):
        a + 1


def test_class_moments_expand_to_the_products_of_all_rows():
    X, y = labeled(14)
    moments = Moments.of(X, y)
    table = np.random.default_rng(0).standard_normal((len(moments.classes), 3))
    S = table[np.searchsorted(moments.classes, y)]
    short, long = PairMoments.of_classes(moments, table), PairMoments.of(X, S)
    np.testing.assert_allclose(short.semantic_gram, S.T @ S)
    np.testing.assert_allclose(short.cross, S.T @ X)
    for name in ("semantic_gram", "cross", "feature_gram", "n_samples"):
        np.testing.assert_allclose(getattr(short, name), getattr(long, name))


def test_pair_moments_add_and_subtract():
    X, _ = labeled(15)
    S = np.random.default_rng(1).standard_normal((60, 3))
    a, b = PairMoments.of(X[:20], S[:20]), PairMoments.of(sparse.csr_array(X[20:]), S[20:])
    whole = PairMoments.of(X, S)
    np.testing.assert_allclose((a + b).cross, whole.cross)
    np.testing.assert_allclose((whole - b).feature_gram, a.feature_gram, atol=1e-12)


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


def test_the_gram_matrix_of_many_rows_is_that_of_all_its_pieces():
    X = np.random.default_rng(0).standard_normal((2 * PIECE_ROWS + 5, 3)).astype(np.float32)
    wide = X.astype(np.float64)
    np.testing.assert_allclose(gram_of(X), wide.T @ wide, rtol=1e-5, atol=0.01)
