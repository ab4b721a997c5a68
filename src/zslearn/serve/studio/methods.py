"""The methods a studio offers: fitted on the training rows when they are first chosen."""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from zslearn import __version__
from zslearn._files import replacing
from zslearn._pipelines import frozen, last_step, steps_before
from zslearn.core.nearest import Comparison, row_norms, unit_rows
from zslearn.exceptions import InvalidInputError, ZslearnError
from zslearn.persistence import load, save
from zslearn.serve.studio.collection import Collection
from zslearn.zero_shot import (
    AutoZeroShotClassifier,
    CalibratedStacking,
    Recognizer,
    ZeroShotClassifier,
)
from zslearn.zero_shot.registry import METHODS, make_classifier
from zslearn.zero_shot.teaching import Teachable

FloatArray = NDArray[np.float64]


class LinearBranch(NamedTuple):
    """One comparison of samples with classes.

    A sample q is compared with the class vector p = s·M of a signature s. All that is needed of
    the sample is z = M·q, with one number per dimension, and ‖q‖; of the class s and ‖p‖² =
    s·(M·Mᵀ)·s.

    Attributes
    ----------
    coef : ndarray of shape (m, n_features) or None
        q = coef·x; None for q = x.
    M : ndarray of shape (n_dimensions, m)
        Class vectors of the unit signatures.
    gram : ndarray of shape (n_dimensions, n_dimensions)
        M·Mᵀ.
    """

    coef: FloatArray | None
    M: FloatArray
    gram: FloatArray


class Projected(NamedTuple):
    """Samples as one branch needs them.

    Attributes
    ----------
    z : ndarray of shape (n_samples, n_dimensions)
        Projections on the dimensions.
    lengths : ndarray of shape (n_samples,)
        ‖q‖.
    """

    z: FloatArray
    lengths: FloatArray


class LinearScores(NamedTuple):
    """The scores of a linear method.

    Attributes
    ----------
    branches : tuple of LinearBranch
        What is averaged.
    metric : {"cosine", "dot", "euclidean"}
        How samples and classes are compared.
    feature_norm, signature_norm : {"l2", None}
        How samples and signatures are scaled first.
    """

    branches: tuple[LinearBranch, ...]
    metric: str
    feature_norm: str | None
    signature_norm: str | None

    def project(self, X: Any) -> list[Projected]:
        """Return raw samples as the branches need them."""
        rows = np.asarray(X, dtype=np.float64)
        rows = unit_rows(rows) if self.feature_norm == "l2" else rows
        found = []
        for branch in self.branches:
            q = rows if branch.coef is None else rows @ branch.coef.T
            found.append(Projected(q @ branch.M.T, row_norms(q)))
        return found

    def moved(self, samples: list[Projected], changes: dict[int, float]) -> list[Projected]:
        """Return samples in which the first branch's projections have other values.

        Every branch moves by the same amounts. Where samples are compared in the semantic space,
        their length changes with them.
        """
        index = np.array(list(changes), np.intp)
        step = np.array(list(changes.values())) - samples[0].z[:, index]
        found = []
        for branch, (z, lengths) in zip(self.branches, samples, strict=True):
            new = z.copy()
            new[:, index] += step
            found.append(Projected(new, lengths if branch.coef is None else row_norms(new)))
        return found

    def scores(self, samples: list[Projected], signatures: FloatArray) -> FloatArray:
        """Return scores of shape (n_samples, n_classes) for raw signatures."""
        S = unit_rows(signatures) if self.signature_norm == "l2" else signatures
        rule = Comparison.of(self.metric)
        parts = []
        for branch, (z, lengths) in zip(self.branches, samples, strict=True):
            squares = np.maximum(np.einsum("ij,jk,ik->i", S, branch.gram, S), 0)
            scale, offset = rule.rule(np.sqrt(squares))
            part = (z @ S.T) * scale + offset
            if rule.unit:
                part /= np.where(lengths > 0, lengths, 1)[:, None]
            if rule.distance:
                part -= (lengths**2)[:, None]
            parts.append(part)
        mean: FloatArray = np.mean(parts, axis=0)
        return mean


