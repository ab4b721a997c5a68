"""Where the data of `fit` and `evaluate` comes from: a data set or one's own files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.main import warnings_as_lines
from zslearn.cli.output import echo_notes, names_in
from zslearn.exceptions import InvalidInputError, MissingFileError, ZslearnError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zslearn.datasets import ClassSplit, ZeroShotDataset
    from zslearn.encoders import EncoderIdentity
    from zslearn.signatures import Signatures

OWN_FILES = ("features", "labels", "signatures")
_LARGE = 50 * 2**20
# Files that make a folder a data set.
_DATA_SETS = ("*_splits*.mat", "predicate-matrix-*.txt", "X.npy", "features.*")


@dataclass(frozen=True)
class Source:
    """What the user said about the data.

    Attributes
    ----------
    path : str or None
        A data set: "animals", a folder in the xlsa17 layout or a folder of one's own.
    features : str or None
        With a path the name of the feature file, otherwise a file of features.
    labels, signatures : str or None
        Files, or the label column of the features.
    classes : str or None
        Names and descriptions of the classes, in place of signatures.
    semantics : tuple of str
        Semantic spaces; several are joined.
    split : str or None
        Name of a split.
    unseen : tuple of str
        Classes to hold out of one's own files.
    ignore : tuple of str
        Columns of one's own table that are no features.
    """

    path: str | None
    features: str | None
    labels: str | None
    signatures: str | None
    classes: str | None
    semantics: tuple[str, ...]
    split: str | None
    unseen: tuple[str, ...]
    ignore: tuple[str, ...]

    def load(self) -> ZeroShotDataset:
        """Return the data set, its first semantic space being the one asked for."""
        self._check_usage()
        from zslearn.datasets import open_dataset

        click.echo("Loading the data ...", err=True)
        if self._is_store():
            return self._load_store()
        if self.path is None:
            return self._load_files()
        semantics = self.semantics[0] if self.semantics else None
        with warnings_as_lines():
            dataset = open_dataset(self.path, self.features, semantics)
        if dataset.X.shape[1] == 0:
            raise InvalidInputError(
                f"{self.path} was opened without features; name a feature file by --features."
            )
        return self._joined(dataset)

    def find_split(self, dataset: ZeroShotDataset) -> tuple[str, ClassSplit]:
        """Return the split asked for, or the default one, with its name."""
        from zslearn.evaluation.protocols import find_split

        return find_split(dataset, self.split)

    def _is_missing(self) -> bool:
        bundled = ("animals", "animals28")
        return self.path is not None and self.path not in bundled and not Path(self.path).exists()

    def _is_store(self) -> bool:
        from zslearn.encoders import is_store

        return self.path is not None and is_store(self.path)

    def training_rows(self, dataset: ZeroShotDataset) -> Any:
        """Return the rows of the split's seen classes; every row where there is no split."""
        import numpy as np

        if not dataset.splits and self.split is None:
            return np.arange(len(dataset.y))
        return dataset.train_rows(self.find_split(dataset)[1])

    def _load_files(self) -> ZeroShotDataset:
        """Read one's own files, and say how, or which of them were swapped."""
        files = [str(getattr(self, name)) for name in OWN_FILES]
        if self.classes is not None:
            own = self._read([*files[:2], describe_classes(self.classes, None)])
            echo_notes(files[0], own.extra["notes"])
            return own
        try:
            own = self._read(files)
        except ZslearnError:
            for one, other in ((0, 1), (0, 2), (1, 2)):
                exchanged = files.copy()
                exchanged[one], exchanged[other] = files[other], files[one]
                if self._is_readable(exchanged):
                    raise InvalidInputError(
                        f"--{OWN_FILES[one]} and --{OWN_FILES[other]} seem to be swapped; give "
                        f"--{OWN_FILES[one]} {files[other]} --{OWN_FILES[other]} {files[one]}."
                    ) from None
            raise
        echo_notes(files[0], own.extra["notes"])
        echo_notes(files[2], own.extra["signature_notes"])
        return own

    def _read(self, files: list[Any]) -> ZeroShotDataset:
        from zslearn.datasets.table import read_own_data

        return read_own_data(*files, unseen=list(self.unseen) or None, ignore=self.ignore)

    def _is_readable(self, files: list[str]) -> bool:
        """Say whether files fit together; large ones are not read a second time to find out."""
        if any(os.path.isfile(path) and os.path.getsize(path) > _LARGE for path in files):
            return False
        try:
            own = self._read(files)
        except ZslearnError:
            return False
        return len(own.y) > 1

    def _load_store(self) -> ZeroShotDataset:
        """Join the vectors of a store with the signatures of their classes."""
        from dataclasses import replace

        from zslearn.datasets.table import read_own_data
        from zslearn.encoders import Store

        store = Store.open(str(self.path))
        of_texts = store.encoder is not None and store.encoder.kind == "text"
        if store.y is None:
            what, remedy = ("pictures", "on a folder per class, or with --labels")
            if of_texts:
                what, remedy = "texts", "with --labels COLUMN"
            raise InvalidInputError(
                f"the {what} of {self.path} have no classes; run zslearn features {remedy}."
            )
        table: Any = str(self.signatures)
        if self.classes is not None:
            table = describe_classes(self.classes, store.encoder)
        with self._in_numbers():
            own = read_own_data(store.X, store.y, table, unseen=list(self.unseen) or None)
        echo_notes(str(self.signatures), own.extra["signature_notes"])
        return replace(
            own,
            features=str(store.encoder),
            source=str(self.path),
            image_files=store.samples.names,
            extra={**own.extra, "encoder": store.encoder, "texts": store.samples.texts},
        )

    def _joined(self, dataset: ZeroShotDataset) -> ZeroShotDataset:
        """Put several semantic spaces, each of unit length, side by side as the first."""
        if len(self.semantics) < 2:
            return dataset
        from dataclasses import replace

        from zslearn.evaluation.run import find_semantics

        table, name = find_semantics(dataset, list(self.semantics))
        # Word vectors may be a hundred times as long as attributes, which would then not count.
        table = table.normalized("l2-block")
        return replace(dataset, semantics={name: table, **dataset.semantics})

    def is_raw(self) -> bool:
        """Say whether PATH holds pictures, or is a table, and so has to be encoded first.

        A folder with files of a data set in it is one, whatever pictures lie beside them.
        """
        from zslearn._tables import ENDINGS
        from zslearn.encoders.pictures import IMAGE_SUFFIXES

        root = Path(str(self.path))
        if self.path is None or self._is_store():
            return False
        if not root.is_dir():
            return root.is_file() and root.suffix.lower() in ENDINGS
        if any(file for mark in _DATA_SETS for file in root.glob(mark)):
            return False
        files = (path for path in root.rglob("*") if path.is_file())
        first = next(files, None)
        return first is None or any(
            path.suffix.lower() in IMAGE_SUFFIXES for path in (first, *files)
        )

    def class_names(self) -> list[str]:
        """Return the names of the classes, from the file that describes them."""
        from zslearn.datasets.table import read_signatures
        from zslearn.encoders import read_descriptions

        if self.classes is not None:
            return list(read_descriptions(self.classes))
        with self._in_numbers():
            return list(map(str, read_signatures(str(self.signatures))))

    @contextmanager
    def _in_numbers(self) -> Iterator[None]:
        """Say what to do where --signatures names a file of words."""
        try:
            yield
        except ZslearnError:
            if self.signatures is not None and is_in_words(self.signatures):
                raise InvalidInputError(
                    f"{self.signatures} describes the classes in words; give it by --classes."
                ) from None
            raise

    def _check_not_encoded(self) -> None:
        """Say what to do with a folder of pictures, or a table, that has not been encoded."""
        from zslearn.datasets.table import ENDINGS
        from zslearn.encoders.pictures import IMAGE_SUFFIXES

        root = Path(str(self.path))
        if root.is_file() and root.suffix.lower() in ENDINGS:
            raise InvalidInputError(
                f"{root} is a table. If it holds texts, encode them by: zslearn features {root} "
                "--text COLUMN --labels COLUMN --out STORE, and give that STORE; if it holds "
                f"features, give it by --features {root}."
            )
        endings = {path.suffix.lower() for path in root.rglob("*")} if root.is_dir() else set()
        if endings & IMAGE_SUFFIXES and not endings & set(ENDINGS):
            raise InvalidInputError(
                f"{root} holds pictures; encode them by: zslearn features {root} --out STORE, and "
                "give that STORE."
            )

    def _check_usage(self) -> None:
        if self.signatures is not None and self.classes is not None:
            raise click.UsageError("give the classes by --signatures or by --classes, not by both")
        given = [self.features, self.labels, self.signatures or self.classes]
        if self.path is None and None in given:
            raise click.UsageError(
                "give a data set PATH, or your own files by --features, --labels and --signatures"
            )
        if self._is_store():
            if (self.signatures or self.classes) is None or self.labels or self.features:
                raise click.UsageError(
                    "a store made by zslearn features needs --signatures or --classes, and neither "
                    "--features nor --labels"
                )
            if self.semantics or self.split:
                raise click.UsageError("--semantics and --split are for a data set PATH")
            return
        own = self.signatures or self.classes
        if own and self._is_missing():
            raise MissingFileError(f"No such path: {self.path!r}; check the spelling.")
        if self.path is not None and (self.labels or own or self.unseen):
            self._check_not_encoded()
            raise click.UsageError(
                "--labels, --signatures, --classes and --unseen are for your own files, without a "
                "PATH, and --signatures and --classes for a store made by zslearn features"
            )
        if self.path is not None and self.ignore:
            raise click.UsageError("--ignore is for a table of your own, without a PATH")
        if self.path is None and (self.semantics or self.split):
            raise click.UsageError("--semantics and --split are for a data set PATH")


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument and options that make a `Source`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def source_of(options: dict[str, Any]) -> Source:
    """Take the options of a `Source` out of those of a command."""
    return Source(
        path=options.pop("path"),
        features=options.pop("features"),
        labels=options.pop("labels"),
        signatures=options.pop("signatures"),
        classes=options.pop("classes"),
        semantics=names_in(options.pop("semantics")),
        split=options.pop("split"),
        unseen=names_in(options.pop("unseen")),
        ignore=tuple(options.pop("ignore")),
    )


