"""
When seen classes compete
=========================

In the generalized setting all classes are candidates. A classifier prefers what it was trained
on, so unseen classes lose. ``CalibratedStacking`` subtracts a bias from the scores of seen
classes, and chooses it without a single unseen sample.
"""

# %%
import matplotlib.pyplot as plt

from zslearn import CalibratedStacking, SAEClassifier, load_animals
from zslearn.evaluation import GeneralizedProtocol
from zslearn.metrics import SeenUnseenCurveDisplay, harmonic_mean, seen_unseen_curve

animals = load_animals()
task = GeneralizedProtocol().task(animals)
X, y = animals.X[task.train], animals.y[task.train]
clf = CalibratedStacking(SAEClassifier(animals.signatures)).fit(X, y)
print(f"bias chosen on seen classes: {clf.gamma_:.4f}")

# %%
# The curve holds every pair of accuracies that some bias reaches.
names = task.candidates
scores = clf.estimator_.decision_function(animals.X[task.test], candidates=names)
curve = seen_unseen_curve(animals.y[task.test], scores, candidates=names, seen=task.seen)
for label, point in {"no bias": curve.at(0.0), "calibrated": curve.at(clf.gamma_)}.items():
    mean = harmonic_mean(point.seen, point.unseen)
    print(f"{label:<10} seen {point.seen:.2f}, unseen {point.unseen:.2f}, harmonic mean {mean:.2f}")

# %%
# "Oracle" is the best bias for these test samples. It cannot be known in advance.
figure, axis = plt.subplots(figsize=(6.5, 4.8), layout="constrained")
SeenUnseenCurveDisplay(curve, name="SAE", calibrated=curve.at(clf.gamma_)).plot(axis)
axis.grid(alpha=0.3)
plt.show()
