"""Secrets in the operating system's keyring, and only there (R-SEC-1 to R-SEC-3).

``keyring`` blocks for 9 to 77 ms a call and sometimes for good, so it lives on a daemon thread of its own: a hanging
backend costs the callers their timeout, never the window or the shutdown. It is imported on that thread, too.
"""

from __future__ import annotations

import asyncio
import importlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from desktop.domain.errors import SecretsUnavailable

SERVICE = "assent"
MAX_SECRET = 16_384
_TRUSTED = (
    "keyring.backends.SecretService", "keyring.backends.libsecret", "keyring.backends.kwallet",
    "keyring.backends.macOS", "keyring.backends.Windows",
)  # fmt: skip
_NEXT = "Unlock or install a keyring (on Linux: GNOME Keyring or KWallet). Until then keys last until Assent is closed."

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeyringReport:
    """What ``--check`` and the settings say: ``usable``, the backend's name, and a sentence."""

    usable: bool
    backend: str
    sentence: str


class KeyringSecrets:
    """Implements ``domain.models.SecretStore``. ``on_value`` hears every value that passes, for redaction.

    ``timeout_s`` bounds each call. ``load`` returns the keyring module and is called on the own thread.
    """

    def __init__(
        self,
        *,
        service: str = SERVICE,
        timeout_s: float = 10.0,
        on_value: Callable[[str], None] = lambda _: None,
        load: Callable[[], Any] = lambda: importlib.import_module("keyring"),
    ) -> None:
        self._service = service
        self._timeout = timeout_s
        self._on_value = on_value
        self._worker = _Worker(load)
        self._only_here: dict[str, str] = {}

    async def get(self, name: str) -> str | None:
        """The value kept for this process, else the keyring's. Raises SecretsUnavailable."""
        if name in self._only_here:
            return self._only_here[name]
        return await self.lookup(self._service, name)

    async def lookup(self, service: str, user: str) -> str | None:
        """An entry of any service (R-ENV-5). Raises SecretsUnavailable."""
        value = await self._call(lambda backend: backend.get_password(service, user))
        if isinstance(value, str):
            self._on_value(value)
            return value
        return None

    async def put(self, name: str, value: str) -> bool:
        """True when the keyring has it, False when only this process does (R-SEC-2)."""
        if not value or len(value) > MAX_SECRET:
            raise ValueError("a secret has 1 to 16,384 characters")
        self._on_value(value)
        try:
            await self._call(lambda backend: backend.set_password(self._service, name, value))
        except SecretsUnavailable:
            self._only_here[name] = value
            return False
        self._only_here.pop(name, None)
        return True

    async def delete(self, name: str) -> None:
        """Forget it here and in the keyring. Raises SecretsUnavailable when the keyring may still have it."""
        kept_here = self._only_here.pop(name, None) is not None
        try:
            await self._call(lambda backend: _delete(backend, self._service, name))
        except SecretsUnavailable:
            if not kept_here:
                raise

    def session_only(self) -> tuple[str, ...]:
        """Names of secrets that will be gone when the app closes, for the notice."""
        return tuple(sorted(self._only_here))

    async def backend_name(self) -> str:
        """The backend in words. Raises SecretsUnavailable."""
        return str(await self._call(lambda backend: getattr(backend, "name", type(backend).__name__)))

    async def probe(self) -> KeyringReport:
        """Whether keys can be kept: really reads an entry that need not exist."""
        try:
            name = await self.backend_name()
            await self._call(lambda backend: backend.get_password(self._service, "probe"))
        except SecretsUnavailable as error:
            return KeyringReport(False, "", str(error))
        return KeyringReport(True, name, f"Keys are kept in {name}.")

    def close(self) -> None:
        """End the thread once it is idle; never waits for a backend that hangs."""
        self._worker.close()

    async def _call(self, work: Callable[[Any], T]) -> T:
        future = self._worker.submit(work)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._timeout)
        except TimeoutError as error:
            self._worker.abandon()
            raise SecretsUnavailable(
                f"The keyring did not answer within {self._timeout:g} seconds. It may be waiting to be unlocked.",
                next_step=_NEXT,
            ) from error


def usable_backend(keyring: Any) -> Any:
    """The backend, never the chain around it, which could fall back to plain files. Raises SecretsUnavailable."""
    chosen = keyring.get_keyring()
    candidates = list(getattr(chosen, "backends", ())) or [chosen]
    for backend in candidates:
        if type(backend).__module__.startswith(_TRUSTED):
            return backend
    names = ", ".join(sorted({type(backend).__module__ for backend in candidates})) or "none"
    raise SecretsUnavailable(
        f"There is no keyring that keeps secrets safely on this computer (found: {names}).", next_step=_NEXT
    )


def _delete(backend: Any, service: str, name: str) -> None:
    if backend.get_password(service, name) is not None:
        backend.delete_password(service, name)


class _Worker:
    """One daemon thread that runs keyring calls in order. An abandoned thread ends when its call returns."""

    MAX_ABANDONED = 3

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._queue: queue.SimpleQueue[_Job | None] | None = None
        self._abandoned = 0

    def submit(self, work: Callable[[Any], T]) -> Future[T]:
        """Queue a call; the future fails with SecretsUnavailable whatever the backend raises."""
        if self._abandoned >= self.MAX_ABANDONED:
            raise SecretsUnavailable(
                "The keyring hangs; it is not asked again until Assent is restarted.", next_step=_NEXT
            )
        if self._queue is None:
            self._queue = queue.SimpleQueue()
            threading.Thread(target=_serve, args=(self._queue, self._load), name="keyring", daemon=True).start()
        future: Future[T] = Future()
        self._queue.put((work, future))
        return future

    def abandon(self) -> None:
        """Leave a hanging thread behind; the next call gets a new one."""
        self._abandoned += 1
        self.close()

    def close(self) -> None:
        """No more work: the thread ends when it comes to it."""
        if self._queue is not None:
            self._queue.put(None)
            self._queue = None


_Job = tuple[Callable[[Any], Any], "Future[Any]"]


def _serve(jobs: queue.SimpleQueue[_Job | None], load: Callable[[], Any]) -> None:
    backend: Any = None
    while (job := jobs.get()) is not None:
        work, future = job
        if not future.set_running_or_notify_cancel():
            continue
        try:
            backend = backend or usable_backend(load())
            future.set_result(work(backend))
        except SecretsUnavailable as error:
            future.set_exception(error)
        except Exception as error:  # noqa: BLE001 - the boundary to third-party backends; the text may hold the value
            future.set_exception(_unavailable(error))


def _unavailable(error: Exception) -> SecretsUnavailable:
    """Says which kind of failure, never the backend's own text, which could quote what was to be stored."""
    kinds = {"KeyringLocked": "is locked", "PromptDismissedException": "was not unlocked", "InitError": "did not start",
             "NoKeyringError": "is missing", "ItemNotFoundException": "lost the entry"}  # fmt: skip
    what = kinds.get(type(error).__name__, f"failed ({type(error).__name__})")
    return SecretsUnavailable(f"The keyring {what}.", next_step=_NEXT)
