"""Zero-shot learning in the scikit-learn way."""

__version__ = "0.1.0"
