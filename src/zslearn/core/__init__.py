"""Arrays in, arrays out: the mathematics under the estimators."""

from zslearn.core.moments import Moments, PairMoments

__all__ = ["Moments", "PairMoments"]
