"""Large data sets on disk: ImNet-1, ImNet-2 and others of their size."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import read_json_object, read_names, replacing_folder
from zslearn._parameters import Either, Number, Whole, check_flags, check_value
from zslearn._progress import progress_bar
from zslearn.datasets.dataset import IMAGENET, ClassSplit, ZeroShotDataset
from zslearn.datasets.table import read_array
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


_BLOCK = 4096  # rows held in memory at a time; the numbers drawn depend on it


@dataclass(frozen=True)
class _Plan:
    """The sizes of the data set to write."""

    n_seen: int
    n_unseen: int
    n_samples: int
    n_features: int
    n_dimensions: int
    dtype: np.dtype[Any]
    noise: float
    seed: int


def make_imagenet_like(
    folder: str | os.PathLike[str],
    *,
    n_seen: int = 800,
    n_unseen: int = 200,
    n_samples: int = 254_000,
    n_features: int = 4096,
    n_dimensions: int = 1000,
    dtype: str = "float32",
    noise: float = 1.0,
    random_state: int = 0,
    progress: bool = False,
) -> Path:
    """Write a synthetic data set in the layout of :func:`load_imagenet`.

    Features are x = Wᵀ s_c + noise for the signature s_c of the class. Only one block of 4096
    rows is in memory at a time. The files are written under a temporary name and get their
    own only when all of them are complete.

    Parameters
    ----------
    folder : path-like
        Folder to make; it must not exist, its parent must.
    n_seen, n_unseen : int, default=800 and 200
        Number of classes; the default is the size of ImNet-1, 1000 and 360 that of ImNet-2.
    n_samples : int, default=254000
        Number of rows, spread over the classes as evenly as possible, in random order.
    n_features : int, default=4096
        Length of x.
    n_dimensions : int, default=1000
        Length of a signature, whose entries are normal; signatures have length about 1.
    dtype : {"float32", "float16", "float64"}, default="float32"
        Type of the features on disk. The default data set takes 4.2 GB.
    noise : float, default=1.0
        Standard deviation of the noise; without it features have deviation about 1.
    random_state : int, default=0
        Seed. The same seed and sizes give the same files.
    progress : bool, default=False
        Whether to show a bar on stderr, where tqdm is installed.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InvalidInputError
        If the folder exists or a number cannot be used.
    MissingFileError
        If the folder to make it in does not exist.

    Examples
    --------
    See :func:`load_imagenet`.
    """
    check_flags(progress=progress)
    target = Path(folder)
    plan = _Plan(
        n_seen, n_unseen, n_samples, n_features, n_dimensions, _float(dtype), noise, random_state
    )
    _check(plan, target)
    with replacing_folder(target) as temporary:
        _write(temporary, plan, target.name, show=progress)
    return target


def _float(dtype: str) -> np.dtype[Any]:
    check_value("dtype", dtype, Either("float16", "float32", "float64"))
    return np.dtype(dtype)


def _check(plan: _Plan, target: Path) -> None:
    for name in ("n_seen", "n_unseen", "n_features", "n_dimensions"):
        check_value(name, getattr(plan, name), Whole(1))
    if plan.n_samples < plan.n_seen + plan.n_unseen:
        raise InvalidInputError(
            f"n_samples must be at least one for each of the {plan.n_seen + plan.n_unseen} "
            f"classes; got {plan.n_samples}."
        )
    check_value("noise", plan.noise, Number(least=0))
    if target.exists():
        raise InvalidInputError(f"{target} exists already; remove it or choose another name.")
    if not target.parent.is_dir():
        raise MissingFileError(f"There is no folder {str(target.parent)!r}; create it first.")


def _write(folder: Path, plan: _Plan, name: str, *, show: bool) -> None:
    rng = np.random.default_rng(plan.seed)
    n_classes = plan.n_seen + plan.n_unseen
    names = [f"class{number:04d}" for number in range(n_classes)]
    S = rng.standard_normal((n_classes, plan.n_dimensions)) / np.sqrt(plan.n_dimensions)
    W = rng.standard_normal((plan.n_dimensions, plan.n_features), np.float32)
    y = rng.permutation(np.arange(plan.n_samples) % n_classes).astype(np.int32)
    _write_features(folder / "X.npy", plan, (S @ W).astype(np.float32), y, show=show)
    np.save(folder / "y.npy", y)
    Signatures(names, S).to_npz(folder / "signatures.npz")
    (folder / "seen.txt").write_text("\n".join(names[: plan.n_seen]) + "\n")
    (folder / "unseen.txt").write_text("\n".join(names[plan.n_seen :]) + "\n")
    (folder / "meta.json").write_text(json.dumps(_description(plan, name), indent=2) + "\n")


def _write_features(
    path: Path, plan: _Plan, prototypes: NDArray[np.float32], y: NDArray[Any], *, show: bool
) -> None:
    """Append block after block to the header of an array of the final shape."""
    header = {
        "descr": np.lib.format.dtype_to_descr(plan.dtype),
        "fortran_order": False,
        "shape": (plan.n_samples, plan.n_features),
    }
    with (
        path.open("xb") as file,
        progress_bar(plan.n_samples, "writing features", "row", show=show) as bar,
    ):
        np.lib.format.write_array_header_1_0(file, header)
        for number, start in enumerate(range(0, plan.n_samples, _BLOCK)):
            labels = y[start : start + _BLOCK]
            rng = np.random.default_rng([plan.seed, number])
            X = rng.standard_normal((len(labels), plan.n_features), np.float32)
            X *= plan.noise
            X += prototypes[labels]
            file.write(np.ascontiguousarray(X, plan.dtype).data)
            bar.update(len(labels))


def _description(plan: _Plan, name: str) -> dict[str, str]:
    return {
        "name": name,
        "features": f"{plan.n_features} linear functions of the signature plus Gaussian noise",
        "semantics": "word vectors",
        "source": f"generated by make_imagenet_like, random_state={plan.seed}",
        "citation": "",
    }