_OPTIONS = [
    click.argument("path", required=False),
    click.option(
        "--features",
        metavar="NAME|FILE",
        help="With PATH: which feature file (default: res101 or the only one). "
        "Without: your features, a table (.csv, .tsv, .jsonl, .xlsx, .parquet), .npy or .npz, one "
        "sample per row.",
    ),
    click.option(
        "--semantics",
        metavar="NAME[,NAME]",
        help='Semantic space of the data set, e.g. attributes or "word vectors"; several are '
        "joined, each scaled to unit length. Default: the first.",
    ),
    click.option(
        "--split",
        metavar="NAME",
        help="Split of the data set, e.g. standard or proposed. Default: proposed or the first.",
    ),
    click.option(
        "--labels",
        metavar="FILE|COLUMN",
        help="Your labels: one per line, .npy, or a column of the features table.",
    ),
    click.option(
        "--signatures",
        metavar="FILE",
        help="Your classes: a table with a header and one line per class, its name first; yes "
        "and no count as 1 and 0.",
    ),
    click.option(
        "--classes",
        metavar="FILE",
        help="Your classes in words, in place of --signatures: a table of names and descriptions, "
        "or a name per line. A text encoder makes the signatures: the one of the store for texts, "
        "minilm for anything else.",
    ),
    click.option(
        "--unseen",
        metavar="NAME[,NAME]",
        help="Classes of your files that are not trained on. Default: those without a sample.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="COLUMN",
        help="A column of your features that is no feature; repeatable.",
    ),
]


