"""The models of a server, by name."""

from __future__ import annotations

import logging
from pathlib import Path

from zslearn._files import first_line
from zslearn.exceptions import ZslearnError, closest_name
from zslearn.serve.changed_model import ChangedModel
from zslearn.serve.errors import RequestError
from zslearn.serve.models import VERSION, ServedModel, open_model
from zslearn.serve.settings import ServerSettings, journal_path

log = logging.getLogger("zslearn.serve")


class ModelSlot:
    """The place of one model: its file, and what is served of it now.

    Parameters
    ----------
    name : str
        The name it is served under.
    settings : ServerSettings
        Its file, and where the changes of its classes are kept.
    """

    def __init__(self, name: str, settings: ServerSettings) -> None:
        self.name = name
        self.path = Path(settings.models[name])
        self._journal = journal_path(settings, name)
        self._most = settings.limits.classes
        self._served: ChangedModel | None = None
        self._stamp: tuple[int, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether the model can be asked."""
        return self._served is not None

    def load(self) -> None:
        """Read the file; if it cannot be read, what was served before stays."""
        self.note_file()
        self._served = ChangedModel(open_model(self.name, self.path), self._journal, self._most)

    def unload(self) -> None:
        """Stop serving it."""
        self._served = None

    def note_file(self) -> None:
        """Take the file as it is for read."""
        self._stamp = self._facts()

    def is_outdated(self) -> bool:
        """Say whether the file is another one than when it was last read."""
        return self.is_ready and self._facts() not in (self._stamp, ())

    def changes(self) -> ChangedModel:
        """Return the model whose classes can be changed."""
        if self._served is None:
            raise RequestError(503, f"{self.name} is not loaded.", retry_after=5)
        return self._served

    def model(self) -> ServedModel:
        """Return the model with the newest classes."""
        return self.changes().newest()

    def _facts(self) -> tuple[int, ...]:
        try:
            facts = self.path.stat()
        except OSError:
            return ()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size


class ModelShelf:
    """All models of a server.

    Parameters
    ----------
    settings : ServerSettings
        `models` are the files by name.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.slots = {name: ModelSlot(name, settings) for name in settings.models}

    def load(self) -> None:
        """Read every file."""
        for slot in self.slots.values():
            slot.load()

    def warm(self) -> None:
        """Open the encoders of pictures, in the process that will use them."""
        for slot in self.slots.values():
            encoder = slot.model().encoder if slot.is_ready else None
            if encoder is not None:
                encoder.opened.fit()

    def reload(self, *, every: bool) -> None:
        """Read every file again, or those that changed; a bad one leaves what was served."""
        for slot in self.slots.values():
            if slot.is_outdated() or (every and slot.is_ready):
                try:
                    slot.load()
                    log.info("read %s again", slot.path)
                except (ZslearnError, OSError) as error:
                    log.error("%s as served before stays: %s", slot.name, first_line(error))

    def is_outdated(self) -> bool:
        """Say whether a file is another one than when it was last read."""
        return any(slot.is_outdated() for slot in self.slots.values())

    def note_files(self) -> None:
        """Take the files as they are for read."""
        for slot in self.slots.values():
            slot.note_file()

    @property
    def ready(self) -> bool:
        """Whether every model can be asked."""
        return all(slot.is_ready for slot in self.slots.values())

    def slot(self, name: str, version: str = VERSION) -> ModelSlot:
        """Return the place of a model, or refuse an unknown name or version."""
        if name not in self.slots:
            near = closest_name(name, self.slots)
            hint = f" Did you mean {near!r}?" if near is not None else ""
            raise RequestError(404, f"there is no model {name!r:.80}.{hint}")
        if version != VERSION:
            raise RequestError(404, f"{name} has the version {VERSION} only.")
        return self.slots[name]
