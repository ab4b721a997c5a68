"""
ONNX and thread-safe answers
============================

Two ways to put a model to work: an ONNX file for programs without Python, and a recognizer, which
is immutable and can be shared by threads, for a server in Python.
"""

# %%
import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime

from zslearn import PrototypeRegression, load_animals
from zslearn.persistence import export_onnx

animals = load_animals()
split = animals.split("proposed")
seen, unseen = animals.rows(split.seen), animals.rows(split.unseen)
clf = PrototypeRegression(animals.signatures).fit(animals.X[seen], animals.y[seen])

# %%
# Export the scoring of the unseen classes, and run it without zslearn.
path = Path(tempfile.mkdtemp()) / "animals.onnx"
export_onnx(clf, path, candidates=split.unseen, top_k=3)
session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
names = json.loads(session.get_modelmeta().custom_metadata_map["class_names"])
outputs = ["scores", "top_indices"]
scores, best = session.run(outputs, {"features": animals.X[unseen].astype(np.float32)})
print([names[i] for i in best[0]], f"{path.stat().st_size / 1000:.0f} kB")

# %%
# Both give the same answers.
ours = clf.decision_function(animals.X[unseen], candidates=split.unseen)
figure, axis = plt.subplots(figsize=(5, 4.6), layout="constrained")
true = animals.y[unseen][:, None] == np.array(names)
axis.scatter(ours[~true], scores[~true], s=14, color="#0072B2", label="another class")
axis.scatter(ours[true], scores[true], s=4, color="#D55E00", label="the true class")
axis.set(xlabel="score of zslearn", ylabel="score of ONNX Runtime", title="2,160 scores")
axis.legend()
same = np.mean([names[i] for i in best[:, 0]] == clf.predict(animals.X[unseen], split.unseen))
print(f"same answer: {same:.0%}; largest difference {np.abs(ours - scores).max():.1e}")
plt.show()

# %%
# A recognizer prepares class vectors once. Changing a class returns a new one and leaves the old
# one to those who are using it.
recognizer = clf.recognizer(split.unseen)
ranking = recognizer.rank(animals.X[unseen][:1], k=3)
print(ranking.names[0])
smaller = recognizer.without("bat")
print(smaller.rank(animals.X[unseen][:1], k=3).names[0])
