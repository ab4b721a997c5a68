"""The conventional and the generalized setting: what is trained, tested and measured.

A protocol makes a `Task` of a data set: rows to fit on, rows to predict, candidates. Splits come
with the data set, are given as `ClassSplit`, or are read from lists of unseen classes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._parameters import (
    Either,
    Flag,
    Instance,
    Number,
    Numbers,
    Seed,
    Whole,
    check_parameters,
)
from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingFileError,
    UnknownClassError,
)
from zslearn.metrics import (
    SeenUnseenCurve,
    harmonic_mean,
    hit_at_k,
    per_class_accuracy,
    per_sample_accuracy,
    seen_unseen_curve,
)
from zslearn.model_selection import stratified_holdout

DEFAULT_HITS = 5
SPLIT = Either(None, Instance(str, "a name"), Instance(ClassSplit, "a ClassSplit"))


@dataclass(frozen=True)
class ConventionalProtocol:
    """Train on seen classes, recognize samples of unseen ones among the unseen ones.

    Parameters
    ----------
    split : str or ClassSplit, optional
        Which split of the data set; by default "proposed" if there is one, else the first.
    hits : sequence of int, optional
        Values of k for hit@k, each at most the number of unseen classes; by default 5 if there
        are more than 5.

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> from zslearn.evaluation import ConventionalProtocol
    >>> task = ConventionalProtocol("proposed").task(load_animals())
    >>> len(task.train), len(task.test), len(task.candidates)
    (1320, 360, 6)
    """

    name: ClassVar[str] = "conventional"
    parameter_constraints: ClassVar = {"split": SPLIT, "hits": Either(None, Numbers(Whole(1)))}
    split: str | ClassSplit | None = None
    hits: Sequence[int] | None = None

    def __post_init__(self) -> None:
        check_parameters(self)

    def task(self, dataset: ZeroShotDataset) -> Task:
        """Return the rows and candidates of this protocol for a data set.

        Parameters
        ----------
        dataset : ZeroShotDataset
            Data with at least one split.

        Returns
        -------
        Task
        """
        name, split = find_split(dataset, self.split)
        seen, unseen = np.asarray(split.seen), np.asarray(split.unseen)
        return Task(
            split=name,
            train=seen_rows(dataset, split),
            test=unseen_rows(dataset, split, name),
            seen=seen,
            unseen=unseen,
            candidates=unseen,
        )

    def measure(self, task: Task, y: NDArray[Any], scores: NDArray[Any]) -> dict[str, float]:
        """Measure scores of the test rows.

        Parameters
        ----------
        task : Task
            What was predicted.
        y : ndarray of shape (n_test,)
            True class of each test row.
        scores : ndarray of shape (n_test, n_candidates)
            Score of each candidate.

        Returns
        -------
        dict
            "per_class_accuracy", "per_sample_accuracy" and for each k "hit_at_k" (over samples)
            and "hit_at_k_per_class".
        """
        predicted = task.candidates[scores.argmax(axis=1)]
        measures = {
            "per_class_accuracy": per_class_accuracy(y, predicted, classes=task.unseen),
            "per_sample_accuracy": per_sample_accuracy(y, predicted),
        }
        for k in self._hits(len(task.candidates)):
            measures[f"hit_at_{k}"] = hit_at_k(y, scores, candidates=task.candidates, k=k)
            measures[f"hit_at_{k}_per_class"] = hit_at_k(
                y, scores, candidates=task.candidates, k=k, average="class"
            )
        return measures

    def _hits(self, n_candidates: int) -> Sequence[int]:
        if self.hits is not None:
            return self.hits
        return (DEFAULT_HITS,) if n_candidates > DEFAULT_HITS else ()


@dataclass(frozen=True)
class GeneralizedProtocol:
    """Test on unseen classes mixed with held-out samples of seen ones; every class may be answered.

    Parameters
    ----------
    split : str or ClassSplit, optional
        Which split of the data set; by default "proposed" if there is one, else the first. If it
        has `test_seen` rows they are the held-out samples.
    holdout : float, default=0.2
        Share of the samples of each seen class to hold out if the split has no `test_seen` rows.
    random_state : int, default=0
        Seed of that draw; recorded with the result.
    calibrate : bool, default=True
        Whether `evaluate` also chooses a bias on the training classes (`CalibratedStacking`) and
        reports the accuracies at it. Costs one more fit for each fold.

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> from zslearn.evaluation import GeneralizedProtocol
    >>> task = GeneralizedProtocol("proposed").task(load_animals())
    >>> len(task.train), len(task.test), len(task.candidates), task.seed
    (1056, 624, 28, 0)
    """

    name: ClassVar[str] = "generalized"
    parameter_constraints: ClassVar = {
        "split": SPLIT,
        "holdout": Number(above=0, below=1),
        "random_state": Seed(),
        "calibrate": Flag(),
    }
    split: str | ClassSplit | None = None
    holdout: float = 0.2
    random_state: int = 0
    calibrate: bool = True

    def __post_init__(self) -> None:
        check_parameters(self)

    def task(self, dataset: ZeroShotDataset) -> Task:
        """Return the rows and candidates of this protocol for a data set.

        Parameters
        ----------
        dataset : ZeroShotDataset
            Data with at least one split.

        Returns
        -------
        Task
        """
        name, split = find_split(dataset, self.split)
        train, test_seen, seed = self._held_out(dataset, split)
        seen, unseen = np.asarray(split.seen), np.asarray(split.unseen)
        for rows, part in ((train, "training"), (test_seen, "held-out")):
            check_all_present(dataset.y[rows], seen, f"{part} part: seen class of split {name!r}")
        return Task(
            split=name,
            train=train,
            test=np.concatenate([test_seen, unseen_rows(dataset, split, name)]),
            seen=seen,
            unseen=unseen,
            candidates=np.concatenate([seen, unseen]),
            seed=seed,
        )

    def curve(self, task: Task, y: NDArray[Any], scores: NDArray[Any]) -> SeenUnseenCurve:
        """Return the per-class curve of seen against unseen accuracy.

        Parameters
        ----------
        task, y, scores
            As in :meth:`measure`.

        Returns
        -------
        SeenUnseenCurve
        """
        return seen_unseen_curve(y, scores, candidates=task.candidates, seen=task.seen)

    def measure(
        self,
        task: Task,
        y: NDArray[Any],
        scores: NDArray[Any],
        gamma: float | None = None,
        curve: SeenUnseenCurve | None = None,
    ) -> dict[str, float]:
        """Measure scores of the test rows, without bias and with it.

        Parameters
        ----------
        task : Task
            What was predicted.
        y : ndarray of shape (n_test,)
            True class of each test row.
        scores : ndarray of shape (n_test, n_candidates)
            Score of each candidate, without bias.
        gamma : float, optional
            A bias chosen without these rows.
        curve : SeenUnseenCurve, optional
            What :meth:`curve` returned for the same scores, if it is there already.

        Returns
        -------
        dict
            Per class "seen_accuracy", "unseen_accuracy", "harmonic_mean" and "ausuc"; the same
            with "_per_sample"; with `gamma` also "calibrated_seen_accuracy" and so on; the best
            harmonic mean any bias reaches as "oracle_harmonic_mean", which uses test labels.
        """
        curve = self.curve(task, y, scores) if curve is None else curve
        by_sample = seen_unseen_curve(
            y, scores, candidates=task.candidates, seen=task.seen, average="sample"
        )
        measures = _both_sides(task, y, scores, "")
        measures["ausuc"] = curve.area
        measures["ausuc_per_sample"] = by_sample.area
        if gamma is not None:
            biased = scores - gamma * np.isin(task.candidates, task.seen)
            measures |= {"gamma": gamma} | _both_sides(task, y, biased, "calibrated_")
        measures["oracle_harmonic_mean"] = curve.oracle.harmonic_mean
        measures["oracle_gamma"] = curve.oracle.gamma
        return measures

    def _held_out(
        self, dataset: ZeroShotDataset, split: ClassSplit
    ) -> tuple[NDArray[Any], NDArray[Any], int | None]:
        """Return training rows, held-out rows of seen classes and the seed, if one was used."""
        rows = seen_rows(dataset, split)
        if split.test_seen is not None:
            held_out = checked_rows(dataset, split.test_seen, split.seen, "test_seen", "seen")
            return rows, held_out, None
        kept, held_out = stratified_holdout(
            dataset.y[rows], share=self.holdout, random_state=self.random_state
        )
        return rows[kept], rows[held_out], self.random_state


def _both_sides(task: Task, y: NDArray[Any], scores: NDArray[Any], prefix: str) -> dict[str, float]:
    """Accuracy on each side and their harmonic mean, per class and per sample."""
    predicted = task.candidates[scores.argmax(axis=1)]
    on_seen = np.isin(y, task.seen)
    measures = {}
    for suffix, accuracy in (("", per_class_accuracy), ("_per_sample", per_sample_accuracy)):
        seen = accuracy(y[on_seen], predicted[on_seen])
        unseen = accuracy(y[~on_seen], predicted[~on_seen])
        measures[f"{prefix}seen_accuracy{suffix}"] = seen
        measures[f"{prefix}unseen_accuracy{suffix}"] = unseen
        measures[f"{prefix}harmonic_mean{suffix}"] = harmonic_mean(seen, unseen)
    return measures


@dataclass(frozen=True, eq=False)
class Task:
    """What a protocol makes of a data set; cannot exist if training and test rows overlap.

    Attributes
    ----------
    split : str
        Name of the split.
    train, test : ndarray of int
        Rows to fit on and rows to predict, without a common one.
    seen, unseen : ndarray
        Classes with and without training rows.
    candidates : ndarray
        Classes allowed as answers.
    seed : int or None
        Seed by which held-out rows of seen classes were drawn; None if nothing was drawn.
    unknown : ndarray
        Classes with test rows that are neither trained nor candidates; none but in the open
        protocol.
    """

    split: str
    train: NDArray[Any]
    test: NDArray[Any]
    seen: NDArray[Any]
    unseen: NDArray[Any]
    candidates: NDArray[Any]
    seed: int | None = None
    unknown: NDArray[Any] = field(default_factory=lambda: np.array([], dtype=str))

    def __post_init__(self) -> None:
        for part in ("train", "test"):
            if not len(getattr(self, part)):
                raise InvalidInputError(f"split {self.split!r} has no {part} rows.")
        both = np.intersect1d(self.train, self.test)
        if both.size:
            raise InvalidInputError(
                f"row {both[0]} (and {both.size - 1} more) is both fitted and tested; training "
                "and test rows must be disjoint."
            )


def find_split(dataset: ZeroShotDataset, split: str | ClassSplit | None) -> tuple[str, ClassSplit]:
    """Return the split a protocol asks for, with its name.

    None takes "proposed" if the data set has it, because its unseen classes are unknown to
    networks trained on ImageNet, and otherwise the first split.
    """
    if not len(dataset.y):
        raise InvalidInputError(
            f"data set {dataset.name!r} was loaded without features; load it with them to evaluate."
        )
    if isinstance(split, ClassSplit):
        return _name_of(dataset, split), split
    if split is None:
        if not dataset.splits:
            raise InvalidInputError(
                f"data set {dataset.name!r} has no split; pass split=ClassSplit(seen, unseen)."
            )
        split = "proposed" if "proposed" in dataset.splits else next(iter(dataset.splits))
    if not isinstance(split, str):
        raise InvalidTypeError(f"split must be a name or a ClassSplit; got {type(split).__name__}.")
    return split, dataset.split(split)


def _name_of(dataset: ZeroShotDataset, split: ClassSplit) -> str:
    """Name a split that was passed as an object."""
    for name, known in dataset.splits.items():
        if known is split:
            return name
    return "custom"


def seen_rows(dataset: ZeroShotDataset, split: ClassSplit) -> NDArray[Any]:
    """Return the rows of seen classes that may be trained on."""
    return checked_rows(dataset, dataset.train_rows(split), split.seen, "train", "seen")


def unseen_rows(dataset: ZeroShotDataset, split: ClassSplit, name: str) -> NDArray[Any]:
    """Return the test rows of unseen classes, each of which must have one."""
    rows = checked_rows(dataset, dataset.test_rows(split), split.unseen, "test_unseen", "unseen")
    check_all_present(dataset.y[rows], split.unseen, f"unseen class of split {name!r}")
    return rows


def checked_rows(
    dataset: ZeroShotDataset, rows: Any, classes: Any, part: str, side: str
) -> NDArray[Any]:
    """Refuse rows of a split of the user's own that do not exist or are of the other side."""
    rows = np.asarray(rows)
    if len(rows) and rows.max() >= len(dataset.y):
        raise InvalidInputError(
            f"{part} rows of the split go up to {rows.max()}; there are {len(dataset.y)} rows."
        )
    foreign = rows[~np.isin(dataset.y[rows], classes)]
    if foreign.size:
        raise InvalidInputError(
            f"{part} row {foreign[0]} is of class {dataset.y[foreign].tolist()[0]!r}, which is not "
            f"among the {side} classes of the split."
        )
    return rows


