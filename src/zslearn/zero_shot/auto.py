"""A classifier that chooses the method for the data, calibrates it, and says what to expect of it.

Everything comes from one round of folds over the seen classes: which member of the portfolio is
taken, the bias against seen classes, how sure an answer is, when to reject one, and the accuracy to
expect on classes without samples.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from zslearn._declared import fitted, parameter
from zslearn._optional import require
from zslearn._parameters import (
    Constraint,
    Either,
    Number,
    Seed,
    Whole,
    check_parameters,
)
from zslearn._pipelines import (
    features_of,
    frozen,
    last_step,
    set_signatures,
    steps_before,
)
from zslearn._progress import progress_bar, report
from zslearn.core.fitting import fit_method
from zslearn.core.threads import map_in_order, n_threads
from zslearn.exceptions import UnknownClassError, ZslearnWarning
from zslearn.model_selection import Choice, ClassKFold
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import ZeroShotClassifier, remedy
from zslearn.zero_shot.calibration import CalibratedStacking, Wrapping
from zslearn.zero_shot.expectation import (
    Expectation,
    ExpectedRejection,
    Expecting,
    FoldRanks,
    choose_member,
    class_table,
    expect,
    optimism,
    standard_errors,
)
from zslearn.zero_shot.held_out import (
    HeldOut,
    RejectionRule,
    choose_gamma,
    drawn_guests,
    held_out_by,
    learned_temperatures,
)
from zslearn.zero_shot.inputs import SIGNATURES, as_signatures, refuses_sample_weight
from zslearn.zero_shot.portfolio import MAX_NARROW, MEMBERS, members_of, sized
from zslearn.zero_shot.registry import RECOMMENDED
from zslearn.zero_shot.scoring import (
    REJECT_LABEL,
    Biased,
    Calibration,
    Delegate,
    InputGuard,
    Scorer,
    Stepped,
)
from zslearn.zero_shot.search import even_rows, parameter_folds
from zslearn.zero_shot.tags import ZeroShotTags
from zslearn.zero_shot.teaching import Teachable

Rows = NDArray[np.intp]
# What a member may fail with; anything else is a fault of the program and stops the fit.
FAILURES = (ValueError, TypeError, ArithmeticError, RuntimeError, MemoryError)
MAX_FOLDS = 5
# Of the classifier before it has taken a member.
TAGS = ZeroShotTags(closed_form=False, reference="zslearn; see docs/which_method.md")
# Every class is held out once, but no further fold is needed after so many of them.
_MOST_HELD_OUT = 60
# A fit costs about min(rows, features)³: up to 512 features four rows for each do not cost more
# than one, above that 600 rows must do.
_CHEAP_FEATURES, _FEW_ROWS, DEFAULT_ROWS = 512, 600, 1000
# Share of the samples of the classes learned from that a fold holds out, as CalibratedStacking.
_HOLDOUT = 0.2
# Training rows that the size of scores is measured on.
_UNIT_ROWS = 200
COLUMNS = ("rank", "member", "accuracy", "error", "low", "high", "folds", "seconds", "note")
ENCODER = Either(
    None, Constraint("an encoder such as TextEncoder()", lambda v: hasattr(v, "identity"))
)


class AutoZeroShotClassifier(Wrapping, Expecting, Teachable, ZeroShotClassifier):
    """Judge a few methods on held-out seen classes, fit the best of them, and calibrate it.

    Members of the portfolio are methods, most behind a preparation of the features. Folds hold out
    a fifth of the seen classes; the unseen classes, whose signatures are known, are candidates
    beside them, as they will be later. All members see the same folds. The first member about as
    good as the leader is taken, see `choose_member`, and fitted on all rows. The same folds teach
    its bias against seen classes, its probabilities and when to answer "none of these", as in
    `CalibratedStacking`. No sample of an unseen class takes part.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot, and then samples are
        held out in place of classes.
    portfolio : "default", list or dict, default="default"
        Members, the one to prefer first: names of `zslearn.zero_shot.portfolio.PORTFOLIO` or of
        methods, unfitted zero-shot classifiers and pipelines that end in one; a dict names them. A
        single member is judged for what to expect of it.
    encoder : TextEncoder, ImageEncoder or None, default=None
        What turns raw samples into vectors, at fit and at prediction. Vectors are taken as well.
    cv : "auto", int or None, default="auto"
        Folds over the seen classes; "auto" makes five. None judges and calibrates nothing and takes
        the first member.
    max_rows : int, default=1000
        Rows that members are judged on, drawn evenly from the classes. In place of 1,000 it is four
        rows for every feature above 256 features, and 600 rows above 512; other numbers in
        proportion. The member taken is fitted on all rows.
    max_rejected : float, default=0.05
        Share of held-out samples of seen classes that ``predict(X, reject=True)`` may reject; of an
        unseen class it may be twice this share, see `CalibratedStacking`.
    reject_label : str or int, optional
        What rejected samples are called; by default "none of these", or -1 if classes are whole
        numbers.
    time_budget : float, optional
        Seconds after which no further member is begun; the choice then depends on the machine. The
        first member is judged in any case.
    random_state : int or None, default=0
        Seed of rows, folds and preparations.
    verbose : int, default=0
        Above 0, progress goes to stderr.

    Attributes
    ----------
    pipeline_ : Pipeline
        The member taken, fitted on all rows.
    estimator_ : ZeroShotClassifier
        Its last step.
    member_ : str
        Its name.
    leaderboard_ : Leaderboard
        One row per member: accuracy on held-out classes, its standard error, the interval to expect
        were it the only member, folds, seconds, and what became of it.
    expected_accuracy_ : Expectation or None
        The per-class accuracy to expect among the unseen classes, with an interval. None if nothing
        was judged.
    gamma_, temperature_, threshold_, confidence_
        The calibration, as in `CalibratedStacking`.
    expected_rejection_ : dict of str to ExpectedRejection
        What ``predict(X, reject=True)`` is expected to reject, as in `CalibratedStacking`.
    held_out_accuracies_ : dict of str to ndarray
        Accuracies of every member that was judged, one for each held-out class.
    cv_results_ : dict or None
        Accuracies of the members on every fold, with scikit-learn's keys.
    best_params_ : dict
        The name of the member taken, as "portfolio", if there was a choice.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import AutoZeroShotClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = AutoZeroShotClassifier(data.signatures, portfolio=["prototype-regression", "iap"])
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.member_, len(clf.leaderboard_)
    ('prototype-regression', 2)
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> reached = clf.score(data.X[unseen], data.y[unseen], candidates="unseen")
    >>> clf.expected_accuracy_.low <= reached <= clf.expected_accuracy_.high
    True
    """

    signatures: Any = parameter(default=None, allowed=Either(None, SIGNATURES), kw_only=False)
    portfolio: Any = parameter(default="default", allowed=MEMBERS)
    encoder: Any = parameter(default=None, allowed=ENCODER)
    cv: int | str | None = parameter(default="auto", allowed=Either("auto", None, Whole(2)))
    max_rows: int = parameter(default=DEFAULT_ROWS, allowed=Whole(1))
    max_rejected: float = parameter(default=0.05, allowed=Number(least=0, below=1))
    reject_label: str | int | None = parameter(default=None, allowed=REJECT_LABEL)
    time_budget: float | None = parameter(default=None, allowed=Either(None, Number(above=0)))
    random_state: int | None = parameter(default=0, allowed=Seed())
    verbose: int = parameter(default=0, allowed=Whole(0))
    _held = "pipeline_"
    pipeline_: Pipeline = fitted()
    member_: str = fitted()
    judged_: list[dict[str, Any]] = fitted()
    held_out_accuracies_: dict[str, NDArray] = fitted("arrays")
    ranks_: dict[str, list[FoldRanks]] = fitted()
    optimism_: float = fitted("")
    rows_learned_: float = fitted("")
    expected_accuracy_: Expectation | None = fitted()
    gamma_: float = fitted("")
    temperature_: dict[str, float] = fitted()
    threshold_: dict[str, float | None] = fitted()
    confidence_: dict[str, NDArray] = fitted("arrays")
    expected_rejection_: dict[str, ExpectedRejection] = fitted()

    @property
    def estimator_(self) -> ZeroShotClassifier:
        """The fitted classifier of the member taken."""
        found: ZeroShotClassifier = self._classifier
        return found

    @property
    def zero_shot_tags(self) -> ZeroShotTags:  # type: ignore[override]
        """The facts about the member taken; before `fit`, about the choice."""
        if not hasattr(self, "pipeline_"):
            return TAGS
        # How it is fitted and who proposed it stay those of the choice.
        taken = self.estimator_.zero_shot_tags
        return replace(taken, closed_form=False, reference=TAGS.reference)

    @property
    def leaderboard_(self) -> Leaderboard:
        """What was judged, the best member first."""
        check_is_fitted(self)
        return Leaderboard(self.judged_)

    @refuses_sample_weight
    @fit_method
    def fit(self, X: Any, y: Any) -> AutoZeroShotClassifier:
        """Judge the members, fit the one taken on all rows, and calibrate it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or raw samples
            Samples of the seen classes; texts or pictures if there is an `encoder`.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        AutoZeroShotClassifier
            The fitted classifier.
        """
        start = perf_counter()
        check_parameters(self)
        X, labels = self._validated(vectors_of(self.encoder, X), y)
        task = self._task(X, labels)
        members = members_of(self.portfolio, X, len(task.classes), self.random_state)
        with progress_bar(len(members), "judging", "member", show=self.verbose > 0) as bar:
            deadline = None if self.time_budget is None else start + self.time_budget
            judged = judge(task, members, deadline, tick=bar.update)
        taken = self._take(task, judged, members)
        report(self.verbose > 0, f"[auto] fitting {taken.name} on all {len(labels)} rows")
        self.member_, self.pipeline_ = taken.name, task.pipeline(taken.estimator, len(labels))
        self.pipeline_.fit(X, labels)
        if self.encoder is not None:
            self.encoder_ = self.encoder.identity.as_dict()
        bias = self._calibrate(taken.held_out, X)
        self._conclude(task, judged, taken, bias)
        return self

    def frozen(self) -> ZeroShotClassifier:
        """Return an unfitted copy of what was found: the member taken, its parameters and numbers.

        Returns
        -------
        CalibratedStacking
            It judges nothing and is fitted once.
        """
        check_is_fitted(self)
        numbers: dict[str, Any] = {"gamma": self.gamma_, "temperature": dict(self.temperature_)}
        if None not in self.threshold_.values():
            numbers["threshold"] = dict(self.threshold_)
        numbers["confidence"] = dict(self.confidence_) if len(self.confidence_) == 2 else "score"
        return CalibratedStacking(frozen(self.pipeline_), **numbers, reject_label=self.reject_label)

    def scorer(self) -> Scorer:
        """Return the scorer of the member taken, behind its preparation and less the bias."""
        steps = steps_before(self.pipeline_)
        inner: Scorer = Stepped(self.estimator_.scorer(), steps, InputGuard.of(self))
        if self.encoder is not None:
            inner = Encoded(inner, self.encoder)
        return Biased(inner, self.gamma_, self.seen_classes_)

    @property
    def calibration(self) -> Calibration:  # type: ignore[override]
        """How scores become probabilities and rejections, as learned on the folds, or its own."""
        if self.cv is None:
            return self.estimator_.calibration
        return Calibration(
            self.temperature_,
            self.threshold_,
            "score",
            self.confidence_,
            self.reject_label,
            self._doubts(),
        )

    def _can_be_taught(self) -> bool:
        return hasattr(self, "pipeline_") and isinstance(self.estimator_, Teachable)

    def _temperature_among(self, names: NDArray) -> float:
        if self.cv is None:  # nothing was judged, so nothing was calibrated
            taken: Any = self.estimator_
            return float(taken._temperature_among(names))
        return super()._temperature_among(names)

    def _task(self, X: Any, labels: NDArray) -> Task:
        """Check classes and signatures, and lay out the folds."""
        self.seen_classes_ = classes = np.unique(labels)
        table = None if self.signatures is None else as_signatures(self.signatures)
        if table is not None and (unknown := [c for c in classes.tolist() if c not in table]):
            raise UnknownClassError(unknown, list(table), remedy(classes, table))
        limit = 4 * X.shape[1] if X.shape[1] <= _CHEAP_FEATURES else _FEW_ROWS
        limit = DEFAULT_ROWS if X.shape[1] <= MAX_NARROW else limit
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31)) if self.random_state is None else int(self.random_state)
        index = np.searchsorted(classes, labels)
        limit = max(1, limit * self.max_rows // DEFAULT_ROWS)
        rows = even_rows(index, limit, np.random.default_rng(seed))
        self.rows_learned_ = (1 - _HOLDOUT) * len(rows) / len(labels)
        return Task(X[rows], labels[rows], classes, table, self.cv, seed)

    def _take(self, task: Task, judged: Sequence[Judged], members: Mapping[str, Any]) -> Judged:
        """Return the member to take; the recommended one, or the first, if none was judged."""
        able = [one for one in judged if one.ranks]
        if able:
            return able[choose_member(task.accuracies(able))]
        name = (
            RECOMMENDED if RECOMMENDED in members and self.cv is not None else next(iter(members))
        )
        if self.cv is not None:
            reasons = [one.reason for one in judged if one.reason]
            why = reasons[0] if reasons else f"{len(task.classes)} seen classes, four are needed"
            warnings.warn(
                f"no member could be judged on held-out classes ({why}), so {name} was taken "
                "without a look at the data, and nothing is calibrated.",
                ZslearnWarning,
                stacklevel=6,
            )
        return Judged(name, members[name])

    def _calibrate(self, folds: Sequence[HeldOut], X: Any) -> float:
        """Set bias, temperatures and thresholds; return the bias in units of the folds' scores."""
        self.gamma_, self.temperature_ = 0.0, {"all": 1.0, "unseen": 1.0}
        self.threshold_, self.confidence_ = {"all": None, "unseen": None}, {}
        self.expected_rejection_ = {}
        curves = [one.curve for one in folds if one.curve is not None]
        if not curves:
            return 0.0
        gamma = float(choose_gamma(curves).best_params["gamma"])
        temperature = learned_temperatures(folds, gamma)
        rule = RejectionRule("right", self.max_rejected, None, self.random_state)
        learned = rule.learn(folds, gamma, temperature)
        mixed, threshold = learned.coefficients, learned.thresholds
        self.expected_rejection_ = learned.expected
        unit = spread_of_scores(self.pipeline_, X)
        self.gamma_ = unit * gamma
        self.temperature_ = {name: unit * T for name, T in temperature.items()}
        # The first three measures are in units of scores, the other two and the intercept are not.
        per_unit = np.array([1 / unit, 1 / unit, 1 / unit, 1.0, 1.0, 1.0])
        self.confidence_ = {name: row * per_unit for name, row in mixed.items()}
        self.threshold_ = {
            name: t if t is None or name in mixed else unit * t for name, t in threshold.items()
        }
        return gamma

    def _conclude(self, task: Task, judged: Sequence[Judged], taken: Judged, bias: float) -> None:
        """Set what was found out on the way."""
        able = [one for one in judged if one.ranks]
        self.judged_ = leaderboard_rows(judged, taken, task, self.rows_learned_)
        self.cv_results_, self.best_params_ = None, {}
        self.ranks_, self.optimism_, self.expected_accuracy_ = {}, 0.0, None
        accuracies = task.accuracies(able)
        names = [one.name for one in able]
        self.held_out_accuracies_ = dict(zip(names, accuracies.T, strict=True))
        if len(judged) > 1 and able:
            self.best_params_ = {"portfolio": taken.name}
            among = None if task.table is None else task.n_unseen
            scores = [[float(fold.among(among).mean()) for fold in one.ranks] for one in able]
            points = [{"portfolio": one.name} for one in able]
            self.cv_results_ = Choice.of(points, np.array(scores).T).cv_results
        if able and task.table is not None:
            self.optimism_ = optimism(accuracies, able.index(taken))
            self.ranks_ = {
                "unseen": taken.ranks,
                "all": [one.ranks(bias) for one in taken.held_out],
            }
            self.expected_accuracy_ = self.expected_accuracy(task.n_unseen)
            self._warn_if_near_chance(task.accuracies([taken]))

    def _warn_if_near_chance(self, table: NDArray) -> None:
        """Warn where the member taken does no better than guessing, by one standard error."""
        assert self.expected_accuracy_ is not None
        chance = self.expected_accuracy_.chance
        reached = float(table.mean()) - self.optimism_
        if reached > chance + float(standard_errors(table)[0]):
            return
        warnings.warn(
            f"{self.member_} reaches {max(reached, 0):.2f} on held-out classes and guessing "
            f"{chance:.2f}: the signatures say nothing that these features show. Check that "
            "classes and signatures belong together, or describe the classes by what can be "
            "measured.",
            ZslearnWarning,
            stacklevel=7,
        )


