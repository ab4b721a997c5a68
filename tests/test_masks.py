"""What is masked or NaN is not there: every door for numbers and labels refuses it, and says so."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from zslearn import metrics
from zslearn.autoencoder import SemanticAutoencoder
from zslearn.cluster import SupervisedKMeans, make_mapping
from zslearn.datasets import ZeroShotDataset, make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold
from zslearn.scale import fit_batches
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, SAEClassifier
from zslearn.zero_shot.auto import AutoZeroShotClassifier

DATA = make_zero_shot(6, 3, n_per_class=6, n_features=5, n_dimensions=3, random_state=0)
X, Y, TABLE = DATA.X, DATA.y, DATA.signatures
NAMES = TABLE.names


def sae(**parameters):
    return SAEClassifier(TABLE, lam=1.0, **parameters)


def fitted():
    return sae().fit(X, Y)


def clusters():
    return SupervisedKMeans(make_mapping("lda"))


def scores():
    return fitted().decision_function(X, NAMES.tolist())


#: Where rows, labels, weights, signatures or names go in. Each is given one array, masked or not.
ROWS = {
    "fit": lambda X: sae().fit(X, Y),
    "partial_fit": lambda X: sae().partial_fit(X, Y),
    "teach": lambda X: PrototypeRegression(TABLE, ridge=1.0).fit(DATA.X, Y).partial_fit(X, Y),
    "calibrated": lambda X: CalibratedStacking(sae(), gamma=0.0).fit(X, Y),
    "auto": lambda X: AutoZeroShotClassifier(TABLE).fit(X, Y) if np.ma.isMA(X) else None,
    "predict": lambda X: fitted().predict(X),
    "predict few": lambda X: fitted().predict(X[:1]),
    "score": lambda X: fitted().score(X, Y, "all"),
    "ready": lambda X: fitted().recognizer().ready(X),
    "explain": lambda X: fitted().explain(X[0], NAMES[0]),
    "adapt": lambda X: PrototypeRegression(TABLE, ridge=1.0).fit(DATA.X, Y).adapt(X),
    "autoencoder": lambda X: SemanticAutoencoder().fit(X, DATA.X[:, :2]),
    "semantics": lambda X: SemanticAutoencoder().fit(DATA.X, X),
    "codes": lambda X: SemanticAutoencoder().fit(DATA.X, DATA.X[:, :2]).transform(X),
    "decoded": lambda X: SemanticAutoencoder().fit(DATA.X, DATA.X).inverse_transform(X),
    "mapping": lambda X: make_mapping("lda").fit(X, Y),
    "mapped": lambda X: make_mapping("lda").fit(DATA.X, Y).transform(X),
    "kmeans": lambda X: clusters().fit(X, Y),
    "clusters": lambda X: clusters().fit(DATA.X, Y).predict(X),
    "data set": lambda X: ZeroShotDataset("own", X, Y, {"a": TABLE}),
    "fit_batches": lambda X: fit_batches(sae(), X, Y),
    "batches": lambda X: fit_batches(sae(), [(X, Y)]),
}
LABELS = {
    "fit": lambda y: sae().fit(X, y),
    "teach": lambda y: PrototypeRegression(TABLE, ridge=1.0).fit(X, Y).partial_fit(X, y),
    "calibrated": lambda y: CalibratedStacking(sae(), gamma=0.0).fit(X, y),
    "score": lambda y: fitted().score(X, y, "all"),
    "scorer": lambda y: metrics.make_zero_shot_scorer("per_class")(fitted(), X, y),
    "accuracy": lambda y: metrics.per_class_accuracy(y, Y),
    "answers": lambda y: metrics.per_class_accuracy(Y, y),
    "hits": lambda y: metrics.hit_at_k(y, scores(), candidates=NAMES, k=2),
    "clusters": lambda y: metrics.clustering_loss(Y, y),
    "kmeans": lambda y: clusters().fit(X, y),
    "kmeans score": lambda y: clusters().fit(X, Y).score(X, y),
    "data set": lambda y: ZeroShotDataset("own", X, y, {"a": TABLE}),
    "fit_batches": lambda y: fit_batches(sae(), X, y),
    "folds": lambda y: list(ClassKFold(3).split(X, y)),
}
WEIGHTS = {
    "fit": lambda w: sae().fit(X, Y, sample_weight=w),
    "score": lambda w: fitted().score(X, Y, "all", sample_weight=w),
    "accuracy": lambda w: metrics.per_class_accuracy(Y, Y, sample_weight=w),
    "confidence": lambda w: metrics.rejection_curve(Y, Y, w, candidates=NAMES[1:]),
}
VECTORS = {
    "table": lambda S: Signatures(NAMES, S),
    "dict": lambda S: Signatures.from_dict(dict(zip(NAMES.tolist(), S, strict=True))),
    "added": lambda S: fitted().add_classes({"new": S[0]}),
    "replaced": lambda S: fitted().recognizer().replace("new", S[0]),
}
OF_CANDIDATES = {
    "names": lambda names: Signatures(names, TABLE.vectors),
    "candidates": lambda names: fitted().predict(X, names),
}
OF_SCORES = {
    "hits": lambda s: metrics.hit_at_k(Y, s, candidates=NAMES, k=2),
    "curve": lambda s: metrics.seen_unseen_curve(Y, s, candidates=NAMES, seen=NAMES[:6]),
    "calibration": lambda s: metrics.expected_calibration_error(
        Y, np.full_like(s, 1 / len(NAMES)) + 0 * s, candidates=NAMES
    ),
}
GIVEN = [
    (ROWS, X),
    (LABELS, Y),
    (WEIGHTS, np.ones(len(Y))),
    (VECTORS, TABLE.vectors),
    (OF_CANDIDATES, NAMES),
    (OF_SCORES, None),
]
CASES = [(door, values) for doors, values in GIVEN for door in doors.values()]
IDS = [name for doors, _ in GIVEN for name in doors]


@pytest.mark.parametrize(("door", "values"), CASES, ids=IDS)
@pytest.mark.filterwarnings("ignore::zslearn.exceptions.ZslearnWarning")
def test_masked_values_are_refused_and_others_are_taken(door, values):
    values = scores() if values is None else np.array(values)
    door(values)
    nothing_masked = np.ma.masked_array(values, mask=np.zeros(values.shape, dtype=bool))
    if door is not ROWS["auto"]:
        door(nothing_masked)
    mask = np.zeros(values.shape, dtype=bool)
    mask.flat[: values.ndim] = True
    with pytest.raises(InvalidInputError, match=r"[12] of the values in .* are masked; fill"):
        door(np.ma.masked_array(values, mask=mask))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("door", sorted(ROWS.keys() - {"auto", "semantics", "decoded", "data set"}))
@pytest.mark.filterwarnings("ignore::zslearn.exceptions.ZslearnWarning")
def test_the_row_that_is_no_number_is_named(door, bad):
    row, column = (4, 3) if door not in ("predict few", "explain") else (0, 3)
    values = X.copy()
    values[row, column] = bad
    with pytest.raises(InvalidInputError, match=rf"row {row} .*(NaN|nan|inf)") as caught:
        ROWS[door](values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, pd.DataFrame, list])
def test_the_row_is_named_whatever_holds_it(form):
    values = X.copy()
    values[5, 2] = np.nan
    with pytest.raises(InvalidInputError, match="row 5 of X holds NaN in column 2; drop such rows"):
        sae().fit(form(values), Y)
