"""The words that a reader of the report meets, explained before they are used."""

from __future__ import annotations

TERMS = {
    "seen, unseen class": "a class with, or without, training samples",
    "signature": "the vector that describes a class: attributes, a word vector, a text embedding",
    "semantic space": "where signatures live; results for different spaces do not compare",
    "split": "which classes are seen and which are unseen; in a proposed split no unseen class is "
    "one of those the features were trained on",
    "conventional setting (zsl)": "test samples come from unseen classes, and only those may be "
    "answered",
    "generalized setting (gzsl)": "test samples come from seen and unseen classes, and all may be "
    "answered",
    "accuracy": "per class: the mean of the accuracies of all classes, unless a table says "
    "per sample",
    "H": "the harmonic mean of the accuracies on seen and on unseen classes",
    "AUSUC": "the area under the curve of seen against unseen accuracy",
    "hit@k": "the share of samples whose class is among the k best answers",
    "λ": "the weight of the encoder's error against the decoder's in the semantic autoencoder",
    "encoder, decoder": "compare in the semantic space, or in the feature space",
    "transductive": "a method that uses the test samples, without their labels",
    "loss": "of a clustering: 0 for the true partition, growing with every difference from it",
}
