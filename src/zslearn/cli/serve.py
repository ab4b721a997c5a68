"""`zslearn serve` and `zslearn studio`: answer over HTTP, and show a page."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import click

from zslearn.exceptions import InvalidInputError

KEY = "ZSLEARN_API_KEY"
MIB = 2**20
EPILOG = """\b
Examples:
  zslearn serve model.zsl
  zslearn serve animals=model.zsl birds=other.zsl --port 9000 --workers 2
  zslearn serve model.zsl --host 0.0.0.0 --api-key-file key.txt --allow-host models.example.org
  curl localhost:8080/predict -d '{"rows": [[0.1, 0.2, 0.3]]}'
"""


def _limit(flag: str, name: str, default: float, help_text: str) -> Any:
    kind = click.FloatRange(min=0, min_open=True) if flag == "--timeout" else click.IntRange(min=0)
    return click.option(flag, name, default=default, show_default=True, type=kind, help=help_text)


@click.command(epilog=EPILOG)
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65_535),
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Processes that answer; each loads the models.",
)
@click.option(
    "--api-key-file",
    metavar="FILE",
    help=f"Ask every client for the key in this file. The variable {KEY} does the same.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A name by which clients call the server, besides its address; repeatable, '*' for any.",
)
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="ORIGIN",
    help="A web page, such as https://example.org, whose scripts may ask; repeatable.",
)
@click.option("--read-only", is_flag=True, help="Forbid changes of classes and models.")
@click.option(
    "--classes-dir", metavar="DIR", help="Keep changes of classes here, not beside the models."
)
@click.option(
    "--log",
    default="text",
    show_default=True,
    type=click.Choice(["text", "json", "errors"]),
    help="Log lines for people, as JSON, or without those of requests.",
)
@_limit("--max-body", "body", 64, "MiB of a request as it is sent.")
@_limit("--max-decompressed", "decompressed", 256, "MiB of a request after decompression.")
@_limit("--max-pixels", "pixels", 2**25, "Pixels of a picture.")
@_limit("--max-rows", "rows", 65_536, "Samples of a request.")
@_limit("--max-classes", "classes", 10_000, "Classes that may be added to a model.")
@_limit("--max-examples", "examples", 10_000, "Examples of classes that may be added to a model.")
@_limit("--max-connections", "connections", 512, "Open connections per worker.")
@_limit("--concurrency", "concurrency", 2, "Requests computed at the same time, per worker.")
@_limit("--queue", "queue", 64, "Requests that wait for their turn, per worker.")
@_limit("--timeout", "seconds", 30.0, "Seconds to send a request, and to compute its answer.")
def serve(models: tuple[str, ...], **options: Any) -> None:
    """Answer over HTTP with the models in the files MODEL.

    MODEL is a file written by zslearn fit --save, or NAME=FILE to choose the name it is served
    under. Clients of the Open Inference Protocol, such as those of Triton, KServe and MLServer,
    work unchanged; classes can be added and removed while the server runs; a changed file is read
    again by itself. A page at /docs lists all addresses. SIGTERM ends the server, SIGHUP makes it
    read the models again.
    """
    from zslearn.serve import Limits, ServerSettings, run_server

    names = Limits.parameter_constraints
    sizes = {"body": MIB, "decompressed": MIB}
    limits = Limits(**{name: options[name] * sizes.get(name, 1) for name in names})
    settings = ServerSettings(
        _named(models),
        host=options["host"],
        port=options["port"],
        api_key=_api_key(options["api_key_file"]),
        allowed_hosts=options["allow_host"],
        origins=options["allow_origin"],
        read_only=options["read_only"],
        classes_folder=_folder(options["classes_dir"]),
        workers=options["workers"],
        limits=limits,
    )

    def started(app: Any, port: int) -> None:
        for slot in app.state.server.shelf.slots.values():
            model = slot.model()
            click.echo(
                f"Serving {slot.name}: {model.method}, {len(model.recognizer)} classes, "
                f"{model.n_features} features.",
                err=True,
            )
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        click.echo(f"Listening on http://{host}:{port}, see /docs; Ctrl+C stops.", err=True)

    run_server(settings, log=options["log"], started=started)


def _named(models: tuple[str, ...]) -> dict[str, Path]:
    """Return the files by the names they are served under."""
    found: dict[str, Path] = {}
    for text in models:
        name, sign, path = text.partition("=")
        if not sign or "/" in name:
            name, path = Path(text).stem, text
        if name in found:
            raise click.UsageError(f"two models are named {name!r}; write NAME=FILE")
        found[name] = Path(path)
    return found


def _api_key(path: str | None) -> str | None:
    if path is None:
        return os.environ.get(KEY) or None
    try:
        return Path(path).read_text("utf-8").strip()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} holds no key: it is not text.") from error


def _folder(path: str | None) -> Path | None:
    if path is not None and not os.path.isdir(path):
        raise InvalidInputError(f"--classes-dir: there is no folder {path!r}; create it first.")
    return None if path is None else Path(path)


STUDIO_EPILOG = """\b
Examples:
  zslearn studio
  zslearn studio animals --pictures photos
  zslearn studio photos --signatures classes.csv
  zslearn studio photos.store --model model.zsl --project work.project
  zslearn studio tickets.csv --text text --labels category
  zslearn studio tickets.store --classes classes.csv
