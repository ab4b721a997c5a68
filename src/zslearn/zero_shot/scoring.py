"""What answers: a fitted method as a scorer, scorers around scorers, and how sure an answer is.

A fitted method turns samples into *queries* and classes into *prepared classes*, independently of
each other, and then compares the two. Whatever changes the answers of a method is a scorer around
its scorer: preparation steps (`Stepped`), a bias against seen classes (`Biased`). How sure an
answer is, is a value beside it (`Calibration`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from zslearn._optional import warn_renamed
from zslearn._parameters import Constraint, Either, Instance, Whole
from zslearn.core.confidence import MEASURES, RATIOS, confidence_measures, learned_confidence
from zslearn.core.nearest import Targets, unit_rows
from zslearn.core.rows import is_small_finite_array, signed_power
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import check_features
from zslearn.zero_shot.tags import ZeroShotTags

Rows = Any  # (n, d): ndarray, sparse matrix or LazyRows
Queries = Any  # n rows: an array, or a dict or tuple of such
Classes = Any  # c rows: arrays in a tuple, dict or dataclass; any state if not separable


class Scorer(Protocol):
    """A fitted method: samples and classes go in apart from each other, and are then compared.

    d features, k dimensions of signatures, n samples, c classes. A scorer never writes to itself,
    so that any number of threads may ask it.
    """

    @property
    def zero_shot_tags(self) -> ZeroShotTags:
        """Facts about the method; `separable`, `transductive` and `min_batch` are relied on."""

    def check_rows(self, X: Any) -> Rows:
        """(n, d) as the user gave them -> (n, d) validated and normalized; large ones lazily."""

    def represent(self, rows: Rows) -> Queries:
        """(n, d) -> what is compared with classes: an array with n rows, or a dict of such."""

    def prepare(self, names: NDArray, vectors: NDArray) -> Classes:
        """C names and raw signatures (c, k) -> arrays with c rows, in a tuple, dict or dataclass.

        Done once for a set of candidates. Unless the tag `separable` is False, a row depends on its
        own class alone, so that one class can be replaced without the others.
        """

    def compare(self, queries: Queries, classes: Classes) -> NDArray:
        """-> scores (n, c), larger is better."""

    def decompose(self, rows: Rows, name: Any, vector: NDArray) -> Explanation:
        """One sample (1, d), one raw signature (k,) -> its score as a sum."""

    def linear_form(self, classes: Classes) -> LinearForm:
        """-> the same scores as products with class vectors."""

    def encode_rows(self, rows: Rows) -> NDArray:
        """(n, d) -> (n, k), the estimated semantics of samples."""

    def familiarity(self, queries: Queries, names: NDArray, vectors: NDArray) -> NDArray | None:
        """-> (2, n, c), how much better each of c classes explains a sample than none does.

        Ratios of densities against a class that nobody described; None if the method knows none.
        """


@dataclass(frozen=True, eq=False)
class Delegate:
    """A scorer that asks another one; a wrapper overrides what it changes."""

    inner: Scorer

    @property
    def zero_shot_tags(self) -> ZeroShotTags:
        return self.inner.zero_shot_tags

    def check_rows(self, X: Any) -> Rows:
        return self.inner.check_rows(X)

    def represent(self, rows: Rows) -> Queries:
        return self.inner.represent(rows)

    def prepare(self, names: NDArray, vectors: NDArray) -> Classes:
        return self.inner.prepare(names, vectors)

    def compare(self, queries: Queries, classes: Classes) -> NDArray:
        return self.inner.compare(queries, classes)

    def decompose(self, rows: Rows, name: Any, vector: NDArray) -> Explanation:
        return self.inner.decompose(rows, name, vector)

    def linear_form(self, classes: Classes) -> LinearForm:
        return self.inner.linear_form(classes)

    def encode_rows(self, rows: Rows) -> NDArray:
        return self.inner.encode_rows(rows)

    def familiarity(self, queries: Queries, names: NDArray, vectors: NDArray) -> NDArray | None:
        return self.inner.familiarity(queries, names, vectors)


@dataclass(frozen=True, eq=False)
class InputGuard:
    """Raw samples are checked as scikit-learn does: number and names of features, finite numbers.

    Attributes
    ----------
    owner : estimator
        Whose name messages carry; it knows its parameters and its features, nothing learned.
    finite : bool or "allow-nan"
        Whether NaN is refused, or left to a step that fills it in.
    """

    owner: Any
    finite: bool | str = True

    @classmethod
    def of(cls, estimator: Any, finite: bool | str = True) -> InputGuard:
        """Make the guard of a fitted estimator."""
        # A bare twin, so that a check of the input does not keep learned arrays alive.
        owner = object.__new__(type(estimator))
        features = ("n_features_in_", "feature_names_in_")
        owner.__dict__ = {
            name: value
            for name, value in vars(estimator).items()
            if name in features or not name.endswith("_")
        }
        return cls(owner, finite)

    def check(self, X: Any) -> Any:
        """Return samples as an array or a sparse matrix of numbers, or refuse them."""
        if is_small_finite_array(X, self.owner):
            return X
        return check_features(X, self.owner, self.finite)


@dataclass(frozen=True, eq=False)
class Stepped(Delegate):
    """A scorer behind the fitted steps of a pipeline.

    Attributes
    ----------
    steps : tuple of fitted transformers
        What samples go through first.
    guard : InputGuard or None
        What checks samples before the steps; None if that was done.
    """

    steps: tuple[Any, ...] = ()
    guard: InputGuard | None = None

    def check_rows(self, X: Any) -> Rows:
        # Checked before the first step, so that messages count the features that the user gave.
        X = X if self.guard is None else self.guard.check(X)
        for step in self.steps:
            X = step.transform(X)
        return self.inner.check_rows(X)

    def linear_form(self, classes: Classes) -> LinearForm:
        form = self.inner.linear_form(classes)
        return replace(form, steps=self.steps + form.steps)


@dataclass(frozen=True, eq=False)
class Biased(Delegate):
    """A scorer that subtracts γ from the scores of seen classes (Chao et al., ECCV 2016)."""

    gamma: float
    seen: NDArray

    def prepare(self, names: NDArray, vectors: NDArray) -> Classes:
        # One bias per class is a row like any other, so that classes stay separable.
        return self.inner.prepare(names, vectors), self.gamma * np.isin(names, self.seen)

    def compare(self, queries: Queries, classes: Classes) -> NDArray:
        inner, bias = classes
        scores = self.inner.compare(queries, inner)
        # In the dtype of the scores: float32 would become float64.
        return np.asarray(scores - bias.astype(scores.dtype))

    def decompose(self, rows: Rows, name: Any, vector: NDArray) -> Explanation:
        why = self.inner.decompose(rows, name, vector)
        # The bias belongs to no dimension, so it goes into the offset.
        bias = self.gamma * float(np.isin(name, self.seen))
        return replace(why, offset=why.offset - bias, score=why.score - bias)

    def linear_form(self, classes: Classes) -> LinearForm:
        inner, bias = classes
        form = self.inner.linear_form(inner)
        return replace(form, bias=bias if form.bias is None else form.bias + bias)


# Candidates with seen classes among them, and candidates without: who competes decides how far
# apart the best scores lie, so that everything about sureness is learned for both.
CANDIDATE_SETTINGS = ("all", "unseen")


# What rejected samples may be called.
REJECT_LABEL = Either(None, Instance(str, "a text"), Whole(-(2**31)))


@dataclass(frozen=True, eq=False)
class Calibration:
    """How scores become probabilities and rejections.

    Attributes
    ----------
    temperature : mapping of str to float
        T of ``softmax(scores / T)``, for candidates with seen classes ("all") and without
        ("unseen").
    threshold : mapping of str to float or None
        Confidence below which an answer is rejected; None if nothing was learned about it.
    measure : str or mapping
        What the confidence is, where no coefficients say how measures are mixed.
    coefficients : mapping of str to ndarray
        Of a learned confidence.
    reject_label : str, int or None
        What rejected samples are called; None is "none of these", or -1.
    doubts : mapping of str to str
        What cannot be expected of the threshold, in one line, by setting.
    """

    temperature: Mapping[str, float] = field(
        default_factory=lambda: dict.fromkeys(CANDIDATE_SETTINGS, 1.0)
    )
    threshold: Mapping[str, float | None] | None = None
    measure: str | Mapping[str, ArrayLike] = "score"
    coefficients: Mapping[str, NDArray] = field(default_factory=dict)
    reject_label: Any = None
    doubts: Mapping[str, str] = field(default_factory=dict)

    def probabilities(self, scores: NDArray, seen: NDArray[np.bool_]) -> NDArray:
        """Scores (n, c), which candidates were seen (c,) -> probabilities (n, c)."""
        # In double precision: float32 scores over a small T would lose the small probabilities.
        temperature = self.temperature["all" if seen.any() else "unseen"]
        return np.asarray(softmax(scores.astype(np.float64) / temperature, axis=1))

    def is_learned(self, seen: NDArray[np.bool_]) -> bool:
        """Which candidates were seen (c,) -> whether probabilities among them can be believed."""
        setting = "all" if seen.any() else "unseen"
        return self.threshold is not None and self.temperature[setting] != 1.0

    def asks_familiarity(self, seen: NDArray[np.bool_]) -> bool:
        """Which candidates were seen (c,) -> whether confidence is made of ratios as well."""
        mixed = self.coefficients.get("all" if seen.any() else "unseen")
        return self.measure in RATIOS if mixed is None else len(mixed) > len(MEASURES) + 1

    def confidence(
        self, scores: NDArray, seen: NDArray[np.bool_], ratios: NDArray | None = None
    ) -> NDArray:
        """Scores (n, c), which candidates were seen (c,) -> how sure the best of each is (n,).

        The ratios (n, 2) of the best are needed where `asks_familiarity` says so.
        """
        setting = "all" if seen.any() else "unseen"
        ratios = ratios if self.asks_familiarity(seen) else None
        measures = confidence_measures(scores, self.temperature[setting], ratios)
        return confidence_of_measures(measures, self.measure, self.coefficients.get(setting))

    def rejected(
        self, scores: NDArray, seen: NDArray[np.bool_], ratios: NDArray | None = None
    ) -> NDArray[np.bool_]:
        """Scores (n, c), which candidates were seen (c,) -> which answers are too unsure (n,)."""
        threshold = (self.threshold or {}).get("all" if seen.any() else "unseen")
        if threshold is None:
            raise InvalidInputError(
                "no threshold could be learned: that takes signatures, four training classes and "
                "several samples of each. Give a number as threshold=."
            )
        return np.asarray(self.confidence(scores, seen, ratios) < threshold)


# Plain softmax, nothing rejected.
UNCALIBRATED = Calibration()


def confidence_of_measures(
    measures: NDArray[np.float64], kind: Any, coefficients: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return a learned mixture of measures, or one of them: the best score where none is named."""
    if coefficients is not None:
        return learned_confidence(measures, coefficients)
    known = (*MEASURES, *RATIOS)
    return measures[:, known.index(kind) if kind in known else 0]


