"""Classifiers and embeddings synthesised from those of seen classes."""