@dataclass(frozen=True, eq=False)
class Encoded(Delegate):
    """A scorer of raw samples; vectors are taken as they are."""

    encoder: Any = None

    def check_rows(self, X: Any) -> Any:
        return self.inner.check_rows(vectors_of(self.encoder, X))


def vectors_of(encoder: Any, X: Any) -> Any:
    """Return what an encoder makes of raw samples; numbers in rows and columns as they are."""
    kind = getattr(getattr(X, "dtype", None), "kind", "O")
    if encoder is None or sparse.issparse(X) or (kind in "fiu" and X.ndim == 2):
        return X
    return encoder.fit().transform(X)


@dataclass(frozen=True)
class Task:
    """The rows that members are judged on, and how they are dealt to folds.

    Attributes
    ----------
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Features of the seen classes.
    labels : ndarray of shape (n_samples,)
        Their classes.
    classes : ndarray of shape (n_seen,)
        Sorted.
    table : Signatures or None
        The class table; with None samples are held out in place of classes.
    cv : "auto", int or None
        As the parameter of the classifier.
    seed : int
        Of the folds.
    """

    X: Any
    labels: NDArray[Any]
    classes: NDArray[Any]
    table: Signatures | None
    cv: int | str | None
    seed: int

    @cached_property
    def unseen(self) -> NDArray[Any]:
        """Classes of the table without samples."""
        names = self.classes[:0] if self.table is None else self.table.names
        return np.setdiff1d(names, self.classes)

    @cached_property
    def guests(self) -> NDArray[Any]:
        """Unseen classes, which are candidates of every fold, as they will be later."""
        return drawn_guests(self.unseen, self.seed)

    @cached_property
    def candidates(self) -> NDArray[Any]:
        """Seen classes and guests, sorted."""
        return np.union1d(self.classes, self.guests) if len(self.guests) else self.classes

    @property
    def n_unseen(self) -> int:
        """Classes without samples, at least two; as many as a fold holds out if there are none."""
        return max(2, len(self.unseen) or round(len(self.classes) / max(self.n_folds, 1)))

    @property
    def n_folds(self) -> int:
        """Folds that the classes are dealt to; 0 if none can be made."""
        n_classes = len(self.classes)
        if self.cv is None or (n_classes < 4 and self.table is not None):
            return 0
        if self.table is None:
            return 3 if self.cv == "auto" else int(self.cv)
        # A held-out class needs another candidate: a guest, or a second one that is held out.
        most = n_classes if len(self.guests) else n_classes // 2
        return min(MAX_FOLDS if self.cv == "auto" else int(self.cv), most)

    def folds(self) -> list[tuple[Rows, Rows]]:
        """Training rows and held-out rows of every fold."""
        index = np.searchsorted(self.classes, self.labels)
        if not self.n_folds:
            return []
        if self.table is None:
            return parameter_folds(index, self.n_folds, self.seed, one_hot=True)
        dealt = ClassKFold(self.n_folds, shuffle=True, holdout=_HOLDOUT, random_state=self.seed)
        enough = math.ceil(_MOST_HELD_OUT * self.n_folds / len(self.classes))
        return list(dealt.split(index, index))[:enough]

    def accuracies(self, judged: Sequence[Judged]) -> NDArray:
        """Return the accuracy of members on every held-out class, among as many as are unseen."""
        n_candidates = None if self.table is None else self.n_unseen
        return class_table([one.ranks for one in judged], len(self.candidates), n_candidates)

    def pipeline(self, member: Any, n_rows: int) -> Pipeline:
        """Return an unfitted copy of a member for this class table and a number of rows."""
        member = sized(member, n_rows)
        set_signatures(member, self.table)
        return member if isinstance(member, Pipeline) else Pipeline([("end", member)])


