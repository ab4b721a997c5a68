"""The legacy presets against a literal transcription of the authors' demos, samples as columns."""

import numpy as np
import pytest
from scipy.linalg import solve_sylvester
from scipy.spatial.distance import cdist
from scipy.stats import zscore

from zslearn.exceptions import InvalidInputError, TransductiveBatchError
from zslearn.signatures import Signatures
from zslearn.zero_shot import LegacyAwA, LegacyCUB, LegacyImNet2


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    names = np.array([f"c{i:02d}" for i in range(16)])
    S = rng.uniform(1, 100, (16, 9))
    labels = np.repeat(np.arange(16), 12)
    X = S[labels] @ rng.standard_normal((9, 14)) / 30 + rng.standard_normal((192, 14)) + 2.0
    seen = labels < 11
    return names, S, labels, X, seen


def normalize_fea(F):
    return F / np.linalg.norm(F, axis=1, keepdims=True)


def sae(X, S, lam):
    return solve_sylvester(S @ S.T, lam * X @ X.T, (1 + lam) * S @ X.T)


def class_scores(X, labels, X_te, ridge):
    Y = np.eye(labels.max() + 1)[labels]
    P = np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ Y)
    return X @ P, X_te @ P


def awa_demo(X_tr, S_tr, X_te, S_te_pro, lam, direction):
    X_tr = normalize_fea(X_tr.T).T
    W = sae(X_tr.T, S_tr.T, lam)
    prototypes = normalize_fea(S_te_pro.T).T
    if direction == "encode":
        return 1 - cdist(X_te @ normalize_fea(W).T, prototypes, "cosine")
    projected = prototypes @ normalize_fea(W)
    return 1 - cdist(X_te, normalize_fea(projected.T).T, "cosine")


def cub_demo(X_tr, S_tr, X_te, S_te_pro, lam, direction):
    W = sae(X_tr.T, normalize_fea(S_tr).T, lam)
    if direction == "encode":
        distance = cdist(X_te @ W.T, S_te_pro, "cosine")
        return 1 - zscore(distance, axis=0, ddof=1)
    distance = cdist(X_te, S_te_pro @ W, "cosine")
    return zscore(1 - zscore(distance, axis=0, ddof=1), axis=0, ddof=1)


def imnet2_demo(X_tr, S_tr, X_te, S_te_pro, lam, direction):
    W = sae(X_tr.T, S_tr.T, lam)
    if direction == "encode":
        estimated = zscore(X_te @ W.T, axis=0, ddof=1)
        return 1 - cdist(estimated, zscore(S_te_pro, axis=1, ddof=1), "cosine")
    return 1 - cdist(X_te, zscore(S_te_pro @ W, axis=1, ddof=1), "cosine")


@pytest.mark.parametrize("direction", ["encode", "decode"])
def test_awa_preset_is_the_awa_demo(data, direction):
    names, S, labels, X, seen = data
    unseen = names[11:]
    clf = LegacyAwA(Signatures(names, S), direction=direction).fit(X[seen], names[labels[seen]])
    expected = awa_demo(X[seen], S[labels[seen]], X[~seen], S[11:], 500_000.0, direction)
    np.testing.assert_allclose(clf.decision_function(X[~seen], unseen), expected, atol=1e-7)


@pytest.mark.parametrize("direction", ["encode", "decode"])
def test_cub_preset_is_the_cub_demo(data, direction):
    names, S, labels, X, seen = data
    unseen = names[11:]
    clf = LegacyCUB(Signatures(names, S), direction=direction).fit(X[seen], names[labels[seen]])
    projected = class_scores(X[seen], labels[seen], X[~seen], 50.0)
    expected = cub_demo(projected[0], S[labels[seen]], projected[1], S[11:], 0.2, direction)
    found = clf.decision_function(X[~seen], unseen)
    # Scores may differ by a constant; the ranking and all differences are those of the demo.
    np.testing.assert_allclose(
        found - found[:, :1], expected - expected[:, :1], atol=1e-6, rtol=1e-6
    )


@pytest.mark.parametrize("direction", ["encode", "decode"])
def test_imnet2_preset_is_the_imnet2_demo(data, direction):
    names, S, labels, X, seen = data
    unseen = names[11:]
    clf = LegacyImNet2(Signatures(names, S), direction=direction).fit(X[seen], names[labels[seen]])
    projected = class_scores(X[seen], labels[seen], X[~seen], 150.0)
    expected = imnet2_demo(projected[0], S[labels[seen]], projected[1], S[11:], 5.0, direction)
    np.testing.assert_allclose(clf.decision_function(X[~seen], unseen), expected, atol=1e-7)


@pytest.mark.parametrize("preset", [LegacyCUB, LegacyImNet2])
def test_presets_that_standardize_over_the_batch_refuse_small_ones(data, preset):
    names, S, labels, X, seen = data
    clf = preset(Signatures(names, S)).fit(X[seen], names[labels[seen]])
    assert clf.zero_shot_tags.transductive
    with pytest.raises(TransductiveBatchError, match=r"29 sample\(s\); it needs at least 30"):
        clf.predict(X[:29])


def test_a_preset_compares_in_one_direction_only(data):
    names, S, labels, X, seen = data
    clf = LegacyAwA(Signatures(names, S), direction="both")
    with pytest.raises(InvalidInputError, match="direction must be 'encode' or 'decode'"):
        clf.fit(X[seen], names[labels[seen]])
