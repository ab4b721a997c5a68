"""Names of the methods, for the command line and for tables; one entry per method."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.zero_shot.tags import ZeroShotTags

if TYPE_CHECKING:
    from zslearn.zero_shot.base import ZeroShotClassifier


@dataclass(frozen=True)
class Method:
    """A named method: which class, with which parameters.

    Attributes
    ----------
    path : str
        ``module:Class`` inside `zslearn.zero_shot`.
    title : str
        What tables call it.
    tags : ZeroShotTags
        The facts about the class, here so that listing them imports nothing heavy.
    cost : {"instant", "seconds", "minutes"}
        Time of a fit on CUB (7,057 samples, 1,280 features, 150 classes) on one core.
    parameters : dict
        Parameters that differ from the class's defaults.
    """

    path: str
    title: str
    tags: ZeroShotTags
    cost: str = "seconds"
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The module of the class inside `zslearn.zero_shot`."""
        return self.path.partition(":")[0]

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.path.partition(":")[2]

    @property
    def estimator(self) -> type[ZeroShotClassifier]:
        """The class, imported on first use."""
        module = importlib.import_module(f"zslearn.zero_shot.{self.module}")
        found: type[ZeroShotClassifier] = getattr(module, self.class_name)
        return found


_SAE = ZeroShotTags(reference="Kodirov, Xiang & Gong, CVPR 2017")
_SYNC = ZeroShotTags(closed_form=False, reference="Changpinyo, Chao, Gong & Sha, CVPR 2016")
_LAMPERT = ZeroShotTags(
    closed_form=False, raw_signatures=True, reference="Lampert, Nickisch & Harmeling, CVPR 2009"
)
_SSE = ZeroShotTags(
    closed_form=False, deterministic=False, reference="Zhang & Saligrama, ICCV 2015"
)

METHODS: dict[str, Method] = {
    "sae": Method("linear.sae:SAEClassifier", "SAE (decoder)", _SAE),
    "sae-encode": Method(
        "linear.sae:SAEClassifier", "SAE (encoder)", _SAE, parameters={"direction": "encode"}
    ),
    "sae-both": Method(
        "linear.sae:SAEClassifier", "SAE (both)", _SAE, parameters={"direction": "both"}
    ),
    "prototype-regression": Method(
        "prototypes.prototype_regression:PrototypeRegression",
        "Prototype regression (ours)",
        ZeroShotTags(several_spaces=True, reference="zslearn; see docs/prototype_regression.md"),
    ),
    "legacy_awa": Method(
        "legacy:LegacyAwA",
        "SAE, authors' AwA demo",
        ZeroShotTags(
            separable=False,
            raw_signatures=True,
            reference="Kodirov, Xiang & Gong, CVPR 2017; the authors' released demo",
        ),
    ),
    "legacy_cub": Method(
        "legacy:LegacyCUB",
        "SAE, authors' CUB demo",
        ZeroShotTags(
            transductive=True,
            min_batch=30,
            reference="Kodirov, Xiang & Gong, CVPR 2017; the authors' released demo",
        ),
    ),
    "legacy_imnet2": Method(
        "legacy:LegacyImNet2",
        "SAE, authors' ImNet-2 demo",
        ZeroShotTags(
            transductive=True,
            min_batch=30,
            reference="Kodirov, Xiang & Gong, CVPR 2017; the authors' released demo",
        ),
    ),
    "ridge-fs": Method(
        "linear.ridge:RidgeClassifierFS",
        "Ridge F→S",
        ZeroShotTags(reference="baseline of Kodirov, Xiang & Gong, CVPR 2017"),
    ),
    "rrzsl": Method(
        "linear.ridge:RRZSLClassifier",
        "Ridge S→F (RRZSL)",
        ZeroShotTags(reference="Shigeto, Suzuki, Hara, Shimbo & Matsumoto, ECML 2015"),
        cost="instant",
    ),
    "eszsl": Method(
        "linear.eszsl:ESZSLClassifier",
        "ESZSL",
        ZeroShotTags(reference="Romera-Paredes & Torr, ICML 2015"),
    ),
    "sje": Method(
        "ranking:SJEClassifier",
        "SJE",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            several_spaces=True,
            reference="Akata, Reed, Walter, Lee & Schiele, CVPR 2015",
        ),
    ),
    "ale": Method(
        "ranking:ALEClassifier",
        "ALE",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            reference="Akata, Perronnin, Harchaoui & Schmid, TPAMI 2016",
        ),
    ),
    "devise": Method(
        "ranking:DeViSEClassifier",
        "DeViSE",
        ZeroShotTags(closed_form=False, deterministic=False, reference="Frome et al., NIPS 2013"),
    ),
    "ds-sje": Method(
        "ranking:DSSJEClassifier",
        "DS-SJE (given text embeddings)",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            reference="Reed, Akata, Lee & Schiele, CVPR 2016 (text tower pre-computed)",
        ),
    ),
    "sync-ovo": Method(
        "synthesized.sync:SynCClassifier", "SynC (one-vs-other)", _SYNC, parameters={"loss": "ovo"}
    ),
    "sync-cs": Method(
        "synthesized.sync:SynCClassifier",
        "SynC (Crammer–Singer)",
        _SYNC,
        cost="minutes",
        parameters={"loss": "cs"},
    ),
    "sync-struct": Method(
        "synthesized.sync:SynCClassifier",
        "SynC (struct)",
        _SYNC,
        cost="minutes",
        parameters={"loss": "struct"},
    ),
    "eszsl-kernel": Method(
        "linear.eszsl:KernelESZSLClassifier",
        "ESZSL (kernel)",
        ZeroShotTags(reference="Romera-Paredes & Torr, ICML 2015"),
    ),
    "dap": Method(
        "posterior.attributes:DAPClassifier",
        "DAP",
        _LAMPERT,
    ),
    "iap": Method(
        "posterior.attributes:IAPClassifier",
        "IAP",
        _LAMPERT,
    ),
    "conse": Method(
        "posterior.similarity:ConSEClassifier",
        "ConSE",
        ZeroShotTags(closed_form=False, reference="Norouzi et al., ICLR 2014"),
    ),
    "direct-similarity": Method(
        "posterior.similarity:DirectSimilarityClassifier",
        "Direct similarity",
        ZeroShotTags(closed_form=False, reference="Rohrbach, Stark & Schiele, CVPR 2011"),
    ),
    "ncm": Method(
        "prototypes.ncm:NCMClassifier",
        "NCM (Mensink)",
        ZeroShotTags(
            closed_form=False, reference="Mensink, Verbeek, Perronnin & Csurka, ECCV 2012"
        ),
    ),
    "gfzsl": Method(
        "prototypes.gfzsl:GFZSLClassifier",
        "GFZSL",
        ZeroShotTags(reference="Verma & Rai, ECML 2017"),
    ),
    "exem": Method(
        "prototypes.exem:EXEMClassifier",
        "EXEM",
        ZeroShotTags(reference="Changpinyo, Chao & Sha, ICCV 2017"),
    ),
    "pst": Method(
        "pst:PSTClassifier",
        "PST",
        ZeroShotTags(
            transductive=True,
            closed_form=False,
            separable=False,
            min_batch=5,
            reference="Rohrbach, Ebert & Schiele, NIPS 2013",
        ),
    ),
    "amp": Method(
        "posterior.similarity:AMPClassifier",
        "AMP",
        ZeroShotTags(
            closed_form=False,
            several_spaces=True,
            separable=False,
            reference="Fu, Xiang, Kodirov & Gong, CVPR 2015",
        ),
    ),
    "ba-fc": Method(
        "networks:BaFCClassifier",
        "Ba et al. (fc)",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            reference="Ba, Swersky, Fidler & Salakhutdinov, ICCV 2015 (fc)",
        ),
    ),
    "mtmdl": Method(
        "networks:MTMDLClassifier",
        "MTMDL",
        ZeroShotTags(
            closed_form=False, deterministic=False, reference="Yang & Hospedales, ICLR 2015"
        ),
    ),
    "mlzsc": Method(
        "networks:MLZSCClassifier",
        "MLZSC (Bucher et al.)",
        ZeroShotTags(
            closed_form=False, deterministic=False, reference="Bucher, Herbin & Jurie, ECCV 2016"
        ),
    ),
    "ss-voc": Method(
        "ss_voc:SSVocClassifier",
        "SS-Voc",
        ZeroShotTags(closed_form=False, reference="Fu & Sigal, CVPR 2016"),
    ),
    "sse-int": Method(
        "synthesized.sse:SSEClassifier", "SSE (INT)", _SSE, parameters={"kind": "int"}
    ),
    "sse-relu": Method(
        "synthesized.sse:SSEClassifier", "SSE (ReLU)", _SSE, parameters={"kind": "relu"}
    ),
    "jlse": Method(
        "synthesized.jlse:JLSEClassifier",
        "JLSE",
        ZeroShotTags(closed_form=False, reference="Zhang & Saligrama, CVPR 2016"),
    ),
}

