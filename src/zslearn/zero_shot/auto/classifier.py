"""A classifier that chooses the method for the data, and says what to expect of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from zslearn._parameters import Either, Number, Seed, Whole, check_parameters
from zslearn._pipelines import frozen, last_step, steps_before
from zslearn._progress import progress_bar, report
from zslearn.core.fitting import fit_method
from zslearn.exceptions import InvalidInputError, UnknownClassError, ZslearnWarning
from zslearn.signatures import Signatures
from zslearn.zero_shot.auto.averaging import with_averages
from zslearn.zero_shot.auto.budget import Budget
from zslearn.zero_shot.auto.diagnosis import learning_curve, shuffled_accuracy
from zslearn.zero_shot.auto.expectation import Expectation, LearningCurve, expect
from zslearn.zero_shot.auto.judging import Outcome, Task, judge, n_steps
from zslearn.zero_shot.auto.leaderboard import Leaderboard
from zslearn.zero_shot.auto.portfolio import (
    PORTFOLIO,
    PREPROCESS,
    Member,
    default_names,
    members_of,
)
from zslearn.zero_shot.auto.recommendation import with_recommended
from zslearn.zero_shot.auto.records import Record
from zslearn.zero_shot.auto.rows import leaderboard_rows, results_of
from zslearn.zero_shot.auto.taking import optimism_of, taken_of
from zslearn.zero_shot.base import ZeroShotClassifier, remedy
from zslearn.zero_shot.inputs import SIGNATURES, as_signatures, refuses_sample_weight
from zslearn.zero_shot.scoring import Calibration, InputGuard, Scorer, Stepped
from zslearn.zero_shot.tags import ZeroShotTags

MAX_FOLDS = 5
# Of the classifier before it has taken a member.
TAGS = ZeroShotTags(closed_form=False, reference="zslearn; see docs/which_method.md")


class AutoZeroShotClassifier(ZeroShotClassifier):
    """Judge a portfolio of methods on held-out seen classes and fit the best of them.

    Members are pipelines: a preparation of the features, and a method. They are judged by
    cross-validation over the seen classes, in stages: all of them on few rows, the best ones on
    more rows and more repeats, and the means of the scores of the best two, three and four.
    Prototype regression, on standardized features if columns are in different units, is taken
    unless another is clearly better on the held-out classes; if one is, the simplest of those near
    the best. What is taken is fitted on all rows and answers from
    then on. No sample of an unseen class takes part.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot, and then samples are
        held out in place of classes.
    portfolio : "default" or list, default="default"
        Members, the simplest first: names such as "sae", "standardize > prototype-regression" or
        "standardize > dap + naive-bayes", unfitted zero-shot classifiers, or pipelines that end in
        one. Before a name may stand a block of the signatures, as in "word vectors: sae", which the
        member then sees alone. A single member is judged for what to expect of it.
    preprocess : "all", None or list, default="all"
        Preparations in the default portfolio, of "root" (signed square root), "standardize",
        "quantile" and "nystroem"; None is features as they are, scaled to unit length by most
        methods.
    time_budget : float, optional
        Seconds that `fit` may take, about. Members for which there is no time are left out, so that
        the choice then depends on the machine.
    cv : "auto", int or None, default="auto"
        Folds over the seen classes. "auto" holds out as many classes as there are unseen ones, in 2
        to 5 folds. None judges nothing and takes the first member.
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
    leaderboard_ : Leaderboard
        One row per member: accuracy on held-out classes, standard error over classes, rows, folds,
        seconds, and why it went no further.
    expected_accuracy_ : Expectation or None
        The per-class accuracy to expect among the unseen classes, with an interval. None if nothing
        was judged.
    learning_curve_ : LearningCurve or None
        Accuracy by the number of seen classes.
    shuffled_accuracy_ : float or None
        Accuracy of the same member if signatures are dealt to the wrong classes. What is above it
        comes from the signatures.
    cv_results_ : dict or None
        Accuracies of the members of the last stage, with scikit-learn's keys.
    best_params_ : dict
        The name of the member taken, as "portfolio", if there was a choice.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import AutoZeroShotClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = AutoZeroShotClassifier(data.signatures, portfolio=["rrzsl", "sae", "iap"])
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.best_params_, len(clf.leaderboard_)  # three members and two means of the best
    ({'portfolio': 'sae'}, 5)
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> reached = clf.score(data.X[unseen], data.y[unseen], candidates="unseen")
    >>> clf.expected_accuracy_.low <= reached <= clf.expected_accuracy_.high
    True
    """

    parameter_constraints: ClassVar = {
        "signatures": Either(None, SIGNATURES),
        "portfolio": PORTFOLIO,
        "preprocess": PREPROCESS,
        "time_budget": Either(None, Number(above=0)),
        "cv": Either("auto", None, Whole(2)),
        "random_state": Seed(),
        "verbose": Whole(0),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        portfolio: Any = "default",
        preprocess: Any = "all",
        time_budget: float | None = None,
        cv: int | str | None = "auto",
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.signatures = signatures
        self.portfolio = portfolio
        self.preprocess = preprocess
        self.time_budget = time_budget
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    @property
    def estimator_(self) -> ZeroShotClassifier:
        """The fitted classifier of the member taken."""
        found: ZeroShotClassifier = last_step(self.pipeline_)
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
    def signatures_(self) -> Signatures:
        """Every class that can be predicted."""
        return self.estimator_.signatures_

    @property
    def leaderboard_(self) -> Leaderboard:
        """What was judged, the best member first."""
        check_is_fitted(self)
        return Leaderboard(self.judged_)

    @refuses_sample_weight
    @fit_method
    def fit(self, X: Any, y: Any) -> AutoZeroShotClassifier:
        """Judge the members and fit the one taken on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features of the seen classes.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        AutoZeroShotClassifier
            The fitted classifier.
        """
        budget = Budget(perf_counter(), self.time_budget)
        check_parameters(self)
        X, labels = self._validated(X, y)
        task = self._task(X, labels)
        members = self._members(task)
        judged = members if self.cv is not None else []
        total = n_steps(task, len(judged))
        with progress_bar(total, "judging", "repeat", show=self.verbose > 0) as bar:
            outcome = judge(task, judged, budget, tick=bar.update, say=self._say)
        outcome = with_averages(task, outcome, budget)
        taken = taken_of(outcome, len(task.classes))
        self._refit(task, taken, members, outcome)
        self._conclude(task, outcome, taken, budget)
        return self

    def frozen(self) -> ZeroShotClassifier:
        """Return an unfitted copy that fits the member taken with its parameters, unjudged.

        Returns
        -------
        AutoZeroShotClassifier
        """
        check_is_fitted(self)
        return clone(self).set_params(portfolio=[frozen(self.pipeline_)], cv=None)

    def add_classes(self, new: Signatures | Mapping[Any, ArrayLike]) -> AutoZeroShotClassifier:
        """Make new classes predictable. See `ZeroShotClassifier`."""
        check_is_fitted(self)
        self.estimator_.add_classes(new)
        return self

    def expected_accuracy(self, n_unseen: int) -> Expectation:
        """Return the accuracy to expect among another number of unseen classes.

        Parameters
        ----------
        n_unseen : int
            At least 2. More than were held out at once is an extrapolation.

        Returns
        -------
        Expectation
        """
        check_is_fitted(self)
        if not self.ranks_:
            raise InvalidInputError(
                "nothing was judged on held-out classes, so there is nothing to expect. Fit at "
                "least four seen classes, and leave cv and time_budget as they are."
            )
        growth = 0.0
        if self.learning_curve_ is not None:
            before = self.learning_curve_.n_classes[-1]
            growth = self.learning_curve_.gain(before, len(self.seen_classes_) - before)
        return expect(self.ranks_, n_unseen, optimism=self.optimism_, growth=growth)

    def scorer(self) -> Scorer:
        """Return the scorer of the member taken, behind its preparation steps."""
        steps = steps_before(self.pipeline_)
        return Stepped(self.estimator_.scorer(), steps, InputGuard.of(self))

    @property
    def calibration(self) -> Calibration:  # type: ignore[override]
        """How scores of the member taken become probabilities and rejections."""
        return self.estimator_.calibration

    def _say(self, message: str) -> None:
        report(self.verbose > 0, f"[auto] {message}")

    def _task(self, X: Any, labels: NDArray) -> Task:
        """Check classes and signatures, and lay out the folds."""
        self.seen_classes_, index = np.unique(labels, return_inverse=True)
        table = None if self.signatures is None else as_signatures(self.signatures)
        unknown = (
            [] if table is None else [c for c in self.seen_classes_.tolist() if c not in table]
        )
        if table is not None and unknown:
            raise UnknownClassError(unknown, list(table), remedy(self.seen_classes_, table))
        n_folds = self._n_folds(table)
        return Task(X, labels, index, self.seen_classes_, table, n_folds, self.random_state)

    def _members(self, task: Task) -> list[Member]:
        """Return what may be taken, the simplest first."""
        spaces = [] if task.signatures is None else list(task.signatures.blocks)
        names = default_names(
            task.X.shape[1],
            preprocess=self.preprocess,
            sparse=bool(sparse.issparse(task.X)),
            spaces=spaces,
        )
        members = members_of(self.portfolio, names, self.random_state, task.signatures)
        return with_recommended(members, task.X)

    def _n_folds(self, table: Signatures | None) -> int:
        """Folds that hold out as many classes as are unseen; 0 if none can be made."""
        n_classes = len(self.seen_classes_)
        if self.cv is None or (n_classes < 4 and table is not None):
            return 0
        if table is None:
            return 3 if self.cv == "auto" else int(self.cv)
        if self.cv != "auto":
            return min(int(self.cv), n_classes // 2)
        n_unseen = max(2, int((~np.isin(table.names, self.seen_classes_)).sum()))
        return int(np.clip(round(n_classes / n_unseen), 2, min(MAX_FOLDS, n_classes // 2)))

    def _refit(
        self, task: Task, taken: Record | None, members: list[Any], outcome: Outcome
    ) -> None:
        """Fit the member taken on all rows."""
        if taken is not None:
            member = taken.member
        elif self.cv is None:
            member = members[0]
        else:
            member = next((one for one in members if one.recommended), members[0])
            reasons = [one.reason for one in outcome.records if one.reason]
            why = reasons[0] if reasons else f"{len(task.classes)} seen classes, four are needed"
            warnings.warn(
                f"no member could be judged on held-out classes ({why}), so {member.name} was "
                "taken without a look at the data.",
                ZslearnWarning,
                stacklevel=6,
            )
        self._say(f"fitting {member.name} on all {len(task.labels)} rows")
        pipeline = member.pipeline(self.signatures, len(task.labels))
        self.pipeline_ = pipeline.fit(task.X, task.labels)
        self.member_ = member.name

    def _conclude(self, task: Task, outcome: Outcome, taken: Record | None, budget: Budget) -> None:
        """Set what was found out on the way."""
        self.judged_ = leaderboard_rows(outcome, taken, len(task.classes))
        self.cv_results_, self.best_params_ = None, {}
        self.ranks_: list[Any] = []
        self.optimism_ = 0.0
        self.expected_accuracy_: Expectation | None = None
        self.learning_curve_: LearningCurve | None = None
        self.shuffled_accuracy_: float | None = None
        if taken is None:
            return
        if len(outcome.records) > 1:
            self.best_params_ = {"portfolio": taken.member.name}
            self.cv_results_ = results_of(outcome)
        if task.signatures is None:
            return
        self._measure(task, outcome, taken, budget)

    def _measure(self, task: Task, outcome: Outcome, taken: Record, budget: Budget) -> None:
        """Find out what to expect of the member taken."""
        self.ranks_ = taken.folds(outcome.n_rows)
        n_classes = len(task.classes)
        self.optimism_ = optimism_of(outcome, taken, n_classes)
        again = frozen(self.pipeline_)

        def may_go_on() -> bool:
            return budget.allows(task.n_folds * taken.seconds_for(min(len(task.labels), 2000)))

        self._say("shuffled signatures and learning curve")
        self.shuffled_accuracy_ = shuffled_accuracy(task, again, may_go_on)
        self.learning_curve_ = learning_curve(task, again, may_go_on)
        n_unseen = int((~np.isin(task.signatures.names, task.classes)).sum())
        held_out = round(n_classes / task.n_folds)
        self.expected_accuracy_ = self.expected_accuracy(max(2, n_unseen or held_out))
        self._warn_if_uninformative(task)

    def _warn_if_uninformative(self, task: Task) -> None:
        """Warn where nothing beats chance, or shuffled signatures do as well."""
        every = np.concatenate([fold.accuracies for fold in self.ranks_])
        chance = float(np.mean([1 / fold.shares.shape[1] for fold in self.ranks_]))
        reached = float(np.mean([fold.accuracies.mean() for fold in self.ranks_])) - self.optimism_
        error = float(every.std(ddof=1)) / np.sqrt(len(task.classes)) if len(every) > 1 else 0.0
        shuffled = self.shuffled_accuracy_ or 0.0
        if reached > max(chance + error, shuffled):
            return
        words, against = "chance", chance
        if shuffled > chance:
            words, against = "signatures dealt to the wrong classes", shuffled
        warnings.warn(
            f"the best member reaches {reached:.2f} on held-out classes and {words} {against:.2f}: "
            "the signatures say nothing that these features show. Check that classes and "
            "signatures belong together, or describe the classes by what can be measured.",
            ZslearnWarning,
            stacklevel=7,
        )
