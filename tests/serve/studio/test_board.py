"""Scores kept in step with the classes: one column at a time gives what all at once give."""

from types import MappingProxyType

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from zslearn.serve.studio.board import Board
from zslearn.serve.studio.edits import BoardClass
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

N_SEEN, N_DIMENSIONS = 4, 3


@pytest.fixture(scope="module")
def recognizer():
    rng = np.random.default_rng(0)
    table = Signatures(list("abcd"), rng.random((N_SEEN, N_DIMENSIONS)))
    y = np.repeat(list("abcd"), 10)
    X = table.vectors[np.repeat(np.arange(N_SEEN), 10)] @ rng.standard_normal((N_DIMENSIONS, 6))
    return SAEClassifier(table, lam=1.0).fit(X + 0.1 * rng.standard_normal(X.shape), y).recognizer()


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(1).standard_normal((200, 6))


def classes(rows):
    return MappingProxyType(
        {i: BoardClass(i, name, row, i < N_SEEN) for i, (name, row) in enumerate(rows.items())}
    )


def answers(board, rows, bias):
    board.sync(classes(rows))
    return [part.copy() for part in board.choose(bias)]


def literally(board, bias):
    """Sort all scores of each sample; the first of equal ones comes first."""
    scores = board.scores - np.float32(bias) * board.seen.astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    if scores.shape[1] == 1:
        return order[:, 0], order[:, 0], np.zeros(len(scores), np.float32)
    return order[:, 0], order[:, 1], ranked[:, 0] - ranked[:, 1]


@pytest.mark.parametrize("n_classes", [1, 2, 3, 6])
def test_a_moved_slider_answers_as_all_scores_do(recognizer, X, n_classes):
    rng = np.random.default_rng(2)
    rows = {f"class {i}": rng.random(N_DIMENSIONS) for i in range(n_classes)}
    board, bias = Board(recognizer, X), 0.0
    for step in range(40):
        # One class for a while, then another; sometimes a tie, sometimes another bias.
        name = f"class {(step // 7) % n_classes}"
        other = f"class {rng.integers(n_classes)}"
        rows = {**rows, name: rows[other].copy() if step % 3 else rng.random(N_DIMENSIONS)}
        bias = 0.1 if step % 11 == 10 else bias
        if step % 5 == 4:
            board.biased(bias)  # a card was looked at between two moves
        found = answers(board, rows, bias)
        for kept, known in zip(found, literally(board, bias), strict=True):
            np.testing.assert_array_equal(kept, known)
        fresh = Board(recognizer, X)
        fresh.sync(classes(rows))
        np.testing.assert_allclose(board.scores, fresh.scores, atol=1e-6)


def test_ties_go_to_the_first_class(recognizer, X):
    row = np.ones(N_DIMENSIONS)
    rows = {name: row for name in ("x", "y", "z")}
    board = Board(recognizer, X)
    answers(board, {**rows, "y": np.eye(N_DIMENSIONS)[0]}, 0.0)
    best, second, margin = answers(board, rows, 0.0)
    assert (set(best), set(second), set(margin)) == ({0}, {1}, {0.0})
