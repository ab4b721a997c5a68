"""Open a studio: the data named on the command line, the project, the application."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, NamedTuple

import numpy as np
from starlette.applications import Starlette

from zslearn._files import check_is_file, first_line
from zslearn._tables import ENDINGS
from zslearn.core.threads import map_in_order, n_threads
from zslearn.datasets import open_dataset
from zslearn.datasets.table import read_signatures
from zslearn.encoders import (
    Encoder,
    ImageEncoder,
    Sample,
    Store,
    TextEncoder,
    build_store,
    class_encoder,
    encoder_of,
    encoder_of_model,
    find_pictures,
    is_store,
    read_descriptions,
    read_texts,
    remember_encoder,
    split_encoder,
)
from zslearn.encoders.pictures import IMAGE_SUFFIXES
from zslearn.exceptions import (
    InvalidInputError,
    MissingFileError,
    ZslearnError,
    did_you_mean,
    user_data,
)
from zslearn.model_selection import stratified_holdout
from zslearn.persistence import load
from zslearn.serve.application import create_app
from zslearn.serve.edit_log import EditLog, Kind
from zslearn.serve.settings import ServerSettings
from zslearn.serve.studio.charts import feature_map
from zslearn.serve.studio.collection import (
    Collection,
    files_reader,
    from_dataset,
    open_animals,
    open_shapes,
)
from zslearn.serve.studio.routes import studio_routes
from zslearn.serve.studio.session import Session, Studio
from zslearn.signatures import Signatures
from zslearn.signatures.new_classes import spell_out

SHOWN = 3


def check_classes(
    labels: Sequence[str] | None, names: Iterable[Any], named: str, unit: str = "picture"
) -> None:
    """Refuse samples that no method could be trained on, and say why.

    Parameters
    ----------
    labels : sequence of str or None
        Classes of the samples; None if they have none.
    names : iterable
        Classes of the table.
    named : str
        What the table is called.
    unit : {"picture", "text"}, default="picture"
        What a sample is.
    """
    if labels is None and unit == "text":
        raise InvalidInputError(
            "the texts have no classes, so nothing can be trained on them. Name their column by "
            "--labels, or give a --model."
        )
    if labels is None:
        raise InvalidInputError(
            "the pictures lie in no folders of classes, so nothing can be trained on them. Put "
            "those of each class into a folder with its name, or give a --model."
        )
    known = set(map(str, names))
    own = sorted(set(labels))
    both = [name for name in own if name in known]
    if len(both) == 1:
        raise InvalidInputError(
            f"only {both[0]!r} has {unit}s and a row in {named}; training needs two classes."
        )
    if not both:
        hint = did_you_mean(own[0], known, ", where the closest is {!r}")
        raise InvalidInputError(
            f"none of the {len(own)} classes of the {unit}s, such as {own[0]!r}, has a row in "
            f"{named}{hint}. A class must have the same name in both."
        )


def with_model(collection: Collection, model: Any, *, own_table: bool) -> Collection:
    """Return samples as a model sees them: with its classes, or those of a table given with it.

    Parameters
    ----------
    collection : Collection
        The samples.
    model : ZeroShotClassifier
        A fitted model.
    own_table : bool
        Whether the classes of the collection are those to show, and not the model's.
    """
    n = collection.X.shape[1]
    if not hasattr(model, "recognizer"):
        raise InvalidInputError(
            f"a {type(model).__name__} cannot be used here; give a zero-shot classifier."
        )
    if model.n_features_in_ != n:
        raise InvalidInputError(
            f"the model takes {model.n_features_in_} features and the samples have {n}; they must "
            "come from the same encoder."
        )
    known, table = model.recognizer().signatures, collection.signatures
    same = known.dimensions == table.dimensions
    if own_table and not same:
        raise InvalidInputError(
            f"the model describes classes by {_listed(known.dimensions)}, and the table by "
            f"{_listed(table.dimensions, '')}; give the table with the columns of the model."
        )
    return replace(
        collection,
        signatures=table if own_table else known,
        groups=collection.groups if same else None,
        hidden=collection.hidden if same else None,
        # Of a table of features nobody but the model knows what made them.
        encoder=collection.encoder or encoder_of_model(model),
        # Nobody knows which of these samples the model was trained on.
        train=np.zeros(collection.n, bool),
        seen=(),
    )


def _listed(names: Sequence[str], what: str = " dimensions") -> str:
    """Say how many names there are, and the first of them."""
    more = ", …" if len(names) > SHOWN else ""
    return f"{len(names)}{what} ({', '.join(names[:SHOWN])}{more})"


def left_out(refused: Mapping[str, str], n: int, unit: str = "picture") -> str:
    """Say which of n files are no pictures, or which texts are empty; nothing if all are fine."""
    if not refused:
        return ""
    some = [f"{name} ({reason})" for name, reason in list(refused.items())[:SHOWN]]
    more = f"; and {len(refused) - SHOWN} more" if len(refused) > SHOWN else ""
    are = "is" if len(refused) == 1 else "are"
    what = "files cannot be read as pictures" if unit == "picture" else "texts cannot be encoded"
    return f"{len(refused)} of {n} {what} and {are} left out: {'; '.join(some)}{more}."


Report = Callable[[str, int, int], None]
# Files by which a folder is a data set, whatever pictures it also holds.
ARRAYS = frozenset({".mat", ".npy", ".npz", ".parquet"})
TABLES = frozenset({"features", "labels", "predicates"})


def is_table(data: str) -> bool:
    """Say whether a path is a table, which holds texts."""
    return Path(data).suffix.lower() in ENDINGS and Path(data).is_file()


def holds_pictures(folder: Path) -> bool:
    """Say whether a folder holds pictures, or nothing, rather than files of a data set."""
    files = [path for path in folder.iterdir() if path.is_file()]
    if any(path.suffix.lower() in ARRAYS or path.stem in TABLES for path in files):
        return False
    names = [name for _, _, names in os.walk(folder) for name in names]
    return not names or any(Path(name).suffix.lower() in IMAGE_SUFFIXES for name in names)


def check_samples(source: Source) -> None:
    """Find what is wrong with the samples or their classes before anything is encoded."""
    found = find_samples(source)
    if source.model is not None:  # its classes are those of the model
        wanted, unit = encoder_of_model(load(source.model)), unit_of(found)
        if wanted is not None and (wanted.kind == "text") != (unit == "text"):
            made = "texts" if wanted.kind == "text" else "pictures"
            raise InvalidInputError(
                f"{source.model} is a model of {made}, and {source.data} holds {unit}s; give "
                f"{made}, or a model of {unit}s."
            )
        return
    labels = [sample.label for sample in found if sample.label is not None]
    if source.named is None and is_table(source.data):
        check_classes(labels or None, labels, source.data, "text")
        return
    check_classes(labels or None, class_names(source), str(source.named), unit_of(found))


def find_samples(source: Source) -> list[Sample]:
    """List the pictures of a folder, or the texts of a table."""
    if is_table(source.data):
        return read_texts(source.data, text=source.text, labels=source.labels)
    return find_pictures(source.data)


def unit_of(samples: Sequence[Sample]) -> str:
    """Say what samples are."""
    return "text" if isinstance(samples[0].content, str) else "picture"


def open_store(source: Source, model: Any) -> Collection:
    """Return the samples of a store written by ``zslearn features``."""
    folder, pictures = Path(source.data), source.pictures
    store = Store.open(folder)
    unit = "picture" if store.samples.texts is None else "text"
    wanted = None if model is None else encoder_of_model(model)
    if wanted and store.encoder and not wanted.matches(store.encoder):
        raise InvalidInputError(
            f"the model was trained on vectors of {wanted}, and {folder} holds vectors of "
            f"{store.encoder}; encode the {unit}s with the same encoder."
        )
    paths = None if pictures is None else [pictures / name for name in store.samples]
    missing = next((path for path in paths or () if not path.is_file()), None)
    if missing is not None:
        raise InvalidInputError(
            f"--pictures: there is no file {str(missing)!r}; give the folder that was encoded."
        )
    labels = None if store.y is None else store.y.tolist()
    table = class_table(source, model, store)
    if model is None:
        check_classes(labels, table.names, str(source.named), unit)
    collected = _collected(store, table, paths, folder, source)
    return replace(collected, notice=_encoder_notice(model))


def open_samples(source: Source, store: Path, model: Any, report: Report) -> Collection:
    """Encode the pictures of a folder, or the texts of a table, and return them."""
    found = find_samples(source)
    unit = unit_of(found)
    wanted = None if model is None else encoder_of_model(model)
    encoder: Encoder = TextEncoder() if unit == "text" else ImageEncoder()
    if wanted is not None:
        encoder = encoder_of(wanted)
    title = f"Encoding {unit}s"
    report(title, 0, len(found))
    done = 0

    def spread(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        nonlocal done
        chunks = list(items)
        sizes = list(map(len, chunks))
        done = len(found) - sum(sizes)  # what an earlier start has encoded
        report(title, done, len(found))
        n_jobs = encoder.n_jobs or n_threads()
        for size, result in zip(sizes, map_in_order(function, chunks, n_jobs), strict=True):
            done += size
            report(title, done, len(found))
            yield result

    made = build_store(found, store, encoder, spread=spread, forget=True)
    paths = None if unit == "text" else [Path(source.data) / name for name in made.samples]
    collected = _collected(made, class_table(source, model, made), paths, store, source)
    notices = [left_out(made.refused, len(found), unit), _encoder_notice(model)]
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
        f"data = open_dataset({_written(folder)})",
    ]
    return from_dataset(data, folder.name, names=data.image_files, loads=loads)


def class_table(source: Source, model: Any, store: Store) -> Signatures:
    """Return the classes: of a file, those of the model, or the names of labels of texts."""
    if source.signatures is not None:
        return read_signatures(source.signatures)
    if source.classes is not None:
        return Signatures.from_texts(
            read_descriptions(source.classes), class_encoder(store.encoder)
        )
    if model is not None:
        table: Signatures = model.recognizer().signatures
        return table
    if store.samples.texts is None or store.classes is None:
        raise _no_classes()
    names = store.classes.tolist()
    return Signatures.from_texts(
        {name: spell_out(name) for name in names}, class_encoder(store.encoder)
    )


def class_names(source: Source) -> list[Any]:
    """Return the names of the classes that a file gives."""
    if source.signatures is not None:
        return read_signatures(source.signatures).names.tolist()
    if source.classes is not None:
        return list(read_descriptions(source.classes))
    raise _no_classes()


def _no_classes() -> InvalidInputError:
    return InvalidInputError(
        "the classes need signatures: give a table by --signatures, one line per class, or names "
        "and descriptions by --classes."
    )


def _encoder_notice(model: Any) -> str:
    """Say that nobody can check whether a model fits the vectors of the pictures."""
    if model is None or encoder_of_model(model) is not None:
        return ""
    return (
        "The model does not say which encoder made its features; if it was another one than that "
        "of these pictures, its answers mean nothing."
    )


def _collected(
    store: Store,
    table: Signatures,
    paths: Sequence[Path] | None,
    folder: Path,
    source: Source,
) -> Collection:
    """Put a store and a class table together; one fifth of each class is kept for testing.

    Classes of the samples without a line in the table wait for their description.
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
        store.samples.names,
        None if paths is None else files_reader(paths),
        recipe=_recipe(folder, source, store),
        texts=store.samples.texts,
        encoder=store.encoder,
    )


