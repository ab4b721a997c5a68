from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from zslearn.autoencoder import SemanticAutoencoder, SemanticAutoencoderCV
from zslearn.exceptions import InvalidInputError

SOLVERS = ["auto", "spectral", "tridiagonal", "reference"]


def paired(seed=0, n=50, d=11, k=4):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((n, k))
    X = S @ rng.standard_normal((k, d)) + 0.3 * rng.standard_normal((n, d))
    return X, S


def algorithm_1(X, S, lam):
    """The paper's Algorithm 1, letter by letter: X is d×N, S is k×N."""
    return linalg.solve_sylvester(S @ S.T, lam * X @ X.T, (1 + lam) * S @ X.T)


@parametrize_with_checks([SemanticAutoencoder(), SemanticAutoencoderCV()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("lam", [1e-3, 0.2, 1.0, 1e4])
def test_fit_is_algorithm_1(solver, lam):
    X, S = paired()
    W = SemanticAutoencoder(lam, solver=solver).fit(X, S).coef_
    np.testing.assert_allclose(W, algorithm_1(X.T, S.T, lam), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("solver", ["auto", "spectral", "tridiagonal"])
def test_more_features_than_samples_is_the_big_solve(solver):
    X, S = paired(1, n=12, d=40)
    W = SemanticAutoencoder(0.5, solver=solver).fit(X, S).coef_
    np.testing.assert_allclose(W, algorithm_1(X.T, S.T, 0.5), atol=1e-9)
    batch = SemanticAutoencoder(0.5, solver=solver).partial_fit(X, S).coef_
    np.testing.assert_allclose(W, batch, atol=1e-9)


def test_the_known_map_is_found_without_noise():
    rng = np.random.default_rng(2)
    W = np.linalg.qr(rng.standard_normal((9, 3)))[0].T  # orthonormal rows: W Wᵀ = I
    S = rng.standard_normal((40, 3))
    model = SemanticAutoencoder(1.0).fit(S @ W, S)
    np.testing.assert_allclose(model.coef_, W, atol=1e-12)
    np.testing.assert_allclose(model.transform(S @ W), S, atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(S), S @ W, atol=1e-12)
    assert model.reconstruction_error(S @ W) < 1e-20


@pytest.mark.parametrize("cuts", [[25], [1, 2, 30], [10, 20, 30, 40]])
def test_any_batching_gives_the_model_of_one_fit(cuts):
    X, S = paired(3)
    whole = SemanticAutoencoder(0.7).fit(X, S)
    model = SemanticAutoencoder(0.7)
    for x, s in zip(np.split(X, cuts), np.split(S, cuts), strict=True):
        model.partial_fit(x, s)
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-10)
    assert model.n_samples_seen_ == whole.n_samples_seen_ == 50


def test_fit_forgets_earlier_batches():
    X, S = paired(4)
    model = SemanticAutoencoder(0.7).partial_fit(X[:20], S[:20]).fit(X[20:], S[20:])
    wanted = SemanticAutoencoder(0.7).fit(X[20:], S[20:]).coef_
    np.testing.assert_allclose(model.coef_, wanted)
    model.partial_fit(X[:20], S[:20])
    wanted = SemanticAutoencoder(0.7).fit(X[:20], S[:20]).coef_
    np.testing.assert_allclose(model.coef_, wanted, atol=1e-10)


def test_sparse_and_float32_features():
    X, S = paired(5)
    X[np.abs(X) < 0.5] = 0.0
    dense = SemanticAutoencoder().fit(X, S)
    thin = SemanticAutoencoder().fit(sparse.csr_array(X), S)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-12)
    np.testing.assert_allclose(thin.transform(sparse.csr_array(X)), dense.transform(X), atol=1e-12)
    assert thin.reconstruction_error(sparse.csr_array(X)) == pytest.approx(
        dense.reconstruction_error(X)
    )
    single = SemanticAutoencoder().fit(X.astype(np.float32), S.astype(np.float32))
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-5)


def test_the_codes_get_names():
    X, S = paired(6)
    names = SemanticAutoencoder().fit(X, S).get_feature_names_out()
    assert names.tolist() == [f"semanticautoencoder{i}" for i in range(4)]


@pytest.mark.parametrize("lam", [0, -1.0, np.nan, np.inf, "abc", True, None, [1.0]])
def test_a_bad_lam_is_refused(lam):
    for method in ("fit", "partial_fit"):
        with pytest.raises(InvalidInputError, match="lam must be"):
            getattr(SemanticAutoencoder(lam), method)(*paired())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda X, S: (X[:-1], S), "inconsistent"),
        (lambda X, S: (X[0], S), "Expected 2D array"),
        (lambda X, S: (np.full(X.shape, "red", dtype=object), S), "could not convert"),
        (lambda X, S: (np.where(X == X[3, 2], np.nan, X), S), "NaN"),
        (lambda X, S: (np.where(X == X[3, 2], np.inf, X), S), "infinity"),
        (lambda X, S: (X, np.where(S == S[3, 2], np.nan, S)), "NaN"),
        (lambda X, S: (X[:0], S[:0]), "minimum of 1"),
    ],
)
@pytest.mark.parametrize("model", [SemanticAutoencoder(), SemanticAutoencoderCV()])
def test_bad_input_is_refused(model, change, says):
    with pytest.raises(ValueError, match=says):
        clone(model).fit(*change(*paired()))


