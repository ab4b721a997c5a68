"""Serve models over HTTP by the Open Inference Protocol, with classes that change at run time."""

from zslearn._optional import require

for _package in ("starlette", "uvicorn", "httptools", "orjson", "msgspec", "prometheus_client"):
    require(_package, extra="serve", purpose="Serving models")

from zslearn.serve.application import create_app  # noqa: E402
from zslearn.serve.running import run_server  # noqa: E402
from zslearn.serve.settings import Limits, ServerSettings  # noqa: E402

__all__ = ["Limits", "ServerSettings", "create_app", "run_server"]