@dataclass
class Judged:
    """What is known of a member.

    Attributes
    ----------
    name, estimator
        The member.
    ranks : list of FoldRanks
        Where it ranked the true classes, fold by fold.
    held_out : list of HeldOut
        Its scores; none with one-hot signatures.
    seconds : float
        Time of its folds.
    reason : str
        Why it was not judged, if it was not.
    """

    name: str
    estimator: Any
    ranks: list[FoldRanks] = field(default_factory=list)
    held_out: list[HeldOut] = field(default_factory=list)
    seconds: float = 0.0
    reason: str = ""


def judge(
    task: Task,
    members: Mapping[str, Any],
    deadline: float | None = None,
    *,
    tick: Callable[[int], Any] = lambda _: None,
) -> list[Judged]:
    """Fit every member on every fold and rank what was held out.

    Parameters
    ----------
    task : Task
        The data.
    members : mapping of str to estimator
        Unfitted.
    deadline : float, optional
        Time of `perf_counter` after which no member is begun, but the first.
    tick : callable
        Told of every member.

    Returns
    -------
    list of Judged
        In the order of the members; one that fails has its reason and no folds.
    """
    judged = [Judged(name, member) for name, member in members.items()]
    folds = task.folds()
    for one in judged if folds else ():
        if deadline is not None and perf_counter() > deadline and one is not judged[0]:
            one.reason = "the time was spent"
        else:
            _judge_member(task, one, folds)
        tick(1)
    return judged


