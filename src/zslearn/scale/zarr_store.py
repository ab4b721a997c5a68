"""Zarr groups, checked before any chunk is decoded, because a codec may run code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zslearn._files import first_line, inside
from zslearn._optional import require
from zslearn.datasets.hdf5 import DAMAGE
from zslearn.exceptions import InvalidInputError, ZslearnError
from zslearn.scale.formats import ContainerSource, Keys

# Codecs that only pack and unpack bytes; numcodecs' pickle, for one, runs whatever it finds.
_CODECS = frozenset(
    "bytes transpose blosc gzip zlib zstd lz4 bz2 lzma shuffle delta crc32 crc32c adler32 "
    "sharding_indexed vlen-utf8".split()
)
_TYPES_V2 = re.compile(r"[<>|][fiubSU]\d+")
_TYPES_V3 = re.compile(
    r"bool|u?int(8|16|32|64)|float(16|32|64)|string|fixed_length_utf32|null_terminated_bytes"
)
_DESCRIPTIONS = ("zarr.json", ".zarray")


def open_zarr(path: Path, keys: Keys | None) -> ContainerSource:
    """Open a Zarr group."""
    zarr = require("zarr", extra="zarr", purpose=f"Reading {path.name}")
    try:
        # Consolidated metadata would describe the arrays a second time.
        group = zarr.open_group(str(path), mode="r", use_consolidated=False)
        return ContainerSource(path, _CheckedGroup(path, group), keys)
    except ZslearnError:
        raise
    except DAMAGE as error:
        raise InvalidInputError(
            f"{path} is not a readable Zarr group ({first_line(error)})."
        ) from error


class _CheckedGroup:
    """Names and arrays of a group, each checked before it is opened."""

    def __init__(self, path: Path, group: Any) -> None:
        self._path, self._group = path, group

    def __iter__(self) -> Iterator[str]:
        folders = (path for path in sorted(self._path.iterdir()) if path.is_dir())
        return (path.name for path in folders if _description(path) is not None)

    def __contains__(self, name: str) -> bool:
        return _description(inside(self._path, name)) is not None

    def __getitem__(self, name: str) -> Any:
        described = _description(inside(self._path, name))
        if not isinstance(described, dict) or described.get("node_type", "array") != "array":
            raise InvalidInputError(f"{name!r} is not an array.")
        _check_type(described, name)
        for codec in _codecs(described):
            if str(codec).removeprefix("numcodecs.") not in _CODECS:
                raise InvalidInputError(
                    f"{name!r} is packed by {codec!r}, which is not on the list of codecs that "
                    "are safe to unpack. Write it with blosc, gzip or zstd."
                )
        return self._group[name]


def _description(folder: Path) -> Any:
    """Return what a folder says about its array; None if it is not an array."""
    for name in _DESCRIPTIONS:
        if (folder / name).is_file():
            return json.loads((folder / name).read_text("utf-8"))
    return None


def _check_type(described: dict[str, Any], name: str) -> None:
    """Refuse Python objects and records; only numbers and text as plain bytes remain."""
    kind = described.get("dtype", described.get("data_type"))
    if isinstance(kind, dict):
        kind = kind.get("name")
    allowed = _TYPES_V2 if "dtype" in described else _TYPES_V3
    if not isinstance(kind, str) or not allowed.fullmatch(kind):
        raise InvalidInputError(
            f"{name!r} has the type {kind!r}; only numbers and text are read, never objects."
        )


def _codecs(described: Any) -> Iterator[Any]:
    """Yield the name of every codec in a description, including nested ones."""
    if isinstance(described, list):
        for part in described:
            yield from _codecs(part)
    elif isinstance(described, dict):
        for key in ("codecs", "index_codecs", "filters", "compressor", "configuration"):
            for codec in _as_list(described.get(key)):
                if isinstance(codec, dict) and key != "configuration":
                    yield codec.get("name", codec.get("id"))
                yield from _codecs(codec)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
