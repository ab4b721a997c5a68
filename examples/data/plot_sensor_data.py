"""
Sensor data: attributes that no linear method sees
==================================================

Machines are described by what they do: shakes, hums, ... A channel swings wide if the machine
does it and little if not, but its mean is zero either way. The means of all classes are the same,
so linear methods guess. The variance holds everything, and a naive Bayes classifier for each
attribute reads it. So does SAE behind squared features.
"""

# %%
# Synthetic machines: 20 seen and 6 unseen ones.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from zslearn.signatures import Signatures
from zslearn.zero_shot import DAPClassifier, PrototypeRegression, SAEClassifier

ATTRIBUTES = ["shakes", "hums", "heats", "spins", "clicks", "leaks", "swings", "glows"]
CHANNELS, SAMPLES, SEEN, UNSEEN = 3, 40, 20, 6


def make_machines(seed: int = 0) -> tuple[np.ndarray, np.ndarray, Signatures]:
    """Return samples, their classes and the class table; the last classes are the unseen ones."""
    rng = np.random.default_rng(seed)
    codes = 1 + rng.choice(2 ** len(ATTRIBUTES) - 1, SEEN + UNSEEN, replace=False)
    has = (codes[:, None] >> np.arange(len(ATTRIBUTES))) & 1
    names = [f"machine {i:02d}" for i in range(len(has))]
    index = np.repeat(np.arange(len(has)), SAMPLES)
    swing = np.repeat(1.0 + 3.0 * has, CHANNELS, axis=1)[index]
    X = swing * rng.standard_normal(swing.shape)
    return X, np.array(names)[index], Signatures(names, has, ATTRIBUTES)


X, y, table = make_machines()
train = np.isin(y, table.names[:SEEN])

# %%
# Two linear methods, attribute classifiers of both kinds, and a transformer before a linear
# method.
models = {
    "SAE": SAEClassifier(table),
    "prototype regression": PrototypeRegression(table),
    "DAP, logistic": DAPClassifier(table, feature_norm=None),
    "DAP, naive Bayes": DAPClassifier(table, feature_norm=None, classifier=GaussianNB()),
    "squares, then SAE": make_pipeline(FunctionTransformer(np.square), SAEClassifier(table)),
}
accuracy = {}
for name, model in models.items():
    model.fit(X[train], y[train])
    answers = model.predict(X[~train], candidates="unseen")
    accuracy[name] = float(np.mean(answers == y[~train]))
    print(f"{name:<22} {accuracy[name]:.2f} of the samples of unseen machines are named right")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
shakes = table.rows(y)[:, 0] > 0
bins = np.linspace(-12, 12, 49).tolist()
for does, color, label in ((False, "#0072B2", "does not shake"), (True, "#D55E00", "shakes")):
    left.hist(X[shakes == does, 0], bins=bins, alpha=0.6, color=color, label=label)
left.set(title="one channel: same mean, other spread", xlabel="value", ylabel="samples")
left.legend(frameon=False)
bars = right.barh(list(accuracy), list(accuracy.values()), color="#009E73")
right.bar_label(bars, fmt="%.2f", padding=3)
right.axvline(1 / UNSEEN, color="black", ls="--", lw=1, label="chance")
right.invert_yaxis()
right.set(title="accuracy on six unseen machines", xlim=(0, 1.1))
right.legend(frameon=False, loc="upper right")
plt.show()
