"""Secrets in the operating system's keyring, and only there (R-SEC-1 to R-SEC-3).

The keyring's library blocks for 9 to 77 ms a call and sometimes for good, and takes 8 MB: it lives in a child process
that ends when nobody has asked for a while. Secrets go there and come from there by its pipe and by nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from desktop.domain.errors import ChildDied, ProtocolViolation, SecretsUnavailable
from desktop.domain.keyring import OWN_SERVICE, SIGN_IN_PREFIX, KeyPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import Child, ChildRefused

SERVICE = OWN_SERVICE
MAX_SECRET = 16_384
MAX_HANGS = 3
"""Calls in a row without an answer, after which the keyring is left alone for ``PAUSE_S``."""
PAUSE_S = 60.0
PERSON_S = 900.0
"""How long a value that is to be kept waits for the person, whom the system may ask for a password."""

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
    each call, the start of the host included; what is to be kept goes on waiting for ``PERSON_S`` without its caller,
    and ``on_late`` (any number) is called when it comes to an end.
    """

    def __init__(
        self,
        child: Child,
        *,
        service: str = SERVICE,
        timeout_s: float = 10.0,
        on_value: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._child = child
        self._service = service
        self._timeout = timeout_s
        self._on_value = on_value
        self._hangs = 0
        self._hung_at = 0.0
        self._only_here: dict[tuple[str, str], str] = {}
        self._seen: dict[tuple[str, str], KeyPlace] = {}
        self._keeping: dict[tuple[str, str], asyncio.Task[bool]] = {}
        self.on_late: list[Callable[[], None]] = []

    async def get(self, name: str) -> str | None:
        """The value kept for this process, else the keyring's. Raises SecretsUnavailable."""
        return await self.lookup(self._service, name)

    async def lookup(self, service: str, user: str) -> str | None:
        """The same for an entry of any service (R-ENV-5). Who may ask for it is tool_secrets.py's to say. Its place
        stays what it was while the keyring is asked, and is ``silent`` once that did not tell."""
        here = self._only_here.get((service, user))
        if here is not None:
            return here
        try:
            value = await self._call("get", service=service, user=user)
        except SecretsUnavailable:
            self._seen[service, user] = "silent"
            raise
        self._seen[service, user] = "kept" if isinstance(value, str) else "missing"
        if isinstance(value, str):
            self._tell(user, value)
            return value
        return None

    async def put(self, name: str, value: str) -> bool:
        """True when the keyring has it, False when only this process does (R-SEC-2)."""
        return await self.keep(self._service, name, value)

    async def keep(self, service: str, user: str, value: str) -> bool:
        """The same for an entry of any service. One that the person is still asked about is kept when they agree."""
        if not value or len(value) > MAX_SECRET:
            raise ValueError("a secret has 1 to 16,384 characters")
        self._tell(user, value)
        entry = service, user
        await self._give_up(entry)
        self._only_here[entry] = value
        task = self._keeping[entry] = asyncio.create_task(self._put(entry, value), name="keep a secret")
        try:
            done, _ = await asyncio.wait((task,), timeout=self._timeout)
        except asyncio.CancelledError:  # whoever typed it no longer wants it
            await self._give_up(entry)
            self._only_here.pop(entry, None)
            raise
        if done:
            return not task.cancelled() and task.result()
        task.add_done_callback(self._late)
        return False

    def _tell(self, user: str, value: str) -> None:
        """Make a value known. What is kept of a sign-in is a record of kilobytes, and looking for the whole of it would
        take a tenth of a second to begin with: who keeps it makes the tokens in it known, in a thread."""
        if not user.startswith(SIGN_IN_PREFIX):
            self._on_value(value)

    async def _put(self, entry: tuple[str, str], value: str) -> bool:
        """Store an entry; whether the keyring has it now."""
        try:
            await self._call("put", PERSON_S, service=entry[0], user=entry[1], value=value)
        except SecretsUnavailable:
            return False
        else:
            self._only_here.pop(entry, None)
            self._seen[entry] = "kept"
            return True
        finally:
            self._keeping.pop(entry, None)

    def _late(self, task: asyncio.Task[bool]) -> None:
        if not task.cancelled():
            for told in self.on_late:
                told()

    async def _give_up(self, *entries: tuple[str, str]) -> None:
        """What waits for the person is no longer wanted."""
        tasks = [task for entry in entries if (task := self._keeping.pop(entry, None)) is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def delete(self, name: str) -> None:
        """Forget it here and in the keyring. Raises SecretsUnavailable when the keyring may still have it."""
        await self.drop(self._service, name)

    async def drop(self, service: str, user: str) -> None:
        """Delete an entry of any service."""
        await self._give_up((service, user))
        kept_here = self._only_here.pop((service, user), None) is not None
        self._seen.pop((service, user), None)
        try:
            await self._call("delete", service=service, user=user)
        except SecretsUnavailable:
            if not kept_here:
                raise
        else:
            self._seen[service, user] = "missing"

    def place(self, service: str, user: str) -> KeyPlace:
        """Where the value lies, as far as it is known without asking: the one home of what pages say of it."""
        entry = service, user
        if entry in self._only_here:
            return "waiting" if entry in self._keeping else "session"
        return self._seen.get(entry, "unasked")

    def place_of(self, name: str) -> KeyPlace:
        """Where an entry of our own lies."""
        return self.place(self._service, name)

    @property
    def waiting(self) -> bool:
        """Whether the system has yet to say that it keeps something: it may be asking for a password."""
        return bool(self._keeping)

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
        """End the child, also one that hangs, and what waits for the person."""
        await self._give_up(*self._keeping)
        await self._child.stop()

    async def _call(self, method: str, within: float | None = None, /, **params: str) -> Any:
        """Ask the child; whatever goes wrong becomes SecretsUnavailable."""
        if self._hangs >= MAX_HANGS and time.monotonic() - self._hung_at < PAUSE_S:
            raise _unavailable("The keyring does not respond. Assent asks it again in a minute.")
        try:
            answer = await self._asked(method, params, within or self._timeout)
        except TimeoutError:
            self._hangs, self._hung_at = self._hangs + 1, time.monotonic()
            raise _unavailable(
                f"The keyring did not answer within {within or self._timeout:g} seconds. "
                "It may be waiting to be unlocked."
            ) from None
        except (ChildDied, ProtocolViolation):
            raise _unavailable("The process that asks the keyring failed.") from None
        except ChildRefused as refused:
            self._hangs = 0
            raise _unavailable(str(refused)) from None
        self._hangs = 0
        return answer

    async def _asked(self, method: str, params: dict[str, str], within: float) -> Any:
        """Every call can be made twice, and a child that ends for want of calls may end under a new one."""
        try:
            return await self._child.call(method, params, timeout=within)
        except ChildDied:
            return await self._child.call(method, params, timeout=within)


def _unavailable(sentence: str) -> SecretsUnavailable:
    return SecretsUnavailable(sentence, next_step=_NEXT)