class ForEachSetting(Constraint):
    """A dict with a value for each setting, allowed by `each`."""

    def __init__(self, each: Constraint) -> None:
        def allows(value: Any) -> bool:
            complete = isinstance(value, Mapping) and set(value) == set(CANDIDATE_SETTINGS)
            return complete and all(map(each.allows, value.values()))

        super().__init__(f"a dict of 'all' and 'unseen' to {each.words}", allows)


def in_each_setting(value: Any) -> dict[str, float]:
    """Return a number, or a dict of numbers, as one number for each setting."""
    if isinstance(value, Mapping):
        return {name: float(value[name]) for name in CANDIDATE_SETTINGS}
    return dict.fromkeys(CANDIDATE_SETTINGS, float(value))


def is_auto(value: Any) -> bool:
    """Say whether a parameter is left to folds."""
    return isinstance(value, str) and value == "auto"


class Branch(NamedTuple):
    """Samples compared with class vectors, after a map if there is one.

    Attributes
    ----------
    coef : ndarray of shape (n_dimensions, n_features) or None
        Samples are mapped by ``X @ coef.T`` first.
    targets : Targets
        One vector per candidate.
    """

    coef: NDArray | None
    targets: Targets


@dataclass(frozen=True)
class LinearForm:
    """Scores as products with class vectors: what other runtimes, such as ONNX, can compute.

    They are the mean of one or two branches, minus a bias.

    Attributes
    ----------
    branches : tuple of Branch
        What is averaged.
    feature_norm : {"l2", None}
        How samples are scaled first.
    power : float
        Exponent p of ``sign(x)|x|^p``, applied to scaled samples, which are then scaled again.
    bias : ndarray of shape (n_candidates,) or None
        What is subtracted from the scores of each candidate.
    steps : tuple of fitted transformers, default=()
        What raw samples go through before anything else.
    allow_zero : bool, default=False
        Whether samples of zeros are scored where samples are scaled to unit length; the classifier
        refuses them if not.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> recognizer = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y).recognizer()
    >>> np.allclose(recognizer.linear_form().scores(data.X), recognizer.scores(data.X))
    True
    """

    branches: tuple[Branch, ...]
    feature_norm: str | None = "l2"
    power: float = 1.0
    bias: NDArray | None = None
    steps: tuple[Any, ...] = ()
    allow_zero: bool = False

    def scores(self, X: NDArray) -> NDArray:
        """Return the scores of raw samples, of shape (n_samples, n_candidates)."""
        for step in self.steps:
            X = step.transform(X)
        rows = unit_rows(X) if self.feature_norm == "l2" else X
        if self.power != 1.0:
            rows = signed_power(rows, self.power)
            rows = unit_rows(rows) if self.feature_norm == "l2" else rows
        parts = [
            targets.scores(rows if coef is None else rows @ coef.T)
            for coef, targets in self.branches
        ]
        scores = np.mean(parts, axis=0)
        return scores if self.bias is None else scores - self.bias


def __getattr__(name: str) -> Any:
    if name == "ScoreForm":
        warn_renamed("zslearn.zero_shot.scoring.ScoreForm", "LinearForm")
        return LinearForm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