# Methods that need PyTorch to fit (extra `deep`); "all" methods are those above.
DEEP: dict[str, Method] = {
    "deep-sae": Method(
        "deep.autoencoder:DeepSemanticAutoencoder",
        "SAE (deep)",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            reference="outlook of Kodirov, Xiang & Gong, CVPR 2017; see docs/deep.md",
        ),
        cost="minutes",
    ),
    "cada-vae": Method(
        "deep.generators.cada_vae:CADAVAEClassifier",
        "CADA-VAE",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            separable=False,
            reference="Schönfeld, Ebrahimi, Sinha, Darrell & Akata, CVPR 2019",
        ),
        cost="minutes",
    ),
    "f-clswgan": Method(
        "deep.generators.f_clswgan:FCLSWGANClassifier",
        "f-CLSWGAN",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            separable=False,
            reference="Xian, Lorenz, Schiele & Akata, CVPR 2018",
        ),
        cost="minutes",
    ),
    "f-vaegan": Method(
        "deep.generators.f_vaegan:FVAEGANClassifier",
        "f-VAEGAN",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            separable=False,
            reference="Xian, Sharma, Schiele & Akata, CVPR 2019 (inductive)",
        ),
        cost="minutes",
    ),
    "tf-vaegan": Method(
        "deep.generators.tf_vaegan:TFVAEGANClassifier",
        "TF-VAEGAN",
        ZeroShotTags(
            closed_form=False,
            deterministic=False,
            separable=False,
            reference="Narayan, Gupta, Khan, Snoek & Shao, ECCV 2020",
        ),
        cost="minutes",
    ),
}

# What chooses among the methods; no method of its own.
CHOOSERS: dict[str, Method] = {
    "auto": Method(
        "auto.classifier:AutoZeroShotClassifier",
        "Chosen on held-out classes",
        ZeroShotTags(closed_form=False, reference="zslearn; see docs/which_method.md"),
        cost="minutes",
    ),
}


def find_method(name: str) -> Method:
    """Return the method of that name, or say which name is closest."""
    known = METHODS | DEEP | CHOOSERS
    if name not in known:
        hint = did_you_mean(name, known)
        raise InvalidInputError(
            f"there is no method {name!r}.{hint} Known methods: {', '.join(known)}."
        )
    return known[name]


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
    method = find_method(name)
    return method.estimator(signatures, **{**method.parameters, **parameters})
