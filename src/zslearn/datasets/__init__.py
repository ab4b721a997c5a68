"""Data sets for zero-shot learning: the container, the bundled animals, files, synthetic data."""

from zslearn.datasets.animals import load_animals
from zslearn.datasets.awa import load_awa
from zslearn.datasets.class_split import ClassSplit
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.datasets.downloads import fetch_archive, fetch_awa2, fetch_xlsa17
from zslearn.datasets.families import FAMILIES, make_family
from zslearn.datasets.feature_files import load_features
from zslearn.datasets.flowers17 import ImageSplit, flowers17_splits, load_flowers17
from zslearn.datasets.imagenet import load_imagenet
from zslearn.datasets.imagenet_like import make_imagenet_like
from zslearn.datasets.opening import open_dataset
from zslearn.datasets.sae_demo import load_sae_demo
from zslearn.datasets.segmentation import SegmentationDataset, load_segmentation
from zslearn.datasets.shapes import ShapesData, make_shapes
from zslearn.datasets.subclusters import SubclusterData, make_subclusters
from zslearn.datasets.synthetic import make_zero_shot
from zslearn.datasets.table import load_table
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
