"""`zslearn methods`, and what every command knows of methods: parameters, steps, the default."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.output import echo_json, format_table
from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.zero_shot.registry import RECOMMENDED

if TYPE_CHECKING:
    from zslearn.datasets import ZeroShotDataset

AUTO = "auto"
DEFAULT_METHOD = (
    "By default auto, which chooses one on held-out classes; for features of an encoder, and for "
    f"those that stay on disk, {RECOMMENDED}."
)

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
    "boosting": (
        "sklearn.ensemble:HistGradientBoostingClassifier",
        {"max_iter": 60, "max_depth": 3, "early_stopping": False, "random_state": 0},
    ),
    "random-forest": ("sklearn.ensemble:RandomForestClassifier", {"random_state": 0}),
}


def default_method(dataset: ZeroShotDataset, *, in_memory: bool = True) -> str:
    """Return the method for data that nobody has named one for.

    Attributes are nearly linear in the features of a trained network, and there the recommended
    method is hard to beat. Of other features nothing is known before methods are tried on them.

    Parameters
    ----------
    dataset : ZeroShotDataset
        The data; if an encoder made its features, it says so.
    in_memory : bool, default=True
        Whether the fit takes all samples at once; otherwise it needs a method of moments.

    Returns
    -------
    str
        Name of a method.
    """
    import numpy as np

    known = dataset.extra.get("encoder") is not None
    on_disk = isinstance(dataset.X, np.memmap)
    return AUTO if in_memory and not known and not on_disk else RECOMMENDED


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


def set_parameters(
    model: Any, name: str, given: Iterable[str], *, hidden: frozenset[str] = frozenset()
) -> None:
    """Set the parameters a user gave, refusing those the model does not have.

    Parameters
    ----------
    model : estimator
        Unfitted.
    name : str
        What errors call it.
    given : iterable of str
        Texts NAME=VALUE.
    hidden : frozenset of str
        Parameters that are not the user's to set.
    """
    known = sorted(set(model.get_params(deep=False)) - hidden)
    # Parts of a parameter, and names of the release before.
    settings = {name for name in model.get_params() if name.partition("__")[0] in known}
    accepted = settings | set(getattr(model, "older_names", dict)())
    for text in given:
        parameter, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"-P takes NAME=VALUE; got {text!r}")
        if parameter not in accepted:
            hint = did_you_mean(parameter, known)
            raise InvalidInputError(
                f"{name} has no parameter {parameter!r}.{hint} It has {', '.join(known) or 'none'}."
            )
        found = read_value(value)
        if parameter == "classifier" and isinstance(found, str):
            found = make_inner_classifier(found)
        model.set_params(**{parameter: found})


def read_value(text: str) -> Any:
    """Return a number, true, false, null or a list as JSON reads it; anything else is text.

    Examples
    --------
    >>> read_value("0.5"), read_value("cv"), read_value("None")
    (0.5, 'cv', None)
    """
    try:
        return json.loads(text)
    except ValueError:
        return None if text == "None" else text


COLUMNS = {
    "name": "name",
    "title": "method",
    "kind": "kind",
    "several_spaces": "several spaces",
    "cost": "cost",
    "extra": "extra",
    "reference": "reference",
}
EPILOG = """\b
Examples:
  zslearn methods
  zslearn methods --json
"""


@click.command(epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def methods(as_json: bool) -> None:
    """List the zero-shot methods.

    "kind" says whether a method looks at the whole test batch (transductive) or at one sample at
    a time (inductive), how it is solved and whether chance plays a part. "cost" is the time of a
    fit on CUB (7,057 samples, 1,280 features, 150 classes) on one core. A method with an "extra"
    needs it to fit: pip install 'zslearn[deep]'.
    """
    rows = method_rows()
    if as_json:
        echo_json(rows)
    else:
        click.echo(format_table(rows, COLUMNS))


def method_rows() -> list[dict[str, Any]]:
    """Return one row per method of the registry, and what chooses among them."""
    from zslearn.zero_shot.registry import CHOOSERS, DEEP, METHODS

    return [
        {
            "name": name,
            "title": method.title,
            "kind": method.tags.kind,
            "several_spaces": method.tags.several_spaces,
            "cost": method.cost,
            "extra": "deep" if name in DEEP else "",
            "reference": method.tags.reference,
        }
        for name, method in (METHODS | DEEP | CHOOSERS).items()
    ]
