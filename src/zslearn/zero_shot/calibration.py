"""Calibration in one piece: bias, temperature and threshold, learned on the training classes."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from zslearn._declared import fitted, parameter
from zslearn._optional import warn_renamed
from zslearn._parameters import Either, Number, Seed, Whole, check_parameters
from zslearn._pipelines import behind, frozen, last_step, replaced_last_step, steps_before
from zslearn.core.confidence import MEASURES, RATIOS
from zslearn.core.fitting import fit_method
from zslearn.encoders.base import split_encoder
from zslearn.model_selection import ClassKFold
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import CLASSIFIER, ZeroShotClassifier
from zslearn.zero_shot.expectation import (
    Expectation,
    ExpectedRejection,
    Expecting,
    FoldRanks,
    expect,
)
from zslearn.zero_shot.held_out import (
    COEFFICIENTS,
    LEARNED,
    HeldOut,
    RejectionRule,
    choose_gamma,
    drawn_guests,
    gamma_of_gaps,
    held_out_folds,
    learned_temperatures,
    with_better_seen,
)
from zslearn.zero_shot.inputs import as_signatures, refuses_sample_weight
from zslearn.zero_shot.scoring import (
    REJECT_LABEL,
    Biased,
    Calibration,
    ForEachSetting,
    InputGuard,
    Scorer,
    Stepped,
    in_each_setting,
    is_auto,
)
from zslearn.zero_shot.tags import ZeroShotTags
from zslearn.zero_shot.teaching import Teachable, taught_method

if TYPE_CHECKING:
    from zslearn.zero_shot.prototypes.prototype_beliefs import PrototypeBeliefs

MAX_FOLDS = 10
# Up to so many seen classes, one is held out at a time, and classes rather than samples are what
# the bias is learned from; see docs/calibration.md for the measurement.
FEW_CLASSES = 15


class Wrapping:
    """The part of a classifier that holds a fitted one, perhaps behind steps, and corrects it."""

    # The attribute with the fitted classifier, or with the pipeline that ends in it.
    _held = "estimator_"
    gamma_: float
    temperature_: Mapping[str, float]
    seen_classes_: NDArray

    @property
    def _classifier(self) -> Any:
        """The fitted classifier, the last step if there is a pipeline."""
        return last_step(getattr(self, self._held))

    @property
    def signatures_(self) -> Signatures:
        """Every class that can be predicted."""
        found: Signatures = self._classifier.signatures_
        return found

    def add_classes(self, new: Signatures | Mapping[Any, ArrayLike]) -> Self:
        """Make new classes predictable; they count as unseen. See `ZeroShotClassifier`."""
        check_is_fitted(self)
        self._classifier.add_classes(new)
        return self

    def remove_classes(self, names: Sequence[Any]) -> Self:
        """Take classes without training samples back. See `ZeroShotClassifier`."""
        check_is_fitted(self)
        self._classifier.remove_classes(names)
        return self

    def _with_table(self, signatures: Signatures) -> Self:
        return self._around(self._classifier.with_signatures(signatures))

    def _around(self, classifier: Any) -> Self:
        """Return a copy that holds another fitted classifier."""
        twin = copy.copy(self)
        setattr(twin, self._held, replaced_last_step(getattr(self, self._held), classifier))
        return twin

    @property
    def kappa_(self) -> float:
        """How many samples a description is worth, see `PrototypeRegression`."""
        kappa: float = self._classifier.kappa_  # no such attribute where the classifier has none
        return kappa

    def _taught(self) -> PrototypeBeliefs:
        check_is_fitted(self)
        return taught_method(self._classifier)

    def _with_taught(self, method: PrototypeBeliefs) -> Self:
        return self._around(self._classifier._with_taught(method))

    def _temperature_among(self, names: NDArray) -> float:
        seen = np.isin(names, self.seen_classes_).any()
        return float(self.temperature_["all" if seen else "unseen"])

    def _class_offsets(self, names: NDArray) -> NDArray:
        return np.asarray(-self.gamma_ * np.isin(names, self.seen_classes_))


class CalibratedStacking(Wrapping, Expecting, Teachable, ZeroShotClassifier):
    """Correct a classifier: no preference for seen classes, honest probabilities, "none of these".

    Three things are learned from the training data alone:

    - a **bias** γ that is subtracted from the scores of seen classes (Chao et al., ECCV 2016). A
      classifier trained on seen classes prefers them, so that with all classes as candidates
      samples of unseen classes are lost. The answer here is the candidate c of largest
      f_c(x) − γ·[c is seen];
    - a **temperature** T: `predict_proba` is the softmax of these scores divided by T, with the T
      at which answers are as sure as they are right (Clarté et al., UAI 2023);
    - a **threshold** on the confidence of answers: ``predict(X, reject=True)`` gives
      `reject_label` to samples below it, which probably belong to no candidate.

    Classes are held out in folds as pseudo-unseen ones, with a share of the samples of the
    remaining classes; the classifier is fitted on the rest, once per fold. With all training
    classes as candidates the γ of highest harmonic mean, averaged over the folds, is found exactly
    (for up to fifteen of them see below).
    T and the threshold are learned twice, for candidates with seen classes among them ("all") and
    without ("unseen"), because both depend on who competes. For the threshold a third of the
    pseudo-unseen classes at a time is taken from the candidates: they have neither samples nor a
    place among the answers. For known and unknown samples alike, real unseen classes fill the
    candidates up to as many unseen ones as there will be; only their signatures are needed. The
    threshold is the highest t that rejects at most `max_rejected` of the held-out samples of seen
    classes, and keeps ``(1 + Σ r_c(t)) / (K + 1)`` at twice that share or less, where r_c is the
    rejected share of class c of the K pseudo-unseen ones, by a confidence learned of others: a
    promise for a class that was not held out. Below 1 / (K + 1) nothing can be promised. No test
    sample and no sample of an unseen class takes part. Parameters that the classifier chooses
    itself are chosen once, on all training classes, and kept in the folds. Around
    `PrototypeRegression` the folds also decide whether seen classes are represented
    by their descriptions alone or by their samples as well, and the confidence knows how much
    likelier a sample is of its answer than of a class nobody described.

    The folds are smaller problems than the real one. The best of many unseen candidates scores
    higher than the best of few, so what is learned depends on how many candidates each side has;
    ``cv="auto"`` therefore makes as many folds as keep the share of unseen candidates what it will
    be at prediction: round((seen + unseen) / unseen), between 2 and 10. The number of candidates
    and what a fold's classifier knows still differ, so all three stay estimates. See
    docs/calibration.md for how good they are.

    With at most fifteen seen classes, unseen ones in the table, a method in closed form and
    ``cv="auto"``, one class is held out at a time, and the unseen classes are candidates as they
    will be at prediction: their signatures are known. γ is then the middle between the median gaps
    of held-out samples of both sides, averaged over folds, where a gap is by how much the best seen
    class is ahead of the best unseen one, of as many as there will be.

    Parameters
    ----------
    estimator : ZeroShotClassifier or Pipeline that ends in one
        The classifier to calibrate; it is cloned. Earlier steps of a pipeline are fitted in every
        fold on its training samples alone.
    gamma : "auto" or float, default="auto"
        The bias, in units of the classifier's scores, or "auto" to choose it.
    temperature : "auto", float or dict, default="auto"
        T in the same units; a dict has one for "all" and one for "unseen".
    confidence : str or dict, default="right"
        How sure an answer is. "right" and "known" are the learned probability that the answer is
        right, or that the class of the sample is a candidate; a dict gives the coefficients of
        such a confidence. "score", "lead", "margin", "probability" and "entropy" are the best
        score, its lead over the mean, its margin over the second, its probability, and the
        negative entropy of all probabilities; "ratio" and "free ratio", around
        `PrototypeRegression`, compare its density with that of a class nobody described.
    threshold : "auto", float or dict, default="auto"
        Answers of lower confidence are rejected; a dict has one for "all" and one for "unseen".
    max_rejected : float, default=0.05
        The threshold is the highest that rejects at most this share of held-out samples of seen
        classes and promises to reject at most twice this share of an unseen class.
    reject_cost : float, optional
        Take the threshold of smallest cost instead: a wrong answer, also any answer to a sample of
        an unknown class, costs 1 and to reject a sample of a candidate costs this. Seen, unseen
        and unknown classes count the same.
    reject_label : str or int, optional
        What rejected samples are called; by default "none of these", or -1 if classes are whole
        numbers.
    cv : "auto" or int, default="auto"
        Number of folds over the training classes.
    holdout : float, default=0.2
        Share of the samples of each remaining class that is held out in a fold.
    random_state : int or None, default=0
        Order in which classes are dealt to folds, the draw of held-out samples, and which classes
        are unknown together.

    Attributes
    ----------
    estimator_ : ZeroShotClassifier or Pipeline
        The classifier fitted on all training data.
    gamma_ : float
        The bias in use. 0 where it cannot be chosen: with one-hot signatures no class is unseen,
        and below four training classes no fold can be made.
    temperature_ : dict
        T for "all" and "unseen"; 1 where it cannot be learned.
    threshold_ : dict
        The threshold for "all" and "unseen"; None where it cannot be learned.
    confidence_ : dict
        Coefficients of the learned confidence for "all" and "unseen"; empty if it is a measure.
    curves_ : list of SeenUnseenCurve
        The curve of each fold; empty if γ was not chosen.
    expected_rejection_ : dict of str to ExpectedRejection
        For "all" and "unseen", the shares of samples of seen and unseen classes, and of classes
        that nobody described, that the threshold is expected to reject, and the AUROC with which
        the latter two are told apart. Empty where nothing was learned. Where it is below .6,
        ``predict(X, reject=True)`` warns.
    expected_accuracy_ : Expectation or None
        The per-class accuracy to expect among the unseen classes alone, with an interval;
        `expected_accuracy` has it for all classes, and for other numbers of classes. None without
        folds.
    cv_results_ : dict or None
        Harmonic mean of about 1,000 of the γ tried, spread evenly and the best among them, on
        every fold, with scikit-learn's keys; of γ alone if it comes from gaps, and None if it was
        not chosen.
    best_params_ : dict
        γ, if it was left to "auto".

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.evaluation import GeneralizedProtocol
    >>> from zslearn.zero_shot import CalibratedStacking, SAEClassifier
    >>> data = make_zero_shot(noise=2.0, random_state=0)
    >>> task = GeneralizedProtocol().task(data)
    >>> clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), reject_label="?")
    >>> clf = clf.fit(data.X[task.train], data.y[task.train])
    >>> clf.gamma_ > 0
    True
    >>> some = task.unseen[:-2]  # the samples of two classes belong to no candidate
    >>> answers = clf.predict(data.X[data.rows(task.unseen[-2:])], some, reject=True)
    >>> bool((answers == "?").mean() > 0.25)
    True
    """

    estimator: ZeroShotClassifier | Pipeline = parameter(allowed=CLASSIFIER, kw_only=False)
    gamma: float | str = parameter(default="auto", allowed=Either("auto", Number()))
    temperature: float | str | Mapping[str, float] = parameter(
        default="auto", allowed=Either("auto", Number(above=0), ForEachSetting(Number(above=0)))
    )
    confidence: str | Mapping[str, ArrayLike] = parameter(
        default="right", allowed=Either(*LEARNED, *MEASURES, *RATIOS, ForEachSetting(COEFFICIENTS))
    )
    threshold: float | str | Mapping[str, float] = parameter(
        default="auto", allowed=Either("auto", Number(), ForEachSetting(Number()))
    )
    max_rejected: float = parameter(default=0.05, allowed=Number(least=0, below=1))
    reject_cost: float | None = parameter(default=None, allowed=Either(None, Number(above=0)))
    reject_label: str | int | None = parameter(default=None, allowed=REJECT_LABEL)
    cv: int | str = parameter(default="auto", allowed=Either("auto", Whole(2)))
    holdout: float = parameter(default=0.2, allowed=Number(above=0, below=1))
    random_state: int | None = parameter(default=0, allowed=Seed())
    gamma_: float = fitted("")
    confidence_: dict[str, NDArray] = fitted("arrays")
    ranks_: dict[str, list[FoldRanks]] = fitted()
    optimism_: float = fitted("optional ")
    rows_learned_: float = fitted("optional ")
    expected_accuracy_: Expectation | None = fitted()
    expected_rejection_: dict[str, ExpectedRejection] = fitted()

    @property
    def signatures(self) -> Any:
        """The class table of the classifier."""
        return last_step(self.estimator).signatures

    @property
    def zero_shot_tags(self) -> ZeroShotTags:  # type: ignore[override]
        """The facts the classifier tells about itself."""
        return last_step(self.estimator).zero_shot_tags

    @property
    def bias_(self) -> float:
        """What is subtracted from the scores of seen classes; the old name of `gamma_`."""
        warn_renamed("bias_", "gamma_")
        return self.gamma_

    @refuses_sample_weight
    @fit_method
    def fit(self, X: Any, y: Any) -> CalibratedStacking:
        """Fit the classifier on all training data and learn bias, temperature and threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        CalibratedStacking
            The fitted classifier.
        """
        check_parameters(self)
        encoder, rest = split_encoder(self.estimator)
        if encoder is not None:
            encoder = clone(encoder)
            X = encoder.fit_transform(X)
        X, labels = self._validated(X, y, ensure_all_finite=self._finite())
        fitted = clone(rest).fit(X, labels)
        # Folds and the fit see vectors; what is raw is encoded once, here and before answers.
        self.estimator_ = fitted if encoder is None else behind(encoder, fitted)
        self.seen_classes_ = self._classifier.seen_classes_
        self._calibrate(X, labels)
        return self

    def fit_calibration(self, X: Any, y: NDArray) -> CalibratedStacking:
        """Learn bias, temperature and threshold only, without the fit on all training data.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        CalibratedStacking
            With all learned attributes except `estimator_` set.
        """
        check_parameters(self)
        encoder, _ = split_encoder(self.estimator)
        if encoder is not None:
            X = encoder.transform(X)
        self._calibrate(X.to_numpy() if hasattr(X, "columns") else X, y)
        return self

    def _calibrate(self, X: Any, y: NDArray) -> None:
        few = len(self._guests(np.unique(y))) > 0
        folds, posterior = with_better_seen(
            list(self._folds(X, y)),
            None if is_auto(self.gamma) else float(self.gamma),
            by_gaps=few,
        )
        if posterior and hasattr(self, "estimator_"):
            self._classifier.represent_seen("posterior")
        # In this order: temperature is that of the biased scores, threshold that of both.
        self._choose_gamma(folds, few)
        self._fit_temperature(folds)
        self._fit_threshold(folds)
        self._note_expected(folds, np.unique(y))

    def _note_expected(self, folds: Sequence[HeldOut], classes: NDArray) -> None:
        """Set what to expect on classes without samples."""
        self.ranks_, self.expected_accuracy_ = {}, None
        self.optimism_, self.rows_learned_ = 0.0, 1 - self.holdout
        if folds:
            self.ranks_ = {
                "unseen": [fold.ranks() for fold in folds],
                "all": [fold.ranks(self.gamma_) for fold in folds],
            }
            unseen = np.setdiff1d(as_signatures(self.signatures).names, classes)
            # As many as a fold holds out where no class is unseen yet.
            n_unseen = max(2, len(unseen) or round(len(classes) / len(folds)))
            self.expected_accuracy_ = expect(
                self.ranks_["unseen"], n_unseen, learned=self.rows_learned_
            )

    def frozen(self) -> CalibratedStacking:
        """Return an unfitted copy with all that was learned on folds as numbers.

        Returns
        -------
        CalibratedStacking
            It has the parameters of the classifier as numbers too, and is fitted without folds.
        """
        check_is_fitted(self)
        learned: dict[str, Any] = {"temperature": dict(self.temperature_)}
        if None not in self.threshold_.values():
            learned["threshold"] = dict(self.threshold_)
        if self.confidence_:
            learned["confidence"] = dict(self.confidence_)
        return clone(self).set_params(
            **self.best_params_, **learned, estimator=frozen(self.estimator_)
        )

    def scorer(self) -> Scorer:
        """Return the scorer of the classifier, behind its steps and less the bias."""
        encoder, rest = split_encoder(self.estimator_)
        guard = InputGuard.of(self, self._finite())
        # f_c(x) − γ·[c is seen], with x behind the steps of the pipeline.
        inner = Stepped(self._classifier.scorer(), steps_before(rest), guard)
        inner = inner if encoder is None else Stepped(inner, (encoder,))
        return Biased(inner, self.gamma_, self.seen_classes_)

    @property
    def calibration(self) -> Calibration:  # type: ignore[override]
        """How scores become probabilities and rejections, as learned on folds."""
        return Calibration(
            self.temperature_,
            self.threshold_,
            self.confidence,
            self.confidence_,
            self.reject_label,
            self._doubts() if is_auto(self.threshold) else {},
        )

    def _can_be_taught(self) -> bool:
        return isinstance(last_step(self.estimator), Teachable)

    def _folds(self, X: Any, y: NDArray) -> Iterator[HeldOut]:
        """Yield what the classifier says of held-out classes, if anything is to be learned."""
        given = (self.gamma, self.temperature, self.threshold)
        learns = isinstance(self.confidence, str) and self.confidence in LEARNED
        wanted = learns or any(map(is_auto, given))
        n_folds = self._n_folds(np.unique(y)) if wanted else 0
        if n_folds:
            # Parameters that the fit on all training data chose are not chosen again in every fold.
            fitted = hasattr(self, "estimator_")
            _, rest = split_encoder(self.estimator_ if fitted else self.estimator)
            prototype = frozen(rest) if fitted else rest
            folds = ClassKFold(
                n_folds, shuffle=True, holdout=self.holdout, random_state=self.random_state
            )
            guests = self._guests(np.unique(y))
            fill = None if len(guests) else self._described(np.unique(y))
            yield from held_out_folds(prototype, X, y, folds, guests, fill)

    def _guests(self, classes: NDArray) -> NDArray:
        """Return the unseen classes that are candidates of the folds, if seen ones are few."""
        closed = self.zero_shot_tags.closed_form and self.cv == "auto"
        if not closed or self.signatures is None or not 4 <= len(classes) <= FEW_CLASSES:
            return classes[:0]
        return self._described(classes)

    def _described(self, classes: NDArray) -> NDArray:
        """Return unseen classes, some of them if they are many."""
        unseen = np.setdiff1d(as_signatures(self.signatures).names, classes)
        return drawn_guests(unseen, self.random_state)

    def _choose_gamma(self, folds: Sequence[HeldOut], few: bool) -> None:
        self.curves_ = [fold.curve for fold in folds if fold.curve] if is_auto(self.gamma) else []
        if self.curves_:
            choice = gamma_of_gaps(folds) if few else choose_gamma(self.curves_)
            self.cv_results_, self.gamma_ = choice.cv_results, choice.best_params["gamma"]
        else:
            self.cv_results_ = None
            # Without folds nothing says how far seen classes are preferred.
            self.gamma_ = 0.0 if is_auto(self.gamma) else float(self.gamma)
        self.best_params_ = {"gamma": self.gamma_} if is_auto(self.gamma) else {}

    def _fit_temperature(self, folds: Sequence[HeldOut]) -> None:
        self.temperature_ = (
            learned_temperatures(folds, self.gamma_)
            if is_auto(self.temperature)
            else in_each_setting(self.temperature)
        )

    def _fit_threshold(self, folds: Sequence[HeldOut]) -> None:
        """Learn the confidence, and the threshold on it, on folds with unknown classes."""
        rule = RejectionRule(
            self.confidence, self.max_rejected, self.reject_cost, self.random_state
        )
        learned = rule.learn(folds, self.gamma_, self.temperature_)
        self.confidence_, thresholds = learned.coefficients, learned.thresholds
        self.expected_rejection_ = learned.expected
        given = not is_auto(self.threshold)
        self.threshold_ = in_each_setting(self.threshold) if given else thresholds

    def _n_folds(self, classes: NDArray) -> int:
        """Return the number of folds, or 0 if none can be made."""
        # Two folds of two classes each are the least.
        if self.signatures is None or len(classes) < 4:
            return 0
        most = len(classes) // 2
        if self.cv != "auto":
            return min(int(self.cv), most)
        # A class that is held out alone needs another candidate.
        if len(self._guests(classes)):
            return len(classes)
        # A fold holds out the share of the classes that will be unseen at test time.
        unseen = int((~np.isin(as_signatures(self.signatures).names, classes)).sum())
        wanted = round((len(classes) + unseen) / unseen) if unseen else 5
        return int(np.clip(wanted, 2, min(MAX_FOLDS, most)))

    def _finite(self) -> bool | str:
        """Leave NaN to the steps of a pipeline, one of which may fill it in."""
        # An imputer, for example; what it leaves is refused by the classifier itself.
        return "allow-nan" if isinstance(self.estimator, Pipeline) else True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags
