from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from zslearn.core.nearest import (
    METRICS,
    Comparison,
    Targets,
    best_columns,
    class_vectors,
    ready_queries,
    row_blocks,
    row_norms,
    scores,
    unit_rows,
)
from zslearn.exceptions import InvalidInputError


def pair(seed=0, n=23, m=9, d=6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((m, d))


def literal(Q, C, metric):
    """Scores by scipy, sample by sample."""
    if metric == "dot":
        return Q @ C.T
    if metric == "cosine":
        return 1.0 - cdist(Q, C, "cosine")
    return -cdist(Q, C, "sqeuclidean")


@pytest.mark.parametrize("metric", METRICS)
def test_scores_agree_with_scipy(metric):
    Q, C = pair()
    np.testing.assert_allclose(scores(Q, C, metric), literal(Q, C, metric), atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_sparse_and_float32_queries(metric):
    Q, C = pair(1)
    Q[np.abs(Q) < 0.5] = 0.0
    np.testing.assert_allclose(
        scores(sparse.csr_array(Q), C, metric), scores(Q, C, metric), atol=1e-12
    )
    single = scores(Q.astype(np.float32), C, metric)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, scores(Q, C, metric), atol=1e-5)


@pytest.mark.parametrize("metric", METRICS)
def test_whole_numbers_do_not_truncate_the_classes(metric):
    Q = np.array([[3, 4], [-2, 1]])
    C = np.array([[0.5, 0.25], [-0.75, 0.5]])
    np.testing.assert_allclose(scores(Q, C, metric), literal(Q.astype(float), C, metric))
    np.testing.assert_array_equal(best_columns(scores(Q, C, metric), 1)[0].ravel(), [0, 1])


@pytest.mark.parametrize("metric", METRICS)
def test_vectors_of_zeros_never_give_nan(metric):
    Q, C = pair(2)
    Q[0] = C[0] = 0.0
    got = scores(Q, C, metric)
    assert np.all(np.isfinite(got))
    if metric == "cosine":
        np.testing.assert_array_equal(got[0], 0.0)
        np.testing.assert_array_equal(got[:, 0], 0.0)
    np.testing.assert_array_equal(unit_rows(sparse.csr_array(Q)).toarray()[0], 0.0)


@settings(max_examples=300, deadline=None)
@given(
    st.tuples(st.integers(0, 40), st.integers(1, 1400)),
    st.sampled_from([1, 2, 5, 11, 10**4]),
    st.sampled_from([1, 2, 7, 300, 10**6]),
    st.sampled_from([np.float32, np.float64]),
    st.integers(0, 2**31),
)
def test_the_best_columns_are_those_of_a_stable_sort(shape, k, levels, dtype, seed):
    """Ties, infinite numbers, any k up to the number of columns, groups with and without a rest."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-levels, levels, shape).astype(dtype) / dtype(levels)
    values[rng.random(shape) < rng.choice([0.0, 0.01, 0.9])] = -np.inf
    values[rng.random(shape) < rng.choice([0.0, 0.0, 0.01])] = np.inf
    k = min(k, shape[1])
    before = values.copy()
    columns, best = best_columns(values, k)
    wanted = np.argsort(-values, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(columns, wanted)
    np.testing.assert_array_equal(best, np.take_along_axis(values, wanted, axis=1))
    np.testing.assert_array_equal(values, before)
    assert best.dtype == dtype


def test_equal_rows_and_one_class_that_stands_out_in_each_group_boundary():
    values = np.zeros((12, 21_841), dtype=np.float32)
    places = np.array([0, 255, 256, 21_759, 21_760, 21_840])
    values[:6, :][np.arange(6), places] = 1.0
    columns, _ = best_columns(values, 3)
    for row, place in enumerate(places):
        others = [column for column in range(3) if column != place][:2]
        assert columns[row].tolist() == [place, *others]
    assert columns[6:].tolist() == [[0, 1, 2]] * 6


def test_a_score_that_is_no_number_disturbs_no_other_row():
    values = np.random.default_rng(5).standard_normal((20, 900))
    values[7, 13] = values[19, 899] = np.nan
    columns, _ = best_columns(values, 4)
    wanted = np.argsort(-np.nan_to_num(values, nan=np.inf), axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(columns, wanted)


@pytest.mark.parametrize("block_bytes", [1, 5_000, 2**26])
@pytest.mark.parametrize("metric", METRICS)
def test_the_best_in_blocks_of_any_size(metric, block_bytes):
    rng = np.random.default_rng(3)
    Q = rng.integers(-1, 2, (31, 3)).astype(float) + 0.0
    C = rng.integers(-1, 2, (700, 3)).astype(float)  # many equal classes: many ties
    C[:, 0] += 2.0
    Q[~Q.any(axis=1)] = 1.0
    targets = Targets.of(C, metric)
    blocks = row_blocks(len(Q), 8 * len(C), block_bytes)
    parts = [best_columns(targets.scores(Q[rows]), 4) for rows in blocks]
    indices, values = map(np.concatenate, zip(*parts, strict=True))
    full = scores(Q, C, metric)
    np.testing.assert_allclose(values, -np.sort(-full, axis=1)[:, :4], atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(full, indices, axis=1), values, atol=1e-12)
    assert all(len(set(row)) == 4 for row in indices.tolist())
    if metric == "dot":  # exact in floating point here, so ties are ties
        wanted = np.argsort(-full, axis=1, kind="stable")[:, :4]
        np.testing.assert_array_equal(indices, wanted)


def test_row_blocks_cover_every_row_once():
    for n_rows, per_row, size in ((10, 8, 24), (10, 0, 1), (7, 100, 1), (0, 8, 8)):
        rows = [i for block in row_blocks(n_rows, per_row, size) for i in range(n_rows)[block]]
        assert rows == list(range(n_rows))


def test_an_unknown_metric_is_refused():
    with pytest.raises(InvalidInputError, match="'cosine', 'dot' or 'euclidean'; got 'manhattan'"):
        scores(*pair(), "manhattan")
    with pytest.raises(InvalidInputError, match="got 'manhattan'"):
        Targets.of(pair()[1], "manhattan")


@pytest.mark.parametrize(
    ("factor", "dtype"),
    [(1e200, np.float64), (1e-200, np.float64), (1e-160, np.float64), (3e19, np.float32)],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_directions_survive_squares_that_overflow_or_vanish(factor, dtype, form):
    M = np.random.default_rng(0).standard_normal((5, 4)).astype(dtype)
    M[3] = 0
    tolerance = 10 * np.finfo(dtype).eps
    mixed = M * np.array([factor, 1, factor, 1, 1])[:, None].astype(dtype)
    units = unit_rows(form(mixed))
    units = units.toarray() if sparse.issparse(units) else units
    np.testing.assert_allclose(units, unit_rows(M), rtol=tolerance)
    lengths = np.linalg.norm(M.astype(np.float64), axis=1) * [factor, 1, factor, 1, 1]
    np.testing.assert_allclose(row_norms(form(mixed)), lengths, rtol=tolerance)
    np.testing.assert_array_equal(unit_rows(mixed)[1], unit_rows(M)[1])


@pytest.mark.parametrize(("n", "k", "d"), [(3, 5, 9), (40, 5, 9)])
def test_class_vectors_are_the_product_in_either_order_in_memory(n, k, d):
    rng = np.random.default_rng(0)
    S, coef, Q = rng.random((n, k)), rng.random((k, d)), unit_rows(rng.random((4, d)))
    vectors = class_vectors(S, coef)
    np.testing.assert_allclose(vectors, np.einsum("nk,kd->nd", S, coef), rtol=1e-13)
    targets = Targets.of(vectors, "cosine")
    found = targets.scores_of_ready(ready_queries(Q, targets.comparison, unit=True))
    np.testing.assert_allclose(found, literal(Q, vectors, "cosine"), atol=1e-12)


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    return rng.standard_normal(9), rng.standard_normal((5, 4)), rng.standard_normal((4, 9))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("direction", ["encode", "decode"])
def test_a_split_score_sums_to_the_score(parts, metric, direction):
    x, S, W = parts
    q, P = (W @ x, S) if direction == "encode" else (x, S @ W)
    expected = scores(q[None], P, metric)[0]
    for s, wanted in zip(S, expected, strict=True):
        contributions, offset = Comparison.of(metric).split(x, s, W, direction)
        assert contributions.shape == (4,)
        assert contributions.sum() + offset == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_a_dimension_without_weight_contributes_nothing_to_a_decoded_class(parts, metric):
    x, S, W = parts
    s = S[0] * [1, 0, 1, 1]
    assert Comparison.of(metric).split(x, s, W, "decode")[0][1] == 0.0


@pytest.mark.parametrize("metric", METRICS)
def test_the_rule_ranks_as_the_score(parts, metric):
    x, S, W = parts
    P = S @ W
    scale, offset = Comparison.of(metric).rule(row_norms(P))
    difference = scores(x[None], P, metric)[0] * (np.linalg.norm(x) if metric == "cosine" else 1)
    difference -= scale * (P @ x) + offset
    np.testing.assert_allclose(difference, difference[0], atol=1e-12)


def test_offsets_are_added_to_products():
    targets = Targets.of(np.eye(2), "dot", np.array([10.0, 20.0]))
    np.testing.assert_array_equal(targets.scores(np.array([[1.0, 2.0]])), [[11.0, 22.0]])
    single = targets.scores(np.array([[1.0, 2.0]], dtype=np.float32))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, [[11.0, 22.0]])


def test_a_comparison_of_no_metric_is_refused():
    with pytest.raises(InvalidInputError, match="'cosine', 'dot' or 'euclidean'; got 'manhattan'"):
        Comparison.of("manhattan")
