"""Save and load models and moments as arrays and JSON; nothing is ever unpickled or executed."""

from zslearn.persistence.model import check_savable, load, save
from zslearn.persistence.moments import load_moments, merge_moments, save_moments
from zslearn.persistence.onnx import export_onnx
from zslearn.persistence.trusted import register

__all__ = [
    "check_savable",
    "export_onnx",
    "load",
    "load_moments",
    "merge_moments",
    "register",
    "save",
    "save_moments",
]
