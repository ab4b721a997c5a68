from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from zslearn.core.linear_maps import RELATIVE_LAMS, autoencoder_equation, lam_grid, unit_lam
from zslearn.core.moments import Moments
from zslearn.core.nearest import METRICS
from zslearn.core.paths import path_accuracy, scoring_rule
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import per_class_accuracy
from zslearn.zero_shot import SAEClassifier

LAMS = np.array([1e-3, 0.05, 1.0, 30.0])


def seen_and_unseen(domain_shift=0.6, **options):
    data = make_zero_shot(
        10,
        6,
        n_per_class=12,
        n_features=15,
        n_dimensions=7,
        noise=0.8,
        domain_shift=domain_shift,
        random_state=1,
        **options,
    )
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    return data, seen, unseen, list(split.unseen)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("direction", ["encode", "decode"])
def test_the_path_gives_the_accuracy_of_the_classifier_at_every_lam(direction, metric, kind):
    data, seen, unseen, names = seen_and_unseen()
    X, y = data.X[seen], data.y[seen]
    moments = Moments.of(X, y)
    S, T = data.signatures.rows(moments.classes), data.signatures.rows(names)
    prototypes = autoencoder_equation(moments, S, LAMS.max()).prototypes(T, LAMS)
    rule = scoring_rule(prototypes, T, direction, metric)
    truth = np.array([names.index(name) for name in data.y[unseen]])
    got = path_accuracy(kind(data.X[unseen]), truth, prototypes, [rule])[0]
    wanted = []
    for lam in LAMS:
        clf = SAEClassifier(
            data.signatures,
            lam=lam,
            direction=direction,
            metric=metric,
            feature_norm=None,
            signature_norm=None,
        ).fit(X, y)
        predicted = clf.predict(data.X[unseen], names)
        right = predicted == data.y[unseen]
        wanted.append([right[data.y[unseen] == name].mean() for name in names])
        assert clf.score(data.X[unseen], data.y[unseen], "unseen") == pytest.approx(
            np.mean(wanted[-1])
        )
        assert per_class_accuracy(data.y[unseen], predicted) == pytest.approx(np.mean(wanted[-1]))
    np.testing.assert_allclose(got, wanted)
    assert 0.1 < np.mean(wanted) < 0.95  # neither trivial nor hopeless, so a difference would show


def test_several_rules_and_small_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, prototypes = rng.standard_normal((50, 4)), rng.standard_normal((3, 5, 4))
    y = rng.integers(0, 4, 50)  # the fifth class has no samples
    rules = [scoring_rule(prototypes, rng.random((5, 2)), "decode", m) for m in METRICS]
    together = path_accuracy(X, y, prototypes, rules)
    assert together.shape == (3, 3, 5)
    assert np.all(np.isnan(together[..., 4]))
    monkeypatch.setattr(
        "zslearn.core.paths.row_blocks", lambda n, _: (slice(i, i + 7) for i in range(0, n, 7))
    )
    np.testing.assert_array_equal(path_accuracy(X, y, prototypes, rules), together)
    alone = [path_accuracy(X, y, prototypes, [rule])[0] for rule in rules]
    np.testing.assert_array_equal(np.stack(alone), together)


def test_prototypes_of_zeros_do_not_divide_by_zero():
    prototypes = np.zeros((2, 3, 4))
    scale, offset = scoring_rule(prototypes, np.zeros((3, 2)), "decode", "cosine")
    assert np.all(np.isfinite(scale))
    assert np.all(offset == 0)


def test_the_grid_is_laid_over_the_scale_of_the_data():
    data, seen, _, _ = seen_and_unseen()
    moments = Moments.of(data.X[seen], data.y[seen])
    S = data.signatures.rows(moments.classes)
    A = S.T @ (moments.counts[:, None] * S)
    assert unit_lam(moments, S) == pytest.approx(np.trace(A) / np.trace(moments.gram))
    np.testing.assert_allclose(
        lam_grid(None, moments, S) * np.trace(moments.gram) / np.trace(A), RELATIVE_LAMS
    )
    np.testing.assert_array_equal(lam_grid([3], moments, S), [3.0])


@pytest.mark.parametrize("lams", [[], [0.0], [1.0, -1.0], [np.nan], [np.inf], "abc", [[1.0, 2.0]]])
def test_bad_grids_are_refused(lams):
    data, seen, _, _ = seen_and_unseen()
    moments = Moments.of(data.X[seen], data.y[seen])
    with pytest.raises(InvalidInputError, match="lams must be a list of positive numbers"):
        lam_grid(lams, moments, data.signatures.rows(moments.classes))
