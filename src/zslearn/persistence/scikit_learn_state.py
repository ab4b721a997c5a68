"""What fitted estimators of scikit-learn hold, to be checked when a model is loaded."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from zslearn.exceptions import InvalidInputError

# As `learned_shapes` of zslearn's own estimators: d features, other letters as they come. NaN is
# allowed where scikit-learn writes it for columns without values; transformed samples are tried.
_BY_COLUMN = "optional missing d"
LEARNED_SHAPES: dict[str, dict[str, str]] = {
    "FactorAnalysis": {"components_": "c d", "mean_": "d", "noise_variance_": "d"},
    "GaussianNB": {"theta_": "c d", "var_": "c d", "class_prior_": "c"},
    "GaussianRandomProjection": {"components_": "c d"},
    "LinearDiscriminantAnalysis": {
        "coef_": "b d",
        "intercept_": "b",
        "xbar_": "optional d",
        "scalings_": "optional d r",
    },
    "LogisticRegression": {"coef_": "b d", "intercept_": "b"},
    "MaxAbsScaler": {"scale_": _BY_COLUMN},
    "MinMaxScaler": {"scale_": _BY_COLUMN, "min_": _BY_COLUMN},
    "Nystroem": {"components_": "missing n d", "normalization_": "n n"},  # may be whole numbers
    "PCA": {"components_": "c d", "mean_": "d", "explained_variance_": "c"},
    "PowerTransformer": {"lambdas_": _BY_COLUMN},
    "QuadraticDiscriminantAnalysis": {"means_": "c d", "priors_": "c"},
    "QuantileTransformer": {"quantiles_": "q d", "references_": "q"},
    "RBFSampler": {"random_weights_": "d n", "random_offset_": "n"},
    "RobustScaler": {"center_": _BY_COLUMN, "scale_": _BY_COLUMN},
    "SimpleImputer": {"statistics_": _BY_COLUMN},
    "SparseRandomProjection": {"components_": "c d"},
    "StandardScaler": {"mean_": _BY_COLUMN, "scale_": _BY_COLUMN, "var_": _BY_COLUMN},
    "TruncatedSVD": {"components_": "c d"},
}


def check_state(model: Any) -> None:
    """Refuse what fits the shapes above and still could not be the outcome of a fit."""
    if type(model).__name__ == "PolynomialFeatures":
        again = clone(model).fit(np.zeros((1, model.n_features_in_)))
        if again.n_output_features_ != model.n_output_features_:
            raise InvalidInputError("n_output_features_ does not fit the number of features")
    if type(model).__name__ == "KBinsDiscretizer":
        _check_bins(model)


def _check_bins(model: Any) -> None:
    """Compare the edges of bins and the columns made of them with the numbers of bins."""
    numbers = model.n_bins_.tolist()
    whole = len(numbers) == len(model.bin_edges_) == model.n_features_in_ and all(
        len(edges) == n + 1 and (edges[:-1] <= edges[1:]).all()
        for n, edges in zip(numbers, model.bin_edges_, strict=True)
    )
    encoder = getattr(model, "_encoder", None)
    named = encoder is None or (
        len(encoder.categories_) == len(numbers)
        and all(map(np.array_equal, encoder.categories_, map(np.arange, numbers)))
    )
    if not whole or not named:
        raise InvalidInputError("the bins do not fit together")
