"""Transformers and classifiers that the command line knows by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from zslearn.exceptions import InvalidInputError, did_you_mean

# Name -> class and its parameters; a name is looked up here and never evaluated.
TRANSFORMERS: dict[str, tuple[str, dict[str, Any]]] = {
    "standardize": ("sklearn.preprocessing:StandardScaler", {}),
    "minmax": ("sklearn.preprocessing:MinMaxScaler", {}),
    "power": ("sklearn.preprocessing:PowerTransformer", {}),
    "quantile": ("sklearn.preprocessing:QuantileTransformer", {"random_state": 0}),
    "pca": ("sklearn.decomposition:PCA", {"n_components": 0.99, "random_state": 0}),
    "nystroem": ("sklearn.kernel_approximation:Nystroem", {"random_state": 0}),
}
CLASSIFIERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gaussian-nb": ("sklearn.naive_bayes:GaussianNB", {}),
    "logistic": ("sklearn.linear_model:LogisticRegression", {"max_iter": 1000}),
    "knn": ("sklearn.neighbors:KNeighborsClassifier", {}),
    "boosting": ("zslearn.zero_shot:BoostedTreesClassifier", {}),
    "random-forest": ("sklearn.ensemble:RandomForestClassifier", {"random_state": 0}),
}


def make_transformer(name: str) -> Any:
    """Return the transformer of that name."""
    return _made("transformer", name, TRANSFORMERS)


def make_inner_classifier(name: str) -> Any:
    """Return the classifier of that name."""
    return _made("classifier", name, CLASSIFIERS)


def _made(kind: str, name: str, known: dict[str, tuple[str, dict[str, Any]]]) -> Any:
    if name not in known:
        hint = did_you_mean(name, known)
        raise InvalidInputError(f"there is no {kind} {name!r}.{hint} Known: {', '.join(known)}.")
    place, parameters = known[name]
    module, _, class_name = place.partition(":")
    return getattr(import_module(module), class_name)(**parameters)
