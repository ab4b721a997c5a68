"""
Shapes nobody has shown, recognized and drawn
=============================================

A convolutional semantic autoencoder reads attributes off pictures and draws pictures from
attributes. Here it learns from drawn shapes and meets combinations of shape, color, texture and
size that no training picture shows. The network and the pictures are small, so that this page is
made in half a minute; the figures in the user guide come from larger pictures. Learning needs
PyTorch (``pip install 'zslearn[deep]'``), answering and drawing do not.
"""

# %%
# Each class is a combination, and its signature says which. Backgrounds, places, light and gray
# marks are random, so a pixel says little by itself.
import matplotlib.pyplot as plt
import numpy as np

from zslearn import SAEClassifier
from zslearn.datasets import make_shapes
from zslearn.zero_shot.deep import ConvSemanticAutoencoder

shapes = make_shapes(60, 12, n_per_class=15, side=32, random_state=0)
seen = np.isin(shapes.y, shapes.split.seen)
pictures, y = shapes.pictures, shapes.y

deep = ConvSemanticAutoencoder(shapes.signatures, channels=(16, 32, 64), device="cpu")
deep.set_params(training__n_epochs=20)
deep.fit(pictures[seen], y[seen])

# %%
# How many pictures of unseen combinations are named right, among all twelve of them? Beside it
# the linear autoencoder on the pixels, and guessing.
pixels = pictures.reshape(len(y), -1) / 255.0
linear = SAEClassifier(shapes.signatures).fit(pixels[seen], y[seen])
accuracy = {
    "convolutional": deep.score(pictures[~seen], y[~seen], candidates="unseen"),
    "linear, on pixels": linear.score(pixels[~seen], y[~seen], candidates="unseen"),
    "guessing": 1 / len(shapes.split.unseen),
}
for name, share in accuracy.items():
    print(f"{name:18} {share:.2f}")

# %%
# Top: a picture of an unseen combination, large objects first. Middle: the same picture after a
# walk through the code. Bottom: what the network draws for the signature, with the place and the
# background of the picture above. It has never seen such an object: it puts together what it
# learned of its color, size and shape. Outlines are soft, textures are missing and small objects
# nearly so; that takes larger pictures and a longer training.
names = sorted(shapes.split.unseen, key=lambda name: not name.startswith("large"))[:8]
first = [int(np.flatnonzero(y == name)[0]) for name in names]
vectors = shapes.signatures.rows(names)
free = deep.encode(pictures[first])[:, vectors.shape[1] :]
rows = {
    "unseen": pictures[first] / 255.0,
    "reconstructed": deep.reconstruct(pictures[first]),
    "drawn from\nits signature": deep.decode(vectors, free),
}
figure, axes = plt.subplots(3, len(names), figsize=(11, 4.8), layout="constrained")
for line, (label, made) in zip(axes, rows.items(), strict=True):
    line[0].set_ylabel(label)
    for place, picture in zip(line, made, strict=True):
        place.imshow(picture)
        place.set(xticks=[], yticks=[])
for place, name in zip(axes[0], names, strict=True):
    size, texture, color, shape = str(name).split()
    place.set_title(f"{size} {texture}\n{color} {shape}", fontsize=9)
plt.show()
