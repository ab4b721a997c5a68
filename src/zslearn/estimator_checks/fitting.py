"""Checks of fits that should give the same model, and of shapes that are seldom tried."""

from __future__ import annotations

import inspect
import io
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from zslearn.estimator_checks.case import Case, CheckData, expect, expect_close, expect_refused
from zslearn.exceptions import InvalidInputError, UnknownClassError
from zslearn.metrics import make_zero_shot_scorer
from zslearn.model_selection import ClassKFold


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


FITTING = [
    check_fit_keeps_input,
    check_refit,
    check_class_order,
    check_float32,
    check_sparse,
    check_sample_weight,
    check_more_dimensions_than_classes,
    check_more_features_than_samples,
]


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


INTERFACE = [
    check_tags,
    check_clone,
    check_parameters,
    check_unfitted,
    check_pipeline,
    check_class_wise_cross_validation,
    check_pickle,
]


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


REFUSALS = [
    check_refuses_non_finite,
    check_refuses_text,
    check_refuses_wrong_shapes,
    check_refuses_class_without_signature,
    check_refuses_one_class,
    check_refuses_bad_candidates,
    check_refuses_bad_k,
]


_SUMMARY = {"params", "mean_test_score", "std_test_score", "rank_test_score"}


def check_choices(case: Case) -> None:
    """Check that `cv_results_` has scikit-learn's keys, and that `best_params_` comes from it."""
    for name in ("cv_results_", "best_params_"):
        expect(hasattr(case.fitted, name), f"fit must set {name}.")
    best, results = case.fitted.best_params_, case.fitted.cv_results_
    unknown = sorted(set(best) - _parameter_names(case.fitted))
    expect(not unknown, f"best_params_ must name parameters; it names {unknown}.")
    if results is None:
        return
    expect_results(results)
    strange = [name for name in best if not _was_tried(name, best[name], results["params"])]
    expect(not strange, f"best_params_ must come from cv_results_['params']; {strange} do not.")


def expect_results(results: Mapping[str, Any]) -> None:
    """Fail unless a table of results is what scikit-learn would make of its splits."""
    splits = [f"split{i}_test_score" for i in range(len(results) - len(_SUMMARY))]
    expect(
        bool(splits) and set(results) == {*_SUMMARY, *splits},
        f"cv_results_ must have the keys of scikit-learn; it has {sorted(results)}.",
    )
    lengths = {name: len(results[name]) for name in results}
    expect(
        len(set(lengths.values())) == 1,
        f"cv_results_ must have one entry per point everywhere; the lengths are {lengths}.",
    )
    mean = np.asarray(results["mean_test_score"])
    by_hand = np.mean([results[split] for split in splits], axis=0)
    expect_close(mean, by_hand, "mean_test_score must be the mean of the splits.")
    ranks = [1 + int(np.sum(mean > score)) for score in mean]
    expect(
        np.array_equal(results["rank_test_score"], ranks),
        "rank_test_score must be 1 for the best mean, and one more for each point that is better.",
    )


def _was_tried(name: str, value: Any, params: list[dict[str, Any]]) -> bool:
    """Say whether a value, or each entry of a dict or list of values, is among the points."""
    tried = [point[name] for point in params if name in point]
    several = list(value.values()) if isinstance(value, Mapping) else value
    return value in tried or (isinstance(several, list) and all(item in tried for item in several))


def _parameter_names(fitted: Any) -> set[str]:
    """Names of the parameters, also of an estimator that was made by default."""
    names = set(fitted.get_params())
    inner = getattr(fitted, "estimator_", None)
    return names if inner is None else names | {f"estimator__{name}" for name in inner.get_params()}


CHOICES = [check_choices]
