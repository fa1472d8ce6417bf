"""The keyring host's methods: ``name``, ``get``, ``put``, ``delete``. Secrets come and go by the pipe only (R-SEC-1).

``keyring`` blocks for 9 to 77 ms a call and sometimes for good, so that each call runs in a thread: one that hangs
costs its caller the time it gave, and the next call gets another thread. The host ends when nobody has asked for a
while, and when a change that is under way is given up: else the keyring would take it later, over what came after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from desktop.domain.loading.lazy import lazy_module
from desktop.workers.hardening import harden
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run

# Where keyring talks to the Secret Service.
if TYPE_CHECKING:
    import secretstorage
else:
    secretstorage = lazy_module("secretstorage")

SERVICE = "keyring-host"
VERSION = "1"
IDLE = 120.0
"""Seconds without a call after which the process ends. Starting it again takes a fifth of a second."""

UNAVAILABLE = "keyring.unavailable"
_TRUSTED = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
)

T = TypeVar("T")


def _library() -> Any:
    """The one place that imports ``keyring``; called in a thread."""
    return importlib.import_module("keyring")


class KeyringHost:
    """``load`` returns the keyring module. ``working`` is told True when a call begins and False when none is left."""

    def __init__(self, load: Callable[[], Any] = _library) -> None:
        self._load = load
        self._backend: Any = None
        self._turn = asyncio.Lock()
        self._calls = 0
        self.working: Callable[[bool], None] = lambda _: None

    async def name(self, _: WorkerCall) -> str:
        """The backend's name, for people."""
        return await self._ask(lambda backend: str(getattr(backend, "name", type(backend).__name__)))

    async def get(self, call: WorkerCall) -> str | None:
        """The value of the entry ``service``, ``user``, or None."""
        service, user = _entry(call)
        value = await self._ask(lambda backend: None if _is_empty(backend) else backend.get_password(service, user))
        return value if isinstance(value, str) else None

    async def put(self, call: WorkerCall) -> None:
        """Store ``value`` under ``service``, ``user``."""
        (service, user), value = _entry(call), str(call.params["value"])
        await self._ask(lambda backend: backend.set_password(service, user, value), changes=True)

    async def delete(self, call: WorkerCall) -> None:
        """Delete the entry ``service``, ``user``; no error when there is none."""
        service, user = _entry(call)
        await self._ask(lambda backend: _delete(backend, service, user), changes=True)

    def methods(self) -> dict[str, Any]:
        return {method.__name__: method for method in (self.name, self.get, self.put, self.delete)}

    async def _ask(self, work: Callable[[Any], T], *, changes: bool = False) -> T:
        """One after the other; a call that was given up leaves its thread behind and its turn to the next. Where it
        ``changes`` something, no thread may be left that could do so still: who waits for its turn asks a new host."""
        self._calls += 1
        self.working(True)
        begun = False
        try:
            async with self._turn:
                begun = True
                return await asyncio.to_thread(self._work, work)
        except asyncio.CancelledError:
            if changes and begun:
                os._exit(0)
            raise
        finally:
            self._calls -= 1
            self.working(self._calls > 0)

    def _work(self, work: Callable[[Any], T]) -> T:
        try:
            if self._backend is None:
                self._backend = usable_backend(self._load())
            return work(self._backend)
        except CallError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary to third-party backends; the text may hold the value
            raise CallError(UNAVAILABLE, failure(error)) from None


def _entry(call: WorkerCall) -> tuple[str, str]:
    return str(call.params["service"]), str(call.params["user"])


def usable_backend(keyring: Any) -> Any:
    """The backend, never the chain around it, which could fall back to plain files. Raises CallError (R-SEC-2)."""
    chosen = keyring.get_keyring()
    candidates = list(getattr(chosen, "backends", ())) or [chosen]
    for backend in candidates:
        if type(backend).__module__.startswith(_TRUSTED):
            return backend
    raise CallError(UNAVAILABLE, "Assent found no safe keyring on this computer.")


def _is_empty(backend: Any) -> bool:
    """Whether the desktop has no keyring yet. To read from it would make one, with a dialog that wants a password for
    it (``secretstorage.get_default_collection``): that is for the first secret that is kept, not for a first look."""
    if not hasattr(backend, "get_preferred_collection") or hasattr(backend, "preferred_collection"):
        return False
    with contextlib.closing(secretstorage.dbus_init()) as bus:
        try:
            secretstorage.Collection(bus)
        except secretstorage.ItemNotFoundException:
            return True
    return False


def _delete(backend: Any, service: str, name: str) -> None:
    if not _is_empty(backend) and backend.get_password(service, name) is not None:
        backend.delete_password(service, name)


def failure(error: Exception) -> str:
    """Says which kind of failure, never the backend's own text, which could quote what was to be stored."""
    kinds = {
        "KeyringLocked": "is locked",
        "PromptDismissedException": "was not unlocked",
        "InitError": "did not start",
        "NoKeyringError": "is missing",
        "ItemNotFoundException": "lost the entry",
    }
    what = kinds.get(type(error).__name__, "failed")
    return f"The keyring {what}."


async def serve(host: KeyringHost, idle: float) -> None:
    """Until the app is gone, or nobody has asked for ``idle`` seconds."""
    reader, writer = await pipes()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(idle) as limit:
            host.working = lambda working: limit.reschedule(None if working else loop.time() + idle)
            await ChildServer(SERVICE, VERSION, host.methods()).serve(reader, writer)


def main(load: Callable[[], Any] = _library, idle: float = IDLE) -> None:
    """Run the process until it is idle or its parent is gone."""
    harden()
    run(lambda: serve(KeyringHost(load), idle), SERVICE)
