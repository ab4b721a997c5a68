"""The base of the methods that need PyTorch to fit; importing it does not need PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import parameter
from zslearn._optional import require
from zslearn._parameters import Either, Seed, Whole
from zslearn.zero_shot.base import Features, ZeroShotMethod, dense

DEVICES = ("auto", "cpu", "cuda")


class DeepClassifier(ZeroShotMethod):
    """Base of classifiers that are trained by PyTorch and predict by numpy.

    A method provides ``_train(X, y, device)``, which sets the learned state as numpy arrays, and
    ``prepare`` and ``compare`` as every `ZeroShotMethod`. Around ``_train`` the generators of
    PyTorch are seeded by `random_state`, and put back afterwards. What it keeps in
    `parameters_`, declared as "arrays", goes to model files as it is.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" takes CUDA where there is one.
    """

    device: str = parameter(default="auto", allowed=Either(*DEVICES))
    random_state: int | None = parameter(default=0, allowed=Seed())
    verbose: int = parameter(default=0, allowed=Whole(0))

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        require("torch", extra="deep", purpose=f"Fitting {type(self).__name__}")
        from zslearn.zero_shot.deep.session import torch_session

        with torch_session(self.device, self.random_state, self._work(X)) as device:
            self._train(dense(X), y, device)

    def _work(self, X: Features) -> float:
        """Multiplications in one step; large steps use several threads."""
        return 0.0

    def _train(self, X: NDArray, y: NDArray[np.intp], device: Any) -> None:
        """Learn from normalized dense features and class indices, and keep numpy arrays.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features, normalized.
        y : ndarray of shape (n_samples,)
            Positions in `seen_classes_` and `seen_signatures_`.
        device : torch.device
            Where to train.
        """
        raise NotImplementedError(f"{type(self).__name__} must provide _train")
