"""`zslearn describe`: names or descriptions of classes to a table of signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.main import warnings_as_lines
from zslearn.cli.output import check_target, echo_json, format_table

if TYPE_CHECKING:
    from zslearn.encoders import MatchedSignatures
    from zslearn.signatures import Signatures

EPILOG = """\b
Examples:
  zslearn describe classes.txt --out signatures.csv
  zslearn describe descriptions.csv --out signatures.csv
  zslearn describe classes.txt --out signatures.csv --template "a photo of a {}"
  zslearn describe classes.txt --out signatures.csv --vectors glove.6B.300d.txt
  zslearn describe classes.txt --out signatures.csv --wordnet --below animal
"""
TEXTS = {"name": "class", "texts": "texts", "first": "first text"}
MATCHES = {"name": "class", "rule": "rule", "words": "found"}
Rows = list[dict[str, Any]]


@click.command(epilog=EPILOG)
@click.argument("classes")
@click.option(
    "--out",
    "target",
    required=True,
    metavar="FILE",
    help="Where to write the table, .csv or .npz.",
)
@click.option(
    "--encoder",
    metavar="MODEL",
    help="Text encoder: minilm (the default), minilm-int8, hf:NAME or open_clip:NAME/TAG.",
)
@click.option(
    "--vectors",
    metavar="FILE",
    help="Take word vectors: word2vec .bin or .txt, GloVe .txt, fastText .vec, also gzipped.",
)
@click.option("--wordnet", is_flag=True, help="Take WordNet's kinds of each class.")
@click.option("--below", metavar="NOUN", help="With --wordnet: take senses of this kind only.")
@click.option(
    "--template",
    "templates",
    multiple=True,
    metavar="TEXT",
    help='With --encoder: a sentence with {} for each text, as "a photo of a {}"; may be repeated.',
)
@click.option(
    "--override",
    "overrides",
    multiple=True,
    metavar="CLASS=WORD[,WORD]",
    help="With --vectors or --wordnet: look for these words in place of the name; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def describe(classes: str, target: str, as_json: bool, **options: Any) -> None:
    """Make a table of signatures from the names or descriptions in CLASSES.

    CLASSES holds one name per line or, as .csv, a header and then lines with a class and its
    descriptions; a class may have several. The table is what zslearn fit takes as --signatures.
    """
    _check_usage(target, options)
    check_target(target)
    from zslearn.encoders import read_descriptions

    texts = read_descriptions(classes)
    with warnings_as_lines():
        if options["vectors"] or options["wordnet"]:
            matched = _matched(list(texts), options)
            table, source, rows = matched.signatures, str(matched), _match_rows(matched)
        else:
            table, source, rows = _encoded(texts, options)
    (table.to_npz if target.endswith(".npz") else table.to_csv)(target)
    facts = {"file": target, "classes": len(table), "dimensions": table.n_dimensions}
    if as_json:
        echo_json(facts | {"source": source, "coverage": rows})
        return
    click.echo(format_table(rows, TEXTS if "texts" in rows[0] else MATCHES))
    click.echo(f"\n{source}\n{len(table)} classes × {table.n_dimensions} dimensions: {target}")


def _check_usage(target: str, options: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    kinds = [f"--{name}" for name in ("encoder", "vectors", "wordnet") if options[name]]
    if len(kinds) > 1:
        raise click.UsageError(f"{' and '.join(kinds)} exclude each other")
    named = bool(options["vectors"] or options["wordnet"])
    if options["below"] and not options["wordnet"]:
        raise click.UsageError("--below is for --wordnet")
    if options["overrides"] and not named:
        raise click.UsageError("--override is for --vectors and --wordnet")
    if options["templates"] and named:
        raise click.UsageError("--template is for --encoder")
    if not target.endswith((".csv", ".npz")):
        raise click.UsageError(f"--out must end in .csv or .npz; got {target}")


def _encoded(texts: dict[str, list[str]], options: dict[str, Any]) -> tuple[Signatures, str, Rows]:
    """Encode the texts of every class."""
    from zslearn.encoders import TextEncoder
    from zslearn.signatures import Signatures

    encoder = TextEncoder(options["encoder"] or "minilm")
    table = Signatures.from_texts(texts, encoder, templates=options["templates"] or "{}")
    rows = [
        {"name": name, "texts": len(given), "first": given[0][:60]} for name, given in texts.items()
    ]
    return table, f"Encoded by {encoder.identity}.", rows


def _matched(names: list[str], options: dict[str, Any]) -> MatchedSignatures:
    """Look for the names in word vectors or WordNet."""
    from zslearn.encoders import match_word_vectors, match_wordnet

    overrides = dict(map(_override, options["overrides"]))
    if options["wordnet"]:
        single = {name: " ".join(words) for name, words in overrides.items()}
        return match_wordnet(names, below=options["below"], overrides=single)
    click.echo(f"Reading {options['vectors']} ...", err=True)
    return match_word_vectors(names, options["vectors"], overrides=overrides)


def _override(text: str) -> tuple[str, tuple[str, ...]]:
    """Split CLASS=WORD,WORD."""
    from zslearn.cli.output import names_in

    name, mark, words = text.partition("=")
    if not mark or not names_in(words):
        raise click.UsageError(f"--override must be CLASS=WORD; got {text!r}")
    return name, names_in(words)


def _match_rows(matched: MatchedSignatures) -> Rows:
    return [
        {"name": match.name, "rule": match.rule, "words": " + ".join(match.words)}
        for match in matched.coverage
    ]
