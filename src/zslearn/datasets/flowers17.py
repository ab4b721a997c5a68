"""Oxford Flowers-17 with ground-truth segmentation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets.segmentation import SegmentationDataset, load_segmentation
from zslearn.exceptions import InvalidInputError

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