"""


@click.command(epilog=STUDIO_EPILOG)
@click.argument("data", default="shapes", metavar="[STORE|FOLDER|TABLE|shapes|animals]")
@click.option("--model", metavar="FILE", help="Begin with this model, written by fit --save.")
@click.option(
    "--signatures", metavar="FILE", help="The classes of a STORE or FOLDER: CSV, name first."
)
@click.option(
    "--classes",
    metavar="FILE",
    help="The classes in words, in place of --signatures: names and descriptions. Default for "
    "texts: the names of their classes.",
)
@click.option("--text", metavar="COLUMN", help="The column of the texts of a TABLE.")
@click.option("--labels", metavar="COLUMN", help="The column of the classes of a TABLE.")
@click.option(
    "--pictures", metavar="FOLDER", help="The pictures of a STORE or of animals, to be shown."
)
@click.option(
    "--project",
    metavar="FILE",
    help="Where your edits are kept. Default: a file per data set in the user's data folder.",
)
@click.option(
    "--port",
    default=0,
    show_default=True,
    type=click.IntRange(0, 65_535),
    help="Port to listen on; 0 takes that of the last start, or a free one.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.")
def studio(
    data: str,
    port: int,
    browser: bool,
    text: str | None,
    labels: str | None,
    **paths: str | None,
) -> None:
    """Describe classes that nobody has seen on a page, and watch them being recognized.

    Without an argument the page shows drawn shapes; with "animals" the bundled features. A STORE
    is what zslearn features wrote; the pictures of a FOLDER, with a folder per class, and the texts
    of a TABLE are encoded first. Only this machine can open the page, by the address that is
    printed, once. Everything is kept in the project file.
    """
    from zslearn.serve import run_server
    from zslearn.serve.studio import Source, StudioSettings, finish_later, make_app, prepare
    from zslearn.serve.studio.opening import keep_port, kept_port, project_path

    named = {name: None if path is None else Path(path) for name, path in paths.items()}
    source = Source(data, text=text, labels=labels, **named)
    models = {} if source.model is None else {"model": source.model}
    opened = prepare(source)
    project = project_path(source)
    settings = StudioSettings(models, port=port or kept_port(project))
    reasons: list[str] = []

    def failed(text: str) -> None:
        reasons.append(text)
        click.echo(f"This cannot be opened: {text} Ctrl+C stops.", err=True)

    finish_later(opened, source, failed, noticed=partial(click.echo, err=True))

    def started(app: Any, port: int) -> None:
        keep_port(project, port)
        address = f"http://127.0.0.1:{port}/studio/enter?token={opened.entrance.token}"
        click.echo(f"Open {address} ; it works once. Ctrl+C stops.", err=True)
        if browser:
            import webbrowser

            webbrowser.open(address)

    run_server(settings, log="errors", started=started, make_app=partial(make_app, studio=opened))
    if opened.session is not None:
        opened.session.close()
    if reasons:
        raise InvalidInputError(reasons[0])
