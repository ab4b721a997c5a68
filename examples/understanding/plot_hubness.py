"""
Encoder against decoder: hubs
=============================

Regression pulls its answers towards the center. If samples are encoded and compared in the
semantic space, a few classes become the nearest neighbor of too many samples. They are called
hubs. Comparing in the feature space often makes them smaller. SAE offers both directions.

This split of the animals was picked because it shows the effect well. On the proposed split, with
six unseen classes, the decoder has the larger hub (skewness 1.1 against 0.8) and is still better.
"""

# %%
# Half of the bundled animals are seen, the other half unseen.
import matplotlib.pyplot as plt
import numpy as np

from zslearn import SAEClassifier, load_animals
from zslearn.evaluation import hubness_report

animals = load_animals()
unseen = animals.classes[1::2]
test = np.isin(animals.y, unseen)

# %%
# Every class has 60 photographs, so without hubs all bars would be about 60 high.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), sharey=True, layout="constrained")
for axis, direction in zip(axes, ["encode", "decode"], strict=True):
    clf = SAEClassifier(animals.signatures, direction=direction)
    clf.fit(animals.X[~test], animals.y[~test])
    answers = clf.predict(animals.X[test], candidates=unseen)
    report = hubness_report(answers, unseen)
    accuracy = np.mean(answers == animals.y[test])
    print(f"{direction}: {report.largest} is {report.largest_share:.0%} of the answers")
    order = np.argsort(-report.counts, kind="stable")
    axis.bar(np.asarray(unseen)[order], report.counts[order], color="#0072B2")
    axis.axhline(60, color="#D55E00", label="photographs of each class")
    axis.set_title(f"{direction}r: accuracy {accuracy:.2f}, skewness {report.skewness:.1f}")
    axis.tick_params(axis="x", rotation=60)
axes[0].set_ylabel("how often the class is answered")
axes[0].legend()
plt.show()
