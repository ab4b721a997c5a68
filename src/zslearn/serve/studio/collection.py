"""The samples of a studio: features, labels, pictures or texts; and those a visitor brings."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import Normalizer

from zslearn.datasets import ClassSplit, ZeroShotDataset, load_animals, make_shapes
from zslearn.datasets.shapes import draw, place
from zslearn.encoders import Encoder, EncoderIdentity, encoder_of
from zslearn.encoders.efficientnet import builtin_identity
from zslearn.encoders.pictures import Pixels, decode_rgb, encode_picture, read_rgb, scaled
from zslearn.encoders.samples import text_problem
from zslearn.evaluation import GeneralizedProtocol
from zslearn.exceptions import InvalidInputError
from zslearn.serve.inference import FORMATS, MOST_LETTERS
from zslearn.serve.responses import RequestError, refuse
from zslearn.serve.settings import Limits
from zslearn.serve.studio.state import Example
from zslearn.signatures import Signatures
from zslearn.zero_shot.explanation import numbered_dimensions

SIDE = 96
CLUTTER = 4
N_SEEN, N_UNSEEN, N_PER_CLASS = 30, 12, 40
N = (N_SEEN + N_UNSEEN) * N_PER_CLASS


def shape_classes() -> tuple[Signatures, ClassSplit]:
    """Return the classes, with 20 attributes each, and which of them are seen."""
    made = make_shapes(N_SEEN, N_UNSEEN, n_per_class=1, side=16, random_state=0)
    return made.signatures, made.split


def draw_shape(name: str, number: int, side: int = SIDE) -> NDArray[np.uint8]:
    """Draw the picture of a row, always the same one, at any size.

    Parameters
    ----------
    name : str
        Its class, such as "large striped red star".
    number : int
        The row.
    side : int, default=96
        Height and width.

    Returns
    -------
    ndarray of shape (side, side, 3), uint8
    """
    size, texture, color, shape = name.split(" ")
    rng = RandomState([0, number])
    return draw(place(shape, color, texture, size, rng), side, CLUTTER, rng)


def load_shapes() -> ZeroShotDataset:
    """Load the features that were computed of the pictures; nothing is drawn."""
    signatures, split = shape_classes()
    X = _stored_shapes()["X"].astype(np.float32)
    return ZeroShotDataset(
        name="shapes",
        X=X,
        y=np.repeat(signatures.names, N_PER_CLASS),
        semantics={"attributes": signatures},
        splits={"standard": split},
        features=f"EfficientNet-Lite0 (ImageNet), {X.shape[1]} principal components",
        source="drawn by zslearn",
    )


def _stored_shapes() -> dict[str, NDArray[Any]]:
    with (files("zslearn.serve.studio") / "data" / "shapes.npz").open("rb") as file:
        with np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}


def _shape_steps() -> tuple[Any, ...]:
    """Return what turns a vector of the encoder into features: unit length, principal axes."""
    axes = _stored_shapes()["axes"].astype(np.float32)
    project = TruncatedSVD(len(axes))
    project.components_, project.n_features_in_ = axes, axes.shape[1]
    unit = Normalizer()
    unit.n_features_in_ = axes.shape[1]
    return unit, project


# Classes with pictures whose description is left to the visitor.
WAITING = {
    "shapes": (
        "small dotted orange ring",
        "large plain yellow square",
        "large checkered pink star",
    ),
    "animals": ("horse", "rat"),
}
SHAPE_GROUPS = (("shape", 6), ("color", 8), ("texture", 4), ("size", 2))


@dataclass(frozen=True, eq=False)
class Collection:
    """What the studio shows.

    Attributes
    ----------
    name : str
        What the data is called.
    X : ndarray of shape (n_samples, n_features)
        Features.
    labels : ndarray of str of shape (n_samples,) or None
        Classes of the samples.
    signatures : Signatures
        The classes described from the start.
    seen : tuple of str
        Classes with training rows.
    train : ndarray of bool of shape (n_samples,)
        Rows that models are trained on.
    names : tuple of str or None
        What samples are called.
    picture : callable (row, side) -> pixels, or None
        Draws or reads the picture of a row; `side` is the size wanted.
    groups : tuple of str or None
        The group of each dimension.
    hidden : Signatures or None
        Descriptions that are known and left to the visitor.
    recipe : tuple of str
        Python lines that make X, y, train and signatures.
    encoder : EncoderIdentity or None
        What turned the samples into vectors, if that is known.
    steps : tuple of transformers
        Fitted; what makes features of these vectors.
    notice : str
        What the visitor should know about the data; empty if there is nothing.
    texts : tuple of str or None
        The texts that were encoded.
    """

    name: str
    X: NDArray[Any]
    labels: NDArray[np.str_] | None
    signatures: Signatures
    seen: tuple[str, ...]
    train: NDArray[np.bool_]
    names: tuple[str, ...] | None = None
    picture: Callable[[int, int], Pixels] | None = None
    groups: tuple[str, ...] | None = None
    hidden: Signatures | None = None
    recipe: tuple[str, ...] = ()
    encoder: EncoderIdentity | None = None
    steps: tuple[Any, ...] = ()
    notice: str = ""
    texts: tuple[str, ...] | None = None

    @property
    def unit(self) -> str:
        """What a sample is called on the page."""
        return "picture" if self.texts is None else "text"

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @cached_property
    def named(self) -> NDArray[np.bool_]:
        """Whether the name of each dimension means something, and does not only number it."""
        names = self.signatures.dimensions
        numbered = numbered_dimensions(names)
        return np.array([name not in numbered for name in names], bool)

    def identity(self) -> dict[str, Any]:
        """Return what edits depend on: classes, attributes and features, not single samples."""
        labels = [] if self.labels is None else np.unique(self.labels).tolist()
        parts = [self.signatures.dimensions, self.signatures.names.tolist(), labels]
        text = json.dumps([*parts, self.X.shape[1]])
        return {"name": self.name, "sha256": hashlib.sha256(text.encode()).hexdigest()}

    def training_identity(self) -> str:
        """Return a digest of all a fit depends on, such as values of the class table and labels."""
        digest = hashlib.sha256(self.identity()["sha256"].encode())
        # One number per sample: a picture may have been exchanged for another one.
        digest.update(self.X.sum(axis=1, dtype=np.float32).astype("<f4").tobytes())
        digest.update(np.ascontiguousarray(self.signatures.vectors, dtype="<f8").tobytes())
        digest.update(np.packbits(self.train).tobytes())
        if self.labels is not None:
            digest.update("\0".join(map(str, self.labels[self.train])).encode())
        return digest.hexdigest()


def open_shapes() -> Collection:
    """Return the drawn shapes."""
    data = load_shapes()
    names = data.y

    def picture(row: int, side: int) -> Pixels:
        return draw_shape(str(names[row]), row, side)

    groups = tuple(group for group, size in SHAPE_GROUPS for _ in range(size))
    shown = tuple(f"{name} {row}" for row, name in enumerate(names))
    loads = ["from zslearn.serve.studio.collection import load_shapes", "", "data = load_shapes()"]
    made = from_dataset(data, "shapes", picture=picture, names=shown, groups=groups, loads=loads)
    return replace(made, encoder=builtin_identity("efficientnet-lite0"), steps=_shape_steps())


def open_animals(pictures: Path | None = None) -> Collection:
    """Return the bundled animals; with the folder of their photographs, if it is given."""
    data = load_animals()
    names = tuple(data.image_files or ())
    picture = None if pictures is None else _photographs(pictures, data)
    loads = ["from zslearn.datasets import load_animals", "", "data = load_animals()"]
    made = from_dataset(data, "animals", names=names, picture=picture, loads=loads)
    return replace(
        made,
        encoder=builtin_identity("efficientnet-lite2"),
        notice="" if picture is not None else WITHOUT_PICTURES,
    )


WITHOUT_PICTURES = (
    "Each point is a photograph of an animal. Their features ship with zslearn, the photographs do "
    "not, so tiles show the initials of the animal; --pictures FOLDER shows photographs of yours."
)


def from_dataset(
    data: ZeroShotDataset,
    name: str,
    *,
    names: Sequence[str] | None = None,
    picture: Callable[[int, int], Pixels] | None = None,
    groups: tuple[str, ...] | None = None,
    loads: Sequence[str] = (),
) -> Collection:
    """Return a data set as a collection, split as the generalized protocol does."""
    task = GeneralizedProtocol().task(data)
    train = np.zeros(len(data.y), bool)
    train[task.train] = True
    waiting = [one for one in WAITING.get(name, ()) if one in data.signatures]
    return Collection(
        name,
        data.X,
        data.y.astype(str),
        data.signatures.drop(waiting) if waiting else data.signatures,
        tuple(map(str, task.seen)),
        train,
        tuple(names) if names else None,
        picture,
        groups,
        data.signatures.subset(waiting) if waiting else None,
        (*loads, *_split_lines(waiting)),
    )


def _split_lines(waiting: Sequence[str]) -> list[str]:
    """Return the Python lines that take a data set apart as `from_dataset` does."""
    dropped = f".drop({list(waiting)!r})" if waiting else ""
    return [
        "from zslearn.evaluation import GeneralizedProtocol",
        "",
        "X, y = data.X, data.y.astype(str)",
        "train = GeneralizedProtocol().task(data).train",
        f"signatures = data.signatures{dropped}",
        "",
    ]


def _photographs(folder: Path, data: ZeroShotDataset) -> Callable[[int, int], Pixels]:
    """Return the reader of the photographs of rows: a folder per class, files by name."""
    files = (name.rpartition("/")[2] for name in data.image_files or ())
    paths = [folder / str(label) / file for label, file in zip(data.y, files, strict=True)]
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None:
        raise InvalidInputError(
            f"--pictures: there is no file {str(missing)!r}; give the folder that holds one folder "
            "per class."
        )
    return files_reader(paths)


def files_reader(paths: Sequence[Path]) -> Callable[[int, int], Pixels]:
    """Return what reads the pictures of rows from their files."""

    def picture(row: int, side: int) -> Pixels:
        return read_rgb(paths[row], at_least=side)

    return picture


THUMBNAIL, PICTURE = 96, 512  # pixels high and wide at most
KEPT = 4096  # thumbnails in memory


class Thumbnails:
    """Makes small pictures, and keeps the last of them.

    Parameters
    ----------
    collection : Collection
        The samples.
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.small = lru_cache(KEPT)(partial(self.picture, side=THUMBNAIL))

    def picture(self, number: int, side: int = PICTURE) -> bytes:
        """Return the picture of a sample as a JPEG file, at most `side` high and wide."""
        if not 0 <= number < self._collection.n:
            raise RequestError(404, f"there is no sample {number}.")
        if self._collection.picture is None:
            raise RequestError(404, f"{self._collection.name} has no pictures.")
        return shrunk(self._collection.picture(number, side), side)


