"""The answer that is being written: one transcript item, kept up to date from the runtime's events.

It exists for every running thread, whether or not that thread is on screen, so that opening a thread in the middle
of its run shows exactly what has arrived.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import NoticeBlock, ReasoningBlock, TextBlock, ToolCallBlock, Usage
from desktop.domain.runs.events import (
    AgentListening,
    Event,
    MessageClosed,
    MessageOpened,
    ReasoningArrived,
    RetryScheduled,
    RunEnded,
    TextArrived,
    ToolCallAdvanced,
    ToolCallAnswered,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallStarted,
    ToolCallWaiting,
    ToolCallWriting,
)
from desktop.domain.text.outside import names_in, note_in
from desktop.domain.text.words import size_words
from desktop.presenter.common.words import clock, footer_of
from desktop.presenter.transcript.build import (
    CALLS_SHOWN,
    INTERRUPTED,
    STOPPED,
    arguments_of,
    canonical,
    card_facts,
    child_of,
    continued,
    decision_words,
    more_calls,
    notice_part,
    passed_by,
    pretty,
    tool_part,
    unasked_changes,
    with_arguments,
)
from desktop.presenter.transcript.code_calls import ran
from desktop.presenter.transcript.folding import fold_calls, unfolded
from desktop.presenter.transcript.items import Part, ReasoningPart, TextPart, ToolPart, TranscriptItem, call_state
from desktop.presenter.transcript.media_parts import media_parts
from desktop.presenter.transcript.nested_calls import nested_calls, put_below, with_one
from desktop.presenter.transcript.rich import embedded_of, links_of, progress_of, table_of, task_words

OUTPUT_TAIL = 20_000
"""Live output of a running call kept for display, in characters; the full text comes with its result."""


@dataclass(frozen=True, slots=True)
class Delta:
    """Text to append to a part that the view already shows."""

    part_id: str
    text: str


Change = Delta | None
"""What one event did: a delta to append, or None for "draw the item anew"."""


class LiveAnswer:
    """Mutable state of one answer. ``apply`` takes an event and returns how the view should follow.

    ``continues``: the last message of an answer that was cut off and is gone on with. Until ``go_on_from`` has been
    told what is shown of that, there is no item. ``titles`` are what a person reads of agents, by their names.
    """

    def __init__(
        self, author: str, model: str, side: str = "a", continues: str = "", titles: Mapping[str, str] | None = None
    ) -> None:
        self.author = author
        self.model = model
        self.side = side
        self.continues = continues
        self._titles: Mapping[str, str] = {} if titles is None else titles
        self.message_id = ""
        self.parent_id = ""
        self.started = time.time()
        self.ended = False
        self.usage: Usage | None = None
        self.elapsed_ms = 0
        self.can_continue = False
        self.place = (1, 1)
        self._time = ""
        self._parts: dict[str, Part] = {}
        self._chunks: dict[str, list[str]] = {}
        self._asked: dict[str, Mapping[str, Any]] = {}
        self._handlers: dict[type, Callable[..., Change | bool]] = {
            MessageOpened: self._opened,
            TextArrived: self._text,
            ReasoningArrived: self._reasoning,
            ToolCallWriting: self._writing,
            MessageClosed: self._closed,
            ToolCallStarted: self._call_started,
            ToolCallWaiting: self._call_waiting,
            ToolCallAnswered: self._call_answered,
            ToolCallOutput: self._call_output,
            ToolCallAdvanced: self._call_advanced,
            ToolCallFinished: self._call_finished,
            RetryScheduled: self._retry,
            RunEnded: self._run_ended,
            AgentListening: self._rests,
        }

    def apply(self, event: Event) -> tuple[bool, Change]:
        """(did anything change, how). Unknown events change nothing."""
        handler = self._handlers.get(type(event))
        if handler is None:
            return False, None
        answer = handler(event)
        if answer is False:
            return False, None
        return True, answer if isinstance(answer, Delta) else None

    def item(self) -> TranscriptItem:
        """The answer as it stands."""
        parts = tuple(self._settled(part) for part in self._parts.values())
        return TranscriptItem(
            message_id=self.message_id,
            side="b" if self.side == "b" else "a",
            author=self.author,
            time=self._time or clock(self.started),
            parts=parts,
            sibling=self.place[0],
            siblings=self.place[1],
            footer="" if not self.ended else footer_of(self.usage, self.elapsed_ms, self.model),
            usage=self.usage,
            elapsed_ms=self.elapsed_ms,
            live=not self.ended,
            can_continue=self.can_continue,
        )

    def go_on_from(self, shown: TranscriptItem) -> None:
        """The answer that was cut off, as it is stored: what comes now stands in the same item, and what comes of its
        calls in the cards that they have."""
        self.continues = ""
        if shown.side == "human":
            return
        stored = unfolded(passed_by(continued(shown)).parts)
        here = {part_id: _with_stored(part, stored.get(part_id)) for part_id, part in self._parts.items()}
        self.message_id, self._time = shown.message_id, shown.time
        self.place = (shown.sibling, shown.siblings)
        self._parts = {**stored, **here}
        if shown.usage is not None:
            self.usage = shown.usage if self.usage is None else self.usage.plus(shown.usage)
        self.elapsed_ms += shown.elapsed_ms

    def _settled(self, part: Part) -> Part:
        chunks = self._chunks.get(part.part_id)
        if not chunks:
            return part
        text = "".join(chunks)
        self._chunks[part.part_id] = [text]
        if isinstance(part, TextPart):
            return replace(part, markdown=text)
        if isinstance(part, ReasoningPart):
            return replace(part, text=text)
        if isinstance(part, ToolPart):
            return replace(part, result=text[-OUTPUT_TAIL:])
        return part

    # -- messages ---------------------------------------------------------------------------------------------------

    def _opened(self, event: MessageOpened) -> bool:
        if not self.message_id:
            self.message_id = event.message_id
            self.parent_id = event.parent_id or ""
        else:
            self._parts = {part.part_id: part for part in fold_calls(list(self._parts.values()))}
        return True

    def _grow(self, part_id: str, text: str, make: Callable[[], Part]) -> Change:
        chunks = self._chunks.setdefault(part_id, [])
        chunks.append(text)
        if part_id in self._parts:
            return Delta(part_id, text)
        self._parts[part_id] = make()
        return None

    def _text(self, event: TextArrived) -> Change:
        part_id = f"{event.message_id}:text"
        self._stop_thinking(event.message_id)
        return self._grow(part_id, event.text, lambda: TextPart(part_id, "", live=True))

    def _reasoning(self, event: ReasoningArrived) -> Change:
        part_id = f"{event.message_id}:reasoning"
        return self._grow(part_id, event.text, lambda: ReasoningPart(part_id, "", live=True))

    def _stop_thinking(self, message_id: str) -> None:
        part = self._parts.get(f"{message_id}:reasoning")
        if isinstance(part, ReasoningPart) and part.live:
            self._parts[part.part_id] = replace(part, live=False)

    def _closed(self, event: MessageClosed) -> bool:
        for part_id, part in list(self._parts.items()):
            if isinstance(part, TextPart | ReasoningPart) and part.live:
                self._parts[part_id] = replace(part, live=False)
        self._parts = _without_writing(self._parts, event.message_id)
        if event.amended is not None:
            self._parts, self._chunks = _said_anew(self._parts, self._chunks, event.message_id, event.amended)
        self._thought(event)
        for call in event.tool_calls[:CALLS_SHOWN]:
            self._ensure_call(event.message_id, call)
        if len(event.tool_calls) > CALLS_SHOWN:
            more = more_calls(event.message_id, len(event.tool_calls))
            self._parts[more.part_id] = more
        for notice in event.notices:  # the end of a run says the same with more to do about it, in the same place
            self._parts["end"] = notice_part("end", notice)
        if event.usage is not None:
            self.usage = event.usage if self.usage is None else self.usage.plus(event.usage)
        self.elapsed_ms += event.elapsed_ms
        return True

    def _thought(self, event: MessageClosed) -> None:
        """What is known of the thinking, once it is over; also where the model has not shown any of it."""
        if event.thinking is None:
            return
        part_id = f"{event.message_id}:reasoning"
        part = self._parts.get(part_id)
        shown = part if isinstance(part, ReasoningPart) else ReasoningPart(part_id, "")
        self._parts[part_id] = replace(shown, facts=event.thinking)

    def _rests(self, event: AgentListening) -> bool:
        """The agent of the thread has answered, and waits for the next message."""
        own = event.waiting and event.context_id == event.thread_id
        self.ended = self.ended or own
        return own

    # -- calls ------------------------------------------------------------------------------------------------------

    def _writing(self, event: ToolCallWriting) -> bool:
        if event.index >= CALLS_SHOWN:
            return False
        part_id = f"{event.message_id}:writing:{event.index}"
        size = f"{size_words(event.characters)} of arguments" if event.characters else ""
        known = self._parts.get(part_id)
        if isinstance(known, ToolPart) and (known.tool, known.summary) == (canonical(event.tool), size):
            return False
        self._parts[part_id] = ToolPart(part_id, "", canonical(event.tool), size, "", "writing", started_at=time.time())
        return True

    def _ensure_call(self, message_id: str, call: ToolCallBlock) -> None:
        part_id = f"{message_id}:{call.call_id}"
        if part_id not in self._parts:
            self._parts[part_id] = replace(tool_part(message_id, call, None), state="writing", started_at=0.0)

    def _call(self, message_id: str, call_id: str) -> ToolPart | None:
        part = self._parts.get(f"{message_id}:{call_id}")
        return part if isinstance(part, ToolPart) else None

    def _call_started(self, event: ToolCallStarted) -> bool:
        part_id = f"{event.message_id}:{event.call_id}"
        known = self._call(event.message_id, event.call_id)
        if known is None and not event.parent_call_id and f"{event.message_id}:more" in self._parts:
            return False
        self._asked[part_id] = event.arguments
        base = known or ToolPart(
            part_id, event.call_id, canonical(event.tool), "", event.category, "running", parent=event.parent_call_id
        )
        if base.parent and known is None:
            self._parts = put_below(self._parts, base)
        base = replace(base, tool=canonical(event.tool), category=event.category)
        if event.arguments or known is None:  # a call that was settled before it was made is told without them
            base = with_arguments(base, event.arguments)
        self._parts[part_id] = replace(base, state="running", started_at=time.time())
        return True

    def _call_waiting(self, event: ToolCallWaiting) -> bool:
        part = self._call(event.message_id, event.call_id)
        if part is None:
            return False
        own = event.request.call_id == event.call_id  # else it is an agent's that this call waits for (R-AAT-9)
        self._parts[part.part_id] = replace(
            with_arguments(part, event.request.arguments) if own else part,
            state="waiting",
            request=event.request,
            category=str(event.request.category) if own else part.category,
            chain=tuple(dict.fromkeys(self._titles.get(name, name) for name in event.request.chain)),
        )
        return True

    def _call_answered(self, event: ToolCallAnswered) -> bool:
        part = self._call(event.message_id, event.call_id)
        if part is None:
            return False
        below = part.request is not None and part.request.call_id != event.call_id
        if below and part.request is not None and part.request.request_id != event.request_id:
            return False
        allowed = event.decision.allowed or below
        self._parts[part.part_id] = replace(
            part,
            state="running" if allowed else "denied" if event.decision.answered else "aborted",
            request=None,
            detail=part.detail if below else event.decision.reason,
            started_at=time.time(),
        )
        return True

    def _call_output(self, event: ToolCallOutput) -> bool:
        part = self._call(event.message_id, event.call_id)
        if part is None:
            return False
        chunks = self._chunks.setdefault(part.part_id, [])
        chunks.append(event.text)
        if len(chunks) > 200:
            self._chunks[part.part_id] = ["".join(chunks)[-OUTPUT_TAIL:]]
        return True

    def _call_advanced(self, event: ToolCallAdvanced) -> bool:
        part = self._call(event.message_id, event.call_id)
        if part is None or part.state != "running":
            return False
        self._parts[part.part_id] = replace(part, progress=progress_of(event))
        return True

    def _call_finished(self, event: ToolCallFinished) -> bool:
        part = self._call(event.message_id, event.call_id)
        if part is None:
            return False
        self._chunks.pop(part.part_id, None)
        asked = self._asked.pop(part.part_id, None)
        if part.parent:  # the card of the call that made it lists it from now on
            del self._parts[part.part_id]
            self._tell_parent(event, part)
            return True
        self._parts[part.part_id] = _finished(part, event, asked)
        return True

    def _tell_parent(self, event: ToolCallFinished, part: ToolPart) -> None:
        """A nested call is over, the call that made it is not: its card tells so far."""
        above = self._call(event.message_id, part.parent)
        if above is not None:
            self._parts[above.part_id] = replace(above, nested=with_one(above.nested, part, event))

    # -- the run ----------------------------------------------------------------------------------------------------

    def _retry(self, event: RetryScheduled) -> bool:
        block = NoticeBlock(f"{event.detail} Trying again (attempt {event.attempt + 1}).", severity="warning")
        self._parts["retry"] = notice_part("retry", block, retry_at=time.time() + event.delay_s)
        return True

    def _run_ended(self, event: RunEnded) -> bool:
        self.ended = True
        began = bool(self.message_id)
        if not began and event.detail:
            self.message_id = f"run:{event.run_id}"  # the store could not even take the message that says so
        self._parts.pop("retry", None)
        for part_id, part in list(self._parts.items()):
            if isinstance(part, ToolPart) and part.parent:
                del self._parts[part_id]
            elif isinstance(part, ToolPart) and part.state in ("waiting", "running", "writing"):
                self._parts[part_id] = replace(part, state="aborted", request=None)
        if event.reason == "interrupted" or (event.reason == "cancelled" and began):
            self.can_continue = True
            self._parts["end"] = notice_part("end", INTERRUPTED if event.reason == "interrupted" else STOPPED)
        elif event.detail and event.reason not in ("response", "cancelled"):
            severity = "error" if event.reason == "error" else "warning"
            retry_at = time.time() + event.retry_after if event.retry_after else None
            block = NoticeBlock(event.detail, event.code, event.next_step, severity)  # type: ignore[arg-type]
            self._parts["end"] = notice_part("end", block, retry_at=retry_at)
        return True


def _with_stored(part: Part, stored: Part | None) -> Part:
    """A card as it is now, with the arguments that are stored where no event has told them."""
    if not isinstance(part, ToolPart) or not isinstance(stored, ToolPart) or part.arguments != pretty({}):
        return part
    return replace(part, arguments=stored.arguments, summary=stored.summary, code=part.code or stored.code)


def _without_writing(parts: Mapping[str, Part], message_id: str) -> dict[str, Part]:
    """What the model wrote of calls is now the calls themselves."""
    return {part_id: part for part_id, part in parts.items() if not part_id.startswith(f"{message_id}:writing:")}


def _said_anew(
    parts: Mapping[str, Part],
    chunks: Mapping[str, list[str]],
    message_id: str,
    said: Sequence[TextBlock | ReasoningBlock],
) -> tuple[dict[str, Part], dict[str, list[str]]]:
    """The texts of a message are others than those that arrived."""
    own = (f"{message_id}:text", f"{message_id}:reasoning")
    left = {part_id: part for part_id, part in parts.items() if part_id not in own}
    texts = {part_id: pieces for part_id, pieces in chunks.items() if part_id not in own}
    for block in said:
        part_id = f"{message_id}:{block.kind}"
        left[part_id] = TextPart(part_id, "") if isinstance(block, TextBlock) else ReasoningPart(part_id, "")
        texts.setdefault(part_id, []).append(block.text)
    return left, texts


def _finished(part: ToolPart, event: ToolCallFinished, asked: Mapping[str, Any] | None) -> ToolPart:
    """The card of a call that is over; ``asked`` are the arguments that the model wrote."""
    facts = dict(event.facts)
    if asked is not None:
        part = with_arguments(part, arguments_of(asked, facts))
    state = call_state(event.state)
    return replace(
        part,
        state=state,
        result=event.text,
        request=None,
        elapsed_ms=event.elapsed_ms,
        category=str(facts.get("category") or part.category),
        facts=card_facts(facts, is_error=event.is_error),
        detail=decision_words(facts, asked) or part.detail,
        at_edge=facts.get("by") == "edge",
        undoable=unasked_changes(facts),
        nested=nested_calls(facts) or part.nested,
        code=ran(part.code, event.text, is_error=event.is_error) if part.code else None,
        child=child_of(facts),
        media=media_parts(part.part_id, event.media),
        progress=None,
        links=links_of(facts),
        embedded=embedded_of(facts),
        table=table_of(event.text),
        task=task_words(facts),
        outside=names_in(facts),
        note=note_in(facts),
    )
