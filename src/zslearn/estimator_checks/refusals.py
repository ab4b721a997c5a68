"""Checks that what cannot be used is refused with a message that helps."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from zslearn.estimator_checks.run import Case, expect_refused
from zslearn.exceptions import InvalidInputError, UnknownClassError


def check_refuses_non_finite(case: Case) -> None:
    """Check that NaN and infinity in X are refused by fit and by predict."""
    data, says = case.data, "nan|infinity|finite"
    for value in (np.nan, np.inf):
        X, Z = data.X_seen.copy(), data.X_unseen.copy()
        X[3, 2] = Z[3, 2] = value
        fit = clone(case.estimator).fit
        expect_refused(f"{value} in fit", ValueError, says, fit, X, data.y_seen)
        expect_refused(f"{value} in predict", ValueError, says, case.fitted.predict, Z)


def check_refuses_text(case: Case) -> None:
    """Check that text in X is refused by fit and by predict."""
    X = np.full(case.data.X_unseen.shape, "red", dtype=object)
    y = np.resize(case.data.y_seen, len(X))
    kinds, says = (ValueError, TypeError), "float|numeric|convert|string"
    expect_refused("text in fit", kinds, says, clone(case.estimator).fit, X, y)
    expect_refused("text in predict", kinds, says, case.fitted.predict, X)


def check_refuses_wrong_shapes(case: Case) -> None:
    """Check that another number of features, or of labels, is refused."""
    data, predict, fit = case.data, case.fitted.predict, clone(case.estimator).fit
    says = "inconsistent|length|rows|samples"
    expect_refused("a lost label", ValueError, says, fit, data.X_seen, data.y_seen[:-1])
    expect_refused("a lost column", ValueError, "features", predict, data.X_unseen[:, :-1])
    expect_refused("a flat sample", ValueError, "2D|dimension", predict, data.X_unseen[0])


def check_refuses_class_without_signature(case: Case) -> None:
    """Check that a class in y without a signature is refused and the nearest name suggested."""
    y = np.where(case.data.y_seen == "seen3", "seeen3", case.data.y_seen)
    expect_refused(
        "a class without a signature",
        UnknownClassError,
        "'seeen3'.* closest is 'seen3'",
        clone(case.estimator).fit,
        case.data.X_seen,
        y,
    )


def check_refuses_one_class(case: Case) -> None:
    """Check that training on a single class is refused."""
    X, y = case.data.X_seen, np.full(len(case.data.y_seen), "seen0")
    expect_refused("a single class", ValueError, "class", clone(case.estimator).fit, X, y)


def check_refuses_bad_candidates(case: Case) -> None:
    """Check that unknown, repeated and missing candidates are refused."""
    bad: dict[str, tuple[list[str], str]] = {
        "an unknown candidate": (["unseen0", "unsen1"], "closest is 'unseen1'"),
        "a candidate named twice": (["unseen0", "unseen0"], "unseen0.* twice"),
        "an empty list of candidates": ([], "candidates"),
    }
    X = case.data.X_unseen
    for what, (candidates, says) in bad.items():
        for method in (case.fitted.predict, case.fitted.decision_function):
            expect_refused(what, InvalidInputError, says, method, X, candidates)


def check_refuses_bad_k(case: Case) -> None:
    """Check that more answers than candidates, or none, are refused."""
    X, names = case.data.X_unseen, case.data.unseen
    for k in (0, len(names) + 1):
        call = case.fitted.predict_top_k
        expect_refused(f"k={k}", InvalidInputError, "k must", call, X, k, names)


CHECKS = [
    check_refuses_non_finite,
    check_refuses_text,
    check_refuses_wrong_shapes,
    check_refuses_class_without_signature,
    check_refuses_one_class,
    check_refuses_bad_candidates,
    check_refuses_bad_k,
]
