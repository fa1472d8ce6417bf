"""The environment of subprocesses: an allowlist, what a tool declares, nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.keyring import KeyringEntry, referred_to
from desktop.domain.safety import DEFAULT_ENVIRONMENT, SafetySettings, SettingsProvider
from desktop.safety.confinement.environment_names import needs_admin, stays_out_of_commands, usable_path
from desktop.safety.confinement.program_cache import CACHE_NAMES
from desktop.systems import current

WINDOWS_NAMES = ("SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "WINDIR")
_LAUNCHER = re.compile(r"^(_PYI|_MEI|APPIMAGE$|APPDIR$|ARGV0$|OWD$)|_ORIG$")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXPANDED = re.compile(r"\$(?:\{[#!]?)?([A-Za-z_][A-Za-z0-9_]*)")
_HOST_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_PLACED = ("TMPDIR", *CACHE_NAMES)
"""Variables that are set to folders when a process gets its sandbox."""

__all__ = ["AllowlistEnvironment", "Give", "KeyringLookup", "MayRead", "inherited", "met_by_commands", "needs_admin"]

KeyringLookup = Callable[[str, str], Awaitable[str | None]]
"""``(service, user)`` -> the value or None; raises SecretsUnavailable."""

MayRead = Callable[[str, str, str], str]
"""``(service, user, tool)`` -> why the tool may not read that entry, as a sentence, or ""."""

Give = Callable[[str, str, str], Awaitable[None]]
"""``(service, user, tool)``: the tool is about to read that entry; raises KnownError where that cannot be."""


def inherited(settings: SafetySettings, host: Mapping[str, str], *, windows: bool = current.WINDOWS) -> dict[str, str]:
    """What every process gets of the app's own environment: the names of the allowlist that are set."""
    names = (*settings.environment_allowlist, *(WINDOWS_NAMES if windows else ()))
    kept: dict[str, str] = {}
    for name in names:
        value = host.get(f"{name}_ORIG", host.get(name))  # what a packaged launcher put aside (R-ENV-10)
        if value and not _LAUNCHER.search(name):
            kept[name] = value
    if "PATH" in kept:
        kept["PATH"] = usable_path(kept["PATH"], ";" if windows else ":")
    return kept


def met_by_commands(settings: SafetySettings, host: Mapping[str, str]) -> dict[str, str]:
    """What a command finds in its environment before it sets anything, as far as its text can be judged by it; rather
    a name too many. What its sandbox sets are folders, whose names may be any text."""
    return {**dict.fromkeys(_PLACED, "/"), **inherited(settings, host)}


class AllowlistEnvironment:
    """Implements ``domain.safety.EnvironmentBuilder``. ``host`` is the app's own environment, read at each call;
    ``is_secret`` says whether a text contains a value known from the keyring; ``may_read`` decides about references to
    it, and ``give`` hears of each that is followed."""

    def __init__(
        self,
        settings: SettingsProvider,
        *,
        keyring: KeyringLookup | None = None,
        may_read: MayRead = lambda _service, _user, _tool: "",
        give: Give | None = None,
        is_secret: Callable[[str], bool] = lambda _: False,
        host: Callable[[], Mapping[str, str]] = lambda: os.environ,
        windows: bool = current.WINDOWS,
    ) -> None:
        self._settings = settings
        self._keyring = keyring
        self._may_read = may_read
        self._give = give
        self._is_secret = is_secret
        self._host = host
        self._windows = windows

    async def build(
        self,
        declared: Mapping[str, str],
        *,
        admin: bool = False,
        tool: str = "",
        secrets: bool = True,
        thread: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, str]:
        """The whole environment of one process (R-ENV-1, R-ENV-2). Raises ToolFailure naming the variable. Without
        ``secrets`` references to the keyring are judged, and left out instead of read. ``${NAME}`` means a variable of
        the ``thread``, else the host's (D-6)."""
        built = self._inherited()
        for name, value in declared.items():
            if not _NAME.fullmatch(name):
                raise _failure(f"{name!r} is no name of an environment variable.")
            if needs_admin(name) and not admin:
                raise _failure(f"A tool may not set {name} unless its category is admin.")
            entry = referred_to(value)
            if entry is None:
                built[name] = self._value(name, value, thread)
                continue
            self._judge(name, entry, tool)
            if secrets:
                built[name] = await self._from_keyring(name, entry, tool)
        return built

    def for_commands(self, command: str, thread: Mapping[str, str]) -> dict[str, str]:
        """The thread's variables that a command gets: those that its own text names as ``$NAME``. Programs read far
        more variables than any list can hold, so the others stay out; and what the allowlist names stays as it is."""
        named = set(_EXPANDED.findall(command))
        taken = {*self._settings().environment_allowlist, *DEFAULT_ENVIRONMENT}
        return {
            name: value
            for name, value in thread.items()
            if name in named and name not in taken and not stays_out_of_commands(name) and "\0" not in value
        }

    def _inherited(self) -> dict[str, str]:
        found = inherited(self._settings(), self._host(), windows=self._windows)
        return {name: value for name, value in found.items() if not self._is_secret(value)}

    def _value(self, name: str, value: str, thread: Mapping[str, str]) -> str:
        """A literal, or what a whole-value reference to the thread's or the host's environment stands for (R-ENV-3)."""
        if "\0" in value:
            raise _failure(f"The value of {name} contains a NUL character.")
        if found := _HOST_REFERENCE.fullmatch(value):
            meant = thread.get(found[1], self._host().get(found[1]))
            if meant is None:
                raise _failure(f"{name} refers to the environment variable {found[1]}, which is not set.")
            return meant
        return value

    def _judge(self, name: str, entry: KeyringEntry, tool: str) -> None:
        if self._keyring is None:
            raise _failure(f"{name} refers to the keyring, which is not available here.")
        if refusal := self._may_read(entry.service, entry.user, tool):
            raise _failure(f"{name} refers to the keyring entry {_shown(entry)}. {refusal}")

    async def _from_keyring(self, name: str, entry: KeyringEntry, tool: str) -> str:
        assert self._keyring is not None
        try:
            if self._give is not None:
                await self._give(entry.service, entry.user, tool)
            value = await self._keyring(entry.service, entry.user)
        except KnownError as error:
            raise _failure(f"{name} refers to the keyring entry {_shown(entry)}: {error}") from error
        if value is None:
            raise _failure(f"{name} refers to the keyring entry {_shown(entry)}, which does not exist.")
        if "\0" in value:
            raise _failure(f"The keyring entry {_shown(entry)}, to which {name} refers, contains a NUL character.")
        return value


def _shown(entry: KeyringEntry) -> str:
    """For a model and a person: a file that anybody wrote says the names."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(entry)[:200])


def _failure(sentence: str) -> ToolFailure:
    return ToolFailure(sentence, code="tool.environment")
