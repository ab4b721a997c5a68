"""Checks of the ways scikit-learn uses an estimator."""

from __future__ import annotations

import inspect
import io

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from zslearn.estimator_checks.run import Case, expect, expect_close, expect_refused
from zslearn.metrics import make_zero_shot_scorer
from zslearn.model_selection import ClassKFold


def check_tags(case: Case) -> None:
    """Check the tags: a transductive method refuses a batch of one, and no other does."""
    tags = case.tags
    expect(is_classifier(case.estimator), "scikit-learn must see a classifier.")
    expect(
        tags.transductive == (tags.min_batch > 1),
        f"min_batch must be above one for transductive methods and only for them; it is "
        f"{tags.min_batch} with transductive={tags.transductive}.",
    )


def check_clone(case: Case) -> None:
    """Check that a clone has the same parameters, the very same signatures, and learned nothing."""
    copied = clone(case.fitted)
    for name in case.signature_parameters:
        expect(
            copied.get_params()[name] is case.data.signatures,
            f"a clone must hold the same signatures object in {name}.",
        )
    expect(repr(copied) == repr(case.estimator), "a clone must have the same parameters.")
    expect_refused("a clone's predict", NotFittedError, "fit", copied.predict, case.data.X_unseen)


def check_parameters(case: Case) -> None:
    """Check that parameters can be read and set, and that fit changes none."""
    first, *others = list(inspect.signature(type(case.given).__init__).parameters.values())[1:]
    expect(
        first.name in ("signatures", "estimator"),
        f"the first parameter must be signatures, or the estimator wrapped; it is {first.name}.",
    )
    loose = [p.name for p in others if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    expect(not loose, f"parameters after the first must be keyword-only; {loose} are not.")
    before = case.estimator.get_params(deep=False)
    after = case.fitted.get_params(deep=False)
    changed = [name for name in before if repr(before[name]) != repr(after[name])]
    expect(not changed, f"fit must not change parameters; it changed {changed}.")
    other = clone(case.estimator)
    expect(other.set_params(**before) is other, "set_params must return the estimator.")


def check_unfitted(case: Case) -> None:
    """Check that nothing can be predicted before fit."""
    X = case.data.X_unseen
    for method in ("predict", "decision_function", "predict_proba", "predict_top_k"):
        call = getattr(clone(case.estimator), method)
        expect_refused(f"{method} before fit", NotFittedError, "fit", call, X)


def check_pipeline(case: Case) -> None:
    """Check that a Pipeline gives what its steps give, with candidates passed through."""
    data = case.data
    scaler = MinMaxScaler(clip=True) if case.tags.non_negative else StandardScaler()
    piped = make_pipeline(scaler, clone(case.estimator)).fit(data.X_seen, data.y_seen)
    names = data.unseen[:2]  # samples of the other two then show whether candidates arrive
    got = piped.predict(data.X_unseen, candidates=names)
    by_hand = piped[-1].predict(piped[0].transform(data.X_unseen), names)
    expect(np.array_equal(got, by_hand), "a Pipeline must predict what its steps predict.")
    expect(set(got) <= set(names), "a Pipeline must pass the candidates through.")


def check_class_wise_cross_validation(case: Case) -> None:
    """Check that scikit-learn's searches with ClassKFold score classes not trained on."""
    X, y, cv = case.data.X_seen, case.data.y_seen, ClassKFold(2)
    held = make_zero_shot_scorer("unseen")
    scores = cross_val_score(clone(case.estimator), X, y, cv=cv, scoring=held, error_score="raise")
    grid = {case.signature_parameters[0]: [case.data.signatures]}
    search = GridSearchCV(
        clone(case.estimator), grid, cv=cv, scoring=held, refit=False, error_score="raise"
    )
    found = search.fit(X, y).cv_results_
    train, test = next(iter(cv.split(X, y)))
    held_out = np.unique(y[test])
    by_hand = clone(case.estimator).fit(X[train], y[train]).score(X[test], y[test], held_out)
    expect(bool(np.all((scores >= 0) & (scores <= 1))), f"scores must be shares; got {scores}.")
    expect_close(scores[0], by_hand, "the held-out classes must be the candidates of a fold.")
    from_search = [found["split0_test_score"][0], found["split1_test_score"][0]]
    expect_close(from_search, scores, "GridSearchCV and cross_val_score must agree.")


def check_pickle(case: Case) -> None:
    """Check that a copy sent through joblib, as to a worker process, predicts the same."""
    stream = io.BytesIO()
    joblib.dump(case.fitted, stream)
    stream.seek(0)
    again = joblib.load(stream)
    got = again.decision_function(case.data.X_unseen, case.data.unseen)
    expect_close(got, case.scores, "a pickled copy must give the same scores.", rtol=1e-12)


CHECKS = [
    check_tags,
    check_clone,
    check_parameters,
    check_unfitted,
    check_pipeline,
    check_class_wise_cross_validation,
    check_pickle,
]
