"""A debate as a file: turns with number, side and model, calls folded in, why it ended, the verdict.

Markdown that nothing in it can leave, HTML in which everything is escaped and nothing loads, JSON with everything.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from desktop.domain.debates import JudgeVerdict, TurnRecord
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import NoticeBlock, ReasoningBlock, TextBlock, ToolCallBlock, Usage
from desktop.domain.text.markup import escape
from desktop.domain.threads import MessageRecord
from desktop.services.debates.setup import label_of, to_plain
from desktop.services.debates.state import Debate, verdict_to_plain
from desktop.services.threads.export import block_text, message_plain
from desktop.services.threads.export_html import block_html, page
from desktop.services.threads.export_markdown import contained
from desktop.services.threads.export_markdown import plain_line as _line

FORMAT = 1
Form = Literal["md", "html", "json"]


_SAID: Mapping[type, Callable[[Any], str]] = {
    ReasoningBlock: lambda block: block.text,
    NoticeBlock: lambda block: f"{block.text} {block.next_step}",
}
"""Blocks that are words; the others are code in fences, which they cannot leave."""


@dataclass(frozen=True, slots=True)
class ExportedTurn:
    """A turn with its messages, or what a person said (``turn`` None)."""

    turn: TurnRecord | None
    messages: tuple[MessageRecord, ...]


def render_debate(debate: Debate, messages: Sequence[MessageRecord], form: Form) -> str:
    """The text of the file; ``messages`` is the path."""
    parts = list(parts_of(messages, debate.turns))
    if form == "json":
        return _json(debate, parts)
    return _markdown(debate, parts) if form == "md" else _html(debate, parts)


def parts_of(messages: Sequence[MessageRecord], turns: Sequence[TurnRecord]) -> Iterator[ExportedTurn]:
    """The path in pieces, in order; what belongs to no finished turn is left out, unless a person said it."""
    begins = {turn.first_message_id: turn for turn in turns}
    current: TurnRecord | None = None
    own: list[MessageRecord] = []
    for message in messages:
        current = begins.get(message.message_id, current)
        if current is None:
            if message.role == "user":
                yield ExportedTurn(None, (message,))
            continue
        own.append(message)
        if message.message_id == current.last_message_id:
            yield ExportedTurn(current, tuple(own))
            current, own = None, []


def heading(debate: Debate, turn: TurnRecord) -> str:
    """``Turn 3 · For (side A) · demo/demo``."""
    label = label_of(debate.setup, turn.side)
    return f"Turn {turn.number} · {label} (side {turn.side.upper()}) · {turn.model or 'no model'}"


def ending_words(debate: Debate) -> str:
    """The debate's status and why it ended, in words."""
    reason = f": {debate.end_reason}" if debate.end_reason else ""
    return f"{debate.status.capitalize()}{reason}. {debate.end_detail}".strip()


# -- Markdown ---------------------------------------------------------------------------------------------------------


def _markdown(debate: Debate, parts: Sequence[ExportedTurn]) -> str:
    told = [f"# {_line(debate.thread.title or 'Debate')}", f"*{_moment(debate.thread.created_at)}*"]
    for number, part in enumerate(parts):
        if part.turn is None:
            told.append("## Topic" if number == 0 else "## Moderator")
        else:
            told.append(f"## {_line(heading(debate, part.turn))}")
        told += [text for message in part.messages for block in message.blocks if (text := _folded_md(block))]
        if part.turn is not None:
            told += [f"*{_line(_figures(part.turn))}*"]
            told += [piece for text in _outcome(part) for piece in ("**Outcome:**", contained(text))]
    told += ["## End", _line(ending_words(debate))]
    if debate.verdict is not None:
        told += _verdict_md(debate, debate.verdict)
    return "\n\n".join(told) + "\n"


def _folded_md(block: Any) -> str:
    if isinstance(block, TextBlock):
        return contained(block.text)
    said = _SAID.get(type(block))
    text = contained(said(block)) if said is not None else block_text(block)
    if not text:
        return ""
    kind = f"Calls {block.tool}" if isinstance(block, ToolCallBlock) else getattr(block, "kind", "").replace("_", " ")
    return f"<details><summary>{escape(_line(kind))}</summary>\n\n{text}\n\n</details>"


def _outcome(part: ExportedTurn) -> list[str]:
    """What the other side read, where that is no text of the turn."""
    turn = part.turn
    if turn is None or not turn.outcome or any(message.text == turn.outcome for message in part.messages):
        return []
    return [turn.outcome.strip()]


