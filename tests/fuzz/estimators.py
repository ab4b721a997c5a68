"""Every registered method and mapping under one face: make it, fit it, ask it."""

import contextlib
import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from zslearn.autoencoder import SemanticAutoencoder, SemanticAutoencoderCV
from zslearn.cluster import make_mapping
from zslearn.cluster.registry import MAPPINGS
from zslearn.datasets import make_zero_shot
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, make_classifier
from zslearn.zero_shot.registry import METHODS

AUTOENCODERS = {"autoencoder": SemanticAutoencoder, "autoencoder-cv": SemanticAutoencoderCV}
CALIBRATED = {"calibrated sae": "sae", "calibrated prototypes": "prototype-regression"}
CLASSIFIERS = [*METHODS, *CALIBRATED]
#: Every kind of estimator that is fitted on numbers, by its name.
KINDS = [*CLASSIFIERS, *(f"mapping {name}" for name in MAPPINGS), *AUTOENCODERS]


@dataclass(frozen=True)
class Problem:
    """Training rows, new rows, and the table of classes."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    names: np.ndarray
    S: np.ndarray

    def scaled(self, X=1.0, S=1.0):
        """Return the problem with features, signatures or both in another unit."""
        return replace(self, X=self.X * X, new=self.new * X, S=self.S * S)

    def renamed(self, names):
        """Return the problem with other names of the classes, in the order of the table."""
        places = {name: place for place, name in enumerate(self.names.tolist())}
        y = names[[places[label] for label in self.y.tolist()]]
        return replace(self, y=y, names=names)

    @property
    def semantics(self):
        """One signature per training row."""
        places = {name: place for place, name in enumerate(self.names.tolist())}
        return self.S[[places[label] for label in self.y.tolist()]]


@cache
def problem(seed=0):
    """Return a small problem: nine seen classes, three unseen ones, six samples of each."""
    data = make_zero_shot(9, 3, n_per_class=6, n_features=10, n_dimensions=6, random_state=seed)
    rows = data.rows(data.split("standard").seen)
    return Problem(
        data.X[rows], data.y[rows], data.X, data.signatures.names, data.signatures.vectors
    )


def takes_norms(kind):
    """Say whether features and signatures may be left as they are."""
    return kind in CLASSIFIERS and not kind.startswith("legacy")


def made(kind, given, *, norms=True):
    """Return an unfitted estimator of one kind for a problem."""
    plain = {} if norms else {"feature_norm": None, "signature_norm": None}
    table = Signatures(given.names, given.S)
    if kind in CALIBRATED:
        return CalibratedStacking(make_classifier(CALIBRATED[kind], table, **plain))
    if kind in METHODS:
        return make_classifier(kind, table, **plain)
    if kind in AUTOENCODERS:
        return AUTOENCODERS[kind]()
    # By default 1,440 pairs are gone through 500 times.
    return make_mapping("itml", n_pairs=60) if kind == "mapping itml" else make_mapping(kind[8:])


def fitted(kind, given, *, norms=True):
    """Return an estimator fitted to a problem."""
    target = given.semantics if kind in AUTOENCODERS else given.y
    return made(kind, given, norms=norms).fit(given.X, target)


def answers(model, given):
    """Return scores of all classes, in the order of the table, or codes."""
    if not hasattr(model, "decision_function"):
        return model.transform(given.new)
    return model.decision_function(given.new, given.names.tolist())


@contextlib.contextmanager
def quiet():
    """Numpy says that something overflowed before zslearn says what."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
