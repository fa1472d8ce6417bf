"""The variables of a chat (D-6), and how its model is to answer (R-MOD-1): shown as lines ``NAME=value``, checked while
they are written, kept with undo."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.model_settings import NAMES, SPELLINGS, UNSAID, ModelSettings, read_settings, settings_from
from desktop.domain.text.json_text import read_json
from desktop.services.threads.variables import MAX_ENVIRONMENT, MAX_VALUE, environment_problems

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.chats.service import ConversationService

MAX_TEXT = MAX_ENVIRONMENT * (MAX_VALUE * 6 + 100)
MAX_SAID = 10
"""Problems that are told at once."""
KEPT = "What this chat says is saved; it counts from the next message on."
UNDONE = "The variables and settings of this chat are as they were."


@dataclass(frozen=True, slots=True)
class ChatVariables:
    """What the dialog shows: the chat's own ones, and those that its agent brings."""

    thread_id: str
    own: Mapping[str, str]
    of_agent: Mapping[str, str]
    settings: ModelSettings = UNSAID


class ThreadVariables(QObject):
    """``read`` carries a ChatVariables that was asked for, ``said`` a sentence and the token that undoes it."""

    read = Signal(object)
    said = Signal(str, str)

    def __init__(self, service: ConversationService, bridge: Bridge) -> None:
        super().__init__()
        self._service = service
        self._bridge = bridge
        self._before: tuple[str, str, Mapping[str, str], ModelSettings] = ("", "", {}, UNSAID)
        self._saved = 0

    def look(self, thread_id: str) -> None:
        """Read the thread's variables; the signal ``read`` follows."""

        async def work() -> None:
            thread = await self._service.thread(thread_id)
            agent = self._service.agents.agents.get(thread.agent)
            own = await self._service.environment(thread_id)
            theirs = dict(agent.environment) if agent is not None else {}
            self.read.emit(ChatVariables(thread_id, own, theirs, await self._service.model_settings(thread_id)))

        self._spawn(work(), "read a chat's variables")

    def save(self, thread_id: str, text: str, settings: str) -> None:
        """Keep what the lines say, in place of what was kept."""

        async def work() -> None:
            before = await self._service.environment(thread_id)
            said = await self._service.model_settings(thread_id)
            await self._service.set_environment(thread_id, variables_in(text))
            await self._service.set_model_settings(thread_id, settings_from(settings_in(settings), "this chat"))
            self._saved += 1
            self._before = (f"variables {self._saved}", thread_id, before, said)
            self.said.emit(KEPT, self._before[0])

        self._spawn(work(), "keep a chat's variables")

    def undo(self, token: str) -> bool:
        """Take the last ``save`` back; False when the token is not its."""
        known, thread_id, before, said = self._before
        if not known or token != known:
            return False
        self._before = ("", "", {}, UNSAID)

        async def work() -> None:
            await self._service.set_environment(thread_id, before)
            await self._service.set_model_settings(thread_id, said)
            self.said.emit(UNDONE, "")

        self._spawn(work(), "take a chat's variables back")
        return True

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._refused)

    def _refused(self, error: AssentError) -> None:
        if isinstance(error, KnownError):
            self.said.emit(error.advice, "")


def lines_of(variables: Mapping[str, str]) -> str:
    """A line for each; a value that does not stand on one line as it is, as JSON."""
    plain = {name: value if _is_plain(value) else json.dumps(value) for name, value in variables.items()}
    return "\n".join(f"{name}={value}" for name, value in plain.items())


def variables_in(text: str) -> dict[str, str]:
    """What the lines say; empty lines and those that begin with # say nothing."""
    pairs = (line.partition("=") for line in _lines(text))
    return {name.strip(): _value(value.strip()) for name, _, value in pairs}


def problems_in(text: str) -> str:
    """What keeps the lines from being kept, a sentence each, or ""."""
    if len(text) > MAX_TEXT:
        return f"This is {len(text):,} characters long; at most {MAX_TEXT:,} are allowed."
    lines = _lines(text)
    counts = Counter(line.partition("=")[0].strip() for line in lines)
    found = [f"{line[:40]}: write NAME=value" for line in lines if "=" not in line]
    found += [f"{name[:60]} is written twice" for name, count in counts.items() if count > 1]
    if not found:
        found = [problem.shown for problem in environment_problems(variables_in(text))]
    more = [f"And {len(found) - MAX_SAID:,} more"] if len(found) > MAX_SAID else []
    return ". ".join([*found[:MAX_SAID], *more]) + "." if found else ""


def settings_lines(settings: ModelSettings) -> str:
    """A line for each setting that is said, lists as JSON."""
    plain = settings.plain().items()
    return "\n".join(f"{name}={said if isinstance(said, str) else json.dumps(said)}" for name, said in plain)


def settings_in(text: str) -> dict[str, Any]:
    """What the lines say of the model: numbers and lists as JSON has them, anything else as text."""
    pairs = (line.partition("=") for line in _lines(text))
    return {name.strip(): _json_or_text(value.strip()) for name, _, value in pairs}


def settings_problems(text: str) -> str:
    """What keeps the lines from being settings, a sentence each, or ""."""
    given = settings_in(text[:MAX_TEXT])
    found = [f"{line[:40]}: write NAME=value" for line in _lines(text) if "=" not in line]
    known = ", ".join(NAMES)
    found += [f"there is no setting {name[:40]}; there are {known}" for name in given if name not in SPELLINGS]
    found += [one.text for one in read_settings(given)[1]]
    return ". ".join(found[:MAX_SAID]) + "." if found else ""


def _json_or_text(text: str) -> Any:
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _is_plain(value: str) -> bool:
    return value == value.strip() and len(value.splitlines()) <= 1 and not value.startswith('"')


def _value(text: str) -> str:
    if text.startswith('"'):
        try:
            quoted = read_json(text)
        except ValueError:
            return text
        return quoted if isinstance(quoted, str) else text
    return text
