"""
Data larger than memory, and Dask
=================================

Linear methods need class counts, class sums and one matrix. These add up over blocks, so data on
disk is read once, block by block, and the answer is that of an ordinary fit. A Dask cluster adds
up the same sums.
"""

# %%
# Write features to disk as they may come out of a long extraction.
import tempfile
import time
from pathlib import Path

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from zslearn import SAEClassifier
from zslearn.datasets import make_zero_shot
from zslearn.scale import fit_batches, fit_dask

data = make_zero_shot(60, 10, n_per_class=800, n_features=256, n_dimensions=40, random_state=0)
seen = data.rows(data.split("standard").seen)
order = np.random.default_rng(0).permutation(seen)
folder = Path(tempfile.mkdtemp())
np.save(folder / "X.npy", data.X[order].astype(np.float32))
y = data.y[order]
mapped = np.load(folder / "X.npy", mmap_mode="r")
print(f"{mapped.shape[0]:,} × {mapped.shape[1]}, {mapped.nbytes / 1e6:.0f} MB on disk")

# %%
# Three ways to the same model.
plain = SAEClassifier(data.signatures, lam=1.0).fit(np.asarray(mapped), y)
streamed = fit_batches(SAEClassifier(data.signatures, lam=1.0), mapped, y, block_rows=4096)
chunks = da.from_array(mapped, chunks=(4096, -1))
clustered = fit_dask(SAEClassifier(data.signatures, lam=1.0), chunks, y)
largest = np.abs(plain.coef_).max()
for name, model in {"fit_batches": streamed, "fit_dask": clustered}.items():
    print(f"{name}: largest difference {np.abs(model.coef_ - plain.coef_).max() / largest:.0e}")

# %%
# The time of a pass grows with the number of rows; memory does not.
rows = np.array([3000, 6000, 12000, 24000, 48000])
seconds = []
for n in rows:
    start = time.perf_counter()
    fit_batches(SAEClassifier(data.signatures, lam=1.0), mapped[:n], y[:n])
    seconds.append(time.perf_counter() - start)
figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
axis.plot(rows, seconds, marker="o")
axis.set(xlabel="rows", ylabel="seconds", title="One pass over 256 features", ylim=(0, None))
axis.grid(alpha=0.3)
plt.show()
