"""
Why this answer?
================

A score of the semantic autoencoder is a sum over attributes. ``explain`` returns the terms, so
you can see what spoke for an answer and what spoke against it.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from zslearn import SAEClassifier, load_animals

animals = load_animals()
split = animals.split("proposed")
seen = animals.rows(split.seen)
clf = SAEClassifier(animals.signatures).fit(animals.X[seen], animals.y[seen])

# %%
# The first photograph of a dolphin that is recognized. The classifier never saw a dolphin.
dolphins = animals.X[animals.y == "dolphin"]
answers = clf.predict(dolphins, candidates=split.unseen)
photograph = dolphins[answers == "dolphin"][0]
print(f"{np.mean(answers == 'dolphin'):.0%} of the dolphins are recognized")
print(clf.predict_top_k(photograph[None], 3, candidates=split.unseen))

# %%
# The terms add up to the score, and the score decides.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained", sharex=True)
for axis, name in zip(axes, ["dolphin", "horse"], strict=True):
    why = clf.explain(photograph, name)
    np.testing.assert_allclose(why.offset + why.contributions.sum(), why.score)
    terms = why.top(10)[::-1]
    values = [value for _, value in terms]
    colors = ["#0072B2" if value > 0 else "#D55E00" for value in values]
    axis.barh([term for term, _ in terms], values, color=colors)
    axis.axvline(0, color="black", lw=0.8)
    axis.set_title(f"Is it a {name}? Score {why.score:.2f}")
    axis.set_xlabel("what the attribute adds to the score")
plt.show()
