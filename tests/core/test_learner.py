import numpy as np
import pytest

from zslearn.core.learner import FoldedMoments, gather_rows
from zslearn.core.linear_maps import autoencoder_equation
from zslearn.core.moments import Moments
from zslearn.exceptions import InvalidInputError


@pytest.fixture
def problem():
    """Fewer rows in a fold's training part than features, but more in all."""
    rng = np.random.default_rng(0)
    y = np.arange(44) % 8
    S = rng.standard_normal((8, 5))
    X = rng.standard_normal((44, 40)) + (S @ rng.standard_normal((5, 40)))[y]
    folds = [(np.flatnonzero(y % 4 != k), np.flatnonzero(y % 4 == k)) for k in range(4)]
    return X, y, S, folds


@pytest.mark.parametrize("n_rows", [44, 30])
def test_a_small_fold_scores_in_its_own_space_as_in_the_space_of_all_features(problem, n_rows):
    X, y, S, _ = problem
    X, y = X[:n_rows], y[:n_rows]
    train, held_out = np.flatnonzero(y % 4 != 1), np.flatnonzero(y % 4 == 1)
    rest = np.flatnonzero(y % 4 == 0), np.flatnonzero(y % 4 > 1)
    fold = gather_rows(X, y, [(train, held_out), *((train, rows) for rows in rest)]).fold(0)
    assert fold.train.n_features == len(train)
    np.testing.assert_array_equal(fold.classes[fold.truth], y[held_out])
    lams = np.array([0.01, 1.0, 100.0])
    expected, found = (
        rows
        @ autoencoder_equation(moments, S[moments.classes], 100.0)
        .prototypes(S[fold.classes], lams)
        .transpose(0, 2, 1)
        for rows, moments in (
            (X[held_out], Moments.of(X[train], y[train])),
            (fold.X[fold.rows], fold.train),
        )
    )
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_a_fold_with_repeated_rows_stays_in_the_space_of_all_features(problem):
    X, y, _, folds = problem
    X[8] = X[0]
    fold = gather_rows(X, y, folds).fold(1)
    assert fold.train.n_features == 40
    np.testing.assert_allclose(fold.train.gram, X[folds[1][0]].T @ X[folds[1][0]], atol=1e-9)


def test_a_fold_of_many_rows_is_the_total_less_its_part(problem):
    X, y, _, folds = problem
    fold = gather_rows(X[:, :10], y, folds).fold(2)
    assert fold.train.n_features == 10
    np.testing.assert_array_equal(fold.rows, folds[2][1])


def test_folds_need_rows():
    parts = Moments.of(np.eye(3), [0, 1, 2]), Moments.of(np.eye(3), [3, 4, 5])
    with pytest.raises(InvalidInputError, match="judged by rows that were kept"):
        FoldedMoments(parts).fold(0)
