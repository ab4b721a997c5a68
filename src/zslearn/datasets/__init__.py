"""Data sets for zero-shot learning: the container, the bundled animals, files, synthetic data."""

from zslearn.datasets._animals import load_animals
from zslearn.datasets._class_split import ClassSplit
from zslearn.datasets._dataset import ZeroShotDataset
from zslearn.datasets._feature_files import load_features
from zslearn.datasets._flowers17 import ImageSplit, flowers17_splits, load_flowers17
from zslearn.datasets._open import open_dataset
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
    "flowers17_splits",
    "load_animals",
    "load_features",
    "load_flowers17",
    "load_segmentation",
    "load_table",
    "load_xlsa17",
    "make_subclusters",
    "make_zero_shot",
    "open_dataset",
]
