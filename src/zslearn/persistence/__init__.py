"""Save and load fitted classifiers as arrays and JSON; nothing is ever unpickled or executed."""

from zslearn.persistence.model import load, save
from zslearn.persistence.onnx_export import export_onnx
from zslearn.persistence.trusted import register

__all__ = ["export_onnx", "load", "register", "save"]
