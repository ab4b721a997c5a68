"""Synthetic data: the map it promises is the map it uses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError


@settings(deadline=None, max_examples=25)
@given(
    st.integers(1, 6), st.integers(1, 4), st.integers(1, 5), st.integers(1, 9), st.integers(1, 7)
)
def test_sizes_are_those_asked_for(n_seen, n_unseen, n_per_class, n_features, n_dimensions):
    data = make_zero_shot(
        n_seen,
        n_unseen,
        n_per_class=n_per_class,
        n_features=n_features,
        n_dimensions=n_dimensions,
        random_state=0,
    )
    assert data.X.shape == ((n_seen + n_unseen) * n_per_class, n_features)
    assert data.signatures.vectors.shape == (n_seen + n_unseen, n_dimensions)
    assert set(np.unique(data.y, return_counts=True)[1]) == {n_per_class}
    split = data.split("standard")
    assert (len(split.seen), len(split.unseen)) == (n_seen, n_unseen)


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_without_noise_features_are_the_map_of_the_signature(shift):
    data = make_zero_shot(noise=0.0, domain_shift=shift, random_state=1)
    split = data.split("standard")
    maps = {"true_coef": split.seen, "true_coef_unseen": split.unseen}
    for name, classes in maps.items():
        rows = data.rows(classes)
        expected = data.signatures.rows(data.y[rows]) @ data.extra[name]
        assert np.allclose(data.X[rows], expected, atol=1e-12)


def test_least_squares_finds_the_true_map():
    data = make_zero_shot(n_per_class=200, noise=0.3, random_state=2)
    rows = data.rows(data.split("standard").seen)
    S = data.signatures.rows(data.y[rows])
    found, *_ = np.linalg.lstsq(S, data.X[rows], rcond=None)
    # Standard error of a coefficient: noise · sqrt of the diagonal of (SᵀS)⁻¹; 5 of them are safe.
    error = 0.3 * np.sqrt(np.diag(np.linalg.inv(S.T @ S)).max())
    assert np.abs(found - data.extra["true_coef"]).max() < 5 * error


def test_noise_has_the_stated_deviation():
    clean, noisy = (make_zero_shot(noise=noise, random_state=3).X for noise in (0.0, 0.5))
    residual = noisy - clean
    assert residual.std() == pytest.approx(0.5, rel=0.02)
    assert abs(residual.mean()) < 0.01


def test_shift_has_the_stated_size_and_leaves_seen_classes_alone():
    plain = make_zero_shot(random_state=4)
    shifted = make_zero_shot(domain_shift=0.5, random_state=4)
    seen, unseen = (
        plain.rows(side) for side in (plain.split("standard").seen, plain.split("standard").unseen)
    )
    assert np.array_equal(plain.X[seen], shifted.X[seen])
    assert not np.allclose(plain.X[unseen], shifted.X[unseen], atol=0.1)
    W, W_unseen = shifted.extra["true_coef"], shifted.extra["true_coef_unseen"]
    assert np.linalg.norm(W_unseen - W) == pytest.approx(0.5 * np.linalg.norm(W))
    assert np.array_equal(plain.extra["true_coef"], plain.extra["true_coef_unseen"])


def test_larger_shift_is_harder():
    accuracies = []
    for shift in (0.0, 3.0, 10.0):
        data = make_zero_shot(n_unseen=10, domain_shift=shift, random_state=5)
        split = data.split("standard")
        rows = data.rows(split.unseen)
        expected = data.signatures.rows(split.unseen) @ data.extra["true_coef"]
        distance = np.linalg.norm(data.X[rows, None] - expected, axis=2)
        accuracies.append(np.mean(split.unseen[distance.argmin(axis=1)] == data.y[rows]))
    assert accuracies[0] == 1.0
    assert accuracies[0] > accuracies[1] > accuracies[2]


def test_seed_repeats_the_data():
    first, again, other = (make_zero_shot(random_state=seed).X for seed in (6, 6, 7))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.parametrize(
    "name", ["n_seen", "n_unseen", "n_per_class", "n_features", "n_dimensions"]
)
def test_counts_below_one_are_refused(name):
    with pytest.raises(
        InvalidInputError, match=f"{name} must be a whole number of at least 1; got 0"
    ):
        make_zero_shot(**{name: 0})


@pytest.mark.parametrize("name", ["noise", "domain_shift"])
@pytest.mark.parametrize("value", [-0.1, np.inf, np.nan])
def test_sizes_that_are_no_sizes_are_refused(name, value):
    with pytest.raises(InvalidInputError, match=f"{name} must be a number .*got {value}"):
        make_zero_shot(**{name: value})
