"""
Probabilities to believe, and "none of these"
=============================================

A classifier learns 18 of the 28 bundled animals. Six more are known by their attributes alone, and
four are unknown: no samples, no attributes, so the only right answer to their pictures is none at
all. `CalibratedStacking` learns a bias, a temperature and a threshold on folds of the 18 classes.
"""

# %%
# Deal the animals, and hold out a quarter of the samples of those that are trained.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from zslearn.datasets import load_animals
from zslearn.metrics import RejectionCurveDisplay, ReliabilityDisplay
from zslearn.model_selection import stratified_holdout
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression

animals = load_animals()
order = np.random.default_rng(0).permutation(np.unique(animals.y))
seen, unseen, unknown = np.split(order, [18, 24])
rows = animals.rows(seen)
kept, held_out = stratified_holdout(animals.y[rows], share=0.25, random_state=0)
train = rows[kept]
test = np.concatenate([rows[held_out], animals.rows([*unseen, *unknown])])
X, y = animals.X[test], animals.y[test]
known = np.isin(y, [*seen, *unseen])

# %%
# The unknown animals have no signature, so they cannot be answered. At most 10 % of the samples of
# trained animals should be rejected, and 20 % of those of a described one. What the folds say of
# that threshold comes first: with so few classes it catches few of the unknown.
table = animals.signatures.drop(unknown)
clf = CalibratedStacking(PrototypeRegression(table), max_rejected=0.1)
clf.fit(animals.X[train], animals.y[train])
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    answers = clf.predict(X, reject=True, reject_label="none of these")
for warning in told:
    print(f"warning: {warning.message}")
rejected = answers == "none of these"
print(f"bias {clf.gamma_:.0f}, temperature {clf.temperature_['all']:.0f}")
for name, side in (("known", known), ("unknown", ~known)):
    print(f"{rejected[side].mean():.0%} of the samples of {name} animals are rejected")

# %%
# On the left, what probabilities are worth: the dots should lie on the diagonal. On the right, how
# answers get better as those of low confidence are rejected.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
plain = ReliabilityDisplay.from_estimator(
    clf.estimator_, X[known], y[known], name="softmax of the scores", n_bins=10, ax=left
)
honest = ReliabilityDisplay.from_estimator(
    clf, X[known], y[known], name="calibrated", n_bins=10, ax=left
)
recognizer = clf.recognizer()
scores = recognizer.scores(X)
best = clf.classes_[scores.argmax(axis=1)]
ways = {
    "learned confidence": recognizer.confidence(X),
    "probability of the answer": recognizer.probabilities(X).max(axis=1),
    "score of the answer": scores.max(axis=1),
}
auroc = {}
for name, confidence in ways.items():
    display = RejectionCurveDisplay.from_predictions(
        y, best, confidence, candidates=clf.classes_, name=name, ax=right
    )
    auroc[name] = display.curve.auroc
accuracy = np.mean(answers[~rejected] == y[~rejected])
right.plot(1 - rejected.mean(), accuracy, "k*", markersize=14, label="the learned threshold")
right.legend(fontsize="small", loc="lower left")
left.set_title("what probabilities are worth")
right.set_title("accuracy as answers are rejected")
plt.show()
