"""Classifiers with one fault each, named after the check that must find it."""

from __future__ import annotations

import copy
import itertools

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier, ZeroShotMethod, ZeroShotTags

BROKEN: dict[str, type] = {}


def fails(check):
    """Register a classifier under the check that it must fail."""

    def register(kind):
        BROKEN[check] = kind
        return kind

    return register


@fails("check_tags")
class ClaimsToBeTransductive(SAEClassifier):
    zero_shot_tags = ZeroShotTags(transductive=True)


@fails("check_clone")
class CopiesItsSignatures(SAEClassifier):
    def get_params(self, deep=True):
        params = super().get_params(deep)
        table = params["signatures"]
        if table is not None:
            params["signatures"] = Signatures(table.names, table.vectors, table.dimensions)
        return params


@fails("check_parameters")
class ChangesItsParameters(SAEClassifier):
    def fit(self, X, y):
        self.lam = 2.0
        return super().fit(X, y)


@fails("check_unfitted")
class AnswersBeforeFit(SAEClassifier):
    def predict(self, X, candidates=None):
        try:
            return super().predict(X, candidates)
        except NotFittedError:
            return np.full(len(X), "seen0")


@fails("check_pipeline")
class ForgetsCandidatesInAPipeline(SAEClassifier):
    def predict(self, X, candidates=None, **named):
        return super().predict(X, None)


@fails("check_class_wise_cross_validation")
class ScoresByAMeasureOfItsOwn(SAEClassifier):
    def score(self, X, y, candidates=None):
        return super().score(X, y, candidates) / 2


@fails("check_sample_weight")
class ForgetsItsWeights(SAEClassifier):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


@fails("check_pickle")
class LosesStateWhenPickled(SAEClassifier):
    def __getstate__(self):
        state = dict(super().__getstate__())
        state["coef_decode_"] = -state["coef_decode_"]
        return state

    def __deepcopy__(self, memo):
        twin = type(self)()
        twin.__dict__ = {name: copy.deepcopy(value) for name, value in vars(self).items()}
        return twin


@fails("check_refuses_non_finite")
class FillsMissingValues(SAEClassifier):
    def fit(self, X, y):
        return super().fit(np.nan_to_num(X), y) if not sparse.issparse(X) else super().fit(X, y)


@fails("check_refuses_text")
class TakesText(SAEClassifier):
    def predict(self, X, candidates=None):
        if X.dtype.kind == "O":
            X = np.ones(X.shape)
        return super().predict(X, candidates)


@fails("check_refuses_wrong_shapes")
class PadsMissingFeatures(SAEClassifier):
    def predict(self, X, candidates=None):
        if X.ndim == 2 and X.shape[1] < self.n_features_in_:
            X = np.pad(X, ((0, 0), (0, self.n_features_in_ - X.shape[1])))
        return super().predict(X, candidates)


@fails("check_refuses_class_without_signature")
class SkipsUnknownClasses(SAEClassifier):
    def fit(self, X, y):
        known = np.isin(y, list(self.signatures))
        return super().fit(X[known], np.asarray(y)[known])


@fails("check_refuses_one_class")
class LearnsOneClass(SAEClassifier):
    def fit(self, X, y):
        if len(np.unique(y)) == 1:
            return self
        return super().fit(X, y)


@fails("check_refuses_bad_candidates")
class DropsRepeatedCandidates(SAEClassifier):
    def candidate_names(self, candidates=None):
        return super().candidate_names(
            None if candidates is None else list(dict.fromkeys(candidates))
        )


@fails("check_refuses_bad_k")
class ClipsK(SAEClassifier):
    def predict_top_k(self, X, k=5, candidates=None):
        n = len(self.signatures_) if candidates is None else len(candidates)
        return super().predict_top_k(X, min(k, n) if n else k, candidates)


@fails("check_above_chance")
class Guesses(SAEClassifier):
    def compare(self, queries, classes):
        return -super().compare(queries, classes)


@fails("check_scores")
class PredictsTheSecondBest(SAEClassifier):
    def predict(self, X, candidates=None):
        return super().predict_top_k(X, 2, candidates)[:, 1]


@fails("check_classes")
class NamesTheTrainingClasses(SAEClassifier):
    @property
    def classes_(self):
        return self.seen_classes_


@fails("check_candidates")
class DependsOnTheCandidates(SAEClassifier):
    def compare(self, queries, classes):
        scores = super().compare(queries, classes)
        return scores - scores.mean(axis=1, keepdims=True)


@fails("check_add_classes")
class NeverPredictsNewClasses(SAEClassifier):
    def add_classes(self, new):
        super().add_classes({name: -np.asarray(new[name]) for name in new})
        return self


@fails("check_one_sample")
class RefusesOneSample(SAEClassifier):
    def predict(self, X, candidates=None):
        if np.shape(X)[0] == 1:
            raise ValueError("one sample is not enough")
        return super().predict(X, candidates)


