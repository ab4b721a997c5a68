"""From pictures or texts to a store of their vectors, continued wherever it was stopped.

Samples are encoded in chunks whose members never change, and each chunk is written whole with its
record last. So a run that was killed continues with the first chunk that lacks its record, and the
result has the same bits as that of a run that was not. A complete store grows in the same way: it
stays as it is until all new samples are encoded.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line, replacing
from zslearn._parameters import check_flags
from zslearn._progress import progress_bar
from zslearn.core.threads import map_in_order, n_threads
from zslearn.encoders.base import Encoder
from zslearn.encoders.pictures import decode_rgb
from zslearn.encoders.samples import Sample, text_problem
from zslearn.encoders.store import (
    KIND,
    META,
    VERSION,
    Samples,
    Store,
    publish,
    read_description,
    write_json,
    write_labels,
    write_samples,
    write_vectors,
)
from zslearn.exceptions import InvalidInputError, ZslearnError

# Samples of a chunk: what a kill costs at most, about a second of work.
CHUNK = {"image": 32, "text": 512}
# Chunks that are mapped at once while they are joined; a system allows some ten thousand.
_OPEN_CHUNKS = 4096
Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


class _Facts(NamedTuple):
    """What is noted of a sample: SHA-256 of its bytes, and whether its end was not read."""

    sha256: str
    cut: bool


class _Encoded(NamedTuple):
    """What became of a chunk of samples."""

    vectors: NDArray[np.float32]
    record: dict[str, Any]


class _Known(NamedTuple):
    """What a complete store holds of the samples given: its vectors, and by name row and facts."""

    vectors: NDArray[np.float32]
    rows: dict[str, int]
    facts: dict[str, _Facts]


def build_store(
    samples: Sequence[Sample],
    folder: str | Path,
    encoder: Encoder,
    *,
    strict: bool = False,
    progress: bool = False,
    spread: Spread | None = None,
    forget: bool = False,
) -> Store:
    """Encode pictures or texts into a store.

    Called again with the same samples, it continues where it was stopped, also by a kill. Called
    with those of a complete store and more, it encodes the new ones and those that have changed.

    Parameters
    ----------
    samples : sequence of Sample
        As `find_pictures` or `read_texts` lists them.
    folder : path-like
        The store; made if it is not there.
    encoder : ImageEncoder or TextEncoder
        What encodes.
    strict : bool, default=False
        Stop at a sample that cannot be read, in place of leaving it out.
    progress : bool, default=False
        Show a bar with the rate and the time left on standard error.
    spread : callable, optional
        ``spread(function, items)`` yields ``function(item)`` in the order of the items; by default
        in threads of this process, by the encoder's `n_jobs`.
    forget : bool, default=False
        Leave samples of a complete store out that are not given any more, and begin an incomplete
        one of other samples anew, in place of an error.

    Returns
    -------
    Store
        Of the samples that could be read; `refused` names the others.

    Raises
    ------
    InvalidInputError
        If the folder holds something else, or samples that are not given; if no sample could be
        read, or with `strict` one.

    Examples
    --------
    >>> import tempfile
    >>> from zslearn.encoders import Sample, TextEncoder, build_store
    >>> texts = ["Where is my card?", "I want my money back", " "]
    >>> samples = [Sample(str(row), text) for row, text in enumerate(texts)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = build_store(samples, folder + "/s", TextEncoder())
    ...     store.X.shape, store.samples.texts, store.refused
    ((2, 384), ('Where is my card?', 'I want my money back'), {'2': 'the text is empty'})
    """
    check_flags(strict=strict, progress=progress, forget=forget)
    root = Path(folder)
    plan = _plan(samples, encoder)
    if (root / "parts" / META).exists():
        publish(root)  # a kill came between its files
    known = None
    if (root / META).exists():
        if read_description(root).get("plan") == plan:
            shutil.rmtree(root / "parts", ignore_errors=True)  # left by a kill at the very end
            return Store.open(root)
        known = _known(root, samples, encoder, forget=forget)
    new = [sample for sample in samples if known is None or sample.name not in known.rows]
    if strict and encoder.kind == "text":
        for sample in new:
            _read(sample)  # what is wrong is said before minutes of work
    # Texts of like length need little padding; longest first, the time left is rather overstated.
    new.sort(key=_length, reverse=True)
    with _undamaged(root / "parts"):
        parts = _start(root, plan, new, encoder, replaces=forget or known is not None)
    size = CHUNK[encoder.kind]
    chunks = [new[first : first + size] for first in range(0, len(new), size)]
    todo = [i for i in range(len(chunks)) if not _record_file(parts, i).exists()]
    spread = spread or partial(map_in_order, n=encoder.n_jobs or n_threads())
    work = partial(encode_chunk, encoder=encoder, strict=strict)
    with progress_bar(len(samples), f"{encoder.unit}s", encoder.unit, show=progress) as bar:
        bar.update(len(samples) - sum(len(chunks[i]) for i in todo))
        for i, encoded in zip(todo, spread(work, [chunks[i] for i in todo]), strict=True):
            _write_chunk(parts, i, encoded)
            bar.update(len(chunks[i]))
    with _undamaged(parts):
        _finish(root, samples, chunks, known, plan, encoder)
    return Store.open(root)


def encode_chunk(samples: Sequence[Sample], encoder: Encoder, strict: bool) -> _Encoded:
    """Read and encode some samples; those that cannot be read are recorded."""
    record: dict[str, Any] = {"kept": [], "sha256": [], "cut": [], "refused": {}}
    vectors = [np.empty((0, encoder.n_features), np.float32)]
    for first in range(0, len(samples), encoder.block_size):
        block: list[Any] = []
        for i, sample in enumerate(samples[first : first + encoder.block_size], first):
            try:
                content, decoded = _read(sample)
            except (ZslearnError, OSError) as error:
                if strict:
                    raise
                record["refused"][sample.name] = _reason(error)
                continue
            block.append(decoded)
            record["kept"].append(i)
            record["sha256"].append(_sha256(content))
        if block:
            done = len(record["kept"]) - len(block)
            encoded = encoder.run_batch(block)
            vectors.append(encoded.vectors)
            record["cut"] += [done + row for row in encoded.cut]
    return _Encoded(np.concatenate(vectors), record)


def _read(sample: Sample) -> tuple[bytes, Any]:
    """Return the bytes of a sample, and what the encoder takes."""
    if isinstance(sample.content, str):
        problem = text_problem(sample.content)
        if problem is not None:
            raise InvalidInputError(f"{sample.name}: {problem}.")
        return sample.content.encode(), sample.content
    content = sample.content.read_bytes()
    return content, decode_rgb(content, sample.name)


def _plan(samples: Sequence[Sample], encoder: Encoder) -> dict[str, Any]:
    """Describe what is to be built: the encoder, and a digest of the samples."""
    if not samples:
        raise InvalidInputError(f"there are no {encoder.unit}s to encode.")
    texts = isinstance(samples[0].content, str)
    if texts != (encoder.kind == "text"):
        raise InvalidInputError(
            f"the samples are {'texts' if texts else 'pictures'}, and the encoder "
            f"{encoder.model!r} is one of {encoder.unit}s."
        )
    return {
        "encoder": encoder.identity.as_dict(),
        "chunk": CHUNK[encoder.kind],
        "samples": len(samples),
        "digest": _digest(samples),
    }


def _length(sample: Sample) -> int:
    """Return the letters of a text; 0 for pictures, all of which become as large."""
    return len(sample.content) if isinstance(sample.content, str) else 0


def _digest(samples: Sequence[Sample]) -> str:
    """Return a digest of names, classes, and texts or sizes of files."""
    digest = hashlib.sha256()
    for name, content, label in samples:
        if isinstance(content, str):
            seen: str | int | None = content
        else:
            seen = content.stat().st_size if content.is_file() else None
        digest.update(json.dumps([name, label, seen]).encode())
    return digest.hexdigest()


def _known(root: Path, samples: Sequence[Sample], encoder: Encoder, *, forget: bool) -> _Known:
    """Find the samples that a complete store holds with the same bytes."""
    store = Store.open(root)
    if store.encoder is None:
        raise InvalidInputError(f"{root} holds plain features; choose another folder.")
    if not store.encoder.matches(encoder.identity):
        raise InvalidInputError(
            f"{root} was made by the encoder {store.encoder}; got {encoder.identity}. Choose "
            "another folder for its vectors."
        )
    given = {sample.name for sample in samples}
    lost = [name for name in store.samples if name not in given]
    if lost and not forget:
        raise InvalidInputError(
            f"{root} holds {len(lost)} {encoder.unit}s that are not among those given, such as "
            f"{lost[0]!r}. To add {encoder.unit}s, put them with the old ones; for others, choose "
            "another folder."
        )
    # A text is the same in whatever row of its table it stands; a picture is known by its name.
    by_text = {sha256: row for row, sha256 in enumerate(store.samples.sha256)}
    by_name = {name: row for row, name in enumerate(store.samples.names)}
    rows, facts = {}, {}
    for name, content, _ in samples:
        if isinstance(content, str):
            row = by_text.get(_sha256(content.encode(errors="replace")))
        else:
            row = by_name.get(name)
            if row is not None and not _is_same(content, store.samples.sha256[row]):
                row = None
        if row is not None:
            rows[name] = row
            facts[name] = _Facts(store.samples.sha256[row], row in store.samples.cut)
    return _Known(store.X, rows, facts)


def _is_same(file: Path, sha256: str) -> bool:
    return file.is_file() and _sha256(file.read_bytes()) == sha256


def _start(
    root: Path, plan: dict[str, Any], new: Sequence[Sample], encoder: Encoder, *, replaces: bool
) -> Path:
    """Note the plan of a new store, or see that the one begun is the same."""
    parts = root / "parts"
    file = parts / "plan.json"
    plan = plan | {"new": _digest(new)}
    if file.is_file():
        begun = json.loads(file.read_text("utf-8"))
        if begun == plan:
            return parts
        if not replaces:
            other = begun.get("encoder") != plan["encoder"]
            what = "another encoder" if other else f"other {encoder.unit}s"
            raise InvalidInputError(
                f"{root} was begun with {what} or labels and is not complete. Choose another "
                "folder or remove this one."
            )
    others = set(root.iterdir()) - {parts} if root.is_dir() else set()
    if not (root / META).exists() and (others or (root.exists() and not root.is_dir())):
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
    except Exception as error:
        raise InvalidInputError(
            f"{parts} is damaged ({first_line(error)}). Remove it to start over."
        ) from error


def _write_chunk(parts: Path, number: int, encoded: _Encoded) -> None:
    with replacing(_vector_file(parts, number)) as file:
        np.save(file, encoded.vectors, allow_pickle=False)
    write_json(_record_file(parts, number), encoded.record)


def _finish(
    root: Path,
    samples: Sequence[Sample],
    chunks: Sequence[Sequence[Sample]],
    known: _Known | None,
    plan: dict[str, Any],
    encoder: Encoder,
) -> None:
    """Join the chunks with what was known, and make that the store."""
    parts = root / "parts"
    facts = {} if known is None else dict(known.facts)
    found: dict[str, str] = {}
    places: dict[str, tuple[int, int]] = {}
    for number, chunk in enumerate(chunks):
        record = json.loads(_record_file(parts, number).read_text("utf-8"))
        found |= record["refused"]
        cut = set(record["cut"])
        for row, (i, sha256) in enumerate(zip(record["kept"], record["sha256"], strict=True)):
            facts[chunk[i].name] = _Facts(sha256, row in cut)
            places[chunk[i].name] = number, row
    refused = {sample.name: found[sample.name] for sample in samples if sample.name in found}
    if not facts:
        name, reason = next(iter(refused.items()))
        what = "files" if encoder.kind == "image" else "texts"
        shutil.rmtree(parts)
        if not any(root.iterdir()):
            root.rmdir()
        raise InvalidInputError(
            f"none of the {len(samples)} {what} could be read as a {encoder.unit}; {name}: {reason}"
        )
    kept = [sample for sample in samples if sample.name in facts]
    shape = write_vectors(parts / "X.npy", _rows(kept, known, parts, places), len(kept))
    texts = tuple(sample.content for sample in kept if isinstance(sample.content, str))
    listed = Samples(
        tuple(sample.name for sample in kept),
        tuple(facts[sample.name].sha256 for sample in kept),
        texts or None,
        frozenset(row for row, sample in enumerate(kept) if facts[sample.name].cut),
    )
    write_samples(parts / "samples.jsonl", listed)
    meta = {
        "kind": KIND,
        "version": VERSION,
        "n_features": shape[1],
        "dtype": "float32",
        "rows": [shape[0]],
        "classes": write_labels(parts, [sample.label for sample in kept]),
        "encoder": plan["encoder"],
        "plan": plan,
        "refused": refused,
        "duplicates": _copies(kept, facts),
    }
    write_json(parts / META, meta)
    publish(root)


def _rows(
    kept: Sequence[Sample], known: _Known | None, parts: Path, places: dict[str, tuple[int, int]]
) -> Iterator[NDArray[np.float32]]:
    """Yield the vectors in the order of their samples, from the old store and from the chunks."""

    @lru_cache(_OPEN_CHUNKS)
    def vectors(number: int) -> NDArray[np.float32]:
        found: NDArray[np.float32] = np.load(
            _vector_file(parts, number), mmap_mode="r", allow_pickle=False
        )
        return found

    for sample in kept:
        if known is not None and sample.name in known.rows:
            yield known.vectors[known.rows[sample.name]]
        else:
            number, row = places[sample.name]
            yield vectors(number)[row]


def _copies(kept: Sequence[Sample], facts: dict[str, _Facts]) -> list[list[str]]:
    """Return the names of samples that are the same bytes, a list for each of them."""
    copies: dict[str, list[str]] = {}
    for sample in kept:
        copies.setdefault(facts[sample.name].sha256, []).append(sample.name)
    return [names for names in copies.values() if len(names) > 1]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _vector_file(parts: Path, number: int) -> Path:
    return parts / f"{number:06d}.npy"


def _record_file(parts: Path, number: int) -> Path:
    return parts / f"{number:06d}.json"


def _reason(error: Exception) -> str:
    """Return why a sample was refused, without its name and the advice."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    text = str(error)
    return text.partition("(")[2].rpartition(")")[0] or text.rpartition(": ")[2].rstrip(".")