def _recipe(folder: Path, source: Source, store: Store) -> tuple[str, ...]:
    """Return the Python lines that load a store."""
    if source.model is not None and source.named is None:
        return (
            "from zslearn.encoders import Store",
            "",
            f"X = Store.open({_written(folder)}).X",
        )
    opened = f"store = Store.open({_written(folder)})"
    if source.signatures is not None:
        table = [
            "from zslearn.datasets.table import read_signatures",
            "from zslearn.encoders import Store",
            "from zslearn.model_selection import stratified_holdout",
            "",
            opened,
            f"signatures = read_signatures({_written(source.signatures)})",
        ]
    else:
        texts = "{name: spell_out(name) for name in store.classes.tolist()}"
        if source.classes is not None:
            texts = f"read_descriptions({_written(source.classes)})"
        table = [
            "from zslearn.encoders import Store, class_encoder, read_descriptions",
            "from zslearn.model_selection import stratified_holdout",
            "from zslearn.signatures import Signatures",
            "from zslearn.signatures.new_classes import spell_out",
            "",
            opened,
            f"signatures = Signatures.from_texts({texts}, class_encoder(store.encoder))",
        ]
    return (
        *table,
        "X, y = store.X, store.y.astype(str)",
        "rows = np.flatnonzero(np.isin(y, signatures.names))",
        "train = rows[stratified_holdout(y[rows])[0]]",
        "",
    )


