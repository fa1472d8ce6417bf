"""The environment of subprocesses: an allowlist, what a tool declares, nothing else (semantics.md 28)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping

from desktop.domain.errors import SecretsUnavailable, ToolFailure
from desktop.domain.safety import SettingsProvider

WINDOWS_NAMES = (
    "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "WINDIR",
)  # fmt: skip
ADMIN_ONLY = frozenset((
    "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "NODE_OPTIONS",
    "BASH_ENV",
    "ENV", "IFS", "PATH", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB", "SHELLOPTS", "BASHOPTS", "PS4",
    "PROMPT_COMMAND",
    "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "JAVA_TOOL_OPTIONS", "GCONV_PATH", "GLIBC_TUNABLES",
))  # fmt: skip
_ADMIN_PREFIXES = ("DYLD_", "BASH_FUNC_", "GIT_CONFIG_")
_LAUNCHER = re.compile(r"^(_PYI|_MEI|APPIMAGE$|APPDIR$|ARGV0$|OWD$)|_ORIG$")
_LOOKS_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOST_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_KEYRING_REFERENCE = re.compile(r"\$\{keyring:([^/{}]+)/([^{}]+)\}")

KeyringLookup = Callable[[str, str], Awaitable[str | None]]
"""``(service, user)`` -> the value or None; raises SecretsUnavailable."""


def needs_admin(name: str) -> bool:
    """Whether only an admin tool may set this variable (R-ENV-7)."""
    upper = name.upper()
    return upper in ADMIN_ONLY or upper.startswith(_ADMIN_PREFIXES)


def warning_for(name: str) -> str:
    """What the settings say when a name is added to the allowlist, or "" (R-ENV-9)."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is no name of an environment variable."
    if _LOOKS_SECRET.search(name):
        return f"{name} looks like a secret: every tool and every command of the agent could read it."
    return f"{name} can make programs run other code." if needs_admin(name) and name.upper() != "PATH" else ""


class EnvironmentBuilder:
    """Implements ``domain.safety.EnvironmentBuilder``. ``host`` is the app's own environment, read at each call;
    ``is_secret`` says whether a text contains a value known from the keyring."""

    def __init__(
        self,
        settings: SettingsProvider,
        *,
        keyring: KeyringLookup | None = None,
        is_secret: Callable[[str], bool] = lambda _: False,
        host: Callable[[], Mapping[str, str]] = lambda: os.environ,
        windows: bool = sys.platform == "win32",
    ) -> None:
        self._settings = settings
        self._keyring = keyring
        self._is_secret = is_secret
        self._host = host
        self._windows = windows

    async def build(self, declared: Mapping[str, str], *, admin: bool = False) -> dict[str, str]:
        """The whole environment of one process (R-ENV-1, R-ENV-2). Raises ToolFailure naming the variable."""
        built = self._inherited()
        for name, value in declared.items():
            if not _NAME.fullmatch(name):
                raise _failure(f"{name!r} is no name of an environment variable.")
            if needs_admin(name) and not admin:
                raise _failure(f"A tool may not set {name} unless its category is admin.")
            built[name] = await self._value(name, value)
        return built

    def _inherited(self) -> dict[str, str]:
        host, names = self._host(), self._settings().environment_allowlist
        if self._windows:
            names = (*names, *WINDOWS_NAMES)
        kept: dict[str, str] = {}
        for name in names:
            value = host.get(f"{name}_ORIG", host.get(name))  # what a packaged launcher put aside (R-ENV-10)
            if value and not _LAUNCHER.search(name) and not self._is_secret(value):
                kept[name] = value
        return kept

    async def _value(self, name: str, value: str) -> str:
        """A literal, or what a whole-value reference stands for (R-ENV-3, R-ENV-5)."""
        if "\0" in value:
            raise _failure(f"The value of {name} contains a NUL character.")
        if found := _KEYRING_REFERENCE.fullmatch(value):
            return await self._from_keyring(name, found[1], found[2])
        if found := _HOST_REFERENCE.fullmatch(value):
            host = self._host().get(found[1])
            if host is None:
                raise _failure(f"{name} refers to the environment variable {found[1]}, which is not set.")
            return host
        return value

    async def _from_keyring(self, name: str, service: str, user: str) -> str:
        if self._keyring is None:
            raise _failure(f"{name} refers to the keyring, which is not available here.")
        try:
            value = await self._keyring(service, user)
        except SecretsUnavailable as error:
            raise _failure(f"{name} refers to the keyring entry {service}/{user}: {error}") from error
        if value is None:
            raise _failure(f"{name} refers to the keyring entry {service}/{user}, which does not exist.")
        return value


def _failure(sentence: str) -> ToolFailure:
    return ToolFailure(sentence, code="tool.environment")
