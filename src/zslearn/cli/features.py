"""`zslearn features`: turn pictures or texts into a store of vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
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


def encoder_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how samples are read and encoded; see `encoded`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = [
    click.option(
        "--text",
        metavar="COLUMN",
        help="The column of the texts, where the samples are a table. Default: the only one that "
        "holds text.",
    ),
    click.option(
        "--name",
        metavar="COLUMN",
        help="The column that names the texts. Default: they are counted from 0.",
    ),
    click.option(
        "--encoder",
        metavar="NAME",
        help="Of pictures: efficientnet-lite2 (the default), -lite0 or -lite1; onnx:FILE; "
        "timm:NAME, open_clip:NAME/TAG or hf:NAME with PyTorch. Of texts: minilm (the default), "
        "minilm-int8; hf:NAME or open_clip:NAME/TAG with PyTorch.",
    ),
    click.option(
        "--views",
        default="center",
        show_default=True,
        type=click.Choice(["center", "flip", "crops"]),
        help="Of pictures: average over the mirror image (twice the time), or ten crops.",
    ),
    click.option("--jobs", type=click.IntRange(min=1), help="Threads. Default: one per core."),
    click.option("--strict", is_flag=True, help="Stop at a sample that cannot be read."),
]


@click.command(epilog=EPILOG)
@click.argument("source")
@click.option("--out", "store", required=True, metavar="STORE", help="Folder to write to.")
@click.option(
    "--labels",
    metavar="FILE|COLUMN",
    help="Of pictures: a table of files and classes; default: a folder per class, or no classes "
    "where SOURCE holds files only. Of texts: the column of the classes.",
)
@encoder_options
@click.option(
    "--dask",
    "cluster",
    metavar="local|ADDRESS",
    help="Spread the work over a Dask cluster whose workers see the same files.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def features(source: str, store: str, cluster: str | None, as_json: bool, **options: Any) -> None:
    """Turn the pictures in a folder, or the texts of a table, into vectors.

    SOURCE is a folder of pictures, or a table with a column of texts: .csv, .tsv, .jsonl, .xlsx or
    .parquet. What cannot be read is listed and left out. Stopped or killed at any moment, the same
    command continues where it was, and the result is the same. When SOURCE has got more samples,
    the same command adds them to a complete store. fit, evaluate, advise and predict take the
    store.
    """
    samples = find_samples(source, options)
    made = encoded(samples, store, options, cluster=cluster)
    facts = _facts(made)
    if as_json:
        echo_json(facts | {"refused": made.refused, "duplicates": made.duplicates})
    else:
        rows = [{"fact": key.replace("_", " "), "value": str(facts[key])} for key in facts]
        click.echo(format_table(rows, {"fact": "store", "value": ""}))


def find_samples(source: str, options: Mapping[str, Any]) -> list[Sample]:
    """List the pictures of a folder, or the texts of a table.

    Parameters
    ----------
    source : str
        A folder or a table.
    options : mapping
        "labels", and those of `encoder_options`.

    Returns
    -------
    list of Sample
    """
    from zslearn._tables import ENDINGS
    from zslearn.encoders import find_pictures, read_texts

    if os.path.isfile(source) and Path(source).suffix.lower() in ENDINGS:
        if options["views"] != "center":
            raise click.UsageError("--views is for pictures")
        return read_texts(source, **{key: options[key] for key in ("text", "labels", "name")})
    for option in ("text", "name"):
        if options[option] is not None:
            raise click.UsageError(
                f"--{option} is for a table of texts ({', '.join(ENDINGS)}); got {source}"
            )
    return find_pictures(source, options["labels"])


def encoded(
    samples: list[Sample],
    store: str | Path,
    options: Mapping[str, Any],
    *,
    cluster: str | None = None,
    forget: bool = False,
) -> Store:
    """Encode samples into a store, continued where it was stopped, and list what was left out.

    Parameters
    ----------
    samples : list of Sample
        See `find_samples`.
    store : path-like
        The store.
    options : mapping
        Those of `encoder_options`.
    cluster : str, optional
        "local" or the address of a Dask cluster.
    forget : bool, default=False
        Leave samples of the store out that are not given any more.

    Returns
    -------
    Store
    """
    from zslearn.encoders import ImageEncoder, TextEncoder, build_store

    model, jobs = options["encoder"], options["jobs"]
    encoder: Encoder
    if samples and isinstance(samples[0].content, str):
        encoder = TextEncoder(model or "minilm", n_jobs=jobs or 1).fit()
    else:
        model = model or "efficientnet-lite2"
        encoder = ImageEncoder(model, views=options["views"], n_jobs=jobs).fit()
    what = "files" if encoder.kind == "image" else "texts"
    click.echo(f"Encoding {len(samples)} {what} with {encoder.identity} ...", err=True)
    with _spread(cluster) as spread:
        made = build_store(
            samples,
            store,
            encoder,
            strict=options["strict"],
            progress=True,
            spread=spread,
            forget=forget,
        )
    _echo_troubles(made)
    return made


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
    """List what was left out, what is there twice and what was cut, the first of many."""
    rows = "" if made.samples.texts is None else "row "
    lines = [f"Left out {rows}{name}: {reason}" for name, reason in made.refused.items()]
    _echo_first(lines)
    if made.samples.texts is None:
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


def _facts(made: Store) -> dict[str, Any]:
    labels = made.y
    return {
        "folder": str(made.folder),
        "pictures" if made.samples.texts is None else "texts": len(made.samples),
        "features": made.n_features,
        "classes": 0 if labels is None else len(set(labels.tolist())),
        "left_out": len(made.refused),
        "duplicates": len(made.duplicates),
        "encoder": str(made.encoder),
    }
