"""The file: a safetensors file whose metadata hold a JSON document and a checksum of everything.

Any safetensors reader opens it. The metadata are ``format`` ("zslearn model", "zslearn
moments"), ``format_version``, ``library_version``, ``document`` (JSON) and ``sha256``, which covers
all of them and every tensor.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray

from zslearn import __version__
from zslearn._files import replacing
from zslearn.exceptions import MissingFileError, ModelFileError

FORMAT = "zslearn model"
MOMENTS = "zslearn moments"
FORMAT_VERSION = 1

# Types of numbers as safetensors names them.
KINDS = {"bool": "BOOL", "complex64": "C64"} | {
    f"{kind}{bits}": f"{letter}{bits}"
    for kind, letter, sizes in (
        ("float", "F", (16, 32, 64)),
        ("int", "I", (8, 16, 32, 64)),
        ("uint", "U", (8, 16, 32, 64)),
    )
    for bits in sizes
}

Tensors = dict[str, NDArray[Any]]


def write(
    path: str | os.PathLike[str], document: Any, tensors: Tensors, kind: str = FORMAT
) -> None:
    """Write a document and its tensors, complete or not at all."""
    metadata = {
        "format": kind,
        "format_version": str(FORMAT_VERSION),
        "library_version": __version__,
        "document": json.dumps(document, ensure_ascii=True, allow_nan=False),
    }
    metadata["sha256"] = checksum(metadata, tensors)
    names = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    with replacing(path) as file:
        file.write(_header(metadata, {name: tensors[name] for name in names}))
        for name in names:
            file.write(np.ascontiguousarray(tensors[name]).reshape(-1).view(np.uint8).data)


def read(path: str | os.PathLike[str], kind: str = FORMAT) -> tuple[Any, Tensors]:
    """Return the document and the tensors of a file that is complete and unaltered."""
    metadata, tensors = _parsed(Path(path), kind)
    _check_origin(path, metadata, kind)
    if metadata.get("sha256") != checksum(metadata, tensors):
        raise ModelFileError(
            path, "its checksum does not fit its content: it was altered or damaged", kind
        )
    try:
        return json.loads(metadata["document"]), tensors
    except (KeyError, ValueError, RecursionError) as error:
        raise ModelFileError(path, f"its description cannot be read ({error!r})", kind) from error


def other_version(path: str | os.PathLike[str]) -> str:
    """Return words that name the version that wrote a file, if it is not this one."""
    with safetensors.safe_open(path, framework="numpy") as file:
        written = (file.metadata() or {}).get("library_version", __version__)
    if written == __version__ or not written.isprintable():
        return ""
    return (
        f"; zslearn {written:.20} wrote it and this is zslearn {__version__}, so load it with the "
        "former or fit it again"
    )


def checksum(metadata: dict[str, str], tensors: Tensors) -> str:
    """Return the SHA-256 of all metadata but the checksum, and of name, kind and data of tensors.

    Every part is preceded by its length, so that no two contents run together to the same bytes.
    """
    digest = hashlib.sha256()

    def add(part: Any) -> None:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)

    for key in sorted(metadata.keys() - {"sha256"}):
        add(key.encode())
        add(metadata[key].encode())
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        add(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        add(tensor.reshape(-1).view(np.uint8))
    return digest.hexdigest()


def _header(metadata: dict[str, str], tensors: Tensors) -> bytes:
    """Return the beginning of a safetensors file, the same bytes for the same content.

    The package's own writer orders the metadata at random.
    """
    start, parts = 0, dict[str, Any](__metadata__=dict(sorted(metadata.items())))
    for name, tensor in tensors.items():
        stop = start + tensor.nbytes
        kind = KINDS[tensor.dtype.name]
        parts[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [start, stop]}
        start = stop
    text = json.dumps(parts, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # numbers start at multiples of their size
    return len(text).to_bytes(8, "little") + text


def _parsed(path: Path, kind: str) -> tuple[dict[str, str], Tensors]:
    """Return metadata and tensors as safetensors reads them."""
    if path.is_dir():
        raise ModelFileError(path, "it is a folder; give the file that save wrote", kind)
    if not path.exists():
        raise MissingFileError(f"There is no file {str(path)!r}; check the path.")
    with path.open("rb"):
        pass  # a file that may not be read is refused with the system's own error
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            return metadata, {name: file.get_tensor(name) for name in file.keys()}
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(
            path, f"it is not a safetensors file, or it is cut off or damaged ({error})", kind
        ) from error


def _check_origin(path: str | os.PathLike[str], metadata: dict[str, str], kind: str) -> None:
    """Refuse files of other programs and of newer versions of the format."""
    if metadata.get("format") != kind:
        writer = "save_moments" if kind == MOMENTS else "save"
        raise ModelFileError(path, f"it was not written by zslearn.persistence.{writer}", kind)
    version = metadata.get("format_version", "")
    if not (version.isascii() and version.isdigit()):
        raise ModelFileError(path, f"its format version {version!r} is no number", kind)
    if int(version[:9]) > FORMAT_VERSION:
        raise ModelFileError(
            path,
            f"it has format {version}, written by zslearn {metadata.get('library_version')}; "
            f"this zslearn {__version__} reads formats up to {FORMAT_VERSION}, so upgrade it",
            kind,
        )
