"""Pixel features of many pictures on disk: one file per picture, and a description."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from zslearn._files import damaged, first_line, inside, replacing
from zslearn._optional import require
from zslearn._parameters import Either, check_flags, check_value
from zslearn.cluster.pixels import N_FEATURES, pixel_features
from zslearn.encoders.pictures import read_rgb
from zslearn.exceptions import InvalidInputError, MissingFileError

_META = "meta.json"
_VERSION = 1
_DTYPES = ("float16", "float32")


@dataclass(frozen=True)
class PixelStore:
    """Folder of pixel features, one ``.npy`` file per picture.

    Attributes
    ----------
    folder : Path
        Where the files are.
    names : tuple of str
        Names of the pictures, in order.
    height : int
        Rows each picture was scaled to.
    dtype : str
        "float32" or "float16".

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from PIL import Image
    >>> from zslearn.cluster import extract_pixel_features
    >>> folder = tempfile.TemporaryDirectory()
    >>> Image.new("RGB", (8, 4), "red").save(folder.name + "/red.png")
    >>> store = extract_pixel_features([folder.name + "/red.png"], folder.name + "/s", height=10)
    >>> store.names, store.features(0).shape
    (('red',), (200, 135))
    >>> folder.cleanup()
    """

    folder: Path
    names: tuple[str, ...]
    height: int
    dtype: str = "float32"

    @classmethod
    def open(cls, folder: str | Path) -> PixelStore:
        """Open a finished store."""
        root = Path(folder)
        store = _described(root)
        missing = [name for name in store.names if not store.path(name).exists()]
        if missing:
            raise MissingFileError(
                f"the store {root} lacks {len(missing)} of {len(store.names)} pictures, the first "
                f"is {missing[0]!r}. Run the extraction again; it continues where it stopped."
            )
        return store

    def path(self, name: str) -> Path:
        """File of one picture."""
        return inside(self.folder, f"{name}.npy")

    def features(self, index: int) -> NDArray[np.float32]:
        """Features of one picture, shape (height * width, 135), float32."""
        path = self.path(self.names[index])
        with damaged(path, "file of features", "Remove it and run the extraction again."):
            stored = np.load(path, allow_pickle=False)
        if stored.ndim != 2 or stored.shape[1] != N_FEATURES or stored.dtype not in _DTYPES:
            raise InvalidInputError(
                f"{path} must hold features of shape (n_pixels, {N_FEATURES}); got {stored.dtype} "
                f"of shape {stored.shape}. Remove it and run the extraction again."
            )
        return stored.astype(np.float32, copy=False)

    def __len__(self) -> int:
        return len(self.names)


def extract_pixel_features(
    image_files: Sequence[str | Path],
    folder: str | Path,
    *,
    height: int = 100,
    dtype: str = "float32",
    n_jobs: int | None = None,
    progress: bool = False,
) -> PixelStore:
    """Compute `pixel_features` of pictures into a store on disk.

    Every file is written under a temporary name and renamed, so an interrupted extraction loses at
    most the pictures in progress and continues when called again with the same settings.

    Parameters
    ----------
    image_files : sequence of str or Path
        Pictures; their names without ending must differ.
    folder : str or Path
        The store; created if missing.
    height : int, default=100
        Height in rows to which every picture is scaled, proportions kept.
    dtype : {"float32", "float16"}, default="float32"
        Type of the numbers on disk; 540 bytes per pixel, or half of that.
    n_jobs : int, optional
        Processes at once, as in joblib.
    progress : bool, default=False
        Show a progress bar on standard error (extra ``images``).

    Returns
    -------
    PixelStore
    """
    check_value("dtype", dtype, Either(*_DTYPES))
    check_flags(progress=progress)
    files = [Path(file) for file in image_files]
    store = PixelStore(Path(folder), tuple(file.stem for file in files), int(height), dtype)
    _check_names(store.names)
    _start(store)
    todo = [file for file in files if not store.path(file.stem).exists()]
    work = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    done = work(delayed(_extract)(file, store) for file in todo)
    for _ in _with_bar(done, len(files), len(files) - len(todo)) if progress else done:
        pass
    return store


def _extract(file: Path, store: PixelStore) -> None:
    """Compute and write the features of one picture."""
    features = pixel_features(read_rgb(file, height=store.height)).astype(store.dtype, copy=False)
    with replacing(store.path(file.stem)) as stream:
        np.save(stream, features, allow_pickle=False)


def _with_bar(done: Any, total: int, initial: int) -> Any:
    tqdm = require("tqdm", extra="images", purpose="A progress bar")
    return tqdm.tqdm(done, "pixel features", total, initial=initial, unit="picture")


def _start(store: PixelStore) -> None:
    """Write the description of a new store, or check that the old one is the same."""
    store.folder.mkdir(parents=True, exist_ok=True)
    if (store.folder / _META).exists():
        known = _described(store.folder)
        if known != store:
            raise InvalidInputError(
                f"the store {store.folder} was made for other pictures or settings "
                f"({len(known)} pictures, height {known.height}, {known.dtype}). Choose another "
                "folder or remove this one."
            )
        return
    meta = {
        "kind": "zslearn pixel features",
        "version": _VERSION,
        "n_features": N_FEATURES,
        "height": store.height,
        "dtype": store.dtype,
        "names": list(store.names),
    }
    with replacing(store.folder / _META) as file:
        file.write(json.dumps(meta, indent=1).encode())


def _described(root: Path) -> PixelStore:
    """Read the description of a store."""
    try:
        meta = json.loads((root / _META).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingFileError(f"{root} is not a feature store: it has no {_META}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{root / _META} is damaged ({first_line(error)}). Make a new store."
        ) from error
    if not isinstance(meta, dict) or meta.get("version") != _VERSION or not _is_complete(meta):
        raise InvalidInputError(
            f"{root / _META} does not describe pixel features of version {_VERSION}. "
            "Make a new store."
        )
    return PixelStore(root, tuple(meta["names"]), meta["height"], meta["dtype"])


def _is_complete(meta: dict[str, Any]) -> bool:
    """Say whether a description has every part, each of the right kind."""
    names, height = meta.get("names"), meta.get("height")
    return (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and isinstance(height, int)
        and height > 0
        and meta.get("dtype") in _DTYPES
    )


def _check_names(names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InvalidInputError(
            f"pictures need different names, endings aside; {repeated[0]!r} appears twice."
        )