def _verdict_md(debate: Debate, verdict: JudgeVerdict) -> list[str]:
    told = ["## Verdict", f"**Winner:** {_line(_winner(debate, verdict))}", contained(verdict.summary)]
    for side, text in sorted(verdict.reasons.items()):
        told += [f"**{_line(side.upper())}:**", contained(text)]
    marks = sorted({name for given in verdict.scores.values() for name in given})
    rows = [
        f"| {_line(name)} | {verdict.scores.get('a', {}).get(name, '')} | {verdict.scores.get('b', {}).get(name, '')} |"
        for name in marks
    ]
    return [*told, "\n".join(["| | A | B |", "|---|---|---|", *rows])] if rows else told


# -- HTML -------------------------------------------------------------------------------------------------------------


def _html(debate: Debate, parts: Sequence[ExportedTurn]) -> str:
    body = [f'<p class="quiet">{_moment(debate.thread.created_at)}</p>']
    for number, part in enumerate(parts):
        if part.turn is None:
            body.append("<h2>Topic</h2>" if number == 0 else "<h2>Moderator</h2>")
        else:
            body.append(f"<h2>{escape(heading(debate, part.turn))}</h2>")
        body += [block_html(block) for message in part.messages for block in message.blocks]
        if part.turn is not None:
            body += [f"<p>Outcome: {escape(text)}</p>" for text in _outcome(part)]
            body.append(f'<p class="quiet">{escape(_figures(part.turn))}</p>')
    body += ["<h2>End</h2>", f"<p>{escape(ending_words(debate))}</p>"]
    if debate.verdict is not None:
        body += _verdict_html(debate, debate.verdict)
    return page(debate.thread.title or "Debate", body)


def _verdict_html(debate: Debate, verdict: JudgeVerdict) -> list[str]:
    winner = escape(_winner(debate, verdict))
    body = ["<h2>Verdict</h2>", f"<p>Winner: {winner}</p>", f"<p>{escape(verdict.summary)}</p>"]
    body += [f"<p>{escape(side.upper())}: {escape(text)}</p>" for side, text in sorted(verdict.reasons.items())]
    marks = sorted({name for given in verdict.scores.values() for name in given})
    rows = "".join(
        f"<tr><td>{escape(name)}</td>"
        + "".join(f"<td>{verdict.scores.get(side, {}).get(name, '')}</td>" for side in ("a", "b"))
        + "</tr>"
        for name in marks
    )
    return [*body, f"<table><tr><th></th><th>A</th><th>B</th></tr>{rows}</table>"] if rows else body


# -- JSON -------------------------------------------------------------------------------------------------------------


def _json(debate: Debate, parts: Sequence[ExportedTurn]) -> str:
    data = {
        "format": FORMAT,
        "debate": {
            "id": debate.thread.thread_id,
            "title": debate.thread.title,
            "created_at": debate.thread.created_at,
            "status": debate.status,
            "end_reason": debate.end_reason,
            "end_detail": debate.end_detail,
            "forked_from": debate.forked_from,
            "forked_at": debate.forked_at,
            "setup": to_plain(debate.setup),
            "verdict": verdict_to_plain(debate.verdict) if debate.verdict is not None else None,
        },
        "parts": [_part(debate, part) for part in parts],
    }
    return json.dumps(data, ensure_ascii=False, indent=2, default=str) + "\n"


def _part(debate: Debate, part: ExportedTurn) -> dict[str, Any]:
    messages = [message_plain(message) for message in part.messages]
    if part.turn is None:
        return {"by": "human", "messages": messages}
    turn = {name: value for name, value in asdict(part.turn).items() if name != "thread_id"}
    return {"by": part.turn.side, "label": label_of(debate.setup, part.turn.side), "turn": turn, "messages": messages}


# -- words ------------------------------------------------------------------------------------------------------------


def _winner(debate: Debate, verdict: JudgeVerdict) -> str:
    if verdict.winner == "draw":
        return "a draw"
    return f"{label_of(debate.setup, verdict.winner)} (side {verdict.winner.upper()})"


def _figures(turn: TurnRecord) -> str:
    rounds = "1 round" if turn.rounds == 1 else f"{turn.rounds} rounds"
    return f"{rounds}, {turn.calls} tool calls, {_tokens(turn.usage)}, ended by {turn.ended_by.replace('_', ' ')}"


def _tokens(usage: Usage) -> str:
    cost = "cost unknown" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    return f"{usage.input_tokens + usage.output_tokens} tokens, {cost}"


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
