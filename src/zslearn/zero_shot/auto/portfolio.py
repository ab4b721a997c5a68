"""What `AutoZeroShotClassifier` chooses from: preparations of features × methods, each with a name.

A name reads ``space: preparation > method + classifier``, for example "standardize > dap +
naive-bayes" or "word vectors: sae"; all parts but the method may be missing. Several members are
averaged by a name such as "mean of sae, exem".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler

from zslearn._parameters import Constraint, Either
from zslearn._pipelines import last_step, set_signatures, steps_before
from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.signatures import Signatures
from zslearn.zero_shot.auto.average import AverageClassifier
from zslearn.zero_shot.auto.signed_root import SignedRoot
from zslearn.zero_shot.base import CLASSIFIER
from zslearn.zero_shot.registry import find_method, make_classifier

MEAN = "mean of "
PREPARATIONS = ("root", "standardize", "quantile", "nystroem")
CLASSIFIERS: dict[str, Any] = {
    "naive-bayes": GaussianNB(),
    "quadratic": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "nearest-neighbors": KNeighborsClassifier(15),
    "boosting": HistGradientBoostingClassifier(
        max_iter=60, max_depth=3, early_stopping=False, random_state=0
    ),
}
# Simple and cheap first, which decides between equals; where several are as good, prototype
# regression stands before methods that explain nothing.
LINEAR = ("rrzsl", "sae", "sae-encode", "eszsl", "prototype-regression", "exem", "gfzsl")
ROOTED = ("rrzsl", "exem", "gfzsl")  # prototype regression tries the root by itself
SCALED = ("rrzsl", "sae", "eszsl", "prototype-regression")
GENERATIVE = ("dap + naive-bayes", "iap + naive-bayes")
NONLINEAR = ("dap", "iap", "dap + quadratic", "iap + quadratic", "dap + nearest-neighbors")
KERNEL = ("rrzsl", "eszsl", "prototype-regression")
_CHEAP = 4  # of the linear ones
# What is tried on each semantic space alone, where there are several.
ALONE = ("sae", "eszsl", "prototype-regression")
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
    space : str or None
        The block of the signatures that it sees; None is all of them.
    recommended : bool
        Whether it is taken unless another is clearly better.
    """

    name: str
    steps: tuple[Any, ...]
    space: str | None = None
    recommended: bool = False

    @property
    def may_be_slow(self) -> bool:
        """Whether a fit on few rows may take long: not if it is a solution in closed form."""
        return not self.steps[-1].zero_shot_tags.closed_form

    @property
    def can_be_averaged(self) -> bool:
        """Whether its scores of a class do not depend on other samples or classes."""
        tags = self.steps[-1].zero_shot_tags
        return bool(tags.separable and not tags.transductive)

    def pipeline(self, signatures: Any, n_rows: int) -> Pipeline:
        """Return an unfitted pipeline for a number of training rows."""
        *before, last = (clone(step) for step in self.steps)
        for step in before:
            _fit_into(step, n_rows)
        if self.space is not None:
            last = AverageClassifier(members=[last], spaces=[self.space])
        set_signatures(last, signatures)
        return Pipeline([*((f"step{i}", step) for i, step in enumerate(before)), ("end", last)])


def mean_of(members: Sequence[Member]) -> Member:
    """Return the mean of several members as one.

    Parameters
    ----------
    members : sequence of Member
        At least two.

    Returns
    -------
    Member
    """
    parts = [Pipeline([(f"step{i}", s) for i, s in enumerate(one.steps)]) for one in members]
    average = AverageClassifier(members=parts, spaces=[one.space for one in members])
    return Member(MEAN + ", ".join(one.name for one in members), (average,))


def default_names(
    n_features: int, *, preprocess: Any = "all", sparse: bool = False, spaces: Sequence[str] = ()
) -> list[str]:
    """Return the names of the members worth their time on data of a shape.

    Parameters
    ----------
    n_features : int
        Length of samples.
    preprocess : "all", None or list of str
        Preparations allowed besides none at all.
    sparse : bool, default=False
        Whether the features are sparse; most preparations would make them dense.
    spaces : sequence of str
        Names of the blocks of the signatures; two or more are also tried alone.

    Returns
    -------
    list of str
        Simple and cheap members first.
    """
    alone = [f"{space}: {name}" for space in spaces for name in ALONE] if len(spaces) > 1 else []
    names = [*LINEAR, *alone, *(f"root > {name}" for name in ROOTED)]
    if not sparse:
        # Early, so that a short time budget reaches another kind of member.
        names[_CHEAP:_CHEAP] = [f"standardize > {name}" for name in GENERATIVE]
        names += [f"standardize > {name}" for name in SCALED]
        names += [f"nystroem > {name}" for name in KERNEL]
    if not sparse and n_features <= _NARROW:
        names += ["quantile > rrzsl", *(f"quantile > {name}" for name in GENERATIVE)]
        names += [f"standardize > {name}" for name in NONLINEAR]
        # Trees do not see in which unit a feature is, so that nothing is prepared for them.
        names += ["nystroem > dap", "dap + boosting"]
    allowed = PREPARATIONS if isinstance(preprocess, str) else tuple(preprocess or ())
    return [name for name in names if " > " not in name or name.split(" > ")[0] in allowed]


