"""Large data sets on disk: ImNet-1, ImNet-2 and others of their size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import read_json_object, read_names
from zslearn.datasets.citations import IMAGENET
from zslearn.datasets.class_split import ClassSplit
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.datasets.feature_files import read_array
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures import Signatures

LAYOUT = ("X.npy", "y.npy", "signatures.npz", "seen.txt", "unseen.txt")


def load_imagenet(folder: str | os.PathLike[str]) -> ZeroShotDataset:
    """Open a large data set whose features stay on disk.

    Meant for ImNet-1 (800 seen / 200 unseen classes of ILSVRC 2010) and ImNet-2 (1000 classes of
    ILSVRC 2012 / 360 of ILSVRC 2010), whose features are too large to ship and are computed by
    the user; :func:`make_imagenet_like` writes a synthetic folder of this layout.

    Parameters
    ----------
    folder : path-like
        Folder with

        - ``X.npy``: features of shape (n_samples, n_features), any type of float; mapped, not
          read,
        - ``y.npy``: class of each row as a number, counted from 0 through ``seen.txt`` and then
          ``unseen.txt``,
        - ``seen.txt`` and ``unseen.txt``: one class name per line,
        - ``signatures.npz``: ``names`` and ``vectors``, as :meth:`Signatures.to_npz` writes it,
        - ``meta.json``, optional: an object with "name", "features", "semantics" (name of the
          semantic space), "source" and "citation".

    Returns
    -------
    ZeroShotDataset
        `X` is a read-only memory map; the split "standard" holds back no rows of seen classes.

    Raises
    ------
    MissingFileError
        If the folder or a file is missing.
    InvalidInputError
        If a file is damaged or the files do not fit together.

    References
    ----------
    O. Russakovsky et al. ImageNet large scale visual recognition challenge. IJCV 115(3), 2015.

    Examples
    --------
    >>> import tempfile
    >>> from zslearn.datasets import load_imagenet, make_imagenet_like
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = make_imagenet_like(
    ...         f"{folder}/small", n_seen=8, n_unseen=2, n_samples=50, n_features=6, n_dimensions=4
    ...     )
    ...     data = load_imagenet(path)
    >>> data.X.shape, data.split("standard")
    ((50, 6), ClassSplit(8 seen, 2 unseen))
    """
    path = Path(folder)
    missing = [name for name in LAYOUT if not (path / name).is_file()]
    if missing:
        raise MissingFileError(
            f"{path} lacks {', '.join(missing)}; a large data set is a folder with "
            f"{', '.join(LAYOUT)}."
        )
    seen, unseen = (read_names(path / f"{side}.txt") for side in ("seen", "unseen"))
    meta = read_json_object(path / "meta.json")
    X = read_array(path / "X.npy", "X", mmap=True)
    return ZeroShotDataset(
        name=str(meta.get("name", path.resolve().name)),
        X=X,
        y=_labels(path / "y.npy", [*seen, *unseen]),
        semantics={
            str(meta.get("semantics", "word vectors")): Signatures.from_npz(path / "signatures.npz")
        },
        splits={"standard": ClassSplit(seen, unseen)},
        features=str(meta.get("features", f"{X.shape[-1]} dimensions")),
        source=str(meta.get("source", "large data set on disk")),
        citation=str(meta.get("citation", IMAGENET)),
    )


def _labels(path: Path, classes: list[str]) -> NDArray[Any]:
    """Turn the numbers of ``y.npy`` into class names."""
    numbers = read_array(path, "y")
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{path} must be a vector of whole numbers; got type {numbers.dtype} of shape "
            f"{numbers.shape}."
        )
    if numbers.size and (numbers.min() < 0 or numbers.max() >= len(classes)):
        raise InvalidInputError(
            f"{path}: classes run from {numbers.min()} to {numbers.max()}; seen.txt and unseen.txt "
            f"name {len(classes)}, counted from 0."
        )
    return np.array(classes)[numbers]
