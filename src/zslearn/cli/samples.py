"""The samples that `predict` is to name: pictures, stores of their vectors, tables of features."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.columns import order_columns
from zslearn.cli.files import echo_notes
from zslearn.exceptions import InvalidInputError, ZslearnError

if TYPE_CHECKING:
    from zslearn.encoders import Picture, PictureStore

Samples = tuple[list[Any], Any]


def read_samples(
    classifier: Any, model: str, paths: Sequence[str], ignore: Sequence[str]
) -> Samples:
    """Return the names of the samples, their row numbers where they have none, and features."""
    from zslearn.encoders import PictureStore, is_picture_store

    if all(_is_of_pictures(path, classifier) for path in paths):
        return _encoded(classifier, model, paths)
    if len(paths) > 1:
        raise click.UsageError(
            "give pictures and folders of them, or one file or store of features"
        )
    if is_picture_store(paths[0]):
        return _stored(classifier, PictureStore.open(paths[0]))
    return _table(classifier, paths[0], ignore)


def _is_of_pictures(path: str, classifier: Any) -> bool:
    """Say whether a path is a picture, or a folder of them for a model that takes pictures.

    To such a model every file is a picture that has no ending of a table; what is none is found out
    when it is read.
    """
    from zslearn.datasets.table import ENDINGS
    from zslearn.encoders import is_picture_store, known_encoder
    from zslearn.encoders.pictures import IMAGE_SUFFIXES

    takes_pictures, ending = known_encoder(classifier) is not None, Path(path).suffix.lower()
    if os.path.isdir(path):
        return takes_pictures and not is_picture_store(path)
    return ending in IMAGE_SUFFIXES or (takes_pictures and ending not in ENDINGS)


def _encoded(classifier: Any, model: str, paths: Sequence[str]) -> Samples:
    """Encode pictures; those that cannot be read are listed and left out."""
    import numpy as np

    from zslearn.core.threads import map_in_order, n_threads
    from zslearn.encoders import load_encoder

    encoder = load_encoder(classifier, model)
    single = len(paths) == 1 and not Path(paths[0]).is_dir()

    def encode(picture: Picture) -> Any:
        from zslearn.encoders.pictures import read_rgb

        try:
            return encoder.encode_pixels([read_rgb(picture.path)])[0]
        except ZslearnError as error:
            if single:
                raise
            return error

    pictures = _pictures(paths)
    found = list(map_in_order(encode, pictures, min(n_threads(), len(pictures))))
    for result in found:
        if isinstance(result, ZslearnError):
            click.echo(f"Left out: {result}", err=True)
    kept = [
        (picture.name, vector)
        for picture, vector in zip(pictures, found, strict=True)
        if not isinstance(vector, ZslearnError)
    ]
    if not kept:
        raise InvalidInputError("none of the files could be read as a picture.")
    names, vectors = zip(*kept, strict=True)
    return list(names), np.stack(vectors)


def _pictures(paths: Sequence[str]) -> list[Picture]:
    from zslearn.encoders import Picture, find_pictures

    found: list[Picture] = []
    for path in paths:
        place = Path(path)
        if place.is_dir():
            found += [p._replace(name=str(place / p.name)) for p in find_pictures(place)]
        else:
            found.append(Picture(place, path))
    return found


def _stored(classifier: Any, store: PictureStore) -> Samples:
    from zslearn.encoders import check_encoder

    check_encoder(classifier, store.encoder, str(store.folder))
    return list(store.samples), store.X


def _table(classifier: Any, path: str, ignore: Sequence[str]) -> Samples:
    from zslearn.datasets.table import read_feature_table

    table = read_feature_table(path, ignore=ignore)
    if not len(table.X):
        raise InvalidInputError(f"{path} has no samples.")
    echo_notes(path, table.notes)
    X = order_columns(classifier, table.X, table.columns, path)
    return (list(range(len(X))) if table.ids is None else table.ids), X
