"""`zslearn features`: turn pictures into a store of vectors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.output import echo_json, format_table

if TYPE_CHECKING:
    from zslearn.encoders import Store

SHOWN = 10
EPILOG = """\b
Examples:
  zslearn features photos --out photos.store
  zslearn features photos --labels labels.csv --out photos.store
  zslearn fit photos.store --signatures classes.csv --save model.zsl
  zslearn predict model.zsl new.jpg
"""


@click.command(epilog=EPILOG)
@click.argument("pictures")
@click.option("--out", "store", required=True, metavar="STORE", help="Folder to write to.")
@click.option(
    "--labels",
    metavar="CSV",
    help="The file and the class of each picture, one per line. Default: a folder per class, or "
    "no classes where PICTURES holds files only.",
)
@click.option(
    "--encoder",
    "model",
    default="efficientnet-lite2",
    show_default=True,
    metavar="NAME",
    help="efficientnet-lite0, -lite1 or -lite2; onnx:FILE; timm:NAME, open_clip:NAME/TAG or "
    "hf:NAME with PyTorch.",
)
@click.option(
    "--views",
    default="center",
    show_default=True,
    type=click.Choice(["center", "flip", "crops"]),
    help="Average over the mirror image (twice the time), or ten crops.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Threads. Default: one per core.")
@click.option("--strict", is_flag=True, help="Stop at a file that cannot be read as a picture.")
@click.option(
    "--dask",
    "cluster",
    metavar="local|ADDRESS",
    help="Spread the work over a Dask cluster whose workers see the same files.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def features(
    pictures: str,
    store: str,
    labels: str | None,
    model: str,
    views: str,
    jobs: int | None,
    strict: bool,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Turn the pictures in a folder into vectors, for fit, evaluate and predict.

    Files that cannot be read as pictures are listed and left out. Stopped or killed at any moment,
    the same command continues where it was, and the result is the same. When PICTURES has got more
    files since, only those are encoded.
    """
    from zslearn.encoders import ImageEncoder, build_store, find_pictures

    found = find_pictures(pictures, labels)
    encoder = ImageEncoder(model, views=views, n_jobs=jobs).fit()
    click.echo(f"Encoding {len(found)} files with {encoder.identity} ...", err=True)
    with _spread(cluster) as spread:
        made = build_store(found, store, encoder, strict=strict, progress=True, spread=spread)
    _echo_troubles(made)
    facts = _facts(made)
    if as_json:
        echo_json(facts | {"refused": made.refused, "duplicates": made.duplicates})
    else:
        rows = [{"fact": key.replace("_", " "), "value": str(facts[key])} for key in facts]
        click.echo(format_table(rows, {"fact": "store", "value": ""}))


@contextmanager
def _spread(cluster: str | None) -> Iterator[Any]:
    """Give what spreads the work over a cluster; None for threads of this process."""
    if cluster is None:
        yield None
        return
    from zslearn.scale.dask import connected, map_on_cluster

    with connected(cluster) as client:
        yield map_on_cluster(client)


def _echo_troubles(made: Store) -> None:
    """List files left out and files that are there twice, the first of many."""
    for name, reason in list(made.refused.items())[:SHOWN]:
        click.echo(f"Left out {name}: {reason}", err=True)
    if len(made.refused) > SHOWN:
        click.echo(f"... and {len(made.refused) - SHOWN} more; --json lists all.", err=True)
    for names in made.duplicates[:SHOWN]:
        click.echo(f"The same bytes: {', '.join(names)}", err=True)
    if len(made.duplicates) > SHOWN:
        click.echo(f"... and {len(made.duplicates) - SHOWN} more; --json lists all.", err=True)


def _facts(made: Store) -> dict[str, Any]:
    return {
        "folder": str(made.folder),
        "pictures": len(made.samples),
        "features": made.X.shape[1],
        "classes": 0 if made.y is None else len(set(made.y.tolist())),
        "left_out": len(made.refused),
        "duplicates": len(made.duplicates),
        "encoder": str(made.encoder),
    }
