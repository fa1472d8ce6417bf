"""The settings in force: a frozen snapshot, who is told of changes, and the way to change them.

All files and YAML are handled in threads. Changes made at the same time are saved together, in the order given.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from desktop.domain.errors import SettingsError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.checks import KEYRING, Secret, Unfit, check, did_you_mean, plain
from desktop.settings.evaluate import RENAMES
from desktop.settings.file import ConfigFile, Loaded, Stamp
from desktop.settings.schema import Settings, default_values, schema, snapshot
from desktop.settings.spec import Problem

_log = logging.getLogger(__name__)

Listener = Callable[[Settings, frozenset[str]], None]
"""(the new snapshot, the keys that changed); an empty set: only the problems changed"""


@dataclass(slots=True)
class _Batch:
    """Changes that wait for the save before them, and then are saved together."""

    values: dict[str, Any] = field(default_factory=dict)
    forget: dict[str, None] = field(default_factory=dict)
    done: bool = False
    error: Exception | None = None


class SettingsService:
    """Lives on one event loop. ``current`` is the defaults until ``load`` was awaited; it never raises."""

    def __init__(self, home: Path, *, renames: Mapping[str, str] | None = None) -> None:
        self.path = home / "config.yaml"
        self._defaults = default_values(home)
        last_good = home / "data" / "config.last-good.yaml"
        self._file = ConfigFile(self.path, last_good, self._defaults, RENAMES if renames is None else renames)
        self._values = dict(self._defaults)
        self._said: frozenset[str] = frozenset()
        self._stamp: Stamp | None = None
        self._listeners: list[Listener] = []
        self._lock = asyncio.Lock()
        self._open: _Batch | None = None
        self.current: Settings = snapshot(self._values)
        self.problems: tuple[Problem, ...] = ()

    def default(self, key: str) -> Any:
        """What holds when the file says nothing."""
        return self._defaults[key]

    def is_changed(self, key: str) -> bool:
        """Whether the file sets it."""
        return key in self._said

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after each change, on the loop's thread; returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    async def load(self) -> Settings:
        """Read the file for the first time; without one the defaults hold. Mistakes are in ``problems``."""
        async with self._lock:
            self._adopt(await asyncio.to_thread(self._file.load, None))
        return self.current

    async def reload_if_changed(self) -> bool:
        """Read the file again when somebody else has changed it; whether that was so."""
        async with self._lock:
            if await asyncio.to_thread(self._file.stamp) == self._stamp:
                return False
            self._adopt(await asyncio.to_thread(self._file.load, dict(self._values)))
            return True

    async def update(self, key: str, value: Any) -> Settings:
        """Set one value and save it. As ``update_many``."""
        return await self.update_many({key: value})

    async def update_many(self, values: Mapping[str, Any]) -> Settings:
        """Set values and save them; the snapshot in force then.

        Raises SettingsError for an unknown key, a value that does not fit, a secret, or a file with a mistake in it
        (which is not overwritten); HomeNotWritable and StoreFull when it cannot be saved. Then nothing has changed.
        """
        checked = {key: plain(self._checked(key, value)) for key, value in values.items()}
        return await self._change(checked, ())

    async def reset(self, *keys: str) -> Settings:
        """Take keys out of the file, so that their defaults hold."""
        for key in keys:
            _known(key)
        return await self._change({}, keys)

    def _checked(self, key: str, value: Any) -> Any:
        try:
            return check(_known(key), value)
        except Unfit as error:
            raise SettingsError(str(error), next_step=KEYRING if isinstance(error, Secret) else "") from error

    async def _change(self, values: Mapping[str, Any], forget: tuple[str, ...]) -> Settings:
        batch = self._open = self._open or _Batch()
        for key, value in values.items():
            batch.values[key] = value
            batch.forget.pop(key, None)
        for key in forget:
            batch.values.pop(key, None)
            batch.forget[key] = None
        async with self._lock:
            if not batch.done:
                await self._save(batch)
        if batch.error is not None:
            raise batch.error
        return self.current

    async def _save(self, batch: _Batch) -> None:
        if self._open is batch:
            self._open = None
        try:
            loaded = await asyncio.to_thread(self._file.save, batch.values, tuple(batch.forget), dict(self._values))
        except Exception as error:  # boundary: every waiter of the batch raises it
            batch.error = error
        else:
            self._adopt(loaded)
        batch.done = True

    def _adopt(self, loaded: Loaded) -> None:
        before, old_problems = self._values, self.problems
        self._values, self._stamp = loaded.evaluated.values, loaded.stamp
        self.problems = loaded.evaluated.problems
        if loaded.usable:
            self._said = loaded.evaluated.said
        changed = frozenset(key for key, value in self._values.items() if before[key] != value)
        if changed:
            self.current = snapshot(self._values)
        if changed or old_problems != self.problems:
            self._tell(changed)

    def _tell(self, changed: frozenset[str]) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(self.current, changed)
            except Exception:  # boundary: a listener's failure is its own
                _log.exception("a listener of the settings failed")


def _known(key: str) -> Any:
    found = schema().get(key)
    if found is None:
        raise SettingsError(f"There is no setting {key}{did_you_mean(key, schema())}")
    return found
