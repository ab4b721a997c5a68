"""One door to every kind of data set."""

from __future__ import annotations

import os
from pathlib import Path

from zslearn._files import read_names
from zslearn._tables import ENDINGS as TABLES
from zslearn.datasets.animals import load_animals
from zslearn.datasets.awa import feature_folders, load_awa
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.datasets.imagenet import load_imagenet
from zslearn.datasets.sae_demo import load_sae_demo
from zslearn.datasets.table import ENDINGS, load_table, table_columns
from zslearn.datasets.xlsa17 import feature_files, load_xlsa17
from zslearn.exceptions import InvalidInputError, MissingFileError

_LOOKED_FOR = """\
- an xlsa17 folder: att_splits.mat and a feature file such as res101.mat
- an Animals with Attributes folder: classes.txt, predicates.txt, predicate-matrix-*.txt
- a .mat file of the semantic autoencoder's demos: X_tr, X_te, S_tr, S_te_pro
- a large data set: X.npy, y.npy, signatures.npz, seen.txt, unseen.txt
- a folder of your own: features.npy, .npz, .csv, .xlsx or .parquet; labels.npy, .npz, .csv or \
.txt (or a column 'label' or 'class' in the table); signatures.csv, .xlsx, .npz or .parquet; \
optionally unseen.txt"""


def open_dataset(
    path: str | os.PathLike[str], features: str | None = None, semantics: str | None = None
) -> ZeroShotDataset:
    """Open a data set by its path or name, whatever its kind.

    Parameters
    ----------
    path : path-like
        - ``"animals"``, the bundled data set;
        - an xlsa17 folder, see :func:`load_xlsa17`;
        - a folder of Animals with Attributes, see :func:`load_awa`;
        - a ``.mat`` file of the semantic autoencoder's demos, see :func:`load_sae_demo`;
        - a folder with a large data set, see :func:`load_imagenet`;
        - a folder of your own with ``features.*``, ``labels.*`` and ``signatures.*`` in the forms
          :func:`load_table` reads, and ``unseen.txt`` to list the unseen classes. Without a file
          of labels the table must have a column "label" or "class".
    features : str, default=None
        Which features to take where a folder has several: the name of the file without its
        ending, for AwA of the folder. None takes ``res101`` or the only one; "none" loads no
        features of an xlsa17 or AwA folder.
    semantics : str, default=None
        The semantic space to put first, for example "word vectors"; for an xlsa17 folder also the
        name of the split file to use.

    Returns
    -------
    ZeroShotDataset
        What the right loader returns.

    Raises
    ------
    MissingFileError
        If there is nothing at `path`.
    InvalidInputError
        If it is not a data set, or has several features and none was chosen; the message lists what
        was looked for.

    Examples
    --------
    >>> from zslearn.datasets import open_dataset
    >>> open_dataset("animals", semantics="binary attributes").name
    'animals28'
    """
    if str(path) in ("animals", "animals28"):
        if features is not None:
            raise InvalidInputError(
                f"The bundled animals have one set of features; leave out features={features!r}."
            )
        dataset = load_animals()
        return dataset if semantics is None else dataset.prefer(semantics)
    place = Path(path)
    if not place.exists():
        raise MissingFileError(
            f"There is no data set at {str(place)!r}. Pass 'animals' or a path to:\n{_LOOKED_FOR}"
        )
    if place.is_dir() and any(place.glob("*_splits*.mat")):
        return _open_xlsa17(place, features, semantics)
    dataset = _open_other(place, features)
    return dataset if semantics is None else dataset.prefer(semantics)


def _open_other(place: Path, features: str | None) -> ZeroShotDataset:
    """Open a folder other than xlsa17 by the files that mark its kind."""
    if place.is_file() and place.suffix == ".mat":
        return load_sae_demo(place)
    if any(place.glob("predicate-matrix-*.txt")):
        return load_awa(place, _awa_features(place) if features is None else _or_none(features))
    if (place / "signatures.npz").is_file() and (place / "X.npy").is_file():
        return load_imagenet(place)
    if place.is_dir() and _one(place, "features", ENDINGS):
        return _open_table(place)
    raise InvalidInputError(f"{place} is not a data set. Looked for:\n{_LOOKED_FOR}")


def _open_xlsa17(folder: Path, features: str | None, semantics: str | None) -> ZeroShotDataset:
    """Choose the feature file and the split file of an xlsa17 folder."""
    chosen = _only_features(folder) if features is None else features
    chosen_or_none = _or_none(chosen)
    if semantics is None:
        return load_xlsa17(folder, chosen_or_none)
    if (folder / f"{semantics.removesuffix('.mat')}.mat").is_file():
        return load_xlsa17(folder, chosen_or_none, semantics)
    return load_xlsa17(folder, chosen_or_none).prefer(semantics)


def _or_none(features: str) -> str | None:
    return None if features == "none" else features


def _awa_features(folder: Path) -> str | None:
    """Return the only features of an AwA folder; None if it has none."""
    present = list(feature_folders(folder))
    if len(present) > 1:
        raise InvalidInputError(
            f"{folder} has the features {', '.join(present)}; say which with features=."
        )
    return present[0] if present else None


def _only_features(folder: Path) -> str:
    present = feature_files(folder)
    if "res101" in present or not present:
        return "res101"
    if len(present) > 1:
        raise InvalidInputError(
            f"{folder} has the feature files {', '.join(present)}; say which with features=."
        )
    return present[0]


def _one(folder: Path, stem: str, endings: tuple[str, ...]) -> Path | None:
    """Return the file of this name with one of the endings, refusing two."""
    found = [folder / (stem + ending) for ending in endings if (folder / (stem + ending)).is_file()]
    if len(found) > 1:
        raise InvalidInputError(
            f"{folder} has both {found[0].name} and {found[1].name}; keep one of them."
        )
    return found[0] if found else None


def _open_table(folder: Path) -> ZeroShotDataset:
    features = _one(folder, "features", ENDINGS)
    signatures = _one(folder, "signatures", (".npz", *TABLES))
    labels = _one(folder, "labels", (".npy", ".npz", *TABLES, ".txt"))
    if features is None or signatures is None:
        raise MissingFileError(
            f"{folder} has {features} but no signatures.csv, .xlsx, .npz or .parquet."
        )
    column = [name for name in ("label", "class") if name in table_columns(features)]
    if labels is None and not column:
        raise MissingFileError(
            f"{folder} has no labels.npy, .npz, .csv or .txt, and {features.name} has no column "
            "'label' or 'class'."
        )
    listed = folder / "unseen.txt"
    return load_table(
        features,
        labels if labels is not None else column[0],
        signatures,
        unseen=read_names(listed) if listed.is_file() else None,
        name=folder.resolve().name,
    )
