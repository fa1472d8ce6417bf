"""What happens in a thread as an editor is told it: plain data, one step before the protocol.

A call has a number of its own in a session, because models use their names for calls again. What a call would do is
shown by the request; what came of it is text.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import AudioBlock, ImageBlock, MediaBlock, NoticeBlock
from desktop.domain.runs.events import (
    ContextMeasured,
    Event,
    MessageClosed,
    ReasoningArrived,
    RetryScheduled,
    TextArrived,
    ToolCallAnswered,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallStarted,
    ToolCallWaiting,
)
from desktop.domain.text.words import arguments_words, count_words
from desktop.domain.tools import ToolSpec
from desktop.presenter.common.shown import shown_line
from desktop.presenter.editors.fences import cut, fenced, quoted
from desktop.presenter.editors.requests import diff_of, not_for_editors, request_text
from desktop.presenter.transcript.build import canonical

Update = dict[str, Any]
RESULT_LIMIT, LIVE_LIMIT, TITLE_LIMIT, VALUE_LIMIT = 20_000, 4_000, 200, 2_000
LIVE_EVERY_S = 0.3
"""Seconds between two pictures of the output of a running call: each is sent whole."""
SECRET_NAMES = ("key", "token", "secret", "password", "authorization", "cookie")
HIDDEN_VALUE = "[not shown]"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the words about a call need to know."""

    spec: Callable[[str], ToolSpec | None]
    workspace: Callable[[], str]
    mask: Callable[[str], str]
    title: Callable[[], str]


class EditorCalls:
    """The calls of one session, each with the number under which the editor knows it."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._names: dict[tuple[str, str], str] = {}
        self._used: dict[str, int] = {}
        self._diffs: dict[str, Mapping[str, Any]] = {}
        self._live: dict[str, tuple[float, str]] = {}
        self._over: set[str] = set()
        self._shown: dict[str, Update] = {}

    def name(self, thread_id: str, call_id: str, *, fresh: bool = False) -> str:
        """The number of a call; ``fresh``: another call of this name begins."""
        key = (thread_id, call_id)
        if fresh or key not in self._names:
            count = self._used[call_id] = self._used.get(call_id, 0) + 1
            self._names[key] = call_id if count == 1 else f"{call_id}.{count}"
        return self._names[key]

    def knows(self, thread_id: str, call_id: str) -> bool:
        """Whether the editor was told of this call: it is also of a called agent's, where it was asked about it."""
        return (thread_id, call_id) in self._names

    # -- a call from its beginning to its end -------------------------------------------------------------------------

    def announced(self, thread_id: str, call_id: str, tool: str, arguments: Mapping[str, Any] | None) -> Update:
        """A model has asked for a call."""
        return self._call(self.name(thread_id, call_id, fresh=True), tool, arguments or {}, "pending")

    def started(self, event: ToolCallStarted) -> Update:
        """A call has begun to be judged."""
        known = self.knows(event.thread_id, event.call_id)
        name = self.name(event.thread_id, event.call_id)
        if name in self._over:  # another of the same name
            known, name = False, self.name(event.thread_id, event.call_id, fresh=True)
        call = self._call(name, event.tool, event.arguments, "in_progress")
        return {**call, "kind": "call-update"} if known else call

    def waiting(self, event: ToolCallWaiting) -> Update:
        """A call waits for a person: with the facts and all that it would do."""
        request, mask = event.request, self._around.mask
        key = (event.thread_id, event.call_id)
        known = self.knows(*key)
        call = self._call(self.name(*key), request.tool, request.arguments, "pending")
        diff = diff_of(request, mask)
        if diff is not None:
            self._diffs[call["call"]] = diff
        content: list[Update] = [
            {"type": "text", "text": request_text(request, self._around.title(), mask, whole=not diff)}
        ]
        content += [{"type": "diff", **diff}] if diff else []
        if elsewhere := not_for_editors(request):
            said = quoted((f"This is answered in Assent’s window, and denied where none is open: {elsewhere}.",))
            content = [{"type": "text", "text": said.strip()}]
        self._shown[call["call"]] = asked = {**call, "kind": "call-update", "content": content}
        return asked if known else {**asked, "kind": "call"}

    def shown(self, thread_id: str, call_id: str) -> Update:
        """What the editor was told of a call that waits, for the question itself: some show nothing else."""
        name = self.name(thread_id, call_id)
        return self._shown.get(name, {"kind": "call-update", "call": name, "status": "pending"})

    def answered(self, event: ToolCallAnswered) -> Update | None:
        """A question is over: a call that was allowed goes on with what was agreed to."""
        name = self.name(event.thread_id, event.call_id)
        self._shown.pop(name, None)
        if not event.decision.allowed:
            return None
        diff = self._diffs.get(name)
        return {
            "kind": "call-update",
            "call": name,
            "status": "in_progress",
            "content": [{"type": "diff", **diff}] if diff else [],
        }

    def output(self, event: ToolCallOutput) -> Update | None:
        """The end of what a running call has written, a few times a second."""
        name = self.name(event.thread_id, event.call_id)
        last, so_far = self._live.get(name, (0.0, ""))
        text, now = (so_far + event.text)[-LIVE_LIMIT:], time.monotonic()
        due = now - last >= LIVE_EVERY_S
        self._live[name] = (now if due else last, text)
        if not due:
            return None
        return {
            "kind": "call-update",
            "call": name,
            "content": [{"type": "text", "text": fenced(self._around.mask(text))}],
        }

    def finished(self, event: ToolCallFinished) -> Update:
        """A call is over, with its result as text."""
        name = self.name(event.thread_id, event.call_id)
        self._live.pop(name, None)
        self._over.add(name)
        diff = self._diffs.pop(name, None)
        return self.result(name, event.state == "done", event.text, event.media, diff)

    def result(
        self, name: str, done: bool, text: str, media: Sequence[MediaBlock], diff: Mapping[str, Any] | None = None
    ) -> Update:
        """How a call ended."""
        content: list[Update] = [{"type": "diff", **diff}] if diff and done else []
        shown = self._around.mask(
            cut(text, RESULT_LIMIT)
        )  # results come without secrets; it is masked for good measure
        content += [{"type": "text", "text": fenced(shown)}] if shown.strip() else []
        if said := media_words(media):
            content.append({"type": "text", "text": said})
        return {"kind": "call-update", "call": name, "status": "completed" if done else "failed", "content": content}

    def _call(self, name: str, tool: str, arguments: Mapping[str, Any], status: str) -> Update:
        spec = self._around.spec(tool)
        words = shown_line(self._around.mask(arguments_words(arguments, TITLE_LIMIT)))[:TITLE_LIMIT]
        shown = shown_line(spec.name if spec is not None else canonical(tool))[:80]
        return {
            "kind": "call",
            "call": name,
            "title": f"{shown}: {words}" if words else shown,
            "tool_kind": tool_kind(spec),
            "status": status,
            "locations": self._locations(spec, arguments),
            "input": shortened(arguments, self._around.mask),
        }

    def _locations(self, spec: ToolSpec | None, arguments: Mapping[str, Any]) -> list[str]:
        path = arguments.get("path") if spec is not None and spec.about == "path" else None
        if not isinstance(path, str) or "\0" in path:
            return []
        return [os.path.normpath(os.path.join(self._around.workspace(), os.path.expanduser(path)))]