def linear_scores(classifier: ZeroShotClassifier) -> LinearScores | None:
    """Return the scores of a classifier as products with signatures; None if they are not.

    Parameters
    ----------
    classifier : ZeroShotClassifier
        Fitted.

    Returns
    -------
    LinearScores or None
    """
    metric = getattr(classifier, "metric", None)
    if not isinstance(metric, str) or getattr(classifier, "signatures", None) is None:
        return None
    plain: Any = copy.copy(classifier)
    plain.metric, plain.signature_norm = "dot", None
    k = classifier.signatures_.n_dimensions
    # The sum of two signatures must have the sum of their class vectors.
    probes = np.vstack([np.eye(k), np.ones(k)])
    try:
        form = _with_rows(plain, probes).linear_form()
    except InvalidInputError:
        return None
    if form.power != 1.0 or form.steps:
        return None
    branches = []
    for coef, targets in form.branches:
        M, total = np.asarray(targets.vectors[:k]), targets.vectors[k]
        if targets.offsets is not None or not np.allclose(M.sum(axis=0), total):
            return None
        branches.append(LinearBranch(coef, M, M @ M.T))
    return LinearScores(tuple(branches), metric, form.feature_norm, classifier.signature_norm)


def _with_rows(classifier: Any, rows: FloatArray) -> Any:
    """Return a recognizer whose classes have the given signatures."""
    table = classifier.signatures_
    whole = table.names.dtype.kind in "iu"
    names = [10**9 + i if whole else f"probe {i}" for i in range(len(rows))]
    recognizer = classifier.recognizer(table.names[:1])
    for name, row in zip(names, rows, strict=True):
        recognizer = recognizer.replace(name, row)
    return recognizer.among(names)


