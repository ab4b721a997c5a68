"""Names of the mappings, for the command line and for tables; one line per mapping."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zslearn.exceptions import InvalidInputError, did_you_mean

if TYPE_CHECKING:
    from zslearn.cluster.base import LinearMapping


@dataclass(frozen=True)
class Learner:
    """A named mapping: which class, with which parameters.

    Attributes
    ----------
    path : str
        ``module:Class`` inside `zslearn.cluster`.
    title : str
        What tables call it.
    parameters : dict
        Parameters that differ from the class's defaults.
    """

    path: str
    title: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The module of the class inside `zslearn.cluster`."""
        return self.path.partition(":")[0]

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.path.partition(":")[2]

    @property
    def mapping(self) -> type[LinearMapping]:
        """The class, imported on first use."""
        module = importlib.import_module(f"zslearn.cluster.{self.module}")
        found: type[LinearMapping] = getattr(module, self.class_name)
        return found


LEARNERS: dict[str, Learner] = {
    "sae": Learner("sae:SAEMapping", "SAE", {"lam": "cv"}),
    "sae-balanced": Learner(
        "sae:SAEMapping", "SAE, classes balanced", {"lam": "cv", "class_weight": "balanced"}
    ),
    "euclidean": Learner("closed_form:EuclideanMapping", "L2"),
    "mlca": Learner("closed_form:MLCA", "MLCA"),
    "mlca-svd": Learner(
        "closed_form:MLCA", "MLCA, SVD of test codes (transductive)", {"svd": True}
    ),
    "rvml": Learner("closed_form:RVML", "RVML"),
    "kissme": Learner("closed_form:KISSME", "KISSME"),
    "lda": Learner("closed_form:LDAProjection", "LDA"),
    "rca": Learner("closed_form:RCA", "RCA"),
    "lajugie": Learner("closed_form:LajugieSpectral", "Lajugie, spectral"),
    "xing": Learner("pairs:XingMMC", "Xing (MMC)"),
    "itml": Learner("pairs:ITML", "ITML"),
    "lmnn": Learner("lmnn:LMNN", "LMNN"),
}


def find_learner(name: str) -> Learner:
    """Return the learner of that name, or say which name is closest."""
    if name not in LEARNERS:
        hint = did_you_mean(name, LEARNERS)
        raise InvalidInputError(
            f"there is no mapping {name!r}.{hint} Known mappings: {', '.join(LEARNERS)}."
        )
    return LEARNERS[name]


def make_mapping(name: str, **parameters: Any) -> LinearMapping:
    """Return an unfitted mapping by its name.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`, for example "sae" or "lda".
    **parameters
        Parameters of the class that override the learner's own.

    Returns
    -------
    LinearMapping

    Examples
    --------
    >>> make_mapping("sae-balanced", lam=0.5)
    SAEMapping(class_weight='balanced')
    """
    learner = find_learner(name)
    return learner.mapping(**{**learner.parameters, **parameters})
