"""
What λ does, and how it is chosen
=================================

λ weighs the encoder's error against the decoder's. One decomposition of the data gives the map
for every λ, so a whole path costs little more than one point. λ is chosen by holding out seen
classes; no unseen class takes part.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from zslearn import SAEClassifier, load_animals

animals = load_animals()
split = animals.split("proposed")
seen, unseen = animals.rows(split.seen), animals.rows(split.unseen)
clf = SAEClassifier(animals.signatures, direction="both").fit(animals.X[seen], animals.y[seen])
results = clf.cv_results_
print({way: round(lam, 2) for way, lam in clf.lam_.items()})

# %%
# The accuracy on unseen classes is drawn for comparison only: in earnest it is not known.


def accuracy_on_unseen(direction, lam):
    model = SAEClassifier(animals.signatures, lam=lam, direction=direction)
    model.fit(animals.X[seen], animals.y[seen])
    return model.score(animals.X[unseen], animals.y[unseen], candidates="unseen")


figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
for axis, direction in zip(axes, ["encode", "decode"], strict=True):
    rows = [i for i, point in enumerate(results["params"]) if point["direction"] == direction]
    lams = np.array([results["params"][i]["lam"] for i in rows])
    mean, std = results["mean_test_score"][rows], results["std_test_score"][rows]
    axis.fill_between(lams, mean - std, mean + std, alpha=0.2, lw=0)
    axis.semilogx(lams, mean, label="held-out seen classes, 5 folds")
    some = lams[::4]
    truth = [accuracy_on_unseen(direction, lam) for lam in some]
    axis.semilogx(some, truth, "o--", color="#D55E00", label="unseen classes")
    axis.axvline(clf.lam_[direction], color="black", ls=":", label="chosen λ")
    axis.set(title=f"{direction}r", xlabel="λ")
    axis.grid(alpha=0.3)
axes[0].set_ylabel("accuracy")
axes[0].legend(loc="lower left")
plt.show()