def members_of(
    portfolio: Any, names: Iterable[str], seed: int | None, table: Signatures | None = None
) -> list[Member]:
    """Return the members of a portfolio: "default", or a list of names and estimators.

    Parameters
    ----------
    portfolio : "default" or list
        Names, and unfitted zero-shot classifiers or pipelines that end in one.
    names : iterable of str
        The default portfolio.
    seed : int or None
        Of preparations that draw.
    table : Signatures, optional
        The class table.

    Returns
    -------
    list of Member
        With names that differ.
    """
    given = list(names) if isinstance(portfolio, str) else list(portfolio)
    found = [
        named_member(one, seed, table) if isinstance(one, str) else _given_member(one)
        for one in given
    ]
    counts: dict[str, int] = {}
    for i, member in enumerate(found):
        counts[member.name] = counts.get(member.name, 0) + 1
        if counts[member.name] > 1:
            found[i] = replace(member, name=f"{member.name} ({counts[member.name]})")
    return found


def named_member(name: str, seed: int | None = 0, table: Signatures | None = None) -> Member:
    """Return the member of a name, which may begin with a block of the class table.

    Where the table has a class without any attribute, which has no direction, signatures are not
    scaled to unit length.

    Examples
    --------
    >>> [type(step).__name__ for step in named_member("standardize > dap + naive-bayes").steps]
    ['StandardScaler', 'DAPClassifier']
    >>> len(named_member("mean of sae, exem").steps[0].members)
    2
    """
    if name.startswith(MEAN):
        parts = name.removeprefix(MEAN).split(", ")
        return mean_of([named_member(part, seed, table) for part in parts])
    space = next(
        (one for one in (table.blocks if table is not None else ()) if name.startswith(f"{one}: ")),
        None,
    )
    rest = name if space is None else name[len(space) + 2 :]
    front, arrow, back = (part.strip() for part in rest.rpartition(">"))
    method, plus, inner = (part.strip() for part in back.partition("+"))
    parameters: dict[str, Any] = {}
    if plus:
        _check_part("classifier", inner, CLASSIFIERS)
        parameters = {"classifier": clone(CLASSIFIERS[inner]), "feature_norm": None}
    elif arrow and method in ("dap", "iap"):
        parameters = {"feature_norm": None}
    find_method(method)
    last = make_classifier(method, **parameters)
    scales = "signature_norm" in last.get_params(deep=False)
    if scales and table is not None and has_zero_signature(table, space):
        last.set_params(signature_norm=None)
    before = _preparation(front, seed) if arrow else ()
    return Member(name, (*before, last), space)


def has_zero_signature(table: Signatures, space: str | None = None) -> bool:
    """Say whether a class has only zeros, in one block or in all of them."""
    columns = slice(None) if space is None else table.blocks[space]
    return bool((~table.vectors[:, columns].any(axis=1)).any())


def _preparation(name: str, seed: int | None) -> tuple[Any, ...]:
    _check_part("preparation", name, PREPARATIONS)
    if name == "root":
        return (SignedRoot(),)
    if name == "quantile":
        return (
            QuantileTransformer(
                n_quantiles=_QUANTILES, output_distribution="normal", random_state=seed
            ),
        )
    if name == "nystroem":
        # At unit length, so that no sample is so far from all landmarks that its features vanish.
        nystroem = Nystroem(n_components=_LANDMARKS, gamma=1.0, random_state=seed)
        return StandardScaler(), Normalizer(), nystroem
    return (StandardScaler(),)


def _check_part(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        hint = did_you_mean(name, list(known))
        raise InvalidInputError(
            f"the portfolio names the {kind} {name!r}, which is unknown.{hint} Known: "
            f"{', '.join(known)}."
        )


def _given_member(estimator: Any) -> Member:
    steps = (*steps_before(estimator), last_step(estimator))
    return Member(" > ".join(type(step).__name__ for step in steps), steps)


def _fit_into(step: Any, n_rows: int) -> None:
    """Give a transformer no more landmarks or quantiles than there are rows."""
    if type(step) is Nystroem:
        step.set_params(n_components=min(step.n_components, n_rows))
    elif type(step) is QuantileTransformer:
        step.set_params(n_quantiles=min(step.n_quantiles, n_rows))


def _is_member(value: Any) -> bool:
    return bool(value.strip()) if isinstance(value, str) else CLASSIFIER.allows(value)


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
