"""Splitters over classes: what is held out is a class with all its samples."""

from zslearn.model_selection.class_k_fold import ClassKFold
from zslearn.model_selection.seen_unseen_split import SeenUnseenSplit

__all__ = ["ClassKFold", "SeenUnseenSplit"]
