"""
Add a class: like a horse, but striped
======================================

Nobody has to collect pictures, and nothing is fitted again: describe a new class by what it
resembles and what is different.
"""

# %%
# Train without zebras. Horses are among the training classes.
import matplotlib.pyplot as plt
import numpy as np

from zslearn import PrototypeRegression, load_animals

animals = load_animals()
is_zebra = animals.y == "zebra"
known = animals.signatures.drop(["zebra"])
clf = PrototypeRegression(known).fit(animals.X[~is_zebra], animals.y[~is_zebra])

before = clf.predict(animals.X[is_zebra])

# %%
# Now describe the new animal, without looking at the zebra's row of the table.
striped_horse = known.like(
    "horse", name="striped horse", stripes=100, black=60, white=60, domestic=0
)
clf.add_classes(striped_horse)
after = clf.predict(animals.X[is_zebra])
others = clf.predict(animals.X[~is_zebra])
print(f"zebras called striped horse: {np.mean(after == 'striped horse'):.2f}")
print(f"other animals called so: {np.mean(others == 'striped horse'):.3f}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharex=True)
for axis, answers, title in zip(axes, [before, after], ["before", "after"], strict=True):
    names, counts = np.unique(answers, return_counts=True)
    order = np.argsort(counts)[-6:]
    colors = ["#D55E00" if names[i] == "striped horse" else "#0072B2" for i in order]
    axis.barh(names[order], counts[order], color=colors)
    axis.set(title=f"{title} the class was added", xlabel="of 60 photographs of zebras")
plt.show()
