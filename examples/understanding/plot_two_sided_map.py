"""
The two-sided map
=================

The semantic autoencoder learns one matrix W. It maps features to attributes, and its transpose
maps attributes back to features. With two features and two attributes everything can be drawn.
"""

# %%
# Six classes with training samples, two without. Attributes are how big an animal is and how much
# it swims.
import matplotlib.pyplot as plt
import numpy as np

from zslearn import SAEClassifier, Signatures

rng = np.random.default_rng(3)
names = ["cat", "horse", "elephant", "beaver", "seal", "orca", "hippo", "otter"]
described = [
    [-0.9, -0.8],
    [0.3, -0.9],
    [1.0, -0.6],
    [-0.7, 0.4],
    [0.0, 0.9],
    [0.9, 0.9],
    [0.7, 0.1],
    [-0.9, 0.8],
]
table = Signatures(names, described, ["size", "swims"])
true_map = np.array([[0.85, 0.55], [-0.5, 0.9]])
y = np.repeat(names, 40)
X = table.rows(y) @ true_map + 0.13 * rng.standard_normal((len(y), 2))
unseen = names[6:]
train = ~np.isin(y, unseen)

clf = SAEClassifier(table, lam=1.0, feature_norm=None, signature_norm=None)
clf.fit(X[train], y[train])
W = clf.coef_

# %%
# Left, features: a cross is the decoded signature of a class, the place where its samples are
# expected. Right, attributes: a star is the signature, and the dots are encoded samples. The two
# gray classes have no training samples, and still both panels put them in the right place.
figure, (features, semantics) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
colors = dict(zip(names, [*plt.colormaps["tab10"].colors[:6], "0.35", "0.65"], strict=True))
for name in names:
    rows = y == name
    features.scatter(*X[rows].T, s=8, color=colors[name], alpha=0.5)
    features.scatter(*(table[name] @ W), marker="X", s=110, color=colors[name], edgecolor="black")
    features.annotate(name, table[name] @ W, xytext=(7, 7), textcoords="offset points")
    semantics.scatter(*(X[rows] @ W.T).T, s=8, color=colors[name], alpha=0.5)
    semantics.scatter(*table[name], marker="*", s=170, color=colors[name], edgecolor="black")
    semantics.annotate(name, table[name], xytext=(7, 7), textcoords="offset points")
features.set(title="features: decoded signatures Wᵀs (crosses)", xlabel="$x_1$", ylabel="$x_2$")
semantics.set(title="attributes: encoded samples (dots)", xlabel="size", ylabel="swims")
plt.show()
