"""Data sets for zero-shot learning: the container, the bundled animals, files, synthetic data."""

from zslearn.datasets.animals import load_animals
from zslearn.datasets.awa import load_awa
from zslearn.datasets.dataset import ClassSplit, ZeroShotDataset
from zslearn.datasets.downloads import fetch_archive, fetch_awa2, fetch_xlsa17
from zslearn.datasets.flowers17 import (
    ImageSplit,
    SegmentationDataset,
    flowers17_splits,
    load_flowers17,
    load_segmentation,
)
from zslearn.datasets.imagenet import load_imagenet, make_imagenet_like
from zslearn.datasets.opening import open_dataset
from zslearn.datasets.sae_demo import load_sae_demo
from zslearn.datasets.shapes import ShapesData, make_shapes
from zslearn.datasets.synthetic import (
    FAMILIES,
    SubclusterData,
    make_family,
    make_subclusters,
    make_zero_shot,
)
from zslearn.datasets.table import load_features, load_table
from zslearn.datasets.xlsa17 import load_xlsa17

__all__ = [
    "FAMILIES",
    "ClassSplit",
    "ImageSplit",
    "SegmentationDataset",
    "ShapesData",
    "SubclusterData",
    "ZeroShotDataset",
    "fetch_archive",
    "fetch_awa2",
    "fetch_xlsa17",
    "flowers17_splits",
    "load_animals",
    "load_awa",
    "load_features",
    "load_flowers17",
    "load_imagenet",
    "load_sae_demo",
    "load_segmentation",
    "load_table",
    "load_xlsa17",
    "make_family",
    "make_imagenet_like",
    "make_shapes",
    "make_subclusters",
    "make_zero_shot",
    "open_dataset",
]
