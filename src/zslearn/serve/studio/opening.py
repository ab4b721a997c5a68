"""Open a studio: the data named on the command line, the project, the application."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, NamedTuple

from starlette.applications import Starlette

from zslearn._files import check_is_file, first_line
from zslearn.exceptions import MissingFileError, ZslearnError, user_data
from zslearn.features import is_picture_store
from zslearn.persistence import load
from zslearn.serve.application import create_app
from zslearn.serve.settings import ServerSettings
from zslearn.serve.studio.collection import Collection, open_animals, open_shapes
from zslearn.serve.studio.maps import feature_map
from zslearn.serve.studio.matching import with_model
from zslearn.serve.studio.own_data import (
    Report,
    check_folder,
    holds_pictures,
    open_folder,
    open_other,
    open_store,
)
from zslearn.serve.studio.project import Project
from zslearn.serve.studio.routes import studio_routes
from zslearn.serve.studio.session import Session
from zslearn.serve.studio.studio import Studio

BUNDLED = ("shapes", "animals")


@dataclass(frozen=True)
class StudioSettings(ServerSettings):
    """The settings of a server that may do without a model file."""

    needs_models: ClassVar[bool] = False


@dataclass(frozen=True)
class Source:
    """What to open.

    Attributes
    ----------
    data : str
        "shapes", "animals", a store, or a folder of pictures.
    model : Path or None
        A fitted model.
    signatures : Path or None
        The class table of a store or folder.
    pictures : Path or None
        The folder of the pictures of a store, or of the animals.
    project : Path or None
        The project file; by default one for each data set.
    """

    data: str = "shapes"
    model: Path | None = None
    signatures: Path | None = None
    pictures: Path | None = None
    project: Path | None = None


class Gathered(NamedTuple):
    """What a session is made of."""

    collection: Collection
    project: Project
    model: Any


def open_studio(source: Source) -> Studio:
    """Open a studio completely before it is shown."""
    studio = prepare(source)
    finish(studio, source)
    return studio


def prepare(source: Source) -> Studio:
    """Check what can be checked at once, and return a studio that is not open yet."""
    path = project_path(source)
    for name in ("model", "signatures"):
        given = getattr(source, name)
        if given is not None:
            check_is_file(given)
    if source.data not in BUNDLED and not Path(source.data).exists():
        raise MissingFileError(
            f"There is no folder {source.data!r}; give a store, a folder of pictures, shapes or "
            "animals."
        )
    if takes_long(source):
        place = Path(source.data)
        check_folder(place, source.signatures, has_model=source.model is not None)
    studio = Studio(path.with_name(f"{path.name}.key"))
    studio.progress = {"text": "Opening", "done": 0, "total": 1}
    return studio


def finish(studio: Studio, source: Source) -> None:
    """Load the data and the project, encode pictures if need be, and fit the first method."""
    show(studio, gather(studio, source))


def gather(studio: Studio, source: Source) -> Gathered:
    """Load the data and the project, and encode pictures if need be."""
    model = None if source.model is None else load(source.model)
    collection = open_collection(source, model, partial(_report, studio))
    if model is not None:
        collection = with_model(collection, model, own_table=source.signatures is not None)
    return Gathered(collection, Project(project_path(source), collection.identity()), model)


def show(studio: Studio, gathered: Gathered) -> None:
    """Fit the first method and open the studio."""
    collection, project, model = gathered
    try:
        _report(studio, "Fitting the first method", 0, 1)
        folder = project.path.with_name(f"{project.path.name}.models")
        with ThreadPoolExecutor(1, "zslearn-studio-map") as beside:
            placed = beside.submit(feature_map, collection)
            session = Session(collection, project, studio.events, folder=folder, model=model)
            xy = placed.result()
    except BaseException:
        project.close()
        raise
    studio.open(session, xy)


def _report(studio: Studio, text: str, done: int, total: int) -> None:
    studio.progress = {"text": text, "done": done, "total": total}
    studio.events.publish("progress", studio.progress)


def takes_long(source: Source) -> bool:
    """Say whether pictures must be encoded before anything can be shown."""
    place = Path(source.data)
    own = source.data not in BUNDLED and place.is_dir() and not is_picture_store(place)
    return own and holds_pictures(place)


def finish_later(
    studio: Studio,
    source: Source,
    failed: Callable[[str], None],
    noticed: Callable[[str], None] | None = None,
) -> Thread:
    """Finish in a thread, while the page shows how far it is.

    What can be loaded at once is loaded now, so that what is wrong with it is raised here.

    Parameters
    ----------
    studio : Studio
        As `prepare` returned it.
    source : Source
        What to open.
    failed : callable
        Told the reason if it cannot be opened later; the page shows it too.
    noticed : callable, optional
        Told what is odd about the data, such as files that are no pictures.

    Returns
    -------
    Thread
    """
    gathered = None if takes_long(source) else gather(studio, source)

    def work() -> None:
        try:
            with user_data():
                found = gather(studio, source) if gathered is None else gathered
                if noticed is not None and found.collection.notice:
                    noticed(found.collection.notice)
                show(studio, found)
        except Exception as error:
            text = first_line(error) if isinstance(error, ZslearnError | OSError) else repr(error)
            studio.progress = {"text": text, "done": 0, "total": 1, "failed": True}
            failed(text)

    thread = Thread(target=work, name="zslearn-studio-open", daemon=True)
    thread.start()
    return thread


def open_collection(source: Source, model: Any, report: Report) -> Collection:
    """Return the samples that were named."""
    if source.data == "shapes":
        return open_shapes()
    if source.data == "animals":
        return open_animals(source.pictures)
    place = Path(source.data)
    if is_picture_store(place):
        return open_store(place, source.signatures, source.pictures, model)
    if takes_long(source):
        path = project_path(source)
        store = path.with_name(f"{path.name}.store")
        found = open_folder(place, source.signatures, store, model, report)
        return replace(found, name=place.name)
    return open_other(place)


def project_path(source: Source) -> Path:
    """Return the project file: the one named, or one for this data in the user's data folder."""
    if source.project is not None:
        if not source.project.parent.is_dir():
            raise MissingFileError(
                f"There is no folder {str(source.project.parent)!r}; create it first."
            )
        return source.project
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    folder = Path(home) / "zslearn" / "studio"
    folder.mkdir(parents=True, exist_ok=True)
    if source.data in BUNDLED:
        return folder / f"{source.data}.project"
    place = Path(source.data).resolve()
    mark = hashlib.sha256(str(place).encode()).hexdigest()[:8]
    stem = "".join(letter if letter.isalnum() else "-" for letter in place.name)
    return folder / f"{stem}-{mark}.project"


def make_app(settings: ServerSettings, studio: Studio) -> Starlette:
    """Return the application with the studio's addresses."""
    app = create_app(settings, routes=studio_routes(studio))
    app.state.studio = studio
    return app
