"""ConSE, IAP, DAP, direct similarity and AMP against loops that follow their formulas."""

import numpy as np
import pytest
from scipy.special import softmax

from zslearn.core.nearest import unit_rows
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import (
    AMPClassifier,
    ConSEClassifier,
    DAPClassifier,
    DirectSimilarityClassifier,
    IAPClassifier,
)
from zslearn.zero_shot.posterior.attributes import prior
from zslearn.zero_shot.posterior.base import posterior
from zslearn.zero_shot.posterior.similarity import absorption, related_weights, transitions


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(n_per_class=10, random_state=1)


@pytest.fixture(scope="module")
def parts(data):
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    return data.X[seen], data.y[seen], data.X[unseen][:8], list(split.unseen)


def _probabilities(clf, X, temperature):
    return softmax((unit_rows(X) @ clf.coef_ + clf.intercept_) / temperature, axis=1)


def test_conse_is_the_convex_combination(data, parts):
    X, y, new, names = parts
    clf = ConSEClassifier(data.signatures, top=3, temperature=2.0, center=False).fit(X, y)
    P = _probabilities(clf, new, 2.0)
    S, U = clf.seen_signatures_, unit_rows(data.signatures.rows(names))
    for x, row in enumerate(clf.decision_function(new, names)):
        best = sorted(range(len(S)), key=lambda c, x=x: -P[x, c])[:3]
        f = sum(P[x, c] * S[c] for c in best) / sum(P[x, c] for c in best)
        np.testing.assert_allclose(row, U @ f / np.linalg.norm(f))


def test_posterior_keeps_the_most_likely_and_sums_to_one():
    logits = np.array([[2.0, 1.0, 0.0, -1.0]])
    P = posterior(logits, 1.0, top=2)
    np.testing.assert_allclose(P[0, :2], softmax([2.0, 1.0]))
    assert not P[0, 2:].any()


@pytest.mark.parametrize("prior_of", ["seen", None])
@pytest.mark.parametrize("how", ["global", "attribute"])
def test_iap_and_dap_follow_the_bayes_rule(data, parts, how, prior_of):
    X, y, new, names = parts
    S, U = data.signatures.rows(np.unique(y)), data.signatures.rows(names)
    cut = S.mean() if how == "global" else S.mean(axis=0)
    B, C = S > cut, cut < U
    pi = np.full(B.shape[1], 0.5) if prior_of is None else B.mean(axis=0)
    iap = IAPClassifier(data.signatures, threshold=how, prior=prior_of, temperature=1.0)
    dap = DAPClassifier(data.signatures, threshold=how, prior=prior_of, penalty=1e-3)
    iap.fit(X, y)
    dap.fit(X, y)
    attributes = {
        iap: _probabilities(iap, new, 1.0) @ B,
        dap: 1 / (1 + np.exp(-(unit_rows(new) @ dap.coef_ + dap.intercept_))),
    }
    for clf, P in attributes.items():
        P = np.clip(P, 1e-6, 1 - 1e-6)
        expected = np.zeros((len(new), len(names)))
        for x, c in np.ndindex(expected.shape):
            for m in range(B.shape[1]):
                has = C[c, m]
                p, q = (P[x, m], pi[m]) if has else (1 - P[x, m], 1 - pi[m])
                expected[x, c] += np.log(p / q)
        np.testing.assert_allclose(clf.decision_function(new, names), expected, atol=1e-8)


def test_attributes_that_all_or_none_have_get_an_even_prior():
    B = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 1.0]])
    np.testing.assert_allclose(prior(B, "seen"), [0.5, 0.5, 2 / 3, 1 / 3])


@pytest.mark.parametrize("rule", ["product", "mean"])
def test_direct_similarity_sums_over_the_related_classes(data, parts, rule):
    X, y, new, names = parts
    clf = DirectSimilarityClassifier(
        data.signatures, rule=rule, temperature=1.0, center=False, n_related=3, weighted=False
    ).fit(X[5:], y[5:])
    P = _probabilities(clf, new, 1.0)
    share = np.unique(y[5:], return_counts=True)[1] / len(y[5:])
    similarity = unit_rows(data.signatures.rows(names)) @ clf.seen_signatures_.T
    for c, row in enumerate(similarity):
        related = sorted(range(len(row)), key=lambda k, row=row: -row[k])[:3]
        if rule == "product":
            expected = sum(np.log(P[:, k] / share[k]) for k in related) / 3
        else:
            expected = sum(P[:, k] for k in related) / 3
        np.testing.assert_allclose(clf.decision_function(new, names)[:, c], expected)


