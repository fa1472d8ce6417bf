"""From stored messages to what the transcript draws. Pure functions, so they run in any thread.

One item spans everything an agent said and did between two messages of a person: text, thinking, tool calls with
their results, notices. ``build_items`` is linear in the number of messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.approval.permission import NOBODY_ANSWERED, UNANSWERED
from desktop.domain.messages import (
    Block,
    DocumentBlock,
    FileBlock,
    GivenBlock,
    ImageBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ThinkingFacts,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    Usage,
    thinking_facts,
    with_media,
)
from desktop.domain.text.outside import names_in, note_in
from desktop.domain.text.words import arguments_words, count_words, json_beginning, size_of, size_words
from desktop.domain.threads import MessageRecord, ThreadEnd
from desktop.presenter.common.outcomes import DECIDED_BY, DECISIONS, EDGES_NAMED, past_edge_words
from desktop.presenter.common.words import clock, footer_of
from desktop.presenter.transcript.by_itself import confined_fact, in_own_words
from desktop.presenter.transcript.code_calls import code_of, ran, summary_of
from desktop.presenter.transcript.document_parts import document_part, pages_of, pages_part
from desktop.presenter.transcript.folding import fold_calls
from desktop.presenter.transcript.items import (
    AttachmentPart,
    CallState,
    GivenPart,
    NoticeAction,
    NoticePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    TranscriptItem,
    call_state,
)
from desktop.presenter.transcript.media_parts import image_part, media_parts
from desktop.presenter.transcript.nested_calls import nested_calls
from desktop.presenter.transcript.rich import embedded_of, links_of, table_of, task_words

SUMMARY_LIMIT = 400
"""Longest one-line summary of arguments handed to the view, in characters; the view elides further."""

ARGUMENTS_LIMIT = 64_000
"""Longest pretty-printed arguments handed to a card, in characters."""

CALLS_SHOWN = 200
"""Cards of one message. Of more calls only the first are ever made; their number is said, and all are stored."""

Siblings = Mapping[str, tuple[int, int]]
"""message id -> (1-based place, how many) among the children of its parent; absent means (1, 1)."""


def summarise(arguments: Mapping[str, Any] | None, raw: str = "") -> str:
    """A call's arguments in brief: the path or command if it has one, else compact JSON.

    Nothing is left out but the end: what it shows is escaped by the view, where a person agrees to it (R-PRM-2).
    """
    text = raw if arguments is None else arguments_words(arguments, SUMMARY_LIMIT)
    return text[:SUMMARY_LIMIT].strip(" ")


def canonical(tool: str) -> str:
    """A tool's own name: models call it by its snake_case alias (C-3)."""
    return tool.replace("_", "-")


def pretty(arguments: Mapping[str, Any] | None, raw: str = "") -> str:
    """Arguments as indented JSON, or exactly what the model sent where that was not JSON."""
    text = raw if arguments is None else json_beginning(dict(arguments), ARGUMENTS_LIMIT + 1, indent=2)
    return text if len(text) <= ARGUMENTS_LIMIT else text[:ARGUMENTS_LIMIT] + "\n…"


def tool_part(
    message_id: str, call: ToolCallBlock, result: ToolResultBlock | None, begun: frozenset[str] | None = None
) -> ToolPart:
    """The card of one call. Of one without a result, whose run was cut off, nobody knows what came of it, unless it is
    not among those that had ``begun``."""
    facts = dict(result.facts) if result else {}
    state: CallState = "unknown" if begun is None or call.call_id in begun else "aborted"
    if result is not None:
        state = _state_of(result, facts)
    arguments = arguments_of(call.arguments, facts)
    code = code_of(canonical(call.tool), arguments)
    made = ToolPart(
        part_id=f"{message_id}:{call.call_id}",
        call_id=call.call_id,
        tool=canonical(call.tool),
        summary=summary_of(code, summarise(arguments, call.raw)),
        category=str(facts.get("category") or ""),
        state=state,
        arguments=pretty(arguments, call.raw),
        result=result.text if result else "",
        facts=result_facts(result),
        elapsed_ms=_whole(facts.get("elapsed_ms")),
        detail=decision_words(facts, call.arguments),
        at_edge=facts.get("by") == "edge",
        undoable=unasked_changes(facts),
        nested=nested_calls(facts),
        code=ran(code, result.text, is_error=result.is_error) if code and result else code,
        child=child_of(facts),
        media=media_parts(f"{message_id}:{call.call_id}", result.media) if result else (),
        links=links_of(facts),
        embedded=embedded_of(facts),
        table=table_of(result.text) if result else "",
        task=task_words(facts),
        outside=names_in(facts),
        note=note_in(facts),
    )
    return in_own_words(made, arguments)


