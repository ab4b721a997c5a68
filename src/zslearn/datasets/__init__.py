"""Data sets for zero-shot learning: the container, the bundled animals, files, synthetic data."""

from zslearn.datasets._animals import load_animals
from zslearn.datasets._awa import load_awa
from zslearn.datasets._class_split import ClassSplit
from zslearn.datasets._dataset import ZeroShotDataset
from zslearn.datasets._feature_files import load_features
from zslearn.datasets._fetch import fetch_archive, fetch_awa2, fetch_xlsa17
from zslearn.datasets._flowers17 import ImageSplit, flowers17_splits, load_flowers17
from zslearn.datasets._imagenet import load_imagenet
from zslearn.datasets._imagenet_like import make_imagenet_like
from zslearn.datasets._open import open_dataset
from zslearn.datasets._sae_demo import load_sae_demo
from zslearn.datasets._segmentation import SegmentationDataset, load_segmentation
from zslearn.datasets._subclusters import SubclusterData, make_subclusters
from zslearn.datasets._synthetic import make_zero_shot
from zslearn.datasets._table import load_table
from zslearn.datasets._xlsa17 import load_xlsa17

__all__ = [
    "ClassSplit",
    "ImageSplit",
    "SegmentationDataset",
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
    "make_imagenet_like",
    "make_subclusters",
    "make_zero_shot",
    "open_dataset",
]
