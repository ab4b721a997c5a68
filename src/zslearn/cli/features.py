"""`zslearn features`: turn pictures or texts into a store of vectors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.output import echo_json, format_table, printable

if TYPE_CHECKING:
    from zslearn.encoders import Encoder, Sample, Store

SHOWN = 10
EPILOG = """\b
Examples:
  zslearn features photos --out photos.store
  zslearn features photos --labels labels.csv --out photos.store
  zslearn fit photos.store --signatures classes.csv --save model.zsl
  zslearn predict model.zsl new.jpg
\b
  zslearn features tickets.csv --text text --labels category --out tickets.store
  zslearn fit tickets.store --classes classes.csv --save model.zsl
  zslearn predict model.zsl "Where is my card?" --top 3
"""


@click.command(epilog=EPILOG)
@click.argument("source")
@click.option("--out", "store", required=True, metavar="STORE", help="Folder to write to.")
@click.option(
    "--text",
    metavar="COLUMN",
    help="The column of the texts, where SOURCE is a table. Default: the only one that holds text.",
)
@click.option(
    "--labels",
    metavar="FILE|COLUMN",
    help="Of pictures: a table of files and classes; default: a folder per class, or no classes "
    "where SOURCE holds files only. Of texts: the column of the classes.",
)
@click.option(
    "--name",
    metavar="COLUMN",
    help="The column that names the texts. Default: they are counted from 0.",
)
@click.option(
    "--encoder",
    "model",
    metavar="NAME",
    help="Of pictures: efficientnet-lite2 (the default), -lite0 or -lite1; onnx:FILE; timm:NAME, "
    "open_clip:NAME/TAG or hf:NAME with PyTorch. Of texts: minilm (the default), "
    "minilm-int8; hf:NAME or "
    "open_clip:NAME/TAG with PyTorch.",
)
@click.option(
    "--views",
    default="center",
    show_default=True,
    type=click.Choice(["center", "flip", "crops"]),
    help="Of pictures: average over the mirror image (twice the time), or ten crops.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Threads. Default: one per core.")
@click.option("--strict", is_flag=True, help="Stop at a sample that cannot be read.")
@click.option(
    "--dask",
    "cluster",
    metavar="local|ADDRESS",
    help="Spread the work over a Dask cluster whose workers see the same files.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def features(
    source: str,
    store: str,
    jobs: int | None,
    strict: bool,
    cluster: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Turn the pictures in a folder, or the texts of a table, into vectors.

    SOURCE is a folder of pictures, or a table with a column of texts: .csv, .tsv, .jsonl, .xlsx or
    .parquet. What cannot be read is listed and left out. Stopped or killed at any moment, the same
    command continues where it was, and the result is the same. When SOURCE has got more samples,
    the same command adds them to a complete store. fit, evaluate, advise and predict take the
    store.
    """
    from zslearn.encoders import build_store

    found, encoder = _samples(source, jobs, options)
    what = "files" if encoder.kind == "image" else "texts"
    click.echo(f"Encoding {len(found)} {what} with {encoder.identity} ...", err=True)
    with _spread(cluster) as spread:
        made = build_store(found, store, encoder, strict=strict, progress=True, spread=spread)
    _echo_troubles(made, encoder)
    facts = _facts(made, encoder)
    if as_json:
        echo_json(facts | {"refused": made.refused, "duplicates": made.duplicates})
    else:
        rows = [{"fact": key.replace("_", " "), "value": str(facts[key])} for key in facts]
        click.echo(format_table(rows, {"fact": "store", "value": ""}))


def _samples(
    source: str, jobs: int | None, options: dict[str, Any]
) -> tuple[list[Sample], Encoder]:
    """List the pictures or texts, and open what encodes them."""
    from zslearn._tables import ENDINGS
    from zslearn.encoders import ImageEncoder, TextEncoder, find_pictures, read_texts

    model, views = options["model"], options["views"]
    if os.path.isfile(source) and Path(source).suffix.lower() in ENDINGS:
        if views != "center":
            raise click.UsageError("--views is for pictures")
        found = read_texts(source, **{key: options[key] for key in ("text", "labels", "name")})
        encoder: Encoder = TextEncoder(model or "minilm", n_jobs=jobs or 1)
        return found, encoder.fit()
    for option in ("text", "name"):
        if options[option] is not None:
            raise click.UsageError(
                f"--{option} is for a table of texts ({', '.join(ENDINGS)}); got {source}"
            )
    found = find_pictures(source, options["labels"])
    return found, ImageEncoder(model or "efficientnet-lite2", views=views, n_jobs=jobs).fit()


@contextmanager
def _spread(cluster: str | None) -> Iterator[Any]:
    """Give what spreads the work over a cluster; None for threads of this process."""
    if cluster is None:
        yield None
        return
    from zslearn.scale.dask import connected, map_on_cluster

    with connected(cluster) as client:
        yield map_on_cluster(client)


def _echo_troubles(made: Store, encoder: Encoder) -> None:
    """List what was left out, what is there twice and what was cut, the first of many."""
    rows = "" if encoder.kind == "image" else "row "
    lines = [f"Left out {rows}{name}: {reason}" for name, reason in made.refused.items()]
    _echo_first(lines)
    if encoder.kind == "image":
        _echo_first([f"The same bytes: {', '.join(names)}" for names in made.duplicates])
    cut = sorted(made.samples.cut)
    if cut:
        first = (made.samples.texts or ())[cut[0]]
        click.echo(
            f"{len(cut)} of {len(made.samples)} texts are longer than the encoder reads; the rest "
            f"of them is left out. The first is row {made.samples[cut[0]]}: "
            f"{printable(first)[:40]!r}.",
            err=True,
        )


def _echo_first(lines: list[str]) -> None:
    for line in lines[:SHOWN]:
        click.echo(printable(line), err=True)
    if len(lines) > SHOWN:
        click.echo(f"... and {len(lines) - SHOWN} more; --json lists all.", err=True)


def _facts(made: Store, encoder: Encoder) -> dict[str, Any]:
    labels = made.y
    return {
        "folder": str(made.folder),
        f"{encoder.unit}s": len(made.samples),
        "features": made.n_features,
        "classes": 0 if labels is None else len(set(labels.tolist())),
        "left_out": len(made.refused),
        "duplicates": len(made.duplicates),
        "encoder": str(made.encoder),
    }