def _written(path: Path) -> str:
    """Return a path as Python writes it; the lines are run in another folder than the studio."""
    return repr(str(path.absolute()))


BUNDLED = ("shapes", "animals")
PROJECT = Kind(0x7A736C73, "the project", "choose another --project")


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
        "shapes", "animals", a store, a folder of pictures, or a table of texts.
    model : Path or None
        A fitted model.
    signatures : Path or None
        The class table of a store or folder.
    classes : Path or None
        Names and descriptions of the classes, in place of `signatures`.
    text, labels : str or None
        The columns of the texts and of their classes, in a table.
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
    classes: Path | None = None
    text: str | None = None
    labels: str | None = None

    @property
    def named(self) -> Path | None:
        """The file that gives the classes."""
        return self.signatures or self.classes


class Gathered(NamedTuple):
    """What a session is made of."""

    collection: Collection
    project: EditLog
    model: Any


def open_studio(source: Source) -> Studio:
    """Open a studio completely before it is shown."""
    studio = prepare(source)
    finish(studio, source)
    return studio


def prepare(source: Source) -> Studio:
    """Check what can be checked at once, and return a studio that is not open yet."""
    path = project_path(source)
    for name in ("model", "signatures", "classes"):
        given = getattr(source, name)
        if given is not None:
            check_is_file(given)
    if source.data not in BUNDLED and not Path(source.data).exists():
        raise MissingFileError(
            f"There is no folder {source.data!r}; give a store, a folder of pictures, a table of "
            "texts, shapes or animals."
        )
    if source.signatures is not None and source.classes is not None:
        raise InvalidInputError("give the classes by --signatures or by --classes, not by both.")
    if not is_table(source.data) and (source.text or source.labels):
        raise InvalidInputError(
            f"--text and --labels name columns of a table ({', '.join(ENDINGS)}); {source.data} is "
            "none."
        )
    if takes_long(source):
        check_samples(source)
    studio = Studio(path.with_name(f"{path.name}.key"))
    studio.progress = {"text": "Opening", "done": 0, "total": 1}
    return studio


