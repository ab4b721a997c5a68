"""The studio: a page on which classes are described and recognized at once."""

from zslearn.serve.studio.opening import (
    Source,
    StudioSettings,
    finish_later,
    make_app,
    open_studio,
    prepare,
)
from zslearn.serve.studio.session import Studio

__all__ = [
    "Source",
    "Studio",
    "StudioSettings",
    "finish_later",
    "make_app",
    "open_studio",
    "prepare",
]
