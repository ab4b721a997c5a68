"""Classifiers and embeddings synthesized from those of seen classes."""