def describe_classes(path: str, encoder: EncoderIdentity | None) -> Signatures:
    """Make signatures of the classes that a file describes in words.

    Parameters
    ----------
    path : str
        Names and descriptions, or a name per line.
    encoder : EncoderIdentity or None
        What made the samples: texts and classes go through the same encoder.

    Returns
    -------
    Signatures
    """
    from zslearn.encoders import class_encoder, read_descriptions
    from zslearn.signatures import Signatures

    texts = read_descriptions(path)
    words = class_encoder(encoder)
    click.echo(f"Encoding {len(texts)} classes with {words.identity} ...", err=True)
    with warnings_as_lines():
        return Signatures.from_texts(texts, words)


def is_in_words(path: str) -> bool:
    """Say whether a file names or describes classes, rather than giving numbers for them."""
    from zslearn._tables import ENDINGS, read_table

    if Path(path).is_dir():
        return False
    if Path(path).suffix.lower() not in ENDINGS:
        return Path(path).suffix.lower() not in (".npz", ".npy")
    try:
        table = read_table(path)
        told = range(1, len(table.columns))
        table = table.with_truths(told)  # yes and no are numbers
    except ZslearnError:
        return False  # what is wrong is said where it is read
    return all(map(table.is_text, told))


def remember_columns(model: Any, columns: Sequence[str]) -> None:
    """Keep the names of the features with a fitted model; none for arrays."""
    if columns:
        model.feature_columns_ = tuple(columns)


def order_columns(model: Any, X: NDArray[Any], columns: Sequence[str], path: str) -> NDArray[Any]:
    """Return the features in the order of training, told apart by their names.

    Parameters
    ----------
    model : estimator
        A fitted model, possibly without names.
    X : ndarray of shape (n_samples, n_features)
        The features of a file.
    columns : sequence of str
        Their names; empty where the file has none.
    path : str
        The file, named in the error.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
    """
    known = list(getattr(model, "feature_columns_", ()))
    found = list(columns)
    if not found or not known or found == known:
        return X
    _check_same(known, found, path)
    click.echo(f"{path}: the columns were brought into the order of training.", err=True)
    import numpy as np

    return np.ascontiguousarray(X[:, [found.index(name) for name in known]])


def _check_same(known: list[str], found: list[str], path: str) -> None:
    """Refuse a table that lacks a feature of the model, or has one that it never saw."""
    from zslearn._tables import spelled_names

    lacking = [name for name in known if name not in found]
    strange = [name for name in found if name not in known]
    if lacking:
        raise InvalidInputError(
            f"{path} has no column {lacking[0]!r}, which the model learned from"
            f"{_more(lacking)}; its columns are {spelled_names(found, lacking[0])}"
        )
    if strange:
        raise InvalidInputError(
            f"{path} has a column {strange[0]!r}, which the model did not learn from"
            f"{_more(strange)}. Leave it out by --ignore."
        )
    if len(set(found)) < len(found):
        raise InvalidInputError(f"{path} has two columns of the same name; rename them.")


def _more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
