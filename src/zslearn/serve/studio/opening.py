"""Open a studio: the data named on the command line, the project, the application."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from starlette.applications import Starlette

from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.persistence import load
from zslearn.serve.application import create_app
from zslearn.serve.settings import ServerSettings
from zslearn.serve.studio.collection import Collection, open_animals, open_shapes
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


def open_studio(source: Source) -> Studio:
    """Load the data and the project, and fit the first method."""
    path = project_path(source)
    studio = Studio(path.with_name(f"{path.name}.key"))
    start(studio, source, open_collection(source))
    return studio


def open_collection(source: Source) -> Collection:
    """Return the samples of bundled data."""
    if source.data == "shapes":
        return open_shapes()
    if source.data == "animals":
        return open_animals(source.pictures)
    raise InvalidInputError(f"there is no data set or folder {source.data!r}.")


def start(studio: Studio, source: Source, collection: Collection) -> None:
    """Open the project of a collection and show it."""
    path = project_path(source)
    project = Project(path, collection.identity())
    try:
        model = None if source.model is None else load(source.model)
        session = Session(
            collection,
            project,
            studio.events,
            folder=path.with_name(f"{path.name}.models"),
            model=model,
        )
    except BaseException:
        project.close()
        raise
    studio.open(session)


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
