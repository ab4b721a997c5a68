"""Splitters over classes, and the one search for parameters."""

from zslearn.model_selection.search import Choice, choose
from zslearn.model_selection.splitters import ClassKFold, SeenUnseenSplit, stratified_holdout

__all__ = ["Choice", "ClassKFold", "SeenUnseenSplit", "choose", "stratified_holdout"]
