"""Oxford Flowers-17 with ground-truth segmentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, check_value
from zslearn.encoders.pictures import picture_files, picture_size, read_rgb
from zslearn.exceptions import InvalidInputError, MissingFileError

FOREGROUND, BACKGROUND, UNDEFINED = 1, 0, -1
#: What each color of a mask means, for every known way of coloring masks.
MASK_CODES: Mapping[str, Mapping[tuple[int, int, int], int]] = MappingProxyType(
    {
        "binary": {(255, 255, 255): FOREGROUND, (0, 0, 0): BACKGROUND},
        "flowers17": {
            (128, 0, 0): FOREGROUND,
            (128, 128, 0): BACKGROUND,
            (0, 128, 0): BACKGROUND,  # leaf
            (0, 0, 128): BACKGROUND,  # sky
            (0, 0, 0): UNDEFINED,
            (128, 0, 128): UNDEFINED,  # 30 stray pixels in six masks, of no documented meaning
        },
    }
)
_READINGS = ("background", "drop")


@dataclass(frozen=True)
class SegmentationDataset:
    """Picture files, each with a mask file; pixels are read when asked for.

    Parameters
    ----------
    name : str
        Short name of the data set.
    image_files, mask_files : tuple of Path
        Pairs, in the same order.
    coding : {"binary", "flowers17"}
        How the masks are colored; see `MASK_CODES`.
    citation : str
        What to cite.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> from zslearn.datasets import load_segmentation
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part, color in {"images": "red", "masks": "white"}.items():
    ...     Path(folder.name, part).mkdir()
    ...     Image.new("RGB", (3, 2), color).save(Path(folder.name, part, "a.png"))
    >>> pairs = load_segmentation(folder.name)
    >>> len(pairs), pairs.mask(0).tolist()
    (1, [[1, 1, 1], [1, 1, 1]])
    >>> folder.cleanup()
    """

    name: str
    image_files: tuple[Path, ...]
    mask_files: tuple[Path, ...]
    coding: str = "binary"
    citation: str = field(default="", repr=False)

    def __len__(self) -> int:
        return len(self.image_files)

    def image(self, index: int, *, height: int | None = None) -> NDArray[np.uint8]:
        """Read a picture.

        Parameters
        ----------
        index : int
            Which picture.
        height : int, optional
            Rows to scale it to, proportions kept.

        Returns
        -------
        ndarray of shape (height, width, 3), uint8
        """
        return read_rgb(self.image_files[index], height=height)

    def mask(
        self, index: int, *, height: int | None = None, undefined: str | None = None
    ) -> NDArray[np.int8]:
        """Read a mask: 1 foreground, 0 background, -1 undefined.

        Parameters
        ----------
        index : int
            Which picture.
        height : int, optional
            Rows to scale it to, by nearest pixel.
        undefined : {"background", "drop"}, optional
            "background" turns undefined pixels into background. "drop", the default, leaves them
            at -1, so that the caller can leave them out of training and of the score.

        Returns
        -------
        ndarray of shape (height, width), int8
        """
        check_value("undefined", undefined, Either(None, *_READINGS))
        file = self.mask_files[index]
        size, expected = picture_size(file), picture_size(self.image_files[index])
        if size != expected:
            raise InvalidInputError(
                f"the mask {file} has {size[0]} × {size[1]} pixels, its picture has "
                f"{expected[0]} × {expected[1]}. Make them the same size."
            )
        mask = decode_mask(read_rgb(file, height=height, nearest=True), self.coding, str(file))
        return np.maximum(mask, BACKGROUND) if undefined == "background" else mask


def decode_mask(rgb: NDArray[np.uint8], coding: str, name: str = "the mask") -> NDArray[np.int8]:
    """Turn the colors of a mask into 1 foreground, 0 background, -1 undefined."""
    packed = _packed(rgb)
    mask = np.full(packed.shape, -2, dtype=np.int8)
    for color, meaning in MASK_CODES[coding].items():
        mask[packed == _packed(np.array(color, np.uint8))] = meaning
    if np.any(mask == -2):
        strange = rgb[mask == -2][0].tolist()
        raise InvalidInputError(
            f"{name} has the color {tuple(strange)}, which means nothing in {coding!r} masks; "
            f"known are {', '.join(map(str, MASK_CODES[coding]))}."
        )
    return mask


def load_segmentation(folder: str | Path, *, coding: str = "auto") -> SegmentationDataset:
    """Load a folder of pictures in ``images/`` with masks of the same names in ``masks/``.

    Parameters
    ----------
    folder : str or Path
        Holds ``images`` and ``masks`` (or ``labels``). Pictures without a mask are left out.
    coding : {"auto", "binary", "flowers17"}, default="auto"
        Colors of the masks: white on black, or those of Flowers-17. "auto" looks at the first
        mask that is not all black.

    Returns
    -------
    SegmentationDataset
    """
    root = Path(folder)
    check_value("coding", coding, Either("auto", *MASK_CODES))
    images = picture_files(root / "images")
    masks = {path.stem: path for path in picture_files(_mask_folder(root))}
    pairs = [(path, masks[path.stem]) for path in images if path.stem in masks]
    if not pairs:
        raise InvalidInputError(
            f"no picture of {root / 'images'} ({len(images)} found) has a mask of the same name in "
            f"{_mask_folder(root)} ({len(masks)} found)."
        )
    image_files, mask_files = zip(*pairs, strict=True)
    known = _guessed_coding(mask_files) if coding == "auto" else coding
    return SegmentationDataset(root.resolve().name, image_files, mask_files, known)


def _mask_folder(root: Path) -> Path:
    for name in ("masks", "labels"):
        if (root / name).is_dir():
            return root / name
    raise MissingFileError(
        f"{root} has no folder 'masks' (or 'labels') with a mask for each picture."
    )


def _guessed_coding(files: tuple[Path, ...]) -> str:
    """Name the coding of the first mask with a distinctive color."""
    telling = _packed(np.array([c for c in MASK_CODES["flowers17"] if any(c)], np.uint8))
    for file in files:
        colors = np.unique(_packed(read_rgb(file)))
        if np.isin(colors, telling).any():
            return "flowers17"
        if np.any(colors > 0):
            return "binary"
    return "binary"


def _packed(rgb: NDArray[np.uint8]) -> NDArray[np.int64]:
    """One number per color."""
    return rgb.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])


_CITATION = """\
M.-E. Nilsback, A. Zisserman. A visual vocabulary for flower classification. CVPR 2006.
M.-E. Nilsback, A. Zisserman. Delving into the whorl of flower segmentation. BMVC 2007."""


@dataclass(frozen=True)
class ImageSplit:
    """Pictures to train on, to choose λ on and to test on, as positions.

    Attributes
    ----------
    seed : int
        Seed the split was drawn with.
    train, validation, test : ndarray of int
        Sorted positions.
    """

    seed: int
    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]


def load_flowers17(folder: str | Path) -> SegmentationDataset:
    """Load the Flowers-17 photographs that have a ground-truth segmentation.

    Nothing is downloaded and nothing ships: the photographs are for research only.

    Parameters
    ----------
    folder : str or Path
        Holds ``images/*.jpg`` and ``labels/*.png`` of the same names. Colors of the labels: flower
        (128, 0, 0), background (128, 128, 0), leaf (0, 128, 0), sky (0, 0, 128), undefined (0, 0,
        0). Flower is foreground, leaf and sky are background; how to treat the undefined band
        around the flower, a seventh of the pixels, is the user's choice: see
        `SegmentationDataset.mask`.

    Returns
    -------
    SegmentationDataset

    Examples
    --------
    >>> flowers = load_flowers17("flowers17")  # doctest: +SKIP
    >>> len(flowers), flowers.mask(0, height=100).shape  # doctest: +SKIP
    (846, (100, 100))
    """
    pairs = load_segmentation(folder, coding="flowers17")
    return replace(pairs, name="flowers17", citation=_CITATION)


def flowers17_splits(
    n_images: int = 846,
    *,
    n_train: int = 200,
    n_validation: int = 30,
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4),
) -> list[ImageSplit]:
    """Draw the random splits of the segmentation experiment.

    The published protocol has five splits with 200 / 30 / rest pictures, but not their lists;
    these are ours, drawn by ``numpy.random.default_rng(seed).permutation(n_images)``.

    Parameters
    ----------
    n_images : int, default=846
        Number of pictures.
    n_train, n_validation : int, default=200 and 30
        Pictures to train on and to choose λ on; the rest is for testing.
    seeds : tuple of int, default=(0, 1, 2, 3, 4)
        One split each.

    Returns
    -------
    list of ImageSplit

    Examples
    --------
    >>> split = flowers17_splits()[0]
    >>> len(split.train), len(split.validation), len(split.test)
    (200, 30, 616)
    """
    if min(n_train, n_validation) < 1 or n_train + n_validation >= n_images:
        raise InvalidInputError(
            f"{n_train} training and {n_validation} validation pictures leave none of {n_images} "
            "to test on, or one of them is below 1."
        )
    return [_split(seed, n_images, n_train, n_validation) for seed in seeds]


def _split(seed: int, n_images: int, n_train: int, n_validation: int) -> ImageSplit:
    order = np.random.default_rng(seed).permutation(n_images)
    cuts = (n_train, n_train + n_validation)
    return ImageSplit(seed, *(np.sort(part) for part in np.split(order, cuts)))