def test_related_weights_follow_similarity_and_never_vanish():
    weights = related_weights(np.array([[0.6, 0.2, -1.0], [-1, -2, -3]]), 2, weighted=True)
    np.testing.assert_allclose(weights, [[0.75, 0.25, 0], [0.5, 0.5, 0]])


def test_absorption_is_where_long_walks_end():
    rng = np.random.default_rng(0)
    seen, candidates = rng.standard_normal((7, 3)), rng.standard_normal((3, 3))
    Q, R = transitions(seen, candidates, 3, 0.5)
    np.testing.assert_allclose(np.hstack([Q, R]).sum(axis=1), 1.0)
    step = np.eye(10)
    step[:7] = np.hstack([Q, R])
    walked = np.linalg.matrix_power(step, 2**16)[:7, 7:]
    B = absorption(seen, candidates, 3, 0.5)
    np.testing.assert_allclose(B, walked, atol=1e-8)
    np.testing.assert_allclose(B.sum(axis=1), 1.0)


def test_absorption_ends_even_far_from_every_candidate():
    seen = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]])
    B = absorption(seen, np.array([[1e3, 0.0], [0.0, 1e3]]), 1, 0.01)
    np.testing.assert_allclose(B.sum(axis=1), 1.0)


def test_amp_averages_the_chains_of_joined_spaces(data, parts):
    X, y, new, names = parts
    words = make_zero_shot(n_dimensions=6, random_state=9).signatures
    both = data.signatures.join(words)
    fixed = {
        "n_neighbors": 5,
        "width": 0.3,
        "temperature": 1.0,
        "center": False,
        "balance": False,
        "signature_norm": None,
    }
    scores = [
        AMPClassifier(table, **fixed).fit(X, y).decision_function(new, names)
        for table in (both, data.signatures, words)
    ]
    np.testing.assert_allclose(scores[0], (scores[1] + scores[2]) / 2)
    assert AMPClassifier.zero_shot_tags.several_spaces


def test_chosen_points_are_the_best_of_explicit_refits(data, parts):
    X, y, _, _ = parts
    settings = {"max_iter": 400, "penalty": 1e-2}
    clf = ConSEClassifier(data.signatures, **settings).fit(X, y)
    folds = list(ClassKFold(3, shuffle=True, random_state=0).split(X, y))
    for i in (0, 3, 9):
        point = clf.cv_results_["params"][i]
        refits = [
            ConSEClassifier(data.signatures, **settings, **point)
            .fit(X[a], y[a])
            .score(X[b], y[b], np.unique(y[b]))
            for a, b in folds
        ]
        found = [clf.cv_results_[f"split{f}_test_score"][i] for f in range(3)]
        np.testing.assert_allclose(found, refits, atol=0.02)
    best = clf.cv_results_["params"][int(clf.cv_results_["mean_test_score"].argmax())]
    assert {"temperature": clf.temperature_, "center": clf.center_} == best == clf.best_params_


@pytest.mark.parametrize("method", [DAPClassifier, IAPClassifier])
def test_parameters_are_chosen_on_three_deals_of_the_classes(method, data, parts):
    X, y, _, _ = parts
    clf = method(data.signatures, threshold="cv").fit(X, y)
    deals = [ClassKFold(3, shuffle=True, random_state=seed).split(X, y) for seed in range(3)]
    known = [np.unique(y[train]) for deal in deals for train, _ in deal]
    assert f"split{len(known) - 1}_test_score" in clf.cv_results_
    assert f"split{len(known)}_test_score" not in clf.cv_results_
    assert len({tuple(classes) for classes in known}) == 9


def test_wrong_parameters_are_refused(data, parts):
    X, y, _, _ = parts
    with pytest.raises(InvalidInputError, match="top must be a whole number of at least 1"):
        ConSEClassifier(data.signatures, top=0).fit(X, y)
    with pytest.raises(InvalidInputError, match="threshold must be 'cv', 'global' or 'attribute'"):
        DAPClassifier(data.signatures, threshold="median").fit(X, y)
    with pytest.raises(InvalidInputError, match="rule must be 'cv', "):
        DirectSimilarityClassifier(data.signatures, rule="sum").fit(X, y)
    with pytest.raises(InvalidInputError, match="width must be 'cv' or a positive number"):
        AMPClassifier(data.signatures, width=-1).fit(X, y)
