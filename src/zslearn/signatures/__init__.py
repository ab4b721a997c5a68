"""The class table: names, one vector per class, and names for the dimensions."""

from zslearn.signatures.table import Signatures

__all__ = ["Signatures"]
