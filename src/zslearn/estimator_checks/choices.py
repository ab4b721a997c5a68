"""Checks of what a fit says about the parameters it chose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zslearn.estimator_checks.run import Case, expect, expect_close

_SUMMARY = {"params", "mean_test_score", "std_test_score", "rank_test_score"}


def check_choices(case: Case) -> None:
    """Check that `cv_results_` has scikit-learn's keys, and that `best_params_` comes from it."""
    for name in ("cv_results_", "best_params_"):
        expect(hasattr(case.fitted, name), f"fit must set {name}.")
    best, results = case.fitted.best_params_, case.fitted.cv_results_
    unknown = sorted(set(best) - _parameter_names(case.fitted))
    expect(not unknown, f"best_params_ must name parameters; it names {unknown}.")
    if results is None:
        return
    expect_results(results)
    strange = [name for name in best if not _was_tried(name, best[name], results["params"])]
    expect(not strange, f"best_params_ must come from cv_results_['params']; {strange} do not.")


def expect_results(results: Mapping[str, Any]) -> None:
    """Fail unless a table of results is what scikit-learn would make of its splits."""
    splits = [f"split{i}_test_score" for i in range(len(results) - len(_SUMMARY))]
    expect(
        bool(splits) and set(results) == {*_SUMMARY, *splits},
        f"cv_results_ must have the keys of scikit-learn; it has {sorted(results)}.",
    )
    lengths = {name: len(results[name]) for name in results}
    expect(
        len(set(lengths.values())) == 1,
        f"cv_results_ must have one entry per point everywhere; the lengths are {lengths}.",
    )
    mean = np.asarray(results["mean_test_score"])
    by_hand = np.mean([results[split] for split in splits], axis=0)
    expect_close(mean, by_hand, "mean_test_score must be the mean of the splits.")
    ranks = [1 + int(np.sum(mean > score)) for score in mean]
    expect(
        np.array_equal(results["rank_test_score"], ranks),
        "rank_test_score must be 1 for the best mean, and one more for each point that is better.",
    )


def _was_tried(name: str, value: Any, params: list[dict[str, Any]]) -> bool:
    """Say whether a value, or each entry of a dict or list of values, is among the points."""
    tried = [point[name] for point in params if name in point]
    several = list(value.values()) if isinstance(value, Mapping) else value
    return value in tried or (isinstance(several, list) and all(item in tried for item in several))


def _parameter_names(fitted: Any) -> set[str]:
    """Names of the parameters, also of an estimator that was made by default."""
    names = set(fitted.get_params())
    inner = getattr(fitted, "estimator_", None)
    return names if inner is None else names | {f"estimator__{name}" for name in inner.get_params()}


CHECKS = [check_choices]
