from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from zslearn.autoencoder import SemanticAutoencoder, SemanticAutoencoderCV
from zslearn.exceptions import InvalidInputError

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
