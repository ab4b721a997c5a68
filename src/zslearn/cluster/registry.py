"""Names of the mappings, for the command line and for tables; one line per mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zslearn._registry import Method, find

if TYPE_CHECKING:
    from zslearn.cluster.base import LinearMapping

_SAE = "cluster.sae:SAEMapping"
_MLCA = "cluster.closed_form:MLCA"

MAPPINGS: dict[str, Method] = {
    "sae": Method(_SAE, "SAE", parameters={"lam": "cv"}),
    "sae-balanced": Method(
        _SAE, "SAE, classes balanced", parameters={"lam": "cv", "class_weight": "balanced"}
    ),
    "euclidean": Method("cluster.closed_form:EuclideanMapping", "L2"),
    "mlca": Method(_MLCA, "MLCA"),
    "mlca-svd": Method(_MLCA, "MLCA, SVD of test codes (transductive)", parameters={"svd": True}),
    "rvml": Method("cluster.closed_form:RVML", "RVML"),
    "kissme": Method("cluster.closed_form:KISSME", "KISSME"),
    "lda": Method("cluster.closed_form:LDAProjection", "LDA"),
    "rca": Method("cluster.closed_form:RCA", "RCA"),
    "lajugie": Method("cluster.closed_form:LajugieSpectral", "Lajugie, spectral"),
    "xing": Method("cluster.iterative:XingMMC", "Xing (MMC)"),
    "itml": Method("cluster.iterative:ITML", "ITML"),
    "lmnn": Method("cluster.iterative:LMNN", "LMNN"),
}


def find_mapping(name: str) -> Method:
    """Return the mapping of that name, or say which name is closest."""
    return find(name, MAPPINGS, "mapping")


def make_mapping(name: str, **parameters: Any) -> LinearMapping:
    """Return an unfitted mapping by its name.

    Parameters
    ----------
    name : str
        A key of `MAPPINGS`, for example "sae" or "lda".
    **parameters
        Parameters of the class that override the mapping's own.

    Returns
    -------
    LinearMapping

    Examples
    --------
    >>> make_mapping("sae-balanced", lam=0.5)
    SAEMapping(class_weight='balanced')
    """
    made: LinearMapping = find_mapping(name).make(**parameters)
    return made