def shrunk(pixels: Pixels, side: int) -> bytes:
    """Return a picture as a JPEG file, at most `side` high and wide."""
    height, width = pixels.shape[:2]
    factor = min(1.0, side / max(height, width))
    size = max(1, round(height * factor)), max(1, round(width * factor))
    return encode_picture(scaled(pixels, size))


# How many are remembered; an example is kept in the project.
MOST = 200
MOST_TITLE = 100


class Drop(NamedTuple):
    """A sample that was brought; the face is a small picture as a data URI, or the text."""

    number: int
    title: str
    face: str
    vector: NDArray[np.float32]


class Drops:
    """What was brought lately.

    Parameters
    ----------
    collection : Collection
        Its encoder made the samples of the studio.
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._kept: OrderedDict[int, Drop] = OrderedDict()
        self._numbers = count(1)  # several requests may bring something at a time

    @property
    def kind(self) -> str | None:
        """What can be brought, "image" or "text"; None where nobody knows the encoder."""
        identity = self._collection.encoder
        return None if identity is None else identity.kind

    def add_picture(self, content: bytes, title: str, limits: Limits) -> Drop:
        """Take a photograph, the bytes of a JPEG or PNG file."""
        self._check("image", "a picture")
        name = title.strip()[:MOST_TITLE] or "picture"
        pixels = decode_rgb(content, repr(name), formats=FORMATS, max_pixels=limits.pixels)
        face = f"data:image/jpeg;base64,{base64.b64encode(shrunk(pixels, THUMBNAIL)).decode()}"
        return self._keep(name, face, self._encoder.encode_batch([pixels])[0])

    def add_text(self, text: str) -> Drop:
        """Take a text."""
        self._check("text", "a text")
        problem = text_problem(text)
        if problem is not None:
            raise refuse(f"the text: {problem}.")
        if len(text) > MOST_LETTERS:
            raise RequestError(413, f"the text has {len(text)} letters, more than {MOST_LETTERS}.")
        title = text if len(text) <= MOST_TITLE else f"{text[:MOST_TITLE]} …"
        return self._keep(title, text, self._encoder.transform([text])[0])

    def get(self, number: int) -> Drop:
        """Return what was brought under a number."""
        if number not in self._kept:
            raise RequestError(404, "this was brought too long ago; bring it once more.")
        return self._kept[number]

    def example(self, number: int) -> Example:
        """Return it as an example of a class."""
        drop, identity = self.get(number), self._collection.encoder
        sha = None if identity is None else identity.sha256
        return Example(drop.vector, drop.title, None, drop.face, sha)

    @cached_property
    def _encoder(self) -> Encoder:
        if self._collection.encoder is None:
            raise refuse("nobody knows what encoded these samples.")
        return encoder_of(self._collection.encoder, n_jobs=1)

    def _check(self, kind: str, what: str) -> None:
        if self.kind == kind:
            return
        if self.kind is None:
            raise RequestError(
                409,
                f"{self._collection.name} does not say what encoded its samples, so {what} cannot "
                "be compared with them. Open a folder of pictures, a table of texts, or a store.",
            )
        takes = "pictures" if self.kind == "image" else "texts"
        raise RequestError(409, f"these samples are {takes}; {what} cannot be compared with them.")

    def _keep(self, title: str, face: str, vector: NDArray[np.float32]) -> Drop:
        row = vector[None].astype(np.float32)
        for step in self._collection.steps:
            row = step.transform(row)
        drop = Drop(next(self._numbers), title, face, np.asarray(row[0], np.float32))
        self._kept[drop.number] = drop
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return drop