def test_dimensions_that_do_not_match_are_refused():
    X, S = paired(7)
    model = SemanticAutoencoder().fit(X, S)
    with pytest.raises(InvalidInputError, match=r"S has 3 dimensions, .* fitted with 4"):
        model.inverse_transform(S[:, :3])
    with pytest.raises(ValueError, match=r"10 features, but .* expecting 11"):
        model.transform(X[:, :10])
    batches = SemanticAutoencoder().partial_fit(X, S)
    with pytest.raises(InvalidInputError, match="3 semantic dimensions but earlier ones had 4"):
        batches.partial_fit(X, S[:, :3])
    with pytest.raises(InvalidInputError, match=r"solver must be .* got 'magic'"):
        SemanticAutoencoder(solver="magic").fit(X, S)


def test_features_of_zeros_give_zeros_and_no_nan():
    X, S = paired(8)
    assert np.all(SemanticAutoencoder().fit(np.zeros_like(X), S).coef_ == 0)


LAMS = [1e-3, 0.1, 1.0, 50.0]


def of_classes(seed=0, n_classes=12, per_class=6, d=9, k=4):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((n_classes, k))[np.repeat(np.arange(n_classes), per_class)]
    X = S @ rng.standard_normal((k, d)) + 0.8 * rng.standard_normal((len(S), d))
    return X, S


def explained(model, X, S, direction, norm):
    """One less the mean squared error over the mean squared norm, from the definition."""
    error = model.transform(X) - S if direction == "encode" else model.inverse_transform(S) - X
    return 1 - np.mean(np.sum(error**2, axis=1)) / norm


@pytest.mark.parametrize("direction", ["encode", "decode"])
@pytest.mark.parametrize("over_classes", [True, False])
def test_the_search_is_an_explicit_loop(direction, over_classes):
    X, S = of_classes()
    if not over_classes:
        S = S + 1e-3 * np.random.default_rng(1).standard_normal(S.shape)
    model = SemanticAutoencoderCV(LAMS, cv=3, direction=direction).fit(X, S)
    assert model.folds_over_classes_ is over_classes
    groups = np.unique(S, axis=0, return_inverse=True)[1].ravel()
    folds = GroupKFold(3).split(X, S, groups) if over_classes else KFold(3).split(X)
    norm = np.mean(np.sum((S if direction == "encode" else X) ** 2, axis=1))
    wanted = np.empty((len(LAMS), 3))
    for fold, (train, test) in enumerate(folds):
        for row, lam in enumerate(LAMS):
            one = SemanticAutoencoder(lam).fit(X[train], S[train])
            wanted[row, fold] = explained(one, X[test], S[test], direction, norm)
    for fold in range(3):
        found = model.cv_results_[f"split{fold}_test_score"]
        np.testing.assert_allclose(found, wanted[:, fold], atol=1e-9)
    assert model.lam_ == LAMS[int(wanted.mean(axis=1).argmax())]
    best = SemanticAutoencoder(model.lam_).fit(X, S)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-9)


def test_more_features_than_samples():
    X, S = of_classes(2, n_classes=5, per_class=3, d=30)
    wide = SemanticAutoencoderCV(LAMS, cv=2).fit(X, S)
    tall = SemanticAutoencoderCV(LAMS, cv=2, solver="spectral").fit(sparse.csr_array(X), S)
    scores = [model.cv_results_["mean_test_score"] for model in (wide, tall)]
    np.testing.assert_allclose(*scores, atol=1e-8)
    np.testing.assert_allclose(wide.coef_, tall.coef_, atol=1e-8)


def test_a_class_whose_signature_is_zero_does_not_decide_alone():
    X, S = of_classes(3)
    S[:6] = 0.0
    model = SemanticAutoencoderCV(LAMS, cv=12).fit(X, S)
    assert np.all(np.isfinite(model.cv_results_["mean_test_score"]))
    assert model.lam_ == SemanticAutoencoderCV(LAMS, cv=12).fit(X[6:], S[6:]).lam_


def test_the_default_grid_has_thirty_values():
    model = SemanticAutoencoderCV().fit(*of_classes())
    lams = [point["lam"] for point in model.cv_results_["params"]]
    assert len(lams) == 30
    assert np.all(np.diff(lams) > 0)
    assert model.best_params_ == {"lam": model.lam_}
    assert model.lam_ in lams


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"cv": 1}, "cv must be a whole number of at least 2 or a scikit-learn splitter"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "every row exactly once"),
        ({"solver": "reference"}, "solver must be 'auto', 'spectral' or 'tridiagonal'"),
        ({"solver": "magic"}, "solver must be"),
        ({"direction": "both"}, "direction must be"),
        ({"lams": []}, "lams must be"),
        ({"lams": [1.0, -2.0]}, "lams must be"),
        ({"lams": "abc"}, "lams must be"),
    ],
)
def test_bad_options_are_refused(options, says):
    with pytest.raises(InvalidInputError, match=says):
        SemanticAutoencoderCV(**options).fit(*of_classes())
