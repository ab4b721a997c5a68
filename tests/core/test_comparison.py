import numpy as np
import pytest

from zslearn.core.nearest import METRICS, Comparison, Targets, row_norms, scores
from zslearn.exceptions import InvalidInputError


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


def test_an_unknown_metric_is_refused():
    with pytest.raises(InvalidInputError, match="'cosine', 'dot' or 'euclidean'; got 'manhattan'"):
        Comparison.of("manhattan")
