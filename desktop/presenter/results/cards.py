"""Which results the open chat has, and their cards at the answers that made them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.errors import AssentError
from desktop.domain.files.changes import KeptChange
from desktop.domain.files.results import Fence, ResultFile, ResultVersion, fences_in
from desktop.domain.text.words import size_of, size_words
from desktop.presenter.transcript.items import CallsPart, ResultPart, TextPart, ToolPart, TranscriptItem

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.results.service import ResultService

RESULT, MORE = "open-result:", "changes"
"""Begins the action that shows a result: number and version follow, then its key."""
IN_ANSWER = "answer:"
"""Begins the key of a result that stood in an answer; its name follows."""
CARDS = 4
"""Cards of one answer; what else was written is counted."""
TELL_AFTER = 150
"""Milliseconds in which several changes are read once."""
KINDS = {
    "page": "web page",
    "drawing": "drawing",
    "table": "table",
    "tree": "JSON",
    "markdown": "text",
    "image": "picture",
    "pdf": "PDF",
    "code": "code",
}
_RANK = ("page", "pdf", "drawing", "image", "table", "markdown", "tree", "code")
Listen = Callable[[Callable[[KeptChange], None]], object]


class ResultCards(QObject):
    """``changed``: there are others now; ``redrawn`` an item whose cards are others."""

    changed = Signal()
    redrawn = Signal(object)

    def __init__(self, service: ResultService, on_done: Listen, bridge: Bridge) -> None:
        super().__init__()
        self._service, self._bridge = service, bridge
        self._thread_id = ""
        self._files: dict[str, ResultFile] = {}
        self._by_call: dict[str, list[tuple[ResultFile, ResultVersion]]] = {}
        self._items: dict[str, TranscriptItem] = {}
        self._callers: dict[str, list[str]] | None = None
        """The messages in which each call stands, in order; None where that is to be found out anew."""
        self._fences: dict[str, tuple[tuple[str, ...], list[Fence]]] = {}
        self._shown: dict[str, tuple[ResultPart, ...]] = {}
        self.open_key = ""
        self._open_version = 0
        self._later = QTimer(self, singleShot=True, interval=TELL_AFTER)
        self._later.timeout.connect(self._read)
        on_done(self._made)

    # -- which there are ----------------------------------------------------------------------------------------------

    def open_thread(self, thread_id: str) -> None:
        """Those of another chat."""
        if thread_id != self._thread_id:
            self._thread_id = thread_id
            self._files, self._by_call = {}, {}
            self.open_key, self._open_version = "", 0
        self._read()

    def result(self, key: str) -> ResultFile | None:
        """A result by its key."""
        if not key.startswith(IN_ANSWER):
            return self._files.get(key)
        found = [fence for fences in self._in_order() for fence in fences if IN_ANSWER + fence.name == key]
        if not found:
            return None
        versions = tuple(
            ResultVersion(number, 0.0, size_of(fence.text), text=fence.text) for number, fence in enumerate(found, 1)
        )
        return ResultFile(key, found[-1].name, found[-1].kind, versions)

    def mark_open(self, key: str, version: int) -> None:
        """Which one stands beside the chat now; "" none."""
        if (key, version) != (self.open_key, self._open_version):
            self.open_key, self._open_version = key, version
            self._tell(self._items)

    # -- their cards --------------------------------------------------------------------------------------------------

    def reset(self, items: Sequence[TranscriptItem]) -> tuple[TranscriptItem, ...]:
        """Another page of messages, with their cards."""
        self._items, self._fences, self._shown = {}, {}, {}
        return self.prepend(items)

    def prepend(self, items: Sequence[TranscriptItem]) -> tuple[TranscriptItem, ...]:
        """Older messages, with their cards."""
        older = {item.message_id: item for item in items}
        self._items = {**older, **{key: item for key, item in self._items.items() if key not in older}}
        self._callers = None
        for item in items:
            self._take_fences(item)
        made = tuple(self._with_cards(item) for item in items)
        self._tell(key for key in self._fences if key not in older)
        return made

    def put(self, item: TranscriptItem) -> TranscriptItem:
        """A message that came or changed, with its cards."""
        before = self._items.get(item.message_id)
        self._items[item.message_id] = item
        if before is None or [*_calls_of(before)] != [*_calls_of(item)]:
            self._callers = None
        if self._take_fences(item):
            self.changed.emit()
        return self._with_cards(item)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _made(self, record: KeptChange) -> None:
        top = record.origin.above[0] if record.origin.above else record.origin.thread_id
        if top == self._thread_id and not self._later.isActive():
            self._later.start()

    def _read(self) -> None:
        thread_id = self._thread_id

        async def work() -> None:
            found = await self._service.of_thread(thread_id) if thread_id else []
            if thread_id == self._thread_id:
                self._take_files(found)

        self._bridge.spawn(work(), name="read the results of a chat", on_error=_not_read)

    def _take_files(self, found: Sequence[ResultFile]) -> None:
        self._files = {one.key: one for one in found}
        self._by_call = {}
        for one in found:
            for version in one.versions:
                for call in filter(None, version.calls):
                    self._by_call.setdefault(call, []).append((one, version))
        self._tell(self._items)
        self.changed.emit()

    def _tell(self, keys: Iterable[str]) -> None:
        """Have the messages drawn anew whose cards are others now."""
        for key in list(keys):
            item = self._items[key]
            before = self._shown.get(key, ())
            made = self._with_cards(item)
            if self._shown.get(key, ()) != before:
                self.redrawn.emit(made)

    def _take_fences(self, item: TranscriptItem) -> bool:
        """Look for results in a text that is written to its end; whether there are others than before."""
        if item.side == "human":
            return False
        texts = tuple(part.markdown for part in item.parts if isinstance(part, TextPart) and not part.live)
        known = self._fences.get(item.message_id)
        if known is not None and known[0] == texts:
            return False
        found = [fence for text in texts for fence in fences_in(text)]
        if known is None and not found:
            return False
        self._fences[item.message_id] = (texts, found)
        return known is None or known[1] != found

    def _in_order(self) -> Iterable[list[Fence]]:
        return (self._fences[key][1] for key in self._items if key in self._fences)

    def _with_cards(self, item: TranscriptItem) -> TranscriptItem:
        cards = tuple(self._cards(item)) if item.side != "human" else ()
        self._shown[item.message_id] = cards
        return replace(item, parts=(*item.parts, *cards)) if cards else item

    def _cards(self, item: TranscriptItem) -> list[ResultPart]:
        found = self._written_in(item)
        found += self._said_in(item)
        found.sort(key=lambda one: _RANK.index(one[0].kind))
        made = [self._card(item, result, version) for result, version in found[:CARDS]]
        if len(found) > CARDS:
            more = len(found) - CARDS
            words = f"{more} more {'file' if more == 1 else 'files'}"
            made.append(ResultPart(f"{item.message_id}:results:more", words, "in Changes", "more", MORE))
        return made

    def _written_in(self, item: TranscriptItem) -> list[tuple[ResultFile, ResultVersion]]:
        """The files that its calls wrote, each as the last of them left it."""
        if not self._by_call:
            return []
        last: dict[str, tuple[ResultFile, ResultVersion]] = {}
        for call in _calls_of(item):
            made = self._by_call.get(call, ())
            for result, version in made if len(made) < 2 else self._of_turn(item, call, made):
                known = last.get(result.key)
                if known is None or known[1].number < version.number:
                    last[result.key] = (result, version)
        return list(last.values())

    def _of_turn(
        self, item: TranscriptItem, call: str, made: Sequence[tuple[ResultFile, ResultVersion]]
    ) -> Sequence[tuple[ResultFile, ResultVersion]]:
        """Some models give the calls of each answer the same ids: the last version is that of the last answer, and so
        on. Calls of one answer, or of one agent, have left all of theirs in one place."""
        places = self._places_of(call)
        if len(places) < 2:
            return made
        back = len(places) - places.index(item.message_id)
        by_file: dict[str, list[tuple[ResultFile, ResultVersion]]] = {}
        for one in made:
            by_file.setdefault(one[0].key, []).append(one)
        return [some[-back] for some in by_file.values() if back <= len(some)]

    def _places_of(self, call: str) -> Sequence[str]:
        """The messages in which a call stands, looked for once for all calls: a chat has thousands of them."""
        if self._callers is None:
            self._callers = {}
            for key, item in self._items.items():
                for one in dict.fromkeys(_calls_of(item)):
                    self._callers.setdefault(one, []).append(key)
        return self._callers.get(call, ())

    def _said_in(self, item: TranscriptItem) -> list[tuple[ResultFile, ResultVersion]]:
        own = self._fences.get(item.message_id)
        if own is None or not own[1]:
            return []
        counts: dict[str, int] = {}
        for key in self._items:
            for fence in self._fences.get(key, ((), []))[1]:
                counts[fence.name] = counts.get(fence.name, 0) + 1
            if key == item.message_id:
                break
        last = {fence.name: fence for fence in own[1]}
        return [
            (ResultFile(IN_ANSWER + name, name, fence.kind, ()), ResultVersion(counts[name], 0.0, size_of(fence.text)))
            for name, fence in last.items()
        ]

    def _card(self, item: TranscriptItem, result: ResultFile, version: ResultVersion) -> ResultPart:
        is_open = (result.key, version.number) == (self.open_key, self._open_version)
        facts = [KINDS[result.kind], size_words(version.size)]
        if version.number > 1:
            facts.insert(0, f"version {version.number}")
        if is_open:
            facts.append("open at the right")
        return ResultPart(
            f"{item.message_id}:result:{result.key}",
            result.name,
            ", ".join(facts),
            result.kind,
            f"{RESULT}{version.number}:{result.key}",
            is_open,
        )


def _calls_of(item: TranscriptItem) -> Iterable[str]:
    """The ids of its calls, of those that they made, and of the threads of agents that were called."""
    for part in item.parts:
        for call in part.calls if isinstance(part, CallsPart) else (part,):
            if isinstance(call, ToolPart):
                yield call.call_id
                if call.child:
                    yield call.child


def read_action(action: str) -> tuple[str, int]:
    """The key and the version of a result that is to be shown."""
    number, _, key = action.removeprefix(RESULT).partition(":")
    return key, int(number) if number.isdigit() else 0


def _not_read(_error: AssentError) -> None:
    """There are no cards then; the Changes panel says what is the matter."""