def finish(studio: Studio, source: Source) -> None:
    """Load the data and the project, encode samples if need be, and fit the first method."""
    show(studio, gather(studio, source))


def gather(studio: Studio, source: Source) -> Gathered:
    """Load the data and the project, and encode samples if need be."""
    model = None if source.model is None else load(source.model)
    encoder, rest = split_encoder(model)
    if encoder is not None:  # a pipeline: what follows its encoder takes vectors
        model = rest
        remember_encoder(model, encoder.known_identity)
    collection = open_collection(source, model, partial(_report, studio))
    if model is not None:
        collection = with_model(collection, model, own_table=source.named is not None)
    return Gathered(collection, open_project(project_path(source), collection.identity()), model)


def open_project(path: Path, data: Mapping[str, Any]) -> EditLog:
    """Open the project file, made if it is not there; one that was made for other data is refused.

    Parameters
    ----------
    path : Path
        The file; no second program can open it meanwhile.
    data : mapping
        Facts about the data, its name and a checksum.

    Returns
    -------
    EditLog
    """
    project = EditLog(path, PROJECT, data, exclusive=True)
    if project.facts != data:
        project.close()
        other = project.facts.get("name")
        what = "other classes, attributes or features" if other == data.get("name") else other
        raise InvalidInputError(
            f"the project {path} was made for {what}, not for these of {data.get('name')}; choose "
            "another --project."
        )
    return project


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
    """Say whether samples must be encoded before anything can be shown."""
    place = Path(source.data)
    if is_table(source.data):
        return True
    own = source.data not in BUNDLED and place.is_dir() and not is_store(place)
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
    if is_store(place):
        return open_store(source, model)
    if takes_long(source):
        path = project_path(source)
        store = path.with_name(f"{path.name}.store")
        found = open_samples(source, store, model, report)
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


HOST = "127.0.0.1"
LOWEST = 1024  # ports below belong to the system


def kept_port(project: Path) -> int:
    """Return the port of the last start; 0, any free one, if there is none or it is taken."""
    try:
        port = int(_file(project).read_text("ascii"))
    except (OSError, ValueError):
        return 0
    return port if LOWEST <= port <= 65_535 and _is_free(port) else 0


def keep_port(project: Path, port: int) -> None:
    """Note the port for the next start; without a note that start takes another one."""
    try:
        _file(project).write_text(f"{port}\n", "ascii")
    except OSError:
        return


def _file(project: Path) -> Path:
    return project.with_name(f"{project.name}.port")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
