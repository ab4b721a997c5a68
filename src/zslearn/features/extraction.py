"""From files of pictures to a store of their vectors, continued wherever it was stopped.

Pictures are encoded in chunks whose members never change, and each chunk is written whole with its
record last. So a run that was killed continues with the first chunk that lacks its record, and the
result has the same bits as that of a run that was not.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._files import replacing
from zslearn._progress import progress_bar
from zslearn.core.threads import map_in_order, n_threads
from zslearn.exceptions import InvalidInputError, ZslearnError
from zslearn.features.collection import Picture
from zslearn.features.image_encoder import ImageEncoder
from zslearn.features.picture_store import (
    PictureStore,
    read_meta,
    write_json,
    write_labels,
    write_vectors,
)
from zslearn.features.pictures import Pixels, decode_rgb
from zslearn.features.store import KIND, META, VERSION

CHUNK = 32
Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


class _Encoded(NamedTuple):
    """What became of a chunk of pictures."""

    vectors: NDArray[np.float32]
    record: dict[str, Any]


def extract_features(
    pictures: Sequence[Picture],
    folder: str | Path,
    encoder: ImageEncoder,
    *,
    strict: bool = False,
    progress: bool = False,
    spread: Spread | None = None,
) -> PictureStore:
    """Encode pictures into a store.

    Called again with the same pictures, it continues where it was stopped, also by a kill.

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

    Returns
    -------
    PictureStore
        Of the pictures that could be read; `refused` names the others.

    Raises
    ------
    InvalidInputError
        If the folder holds something else, no picture could be read, or with `strict` one.
    """
    root = Path(folder)
    plan = _plan(pictures, encoder)
    if (root / META).exists():
        return _finished(root, plan)
    parts = _start(root, plan)
    chunks = [pictures[first : first + CHUNK] for first in range(0, len(pictures), CHUNK)]
    todo = [i for i in range(len(chunks)) if not _record_file(parts, i).exists()]
    spread = spread or partial(map_in_order, n=encoder.n_jobs or n_threads())
    work = partial(encode_chunk, encoder=encoder, strict=strict)
    with progress_bar(len(pictures), "pictures", "picture", show=progress) as bar:
        bar.update(len(pictures) - sum(len(chunks[i]) for i in todo))
        for i, encoded in zip(todo, spread(work, [chunks[i] for i in todo]), strict=True):
            _write_chunk(parts, i, encoded)
            bar.update(len(chunks[i]))
    _finish(root, parts, pictures, len(chunks), plan)
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
            record["sha256"].append(hashlib.sha256(content).hexdigest())
        if batch:
            vectors.append(encoder.encode_pixels(batch))
    return _Encoded(np.concatenate(vectors), record)


def _plan(pictures: Sequence[Picture], encoder: ImageEncoder) -> dict[str, Any]:
    """Describe an extraction: the encoder, and a digest of the names, classes and sizes."""
    if not pictures:
        raise InvalidInputError("there are no pictures to encode.")
    digest = hashlib.sha256()
    for picture in pictures:
        size = picture.path.stat().st_size if picture.path.is_file() else None
        digest.update(json.dumps([picture.name, picture.label, size]).encode())
    return {
        "encoder": encoder.identity.as_dict(),
        "chunk": CHUNK,
        "pictures": len(pictures),
        "digest": digest.hexdigest(),
    }


def _start(root: Path, plan: dict[str, Any]) -> Path:
    """Note the plan of a new extraction, or see that the one begun is the same."""
    parts = root / "parts"
    file = parts / "plan.json"
    if file.is_file():
        _check_same(root, json.loads(file.read_text("utf-8")), plan)
        return parts
    if root.exists() and (not root.is_dir() or set(root.iterdir()) - {parts}):
        raise InvalidInputError(f"{root} holds something else; choose a new or empty folder.")
    parts.mkdir(parents=True, exist_ok=True)
    write_json(file, plan)
    return parts


def _check_same(root: Path, known: Any, plan: dict[str, Any]) -> None:
    if known != plan:
        what = "another encoder" if known.get("encoder") != plan["encoder"] else "other pictures"
        raise InvalidInputError(
            f"{root} was begun with {what} or labels. Choose another folder or remove this one."
        )


def _write_chunk(parts: Path, number: int, encoded: _Encoded) -> None:
    with replacing(_vector_file(parts, number)) as file:
        np.save(file, encoded.vectors, allow_pickle=False)
    write_json(_record_file(parts, number), encoded.record)


def _finish(
    root: Path, parts: Path, pictures: Sequence[Picture], n_chunks: int, plan: dict[str, Any]
) -> None:
    """Join the chunks; the description comes last and makes the store complete."""
    kept: list[Picture] = []
    copies: dict[str, list[str]] = {}
    refused: dict[str, str] = {}
    for number in range(n_chunks):
        record = json.loads(_record_file(parts, number).read_text("utf-8"))
        members = [pictures[number * CHUNK + i] for i in record["kept"]]
        kept += members
        refused |= record["refused"]
        for picture, sha256 in zip(members, record["sha256"], strict=True):
            copies.setdefault(sha256, []).append(picture.name)
    if not kept:
        name, reason = next(iter(refused.items()))
        raise InvalidInputError(
            f"none of the {len(pictures)} files could be read as a picture; {name}: {reason}"
        )
    files = [_vector_file(parts, number) for number in range(n_chunks)]
    shape = len(kept), int(np.load(files[0], mmap_mode="r").shape[1])
    write_vectors(root / "X.npy", files, shape)
    write_json(root / "samples.json", [picture.name for picture in kept])
    meta = {
        "kind": KIND,
        "version": VERSION,
        "n_features": shape[1],
        "dtype": "float32",
        "classes": write_labels(root, [picture.label for picture in kept]),
        "encoder": plan["encoder"],
        "plan": plan,
        "refused": refused,
        "duplicates": [names for names in copies.values() if len(names) > 1],
    }
    write_json(root / META, meta)
    shutil.rmtree(parts)


def _finished(root: Path, plan: dict[str, Any]) -> PictureStore:
    """Return the complete store of the same plan."""
    _check_same(root, read_meta(root).get("plan", {}), plan)
    shutil.rmtree(root / "parts", ignore_errors=True)  # left by a kill at the very end
    return PictureStore.open(root)


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
