"""
Pictures of classes that were never shown
=========================================

Ten kinds of drawn shapes, not one picture of which was used for training, are named from what they
are made of. A class is a shape, a color, a texture and a size; training saw thirty other
combinations.
"""

# %%
# The library draws the pictures. Each class has a row of 20 traits in the class table.
import matplotlib.pyplot as plt
import numpy as np

from zslearn import PrototypeRegression
from zslearn.datasets import make_shapes
from zslearn.encoders import ImageEncoder

shapes = make_shapes(n_per_class=8, random_state=0)
print(f"{len(shapes.split.seen)} seen classes, such as {shapes.split.seen[0]}")
print(f"{len(shapes.split.unseen)} unseen classes, such as {shapes.split.unseen[0]}")

# %%
# A network that was trained on photographs turns each picture into 1,280 numbers; it knows nothing
# of the classes. The classifier learns from the seen ones how traits show in these numbers.
data = shapes.with_features(ImageEncoder("efficientnet-lite0").transform(shapes.pictures))
train, test = data.train_rows("standard"), data.test_rows("standard")
clf = PrototypeRegression(data.signatures).fit(data.X[train], data.y[train])
answers = clf.predict(data.X[test], candidates=shapes.split.unseen)
right = answers == data.y[test]
print(f"{right.mean():.0%} of {len(test)} pictures of unseen classes are right, chance is 10 %")

# %%
# The first picture of every unseen class and its answer.
firsts = np.arange(0, len(test), 8)
figure, places = plt.subplots(2, 5, figsize=(11, 5.8), layout="constrained")
for place, i in zip(places.flat, firsts, strict=True):
    place.imshow(shapes.pictures[test[i]])
    *beginning, color, shape = answers[i].split()
    place.set_title(
        f"{' '.join(beginning)}\n{color} {shape}",
        color="#1a7f37" if right[i] else "#b42318",
        fontsize=11,
    )
    if not right[i]:
        place.set_xlabel(f"no: {data.y[test[i]]}", fontsize=9)
    place.set(xticks=[], yticks=[])
    place.spines[:].set_visible(False)
figure.get_layout_engine().set(h_pad=0.12)
figure.suptitle("Answers for classes without a single training picture")
plt.show()
