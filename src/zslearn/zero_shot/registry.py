"""Names of the methods, for the command line and for tables; one line a method."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

from zslearn.exceptions import InvalidInputError, closest_name
from zslearn.zero_shot.base import ZeroShotClassifier
from zslearn.zero_shot.tags import ZeroShotTags


@dataclass(frozen=True)
class Method:
    """A named method: which class, with which parameters.

    Attributes
    ----------
    path : str
        ``module:Class`` inside `zslearn.zero_shot`.
    title : str
        What tables call it.
    cost : {"instant", "seconds", "minutes"}
        Time of a fit on CUB (7,057 samples, 1,280 features, 150 classes) on one core.
    parameters : dict
        Parameters that differ from the class's defaults.
    """

    path: str
    title: str
    cost: str = "seconds"
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def estimator(self) -> type[ZeroShotClassifier]:
        """The class, imported on first use."""
        module, _, name = self.path.partition(":")
        return getattr(importlib.import_module(f"zslearn.zero_shot.{module}"), name)

    @property
    def tags(self) -> ZeroShotTags:
        """The facts the class tells about itself."""
        return self.estimator.zero_shot_tags


METHODS: dict[str, Method] = {
    "sae": Method("linear.sae:SAEClassifier", "SAE (decoder)"),
    "sae-encode": Method(
        "linear.sae:SAEClassifier", "SAE (encoder)", parameters={"direction": "encode"}
    ),
    "sae-both": Method("linear.sae:SAEClassifier", "SAE (both)", parameters={"direction": "both"}),
    "prototype-regression": Method(
        "prototypes.prototype_regression:PrototypeRegression", "Prototype regression (ours)"
    ),
    "legacy_awa": Method("legacy:LegacyAwA", "SAE, authors' AwA demo"),
    "legacy_cub": Method("legacy:LegacyCUB", "SAE, authors' CUB demo"),
    "legacy_imnet2": Method("legacy:LegacyImNet2", "SAE, authors' ImNet-2 demo"),
    "ridge-fs": Method("linear.ridge:RidgeClassifierFS", "Ridge F→S", "seconds"),
    "rrzsl": Method("linear.ridge:RRZSLClassifier", "Ridge S→F (RRZSL)", "instant"),
    "eszsl": Method("linear.eszsl:ESZSLClassifier", "ESZSL", "seconds"),
    "sje": Method("ranking.sje:SJEClassifier", "SJE"),
    "ale": Method("ranking.ale:ALEClassifier", "ALE"),
    "devise": Method("ranking.devise:DeViSEClassifier", "DeViSE"),
    "ds-sje": Method("ranking.ds_sje:DSSJEClassifier", "DS-SJE (given text embeddings)"),
    "sync-ovo": Method(
        "synthesised.sync:SynCClassifier", "SynC (one-vs-other)", parameters={"loss": "ovo"}
    ),
    "sync-cs": Method(
        "synthesised.sync:SynCClassifier",
        "SynC (Crammer–Singer)",
        "minutes",
        parameters={"loss": "cs"},
    ),
    "sync-struct": Method(
        "synthesised.sync:SynCClassifier", "SynC (struct)", "minutes", parameters={"loss": "struct"}
    ),
    "eszsl-kernel": Method(
        "linear.eszsl_kernel:KernelESZSLClassifier", "ESZSL (kernel)", "seconds"
    ),
    "dap": Method("posterior.dap:DAPClassifier", "DAP", "seconds"),
    "iap": Method("posterior.iap:IAPClassifier", "IAP", "seconds"),
    "conse": Method("posterior.conse:ConSEClassifier", "ConSE", "seconds"),
    "direct-similarity": Method(
        "posterior.direct_similarity:DirectSimilarityClassifier", "Direct similarity", "seconds"
    ),
    "ncm": Method("prototypes.ncm:NCMClassifier", "NCM (Mensink)", "seconds"),
    "gfzsl": Method("prototypes.gfzsl:GFZSLClassifier", "GFZSL", "seconds"),
    "exem": Method("prototypes.exem:EXEMClassifier", "EXEM", "seconds"),
    "pst": Method("transductive.pst:PSTClassifier", "PST", "seconds"),
    "amp": Method("posterior.amp:AMPClassifier", "AMP", "seconds"),
    "ba-fc": Method("networks.ba_fc:BaFCClassifier", "Ba et al. (fc)"),
    "mtmdl": Method("networks.mtmdl:MTMDLClassifier", "MTMDL"),
    "mlzsc": Method("networks.mlzsc:MLZSCClassifier", "MLZSC (Bucher et al.)"),
    "ss-voc": Method("networks.ss_voc:SSVocClassifier", "SS-Voc"),
    "sse-int": Method("synthesised.sse:SSEClassifier", "SSE (INT)", parameters={"kind": "int"}),
    "sse-relu": Method("synthesised.sse:SSEClassifier", "SSE (ReLU)", parameters={"kind": "relu"}),
    "jlse": Method("synthesised.jlse:JLSEClassifier", "JLSE (small form)"),
}


def find_method(name: str) -> Method:
    """Return the method of that name, or say which name is closest."""
    if name not in METHODS:
        near = closest_name(name, METHODS)
        hint = f" Did you mean {near!r}?" if near is not None else ""
        raise InvalidInputError(
            f"there is no method {name!r}.{hint} Known methods: {', '.join(METHODS)}."
        )
    return METHODS[name]


def make_classifier(name: str, signatures: Any = None, **parameters: Any) -> ZeroShotClassifier:
    """Return an unfitted classifier by the name of its method.

    Parameters
    ----------
    name : str
        A key of `METHODS`, for example "sae" or "eszsl".
    signatures : Signatures, dict or DataFrame, optional
        One vector a class.
    **parameters
        Parameters of the class that override the method's own.

    Returns
    -------
    ZeroShotClassifier

    Examples
    --------
    >>> make_classifier("sae-encode", lam=0.2)
    SAEClassifier(direction='encode', lam=0.2)
    """
    method = find_method(name)
    return method.estimator(signatures, **{**method.parameters, **parameters})
