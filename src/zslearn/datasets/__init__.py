"""Data sets for zero-shot learning: the container, the bundled animals, synthetic data."""

from zslearn.datasets._animals import load_animals
from zslearn.datasets._class_split import ClassSplit
from zslearn.datasets._dataset import ZeroShotDataset
from zslearn.datasets._synthetic import make_zero_shot

__all__ = ["ClassSplit", "ZeroShotDataset", "load_animals", "make_zero_shot"]
