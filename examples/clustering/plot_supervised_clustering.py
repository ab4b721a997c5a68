"""
Supervised clustering: three clusters, each torn in two
=======================================================

The paper's figure: training data, k-means with Euclidean distance, MLCA and the semantic
autoencoder. Each cluster has two parts that lie far apart. k-means follows the distances and gets
it wrong; a mapping learned from labels gets it right, on test data without labels.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from zslearn.cluster import MLCA, EuclideanMapping, SAEMapping, SupervisedKMeans
from zslearn.datasets import make_subclusters
from zslearn.metrics import clustering_loss

# Distinct for all kinds of color vision, and in shape besides.
COLORS, MARKERS = ("#0072B2", "#D55E00", "#009E73"), ("o", "^", "s")


def draw(axes: plt.Axes, X: np.ndarray, labels: np.ndarray, title: str) -> None:
    for c, (color, marker) in enumerate(zip(COLORS, MARKERS, strict=True)):
        points = X[labels == c]
        axes.scatter(*points.T, s=5, c=color, marker=marker, alpha=0.6, lw=0, depthshade=False)
    axes.set_title(title)
    axes.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="$x_3$")
    axes.set(xticks=[-6, 0, 6], yticks=[0, 30, 60], zticks=[0, 6])
    axes.view_init(elev=18, azim=-60)


def named_like(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return clusters numbered like the classes they share most points with, for the colors."""
    classes, clusters = linear_sum_assignment(contingency_matrix(y, labels), maximize=True)
    return classes[np.argsort(clusters)][labels]


# %%
# The loss is 0 for the true partition.
data = make_subclusters(random_state=1000)
models = {
    "k-means, Euclidean": SupervisedKMeans(EuclideanMapping(), standardize=False),
    "MLCA": SupervisedKMeans(MLCA(), standardize=False),
    "SAE": SupervisedKMeans(SAEMapping("cv")),
}
figure, panels = plt.subplots(2, 2, figsize=(10, 8.4), subplot_kw={"projection": "3d"})
first, *rest = panels.flat
draw(first, data.X_train, data.y_train, "training data, true classes")
for panel, (name, model) in zip(rest, models.items(), strict=True):
    labels = model.fit(data.X_train, data.y_train).cluster(data.X_test)
    loss = clustering_loss(data.y_test, labels)
    print(f"{name:<20} test loss {loss:.3f}")
    draw(panel, data.X_test, named_like(data.y_test, labels), f"{name}: loss {loss:.2f}")
figure.subplots_adjust(left=0.02, right=0.94, bottom=0.04, top=0.96, wspace=0.08, hspace=0.12)
plt.show()
