"""What the debate page draws of a debate: its turns, what was said to both sides, its end and its verdict. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from desktop.domain.debates import DebateState, JudgeVerdict, TurnRecord
from desktop.domain.definitions import SideName
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, ChatMessage, NoticeBlock, Usage, to_plain
from desktop.domain.threads import MessageRecord
from desktop.presenter.common.words import clock, footer_of
from desktop.presenter.debates.words import end_words, label_of, seconds_words
from desktop.presenter.transcript.build import parts_of, results_by_call
from desktop.presenter.transcript.items import (
    CallsPart,
    NoticeAction,
    NoticePart,
    Part,
    PlainPart,
    TextPart,
    ToolPart,
    TranscriptItem,
)

FINISHED = ("done", "failed", "denied", "aborted", "unknown")
END, VERDICT, COMMON = "debate:end", "debate:verdict", "debate:common"
"""Ids of items that are no messages."""
AGAIN = "Resume begins the turn anew."
CUT = "Assent ended here. Resume goes on."
CUT_ANSWER = "Assent ended in the middle of this answer. Resume asks for it anew."
"""What can be done about an answer that broke off; a chat's answer would be continued."""
BROKEN = "This turn broke off. What had arrived is kept here; no side reads it."


@dataclass(frozen=True, slots=True)
class TurnItem(TranscriptItem):
    """One turn of a side. ``number`` counts from 1 over both sides; ``started_at`` is in seconds since the epoch, for
    its clock."""

    number: int = 0
    started_at: float = 0.0


