"""One flat row: what was measured, on what, with what; and the mean of several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import stats

from zslearn._optional import axes_for
from zslearn.metrics import (
    OperatingPoint,
    RejectionCurve,
    SeenUnseenCurve,
    SeenUnseenCurveDisplay,
)
from zslearn.signatures.files import make_html_table

# Metrics in a repr.
_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False)
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
    curve: SeenUnseenCurve | None = None
    rejection: RejectionCurve | None = None

    def __repr__(self) -> str:
        first = [f"{name} {self.metrics[name]:.4f}" for name in list(self.metrics)[:_SHOWN]]
        more = ", ..." if len(self.metrics) > _SHOWN else ""
        return (
            f"Result({self.method} on {self.dataset}, split {self.split}, {self.protocol}: "
            f"{', '.join(first)}{more})"
        )

    def _repr_html_(self) -> str:
        title = f"{self.method} on {self.dataset}, split {self.split}, {self.protocol}"
        rows = [(name, f"{value:.4f}") for name, value in self.metrics.items()]
        return make_html_table(title, ["", "value"], rows)

    def plot(self, ax: Any = None, *, name: str | None = None) -> Any:
        """Draw the curve of a generalized evaluation, or the accuracies of a conventional one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            Label; by default the method.

        Returns
        -------
        matplotlib Axes
        """
        label = self.method if name is None else name
        if self.curve is not None:
            display = SeenUnseenCurveDisplay(self.curve, name=label, calibrated=self._calibrated())
            return display.plot(ax).ax_
        ax = axes_for(ax, "Plotting a result", figsize=(6, 2), layout="constrained")
        names = [metric for metric in self.metrics if metric.endswith("accuracy")][::-1]
        values = [self.metrics[metric] for metric in names]
        ax.bar_label(ax.barh(names, values, label=label), fmt="%.3f", padding=3)
        ax.axvline(self.chance, color="black", linestyle=":", label=f"chance {self.chance:.3f}")
        ax.set(xlim=(0, 1.12))
        ax.legend(fontsize="small", loc="center right")
        return ax

    def _calibrated(self) -> OperatingPoint | None:
        """Return the point of the bias that was chosen without test labels, if one was."""
        if "gamma" not in self.metrics:
            return None
        names = ("gamma", "calibrated_seen_accuracy", "calibrated_unseen_accuracy")
        return OperatingPoint(*(self.metrics[name] for name in names))

    def as_dict(self) -> dict[str, Any]:
        """Return the row as a flat dict of plain values.

        Returns
        -------
        dict
            Metrics under their own names, chosen parameters as ``chosen_...``, and the settings as
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


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        first, spread, n = self.results[0], self.std, len(self.results)
        means = list(self.mean.items())[:_SHOWN]
        shown = [f"{name} {value:.4f} ± {spread[name]:.4f}" for name, value in means]
        return (
            f"SplitsResult({first.method} on {first.dataset}, {n} split{'s' * (n > 1)}, "
            f"{first.protocol}: {', '.join(shown)})"
        )

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

    def interval(self, metric: str) -> tuple[float, float]:
        """Return bounds of the mean of a metric: Student's interval for nine of ten means.

        Folds of one cross-validation share training classes, so it may be a little too narrow.

        Parameters
        ----------
        metric : str
            Its name.

        Returns
        -------
        tuple of float
            NaN of a single split.
        """
        n, mean = len(self.results), self.mean[metric]
        if n < 2:
            return float("nan"), float("nan")
        reach = float(stats.t.ppf(0.95, n - 1)) * self.std[metric] / math.sqrt(n)
        return max(mean - reach, 0.0), min(mean + reach, 1.0)

    def as_dict(self) -> dict[str, Any]:
        """Return one flat row: each metric's mean under its name and ``..._std`` beside it."""
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
