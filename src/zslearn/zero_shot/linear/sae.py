"""The semantic autoencoder as a zero-shot classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from zslearn._declared import fallbacks, fitted, parameter, search_space
from zslearn._parameters import Constraint, Either, Number, Numbers
from zslearn.core.fitting import fit_method
from zslearn.core.learner import FoldedMoments
from zslearn.core.linear_maps import RELATIVE_LAMS, autoencoder_equation, checked_lams, unit_lam
from zslearn.core.moments import Moments
from zslearn.core.nearest import (
    METRICS,
    Comparison,
    Direction,
    Metric,
    Targets,
    class_vectors,
    ready_queries,
)
from zslearn.core.paths import fold_accuracy
from zslearn.core.rows import checked_weights, without_weightless
from zslearn.core.sylvester import Method
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import announced_classes, as_signatures, check_announced, is_cv
from zslearn.zero_shot.moment_classifier import MomentClassifier
from zslearn.zero_shot.scoring import Branch, LinearForm
from zslearn.zero_shot.search import Choice, Point, choose
from zslearn.zero_shot.tags import ZeroShotTags

DIRECTIONS = ("decode", "encode", "both")
WAYS: tuple[Direction, Direction] = ("encode", "decode")
# What is compared, by the parameter `direction`.
WAYS_OF: dict[str, tuple[Direction, ...]] = {
    "encode": ("encode",),
    "decode": ("decode",),
    "both": WAYS,
}
LAM_PER_DIRECTION = Constraint(
    "a dict of positive numbers for 'encode' and 'decode'",
    lambda value: (
        isinstance(value, Mapping)
        and set(value) == set(WAYS)
        and all(map(Number(above=0).allows, value.values()))
    ),
)


def _takes_batches(classifier: SAEClassifier) -> bool:
    """Say whether `partial_fit` exists: λ must be given, because choosing it needs all the data."""
    if classifier.signatures is None or is_cv(classifier.lam):
        raise AttributeError(
            "partial_fit needs signatures= and a number for lam; with lam='cv' use fit on all "
            "data, or choose λ on a part of it first."
        )
    return True


class SAEClassifier(MomentClassifier):
    """Zero-shot classification with the semantic autoencoder.

    W solves ``A W + λ W G = (1 + λ) C`` (eq. 7 of Kodirov, Xiang and Gong, CVPR 2017). A sample is
    encoded to the semantic space and compared with the candidates' signatures, or the signatures
    are decoded to the feature space and compared with the sample. The decoder is almost always
    the better of the two, and the two need different λ.

    Parameters
    ----------
    lam : "cv", float or dict, default="cv"
        The paper's λ, for features and signatures normalized as below. "cv" chooses it for each
        direction by holding out classes of the training data (samples, with one-hot signatures);
        ``{"encode": ..., "decode": ...}`` gives each direction its own.
    direction : {"decode", "encode", "both"}, default="decode"
        Where to compare; "both" averages the two scores.
    metric : {"cosine", "euclidean", "dot"}, default="cosine"
        How to compare.
    lams : array-like of shape (n_lams,), optional
        Values of λ to try; by default 30 values spread over the scale of the data.
    solver : {"auto", "spectral", "tridiagonal"}, default="auto"
        See `zslearn.autoencoder.SemanticAutoencoder`.

    Attributes
    ----------
    lam_ : dict
        λ used by each direction, ``{"encode": ..., "decode": ...}``.
    coef_encode_, coef_decode_ : ndarrays of shape (n_dimensions, n_features)
        W of each direction.
    cv_results_ : dict or None
        Per-class accuracy of every λ on held-out classes, with scikit-learn's keys; None where λ
        was not searched. With ``direction="both"`` the entries of `params` name the direction.
    best_params_ : dict
        What was taken for `lam`, if it was left to "cv".
    folds_ : list of ndarray
        Classes held out in each fold.

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> from zslearn.zero_shot import SAEClassifier
    >>> animals = load_animals()
    >>> split = animals.split("proposed")
    >>> seen, unseen = animals.rows(split.seen), animals.rows(split.unseen)
    >>> clf = SAEClassifier(animals.signatures, lam=1.0).fit(animals.X[seen], animals.y[seen])
    >>> accuracy = clf.score(animals.X[unseen], animals.y[unseen], candidates="unseen")
    >>> accuracy > 0.4
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        reference="Kodirov, Xiang & Gong, CVPR 2017"
    )
    lam: float | str | Mapping[str, float] = parameter(
        default="cv",
        allowed=Either(Number(above=0), LAM_PER_DIRECTION),
        tried=RELATIVE_LAMS.tolist(),
        fallback=0.2,  # of the authors' demos
    )
    direction: str = parameter(default="decode", allowed=Either(*DIRECTIONS))
    metric: Metric = parameter(default="cosine", allowed=Either(*METRICS))
    lams: ArrayLike | None = parameter(default=None, allowed=Either(None, Numbers(Number(above=0))))
    solver: Method = parameter(default="auto", allowed=Either("auto", "spectral", "tridiagonal"))
    coef_encode_: NDArray = fitted("k d")
    coef_decode_: NDArray = fitted("k d")
    lam_: dict[str, float] = fitted()
    _moments: Moments | None = fitted()
    _announced: NDArray | None = fitted()

    @available_if(_takes_batches)
    @fit_method
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> SAEClassifier:
        """Add a batch to all batches given since the last `fit` and solve again.

        Any batching gives the model of one fit on all rows. λ must be a number, because choosing it
        needs all the data. A batch that is refused leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.
        classes : array-like of shape (n_classes,), optional
            Every class that any batch will have, as scikit-learn asks for it; may be left out after
            the first batch, and must stay the same. The first batch may then have one class alone,
            and other labels are refused. Without it classes may appear at any time, those of
            `add_classes` too.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample, at least 0.

        Returns
        -------
        SAEClassifier
            The updated classifier.
        """
        # A `fit` since then has dropped the moments, and a new series of batches begins.
        known: Moments | None = vars(self).get("_moments")
        first = known is None
        X, labels = self._validated(X, y, reset=first, several=first and classes is None)
        before = None if first else vars(self).get("_announced")
        announced = announced_classes(classes, before, as_signatures(self.signatures))
        check_announced(labels, announced)
        rows, weights = self._normalized_features(X), None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, len(labels))
            rows, labels, weights = without_weightless(rows, labels, weights)
        batch = Moments.of(rows, labels, sample_weight=weights)
        # Classes added since the last batch stay.
        table = None if known is None else self.signatures_
        least = 2 if announced is None else 1
        self._learn_named(batch if known is None else known + batch, table, least)
        self._announced = announced
        return self

    def _learn_named(
        self, folded: FoldedMoments | Moments, table: Signatures | None, least: int = 2
    ) -> Self:
        super()._learn_named(folded, table, least)
        # Further batches can be added only to plain moments.
        self._moments = folded if isinstance(folded, Moments) else None
        return self

    def _chooses(self) -> bool:
        return is_cv(self.lam)

    def _learn(self, folded: FoldedMoments) -> None:
        self._moments = self._announced = None
        named = [self.seen_classes_[part.classes] for part in folded.parts]
        self.folds_ = named if folded.has_folds else []
        self._choose_lam(folded)
        # S Sᵀ W + λ W X Xᵀ = (1 + λ) S Xᵀ (eq. 7 of the paper, where samples are columns),
        # decomposed once for the λ of both directions.
        equation = autoencoder_equation(
            folded.total, self.seen_signatures_, max(self.lam_.values()), self.solver
        )
        self.coef_encode_ = folded.lifted(equation.coef(self.lam_["encode"]))
        same = self.lam_["encode"] == self.lam_["decode"]
        decode = self.coef_encode_ if same else folded.lifted(equation.coef(self.lam_["decode"]))
        self.coef_decode_ = decode

    @property
    def coef_(self) -> NDArray:
        """W of the direction in use (of the decoder when both are)."""
        return self.coef_encode_ if self.direction == "encode" else self.coef_decode_

    def represent(self, rows: Features) -> dict[Direction, Features]:
        queries = {}
        for way in WAYS_OF[self.direction]:
            mapped = self.encode_rows(rows) if way == "encode" else rows
            # Samples of unit length are ready in feature space as they are; their codes are not.
            ready = way == "decode" and self.feature_norm == "l2"
            queries[way] = mapped if ready else ready_queries(mapped, Comparison.of(self.metric))
        return queries

    def prepare(self, names: NDArray, vectors: NDArray) -> dict[Direction, Targets]:
        S, targets = self._unit_signatures(names, vectors), {}
        for way in WAYS_OF[self.direction]:
            rows = S if way == "encode" else class_vectors(S, self.coef_decode_)
            targets[way] = Targets.of(rows, self.metric)
        return targets

    def compare(
        self, queries: Mapping[Direction, Features], classes: Mapping[Direction, Targets]
    ) -> NDArray:
        parts = [classes[way].scores_of_ready(query) for way, query in queries.items()]
        # Scores of both directions are of one metric, so their mean is taken.
        return parts[0] if len(parts) == 1 else (parts[0] + parts[1]) / 2

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        s = self._unit_signatures([name], vector[None])[0]
        split = Comparison.of(self.metric).split
        maps = {"encode": self.coef_encode_, "decode": self.coef_decode_}
        parts = [split(rows[0], s, maps[way], way) for way in WAYS_OF[self.direction]]
        contributions = np.mean([part for part, _ in parts], axis=0)
        offset = float(np.mean([rest for _, rest in parts]))
        return Explanation.of(self.signatures_.dimensions, contributions, offset)

    def linear_form(self, classes: Mapping[Direction, Targets]) -> LinearForm:
        coefs = {"encode": self.coef_encode_, "decode": None}
        branches = tuple(Branch(coefs[way], targets) for way, targets in classes.items())
        return LinearForm(branches, self.feature_norm)

    def encode_rows(self, rows: Features) -> NDArray:
        return np.asarray(rows @ self.coef_encode_.T.astype(rows.dtype))

    def _choose_lam(self, folded: FoldedMoments) -> None:
        """Set `lam_` and what it was chosen by."""
        self.cv_results_: dict[str, Any] | None = None
        self.best_params_: dict[str, Any] = {}
        if not is_cv(self.lam):
            given = self.lam if isinstance(self.lam, Mapping) else dict.fromkeys(WAYS, self.lam)
            self.lam_ = {way: float(given[way]) for way in WAYS}
            return
        if folded.has_folds:
            self._search_lam(folded)
        else:
            value = fallbacks(self)["lam"] * unit_lam(folded.total, self.seen_signatures_)
            self.lam_ = dict.fromkeys(WAYS, value)
        both = self.direction == "both"
        self.best_params_ = {"lam": dict(self.lam_) if both else self.lam_[self.direction]}

    def _search_lam(self, folded: FoldedMoments) -> None:
        """Choose λ of both directions, whose curves share all but a few products."""
        if self.lams is None:
            scale_free = np.array(search_space(self)["lam"])
            lams = scale_free * unit_lam(folded.total, self.seen_signatures_)
        else:
            lams = checked_lams(self.lams)

        def decode(train: Moments, seen: NDArray, rows: NDArray) -> NDArray:
            equation = autoencoder_equation(train, seen, float(lams.max()), self.solver)
            return equation.prototypes(rows, lams)

        # The decoder's prototypes give the encoder's scores too: x·(Wᵀ s_c) = (W x)·s_c.
        rules = [(way, self.metric) for way in WAYS]
        folds = range(len(folded.parts))
        curves = [
            fold_accuracy(folded, fold, self.seen_signatures_, decode, rules) for fold in folds
        ]
        points: list[Point] = [{"lam": float(lam)} for lam in lams]
        # Each direction has a best λ of its own.
        found: dict[str, Choice] = {
            way: choose(points, folds, [curve[rule] for curve in curves].__getitem__)
            for rule, way in enumerate(WAYS)
        }
        self.lam_ = {way: found[way].best_params["lam"] for way in WAYS}
        if self.direction == "both":
            named = [{"direction": way, **point} for way in WAYS for point in points]
            self.cv_results_ = choose(named, folds, lambda fold: curves[fold].ravel()).cv_results
        else:
            self.cv_results_ = found[self.direction].cv_results
