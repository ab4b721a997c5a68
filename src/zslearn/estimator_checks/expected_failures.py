"""Which of scikit-learn's own checks a zero-shot classifier cannot pass, and why."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import has_fit_parameter

_SPLITS = "the check sets cv to a list of splits; here cv is a number of folds over classes"
_BATCH = "a prediction depends on the other samples of its batch"
_SMALL = "the check predicts fewer samples than the method's smallest batch"
# Checks that predict small batches, and how many samples they take.
_BATCHES = {
    "check_classifier_data_not_an_array": 12,
    "check_classifiers_classes": 20,
    "check_decision_proba_consistency": 20,
    "check_dict_unchanged": 20,
    "check_estimators_dtypes": 20,
    "check_f_contiguous_array_estimator": 20,
    "check_fit_idempotent": 20,
    "check_methods_sample_order_invariance": 20,
}


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return the checks of scikit-learn that an estimator is expected to fail, with the reason.

    Pass it on to ``sklearn.utils.estimator_checks.parametrize_with_checks``, or what it returns to
    ``check_estimator``.

    Parameters
    ----------
    estimator : zero-shot classifier
        Unfitted.

    Returns
    -------
    dict of str to str
        Name of a check to why it does not apply. That whole weights are repeated rows is checked
        by `check_zero_shot_classifier` instead.

    Examples
    --------
    >>> from zslearn.estimator_checks import expected_failed_checks
    >>> from zslearn.zero_shot import PSTClassifier
    >>> list(expected_failed_checks(PSTClassifier()))
    ['check_methods_subset_invariance']
    """
    tags = estimator.zero_shot_tags
    failures = {name: _SMALL for name, size in _BATCHES.items() if size < tags.min_batch}
    if tags.transductive:
        failures["check_methods_subset_invariance"] = _BATCH
    if has_fit_parameter(estimator, "sample_weight") and "cv" in estimator.get_params():
        for kind in ("dense", "sparse"):
            failures[f"check_sample_weight_equivalence_on_{kind}_data"] = _SPLITS
    return failures
