"""How sure an answer is: measures made of the scores of one sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax, xlogy
from sklearn.linear_model import LogisticRegression

# Columns of `confidence_measures`.
MEASURES = ("score", "lead", "margin", "probability", "entropy")


def confidence_measures(scores: NDArray[Any], temperature: float) -> NDArray[np.float64]:
    """Return several measures of how sure the best answer of each sample is; larger is surer.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_candidates)
        Larger is better.
    temperature : float
        What makes probabilities of them.

    Returns
    -------
    ndarray of shape (n_samples, 5)
        In the order of `MEASURES`: the best score, its lead over the mean of all, its margin over
        the second best (0 if there is none), its probability, and the negative entropy of all
        probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> confidence_measures(np.array([[3.0, 1.0, 2.0]]), 1.0).round(2).tolist()
    [[3.0, 1.0, 1.0, 0.67, -0.83]]
    """
    values = scores.astype(np.float64)
    best = values.max(axis=1)
    second = np.partition(values, -2, axis=1)[:, -2] if values.shape[1] > 1 else best
    probabilities = softmax(values / temperature, axis=1)
    columns = (
        best,
        best - values.mean(axis=1),
        best - second,
        probabilities.max(axis=1),
        xlogy(probabilities, probabilities).sum(axis=1),
    )
    return np.stack(columns, axis=1)


def fit_confidence(
    measures: NDArray[np.float64], truth: NDArray[np.bool_], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Learn to tell two kinds of answers by their measures: logistic regression.

    Parameters
    ----------
    measures : ndarray of shape (n_samples, n_measures)
        What is known of the answers.
    truth : ndarray of bool of shape (n_samples,)
        Which answers are of the first kind, for example right; some must be and some not.
    weights : ndarray of shape (n_samples,)
        What each answer counts.

    Returns
    -------
    ndarray of shape (n_measures + 1,)
        Coefficients of the measures as they are, and the intercept.
    """
    center, scale = measures.mean(axis=0), measures.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    model = LogisticRegression(max_iter=1000)
    model.fit((measures - center) / scale, truth, sample_weight=weights)
    coef = model.coef_[0] / scale
    return np.append(coef, model.intercept_[0] - coef @ center)


def learned_confidence(
    measures: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability that answers are of the first kind, by `fit_confidence`'s result.

    Parameters
    ----------
    measures : ndarray of shape (n_samples, n_measures)
        As in :func:`fit_confidence`.
    coefficients : ndarray of shape (n_measures + 1,)
        Coefficients and intercept.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    return expit(measures @ coefficients[:-1] + coefficients[-1])
