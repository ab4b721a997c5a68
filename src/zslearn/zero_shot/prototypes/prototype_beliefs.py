"""Where prototype regression believes a class to lie: by its description, by samples, by both."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from zslearn._declared import fitted
from zslearn.core.kernels import (
    SignatureKernel,
    SignatureKernels,
    deviations_from_mean,
    terms_with_roots,
    walk_contributions,
)
from zslearn.core.moments import class_sums
from zslearn.core.nearest import row_blocks, unit_rows
from zslearn.core.posterior_prototypes import (
    PrototypeSpace,
    adapt,
    informed_priors,
    known_probabilities,
    label_next,
    posterior_prototypes,
)
from zslearn.core.rows import signed_power
from zslearn.core.threads import ForkSafeLock
from zslearn.exceptions import InvalidInputError, ZslearnWarning, closest_name
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import one_row
from zslearn.zero_shot.moment_classifier import MomentClassifier
from zslearn.zero_shot.teaching import Adaptation, Evidence, Suggestion, Teachable

# Held while what is known of some classes is exchanged for more.
_learning = ForkSafeLock()
# Learned only where signatures guess means.
LEANING = ("leaning_", "guesses_", "guess_center_")


class Known(NamedTuple):
    """Where classes lie by all that is known of them, in the whitened space.

    Attributes
    ----------
    points : ndarray of shape (n_classes, n_features)
        Their prototypes.
    priors : ndarray of shape (n_classes, n_features)
        What they would be without samples of their own.
    trust : ndarray of shape (n_classes,)
        Share of the prior in the prototype.
    worth : ndarray of shape (n_classes,)
        How many labeled samples all that is worth.
    offsets : ndarray of shape (n_classes,)
        What is added to their scores.
    """

    points: NDArray
    priors: NDArray
    trust: NDArray
    worth: NDArray
    offsets: NDArray


class Belief(NamedTuple):
    """One class as a sum of parts: a prototype ``Σ u_i b_i`` whose u move with the signature.

    Attributes
    ----------
    parts : ndarray of shape (n_parts, n_dimensions)
        b: seen means; what samples of taught classes added to their descriptions; guesses of the
        seen means; the guess of this class; the mean of its own samples.
    regressions : list of ndarrays of shape (n_signatures, n_parts)
        What each kernel, against the signatures of seen and taught classes, adds to u.
    line : pair of ndarrays of shape (n_parts,)
        u₀, which does not move, and u₁, which goes straight from 0 to its value.
    weights : ndarray of shape (n_parts,)
        u.
    owners : ndarray of int of shape (n_parts,)
        Which of `voices` each part belongs to.
    voices : list of str
        Who speaks: seen classes, taught classes, the class itself.
    signatures : ndarray of shape (n_signatures, n_dimensions)
        Of the seen and the taught classes.
    offset : float
        What is added to the score.
    """

    parts: NDArray
    regressions: list[NDArray]
    line: tuple[NDArray, NDArray]
    weights: NDArray
    owners: NDArray[np.intp]
    voices: list[str]
    signatures: NDArray
    offset: float


class PrototypeBeliefs(Teachable, MomentClassifier):
    """What prototype regression knows of classes after its fit, and what it learns from samples.

    The fit leaves the whitened space (`space_`), the kernels on signatures and the regressions on
    them. A prototype is predicted from a signature, informed by samples of similar classes, and
    moved by samples of its own.
    """

    power_: float = fitted()
    dual_gram_: NDArray = fitted("c c")
    dual_shift_: NDArray = fitted("c")
    dual_coef_: NDArray = fitted("c d")
    kernels_: NDArray = fitted("b 2")
    regression_: NDArray = fitted("b c c")
    kernel_scales_: NDArray = fitted("2 s")
    lean_: float = fitted("optional ")
    leaning_: NDArray = fitted("optional b c c")
    guesses_: NDArray = fitted("optional c d")
    guess_center_: NDArray = fitted("optional d")
    space_: PrototypeSpace = fitted()
    evidence_: Evidence = fitted()
    adapted_: Evidence = fitted()
    undescribed_: NDArray = fitted()
    seen_prototypes_: str = fitted()

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        s = self._unit_signatures([name], vector[None])[0]
        belief = self._belief(name, vector)
        answers, gram = self._products(belief, rows)
        score = answers @ belief.weights - 0.5 * (belief.weights @ gram @ belief.weights)
        terms = terms_with_roots(
            belief.signatures,
            self._blocks_of(),
            self.kernel_scales_,
            self.kernels_,
            len(self.seen_signatures_),
        )
        both, mean = walk_contributions(
            np.append(s, signed_power(s, 0.5)),
            list(zip(terms, belief.regressions, strict=True)),
            answers,
            gram,
            belief.line,
        )
        parts = both[: len(s)] + both[len(s) :]  # a dimension and its root belong together
        if belief.line[1].any():
            # The guess moves straight: each number of it adds its way times the mean slope.
            way = belief.line[1].max() * self.lean_
            guess = self._guesses(vector[None], self.power_)[0] - self.guess_center_
            left = self.space_.whitened(self.represent(rows)) - mean @ belief.parts
            parts = parts + way * guess * self.space_.whitening.pulled_back(left)[0]
        # The offset is the score of the mean of the seen signatures and their roots.
        offset = float(score + belief.offset - parts.sum())
        plain = SignatureKernel(self.seen_signatures_, self._blocks_of(), (), 1.0)
        deviations = deviations_from_mean(s, plain)
        why = Explanation.of(self.signatures_.dimensions, parts, offset, deviations)
        return replace(why, note=self._note(name))

    def explain_by_class(self, x: ArrayLike, name: Any) -> Explanation:
        """Return which seen classes speak for a class: what each adds to the score of a sample.

        Easier to read than `explain` where dimensions have no meaning of their own, as those of
        word vectors and text encoders.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            One sample.
        name : class name
            The class whose score is explained.

        Returns
        -------
        Explanation
            Contributions of the seen classes that sum, with the offset, to the score; where there
            are any, also of its own description as a guess, of its own samples, and of samples that
            were added of other classes.
        """
        (known,) = self.candidate_names([name])
        belief = self._belief(known, self._raw_signatures(np.array([known]))[0])
        answers, gram = self._products(belief, self.check_rows(one_row(x)))
        said = np.bincount(belief.owners, belief.weights * answers, len(belief.voices))
        offset = belief.offset - 0.5 * float(belief.weights @ gram @ belief.weights)
        return replace(Explanation.of(belief.voices, said, offset), note=self._note(known))

    def _products(self, belief: Belief, rows: Features) -> tuple[NDArray, NDArray]:
        """Return products of one sample with the parts of a class, and of these with another."""
        sample, n = self.represent(rows), len(self.dual_gram_)
        answers = np.asarray(sample @ self.dual_coef_.T)[0] - self.dual_shift_
        if len(belief.weights) == n:
            return answers, self.dual_gram_
        others = belief.parts[n:]
        gram = belief.parts @ belief.parts.T
        gram[:n, :n] = self.dual_gram_
        return np.append(answers, self.space_.whitened(sample)[0] @ others.T), gram

    def _note(self, name: Any) -> str:
        """Say what a class is known by."""
        if not hasattr(self, "space_"):
            return ""
        (weight,), _, _ = self.evidence_.of(np.array([name]))
        if not weight and name in self.seen_classes_:
            return ""
        by = f"the description counts as {self.kappa_:.3g} samples"
        if name in self.undescribed_:
            by = "there is no description"
        added = (
            f"{weight:.4g} {'was' if weight == 1 else 'were'} added"
            if weight
            else "none were added"
        )
        return f"{by}; {added}"

    def familiarity(self, queries: Features, names: NDArray, vectors: NDArray) -> NDArray | None:
        if not hasattr(self, "space_"):  # of an older file
            return None
        known = self._known(np.asarray(names), vectors)
        return self.space_.novelty.ratios(self.space_.whitened(queries), known.points)

    def _moved(self) -> bool:
        """Whether prototypes are more than what `regression_` predicts from signatures."""
        if not hasattr(self, "space_"):
            return False
        posterior = self.seen_prototypes_ == "posterior"
        return bool(posterior or self.lean_ or len(self.evidence_) or len(self.adapted_))

    def _kernels(self, S: NDArray, others: NDArray) -> list[NDArray]:
        """Every kernel in use between two lists of normalized signatures."""
        distances = self._signature_kernels().between(S, others)
        return [distances.kernel(int(n), float(width)) for n, width in self.kernels_]

    def _mixtures(self, S: NDArray) -> NDArray:
        """Weights of the seen means in the prototypes of signatures, one row for each."""
        kernels = self._kernels(S, self.seen_signatures_)
        mixed: NDArray = sum(k @ R for k, R in zip(kernels, self.regression_, strict=True))
        return mixed

    def _predicted(self, names: NDArray, vectors: NDArray) -> NDArray:
        """Prototypes from descriptions alone, of shape (n_classes, n_features), whitened."""
        S = self._unit_signatures(names, vectors)
        prototypes = self._mixtures(S) @ self.space_.means
        if self.lean_:
            kernels = self._kernels(S, self.seen_signatures_)
            mixed: NDArray = sum(k @ R for k, R in zip(kernels, self.leaning_, strict=True))
            guesses = self._guesses(vectors, self.power_) - self.guess_center_
            prototypes += self.lean_ * self.space_.whitening.applied(guesses)
            prototypes -= mixed @ self.guesses_
        prototypes[np.isin(names, self.undescribed_)] = 0.0
        return prototypes

    def _known(self, names: NDArray, vectors: NDArray) -> Known:
        """Return where classes given by name and raw signature lie."""
        space, priors = self.space_, self._predicted(names, vectors)
        undescribed = np.isin(names, self.undescribed_)
        seen = np.isin(names, self.seen_classes_)
        taught, observed = self._observed()
        if len(taught):
            places = np.minimum(np.searchsorted(taught, names), len(taught) - 1)
            own = np.where(taught[places] == names, places, -1)
            misses, noise, C = self._misses(taught, observed)
            k = self._covariances(self._unit_signatures(names, vectors), taught)
            informed = informed_priors(priors, np.vstack([C, k]), noise, misses, own)
            priors = np.where((undescribed | seen)[:, None], priors, informed)
        weights, sums, offsets = self.evidence_.of(names)
        kappa = np.where(undescribed, space.kappa_undescribed, space.kappa)
        place = np.searchsorted(self.seen_classes_, names[seen])
        if self.seen_prototypes_ == "posterior":
            weights[seen] += space.counts[place]
            sums[seen] += space.counts[place, None] * space.means[place]
        else:  # the samples of the fit are in the prediction already
            kappa[seen] += space.counts[place]
        worth = kappa + weights
        more, moved, preferred = self.adapted_.of(names)
        points = posterior_prototypes(priors, sums + moved, weights + more, kappa)
        trust = 1.0 / (1.0 + (weights + more) / kappa)
        return Known(points, priors, trust, worth, offsets + preferred)

    def _observed(self) -> tuple[NDArray, NDArray]:
        """Return described classes outside the fit that have samples, and the means of these."""
        evidence = self.evidence_
        left_out = np.concatenate([self.seen_classes_, self.undescribed_])
        kept = ~np.isin(evidence.names, left_out) & (evidence.weights > 0)
        if not np.isfinite(self.space_.kappa):  # samples say nothing
            kept[:] = False
        return evidence.names[kept], evidence.sums[kept] / evidence.weights[kept, None]

    def _misses(self, taught: NDArray, observed: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """By how much descriptions of taught classes were off, and how far that can be trusted."""
        vectors = self._raw_signatures(taught)
        left_open, alone = self.space_.variances
        weights, _, _ = self.evidence_.of(taught)
        # In units of the kernel: γ, and tr W / n where the error of a description is `left_open`.
        noise = alone - 1.0 + self.space_.kappa * left_open / weights
        C = self._covariances(self._unit_signatures(taught, vectors), taught)
        return observed - self._predicted(taught, vectors), noise, C

    def _covariances(self, S: NDArray, taught: NDArray) -> NDArray:
        """Covariance of the errors of descriptions with those of taught classes."""
        T = self._unit_signatures(taught, self._raw_signatures(taught))
        known = self.seen_signatures_
        lists = self._kernels(S, T), self._kernels(S, known), self._kernels(T, known)
        parts = zip(*lists, self.space_.kernel_shares, self.regression_, strict=True)
        total: NDArray = sum(share * both - s @ R @ t.T for both, s, t, share, R in parts)
        return total

    def _belief(self, name: Any, vector: NDArray) -> Belief:
        """Return the prototype of one class as a sum, for explanations."""
        names, n = np.array([name]), len(self.seen_classes_)
        S, seen = self._unit_signatures(names, vector[None]), self.seen_signatures_
        voices, owners = [str(label) for label in self.seen_classes_], np.arange(n)
        if not self._moved():
            still = np.zeros(n)
            weights = self._mixtures(S)[0]
            nothing = np.empty((n, 0))
            return Belief(
                nothing, [*self.regression_], (still, still), weights, owners, voices, seen, 0.0
            )
        known = self._known(names, vector[None])
        trust = 0.0 if name in self.undescribed_ else float(known.trust[0])
        taught, observed = self._observed()
        # No class is informed by itself, nor one of the fit by others.
        others = (taught != name) & (name not in self.seen_classes_)
        taught, observed = taught[others], observed[others]
        T, H, misses = S[:0], np.zeros((0, 0)), np.zeros((0, len(self.space_.center)))
        if len(taught):
            T = self._unit_signatures(taught, self._raw_signatures(taught))
            misses, noise, C = self._misses(taught, observed)
            H = np.linalg.inv(C + np.diag(noise))
        guesses = self.guesses_ if self.lean_ else misses[:0]
        guess = misses[:0]
        if self.lean_:
            moved = self._guesses(vector[None], self.power_) - self.guess_center_
            guess = self.lean_ * self.space_.whitening.applied(moved)
        rest = known.points - trust * known.priors if trust < 1.0 else guess[:0]
        parts = np.vstack([self.space_.means, misses, guesses, guess, rest])
        ends = np.cumsum([n, len(T), len(guesses), len(guess), len(rest)])
        regressions, weights = [], np.zeros(len(parts))
        lists = self._kernels(S, np.vstack([seen, T])), self._kernels(T, seen)
        for number, (k, t) in enumerate(zip(*lists, strict=True)):
            R, share = self.regression_[number], self.space_.kernel_shares[number]
            block = np.zeros((n + len(T), len(parts)))
            block[:n, :n] = R
            block[:n, n : ends[1]] = -(R @ t.T) @ H
            block[n:, n : ends[1]] = share * H
            if self.lean_:
                block[:n, ends[1] : ends[2]] = -self.leaning_[number]
            regressions.append(trust * block)
            weights += k[0] @ regressions[-1]
        start, way = np.zeros(len(parts)), np.zeros(len(parts))
        start[ends[3] :], way[ends[2] : ends[3]] = 1.0, trust
        owners = np.concatenate([owners, n + np.arange(len(T)), np.arange(len(guesses))])
        owners = np.append(owners, n + len(T) + np.arange(len(guess) + len(rest)))
        voices += [f"samples of {label}" for label in taught]
        voices += ["its own description"] * len(guess) + ["its own samples"] * len(rest)
        return Belief(
            parts, regressions, (start, way), weights + start + way, owners, voices,
            np.vstack([seen, T]), float(known.offsets[0]),
        )  # fmt: skip

    def with_seen_prototypes(self, rule: str) -> PrototypeBeliefs:
        """Return a copy that represents seen classes by another rule, "predicted" or "posterior".

        Parameters
        ----------
        rule : str
            See the parameter `seen_prototypes`.

        Returns
        -------
        PrototypeRegression
        """
        twin = copy.copy(self)
        twin.seen_prototypes_ = rule
        return twin

    def represent_seen(self, rule: str) -> None:
        """Represent seen classes by the rule that was found better."""
        self.seen_prototypes_ = rule
        self.best_params_ = self.best_params_ | {"seen_prototypes": rule}

    @property
    def kappa_(self) -> float:
        """How many samples a description is worth."""
        if not hasattr(self, "space_"):
            raise AttributeError("kappa_ is known after a fit of this release.")
        return self.space_.kappa

    def _space(self) -> PrototypeSpace:
        """Return what the fit left for later samples, or say that an older release left nothing."""
        check_is_fitted(self)
        if not hasattr(self, "space_"):
            raise InvalidInputError(
                "this model was saved by a release that kept nothing for samples after the fit. "
                "Fit it again."
            )
        return self.space_

    def check_learned(self) -> None:
        """Refuse what a fit could not have left, as in a damaged file."""
        if not hasattr(self, "space_"):
            return
        problem = self.space_.problem(
            len(self.seen_classes_), self.n_features_in_, len(self.kernels_)
        )
        if problem is not None:
            raise InvalidInputError(problem)
        for name in ("evidence_", "adapted_"):
            evidence = getattr(self, name)
            if not isinstance(evidence, Evidence) or not evidence.fits(self.n_features_in_):
                raise InvalidInputError(f"{name} does not fit together")
            self._check_known(evidence.names, f"The file names it in {name}.")
        if self.lean_ and not all(hasattr(self, name) for name in LEANING):
            raise InvalidInputError("what prototypes lean on is missing")

    def teach(self, queries: Features, labels: NDArray, weights: NDArray | None = None) -> None:
        """Add labeled samples that `represent` made.

        Parameters
        ----------
        queries : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Samples.
        labels : ndarray of shape (n_samples,)
            Their classes.
        weights : ndarray of shape (n_samples,), optional
            Their weights.
        """
        space = self._space()
        with _learning:
            self._name_undescribed(np.unique(labels))
            total = Evidence.none(self.evidence_.names, len(space.center))
            for rows in row_blocks(queries.shape[0], queries.shape[1] * 8):
                part = None if weights is None else weights[rows]
                total = total.plus(self._evidence_of(queries[rows], labels[rows], part))
            self.evidence_ = self.evidence_.plus(total)

    def _evidence_of(self, x: Features, labels: NDArray, weights: NDArray | None) -> Evidence:
        space, found = self.space_, class_sums(x, labels, weights)
        names, counts, sums = found
        moved = space.whitening.applied(sums - counts[:, None] * space.center)
        return Evidence(names, counts, moved, np.zeros(len(names)))

    def _name_undescribed(self, names: NDArray) -> None:
        """Make classes without a signature predictable; the mean signature stands for theirs."""
        if self.signatures is None:
            remedy = "One-hot signatures know the training classes only; pass signatures=."
            self._check_known(names, remedy)
            return
        new = [name for name in names.tolist() if name not in self.signatures_]
        for name in new:
            near = closest_name(name, list(self.signatures_))
            if near is not None:
                warnings.warn(
                    f"class {name!r} has no description and is learned from its samples alone; "
                    f"did you mean {near!r}?",
                    ZslearnWarning,
                    stacklevel=6,
                )
        if new:
            mean = self._raw_signatures(self.seen_classes_).mean(axis=0)
            self.signatures_ = self.signatures_.append(dict.fromkeys(new, mean))
            added = np.array(new, dtype=self.signatures_.names.dtype)
            self.undescribed_ = np.union1d(self.undescribed_, added)

    def unteach(self, name: Any) -> None:
        """Take back the samples of a class that were added after the fit."""
        self._space()
        with _learning:
            if name not in self.evidence_.names.tolist():
                known = self.evidence_.names.tolist()
                raise InvalidInputError(
                    f"no samples of {name!r} were added after the fit"
                    + (f"; there are some of {', '.join(map(str, known[:5]))}." if known else ".")
                )
            self.evidence_ = self.evidence_.without(name)
            self.adapted_ = self.adapted_.without(name)
            if name in self.undescribed_:
                self.undescribed_ = self.undescribed_[self.undescribed_ != name]
                self.signatures_ = self.signatures_.drop([name])

    def add_classes(self, new: Signatures | Mapping[Any, ArrayLike]) -> Self:
        """Make new classes predictable; a class known by its samples alone gets its description.

        See `ZeroShotClassifier`.
        """
        undescribed = getattr(self, "undescribed_", np.empty(0)).tolist()
        described = [name for name in new if name in undescribed]
        if not described:
            return super().add_classes(new)
        table = self.signatures_
        self.signatures_ = table.drop(described)
        try:
            super().add_classes(new)
        except BaseException:
            self.signatures_ = table
            raise
        self.undescribed_ = self.undescribed_[~np.isin(self.undescribed_, described)]
        return self

    def _with_table(self, signatures: Signatures) -> Self:
        """Return a copy with other classes; those known by samples alone stay so, if unchanged."""
        twin, table = super()._with_table(signatures), self.signatures_
        if not hasattr(self, "space_"):
            return twin
        twin.undescribed_ = np.array(
            [
                name
                for name in self.undescribed_.tolist()
                if name in signatures and np.array_equal(signatures[name], table[name])
            ],
            dtype=self.undescribed_.dtype,
        )
        for name in self.evidence_.names.tolist():
            if name not in signatures:
                twin.evidence_ = twin.evidence_.without(name)
                twin.adapted_ = twin.adapted_.without(name)
        return twin

    def adapted(
        self, queries: Features, names: NDArray, temperature: float, offsets: NDArray
    ) -> tuple[PrototypeBeliefs, Adaptation]:
        """Return a copy moved to a batch without labels, and by how much.

        Parameters
        ----------
        queries : {ndarray, sparse matrix, LazyRows} of shape (n_samples, n_features)
            Samples that `represent` made.
        names : ndarray of shape (n_candidates,)
            Classes that they may be of.
        temperature : float
            What makes probabilities of scores.
        offsets : ndarray of shape (n_candidates,)
            Added to their scores by a classifier around this one.
        """
        space, twin = self._space(), copy.copy(self)
        twin.adapted_ = Evidence.none(self.evidence_.names, len(space.center))
        vectors = self._raw_signatures(names)
        known = twin._known(names, vectors)
        # Descriptions that are far from what is known are held less firmly.
        rho = self.uncertainties(names)
        with np.errstate(divide="ignore", invalid="ignore"):
            strengths = known.worth + space.kappa * (1.0 / rho - 1.0)
        described = ~np.isin(names, self.undescribed_)
        strengths = np.where(described & np.isfinite(strengths), strengths, known.worth)
        offsets = offsets + known.offsets
        found = adapt(
            queries,
            (space.whitening, space.center),
            known.points,
            strengths,
            temperature,
            offsets,
            space.miscount,
            self._known_in(queries, known.points, temperature, offsets),
        )
        # The same pull against `worth` as against `strengths`.
        with np.errstate(invalid="ignore"):
            scale = known.worth / strengths
        scale = np.where(np.isfinite(scale), scale, 1.0)
        order = np.argsort(names)
        twin.adapted_ = Evidence(
            names[order],
            (scale * found.weights)[order],
            (scale[:, None] * found.sums)[order],
            temperature * found.log_shares[order],
        )
        moved = np.linalg.norm(twin._known(names, vectors).points - known.points, axis=1)
        unit = np.sqrt(space.error) if space.error > 0 else 1.0
        return twin, Adaptation(queries.shape[0], names, found.shares, moved / unit)

    def _known_in(
        self, queries: Features, points: NDArray, temperature: float, offsets: NDArray
    ) -> NDArray | None:
        """Return the probabilities of samples to be of any of the classes at some points."""
        space, ratios = self.space_, np.empty(queries.shape[0])
        if not min(part.floor for part in space.novelty) > 0:  # nothing scatters
            return None
        constant = offsets - 0.5 * np.einsum("cd,cd->c", points, points)
        for rows in row_blocks(len(ratios), queries.shape[1] * 8):
            Z = space.whitened(queries[rows])
            answers = (Z @ points.T + constant).argmax(axis=1)
            ratios[rows] = space.novelty.ratios(Z, points)[0, np.arange(len(Z)), answers]
        return known_probabilities(ratios, temperature)

    def suggested(self, scores: NDArray, names: NDArray, temperature: float, n: int) -> Suggestion:
        """Return which samples to label next, by their scores for named candidates."""
        probabilities = softmax(scores.astype(np.float64) / temperature, axis=1)
        known = self._known(names, self._raw_signatures(names))
        kappa = self._space().kappa
        counts = np.maximum(known.worth - kappa, 0.0) if np.isfinite(kappa) else 0.0 * known.worth
        rows, worths = label_next(probabilities, counts, kappa, min(n, len(scores)))
        two = np.argsort(-probabilities[rows], axis=1, kind="stable")[:, :2]
        first = worths[0] if len(worths) and worths[0] > 0 else 1.0
        return Suggestion(rows, worths / first, names[two])

    def uncertainties(self, names: NDArray) -> NDArray:
        """Return the variance of predictions for named classes, relative to left-out seen ones."""
        space = self._space()
        S = self._unit_signatures(names, self._raw_signatures(names))
        kernels = self._kernels(S, self.seen_signatures_)
        explained: NDArray = sum(
            np.einsum("cs,cs->c", k @ R, k) for k, R in zip(kernels, self.regression_, strict=True)
        )
        left_open, alone = space.variances
        found = np.maximum(alone - explained, 0.0) / left_open
        undescribed = np.isin(names, self.undescribed_)
        if undescribed.any() and space.error > 0:
            found[undescribed] = space.between / space.error
        return found

    def _taught(self) -> PrototypeBeliefs:
        self._space()
        return self

    def _with_taught(self, method: PrototypeBeliefs) -> Self:
        return method

    def _temperature_among(self, names: NDArray) -> float:
        temperature = self._space().temperature
        if temperature is None:
            raise InvalidInputError(
                "no temperature was learned, because all parameters were given or there are too "
                "few classes for folds. Use CalibratedStacking(PrototypeRegression(...))."
            )
        return temperature

    def represent(self, rows: Features) -> Features:
        return self._powered(rows, self.power_)

    def _guesses(self, vectors: NDArray, power: float) -> NDArray:
        """Return raw signatures as samples."""
        rows = unit_rows(vectors) if self.feature_norm == "l2" else vectors
        return np.asarray(self._powered(rows, power))

    def _signature_kernels(self) -> SignatureKernels:
        return SignatureKernels(self._blocks_of(), self.kernel_scales_)

    def _blocks_of(self) -> list[slice]:
        if self.signatures is None:
            return [slice(None)]
        return list(self.signatures_.blocks.values())

    def _powered(self, X: Features, power: float) -> Features:
        """``sign(x)|x|^power``, scaled again as `feature_norm` says."""
        if power == 1.0:
            return X
        Z = signed_power(X, power)
        return unit_rows(Z) if self.feature_norm == "l2" else Z
