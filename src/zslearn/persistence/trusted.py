"""The classes that may be in a model file; a file names them, it never brings its own."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from sklearn.base import BaseEstimator

from zslearn.cluster.registry import MAPPINGS
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.zero_shot.registry import CHOOSERS, DEEP, METHODS

# Name in the file -> where the class lives, which is imported when a file names it. The methods and
# mappings of the registries add themselves.
ESTIMATORS = {
    "CalibratedStacking": "zslearn.zero_shot:CalibratedStacking",
    "ConvSemanticAutoencoder": "zslearn.zero_shot.deep:ConvSemanticAutoencoder",
    "Deviations": "zslearn.zero_shot.portfolio:Deviations",
    "ImageEncoder": "zslearn.encoders:ImageEncoder",
    "ImageSegmenter": "zslearn.cluster:ImageSegmenter",
    "SemanticAutoencoder": "zslearn.autoencoder:SemanticAutoencoder",
    "SemanticAutoencoderCV": "zslearn.autoencoder:SemanticAutoencoderCV",
    "SignedRoot": "zslearn.zero_shot.portfolio:SignedRoot",
    "SupervisedKMeans": "zslearn.cluster:SupervisedKMeans",
    "TextEncoder": "zslearn.encoders:TextEncoder",
}
# Estimators of scikit-learn whose fitted state is numbers, text and arrays, by module.
SCIKIT_LEARN = {
    "decomposition": ("FactorAnalysis", "PCA", "TruncatedSVD"),
    "discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "ensemble": ("HistGradientBoostingClassifier",),
    "feature_selection": ("SelectKBest", "SelectPercentile", "VarianceThreshold"),
    "impute": ("MissingIndicator", "SimpleImputer"),  # the former inside the latter
    "kernel_approximation": ("Nystroem", "RBFSampler"),
    "linear_model": ("LogisticRegression",),
    "naive_bayes": ("GaussianNB",),
    "neighbors": ("KNeighborsClassifier",),
    "pipeline": ("FeatureUnion", "Pipeline"),
    "preprocessing": (
        "Binarizer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",  # inside KBinsDiscretizer
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
    "random_projection": ("GaussianRandomProjection", "SparseRandomProjection"),
}
# Classes that older files name, and what has taken their place.
GONE = {"BoostedTreesClassifier": "scikit-learn's HistGradientBoostingClassifier"}
# State that cannot be written, but is made again by a fit on what is written.
REMADE = {"sklearn.KNeighborsClassifier": "_tree"}
# Functions that an estimator may have as a parameter.
FUNCTIONS = {
    f"sklearn.{name}": f"sklearn.feature_selection:{name}"
    for name in ("chi2", "f_classif", "f_regression", "mutual_info_classif")
}
# Dataclasses and named tuples that fitted estimators hold.
RECORDS = {
    **{
        name: f"zslearn.zero_shot.deep:{name}"
        for name in (
            "AutoencoderSearch",
            "AutoencoderTraining",
            "CADAVAETraining",
            "Checkpoints",
            "ClosedFormStart",
            "ConvTraining",
            "FCLSWGANTraining",
            "FVAEGANTraining",
            "GeneratorSearch",
            "Search",
            "TFVAEGANTraining",
        )
    },
    "Adaptation": "zslearn.zero_shot.teaching:Adaptation",
    "Evidence": "zslearn.zero_shot.teaching:Evidence",
    "Expectation": "zslearn.zero_shot.expectation:Expectation",
    "ExpectedRejection": "zslearn.zero_shot.expectation:ExpectedRejection",
    "FoldRanks": "zslearn.zero_shot.expectation:FoldRanks",
    "LowRankCovariance": "zslearn.core.posterior_prototypes:LowRankCovariance",
    "Moments": "zslearn.core.moments:Moments",
    "Novelty": "zslearn.core.posterior_prototypes:Novelty",
    "PairMoments": "zslearn.core.moments:PairMoments",
    "Preprocessing": "zslearn.encoders:Preprocessing",
    "PrototypeSpace": "zslearn.core.posterior_prototypes:PrototypeSpace",
    "SeenUnseenCurve": "zslearn.metrics:SeenUnseenCurve",
    "Statistics": "zslearn.cluster:Statistics",
    "Whitening": "zslearn.core.whitening:Whitening",
}

# Classes that are gone, and a parameter by which the older form of a class is known: files that
# hold them are refused by name.
RETIRED = ("AverageClassifier", "LearningCurve")
RETIRED_PARAMETERS = {"AutoZeroShotClassifier": "preprocess"}

_registered: dict[str, type] = {}


def register(estimator: type[BaseEstimator]) -> type[BaseEstimator]:
    """Allow an estimator class of your own in model files; usable as a decorator.

    The class must be registered before `save` and, in the program that loads, before `load`.

    Parameters
    ----------
    estimator : class
        A scikit-learn estimator whose fitted state is numbers, text, arrays, lists, dicts,
        `Signatures` or other allowed estimators.

    Returns
    -------
    class
        The same class.

    Examples
    --------
    >>> from zslearn.persistence import register
    >>> from zslearn.zero_shot import SAEClassifier
    >>> @register
    ... class MyClassifier(SAEClassifier):
    ...     pass
    """
    if not (isinstance(estimator, type) and issubclass(estimator, BaseEstimator)):
        raise InvalidTypeError(f"register takes an estimator class; got {estimator!r}.")
    name = estimator.__name__
    if name in _known_estimators():
        raise InvalidInputError(f"{name} is the name of a class of zslearn; rename yours.")
    _registered[name] = estimator
    return estimator


def estimator_name(estimator: object) -> str | None:
    """Return the name of an object's class in files, or None if it is not allowed."""
    return _name_of(type(estimator), _known_estimators(), _registered)


def function_name(value: object) -> str | None:
    """Return the name of a function in files, or None if it is not allowed."""
    return next((name for name, place in FUNCTIONS.items() if _imported(place) is value), None)


def function_of(name: str) -> Any:
    """Return the function of that name, or None."""
    return _imported(FUNCTIONS.get(name))


def record_name(value: object) -> str | None:
    """Return the name of a dataclass or named tuple in files, or None if it is not allowed."""
    return _name_of(type(value), RECORDS, {})


def estimator_class(name: str) -> type | None:
    """Return the estimator class of that name, or None."""
    if name in GONE and name not in _registered:
        raise InvalidInputError(f"{name} is no longer a class of zslearn; fit with {GONE[name]}")
    return _registered.get(name) or _imported(_known_estimators().get(name))


def record_class(name: str) -> type | None:
    """Return the dataclass or named tuple of that name, or None."""
    return _imported(RECORDS.get(name))


@cache
def _known_estimators() -> dict[str, str]:
    """Return where every allowed estimator lives, by its name in files."""
    named = [*METHODS.values(), *DEEP.values(), *CHOOSERS.values(), *MAPPINGS.values()]
    return (
        {method.class_name: f"{method.module}:{method.class_name}" for method in named}
        | ESTIMATORS
        | {
            f"sklearn.{name}": f"sklearn.{module}:{name}"
            for module, names in SCIKIT_LEARN.items()
            for name in names
        }
    )


def _name_of(kind: type, places: dict[str, str], registered: dict[str, type]) -> str | None:
    """Return the name under which exactly this class is known; a subclass is another class."""
    for name in (kind.__name__, f"sklearn.{kind.__name__}"):
        if registered.get(name) is kind:
            return name
        if name in places and _imported(places[name]) is kind:
            return name
    return None


def _imported(place: str | None) -> Any:
    """Import a class from a place of the tables above."""
    if place is None:
        return None
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