def _judge_member(task: Task, one: Judged, folds: Sequence[tuple[Rows, Rows]]) -> None:
    """Judge a member on all folds, several at once in threads."""
    start, work = perf_counter(), partial(_judge_fold, task, one.estimator)
    try:
        # Recorded, not only ignored: scikit-learn empties the list of filters for a moment, which
        # all threads see.
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("ignore")
            for ranks, held_out in map_in_order(work, folds, min(n_threads(), len(folds))):
                one.ranks.append(ranks)
                one.held_out += held_out
    except FAILURES as error:
        one.reason = "failed: " + (" ".join(str(error).split()).partition(". ")[0] or repr(error))
        one.ranks, one.held_out = [], []
    one.seconds = perf_counter() - start


def _judge_fold(
    task: Task, member: Any, rows: tuple[Rows, Rows]
) -> tuple[FoldRanks, list[HeldOut]]:
    """Fit a member on some rows and rank the classes of others."""
    train, test = rows
    fitted = task.pipeline(member, len(train)).fit(task.X[train], task.labels[train])
    X, y = task.X[test], task.labels[test]
    if task.table is None:
        scores = last_step(fitted).decision_function(features_of(fitted, X), task.classes)
        every = np.arange(len(task.classes))
        return FoldRanks.of(_finite(scores), np.searchsorted(task.classes, y), every), []
    unit = spread_of_scores(fitted, task.X[train])
    # Without guests, how sure answers are is learned as in CalibratedStacking.
    n_unseen = task.n_unseen if len(task.guests) else None
    fold = held_out_by(fitted, X, y, task.candidates, unit=unit, n_unseen=n_unseen)
    _finite(fold.scores(fold.unseen))
    # The learned confidence goes by scores alone, which every member has.
    return fold.ranks(), [replace(fold, ratios=lambda: None)]


