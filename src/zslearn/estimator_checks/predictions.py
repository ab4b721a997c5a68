"""Checks of what a fitted classifier answers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from zslearn.estimator_checks.case import (
    NEWCOMER,
    Case,
    CheckData,
    expect,
    expect_close,
    expect_refused,
)
from zslearn.exceptions import InvalidInputError, TransductiveBatchError


def check_above_chance(case: Case) -> None:
    """Check that easy unseen classes are recognized twice as often as by guessing."""
    got = case.fitted.score(case.data.X_unseen, case.data.y_unseen, "unseen")
    wanted = 2.0 / len(case.data.unseen)
    expect(got >= wanted, f"accuracy on easy unseen classes is {got:.2f}, not {wanted:.2f}.")


def check_scores(case: Case) -> None:
    """Check that each candidate has a finite score, and that the prediction has the highest."""
    data = case.data
    for names in (data.unseen, None):
        scores = case.fitted.decision_function(data.X_unseen, names)
        columns = case.fitted.classes_ if names is None else np.array(names)
        expect(
            scores.shape == (len(data.X_unseen), len(columns)),
            f"decision_function must give a column a candidate; its shape is {scores.shape}.",
        )
        expect(bool(np.all(np.isfinite(scores))), "scores must be finite.")
        predicted = case.fitted.predict(data.X_unseen, names)
        column_of = {name: j for j, name in enumerate(columns.tolist())}
        rows = np.arange(len(scores))
        chosen = scores[rows, [column_of[name] for name in predicted.tolist()]]
        expect_close(chosen, scores.max(axis=1), "predict must return the class of highest score.")


def check_classes(case: Case) -> None:
    """Check that `classes_` names every predictable class, sorted, in the order of the columns."""
    data, grown = case.data, case.copy_of_fitted()
    grown.add_classes({NEWCOMER: data.new_vector})
    for fitted, added in ((case.fitted, []), (grown, [NEWCOMER])):
        expect(
            fitted.seen_classes_.tolist() == sorted(data.seen),
            "seen_classes_ must be the training classes, sorted.",
        )
        expect(
            fitted.classes_.tolist() == sorted([*data.seen, *data.unseen, *added]),
            "classes_ must be every class that can be predicted, sorted, with those added.",
        )
        predicted = fitted.predict(data.X_unseen)
        for method in ("predict_proba", "decision_function"):
            columns = getattr(fitted, method)(data.X_unseen)
            expect(
                np.array_equal(fitted.classes_[columns.argmax(axis=1)], predicted),
                f"the columns of {method} must be classes_: the largest names the prediction.",
            )
    for setting, names in (("seen", data.seen), ("unseen", data.unseen)):
        expect(
            case.fitted.candidate_names(setting).tolist() == sorted(names),
            f"candidates={setting!r} must be those classes, sorted.",
        )


def check_candidates(case: Case) -> None:
    """Check that only candidates are predicted and that columns follow their order."""
    data = case.data
    names = [*data.unseen[::-1], data.seen[0]]
    got = case.fitted.predict(data.X_unseen, names)
    expect(set(got.tolist()) <= set(names), "predict must answer with candidates only.")
    scores = case.fitted.decision_function(data.X_unseen, names)
    turned = case.fitted.decision_function(data.X_unseen, names[::-1])
    expect_close(turned[:, ::-1], scores, "columns must follow the order of the candidates.")
    if case.tags.separable:
        full = case.fitted.decision_function(data.X_unseen)
        columns = np.searchsorted(case.fitted.classes_, names)
        expect_close(
            scores,
            full[:, columns],
            "scores must not depend on the other candidates, unless the tag separable is False.",
        )


def check_add_classes(case: Case) -> None:
    """Check that a class added after fit is predicted, and that nothing else changes."""
    data, grown = case.data, case.copy_of_fitted()
    twin = _most_distinct(data)
    vector, own = data.signatures[twin], data.X_seen[data.y_seen == twin]
    expect(
        grown.add_classes({NEWCOMER: vector}) is grown,
        "add_classes must return the estimator.",
    )
    X = np.concatenate([own, data.X_unseen])
    predicted = grown.predict(X, [*data.unseen, NEWCOMER])[: len(own)]
    expect(NEWCOMER in predicted, "a class added after fit is never predicted for its samples.")
    expect(
        grown.decision_function(X).shape[1] == len(data.signatures) + 1,
        "a class added after fit must be a candidate by default.",
    )
    expect(NEWCOMER not in data.signatures, "add_classes must not change the given signatures.")
    after = grown.decision_function(data.X_unseen, data.unseen)
    expect_close(after, case.scores, "add_classes must not change the scores of other classes.")
    for what, row, says in (
        (NEWCOMER, vector, "already"),
        ("a short class", vector[:-1], "dimension|length|shape"),
    ):
        expect_refused(what, InvalidInputError, says, grown.add_classes, {what: row})


def _most_distinct(data: CheckData) -> str:
    """Return the seen class least like any unseen one: a class so described is easy to name."""
    unit = data.signatures.normalized("l2")
    likeness = unit.rows(data.seen) @ unit.rows(data.unseen).T
    return data.seen[int(likeness.max(axis=1).argmin())]


def check_one_sample(case: Case) -> None:
    """Check that one sample is predicted as within a batch; a transductive method refuses it."""
    data = case.data
    if case.tags.transductive:
        predict, X = case.fitted.predict, data.X_unseen[:1]
        expect_refused("a batch of one sample", TransductiveBatchError, "batch", predict, X)
        return
    got = case.fitted.predict(data.X_unseen[:1], data.unseen)
    expect(
        got.shape == (1,) and got[0] == case.predictions[0],
        "one sample must be predicted as it is within a batch.",
    )


def check_batch_independence(case: Case) -> None:
    """Check that an inductive method scores the samples of one class alone as in a mixed batch."""
    if case.tags.transductive:
        return
    data = case.data
    for name in data.unseen:
        rows = data.y_unseen == name
        alone = case.fitted.decision_function(data.X_unseen[rows], data.unseen)
        expect_close(
            alone,
            case.scores[rows],
            "scores depend on the other samples of the batch, so the method is transductive.",
        )


def check_probabilities(case: Case) -> None:
    """Check that probabilities are shares of one, highest for the predicted class."""
    got = case.fitted.predict_proba(case.data.X_unseen, case.data.unseen)
    expect(got.shape == case.scores.shape, "predict_proba must give a column a candidate.")
    expect(bool(np.all((got >= 0) & (got <= 1))), "probabilities must lie between 0 and 1.")
    expect_close(got.sum(axis=1), np.ones(len(got)), "probabilities of a sample must sum to one.")
    names = np.array(case.data.unseen)
    best = got[np.arange(len(got)), [int(np.argmax(names == p)) for p in case.predictions]]
    expect_close(best, got.max(axis=1), "the predicted class must be the most probable.")


def check_top_k(case: Case) -> None:
    """Check that the first of the best k classes is the prediction, and none is named twice."""
    names = case.data.unseen
    for k in (1, 3, len(names)):
        got = case.fitted.predict_top_k(case.data.X_unseen, k, names)
        expect(got.shape == (len(case.scores), k), f"predict_top_k must give {k} columns.")
        expect(
            np.array_equal(got[:, 0], case.predictions),
            "the first column of predict_top_k must be the prediction.",
        )
        expect(
            all(len(set(row)) == k for row in got.tolist()),
            "predict_top_k must not name a class twice.",
        )


def check_recognizer(case: Case) -> None:
    """Check that a recognizer answers as the classifier, and changed as one made from scratch."""
    data, grown = case.data, case.copy_of_fitted()
    grown.add_classes({NEWCOMER: data.new_vector})
    first, second, *rest = data.unseen
    recognizer = case.fitted.recognizer(data.unseen)
    changes = {
        "unchanged": (recognizer, data.unseen),
        "with a class replaced": (
            recognizer.replace(second, data.new_vector),
            [first, NEWCOMER, *rest],
        ),
        "with a class added": (
            recognizer.replace(NEWCOMER, data.new_vector),
            [*data.unseen, NEWCOMER],
        ),
        "without a class": (recognizer.without(second), [first, *rest]),
        "with several changes": (
            recognizer.replace(first, -data.new_vector + 1.0)
            .without(second)
            .replace(first, data.new_vector),
            [NEWCOMER, *rest],
        ),
    }
    for what, (changed, names) in changes.items():
        scores = grown.decision_function(data.X_unseen, names)
        expect_close(
            changed.scores(data.X_unseen),
            scores,
            f"a recognizer {what} must score as one made from scratch.",
        )
        best = changed.rank(data.X_unseen, k=2)
        expect_close(
            best.scores,
            -np.sort(-scores, axis=1)[:, :2],
            f"a recognizer {what} must rank by its scores.",
        )


def check_scorer(case: Case) -> None:
    """Check the rules of a scorer: what `zslearn.zero_shot.scoring.Scorer` promises to everyone."""
    data, scorer = case.data, case.fitted.scorer()
    X, names = data.X_unseen, np.array(data.unseen)
    vectors, before = data.signatures.rows(names), _state_of(scorer)
    queries = scorer.represent(scorer.check_rows(X))
    expect(
        all(part.shape[0] == len(X) for part in _arrays_of(queries)),
        "represent must give one row per sample.",
    )
    scores = scorer.compare(queries, scorer.prepare(names, vectors))
    expect_close(scores, case.scores, "a scorer must give the scores of decision_function.")
    order = np.random.default_rng(0).permutation(len(X))
    mixed = scorer.represent(scorer.check_rows(X[order]))
    expect_close(
        scorer.compare(mixed, scorer.prepare(names, vectors)),
        scores[order],
        "scores must not depend on the order of the samples.",
    )
    if case.tags.separable:
        alone = scorer.prepare(names[1:2], vectors[1:2])
        expect_close(
            scorer.compare(queries, alone)[:, 0],
            scores[:, 1],
            "a class must score alone as among others, unless the tag separable is False.",
        )
    after = _state_of(scorer)
    changed = [name for name in before | after if not _is_same(before, after, name)]
    expect(not changed, f"a scorer must not write to itself; it changed {sorted(changed)}.")


def _state_of(scorer: Any) -> dict[str, Any]:
    """Return what a scorer and the scorers in it hold, with arrays copied."""
    held: dict[str, Any] = {}
    while scorer is not None:
        for name, value in vars(scorer).items():
            copied = value.copy() if isinstance(value, np.ndarray) else value
            held[f"{type(scorer).__name__}.{name}"] = copied
        scorer = getattr(scorer, "inner", None)
    return held


def _is_same(before: dict[str, Any], after: dict[str, Any], name: str) -> bool:
    one, other = before.get(name), after.get(name)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return name in before and one is other


def _arrays_of(queries: Any) -> list[Any]:
    """Return the arrays of queries, which may be in dicts and tuples."""
    parts = queries.values() if isinstance(queries, dict) else queries
    if isinstance(queries, dict | tuple):
        return [array for part in parts for array in _arrays_of(part)]
    return [queries]


def check_explanation(case: Case) -> None:
    """Check that an explanation sums to the score; a method without one says so."""
    data = case.data
    x, name = data.X_unseen[0], data.unseen[1]
    try:
        why = case.fitted.explain(x, name)
    except InvalidInputError as error:
        says = re.search("cannot explain|whole test batch", str(error))
        expect(says is not None, f"explain must say that it cannot; it says: {error}")
        return
    expect(
        why.contributions.shape == (len(why.dimensions),),
        "an explanation must have one contribution per dimension.",
    )
    expect_close(why.score, why.offset + why.contributions.sum(), "contributions must sum up.")
    expect_close(why.score, case.scores[0, 1], "an explanation must sum to the score.")


CHECKS = [
    check_above_chance,
    check_scores,
    check_classes,
    check_candidates,
    check_add_classes,
    check_one_sample,
    check_batch_independence,
    check_probabilities,
    check_top_k,
    check_recognizer,
    check_scorer,
    check_explanation,
]
