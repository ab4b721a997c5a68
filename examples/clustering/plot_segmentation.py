"""
Segmentation: find the object without being told its color
==========================================================

Learn from a few pictures with masks which pixel features tell an object from its background. New
pictures are then split in two by clustering their pixels in the learned space. The objects in the
new pictures have colors and textures that the training pictures lack.
"""

# %%
# We draw our own small scenes: a disc with a pattern, on grass that the light falls on unevenly.
import matplotlib.pyplot as plt
import numpy as np

from zslearn.cluster import EuclideanMapping, ImageSegmenter, SAEMapping
from zslearn.metrics import clustering_loss

SIDE = 60


def scene(rng, color):
    """Draw a textured disc on a background with a gradient of light."""
    rows, columns = np.mgrid[:SIDE, :SIDE]
    center, radius = rng.uniform(20, 40, 2), rng.uniform(11, 17)
    mask = np.hypot(rows - center[0], columns - center[1]) < radius
    light = 0.55 + 0.9 * (columns / SIDE if rng.random() < 0.5 else rows / SIDE)
    grass = np.array([70, 120, 60]) * light[..., None]
    petals = 0.85 + 0.15 * np.sin(columns / 2.0)[..., None]
    picture = np.where(mask[..., None], np.array(color) * petals, grass)
    noisy = picture + rng.normal(0, 14, picture.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8), mask.astype(int)


# %%
# Train on red, yellow and white objects; test on violet, orange and pink ones.
rng = np.random.default_rng(0)
train = [scene(rng, color) for color in ([200, 50, 50], [220, 200, 60], [225, 225, 225]) * 4]
test = [scene(rng, color) for color in ([150, 80, 190], [230, 140, 40], [230, 130, 170])]
images, masks = zip(*train, strict=True)
models = {
    "plain distances": ImageSegmenter(EuclideanMapping(), height=SIDE).fit(images, masks),
    "SAE": ImageSegmenter(SAEMapping(100.0), height=SIDE).fit(images, masks),
}

# %%
figure, axes = plt.subplots(3, 4, figsize=(8.5, 6.6), layout="constrained")
for line, (image, mask) in zip(axes, test, strict=True):
    line[0].imshow(image)
    line[1].imshow(mask, cmap="gray")
    for axis, model in zip(line[2:], models.values(), strict=True):
        found = model.predict(image)
        axis.imshow(found, cmap="gray")
        axis.set_xlabel(f"loss {clustering_loss(mask.ravel(), found.ravel()):.2f}")
for axis, title in zip(axes[0], ["picture", "truth", *models], strict=True):
    axis.set_title(title)
for axis in axes.flat:
    axis.set(xticks=[], yticks=[])
plt.show()