def _finite(scores: NDArray) -> NDArray:
    if not np.isfinite(scores).all():
        raise ValueError("its scores are not finite")
    return scores


def spread_of_scores(fitted: Any, X: Any) -> float:
    """Return how far the scores of a sample differ between the classes learned from.

    Folds and the fit on all rows choose parameters of their own, so that their scores may differ in
    size. What is learned on folds is learned in this unit.
    """
    some = X[:: max(1, X.shape[0] // _UNIT_ROWS)]
    classifier = last_step(fitted)
    scores = classifier.decision_function(features_of(fitted, some), classifier.seen_classes_)
    found = float(np.mean(scores.std(axis=1, dtype=np.float64)))
    return found if found > 0 and np.isfinite(found) else 1.0


def leaderboard_rows(
    judged: Sequence[Judged], taken: Judged, task: Task, learned: float
) -> list[dict[str, Any]]:
    """Return one row per member that was judged, the best first, and after them the others."""
    rows = []
    for one in judged:
        row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"member": one.name, "note": one.reason}
        row |= {"folds": len(one.ranks), "seconds": one.seconds}
        if one.ranks:
            table = task.accuracies([one])
            row |= {"accuracy": float(table.mean()), "error": float(standard_errors(table)[0])}
            row["note"] = "taken" if one is taken else ""
        if one.ranks and task.table is not None:
            expected = expect(one.ranks, task.n_unseen, learned=learned)
            row |= {"low": expected.low, "high": expected.high}
        rows.append(row)
    rows.sort(key=lambda row: -np.inf if row["accuracy"] is None else row["accuracy"], reverse=True)
    return [row | {"rank": rank} for rank, row in enumerate(rows, 1)]


class Leaderboard:
    """Members in order, the best first; a table that knows a little of what a DataFrame does.

    Parameters
    ----------
    rows : sequence of dict
        With the keys `columns`.

    Examples
    --------
    >>> board = Leaderboard([dict.fromkeys(COLUMNS, 1) | {"member": "sae", "note": "taken"}])
    >>> board["member"], len(board)
    (['sae'], 1)
    """

    columns = COLUMNS

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = tuple(dict(row) for row in rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> list[Any]:
        return [row[column] for row in self.rows]

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        pandas = require("pandas", extra="table", purpose="A data frame")
        return pandas.DataFrame(list(self.rows), columns=list(self.columns))

    def __repr__(self) -> str:
        body = [[_text(row[name]) for name in self.columns] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(list(self.columns), *body, strict=True)]
        lines = [list(self.columns), *body]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