OFFERED = (
    "prototype-regression",
    "sae",
    "sae-encode",
    "sae-both",
    "eszsl",
    "rrzsl",
    "ridge-fs",
    "exem",
    "conse",
)
SAE = ("sae", "sae-encode", "sae-both")
MODEL = "model"  # the method of a model file
TRAINED_ON = "trained_on.txt"  # which data the kept models were fitted on, and by which version


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted method, calibrated once its calibration is learned.

    Attributes
    ----------
    model : ZeroShotClassifier
        The classifier, with what was learned about bias, probabilities and rejection around it.
    """

    model: Any

    @cached_property
    def unbiased(self) -> Any:
        """The same classifier without preference for unseen classes, which the board sets."""
        return self.with_bias(0.0)

    @cached_property
    def recognizer(self) -> Recognizer:
        """All classes of its table, unbiased."""
        found: Recognizer = self.unbiased.recognizer()
        return found

    @property
    def method(self) -> Any:
        """The classifier itself, without what is around it."""
        return last_step(self._inside)

    @property
    def bias(self) -> float:
        """What was learned to be subtracted from the scores of seen classes."""
        return float(getattr(self.model, "gamma_", 0.0))

    @property
    def is_calibrated(self) -> bool:
        """Whether probabilities can be believed."""
        return (self.model.calibration.threshold or {}).get("all") is not None

    @property
    def learns(self) -> bool:
        """Whether it can be taught single samples."""
        return isinstance(self.model, Teachable) and hasattr(self.model, "kappa_")

    @cached_property
    def linear(self) -> LinearScores | None:
        """The scores as products with signatures; None if they are not."""
        return None if steps_before(self._inside) else linear_scores(self.method)

    @property
    def _inside(self) -> Any:
        if isinstance(self.model, AutoZeroShotClassifier):
            return self.model.pipeline_
        return self.model.estimator_ if isinstance(self.model, CalibratedStacking) else self.model

    def with_bias(self, bias: float) -> Any:
        """Return the classifier with another bias, wrapped to have one if need be."""
        if hasattr(self.model, "gamma_"):
            twin = copy.copy(self.model)
            twin.gamma_ = bias
            return twin
        return self.model if bias == 0 else stacked(self.model, bias)


def stacked(fitted: Any, bias: float = 0.0) -> CalibratedStacking:
    """Return a fitted classifier with a bias around it, of which nothing else is known."""
    made = CalibratedStacking(frozen(fitted), gamma=bias, temperature=1.0, confidence="score")
    made.estimator_ = fitted
    for name in ("seen_classes_", "n_features_in_"):
        setattr(made, name, getattr(last_step(fitted), name))
    if isinstance(fitted, Pipeline):
        made.n_features_in_ = fitted.n_features_in_
    made.gamma_, made.temperature_ = bias, dict.fromkeys(("all", "unseen"), 1.0)
    made.threshold_ = dict.fromkeys(("all", "unseen"))
    made.confidence_, made.curves_, made.cv_results_, made.best_params_ = {}, [], None, {}
    return made


class Methods:
    """Fits methods, and keeps what was fitted, also on disk.

    Parameters
    ----------
    collection : Collection
        What to train on.
    folder : Path or None
        Where fitted models are kept for the next start.
    model : ZeroShotClassifier or None
        A model that was fitted elsewhere; it comes first.
    """

    def __init__(
        self, collection: Collection, folder: Path | None, model: ZeroShotClassifier | None = None
    ) -> None:
        self._collection, self._folder = collection, folder
        self._fitted: dict[tuple[str, float | None], Fitted] = {}
        self._tried: set[tuple[str, float | None]] = set()
        self._lock = threading.Lock()
        self._keep_own_models()
        if model is not None:
            self._fitted[MODEL, None] = Fitted(model)

    @property
    def offered(self) -> tuple[str, ...]:
        """The methods that can be chosen."""
        own = (MODEL,) if (MODEL, None) in self._fitted else ()
        return (*own, *(OFFERED if self.can_fit else ()))

    @property
    def can_fit(self) -> bool:
        """Whether there are labeled rows of several classes."""
        return len(self._collection.seen) > 1 and bool(self._collection.train.any())

    def title(self, method: str) -> str:
        """Return what a method is called."""
        if method == MODEL:
            return f"Your model ({type(self._fitted[MODEL, None].method).__name__})"
        return METHODS[method].title

    def is_fitted(self, method: str, lam: float | None = None) -> bool:
        """Say whether a method can answer at once."""
        return (method, lam) in self._fitted

    def fitted(self, method: str, lam: float | None = None) -> Fitted:
        """Return a method, fitted now if it has not been."""
        with self._lock:
            key = method, lam
            if key not in self._fitted:
                classifier = self._read(method) if lam is None else None
                if classifier is None:
                    classifier = self._fit(method, lam)
                if lam is not None:
                    self._forget_lams(method)
                self._fitted[key] = Fitted(classifier)
            return self._fitted[key]

    def wants_calibration(self, method: str, lam: float | None = None) -> bool:
        """Say whether something can still be learned about bias and probabilities."""
        key = method, lam
        known = key in self._tried or method == MODEL or not self.can_fit
        return not known and not self.fitted(method, lam).is_calibrated

    def calibrate(self, method: str, lam: float | None = None) -> None:
        """Learn bias, probabilities and rejection on held-out training classes."""
        key, before = (method, lam), self.fitted(method, lam)
        if not self.wants_calibration(method, lam):
            return
        # A copy, since seen classes may become represented in another way.
        found = stacked(copy.copy(before.model))
        found.set_params(gamma="auto", temperature="auto", confidence="right")
        found.fit_calibration(*self.training_rows())
        if lam is None:
            self._write(found, method)
        self._tried.add(key)
        self._fitted[key] = Fitted(found)

    def training_rows(self) -> tuple[Any, Any]:
        """Return features and labels to train on."""
        labels = self._collection.labels
        if labels is None:
            raise InvalidInputError("the samples have no labels, so nothing can be trained.")
        return self._collection.X[self._collection.train], labels[self._collection.train]

    def _keep_own_models(self) -> None:
        """Remove models of other samples, labels or values of the class table, or older ones."""
        if self._folder is None:
            return
        mark = self._folder / TRAINED_ON
        own = f"{__version__} {self._collection.training_identity()}"
        if mark.is_file() and mark.read_text(encoding="utf-8") == own:
            return
        for method in OFFERED:
            for suffix in (".zsl", ".json"):
                (self._folder / f"{method}{suffix}").unlink(missing_ok=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing(mark) as file:
            file.write(own.encode())

    def _forget_lams(self, method: str) -> None:
        """Drop what a λ tried before has left; one per method is kept."""
        for key in [key for key in self._fitted if key[0] == method and key[1] is not None]:
            del self._fitted[key]
            self._tried.discard(key)

    def _fit(self, method: str, lam: float | None) -> ZeroShotClassifier:
        chosen = {} if lam is None else {"lam": lam}
        X, y = self.training_rows()
        classifier = make_classifier(method, self._collection.signatures, **chosen).fit(X, y)
        if lam is None:
            self._write(classifier, method)
        return classifier

    def _write(self, model: Any, method: str) -> None:
        if self._folder is not None:
            save(model, self._folder / f"{method}.zsl")

    def _read(self, method: str) -> Any:
        """Return the model fitted at an earlier start; None if there is none that fits."""
        path = None if self._folder is None else self._folder / f"{method}.zsl"
        if path is None or not path.is_file():
            return None
        try:
            return load(path)
        except (ZslearnError, OSError):
            return None  # damaged: it is fitted again


def lam_of(fitted: Fitted, method: str) -> float | None:
    """Return the λ that a method uses in its main direction; None if it has none."""
    lam = getattr(fitted.method, "lam_", None)
    if method not in SAE or not isinstance(lam, dict):
        return None
    return float(lam["encode" if method == "sae-encode" else "decode"])


def finite(value: float | None) -> float | None:
    """Return a number that JSON can hold."""
    return float(value) if value is not None and np.isfinite(value) else None
