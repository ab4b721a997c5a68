"""The models of a server, by name."""

from __future__ import annotations

from pathlib import Path

from zslearn.exceptions import closest_name
from zslearn.serve.errors import RequestError
from zslearn.serve.models import VERSION, ServedModel, open_model
from zslearn.serve.settings import ServerSettings


class ModelSlot:
    """The place of one model: its file, and what is served of it now.

    Parameters
    ----------
    name : str
        The name it is served under.
    path : Path
        Its file.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.current: ServedModel | None = None

    def load(self) -> None:
        """Read the file; if it cannot be read, what was served before stays."""
        self.current = open_model(self.name, self.path)

    def unload(self) -> None:
        """Stop serving it."""
        self.current = None


class ModelShelf:
    """All models of a server.

    Parameters
    ----------
    settings : ServerSettings
        `models` are the files by name.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.slots = {name: ModelSlot(name, Path(path)) for name, path in settings.models.items()}

    def load(self) -> None:
        """Read every file."""
        for slot in self.slots.values():
            slot.load()

    @property
    def ready(self) -> bool:
        """Whether every model can be asked."""
        return all(slot.current is not None for slot in self.slots.values())

    def slot(self, name: str, version: str = VERSION) -> ModelSlot:
        """Return the place of a model, or refuse an unknown name or version."""
        if name not in self.slots:
            near = closest_name(name, self.slots)
            hint = f" Did you mean {near!r}?" if near is not None else ""
            raise RequestError(404, f"there is no model {name!r:.80}.{hint}")
        if version != VERSION:
            raise RequestError(404, f"{name} has the version {VERSION} only.")
        return self.slots[name]

    def model(self, name: str, version: str = VERSION) -> ServedModel:
        """Return a model that can be asked."""
        model = self.slot(name, version).current
        if model is None:
            raise RequestError(503, f"{name} is not loaded.", retry_after=5)
        return model
