from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets, or a skip that says what is missing."""
    given = os.environ.get("ZSLEARN_DATA")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"real data not found at {folder}; set ZSLEARN_DATA to its folder")
    return folder