def child_of(facts: Mapping[str, Any]) -> str:
    """The thread that a called agent worked in, by what its tool reported (R-AAT-2)."""
    thread_id = facts.get("thread_id") if "agent" in facts else None
    return thread_id if isinstance(thread_id, str) and thread_id.isalnum() else ""


def with_arguments(part: ToolPart, arguments: Mapping[str, Any] | None) -> ToolPart:
    """The card with the arguments as they are now."""
    code = code_of(part.tool, arguments)
    made = replace(part, summary=summary_of(code, summarise(arguments)), arguments=pretty(arguments), code=code)
    return in_own_words(made, arguments)


def arguments_of(asked: Mapping[str, Any] | None, facts: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The arguments of the call as it was decided about: what the model asked for, with what a person changed."""
    changes = facts.get("edited")
    return {**(asked or {}), **changes} if isinstance(changes, Mapping) else asked


NOT_AGAIN = "Skipped; nobody knows whether it was done"


def decision_words(facts: Mapping[str, Any], asked: Mapping[str, Any] | None) -> str:
    """A sentence on who decided about a call, and what the model had asked for where a person changed it (R-PRM-13)."""
    decision, by = str(facts.get("decision") or ""), str(facts.get("by") or "")
    if facts.get("category") == "read" and by == "setting":
        return ""  # reading needs no decision
    decision = UNANSWERED if decision == "deny" and by in NOBODY_ANSWERED else decision
    decided = DECISIONS[decision].card if decision in DECISIONS else ""
    who = DECIDED_BY[by].card if by in DECIDED_BY else ""
    words = f"{NOT_AGAIN if facts.get('state') == 'unknown' else decided}{who}." if decided else ""
    if words and facts.get("reason"):
        words += f"\nReason: {facts['reason']}"
    if words and (past := past_edge_of(facts)):
        words += f"\nPast the edge: {past_edge_words(past)}."
    changes = facts.get("edited")
    if isinstance(changes, Mapping) and asked is not None:
        was = {name: asked[name] for name in changes if name in asked}
        words = f"Edited by you. {words}\nThe model had asked for:\n{pretty(was)}".strip()
    return words


def past_edge_of(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(kind, words) of what a call went past, so that it asked."""
    found = facts.get("past_edge")
    rows = [row for row in found if isinstance(row, list | tuple) and len(row) == 2] if isinstance(found, list) else []
    return [(str(kind), str(words)) for kind, words in rows[:EDGES_NAMED]]


def unasked_changes(facts: Mapping[str, Any]) -> bool:
    """Whether a call changed files without a question, at the edge of its folder, so that its card has the way back."""
    return facts.get("by") == "edge" and facts.get("state") in ("done", "failed") and facts.get("changes") != 0


def _state_of(result: ToolResultBlock, facts: Mapping[str, Any]) -> CallState:
    return call_state(facts.get("state"), "failed" if result.is_error else "done")


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def result_facts(result: ToolResultBlock | None) -> tuple[str, ...]:
    """What a folded card says beside its state."""
    return card_facts(result.facts, is_error=result.is_error) if result is not None else ()


def card_facts(facts: Mapping[str, Any], *, is_error: bool) -> tuple[str, ...]:
    """The facts on a card: that a person edited the call, and the size of the result."""
    size = _whole(facts.get("bytes"))
    if confined := confined_fact(facts):
        return confined
    edited = ("edited by you",) if facts.get("edited") else ()
    changes = _whole(facts.get("changes"))
    if changes and not edited:
        return (count_words(changes, "change"),)
    return (*edited, size_words(size)) if size and not is_error else edited


_ACTIONS: dict[str, tuple[NoticeAction, ...]] = {
    "model.key_refused": (NoticeAction("Open the key", "open-models"), NoticeAction("Try again", "retry")),
    "model.unknown": (NoticeAction("Choose a model", "choose-model"),),
    "model.context_too_long": (NoticeAction("New chat", "new-chat"), NoticeAction("Choose a model", "choose-model")),
    "interrupted": (NoticeAction("Continue", "continue"),),
    "stopped": (NoticeAction("Continue", "continue"),),
    "model.stream_cut": (NoticeAction("Continue", "continue"),),
    "limit.rounds": (NoticeAction("Continue", "continue"),),
}


_AT_THE_END = frozenset({"continue", "retry"})
"""What can be done about the end of a conversation only."""


def notice_actions(code: str, severity: str) -> tuple[NoticeAction, ...]:
    """Buttons that fit a notice: the key for a wrong key, another try for what can be tried again."""
    if code in _ACTIONS:
        return _ACTIONS[code]
    return (NoticeAction("Try again", "retry"),) if severity == "error" or code.startswith("model.") else ()


def notice_part(part_id: str, block: NoticeBlock, *, retry_at: float | None = None) -> NoticePart:
    """A notice in words with its next step."""
    text = f"{block.text} {block.next_step}".strip()
    return NoticePart(part_id, text, block.severity, notice_actions(block.code, block.severity), retry_at)


def simple_part(message_id: str, index: int, block: Block) -> Part | None:
    """Text, attachments and notices; tool blocks are handled with their results, thinking with what is known of it."""
    part_id = f"{message_id}:{index}"
    if isinstance(block, TextBlock):
        return TextPart(part_id, block.text) if block.text else None
    if isinstance(block, GivenBlock):
        return GivenPart(part_id, given_title(block), given_facts(block), block.text)
    if isinstance(block, DocumentBlock):
        return document_part(part_id, block)
    if isinstance(block, FileBlock):
        return AttachmentPart(part_id, block.name, size_words(size_of(block.text)))
    if isinstance(block, ImageBlock):
        image = image_part(part_id, block)
        return AttachmentPart(part_id, block.name or "image", image.facts, image=image)
    if isinstance(block, NoticeBlock):
        return notice_part(part_id, block)
    if isinstance(block, UnknownBlock):
        return NoticePart(part_id, "This part was written by another version of Assent and cannot be shown.")
    return None


def given_title(block: GivenBlock) -> str:
    """``tide-archive: Quay 3, levels of March``."""
    return f"{block.server}: {block.name or block.uri or block.prompt}"


def given_facts(block: GivenBlock) -> str:
    """What it is, how much, and as of when: ``its words, 4 KB, read 14:02``."""
    what = "prompt, in its words" if block.prompt else "resource"
    when = f"read {clock(block.at)}" if block.at else "read when it is sent"
    return ", ".join((what, size_words(size_of(block.text)), when) if block.at else (what, when))


def results_by_call(messages: Iterable[MessageRecord]) -> dict[str, ToolResultBlock]:
    """call id -> its result, over a stretch of a thread."""
    found: dict[str, ToolResultBlock] = {}
    for message in messages:
        if message.role == "tool":
            found.update((block.call_id, block) for block in with_media(message.blocks))
    return found


def parts_of(
    message: MessageRecord, results: Mapping[str, ToolResultBlock], begun: frozenset[str] | None = None
) -> list[Part]:
    """All parts of one stored message, in the order in which they came. ``begun``: as for ``tool_part``."""
    parts: list[Part] = []
    calls = 0
    pages = pages_of(message.blocks)
    for index, block in enumerate(message.blocks):
        if index in pages:
            if names := pages[index]:
                parts.append(pages_part(f"{message.message_id}:{index}", names))
        elif isinstance(block, ReasoningBlock):
            _think(parts, f"{message.message_id}:{index}", block)
        elif isinstance(block, ToolCallBlock):
            calls += 1
            if calls <= CALLS_SHOWN:
                parts.append(tool_part(message.message_id, block, results.get(block.call_id), begun=begun))
        elif (part := simple_part(message.message_id, index, block)) is not None:
            parts.append(part)
    if calls > CALLS_SHOWN:
        parts.append(more_calls(message.message_id, calls))
    return with_thinking(parts, thinking_facts(message.blocks, message.usage))


def _think(parts: list[Part], part_id: str, block: ReasoningBlock) -> None:
    """Thinking that follows on thinking is one part with it."""
    last = parts[-1] if parts else None
    if isinstance(last, ReasoningPart):
        parts[-1] = replace(last, text="\n\n".join(filter(None, (last.text, block.text))))
    else:
        parts.append(ReasoningPart(part_id, block.text))


def with_thinking(parts: Sequence[Part], facts: ThinkingFacts | None) -> list[Part]:
    """The parts of one message, the first of its thinking with what is known of all of it. What the model does not show
    has one line, and only where it shows nothing."""
    shown = any(isinstance(part, ReasoningPart) and part.text for part in parts)
    made: list[Part] = []
    told = False
    for part in parts:
        if isinstance(part, ReasoningPart):
            if not part.text and (shown or told):
                continue
            part, told = part if told else replace(part, facts=facts), True
        made.append(part)
    return made


def more_calls(message_id: str, calls: int) -> NoticePart:
    """The notice in place of the calls that have no card: more than are shown were refused."""
    words = f"{calls - CALLS_SHOWN:,} more calls of this message are not shown. They were refused, not made."
    return NoticePart(f"{message_id}:more", words, "warning")


def _answer(
    group: Sequence[MessageRecord],
    siblings: Siblings,
    titles: Mapping[str, str],
    *,
    final: bool,
    left: ThreadEnd | None,
) -> TranscriptItem:
    first = group[0]
    begun = left.begun if left is not None and final else None
    results = results_by_call(group)
    parts: list[Part] = []
    usage: Usage | None = None
    elapsed = 0
    said = [message for message in group if message.role != "tool"]
    for message in said:
        found = parts_of(message, results, begun)
        parts.extend(found if final and message is said[-1] else map(_passed, found))
        elapsed += message.elapsed_ms
        if message.usage is not None:
            usage = message.usage if usage is None else usage.plus(message.usage)
    place, count = siblings.get(first.message_id, (1, 1))
    last = group[-1]
    # A call's result with nothing after it, or a call without one: the run ended before the model could go on.
    open_calls = any(isinstance(block, ToolCallBlock) and block.call_id not in results for block in last.blocks)
    cut = last.status == "interrupted" or (final and (last.role == "tool" or open_calls))
    by_person = cut and final and left is not None and left.stopped
    stopped = (by_person or last.stop_reason == "aborted") and last.status == "complete"
    if cut or stopped:
        notice = notice_part(f"{last.message_id}:cut", STOPPED if stopped else INTERRUPTED)
        parts.append(notice if final else _passed(notice))
    return TranscriptItem(
        message_id=first.message_id,
        side="b" if first.side == "b" else "a",
        author=titles.get(first.author, first.author) or "Assistant",
        time=clock(first.created_at),
        parts=tuple(fold_calls(parts)),
        sibling=place,
        siblings=count,
        footer=footer_of(usage, elapsed, last.model or first.model),
        usage=usage,
        elapsed_ms=elapsed,
        can_continue=(cut or stopped) and final,
    )


def passed_by(item: TranscriptItem) -> TranscriptItem:
    """The item once the conversation has gone on below it: there is nothing to go on with any more."""
    return replace(item, parts=tuple(map(_passed, item.parts)), can_continue=False)


def continued(item: TranscriptItem) -> TranscriptItem:
    """The item once it is gone on with in a message of its own: nothing is cut off any more."""
    ends = [part for part in item.parts if isinstance(part, NoticePart) and _goes_on(part)]
    return replace(item, parts=tuple(part for part in item.parts if part not in ends), can_continue=False)


def _goes_on(notice: NoticePart) -> bool:
    return any(action.action == "continue" for action in notice.actions)


def _passed(part: Part) -> Part:
    if not isinstance(part, NoticePart) or not part.actions:
        return part
    return replace(part, actions=tuple(one for one in part.actions if one.action not in _AT_THE_END))


STOPPED = NoticeBlock("This answer was stopped. Everything that had arrived is kept.", code="stopped")
INTERRUPTED = NoticeBlock(
    "This answer was interrupted. Everything that had arrived is kept.", code="interrupted", severity="warning"
)

NOT_ANSWERED = NoticeBlock("Assent ended before this was answered.", code="interrupted", severity="warning")


def _question(message: MessageRecord, siblings: Siblings) -> TranscriptItem:
    place, count = siblings.get(message.message_id, (1, 1))
    return TranscriptItem(
        message_id=message.message_id,
        side="human",
        author="You",
        time=clock(message.created_at),
        parts=tuple(parts_of(message, {})),
        sibling=place,
        siblings=count,
    )


def build_items(
    messages: Sequence[MessageRecord],
    siblings: Siblings | None = None,
    titles: Mapping[str, str] | None = None,
    *,
    at_end: bool = True,
    left: ThreadEnd | None = None,
) -> list[TranscriptItem]:
    """Items for a stretch of a thread's active path. ``titles`` maps an agent's name to what a person reads.

    ``at_end``: the stretch is the path's end, so that a run that was cut there can be gone on with; ``left`` is what
    the last run has left there, None where that is not known.
    """
    known = siblings or {}
    items: list[TranscriptItem] = []
    group: list[MessageRecord] = []

    def close(*, final: bool = False) -> None:
        if group:
            items.append(_answer(group, known, titles or {}, final=final, left=left))
            group.clear()

    for message in messages:
        if message.role == "user":
            close()
            items.append(_question(message, known))
        elif message.role in ("assistant", "tool"):
            if group and message.role == "assistant" and message.side != group[0].side:
                close()
            group.append(message)
    close(final=at_end)
    if at_end and left is not None and left.unanswered and items and items[-1].side == "human":
        asked = items[-1]
        items[-1] = replace(asked, parts=(*asked.parts, notice_part(f"{asked.message_id}:cut", NOT_ANSWERED)))
    return items
