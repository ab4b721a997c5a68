"""
Comparing methods fairly
========================

With eight unseen classes, one class is an eighth of the result. Methods must therefore be
compared on several splits, and pairwise: the same splits for each, and the interval of the
*difference*.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from zslearn import load_animals
from zslearn.datasets import ClassSplit
from zslearn.evaluation import evaluate_splits

METHODS = {"sae": "SAE", "sae-encode": "SAE, encoder", "rrzsl": "RRZSL", "eszsl": "ESZSL"}
animals = load_animals()
rng = np.random.default_rng(1)
draws = [rng.permutation(animals.classes) for _ in range(6)]
splits = [ClassSplit(seen=draw[8:], unseen=draw[:8]) for draw in draws]

# %%
accuracy = {}
for method, title in METHODS.items():
    found = evaluate_splits(animals, method, splits)
    accuracy[title] = np.array([one.metrics["per_class_accuracy"] for one in found.results])
    print(f"{title:<13} {accuracy[title].mean():.3f} ± {accuracy[title].std(ddof=1):.3f}")

# %%
# Left: every line is a split. Splits differ more than methods do, which is why the differences on
# the right are so much more telling than the means. The splits share classes, so the intervals
# are a little too narrow.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
left.plot(list(accuracy), np.array(list(accuracy.values())), color="#0072B2", alpha=0.5, marker="o")
left.set(ylabel="accuracy on unseen classes", title="six splits")
others = [title for title in accuracy if title != "SAE"]
for place, title in enumerate(others):
    gap = accuracy[title] - accuracy["SAE"]
    half = stats.t.ppf(0.975, len(gap) - 1) * stats.sem(gap)
    right.errorbar(gap.mean(), place, xerr=half, marker="o", capsize=4, color="#D55E00")
right.axvline(0, color="black", lw=0.8)
right.set_yticks(range(len(others)), others)
right.invert_yaxis()
right.set(xlabel="difference to SAE, 95 % interval", title="paired differences")
plt.show()
