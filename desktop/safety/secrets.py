"""Secrets in the operating system's keyring, and only there (R-SEC-1 to R-SEC-3).

The keyring's library blocks for 9 to 77 ms a call and sometimes for good, and takes 8 MB: it lives in a child process
that ends when nobody has asked for a while. Secrets go there and come from there by its pipe and by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from desktop.domain.errors import ChildDied, ProtocolViolation, SecretsUnavailable
from desktop.domain.keyring import OWN_SERVICE
from desktop.domain.processes import Child, ChildRefused

SERVICE = OWN_SERVICE
MAX_SECRET = 16_384
MAX_HANGS = 3
"""Calls in a row without an answer, after which the keyring is left alone."""

_NEXT = "Unlock or install a keyring (on Linux: GNOME Keyring or KWallet). Until then keys last until Assent is closed."


@dataclass(frozen=True, slots=True)
class KeyringReport:
    """What ``--check`` and the settings say: ``usable``, the backend's name, and a sentence."""

    usable: bool
    backend: str
    sentence: str


class KeyringSecrets:
    """Implements ``domain.models.SecretStore``. ``on_value`` hears every value that passes, for redaction.

    ``child`` is the keyring host (``name``, ``get``, ``put``, ``delete``), ended by ``close``. ``timeout_s`` bounds
    each call, the start of the host included.
    """

    def __init__(
        self, child: Child, *, service: str = SERVICE, timeout_s: float = 10.0,
        on_value: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._child = child
        self._service = service
        self._timeout = timeout_s
        self._on_value = on_value
        self._hangs = 0
        self._only_here: dict[tuple[str, str], str] = {}

    async def get(self, name: str) -> str | None:
        """The value kept for this process, else the keyring's. Raises SecretsUnavailable."""
        return await self.lookup(self._service, name)

    async def lookup(self, service: str, user: str) -> str | None:
        """The same for an entry of any service (R-ENV-5). Who may ask for it is tool_secrets.py's to say."""
        here = self._only_here.get((service, user))
        if here is not None:
            return here
        value = await self._call("get", service=service, user=user)
        if isinstance(value, str):
            self._on_value(value)
            return value
        return None

    async def put(self, name: str, value: str) -> bool:
        """True when the keyring has it, False when only this process does (R-SEC-2)."""
        return await self.keep(self._service, name, value)

    async def keep(self, service: str, user: str, value: str) -> bool:
        """The same for an entry of any service."""
        if not value or len(value) > MAX_SECRET:
            raise ValueError("a secret has 1 to 16,384 characters")
        self._on_value(value)
        try:
            await self._call("put", service=service, user=user, value=value)
        except SecretsUnavailable:
            self._only_here[service, user] = value
            return False
        self._only_here.pop((service, user), None)
        return True

    async def delete(self, name: str) -> None:
        """Forget it here and in the keyring. Raises SecretsUnavailable when the keyring may still have it."""
        await self.drop(self._service, name)

    async def drop(self, service: str, user: str) -> None:
        """The same for an entry of any service."""
        kept_here = self._only_here.pop((service, user), None) is not None
        try:
            await self._call("delete", service=service, user=user)
        except SecretsUnavailable:
            if not kept_here:
                raise

    def is_only_here(self, service: str, user: str) -> bool:
        """Whether the value is gone when the app closes."""
        return (service, user) in self._only_here

    def session_only(self) -> tuple[str, ...]:
        """Names of secrets that will be gone when the app closes, for the notice."""
        return tuple(sorted(user for _, user in self._only_here))

    async def backend_name(self) -> str:
        """The backend in words. Raises SecretsUnavailable."""
        return str(await self._call("name"))

    async def probe(self) -> KeyringReport:
        """Whether keys can be kept: really reads an entry that need not exist."""
        try:
            name = await self.backend_name()
            await self._call("get", service=self._service, user="probe")
        except SecretsUnavailable as error:
            return KeyringReport(False, "", str(error))
        return KeyringReport(True, name, f"Keys are kept in {name}.")

    async def close(self) -> None:
        """End the child, also one that hangs."""
        await self._child.stop()

    async def _call(self, method: str, **params: str) -> Any:
        """Ask the child; whatever goes wrong becomes SecretsUnavailable."""
        if self._hangs >= MAX_HANGS:
            raise _unavailable("The keyring hangs; it is not asked again until Assent is restarted.")
        try:
            answer = await self._asked(method, params)
        except TimeoutError:
            self._hangs += 1
            raise _unavailable(
                f"The keyring did not answer within {self._timeout:g} seconds. It may be waiting to be unlocked."
            ) from None
        except (ChildDied, ProtocolViolation):
            raise _unavailable("The process that asks the keyring failed.") from None
        except ChildRefused as refused:
            raise _unavailable(str(refused)) from None
        self._hangs = 0
        return answer

    async def _asked(self, method: str, params: dict[str, str]) -> Any:
        """Every call can be made twice, and a child that ends for want of calls may end under a new one."""
        try:
            return await self._child.call(method, params, timeout=self._timeout)
        except ChildDied:
            return await self._child.call(method, params, timeout=self._timeout)


def _unavailable(sentence: str) -> SecretsUnavailable:
    return SecretsUnavailable(sentence, next_step=_NEXT)
