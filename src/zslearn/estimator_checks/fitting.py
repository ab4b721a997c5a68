"""Checks of fits that should give the same model, and of shapes that are seldom tried."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from zslearn.estimator_checks.run import Case, CheckData, expect, expect_close, expect_refused


def check_fit_keeps_input(case: Case) -> None:
    """Check that fit returns the estimator, and that fit and predict leave X and y alone."""
    data = case.data
    X, y, Z = data.X_seen.copy(), data.y_seen.copy(), data.X_unseen.copy()
    fresh = clone(case.estimator)
    expect(fresh.fit(X, y) is fresh, "fit must return the estimator.")
    fresh.predict(Z)
    same = np.array_equal(X, data.X_seen) and np.array_equal(y, data.y_seen)
    expect(same, "fit must not change X or y.")
    expect(np.array_equal(Z, data.X_unseen), "predict must not change X.")


def check_refit(case: Case) -> None:
    """Check that a second fit gives the same scores: it forgets the first, and repeats it."""
    params = case.estimator.get_params()
    seeded = any(name.split("__")[-1] == "random_state" for name in params)
    if not (case.tags.deterministic or seeded):
        return
    again = case.copy_of_fitted().fit(case.data.X_seen, case.data.y_seen)
    got = again.decision_function(case.data.X_unseen, case.data.unseen)
    expect_close(got, case.scores, "a second fit on the same data must give the same scores.")


def check_class_order(case: Case) -> None:
    """Check that the order of the rows in the signatures does not matter."""
    names = np.random.default_rng(1).permutation(case.data.signatures.names)
    other = case.with_signatures(case.data.signatures.subset(names))
    other.fit(case.data.X_seen, case.data.y_seen)
    got = other.predict(case.data.X_unseen, case.data.unseen)
    expect(
        np.array_equal(got, case.predictions),
        "predictions must not depend on the order of the signatures.",
    )


def check_float32(case: Case) -> None:
    """Check that float32 features give nearly the predictions of float64."""
    data = case.data
    single = clone(case.estimator).fit(data.X_seen.astype(np.float32), data.y_seen)
    scores = single.decision_function(data.X_unseen.astype(np.float32), data.unseen)
    expect(bool(np.all(np.isfinite(scores))), "scores of float32 features must be finite.")
    got = single.predict(data.X_unseen.astype(np.float32), data.unseen)
    _expect_agreement(got, case.predictions, "float32 features")


def check_sparse(case: Case) -> None:
    """Check that sparse features give the predictions of dense ones, or are refused."""
    data = case.data
    X, Z = sparse.csr_array(data.X_seen), sparse.csr_array(data.X_unseen)
    fresh = clone(case.estimator)
    if not get_tags(fresh).input_tags.sparse:
        kinds = (TypeError, ValueError)
        expect_refused("a sparse matrix", kinds, "sparse", fresh.fit, X, data.y_seen)
        return
    got = fresh.fit(X, data.y_seen).predict(Z, data.unseen)
    _expect_agreement(got, case.predictions, "sparse features")


def check_sample_weight(case: Case) -> None:
    """Check that whole weights are repeated rows and zeros dropped ones, or refused in words."""
    data, fresh = case.data, clone(case.estimator)
    weights = np.random.default_rng(0).integers(0, 3, len(data.y_seen))
    if not has_fit_parameter(fresh, "sample_weight"):

        def fit() -> None:
            fresh.fit(data.X_seen, data.y_seen, sample_weight=weights)

        expect_refused("sample_weight", (TypeError, ValueError), "sample_weight", fit)
        return
    fresh.fit(data.X_seen, data.y_seen, sample_weight=weights)
    repeated = clone(case.estimator)
    repeated.fit(data.X_seen.repeat(weights, axis=0), data.y_seen.repeat(weights))
    got, wanted = (clf.decision_function(data.X_unseen, data.unseen) for clf in (fresh, repeated))
    expect_close(got, wanted, "whole weights must give the scores of repeated rows.", rtol=1e-5)


def check_more_dimensions_than_classes(case: Case) -> None:
    """Check a fit with more semantic dimensions than seen classes."""
    _expect_usable(case, CheckData.make(case.tags, n_dimensions=20))


def check_more_features_than_samples(case: Case) -> None:
    """Check a fit with more features than samples."""
    _expect_usable(case, CheckData.make(case.tags, n_features=120))


def _expect_agreement(got: object, wanted: object, of: str) -> None:
    """Fail unless nine predictions in ten are the same."""
    share = float(np.mean(np.asarray(got) == np.asarray(wanted)))
    expect(share >= 0.9, f"{of}: only {share:.0%} of the predictions are the same.")


def _expect_usable(case: Case, data: CheckData) -> None:
    """Fail unless a fit on other data gives finite scores and predicts candidates."""
    fitted = case.fit(data)
    scores = fitted.decision_function(data.X_unseen, data.unseen)
    expect(bool(np.all(np.isfinite(scores))), "scores must be finite.")
    expect(float(np.ptp(scores)) > 0, "scores must differ.")


CHECKS = [
    check_fit_keeps_input,
    check_refit,
    check_class_order,
    check_float32,
    check_sparse,
    check_sample_weight,
    check_more_dimensions_than_classes,
    check_more_features_than_samples,
]
