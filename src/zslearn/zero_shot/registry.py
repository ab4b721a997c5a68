"""Names of the methods, for the command line and for tables; one line per name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zslearn._registry import Method, find

if TYPE_CHECKING:
    from zslearn.zero_shot.base import ZeroShotClassifier

_SAE = "zero_shot.linear.sae:SAEClassifier"
_SYNC = "zero_shot.synthesized.sync:SynCClassifier"
_SSE = "zero_shot.synthesized.sse:SSEClassifier"

METHODS: dict[str, Method] = {
    "sae": Method(_SAE, "SAE (decoder)"),
    "sae-encode": Method(_SAE, "SAE (encoder)", parameters={"direction": "encode"}),
    "sae-both": Method(_SAE, "SAE (both)", parameters={"direction": "both"}),
    "prototype-regression": Method(
        "zero_shot.prototypes.prototype_regression:PrototypeRegression",
        "Prototype regression (ours)",
    ),
    "legacy_awa": Method("zero_shot.legacy:LegacyAwA", "SAE, authors' AwA demo"),
    "legacy_cub": Method("zero_shot.legacy:LegacyCUB", "SAE, authors' CUB demo"),
    "legacy_imnet2": Method("zero_shot.legacy:LegacyImNet2", "SAE, authors' ImNet-2 demo"),
    "ridge-fs": Method("zero_shot.linear.ridge:RidgeClassifierFS", "Ridge F→S"),
    "rrzsl": Method("zero_shot.linear.ridge:RRZSLClassifier", "Ridge S→F (RRZSL)", cost="instant"),
    "eszsl": Method("zero_shot.linear.eszsl:ESZSLClassifier", "ESZSL"),
    "sje": Method("zero_shot.ranking:SJEClassifier", "SJE"),
    "ale": Method("zero_shot.ranking:ALEClassifier", "ALE"),
    "devise": Method("zero_shot.ranking:DeViSEClassifier", "DeViSE"),
    "ds-sje": Method("zero_shot.ranking:DSSJEClassifier", "DS-SJE (given text embeddings)"),
    "sync-ovo": Method(_SYNC, "SynC (one-vs-other)", parameters={"loss": "ovo"}),
    "sync-cs": Method(_SYNC, "SynC (Crammer–Singer)", cost="minutes", parameters={"loss": "cs"}),
    "sync-struct": Method(_SYNC, "SynC (struct)", cost="minutes", parameters={"loss": "struct"}),
    "eszsl-kernel": Method("zero_shot.linear.eszsl:KernelESZSLClassifier", "ESZSL (kernel)"),
    "dap": Method("zero_shot.posterior.attributes:DAPClassifier", "DAP"),
    "iap": Method("zero_shot.posterior.attributes:IAPClassifier", "IAP"),
    "conse": Method("zero_shot.posterior.similarity:ConSEClassifier", "ConSE"),
    "direct-similarity": Method(
        "zero_shot.posterior.similarity:DirectSimilarityClassifier", "Direct similarity"
    ),
    "ncm": Method("zero_shot.prototypes.ncm:NCMClassifier", "NCM (Mensink)"),
    "gfzsl": Method("zero_shot.prototypes.gfzsl:GFZSLClassifier", "GFZSL"),
    "exem": Method("zero_shot.prototypes.exem:EXEMClassifier", "EXEM"),
    "pst": Method("zero_shot.pst:PSTClassifier", "PST"),
    "amp": Method("zero_shot.posterior.similarity:AMPClassifier", "AMP"),
    "ba-fc": Method("zero_shot.networks:BaFCClassifier", "Ba et al. (fc)"),
    "mtmdl": Method("zero_shot.networks:MTMDLClassifier", "MTMDL"),
    "mlzsc": Method("zero_shot.networks:MLZSCClassifier", "MLZSC (Bucher et al.)"),
    "ss-voc": Method("zero_shot.ss_voc:SSVocClassifier", "SS-Voc"),
    "sse-int": Method(_SSE, "SSE (INT)", parameters={"kind": "int"}),
    "sse-relu": Method(_SSE, "SSE (ReLU)", parameters={"kind": "relu"}),
    "jlse": Method("zero_shot.synthesized.jlse:JLSEClassifier", "JLSE"),
}

# The method to try first, see docs/prototype_regression.md; fitted and measured by default.
RECOMMENDED = "prototype-regression"

# Methods that need PyTorch to fit (extra `deep`); "all" methods are those above.
_GENERATORS = "zero_shot.deep.generator_methods"
DEEP: dict[str, Method] = {
    "deep-sae": Method(
        "zero_shot.deep.autoencoder:DeepSemanticAutoencoder", "SAE (deep)", cost="minutes"
    ),
    "cada-vae": Method(f"{_GENERATORS}:CADAVAEClassifier", "CADA-VAE", cost="minutes"),
    "f-clswgan": Method(f"{_GENERATORS}:FCLSWGANClassifier", "f-CLSWGAN", cost="minutes"),
    "f-vaegan": Method(f"{_GENERATORS}:FVAEGANClassifier", "f-VAEGAN", cost="minutes"),
    "tf-vaegan": Method(f"{_GENERATORS}:TFVAEGANClassifier", "TF-VAEGAN", cost="minutes"),
}

# What chooses among the methods; no method of its own.
CHOOSERS: dict[str, Method] = {
    "auto": Method(
        "zero_shot.auto:AutoZeroShotClassifier",
        "Chosen on held-out classes",
    ),
}


def find_method(name: str) -> Method:
    """Return the method of that name, or say which name is closest."""
    return find(name, METHODS | DEEP | CHOOSERS, "method")


def make_classifier(name: str, signatures: Any = None, **parameters: Any) -> ZeroShotClassifier:
    """Return an unfitted classifier by the name of its method.

    Parameters
    ----------
    name : str
        A key of `METHODS`, for example "sae" or "eszsl", one of `zslearn.zero_shot.registry.DEEP`,
        or "auto" for the choice among the former.
    signatures : Signatures, dict or DataFrame, optional
        One vector per class.
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
    made: ZeroShotClassifier = find_method(name).make(signatures, **parameters)
    return made