@fails("check_batch_independence")
class LooksAtTheBatch(SAEClassifier):
    def compare(self, queries, classes):
        scores = super().compare(queries, classes)
        return scores - 0.01 * scores.mean(axis=0)


@fails("check_probabilities")
class ProbabilitiesOfNothing(SAEClassifier):
    def predict_proba(self, X, candidates=None):
        return 0.5 * super().predict_proba(X, candidates)


@fails("check_top_k")
class RepeatsTheBest(SAEClassifier):
    def predict_top_k(self, X, k=5, candidates=None):
        best = super().predict_top_k(X, k, candidates)
        return np.repeat(best[:, :1], best.shape[1], axis=1)


@fails("check_recognizer")
class PreparesOneClassInItsOwnWay(SAEClassifier):
    def prepare(self, names, vectors):
        return super().prepare(names, vectors[:, ::-1] if len(vectors) == 1 else vectors)


@fails("check_scorer")
class KeepsItsLastAnswer(SAEClassifier):
    def compare(self, queries, classes):
        self.last_ = super().compare(queries, classes)
        return self.last_


class ScalesItsWeights(SAEClassifier):
    """Writes into an array that it shares with the classifier."""

    def represent(self, rows):
        self.coef_encode_ *= 2.0
        return super().represent(rows)


class SortsItsSamples(SAEClassifier):
    """Pairs queries with samples by their size."""

    def compare(self, queries, classes):
        scores = super().compare(queries, classes)
        return scores[np.argsort(scores[:, 0])][np.argsort(np.arange(len(scores)))]


class MeasuresFromTheMeanCandidate(SAEClassifier):
    """Is not separable although its tags say so."""

    def prepare(self, names, vectors):
        return super().prepare(names, vectors - 0.5 * vectors.mean(axis=0))


class AnswersByAnotherWay(SAEClassifier):
    """Has a scorer that is not what decision_function asks."""

    def decision_function(self, X, candidates=None):
        return 2.0 * super().decision_function(X, candidates)


class KeepsOneQuery(SAEClassifier):
    """Represents a batch by its mean."""

    def represent(self, rows):
        return super().represent(rows.mean(axis=0, keepdims=True))


@fails("check_explanation")
class ExplainsAnotherScore(SAEClassifier):
    def decompose(self, rows, name, vector):
        return super().decompose(rows, name, vector[::-1])


@fails("check_fit_keeps_input")
class NormalizesInPlace(SAEClassifier):
    def fit(self, X, y):
        if not sparse.issparse(X) and X.dtype == np.float64:
            X /= np.linalg.norm(X, axis=1, keepdims=True)
        return super().fit(X, y)


@fails("check_refit")
class RemembersTheLastFit(SAEClassifier):
    def _fit(self, X, y):
        before = getattr(self, "coef_decode_", None)
        super()._fit(X, y)
        if before is not None and before.shape == self.coef_decode_.shape:
            self.coef_decode_ = self.coef_decode_ + 0.5 * before[::-1]


@fails("check_class_order")
class TrustsTheRowOrder(SAEClassifier):
    def _set_signatures(self, classes, table=None):
        super()._set_signatures(classes, table)
        self.seen_signatures_ = self.signatures_.vectors[: len(classes)]


@fails("check_float32")
class LosesPrecision(SAEClassifier):
    def compare(self, queries, classes):
        scores = super().compare(queries, classes)
        return np.roll(scores, 1, axis=1) if scores.dtype == np.float32 else scores


@fails("check_sparse")
class ClaimsToTakeSparse(SAEClassifier):
    def _fit(self, X, y):
        super()._fit(np.asarray(X), y)


@fails("check_more_dimensions_than_classes")
class InvertsTheSemanticGram(SAEClassifier):
    def _fit(self, X, y):
        super()._fit(X, y)
        S = self.seen_signatures_
        if np.linalg.matrix_rank(S) < S.shape[1]:
            self.coef_decode_ = np.full_like(self.coef_decode_, np.nan)


@fails("check_more_features_than_samples")
class InvertsTheFeatureGram(SAEClassifier):
    def _fit(self, X, y):
        if X.shape[0] < X.shape[1]:
            raise np.linalg.LinAlgError("Singular matrix")
        super()._fit(X, y)


@fails("check_choices")
class KeepsCurvesOfItsOwn(SAEClassifier):
    def _fit(self, X, y):
        super()._fit(X, y)
        self.cv_results_ = {"lams": np.array([1.0]), "scores": np.array([[0.5, 0.7]])}


class AnotherFitAnotherModel(SAEClassifier):
    """Random although its tags say otherwise."""

    counter = itertools.count()

    def _fit(self, X, y):
        super()._fit(X, y)
        rng = np.random.default_rng(next(self.counter))
        self.coef_decode_ = self.coef_decode_ + 0.05 * rng.standard_normal(self.coef_decode_.shape)


class NotAtAllSound(ZeroShotMethod):
    """Fails in many ways at once."""

    def __init__(self, signatures=None):
        self.signatures = signatures

    def _fit(self, X, y):
        raise RuntimeError("the machine is on fire")
