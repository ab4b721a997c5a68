"""Mappings pass scikit-learn's own checks for transformers."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from zslearn.cluster import (
    ITML,
    KISSME,
    LMNN,
    MLCA,
    RCA,
    RVML,
    EuclideanMapping,
    LajugieSpectral,
    LDAProjection,
    SAEMapping,
    SupervisedKMeans,
    XingMMC,
)

MAPPINGS = [
    SAEMapping(),
    SAEMapping(class_weight="balanced"),
    MLCA(),
    RVML(),
    KISSME(),
    LDAProjection(),
    RCA(),
    EuclideanMapping(),
    LajugieSpectral(max_iter=20),
    XingMMC(100, max_iter=10),
    ITML(20, max_iter=5),
    LMNN(n_rounds=1, max_iter=5),
    SupervisedKMeans(SAEMapping()),
]


@parametrize_with_checks(MAPPINGS)
def test_sklearn_compatible(estimator, check):
    check(estimator)


@pytest.mark.parametrize("mapping", MAPPINGS[:-1], ids=lambda m: type(m).__name__)
def test_tags_name_their_source(mapping):
    tags = mapping.mapping_tags
    assert len(tags.reference) > 5
    assert tags.incremental == hasattr(mapping, "partial_fit")
