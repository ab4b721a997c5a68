"""
Domain shift: when unseen classes are different
===============================================

A map learned on seen classes fits them best. "Has a tail" looks different on a whale than on a
cat. With synthetic data we can turn this up and down.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import make_classifier

METHODS = {
    "sae": "SAE, decoder",
    "ridge-fs": "ridge, features to attributes",
    "prototype-regression": "prototype regression",
}
SHIFTS = np.linspace(0, 9, 7)

# %%
# Every point is a mean over five draws of the data.


def accuracy(method, shift, seed):
    data = make_zero_shot(30, 10, n_per_class=20, noise=2.0, domain_shift=shift, random_state=seed)
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    clf = make_classifier(method, data.signatures).fit(data.X[seen], data.y[seen])
    return clf.score(data.X[unseen], data.y[unseen], candidates="unseen")


figure, axis = plt.subplots(figsize=(7, 4.3), layout="constrained")
for method, title in METHODS.items():
    runs = np.array([[accuracy(method, s, seed) for s in SHIFTS] for seed in range(5)])
    axis.errorbar(SHIFTS, runs.mean(0), runs.std(0, ddof=1), marker="o", capsize=3, label=title)
axis.axhline(0.1, color="black", ls=":", label="chance")
axis.set(xlabel="domain shift, relative to the map", ylabel="accuracy on unseen classes")
axis.legend()
axis.grid(alpha=0.3)
plt.show()
