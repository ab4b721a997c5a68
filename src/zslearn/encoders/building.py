"""From files of pictures to a store of their vectors, continued wherever it was stopped.

Pictures are encoded in chunks whose members never change, and each chunk is written whole with its
record last. So a run that was killed continues with the first chunk that lacks its record, and the
result has the same bits as that of a run that was not. A complete store grows in the same way: it
stays as it is until all new pictures are encoded.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line, replacing
from zslearn._progress import progress_bar
from zslearn.core.threads import map_in_order, n_threads
from zslearn.encoders.image_encoder import ImageEncoder
from zslearn.encoders.picture_store import (
    PictureStore,
    publish,
    read_meta,
    write_json,
    write_labels,
    write_vectors,
)
from zslearn.encoders.pictures import Pixels, decode_rgb
from zslearn.encoders.samples import Picture
from zslearn.encoders.store import KIND, META, VERSION
from zslearn.exceptions import InvalidInputError, ZslearnError
from zslearn.signatures.files import ARRAY_DAMAGE

CHUNK = 32
Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


class _Encoded(NamedTuple):
    """What became of a chunk of pictures."""

    vectors: NDArray[np.float32]
    record: dict[str, Any]


class _Known(NamedTuple):
    """What a complete store already holds: its vectors, and row and SHA-256 by name."""

    vectors: NDArray[np.float32]
    rows: dict[str, int]
    sha256: dict[str, str]


def extract_features(
    pictures: Sequence[Picture],
    folder: str | Path,
    encoder: ImageEncoder,
    *,
    strict: bool = False,
    progress: bool = False,
    spread: Spread | None = None,
    forget: bool = False,
) -> PictureStore:
    """Encode pictures into a store.

    Called again with the same pictures, it continues where it was stopped, also by a kill. Called
    with those of a complete store and more, it encodes the new ones and those that have changed.

    Parameters
    ----------
    pictures : sequence of Picture
        As `find_pictures` lists them.
    folder : path-like
        The store; made if it is not there.
    encoder : ImageEncoder
        What encodes.
    strict : bool, default=False
        Stop at a picture that cannot be read, in place of leaving it out.
    progress : bool, default=False
        Show a bar with the rate and the time left on standard error.
    spread : callable, optional
        ``spread(function, items)`` yields ``function(item)`` in the order of the items; by default
        in threads of this process, by the encoder's `n_jobs`.
    forget : bool, default=False
        Leave pictures of a complete store out that are not given any more, in place of an error.

    Returns
    -------
    PictureStore
        Of the pictures that could be read; `refused` names the others.

    Raises
    ------
    InvalidInputError
        If the folder holds something else, or pictures that are not given; if no picture could be
        read, or with `strict` one.
    """
    root = Path(folder)
    plan = _plan(pictures, encoder)
    if (root / "parts" / META).exists():
        publish(root)  # a kill came between its files
    known = None
    if (root / META).exists():
        if read_meta(root).get("plan") == plan:
            shutil.rmtree(root / "parts", ignore_errors=True)  # left by a kill at the very end
            return PictureStore.open(root)
        known = _known(root, pictures, encoder, forget=forget)
    new = [picture for picture in pictures if known is None or picture.name not in known.rows]
    with _undamaged(root / "parts"):
        parts = _start(root, plan, new, grows=known is not None)
    chunks = [new[first : first + CHUNK] for first in range(0, len(new), CHUNK)]
    todo = [i for i in range(len(chunks)) if not _record_file(parts, i).exists()]
    spread = spread or partial(map_in_order, n=encoder.n_jobs or n_threads())
    work = partial(encode_chunk, encoder=encoder, strict=strict)
    with progress_bar(len(pictures), "pictures", "picture", show=progress) as bar:
        bar.update(len(pictures) - sum(len(chunks[i]) for i in todo))
        for i, encoded in zip(todo, spread(work, [chunks[i] for i in todo]), strict=True):
            _write_chunk(parts, i, encoded)
            bar.update(len(chunks[i]))
    with _undamaged(parts):
        _finish(root, pictures, chunks, known, plan)
    return PictureStore.open(root)


def encode_chunk(pictures: Sequence[Picture], encoder: ImageEncoder, strict: bool) -> _Encoded:
    """Read and encode some pictures, a batch at a time; those that cannot be read are recorded."""
    record: dict[str, Any] = {"kept": [], "sha256": [], "refused": {}}
    vectors = [np.empty((0, encoder.n_features), np.float32)]
    for first in range(0, len(pictures), encoder.batch_size):
        batch: list[Pixels] = []
        for i, picture in enumerate(pictures[first : first + encoder.batch_size], first):
            try:
                content = picture.path.read_bytes()
                batch.append(decode_rgb(content, picture.name))
            except (ZslearnError, OSError) as error:
                if strict:
                    raise
                record["refused"][picture.name] = _reason(error)
                continue
            record["kept"].append(i)
            record["sha256"].append(_sha256(content))
        if batch:
            vectors.append(encoder.encode_batch(batch))
    return _Encoded(np.concatenate(vectors), record)


def _plan(pictures: Sequence[Picture], encoder: ImageEncoder) -> dict[str, Any]:
    """Describe an extraction: the encoder, and a digest of the names, classes and sizes."""
    if not pictures:
        raise InvalidInputError("there are no pictures to encode.")
    return {
        "encoder": encoder.identity.as_dict(),
        "chunk": CHUNK,
        "pictures": len(pictures),
        "digest": _digest(pictures),
    }


def _digest(pictures: Sequence[Picture]) -> str:
    digest = hashlib.sha256()
    for picture in pictures:
        size = picture.path.stat().st_size if picture.path.is_file() else None
        digest.update(json.dumps([picture.name, picture.label, size]).encode())
    return digest.hexdigest()


def _known(
    root: Path, pictures: Sequence[Picture], encoder: ImageEncoder, *, forget: bool
) -> _Known:
    """Find the pictures that a complete store holds with the same bytes."""
    store = PictureStore.open(root)
    if not store.encoder.matches(encoder.identity):
        raise InvalidInputError(
            f"{root} was made by the encoder {store.encoder}; got {encoder.identity}. Choose "
            "another folder for its vectors."
        )
    paths = {picture.name: picture.path for picture in pictures}
    lost = [name for name in store.samples if name not in paths]
    if lost and not forget:
        raise InvalidInputError(
            f"{root} holds {len(lost)} pictures that are not among those given, such as "
            f"{lost[0]!r}. To add pictures, put them with the old ones; for others, choose another "
            "folder."
        )
    rows, digests = {}, {}
    for row, (name, sha256) in enumerate(zip(store.samples, store.sha256, strict=True)):
        if name in paths and paths[name].is_file() and _sha256(paths[name].read_bytes()) == sha256:
            rows[name], digests[name] = row, sha256
    return _Known(store.X, rows, digests)


def _start(
    root: Path, plan: dict[str, Any], new: Sequence[Picture], *, grows: bool = False
) -> Path:
    """Note the plan of a new extraction, or see that the one begun is the same."""
    parts = root / "parts"
    file = parts / "plan.json"
    plan = plan | {"new": _digest(new)}
    if file.is_file():
        begun = json.loads(file.read_text("utf-8"))
        if begun == plan:
            return parts
        if not grows:
            raise InvalidInputError(_begun_otherwise(root, begun, plan))
    others = set(root.iterdir()) - {parts} if root.is_dir() else set()
    if not grows and (others or (root.exists() and not root.is_dir())):
        raise InvalidInputError(f"{root} holds something else; choose a new or empty folder.")
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    write_json(file, plan)
    return parts


@contextmanager
def _undamaged(parts: Path) -> Iterator[None]:
    """Say in one line that what a run left cannot be read."""
    try:
        yield
    except (ZslearnError, OSError):
        raise
    except (AttributeError, *ARRAY_DAMAGE) as error:
        raise InvalidInputError(
            f"{parts} is damaged ({first_line(error)}). Remove it to start over."
        ) from error


def _begun_otherwise(root: Path, begun: Any, plan: dict[str, Any]) -> str:
    what = "another encoder" if begun.get("encoder") != plan["encoder"] else "other pictures"
    return (
        f"{root} was begun with {what} or labels and is not complete. Choose another folder or "
        "remove this one."
    )


def _write_chunk(parts: Path, number: int, encoded: _Encoded) -> None:
    with replacing(_vector_file(parts, number)) as file:
        np.save(file, encoded.vectors, allow_pickle=False)
    write_json(_record_file(parts, number), encoded.record)


def _finish(
    root: Path,
    pictures: Sequence[Picture],
    chunks: Sequence[Sequence[Picture]],
    known: _Known | None,
    plan: dict[str, Any],
) -> None:
    """Join the chunks with what was known, and make that the store."""
    parts = root / "parts"
    digests = {} if known is None else dict(known.sha256)
    refused: dict[str, str] = {}
    for number, chunk in enumerate(chunks):
        record = json.loads(_record_file(parts, number).read_text("utf-8"))
        refused |= record["refused"]
        names = (chunk[i].name for i in record["kept"])
        digests |= dict(zip(names, record["sha256"], strict=True))
    if not digests:
        name, reason = next(iter(refused.items()))
        raise InvalidInputError(
            f"none of the {len(pictures)} files could be read as a picture; {name}: {reason}"
        )
    kept = [picture for picture in pictures if picture.name in digests]
    files = [_vector_file(parts, number) for number in range(len(chunks))]
    shape = write_vectors(parts / "X.npy", _rows(kept, known, files), len(kept))
    samples = {
        "names": [picture.name for picture in kept],
        "sha256": [digests[picture.name] for picture in kept],
    }
    write_json(parts / "samples.json", samples)
    meta = {
        "kind": KIND,
        "version": VERSION,
        "n_features": shape[1],
        "dtype": "float32",
        "classes": write_labels(parts, [picture.label for picture in kept]),
        "encoder": plan["encoder"],
        "plan": plan,
        "refused": refused,
        "duplicates": _copies(kept, digests),
    }
    write_json(parts / META, meta)
    publish(root)


def _rows(
    kept: Sequence[Picture], known: _Known | None, files: Sequence[Path]
) -> Iterator[NDArray[np.float32]]:
    """Yield the vectors in the order of their pictures, from the old store and from the chunks."""
    new = (row for file in files for row in np.load(file, allow_pickle=False))
    for picture in kept:
        if known is not None and picture.name in known.rows:
            yield known.vectors[known.rows[picture.name]]
        else:
            yield next(new)


def _copies(kept: Sequence[Picture], digests: dict[str, str]) -> list[list[str]]:
    """Return the names of pictures that are the same bytes, a list for each of them."""
    copies: dict[str, list[str]] = {}
    for picture in kept:
        copies.setdefault(digests[picture.name], []).append(picture.name)
    return [names for names in copies.values() if len(names) > 1]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _vector_file(parts: Path, number: int) -> Path:
    return parts / f"{number:06d}.npy"


def _record_file(parts: Path, number: int) -> Path:
    return parts / f"{number:06d}.json"


def _reason(error: Exception) -> str:
    """Return why a picture was refused, without its name and the advice."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    text = str(error)
    return text.partition("(")[2].rpartition(")")[0] or text
