"""Without PyTorch these tests are skipped; `make test-deep` installs it and insists."""

import os

if os.environ.get("ZSLEARN_DEEP_REQUIRED"):
    import torch  # noqa: F401
