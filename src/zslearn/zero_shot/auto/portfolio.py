"""What `AutoZeroShotClassifier` chooses from: preparations of features × methods, each with a name.

A name reads ``preparation > method + classifier``, for example "standardize > dap + naive-bayes";
the first and the last part may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from zslearn._parameters import Constraint, Either
from zslearn.exceptions import InvalidInputError, closest_name
from zslearn.zero_shot.base import ZeroShotClassifier
from zslearn.zero_shot.registry import find_method, make_classifier

PREPARATIONS = ("standardize", "quantile", "nystroem")
CLASSIFIERS: dict[str, Any] = {
    "naive-bayes": GaussianNB(),
    "quadratic": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "nearest-neighbors": KNeighborsClassifier(15),
}
# Simple and cheap first, which decides between equals.
LINEAR = ("rrzsl", "sae", "sae-encode", "eszsl", "exem", "gfzsl", "prototype-regression")
SCALED = ("rrzsl", "sae", "eszsl", "prototype-regression")
GENERATIVE = ("dap + naive-bayes", "iap + naive-bayes")
NONLINEAR = ("dap", "dap + quadratic", "dap + nearest-neighbors")
KERNEL = ("rrzsl", "eszsl", "prototype-regression", "dap")
# Members of which a fit takes minutes where there are more features or attributes.
_NARROW = 256
_LANDMARKS, _QUANTILES = 300, 100


@dataclass(frozen=True)
class Member:
    """One way to classify: an unfitted pipeline that ends in a zero-shot classifier.

    Attributes
    ----------
    name : str
        How tables call it.
    steps : tuple of estimators
        Transformers, and the classifier last.
    """

    name: str
    steps: tuple[Any, ...]

    def pipeline(self, signatures: Any, n_rows: int) -> Pipeline:
        """Return an unfitted pipeline for a number of training rows."""
        *before, last = (clone(step) for step in self.steps)
        for step in before:
            _fit_into(step, n_rows)
        set_signatures(last, signatures)
        return Pipeline([*((f"step{i}", step) for i, step in enumerate(before)), ("end", last)])


def default_names(n_features: int, *, preprocess: Any = "all", sparse: bool = False) -> list[str]:
    """Return the names of the members worth their time on data of a shape.

    Parameters
    ----------
    n_features : int
        Length of samples.
    preprocess : "all", None or list of str
        Preparations allowed besides none at all.
    sparse : bool, default=False
        Whether the features are sparse; preparations would make them dense.

    Returns
    -------
    list of str
        Simple and cheap members first.
    """
    if sparse:
        return list(LINEAR)
    names = [*LINEAR, *(f"standardize > {name}" for name in (*SCALED, *GENERATIVE))]
    names += [f"nystroem > {name}" for name in KERNEL[:2]]
    if n_features <= _NARROW:
        names += ["quantile > rrzsl", *(f"quantile > {name}" for name in GENERATIVE)]
        names += [f"standardize > {name}" for name in NONLINEAR]
        names += [f"nystroem > {name}" for name in KERNEL[2:]]
    allowed = PREPARATIONS if isinstance(preprocess, str) else tuple(preprocess or ())
    return [name for name in names if ">" not in name or name.split(" > ")[0] in allowed]


def members_of(portfolio: Any, names: Iterable[str], seed: int | None) -> list[Member]:
    """Return the members of a portfolio: "default", or a list of names and estimators.

    Parameters
    ----------
    portfolio : "default" or list
        Names, and unfitted zero-shot classifiers or pipelines that end in one.
    names : iterable of str
        The default portfolio.
    seed : int or None
        Of preparations that draw.

    Returns
    -------
    list of Member
        With names that differ.
    """
    given = list(names) if isinstance(portfolio, str) else list(portfolio)
    found = [
        named_member(one, seed) if isinstance(one, str) else _given_member(one) for one in given
    ]
    counts: dict[str, int] = {}
    for i, member in enumerate(found):
        counts[member.name] = counts.get(member.name, 0) + 1
        if counts[member.name] > 1:
            found[i] = Member(f"{member.name} ({counts[member.name]})", member.steps)
    return found


def named_member(name: str, seed: int | None = 0) -> Member:
    """Return the member of a name.

    Examples
    --------
    >>> [type(step).__name__ for step in named_member("standardize > dap + naive-bayes").steps]
    ['StandardScaler', 'DAPClassifier']
    """
    front, arrow, back = (part.strip() for part in name.rpartition(">"))
    method, plus, inner = (part.strip() for part in back.partition("+"))
    parameters: dict[str, Any] = {}
    if plus:
        _check_part("classifier", inner, CLASSIFIERS)
        parameters = {"classifier": clone(CLASSIFIERS[inner]), "feature_norm": None}
    elif arrow and method in ("dap", "iap"):
        parameters = {"feature_norm": None}
    find_method(method)
    before = _preparation(front, seed) if arrow else ()
    return Member(name, (*before, make_classifier(method, **parameters)))


def _preparation(name: str, seed: int | None) -> tuple[Any, ...]:
    _check_part("preparation", name, PREPARATIONS)
    if name == "quantile":
        return (
            QuantileTransformer(
                n_quantiles=_QUANTILES, output_distribution="normal", random_state=seed
            ),
        )
    if name == "nystroem":
        return StandardScaler(), Nystroem(n_components=_LANDMARKS, random_state=seed)
    return (StandardScaler(),)


def _check_part(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        near = closest_name(name, list(known))
        hint = f" Did you mean {near!r}?" if near is not None else ""
        raise InvalidInputError(
            f"the portfolio names the {kind} {name!r}, which is unknown.{hint} Known: "
            f"{', '.join(known)}."
        )


def _given_member(estimator: Any) -> Member:
    steps = (
        [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    )
    title = " > ".join(type(step).__name__ for step in steps)
    return Member(title, tuple(step for step in steps if step not in (None, "passthrough")))


def _fit_into(step: Any, n_rows: int) -> None:
    """Give a transformer no more landmarks or quantiles than there are rows."""
    if type(step) is Nystroem:
        step.set_params(n_components=min(step.n_components, n_rows))
    elif type(step) is QuantileTransformer:
        step.set_params(n_quantiles=min(step.n_quantiles, n_rows))


def set_signatures(classifier: Any, signatures: Any) -> None:
    """Set the class table of a classifier, or of the one it wraps."""
    names = [name for name in classifier.get_params() if name.split("__")[-1] == "signatures"]
    classifier.set_params(**{min(names, key=len): signatures})


def _is_member(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    last = value.steps[-1][1] if isinstance(value, Pipeline) else value
    estimator = isinstance(value, BaseEstimator) and not isinstance(value, type)
    return estimator and isinstance(last, ZeroShotClassifier)


def _is_portfolio(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_member, value))


def _are_preparations(value: Any) -> bool:
    listed = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
    return listed and set(value) <= set(PREPARATIONS)


PREPROCESS = Either(
    "all", None, Constraint(f"a list of names among {', '.join(PREPARATIONS)}", _are_preparations)
)
PORTFOLIO = Either(
    "default",
    Constraint("a list of names such as 'sae' and of zero-shot classifiers", _is_portfolio),
)
