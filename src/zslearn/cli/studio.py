"""`zslearn studio`: describe classes on a page, and see them recognized."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from zslearn.exceptions import InvalidInputError

EPILOG = """\b
Examples:
  zslearn studio
  zslearn studio animals --pictures photos
  zslearn studio photos --signatures classes.csv
  zslearn studio photos.store --model model.zsl --project work.project
"""


@click.command(epilog=EPILOG)
@click.argument("data", default="shapes", metavar="[STORE|FOLDER|shapes|animals]")
@click.option("--model", metavar="FILE", help="Begin with this model, written by fit --save.")
@click.option(
    "--signatures", metavar="FILE", help="The classes of a STORE or FOLDER: CSV, name first."
)
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
def studio(data: str, port: int, browser: bool, **paths: str | None) -> None:
    """Describe classes that nobody has seen on a page, and watch them being recognized.

    Without an argument the page shows drawn shapes; with "animals" the bundled features. A STORE
    is what zslearn features wrote; the pictures of a FOLDER, with a folder per class, are encoded
    first. Only this machine can open the page, by the address that is printed, once. Everything
    is kept in the project file.
    """
    from zslearn.serve import run_server
    from zslearn.serve.studio import Source, StudioSettings, finish_later, make_app, prepare
    from zslearn.serve.studio.opening import keep_port, kept_port, project_path

    named = {name: None if path is None else Path(path) for name, path in paths.items()}
    source = Source(data, **named)
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
