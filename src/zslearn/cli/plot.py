"""Pictures of what `zslearn evaluate` found."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zslearn._optional import require
from zslearn.exceptions import InvalidInputError

if TYPE_CHECKING:
    from zslearn.evaluation import Result

KINDS = (".png", ".svg", ".pdf")


def check_plot(path: str) -> None:
    """Refuse, before any work is done, a picture that cannot be drawn."""
    if Path(path).suffix.lower() not in KINDS:
        raise InvalidInputError(f"--plot {path}: pictures end in {', '.join(KINDS)}.")
    require("matplotlib", extra="plot", purpose="--plot")


def draw(results: Mapping[str, Result], path: str) -> None:
    """Draw the curves of the generalized or open setting, or bars of the conventional one."""
    from matplotlib.figure import Figure  # no pyplot: nothing looks for a display

    from zslearn._files import replacing

    figure = Figure(figsize=(7, 5.5), layout="constrained")
    axes = figure.subplots()
    first = next(iter(results.values()))
    if first.rejection is not None:
        _rejection_curves(axes, results)
    elif first.curve is None:
        _bars(axes, results, first.chance)
    else:
        _curves(axes, results)
    axes.set_title(f"{first.dataset}, {first.semantics}, {first.split} split")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=150)
    with replacing(path) as file:
        file.write(buffer.getvalue())


def _bars(axes: Any, results: Mapping[str, Result], chance: float) -> None:
    names = list(results)[::-1]
    values = [results[name].metrics["per_class_accuracy"] for name in names]
    axes.bar_label(axes.barh(names, values), fmt="%.3f", padding=3)
    axes.axvline(chance, color="black", linestyle=":", label=f"chance {chance:.3f}")
    axes.set(xlabel="accuracy on unseen classes, per class", xlim=(0, 1))
    axes.legend()


def _curves(axes: Any, results: Mapping[str, Result]) -> None:
    for name, result in results.items():
        if result.curve is not None:
            result.plot(axes, name=name)


def _rejection_curves(axes: Any, results: Mapping[str, Result]) -> None:
    from zslearn.metrics import RejectionCurveDisplay

    for name, result in results.items():
        if result.rejection is not None:
            display = RejectionCurveDisplay(result.rejection, name=name)
            display.plot(axes, threshold=result.metrics["threshold"])