def check_all_present(y: NDArray[Any], classes: Any, what: str) -> None:
    """Refuse classes without a test row: they have no accuracy, and 0 would be wrong."""
    absent = np.setdiff1d(classes, y)
    if absent.size:
        raise InvalidInputError(
            f"{what} {absent.tolist()[0]!r} (and {absent.size - 1} more) has no test row, so its "
            "accuracy does not exist. Leave it out of the split."
        )


def read_class_splits(
    paths: Iterable[str | os.PathLike[str]], classes: ArrayLike
) -> dict[str, ClassSplit]:
    r"""Read splits from text files, one unseen class per line.

    Parameters
    ----------
    paths : iterable of path-like
        One UTF-8 file per split. Empty lines and lines that start with ``#`` are skipped.
    classes : array-like of shape (n_classes,)
        All classes of the data set; those not in a file are seen in its split.

    Returns
    -------
    dict of str to ClassSplit
        The splits by the names of their files without ending, in the order given.

    Raises
    ------
    MissingFileError
        If a file is not there.
    InvalidInputError
        If a file is empty, names a class twice, lists every class, or an unknown one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from zslearn.evaluation import read_class_splits
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "split1.txt")
    ...     _ = path.write_text("fox\n", encoding="utf-8")
    ...     read_class_splits([path], ["bat", "cow", "fox"])
    {'split1': ClassSplit(2 seen, 1 unseen)}
    """
    labels = np.asarray(classes)
    by_text = {str(label): label for label in labels.tolist()}
    splits: dict[str, ClassSplit] = {}
    for path in map(Path, paths):
        if path.stem in splits:
            raise InvalidInputError(f"two files are called {path.stem!r}; rename one.")
        splits[path.stem] = _split(path, by_text)
    if not splits:
        raise InvalidInputError("paths is empty; give at least one file of unseen classes.")
    return splits


def _split(path: Path, by_text: dict[str, object]) -> ClassSplit:
    """Read one file."""
    names = _names(path)
    unknown = [name for name in names if name not in by_text]
    if unknown:
        raise UnknownClassError(unknown, list(by_text), f"Correct the name in {path.name}.")
    unseen = [by_text[name] for name in names]
    listed = set(names)
    seen = [label for text, label in by_text.items() if text not in listed]
    if not unseen or not seen:
        raise InvalidInputError(
            f"{path.name} lists {len(unseen)} of {len(by_text)} classes; at least one must be "
            "unseen and one seen."
        )
    return ClassSplit(seen=seen, unseen=unseen)


def _names(path: Path) -> list[str]:
    """Return the lines that are class names."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no file {path}; give a list of classes.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not UTF-8 text: {error}.") from error
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