def fold_turn(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Finished calls in a row become one line; a call that runs or waits for a person stays a card."""
    folded: list[Part] = []
    row: list[ToolPart] = []

    def close() -> None:
        if row:
            folded.append(CallsPart(f"{row[0].part_id}:calls", tuple(row)))
            row.clear()

    for part in parts:
        if isinstance(part, ToolPart) and part.state in FINISHED:
            row.append(part)
        else:
            close()
            folded.append(part)
    close()
    return tuple(folded)


def head_words(number: int, rounds: int, seconds: float | None, limit: int = 0) -> str:
    """``turn 3, 3 rounds, 14.7 s``; of a turn under way ``turn 4, round 2 of 6``."""
    if seconds is None:
        return f"turn {number}" + (f", round {rounds}" + (f" of {limit}" if limit else "") if rounds else "")
    return f"turn {number}, {rounds} round{'s' * (rounds != 1)}, {seconds_words(seconds)}"


def turn_item(record: TurnRecord, label: str, messages: Sequence[MessageRecord]) -> TurnItem:
    """A finished turn as it was stored."""
    results = results_by_call(messages)
    parts: list[Part] = []
    for message in messages:
        if message.role == "assistant":
            parts.extend(parts_of(message, results))
    if not parts:
        parts.append(NoticePart(f"{record.first_message_id}:none", record.outcome or "Nothing was said.", "info"))
    elapsed = record.ended_at - record.started_at
    return TurnItem(
        record.first_message_id,
        record.side,
        label,
        head_words(record.number, record.rounds, elapsed),
        fold_turn(parts),
        footer=footer_of(record.usage, 0, record.model),
        number=record.number,
        started_at=record.started_at,
        accessible=f"{label}, turn {record.number}",
    )


def broken_item(messages: Sequence[MessageRecord], labels: Mapping[SideName, str], number: int) -> TurnItem:
    """A turn that broke off: what had arrived is kept, and no side reads it."""
    first = messages[0]
    side: SideName = "b" if first.side == "b" else "a"
    results = results_by_call(messages)
    parts: list[Part] = [part for m in messages if m.role == "assistant" for part in parts_of(_here(m), results)]
    parts.append(NoticePart(f"{first.message_id}:cut", BROKEN, "warning"))
    return TurnItem(
        first.message_id,
        side,
        labels[side],
        f"turn {number}, broken off",
        fold_turn(parts),
        number=number,
        started_at=first.created_at,
        accessible=f"{labels[side]}, turn {number}, broken off",
    )


def interrupted_item(messages: Sequence[MessageRecord], labels: Mapping[SideName, str], number: int) -> TurnItem:
    """The turn that the end of the app cut off, with what Resume does about it."""
    item, last = broken_item(messages, labels, number), messages[-1]
    words = CUT_ANSWER if last.role == "assistant" and last.status == "interrupted" else CUT
    notice = NoticePart(f"{item.message_id}:cut", words, "warning")
    where = f"turn {number}, interrupted"
    return replace(item, time=where, parts=(*item.parts[:-1], notice), accessible=f"{item.author}, {where}")


def resumed_item(item: TurnItem, messages: Sequence[MessageRecord]) -> TurnItem:
    """The same once the turn goes on: what stands of it is a part of that, and what does not broke off."""
    stands = any(message.status != "interrupted" for message in messages if message.role == "assistant")
    notices = () if stands else (NoticePart(f"{item.message_id}:cut", BROKEN, "warning"),)
    where = f"turn {item.number}" + ("" if stands else ", broken off")
    return replace(item, time=where, parts=(*item.parts[:-1], *notices), accessible=f"{item.author}, {where}")


def _here(message: MessageRecord) -> MessageRecord:
    blocks = (replace(b, next_step=AGAIN) if _cut_off(b) else b for b in message.blocks)
    return replace(message, blocks=tuple(blocks))


def _cut_off(block: Block) -> TypeGuard[NoticeBlock]:
    return isinstance(block, NoticeBlock) and block.code == "model.stream_cut"


def message_item(message: MessageRecord, *, topic: bool) -> TranscriptItem:
    """The topic, or what the moderator said: both sides read it."""
    author = "Topic" if topic else "Moderator"
    return TranscriptItem(message.message_id, "human", author, clock(message.created_at), tuple(parts_of(message, {})))


def debate_items(
    messages: Sequence[MessageRecord], turns: Sequence[TurnRecord], labels: Mapping[SideName, str], *, first: bool
) -> list[TranscriptItem]:
    """Items for a stretch of a debate's path; ``first``: it begins with the topic."""
    by_first = {turn.first_message_id: turn for turn in turns}
    items: list[TranscriptItem] = []
    group: list[MessageRecord] = []

    def close() -> None:
        record = by_first.get(group[0].message_id) if group else None
        if record is not None:
            items.append(turn_item(record, labels[record.side], group))
        elif group and any(message.role == "assistant" for message in group):
            items.append(broken_item(group, labels, len(turns) + 1))
        group.clear()

    for message in messages:
        if message.role == "user":
            close()
            items.append(message_item(message, topic=first and not items))
        else:
            if message.message_id in by_first:
                close()
            group.append(message)
    close()
    return items


def owners(messages: Sequence[MessageRecord], turns: Sequence[TurnRecord]) -> dict[str, str]:
    """message id -> id of the item that shows it: a turn has the id of its first message."""
    begins = {turn.first_message_id for turn in turns}
    found: dict[str, str] = {}
    turn = ""
    for message in messages:
        key = message.message_id
        if message.role == "user":
            found[key], turn = key, ""
        else:
            turn = found[key] = key if key in begins or not turn else turn
    return found


def live_item(item: TranscriptItem, number: int, rounds: int, limit: int, started_at: float) -> TurnItem:
    """The turn under way; ``item`` is its answer so far."""
    return TurnItem(
        item.message_id,
        item.side,
        item.author,
        head_words(number, rounds, None, limit),
        fold_turn(item.parts),
        live=True,
        number=number,
        started_at=started_at,
        accessible=f"{item.author}, turn {number}",
    )


def ended_item(item: TurnItem, record: TurnRecord) -> TurnItem:
    """The turn that was under way and is stored now."""
    words = head_words(record.number, record.rounds, record.ended_at - record.started_at)
    return replace(item, time=words, live=False, footer=footer_of(record.usage, 0, record.model))


def end_item(state: DebateState) -> TranscriptItem:
    """Why it ended, and what can be done now."""
    actions = [NoticeAction("Ask a judge", "judge"), NoticeAction("Fork…", "fork")]
    if state.end_reason == "max_session_turns":
        actions.insert(0, NoticeAction("Continue with more turns", "more-turns"))
    elif state.end_reason == "budget":
        actions.insert(0, NoticeAction("Continue with twice as much", "more-turns"))
    elif state.status == "paused" or state.end_reason == "cancelled":
        actions.insert(0, NoticeAction("Resume", "continue"))
    severity = "error" if state.end_reason == "error" else "info"
    word = "The end" if state.status == "ended" else "Paused"
    part = NoticePart("end", end_words(state), severity, tuple(actions))  # type: ignore[arg-type]
    return TranscriptItem(END, "human", word, f"after {state.turn} turn{'s' * (state.turn != 1)}", (part,))


def verdict_item(state: DebateState, verdict: JudgeVerdict) -> TranscriptItem:
    """The judge's verdict as a card: winner, summary, reasons, scores."""
    a, b = label_of(state.setup.a, "a"), label_of(state.setup.b, "b")
    names = {"a": a, "b": b, "draw": "Draw"}
    lines = [f"### {'Winner: ' if verdict.winner != 'draw' else ''}{names[verdict.winner]}", "", verdict.summary]
    for side in ("a", "b"):
        if verdict.reasons.get(side):
            lines += ["", f"**{names[side]}.** {verdict.reasons[side]}"]
    criteria = list(dict.fromkeys(name for scores in verdict.scores.values() for name in scores))
    if criteria:
        lines += ["", f"| Criterion | {cell(a)} | {cell(b)} |", "|---|---:|---:|"]
        lines += [f"| {cell(name)} | {score(verdict, 'a', name)} | {score(verdict, 'b', name)} |" for name in criteria]
    model = f"{verdict.model.partition('/')[2] or verdict.model}, " if verdict.model else ""
    when = f"{model}after turn {verdict.after_turn}"
    return TranscriptItem(VERDICT, "human", "Judge", when, (TextPart("verdict", "\n".join(lines)),))


def cell(text: str) -> str:
    """Text that stays inside a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")[:80]


def score(verdict: JudgeVerdict, side: str, name: str) -> str:
    """A score, or a dash where the judge gave none."""
    value = verdict.scores.get(side, {}).get(name)
    return "–" if value is None else f"{value:g}"


def common_item(turns: int) -> TranscriptItem:
    """The item that stands for the turns two branches share."""
    words = "Only the topic is the same." if not turns else f"Turn{'s 1 to ' if turns > 1 else ' '}{turns}: the same."
    return TranscriptItem(COMMON, "human", "In common", "", (NoticePart("common", words),))


def message_text(message: ChatMessage) -> str:
    """A message exactly as a model gets it: its text, or its blocks as JSON where it is more than text."""
    kinds = {block.kind for block in message.blocks}
    if kinds <= {"text"}:
        return message.text
    return json.dumps([to_plain(block) for block in message.blocks], indent=2, ensure_ascii=False, default=str)


def seen_items(side: SideName, system: str, messages: Sequence[ChatMessage]) -> list[TranscriptItem]:
    """What a side is sent, message by message under its role, exactly: its own turns in its colour."""
    whole = [("system", system), *((message.role, message_text(message)) for message in messages)]
    items: list[TranscriptItem] = []
    for number, (role, text) in enumerate(whole):
        key = f"{side}:{number}"
        plain = PlainPart(f"{key}:text", text)
        parts: list[Part] = [plain]
        if len(text) > plain.maximum:
            more = f"{len(text) - plain.maximum:,} characters more: copy this message to have all of it."
            parts.append(NoticePart(f"{key}:more", more))
        place = f"{number} of {len(messages)}" if number else "before all messages"
        own = side if role == "assistant" else "human"
        items.append(TranscriptItem(key, own, role, place, tuple(parts)))
    return items


def total(usages: Sequence[Usage]) -> Usage:
    """The sum of several usages."""
    whole = Usage()
    for usage in usages:
        whole = whole.plus(usage)
    return whole
