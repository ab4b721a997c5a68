"""Posterior prototypes against closed forms, limits and literal transcriptions."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal

from zslearn.core.confidence import LabeledScores
from zslearn.core.posterior_prototypes import (
    ADAPT_STEPS,
    SPREAD,
    LowRankCovariance,
    Novelty,
    adapt,
    informed_priors,
    known_probabilities,
    label_next,
    left_out_weights,
    log_shares,
    miscount,
    posterior_prototypes,
    squared_error,
    worth_in_samples,
)
from zslearn.core.whitening import Whitening


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def kernel(points):
    return np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / points.shape[1])


def test_left_out_weights_are_regressions_without_each_class_in_turn(rng):
    K, M, ridge = kernel(rng.normal(size=(7, 3))), rng.normal(size=(7, 4)), 0.2
    weights, variances = left_out_weights(np.linalg.inv(K + ridge * np.eye(7)))
    for c in range(7):
        others = np.delete(np.arange(7), c)
        inverse = np.linalg.inv(K[np.ix_(others, others)] + ridge * np.eye(6))
        k = K[c, others]
        np.testing.assert_allclose(weights[c] @ M, M[c] - k @ inverse @ M[others], rtol=1e-10)
        assert variances[c] == pytest.approx(1 + ridge - k @ inverse @ k)


def test_left_out_weights_of_several_settings_are_those_of_each(rng):
    inverses = np.linalg.inv(kernel(rng.normal(size=(5, 2))) + np.eye(5)[None] * [[[0.1]], [[1.0]]])
    weights, variances = left_out_weights(inverses)
    for one, w, v in zip(inverses, weights, variances, strict=True):
        alone = left_out_weights(one)
        np.testing.assert_array_equal(w, alone[0])
        np.testing.assert_array_equal(v, alone[1])


def test_the_error_of_descriptions_is_found_again_in_noisy_means():
    rng = np.random.default_rng(1)
    width, counts = 400, np.full(300, 4.0)
    errors = rng.normal(size=(300, width)) * np.sqrt(9.0 / width)
    noise = rng.normal(size=(300, width)) * np.sqrt(20.0 / width / 4)
    assert squared_error(errors + noise, counts, 20.0) == pytest.approx(9.0, rel=0.02)
    assert worth_in_samples(9.0, 20.0) == pytest.approx(20 / 9)


def test_means_of_one_sample_each_may_hold_nothing_but_noise():
    assert squared_error(np.array([[1.0, 1.0]]), np.ones(1), 4.0) == 0.0


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_worth_and_posterior_do_not_depend_on_the_unit_of_the_space(rng, scale):
    R, counts = rng.normal(size=(5, 3)), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    plain = worth_in_samples(squared_error(R, counts, 0.5), 0.5)
    scaled = worth_in_samples(squared_error(scale * R, counts, scale**2 * 0.5), scale**2 * 0.5)
    assert scaled == pytest.approx(plain)
    p, sums, n = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), counts
    found = posterior_prototypes(scale * p, scale * sums, n, plain)
    np.testing.assert_allclose(found, scale * posterior_prototypes(p, sums, n, plain))


def test_the_posterior_is_the_weighted_mean_and_goes_to_its_limits(rng):
    p, Z = rng.normal(size=(1, 4)), rng.normal(size=(6, 4))
    sums, n = Z.sum(axis=0)[None], np.array([6.0])
    found = posterior_prototypes(p, sums, n, 2.5)
    np.testing.assert_allclose(found, (2.5 * p + sums) / 8.5)
    np.testing.assert_array_equal(posterior_prototypes(p, sums, n, np.inf), p)
    np.testing.assert_array_equal(posterior_prototypes(p, 0 * sums, 0 * n, 2.5), p)
    np.testing.assert_allclose(posterior_prototypes(p, sums, n, 1e-300), sums / 6)
    many = posterior_prototypes(p, 1e12 * sums, 1e12 * n, 2.5)
    np.testing.assert_allclose(many, sums / 6, rtol=1e-10)


def test_a_description_worth_kappa_samples_is_kappa_samples_at_its_place(rng):
    p, Z = rng.normal(size=(1, 4)), rng.normal(size=(3, 4))
    as_samples = np.concatenate([np.repeat(p, 5, axis=0), Z]).mean(axis=0)
    found = posterior_prototypes(p, Z.sum(axis=0)[None], np.array([3.0]), 5.0)
    np.testing.assert_allclose(found[0], as_samples)


def test_batches_merge_in_any_order_and_one_posterior_is_the_prior_of_the_next(rng):
    p, Z = rng.normal(size=(1, 4)), rng.normal(size=(7, 4))
    at_once = posterior_prototypes(p, Z.sum(axis=0)[None], np.array([7.0]), 3.0)
    first = posterior_prototypes(p, Z[:2].sum(axis=0)[None], np.array([2.0]), 3.0)
    second = posterior_prototypes(first, Z[2:].sum(axis=0)[None], np.array([5.0]), 5.0)
    np.testing.assert_allclose(second, at_once)


def test_neighbors_are_informed_as_by_a_regression_on_all_classes(rng):
    # Seen classes 0-4, observed ones 5-7, others 8-9; the observed ones have more noise.
    K, M, ridge = kernel(rng.normal(size=(10, 3))), rng.normal(size=(8, 4)), 0.3
    noise = np.concatenate([np.full(5, ridge), ridge + np.array([0.5, 1.0, 2.0])])
    seen, observed, new = np.arange(5), np.arange(5, 8), np.arange(5, 10)
    G = np.linalg.inv(K[np.ix_(seen, seen)] + ridge * np.eye(5))
    predicted = K[new][:, seen] @ G @ M[:5]
    left = K - K[:, seen] @ G @ K[seen]
    rows = np.concatenate([observed, new])
    own = np.array([0, 1, 2, -1, -1])
    found = informed_priors(
        predicted, left[np.ix_(rows, observed)], noise[5:], M[5:] - predicted[:3], own
    )
    for place, c in enumerate(new):
        known = np.setdiff1d(np.arange(8), [c])
        inverse = np.linalg.inv(K[np.ix_(known, known)] + np.diag(noise[known]))
        np.testing.assert_allclose(found[place], K[c, known] @ inverse @ M[known])


def literal_log_shares(counts, delta):
    u, n = len(counts), sum(counts)
    relative = [u * count / n for count in counts]
    variance = sum((x - 1) ** 2 for x in relative) / (u - 1)
    chance = u / n + delta
    excess = variance - chance - 2 * chance * np.sqrt(2 / (u - 1))
    if excess <= 0:
        return np.zeros(u)
    anchor = max(n / u * chance / excess, 1)
    return np.array([np.log((count + anchor) / anchor) for count in counts])


def literal_adapt(Z, p, kappa, temperature, offsets, delta):
    n, u = len(Z), len(p)
    m, shares = p.copy(), np.zeros(u)
    for _ in range(ADAPT_STEPS):
        logits = np.array(
            [
                [(z @ c - c @ c / 2 + o) / temperature for c, o in zip(m, offsets, strict=True)]
                for z in Z
            ]
        )
        q = np.exp(logits + shares - (logits + shares).max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        shares = literal_log_shares(q.sum(axis=0), delta)
        m = np.array(
            [
                (10 * kappa[c] * p[c] + sum(q[i, c] ** 2 * Z[i] for i in range(n)))
                / (10 * kappa[c] + sum(q[i, c] ** 2 for i in range(n)))
                for c in range(u)
            ]
        )
    return m, shares, q


def plain(width):
    """A space in which whitening changes nothing."""
    return Whitening(1.0), np.zeros(width)


def test_adapting_is_the_literal_loop(rng):
    p = 2 * rng.normal(size=(4, 5))
    Z = p[rng.choice(4, 60, p=[0.8, 0.1, 0.1, 0])] + rng.normal(size=(60, 5))
    kappa, offsets = rng.uniform(0.5, 3, size=4), rng.normal(size=4)
    m, shares, q = literal_adapt(Z, p, kappa, 0.7, offsets, 0.1)
    assert np.ptp(shares) > 1
    lower, origin = np.tril(rng.normal(size=(5, 5))) + 3 * np.eye(5), rng.normal(size=5)
    X = np.linalg.solve(lower, Z.T).T + origin
    found = adapt(X, (Whitening(1.0, lower), origin), p, kappa, 0.7, offsets, 0.1)
    np.testing.assert_allclose(found.shares, q.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.log_shares, shares, atol=1e-12)
    moved = posterior_prototypes(p, found.sums, found.weights, kappa)
    np.testing.assert_allclose(moved, m)


def test_adapting_does_not_depend_on_the_order_of_samples_or_classes(rng):
    p, Z = rng.normal(size=(4, 5)), rng.normal(size=(30, 5))
    kappa = rng.uniform(1, 3, size=4)
    straight = adapt(Z, plain(5), p, kappa, 1.0)
    samples, classes = rng.permutation(30), rng.permutation(4)
    turned = adapt(Z[samples], plain(5), p[classes], kappa[classes], 1.0)
    for one, other in zip(turned, straight, strict=True):
        np.testing.assert_allclose(one, other[classes])


def test_adapting_reads_sparse_samples_and_blocks_alike(rng, monkeypatch):
    p, Z, kappa = rng.normal(size=(4, 5)), rng.normal(size=(30, 5)), np.ones(4)
    straight = adapt(Z, plain(5), p, kappa, 1.0)
    monkeypatch.setattr(
        "zslearn.core.posterior_prototypes.row_blocks",
        lambda n, _: [slice(i, i + 7) for i in range(0, n, 7)],
    )
    for X in (Z, sparse.csr_array(Z)):
        for one, other in zip(adapt(X, plain(5), p, kappa, 1.0), straight, strict=True):
            np.testing.assert_allclose(one, other)


def test_few_samples_hardly_move_anything_and_infinite_trust_nothing(rng):
    p, Z = rng.normal(size=(3, 5)), 5 * rng.normal(size=(2, 5))
    few = adapt(Z, plain(5), p, np.ones(3), 0.1)
    assert few.weights.sum() <= 0.2  # two samples count as two tenths of one
    assert np.ptp(few.log_shares) == 0.0
    firm = adapt(np.repeat(Z, 100, axis=0), plain(5), p, np.full(3, np.inf), 0.1)
    np.testing.assert_array_equal(posterior_prototypes(p, firm.sums, firm.weights, np.inf), p)


def test_shares_of_batches_from_equal_classes_stay_equal():
    rng = np.random.default_rng(3)
    for n in (20, 200, 5000):
        drawn = [rng.multinomial(n, np.full(20, 0.05)).astype(float) for _ in range(200)]
        apart = [np.ptp(log_shares(counts)) > 0 for counts in drawn]
        assert np.mean(apart) < 0.06  # two standard errors, and the variance is skewed


def test_uneven_shares_are_found_again_less_what_is_miscounted():
    counts = 1000 * np.array([0.5, 0.3, 0.1, 0.06, 0.04])
    found = log_shares(counts)
    np.testing.assert_allclose(found - found[0], np.log(counts / counts[0]), atol=0.05)
    spread = [np.ptp(log_shares(counts, delta)) for delta in (0.0, 0.1, 0.3, 1.0)]
    assert spread == sorted(spread, reverse=True)
    assert spread[-1] == 0.0
    assert log_shares(np.array([7.0])).tolist() == [0.0]
    assert log_shares(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_what_is_miscounted_is_the_variance_of_counts_of_equally_large_classes():
    scores = np.log([[0.9, 0.1], [0.9, 0.1], [0.5, 0.5]])
    weights = np.array([0.25, 0.25, 0.5])  # two classes, one of two samples
    part = LabeledScores(scores, np.array([0, 0, 1]), weights)
    # expected counts 1.4 and 0.6 where both should be 1
    assert miscount([part], 1.0) == pytest.approx(0.4**2 + 0.4**2)
    assert miscount([part, part._replace(scores=np.zeros((3, 2)))], 1.0) == pytest.approx(0.16)


def test_samples_of_none_of_the_classes_move_nothing(rng):
    p, Z = rng.normal(size=(3, 5)), rng.normal(size=(60, 5))
    known = (np.arange(60) < 20).astype(float)
    found = adapt(Z, plain(5), p, np.ones(3), 1.0, known=known)
    alone = adapt(Z[:20], plain(5), p, np.ones(3), 1.0)
    for one, other in zip(found, alone, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    nothing = adapt(Z, plain(5), p, np.ones(3), 1.0, known=np.zeros(60))
    assert all((part == 0).all() for part in nothing)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_the_share_of_samples_of_none_of_the_classes_is_found_again(share):
    rng = np.random.default_rng(5)
    unknown = rng.uniform(size=20_000) < share
    x = rng.normal(size=20_000) + np.where(unknown, -1.0, 1.0)
    found = known_probabilities(5 * 2 * x, 5.0)  # log N(x; 1, 1) / N(x; −1, 1) = 2 x, at T = 5
    assert 1 - found.mean() == pytest.approx(share, abs=0.02)


def test_a_large_batch_of_known_shares_is_found_again():
    rng = np.random.default_rng(2)
    truth = 4 * np.eye(3, 6)
    described = truth + rng.normal(size=(3, 6))
    y = rng.choice(3, p=[0.7, 0.25, 0.05], size=4000)
    Z = truth[y] + rng.normal(size=(4000, 6))
    found = adapt(Z, plain(6), described, np.ones(3), 1.0)
    moved = posterior_prototypes(described, found.sums, found.weights, np.ones(3))
    before = np.linalg.norm(described - truth, axis=1)
    after = np.linalg.norm(moved - truth, axis=1)
    assert (after < 0.35 * before).all()
    np.testing.assert_allclose(found.shares, [0.7, 0.25, 0.05], atol=0.02)


def dense(R, variance, total):
    C, D = R.shape
    return (variance + SPREAD * total / D) * np.eye(D) + (1 - SPREAD) * R.T @ R / C


@pytest.mark.parametrize("n_classes", [3, 12])
def test_low_rank_covariances_are_the_dense_ones(rng, n_classes):
    R, Z, points = (rng.normal(size=(n, 8)) for n in (n_classes, 5, 3))
    S = dense(R, 0.7, 4.0)
    found = LowRankCovariance.of(R, 0.7, 4.0)
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(S)[1])
    np.testing.assert_allclose(found.solved(Z), Z @ np.linalg.inv(S))
    expected = [[(z - p) @ np.linalg.inv(S) @ (z - p) for p in points] for z in Z]
    np.testing.assert_allclose(found.squared_distances(Z, points), expected)


def test_deviations_of_zero_leave_an_even_covariance():
    found = LowRankCovariance.of(np.zeros((3, 4)), 2.0, 0.0)
    assert found.axes.shape == (0, 4)
    assert found.log_determinant == pytest.approx(4 * np.log(2))


def test_novelty_is_the_ratio_of_two_gaussian_densities(rng):
    R, M, counts = rng.normal(size=(6, 5)), 3 * rng.normal(size=(6, 5)), np.arange(1.0, 7.0)
    Z, p = rng.normal(size=(4, 5)), rng.normal(size=(3, 5))
    novelty = Novelty.of(R, M, counts, 2.0)
    error = squared_error(R, counts, 2.0)
    between = (M**2).sum() / 6 - 2.0 * (1 / counts).mean()
    E, B = dense(R, 2.0 / 5, error), dense(M, 2.0 / 5, between)
    found, free = novelty.ratios(Z, p)
    for i, z in enumerate(Z):
        unknown = multivariate_normal(np.zeros(5), B).logpdf(z)
        for c, prototype in enumerate(p):
            assert found[i, c] == pytest.approx(
                multivariate_normal(prototype, E).logpdf(z) - unknown
            )
            d = (z - prototype) @ np.linalg.inv(E) @ (z - prototype)
            d0 = z @ np.linalg.inv(B) @ z
            logs = np.linalg.slogdet(B)[1] - np.linalg.slogdet(E)[1]
            assert free[i, c] == pytest.approx((5 * np.log(d0 / d) + logs) / 2)


def test_a_sample_at_its_prototype_is_finite_and_less_new_than_one_far_away(rng):
    novelty = Novelty.of(rng.normal(size=(6, 5)), 3 * rng.normal(size=(6, 5)), np.ones(6), 2.0)
    p = rng.normal(size=(1, 5))
    at, away = (novelty.ratios(p + step, p)[:, 0, 0] for step in (0.0, 9.0))
    assert np.isfinite(at).all()
    assert (at > away).all()


def literal_next(q, counts, kappa, n):
    counts, chosen = counts.astype(float).copy(), []
    for _ in range(n):
        worths = {}
        for i in set(range(len(q))) - set(chosen):
            a, b = np.argsort(-q[i], kind="stable")[:2]
            variance = {c: kappa / (kappa + counts[c]) for c in (a, b)}
            worths[i] = (
                q[i, a] * q[i, b] * sum(v / (kappa + counts[c] + 1) for c, v in variance.items())
            )
        best = max(worths, key=worths.get)
        chosen.append(best)
        a, b = np.argsort(-q[best], kind="stable")[:2]
        for c in (a, b):
            counts[c] += q[best, c] / (q[best, a] + q[best, b])
    return chosen


def test_samples_to_label_next_are_those_of_the_literal_rule(rng):
    q = rng.dirichlet(np.ones(5), size=40)
    counts = np.array([0.0, 0.0, 3.0, 10.0, 1.0])
    rows, worths = label_next(q, counts, 2.0, 15)
    assert rows.tolist() == literal_next(q, counts, 2.0, 15)
    assert (worths > 0).all()
    assert len(set(rows.tolist())) == 15


def test_what_is_sure_or_well_known_is_not_asked_for():
    q = np.array([[0.99, 0.01, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    rows, _ = label_next(q, np.array([50.0, 0.0, 0.0]), 2.0, 3)
    assert rows.tolist() == [2, 1, 0]


def test_all_samples_may_be_asked_for_and_infinite_trust_asks_in_order():
    q = np.full((4, 2), 0.5)
    rows, worths = label_next(q, np.zeros(2), np.inf, 4)
    assert rows.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(worths, 0.0)
