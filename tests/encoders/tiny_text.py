"""A text model small enough for tests: counts of letters, by the name "letters"."""

import numpy as np

from zslearn.encoders import TextEncoder, register_encoder

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class LetterCounts:
    """Counts letters, and notes what it was asked for."""

    sha256 = "a" * 64
    n_features = 26
    max_tokens = 60

    def __init__(self, name="letters"):
        self.name, self.asked, self.batches = name, [], []

    def prepare(self, sample):
        self.asked.append(sample)
        return sample

    def size(self, prepared):
        return len(prepared)

    def run(self, batch):
        self.batches.append([len(text) for text in batch])
        return counts(batch).astype(np.float32)


def counts(texts):
    return np.array([[text.count(c) + 0.5 for c in LETTERS] for text in texts])


def unit(texts):
    """What the encoder gives, computed apart."""
    found = counts(texts)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def letter_encoder(**settings):
    register_encoder("text", "letters", LetterCounts)
    return TextEncoder("letters", **settings)
