"""
From zero to a few pictures
===========================

A description of an animal nobody has photographed is a prior; the first photographs are evidence.
How much is a description worth, and what does one photograph add?
"""

# %%
# Fit on seen animals. The attributes of the other eight are all that is known of them.
import copy

import matplotlib.pyplot as plt
import numpy as np

from zslearn import PrototypeRegression, load_animals

animals = load_animals()
rng = np.random.default_rng(1)
unseen = np.sort(rng.permutation(animals.classes)[:8])
new = animals.rows(unseen)
seen = np.setdiff1d(np.arange(len(animals.y)), new)
described = PrototypeRegression(animals.signatures).fit(animals.X[seen], animals.y[seen])
X, y = animals.X[new], animals.y[new]
zero = described.score(X, y, candidates="unseen")
print(f"{zero:.2f} right by description; one counts as {described.kappa_:.1f} photographs")

# %%
# Add photographs, one per animal at a time, and test on the last thirty of each. A copy keeps the
# classifier as it was.
place = np.concatenate([np.arange((y == name).sum()) for name in unseen])
order = np.argsort(np.searchsorted(unseen, y), kind="stable")
number = np.empty(len(y), dtype=int)
number[order] = place
test = number >= 30
counts, both, alone = [0, 1, 2, 4, 8, 16], [], []
for n in counts:
    taught = copy.copy(described)
    if n:
        taught.partial_fit(X[number < n], y[number < n])
        means = np.array([X[(number < n) & (y == name)].mean(axis=0) for name in unseen])
        nearest = ((X[test][:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        alone.append((unseen[nearest] == y[test]).mean())
    both.append(taught.score(X[test], y[test], candidates="unseen"))

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(range(len(counts)), both, "o-", label="description and photographs")
ax.plot(range(1, len(counts)), alone, "o-", label="photographs alone")
ax.axhline(both[0], color="gray", linestyle=":", label="description alone")
ax.set(xlabel="photographs per animal", ylabel="right", xticks=range(len(counts)))
ax.set_xticklabels([str(n) for n in counts])
ax.legend()

# %%
# Which photographs to label first? Those between two uncertain animals.
found = described.suggest(X, n=5, candidates="unseen")
for row, (first, second) in zip(found.rows, found.names, strict=True):
    print(f"photograph {row}: {first} or {second}? It is a {y[row]}.")

# %%
# Without any label, a whole batch moves the prototypes too, as far as descriptions are uncertain.
moved = described.adapt(X, candidates="unseen")
print(moved.adaptation_)
print(f"{zero:.2f} before, {moved.score(X, y, candidates='unseen'):.2f} after")
