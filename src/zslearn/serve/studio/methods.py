"""The methods a studio offers: fitted on the training rows when they are first chosen."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from zslearn._files import replacing
from zslearn.exceptions import InvalidInputError, ZslearnError
from zslearn.persistence import load, save
from zslearn.serve.studio.collection import Collection
from zslearn.serve.studio.linear import LinearScores, linear_scores
from zslearn.zero_shot import CalibratedStacking, Recognizer, ZeroShotClassifier
from zslearn.zero_shot.registry import METHODS, make_classifier

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
TRAINED_ON = "trained_on.txt"  # which data the kept models were fitted on


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted method.

    Attributes
    ----------
    classifier : ZeroShotClassifier
        The classifier.
    recognizer : Recognizer
        All classes of its table.
    """

    classifier: ZeroShotClassifier
    recognizer: Recognizer

    @cached_property
    def linear(self) -> LinearScores | None:
        """The scores as products with signatures; None if they are not."""
        return linear_scores(self.classifier)


@dataclass(frozen=True)
class Calibration:
    """What was learned on held-out training classes.

    Attributes
    ----------
    bias : float
        What to subtract from the scores of seen classes.
    threshold : float or None
        Margin below which an answer is better rejected.
    """

    bias: float = 0.0
    threshold: float | None = None


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
        self._calibrations: dict[tuple[str, float | None], Calibration] = {}
        self._lock = threading.Lock()
        self._keep_own_models()
        if model is not None:
            self._take(model)

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
            return f"Your model ({type(self._fitted[MODEL, None].classifier).__name__})"
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
                self._fitted[key] = Fitted(classifier, classifier.recognizer())
            return self._fitted[key]

    def calibration(self, method: str, lam: float | None = None) -> Calibration | None:
        """Return what is known about bias and threshold; None if nothing was learned yet."""
        return self._calibrations.get((method, lam))

    def calibrate(self, method: str, lam: float | None = None) -> Calibration:
        """Learn bias and threshold on held-out training classes."""
        key = method, lam
        if key not in self._calibrations:
            path = None if self._folder is None or lam is not None else self._folder
            kept = None if path is None else _read_calibration(path / f"{method}.json")
            found = kept or self._calibrated(self.fitted(method, lam).classifier)
            if path is not None and kept is None:
                with replacing(path / f"{method}.json") as file:
                    file.write(json.dumps(asdict(found)).encode())
            self._calibrations[key] = found
        return self._calibrations[key]

    def training_rows(self) -> tuple[Any, Any]:
        """Return features and labels to train on."""
        labels = self._collection.labels
        if labels is None:
            raise InvalidInputError("the samples have no labels, so nothing can be trained.")
        return self._collection.X[self._collection.train], labels[self._collection.train]

    def _keep_own_models(self) -> None:
        """Remove models that were fitted on other samples, labels or values of the class table."""
        if self._folder is None:
            return
        mark, own = self._folder / TRAINED_ON, self._collection.training_identity()
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
        for kept in (self._fitted, self._calibrations):
            for key in [key for key in kept if key[0] == method and key[1] is not None]:
                del kept[key]

    def _calibrated(self, classifier: ZeroShotClassifier) -> Calibration:
        if not self.can_fit:
            return Calibration()
        unfitted = CalibratedStacking(classifier.frozen(), confidence="margin")
        X, y = self.training_rows()
        learned = unfitted.fit_calibration(X, y)
        return Calibration(learned.gamma_, learned.threshold_["all"])

    def _fit(self, method: str, lam: float | None) -> ZeroShotClassifier:
        chosen = {} if lam is None else {"lam": lam}
        X, y = self.training_rows()
        classifier = make_classifier(method, self._collection.signatures, **chosen).fit(X, y)
        if self._folder is not None and lam is None:
            save(classifier, self._folder / f"{method}.zsl")
        return classifier

    def _read(self, method: str) -> ZeroShotClassifier | None:
        """Return the model fitted at an earlier start; None if there is none that fits."""
        path = None if self._folder is None else self._folder / f"{method}.zsl"
        if path is None or not path.is_file():
            return None
        try:
            classifier = load(path)
        except (ZslearnError, OSError):
            return None  # damaged: it is fitted again
        kept = _read_calibration(path.with_suffix(".json"))
        if kept is not None:
            self._calibrations[method, None] = kept
        return classifier

    def _take(self, model: ZeroShotClassifier) -> None:
        """Take a model; of a calibrated one, its classifier and its bias."""
        if isinstance(model, CalibratedStacking):
            self._calibrations[MODEL, None] = Calibration(model.gamma_)
            model = model.estimator_
        self._fitted[MODEL, None] = Fitted(model, model.recognizer())


def _read_calibration(path: Path) -> Calibration | None:
    """Return what an earlier start has learned; None if there is nothing that can be read."""
    try:
        found = json.loads(path.read_bytes())
        bias, threshold = float(found["bias"]), found["threshold"]
        return Calibration(bias, None if threshold is None else float(threshold))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def lam_of(fitted: Fitted, method: str) -> float | None:
    """Return the λ that a method uses in its main direction; None if it has none."""
    lam = getattr(fitted.classifier, "lam_", None)
    if method not in SAE or not isinstance(lam, dict):
        return None
    return float(lam["encode" if method == "sae-encode" else "decode"])


def finite(value: float | None) -> float | None:
    """Return a number that JSON can hold."""
    return float(value) if value is not None and np.isfinite(value) else None
