"""
Your first zero-shot classifier
===============================

Learn from 22 animals, then recognize six others of which there is not a single training picture.
All the classifier knows of the six is a row of attributes each.
"""

# %%
# The bundled animals have a vector for each photograph and 85 attributes for each class.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import confusion_matrix

from zslearn import PrototypeRegression, load_animals

animals = load_animals()
split = animals.split("proposed")
seen, unseen = animals.rows(split.seen), animals.rows(split.unseen)
print(f"seen:   {', '.join(split.seen)}")
print(f"unseen: {', '.join(split.unseen)}")

# %%
# Signatures are a parameter of the classifier, so that ``fit`` takes X and y as everywhere in
# scikit-learn. All parameters are chosen by holding out some of the seen classes.
clf = PrototypeRegression(animals.signatures).fit(animals.X[seen], animals.y[seen])
answers = clf.predict(animals.X[unseen], candidates=split.unseen)
accuracy = clf.score(animals.X[unseen], animals.y[unseen], candidates="unseen")
print(f"accuracy {accuracy:.2f}, chance {1 / len(split.unseen):.2f}")

# %%
# Left: what the classifier was told about the unseen animals. Right: what it answered.
told = ["flys", "swims", "ocean", "furry", "hooves", "big", "claws", "domestic"]
table = animals.signatures.to_frame().loc[split.unseen, told]
counts = confusion_matrix(animals.y[unseen], answers, labels=split.unseen)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
left.imshow(table, cmap="Blues", vmin=0, vmax=100, aspect="auto")
left.set_xticks(range(len(told)), told, rotation=40, ha="right")
left.set_yticks(range(len(split.unseen)), split.unseen)
left.set_title("8 of the 85 attributes")
right.imshow(counts, cmap="Greens", vmin=0, vmax=60, aspect="auto")
right.set_xticks(range(len(split.unseen)), split.unseen, rotation=40, ha="right")
right.set_yticks(range(len(split.unseen)), split.unseen)
right.set(title=f"answers for 60 photographs each: {accuracy:.0%} right", ylabel="photograph of")
for (i, j), n in np.ndenumerate(counts):
    right.text(j, i, n or "", ha="center", va="center", color="white" if n > 30 else "black")
figure.suptitle("Six animals without a single training picture")
plt.show()

# %%
# The largest mistake makes sense: sheep are taken for horses, the other hoofed animal that people
# keep.
