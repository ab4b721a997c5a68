"""Splitters over classes: what is held out is a class with all its samples."""

from zslearn.model_selection.class_k_fold import ClassKFold
from zslearn.model_selection.seen_unseen_split import SeenUnseenSplit
from zslearn.model_selection.stratified_holdout import stratified_holdout

__all__ = ["ClassKFold", "SeenUnseenSplit", "stratified_holdout"]
