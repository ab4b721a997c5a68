"""Save and load fitted classifiers as arrays and JSON; nothing is ever unpickled or executed."""

from zslearn.persistence._model import load, save
from zslearn.persistence._onnx import export_onnx
from zslearn.persistence._trusted import register

__all__ = ["export_onnx", "load", "register", "save"]
