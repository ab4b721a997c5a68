"""What `AutoZeroShotClassifier` chooses from: preparations of the features and methods.

Few members of kinds that differ. With a dozen seen classes the best of many members is the luckiest
one, so that a small portfolio costs nothing but time and gains accuracy; see docs/which_method.md
for what each was measured to be worth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.kernel_approximation import Nystroem
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from zslearn._parameters import Constraint, Either
from zslearn._pipelines import last_step, steps_before
from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.zero_shot.base import CLASSIFIER
from zslearn.zero_shot.linear.eszsl import ESZSLClassifier
from zslearn.zero_shot.linear.ridge import RRZSLClassifier
from zslearn.zero_shot.linear.sae import SAEClassifier
from zslearn.zero_shot.posterior.attributes import DAPClassifier
from zslearn.zero_shot.prototypes.exem import EXEMClassifier
from zslearn.zero_shot.prototypes.gfzsl import GFZSLClassifier
from zslearn.zero_shot.prototypes.prototype_regression import PrototypeRegression
from zslearn.zero_shot.registry import METHODS, RECOMMENDED, make_classifier

_FLOATS = [np.float64, np.float32]


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
        validate_data(self, X, accept_sparse="csr", dtype=_FLOATS)
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
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=_FLOATS, copy=True)
        values = X.data if sparse.issparse(X) else X
        np.copysign(np.sqrt(np.abs(values)), values, out=values)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.requires_fit = True
        return tags


class Deviations(TransformerMixin, BaseEstimator):
    """Put beside every feature how far it is from its mean, both of mean 0 and variance 1.

    An attribute that changes the spread of a feature and not its mean, as shaking does with a
    sensor, moves the mean of the second column: linear methods then see it.

    Examples
    --------
    >>> Deviations().fit_transform([[-2.0], [0.0], [0.0], [2.0]]).round(3).tolist()
    [[-1.414, 1.0], [0.0, -1.0], [0.0, -1.0], [1.414, 1.0]]
    """

    def fit(self, X: Any, y: Any = None) -> Deviations:
        """Learn means and spreads of the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : ignored
            For pipelines.

        Returns
        -------
        Deviations
        """
        X = validate_data(self, X, dtype=_FLOATS)
        self.mean_, self.scale_ = _center(X)
        away = np.abs((X - self.mean_) / self.scale_)
        self.away_mean_, self.away_scale_ = _center(away)
        return self

    def transform(self, X: Any) -> Any:
        """Return the standardized features, and after them their distances from the means.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, 2 n_features)
        """
        check_is_fitted(self, "mean_")
        X = validate_data(self, X, reset=False, dtype=_FLOATS)
        Z = (X - self.mean_) / self.scale_
        return np.hstack([Z, (np.abs(Z) - self.away_mean_) / self.away_scale_])


def _center(X: Any) -> tuple[Any, Any]:
    """Return mean and deviation of each column; 1 of one that never varies."""
    deviation = X.std(axis=0, dtype=np.float64)
    return X.mean(axis=0, dtype=np.float64), np.where(deviation > 0, deviation, 1.0)


def _dap(classifier: Any = None) -> DAPClassifier:
    """Return direct attribute prediction on features that were prepared."""
    return DAPClassifier(classifier=classifier, feature_norm=None)


def _quantile(seed: int | None) -> QuantileTransformer:
    return QuantileTransformer(n_quantiles=100, output_distribution="normal", random_state=seed)


def _nystroem(seed: int | None) -> tuple[Any, ...]:
    # At unit length, so that no sample is so far from all landmarks that its features vanish.
    return StandardScaler(), Normalizer(), Nystroem(n_components=300, gamma=1.0, random_state=seed)


# Each makes an unfitted member for a seed. The recommended one first, then from simple to complex,
# which decides between members that are about as good.
PORTFOLIO: Mapping[str, Callable[[int | None], Any]] = {
    RECOMMENDED: lambda _: PrototypeRegression(),
    "rrzsl": lambda _: RRZSLClassifier(),
    "sae": lambda _: SAEClassifier(),
    "eszsl": lambda _: ESZSLClassifier(),
    "gfzsl": lambda _: GFZSLClassifier(),
    "root > exem": lambda _: make_pipeline(SignedRoot(), EXEMClassifier()),
    "standardize > prototype-regression": lambda _: make_pipeline(
        StandardScaler(), PrototypeRegression()
    ),
    "standardize > dap + naive-bayes": lambda _: make_pipeline(
        StandardScaler(), _dap(GaussianNB())
    ),
    "quantile > prototype-regression": lambda seed: make_pipeline(
        _quantile(seed), PrototypeRegression()
    ),
    "quantile > deviations > prototype-regression": lambda seed: make_pipeline(
        _quantile(seed), Deviations(), PrototypeRegression()
    ),
    "nystroem > prototype-regression": lambda seed: make_pipeline(
        *_nystroem(seed), PrototypeRegression()
    ),
}
# What is tried on many features, such as those of a trained network, on few, and on sparse ones.
# Below 30 seen classes it is the first six.
WIDE = (
    RECOMMENDED,
    "standardize > prototype-regression",
    "rrzsl",
    "gfzsl",
    "root > exem",
)
NARROW = (
    RECOMMENDED,
    "quantile > prototype-regression",
    "quantile > deviations > prototype-regression",
    "standardize > dap + naive-bayes",
    "nystroem > prototype-regression",
    "root > exem",
    "standardize > prototype-regression",
    "eszsl",
)
SPARSE = (RECOMMENDED, "rrzsl", "sae", "eszsl", "root > exem")
MAX_NARROW, MANY_CLASSES, FEW_MEMBERS = 256, 30, 6


def default_names(X: Any, n_classes: int) -> list[str]:
    """Return the members that are worth their time on features of a kind.

    Parameters
    ----------
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Features.
    n_classes : int
        Number of seen classes.

    Returns
    -------
    list of str
        Keys of `PORTFOLIO`, the recommended member first.
    """
    names: tuple[str, ...] = WIDE if X.shape[1] > MAX_NARROW else NARROW
    if sparse.issparse(X):
        names = SPARSE
    return list(names if n_classes >= MANY_CLASSES else names[:FEW_MEMBERS])


def members_of(portfolio: Any, X: Any, n_classes: int, seed: int | None) -> dict[str, Any]:
    """Return unfitted members by name, in the order in which they are preferred.

    Parameters
    ----------
    portfolio : "default", list or dict
        Names of `PORTFOLIO` or of methods, and estimators; a dict names its estimators.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Features.
    n_classes : int
        Number of seen classes.
    seed : int or None
        Of preparations that draw.

    Returns
    -------
    dict of str to estimator
    """
    if isinstance(portfolio, Mapping):
        return {str(name): one for name, one in portfolio.items()}
    given = default_names(X, n_classes) if isinstance(portfolio, str) else list(portfolio)
    members: dict[str, Any] = {}
    for one in given:
        name = one if isinstance(one, str) else _title(one)
        copies = sum(known.partition(" (")[0] == name for known in members)
        key = f"{name} ({copies + 1})" if copies else name
        members[key] = named_member(one, seed) if isinstance(one, str) else one
    return members


def named_member(name: str, seed: int | None = 0) -> Any:
    """Return an unfitted member of the portfolio, or a method with its default parameters.

    Examples
    --------
    >>> named_member("standardize > dap + naive-bayes").steps[0][1], named_member("conse")
    (StandardScaler(), ConSEClassifier())
    """
    if name in PORTFOLIO:
        return PORTFOLIO[name](seed)
    if name in METHODS:
        return make_classifier(name)
    raise InvalidInputError(
        f"the portfolio names {name!r}, which is unknown."
        f"{did_you_mean(name, [*PORTFOLIO, *METHODS])} Known members: {', '.join(PORTFOLIO)}; and "
        "every method, see zslearn methods."
    )


def sized(member: Any, n_rows: int) -> Any:
    """Return a copy with no more landmarks or quantiles than there are rows to learn from."""
    member = clone(member)
    for step in steps_before(member):
        if type(step) is Nystroem:
            step.set_params(n_components=min(step.n_components, n_rows))
        elif type(step) is QuantileTransformer:
            step.set_params(n_quantiles=min(step.n_quantiles, n_rows))
    return member


def _title(estimator: Any) -> str:
    steps = [*steps_before(estimator), last_step(estimator)]
    return " > ".join(type(step).__name__ for step in steps)


def _is_member(value: Any) -> bool:
    return bool(value.strip()) if isinstance(value, str) else CLASSIFIER.allows(value)


def _is_portfolio(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(map(CLASSIFIER.allows, value.values()))
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_member, value))


MEMBERS = Either(
    "default",
    Constraint(
        "a list of names such as 'sae' and of zero-shot classifiers, or a dict of these",
        _is_portfolio,
    ),
)
