"""The signed square root of features: counts and other long tails become shorter."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from zslearn.core.rows import signed_power


class SignedRoot(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace every value x by ``sign(x)·√|x|``; zeros stay zeros.

    Examples
    --------
    >>> SignedRoot().fit_transform([[4.0, -9.0], [0.0, 1.0]]).tolist()
    [[2.0, -3.0], [0.0, 1.0]]
    """

    def fit(self, X: Any, y: Any = None) -> SignedRoot:
        """Remember the number of features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ignored
            For pipelines.

        Returns
        -------
        SignedRoot
        """
        validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        return self

    def transform(self, X: Any) -> Any:
        """Return the signed roots.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_features)
        """
        check_is_fitted(self, "n_features_in_")
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        return signed_power(X, 0.5)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.requires_fit = True
        return tags
