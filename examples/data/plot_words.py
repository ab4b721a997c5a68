"""
Words instead of attributes
===========================

Attributes take an expert. A sentence per class takes a minute. How much is lost? The text encoder
ships with the extra ``text`` and needs no network.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from zslearn import Signatures, load_animals
from zslearn.datasets import ClassSplit
from zslearn.encoders import TextEncoder
from zslearn.evaluation import evaluate_splits

animals = load_animals()
encoder = TextEncoder()
names = {name: name.replace("+", " ") for name in animals.classes}
tables = {
    "attributes": animals.signatures,
    "the name in a sentence": Signatures.from_texts(names, encoder, templates="a photo of a {}"),
    "the bare name": Signatures.from_texts(names, encoder),
}

# %%
# With few classes a single split says little, so measure on ten random ones.
rng = np.random.default_rng(0)
draws = [rng.permutation(animals.classes) for _ in range(10)]
splits = [ClassSplit(seen=draw[8:], unseen=draw[:8]) for draw in draws]
accuracy = {}
for name, table in tables.items():
    found = evaluate_splits(animals, "rrzsl", splits, semantics=table)
    accuracy[name] = [result.metrics["per_class_accuracy"] for result in found.results]
    print(f"{name:<24} {np.mean(accuracy[name]):.2f} ± {np.std(accuracy[name], ddof=1):.2f}")

# %%
# Left: which animals the encoder finds alike, by their names alone. It may think of another kind of
# seal. Right: the splits, and their mean.
some = ["lion", "tiger", "leopard", "wolf", "fox", "mouse", "rat", "hamster", "seal", "dolphin"]
vectors = tables["the name in a sentence"].rows(some)
figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.6), layout="constrained")
image = left.imshow(vectors @ vectors.T, cmap="viridis", vmin=0.3, vmax=1)
left.set_xticks(range(len(some)), some, rotation=50, ha="right")
left.set_yticks(range(len(some)), some)
left.set_title("likeness of the words")
figure.colorbar(image, ax=left, shrink=0.8)
for place, values in enumerate(accuracy.values()):
    right.scatter(values, np.full(10, place), alpha=0.6)
    right.scatter(np.mean(values), place, marker="|", s=900, color="black")
right.axvline(1 / 8, color="black", ls=":", label="chance")
right.set_yticks(range(len(tables)), tables)
right.set(xlim=(0, 1), ylim=(2.5, -0.5), xlabel="accuracy on 8 unseen classes")
right.set_title("ten random splits")
right.legend(loc="lower right")
plt.show()
