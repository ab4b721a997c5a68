"""One's own data in the studio: a store, a folder of pictures, a data set on disk, a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from zslearn.core.threads import map_in_order, n_threads
from zslearn.datasets import open_dataset
from zslearn.datasets.table import read_signatures
from zslearn.exceptions import InvalidInputError
from zslearn.features import (
    ImageEncoder,
    PictureStore,
    extract_features,
    find_pictures,
    known_encoder,
)
from zslearn.features.pictures import IMAGE_SUFFIXES
from zslearn.model_selection import stratified_holdout
from zslearn.serve.studio.collection import Collection, files_reader, from_dataset
from zslearn.serve.studio.matching import check_classes, left_out
from zslearn.signatures import Signatures

Report = Callable[[str, int, int], None]
# Files by which a folder is a data set, whatever pictures it also holds.
ARRAYS = frozenset({".mat", ".npy", ".npz", ".parquet"})
TABLES = frozenset({"features", "labels", "predicates"})


def holds_pictures(folder: Path) -> bool:
    """Say whether a folder holds pictures rather than files of a data set."""
    files = [path for path in folder.iterdir() if path.is_file()]
    if any(path.suffix.lower() in ARRAYS or path.stem in TABLES for path in files):
        return False
    names = (name for _, _, names in os.walk(folder) for name in names)
    return any(Path(name).suffix.lower() in IMAGE_SUFFIXES for name in names)


def check_folder(folder: Path, signatures: Path | None, *, has_model: bool) -> None:
    """Find what is wrong with a folder or its class table before anything is encoded."""
    found = find_pictures(folder)
    if signatures is None and has_model:
        return  # its classes are those of the model
    table = class_table(signatures, None)
    if not has_model:
        labels = [picture.label for picture in found if picture.label is not None]
        check_classes(labels or None, table, str(signatures))


def open_store(
    folder: Path, signatures: Path | None, pictures: Path | None, model: Any
) -> Collection:
    """Return the samples of a store written by ``zslearn features``."""
    store = PictureStore.open(folder)
    wanted = None if model is None else known_encoder(model)
    if wanted is not None and not wanted.matches(store.encoder):
        raise InvalidInputError(
            f"the model was trained on vectors of {wanted}, and {folder} holds vectors of "
            f"{store.encoder}; encode the pictures with the same encoder."
        )
    paths = None if pictures is None else [pictures / name for name in store.samples]
    missing = next((path for path in paths or () if not path.is_file()), None)
    if missing is not None:
        raise InvalidInputError(
            f"--pictures: there is no file {str(missing)!r}; give the folder that was encoded."
        )
    table = class_table(signatures, model)
    if model is None:
        check_classes(None if store.y is None else store.y.tolist(), table, str(signatures))
    collected = _collected(store, table, paths, folder, signatures)
    return replace(collected, notice=_encoder_notice(model))


def open_folder(
    folder: Path, signatures: Path | None, store: Path, model: Any, report: Report
) -> Collection:
    """Encode the pictures of a folder, with one folder per class, and return them."""
    table = class_table(signatures, model)
    found = find_pictures(folder)
    wanted = None if model is None else known_encoder(model)
    encoder = ImageEncoder() if wanted is None else ImageEncoder.from_identity(wanted)
    report("Encoding pictures", 0, len(found))
    done = 0

    def spread(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        nonlocal done
        chunks = list(items)
        sizes = list(map(len, chunks))
        done = len(found) - sum(sizes)  # what an earlier start has encoded
        report("Encoding pictures", done, len(found))
        for size, result in zip(sizes, map_in_order(function, chunks, n_threads()), strict=True):
            done += size
            report("Encoding pictures", done, len(found))
            yield result

    made = extract_features(found, store, encoder, spread=spread, forget=True)
    paths = [folder / name for name in made.samples]
    collected = _collected(made, table, paths, store, signatures)
    notices = [left_out(made.refused, len(found)), _encoder_notice(model)]
    return replace(collected, notice=" ".join(filter(None, notices)))


def open_other(folder: Path) -> Collection:
    """Return a data set on disk, as ``zslearn evaluate`` opens it."""
    data = open_dataset(folder)
    if data.X.shape[1] == 0:
        raise InvalidInputError(f"{folder} has no features.")
    data = replace(data, X=np.asarray(data.X, dtype=np.float32))
    loads = [
        "from zslearn.datasets import open_dataset",
        "",
        f"data = open_dataset({str(folder)!r})",
    ]
    return from_dataset(data, folder.name, names=data.image_files, loads=loads)


def class_table(signatures: Path | None, model: Any) -> Signatures:
    """Return the classes: of a file, or those of the model."""
    if signatures is not None:
        return read_signatures(signatures)
    if model is None:
        raise InvalidInputError(
            "the classes need signatures: give a table by --signatures, one line per class."
        )
    table: Signatures = model.recognizer().signatures
    return table


def _encoder_notice(model: Any) -> str:
    """Say that nobody can check whether a model fits the vectors of the pictures."""
    if model is None or known_encoder(model) is not None:
        return ""
    return (
        "The model does not say which encoder made its features; if it was another one than that "
        "of these pictures, its answers mean nothing."
    )


def _collected(
    store: PictureStore,
    table: Signatures,
    paths: Sequence[Path] | None,
    folder: Path,
    signatures: Path | None,
) -> Collection:
    """Put a store and a class table together; one fifth of each class is kept for testing.

    Classes of the pictures without a line in the table wait for their description.
    """
    train = np.zeros(len(store.X), bool)
    labels = None if store.y is None else store.y.astype(str)
    seen: list[str] = []
    if labels is not None:
        rows = np.flatnonzero(np.isin(labels, table.names.astype(str)))
        seen = np.unique(labels[rows]).tolist()
        if len(rows):
            train[rows[stratified_holdout(labels[rows])[0]]] = True
    return Collection(
        folder.name,
        store.X,
        labels,
        table,
        tuple(seen),
        train,
        store.samples,
        None if paths is None else files_reader(paths),
        recipe=_recipe(folder, signatures),
    )


def _recipe(folder: Path, signatures: Path | None) -> tuple[str, ...]:
    """Return the Python lines that load a store."""
    if signatures is None:
        return (
            "from zslearn.features import PictureStore",
            "",
            f"X = PictureStore.open({str(folder)!r}).X",
        )
    return (
        "from zslearn.datasets.table import read_signatures",
        "from zslearn.features import PictureStore",
        "from zslearn.model_selection import stratified_holdout",
        "",
        f"store = PictureStore.open({str(folder)!r})",
        f"signatures = read_signatures({str(signatures)!r})",
        "X, y = store.X, store.y.astype(str)",
        "rows = np.flatnonzero(np.isin(y, signatures.names))",
        "train = rows[stratified_holdout(y[rows])[0]]",
        "",
    )
