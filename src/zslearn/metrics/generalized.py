"""The single figure of the generalized setting."""

from __future__ import annotations

from zslearn.exceptions import InvalidInputError


def harmonic_mean(seen: float, unseen: float) -> float:
    """Harmonic mean of the accuracies on seen and on unseen classes.

    It is high only if both are: H = 2·seen·unseen / (seen + unseen), and 0 where both are 0.

    Parameters
    ----------
    seen : float
        Accuracy on samples of seen classes, all classes being candidates; between 0 and 1.
    unseen : float
        Accuracy on samples of unseen classes, all classes being candidates; between 0 and 1.

    Returns
    -------
    float
        A share between 0 and 1, never above twice the smaller of the two.

    Raises
    ------
    InvalidInputError
        If a value is not between 0 and 1, for example a percentage.

    Examples
    --------
    >>> from zslearn.metrics import harmonic_mean
    >>> round(harmonic_mean(0.8, 0.2), 3)
    0.32
    >>> harmonic_mean(0.0, 0.0)
    0.0
    """
    for name, value in (("seen", seen), ("unseen", unseen)):
        if not 0 <= value <= 1:
            raise InvalidInputError(
                f"{name} must be an accuracy between 0 and 1; got {value}. "
                "Divide a percentage by 100."
            )
    low, high = sorted((float(seen), float(unseen)))
    # 2·low / (1 + low/high) is the same mean without the underflow of a product of tiny numbers.
    return 2 * low / (1 + low / high) if high > 0 else 0.0
