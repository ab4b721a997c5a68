"""Splitters over classes, and the one search for parameters."""

from zslearn.model_selection.class_k_fold import ClassKFold
from zslearn.model_selection.search import Choice, choose
from zslearn.model_selection.seen_unseen_split import SeenUnseenSplit
from zslearn.model_selection.stratified_holdout import stratified_holdout

__all__ = ["Choice", "ClassKFold", "SeenUnseenSplit", "choose", "stratified_holdout"]
