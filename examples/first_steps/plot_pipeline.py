"""
Pipelines and grid search
=========================

Zero-shot classifiers are scikit-learn classifiers. One thing is different: folds must hold out
whole classes, because that is what will happen later. ``ClassKFold`` does it.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from zslearn import ClassKFold, SAEClassifier, load_animals
from zslearn.metrics import make_zero_shot_scorer

animals = load_animals()
split = animals.split("proposed")
seen, unseen = animals.rows(split.seen), animals.rows(split.unseen)

# %%
# PCA, then the semantic autoencoder. The scorer asks only for the classes that a fold held out.
pipeline = Pipeline([("pca", PCA(random_state=0)), ("sae", SAEClassifier(animals.signatures))])
grid = {"pca__n_components": [30, 100, 300], "sae__lam": [0.01, 0.1, 1.0, 10.0, 100.0]}
scorer = make_zero_shot_scorer("unseen")
search = GridSearchCV(pipeline, grid, cv=ClassKFold(5), scoring=scorer)
search.fit(animals.X[seen], animals.y[seen])
print(search.best_params_)

# %%
# The chosen model on animals that no fold has seen.
accuracy = scorer(search.best_estimator_, animals.X[unseen], animals.y[unseen])
print(f"accuracy on unseen classes: {accuracy:.2f}")

# %%
scores = search.cv_results_["mean_test_score"].reshape(3, 5)
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for n, row in zip(grid["pca__n_components"], scores, strict=True):
    axis.semilogx(grid["sae__lam"], row, marker="o", label=f"{n} components")
axis.set(xlabel="λ", ylabel="accuracy on held-out classes", title="Class-wise grid search")
axis.legend()
axis.grid(alpha=0.3)
plt.show()