def tool_kind(spec: ToolSpec | None) -> str:
    """What a tool does, in the protocol's words, as far as its declaration says."""
    if spec is None:
        return "other"
    if spec.about == "command":
        return "execute"
    if spec.about == "path":
        return "read" if spec.category is Category.READ else "edit"
    return "other"


def shortened(value: Any, mask: Callable[[str], str], depth: int = 0) -> Any:
    """Arguments for the eye: short, and without secrets."""
    if isinstance(value, str):
        return cut(mask(value), VALUE_LIMIT)
    if isinstance(value, Mapping) and depth < 6:
        pairs = list(value.items())[:100]
        return {
            str(key)[:200]: HIDDEN_VALUE
            if isinstance(one, str) and any(word in str(key).lower() for word in SECRET_NAMES)
            else shortened(one, mask, depth + 1)
            for key, one in pairs
        }
    if isinstance(value, list | tuple) and depth < 6:
        return [shortened(one, mask, depth + 1) for one in value[:100]]
    return value if value is None or isinstance(value, bool | int | float) else cut(mask(str(value)), VALUE_LIMIT)


def media_words(media: Sequence[MediaBlock]) -> str:
    """What an editor is not sent of a result."""
    counts = ((ImageBlock, "image"), (AudioBlock, "sound"))
    found = ((sum(isinstance(one, kind) for one in media), noun) for kind, noun in counts)
    said = " and ".join(count_words(count, noun) for count, noun in found if count)
    return f"{said}: see this chat in Assent." if said else ""


def notice_words(notice: NoticeBlock) -> str:
    """Something that Assent says in a thread."""
    return quoted((f"Assent: {notice.text} {notice.next_step}".strip(),))


def updates_of(event: Event, calls: EditorCalls, mask: Callable[[str], str]) -> Iterator[Update]:
    """What the editor is told about an event of the session's own thread."""
    if isinstance(event, TextArrived):
        yield {"kind": "text", "message": event.message_id, "text": event.text}
    elif isinstance(event, ReasoningArrived):
        yield {"kind": "thought", "message": event.message_id, "text": event.text}
    elif isinstance(event, MessageClosed):
        yield from _closed(event, calls, mask)
    elif isinstance(event, ToolCallStarted):
        yield calls.started(event)
    elif isinstance(event, ToolCallWaiting | ToolCallAnswered | ToolCallFinished | ToolCallOutput):
        yield from call_updates(event, calls)
    elif isinstance(event, RetryScheduled):
        words = f"The model could not be asked ({event.detail}). Trying again in {event.delay_s:.0f} seconds."
        yield {"kind": "thought", "message": "", "text": quoted((words,))}
    elif isinstance(event, ContextMeasured) and event.window:
        yield {"kind": "usage", "used": min(event.used, event.window), "size": event.window}


def call_updates(event: Event, calls: EditorCalls) -> Iterator[Update]:
    """The same of a call, also of one of a called agent that the editor was asked about."""
    found: Update | None = None
    if isinstance(event, ToolCallWaiting):
        found = calls.waiting(event)
    elif not isinstance(event, ToolCallAnswered | ToolCallFinished | ToolCallOutput) or not calls.knows(
        event.thread_id, event.call_id
    ):
        return
    elif isinstance(event, ToolCallAnswered):
        found = calls.answered(event)
    elif isinstance(event, ToolCallFinished):
        found = calls.finished(event)
    else:
        found = calls.output(event)
    if found is not None:
        yield found


def _closed(event: MessageClosed, calls: EditorCalls, mask: Callable[[str], str]) -> Iterator[Update]:
    for block in event.amended or ():
        kind = "text" if block.kind == "text" else "thought"
        said = quoted(("This answer was changed before it was kept; it is now:",))
        yield {"kind": kind, "message": event.message_id, "text": said + block.text}
    for call in event.tool_calls:
        yield calls.announced(event.thread_id, call.call_id, call.tool, call.arguments)
    for notice in event.notices:
        yield {"kind": "text", "message": event.message_id, "text": mask(notice_words(notice))}
