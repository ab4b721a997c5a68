"""Measures of zero-shot recognition: accuracy per class and per sample, hit@k, harmonic mean."""

from zslearn.metrics.accuracy import per_class_accuracy, per_sample_accuracy
from zslearn.metrics.clustering import clustering_loss
from zslearn.metrics.generalised import harmonic_mean
from zslearn.metrics.hits import hit_at_k

__all__ = [
    "clustering_loss",
    "harmonic_mean",
    "hit_at_k",
    "per_class_accuracy",
    "per_sample_accuracy",
]
