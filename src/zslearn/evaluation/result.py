"""One flat row: what was measured, on what, with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from zslearn.metrics import RejectionCurve, SeenUnseenCurve


@dataclass(frozen=True, eq=False)
class Result:
    """What `evaluate` found.

    Attributes
    ----------
    dataset, features, semantics : str
        Data set, which features it holds, and the semantic space used.
    protocol, split : str
        "conventional", "generalized" or "open", and the split's name.
    method : str
        Name of the method, or of the estimator's class.
    settings : dict
        Parameters of the estimator that differ from its defaults.
    chosen : dict
        What the fit chose from the training classes, for example "lam".
    metrics : dict of str to float
        Shares between 0 and 1, and biases; see the protocols' `measure`.
    fit_seconds, predict_seconds : float
        Wall-clock time of the fit, and of scoring the test rows.
    calibration_seconds : float or None
        Time spent to choose the bias, None if none was chosen.
    uses_test_batch : bool
        Whether a prediction depends on the other test samples (transductive).
    n_train, n_test, n_candidates : int
        Training rows, test rows and classes allowed as answers.
    chance : float
        Accuracy of guessing, 1 / n_candidates.
    estimator_seed, holdout_seed : int or None
        Seed of the estimator (of its folds of classes) and of the held-out samples.
    hubness_skewness, largest_hub_share : float
        Skewness of how often candidates are answered; share of the most frequent answer.
    largest_hub : object
        The most frequent answer.
    curve : SeenUnseenCurve or None
        Per-class curve of the generalized setting; not part of `as_dict`.
    rejection : RejectionCurve or None
        Accuracy against coverage of the open setting; not part of `as_dict`.
    """

    dataset: str
    features: str
    semantics: str
    protocol: str
    split: str
    method: str
    settings: Mapping[str, Any]
    chosen: Mapping[str, Any]
    metrics: Mapping[str, float]
    fit_seconds: float
    predict_seconds: float
    calibration_seconds: float | None
    uses_test_batch: bool
    n_train: int
    n_test: int
    n_candidates: int
    chance: float
    estimator_seed: int | None
    holdout_seed: int | None
    hubness_skewness: float
    largest_hub_share: float
    largest_hub: Any
    curve: SeenUnseenCurve | None = field(default=None, repr=False)
    rejection: RejectionCurve | None = field(default=None, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the row as a flat dict of plain values.

        Returns
        -------
        dict
            Metrics under their own names, chosen parameters as "chosen_...", and the settings as
            one line of text.
        """
        row: dict[str, Any] = {}
        for name in (part.name for part in fields(self)):
            value = getattr(self, name)
            if name == "settings":
                row[name] = ", ".join(f"{key}={value[key]!r}" for key in sorted(value))
            elif name == "chosen":
                row |= {f"chosen_{key}": item for key, item in value.items()}
            elif name == "metrics":
                row |= value
            elif name not in ("curve", "rejection"):
                row[name] = value
        return row


@dataclass(frozen=True, eq=False)
class SplitsResult:
    """What `evaluate_splits` found: one result a split, their mean and standard deviation.

    Attributes
    ----------
    results : tuple of Result
        One a split.
    mean, std : dict of str to float
        Mean and sample standard deviation (n − 1) of each metric over the splits; the deviation
        of a single split is NaN.
    """

    results: Sequence[Result]

    @property
    def mean(self) -> dict[str, float]:
        """Mean of each metric."""
        return {name: float(np.mean(values)) for name, values in self._columns().items()}

    @property
    def std(self) -> dict[str, float]:
        """Sample standard deviation of each metric."""
        return {
            name: float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
            for name, values in self._columns().items()
        }

    def as_dict(self) -> dict[str, Any]:
        """Return one flat row: each metric's mean under its name and "..._std" beside it."""
        first = self.results[0]
        row: dict[str, Any] = {
            name: getattr(first, name)
            for name in ("dataset", "features", "semantics", "protocol", "method")
        }
        row["split"] = ", ".join(result.split for result in self.results)
        row["n_splits"] = len(self.results)
        row["uses_test_batch"] = first.uses_test_batch
        for name, value in self.mean.items():
            row |= {name: value, f"{name}_std": self.std[name]}
        return row

    def _columns(self) -> dict[str, list[float]]:
        """Values of each metric that every split has."""
        names = [
            name
            for name in self.results[0].metrics
            if all(name in result.metrics for result in self.results)
        ]
        return {name: [result.metrics[name] for result in self.results] for name in names}
