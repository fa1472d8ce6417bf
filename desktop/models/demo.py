"""The demo model: a built-in script that plays a model, offline and deterministic, and says that it is not an AI.

What comes next follows only from the messages, so that regenerate, branch and restart work as with a real model.
In a chat it walks through a tour (Markdown, a read, a write that asks, a refusal at the boundary); with the prompt of a
template's side, or of a sample agent, it plays that role (``demo_roles``).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.models import Finished, ModelRequest, StreamItem, TextDelta, ToolCallProgress
from desktop.domain.runs.meta import RunMeta
from desktop.models import demo_texts as texts
from desktop.models.demo_roles import OVER, Role, role_of

PACE_S = 0.02  # seconds between words: about fifty a second, fast to read along and slow enough to see
_SAID_NO = "Permission denied by user"
"""How a result begins that tells of a person's own refusal."""
_GOES_ON = "Continue."
"""What is said to a model whose answer was cut off."""
_LIST, _READ, _WRITE = "list_directory", "read_file", "write_file"


@dataclass(frozen=True, slots=True)
class _Scene:
    """One scripted answer: text, and perhaps a tool call."""

    text: str
    tool: str = ""
    arguments: Mapping[str, Any] | None = None


class DemoModel:
    """Implements ``ModelClient``. ``pace_s`` is the pause between words in seconds; 0 plays at once."""

    def __init__(self, *, pace_s: float = PACE_S) -> None:
        self._pace = pace_s

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        scene = _scene(request)
        for word in _words(scene.text):
            meta.cancellation.check()
            yield TextDelta(word)
            await asyncio.sleep(self._pace)
        meta.cancellation.check()
        calls: tuple[ToolCallBlock, ...] = ()
        if scene.tool and any(tool.get("name") == scene.tool for tool in request.tools):
            yield ToolCallProgress(0, scene.tool, 0)
            calls = (ToolCallBlock(f"demo-{len(request.messages)}", scene.tool, dict(scene.arguments or {})),)
        # It costs nothing and counts no tokens, because there are none.
        yield Finished("tool_calls" if calls else "end", calls, Usage(cost_usd=0.0), "demo")


def _words(text: str) -> Iterator[str]:
    """The text in words with the space after them; joined they are the text."""
    return (match.group() for match in re.finditer(r"\s*\S+\s*?(?=\s|$)|\s+$", text))


def _scene(request: ModelRequest) -> _Scene:
    return _rest_of(request) or _begun(request)


def _rest_of(request: ModelRequest) -> _Scene | None:
    """What an answer that was cut off has left to say, where it is to go on; None: it is another message."""
    *before, cut, last = request.messages if len(request.messages) > 1 else (None, None)
    if cut is None or last is None or last.role != "user" or last.text != _GOES_ON or cut.role != "assistant":
        return None
    if cut.tool_calls or not cut.text:
        return None
    scene = _begun(replace(request, messages=tuple(one for one in before if one is not None)))
    rest = scene.text.removeprefix(cut.text)
    return replace(scene, text=rest) if rest and rest != scene.text else None


def _begun(request: ModelRequest) -> _Scene:
    role = role_of(request.system)
    if role is not None:
        return _played(role, request)
    tools = {str(tool.get("name")) for tool in request.tools}
    asked = _last_person(request.messages)
    results = [b for m in request.messages[asked + 1 :] for b in m.blocks if isinstance(b, ToolResultBlock)]
    words = request.messages[asked].text.lower() if asked >= 0 else ""
    first = not any(m.role == "assistant" for m in request.messages[: max(asked, 0)])
    return _chosen(words, first)(results, tools)


def _played(role: Role, request: ModelRequest) -> _Scene:
    """The step of the turn at hand: turns are told by what it has answered before, steps by the results since."""
    messages, last = request.messages, _last_person(request.messages)
    before = sum(1 for message in messages[: max(last, 0)] if _is_answer(message))
    if before >= len(role.turns) and not role.again:
        return _Scene(OVER)
    steps = role.turns[min(before, len(role.turns) - 1)]
    done = sum(1 for m in messages[last + 1 :] for block in m.blocks if isinstance(block, ToolResultBlock))
    step = steps[min(done, len(steps) - 1)]
    tools = {str(tool.get("name")) for tool in request.tools}
    while step.tool and step.tool not in tools and step is not steps[-1]:
        step = steps[steps.index(step) + 1]
    return _Scene(step.text, step.tool if step.tool in tools else "", step.arguments)


def _is_answer(message: ChatMessage) -> bool:
    """Whether a turn of its own ended with this."""
    return message.role == "assistant" and bool(message.text) and not message.tool_calls


def _last_person(messages: Sequence[ChatMessage]) -> int:
    """The index of the person's last message, or -1."""
    return max((number for number, message in enumerate(messages) if message.role == "user"), default=-1)


_Play = Callable[[Sequence[ToolResultBlock], set[str]], _Scene]


def _chosen(words: str, first: bool) -> _Play:
    """What a message asks for, by the words the script knows; the first message starts the tour."""
    known: tuple[tuple[str, _Play], ...] = (
        (r"\b(start|tour|again|demo)\b", _tour),
        (r"\b(outside|boundar\w*|passwd)\b", _outside),
        (r"\b(write|file)\b", _write),
        (r"\b(read|list)\b", _read),
        (r"\b(table|code|markdown)\b", lambda *_: _Scene(texts.MARKDOWN)),
    )
    if first:
        return _tour
    return next((play for pattern, play in known if re.search(pattern, words)), lambda *_: _Scene(texts.MENU))


def _tour(results: Sequence[ToolResultBlock], tools: set[str]) -> _Scene:
    done = {result.tool.replace("-", "_"): result for result in results}
    if _LIST not in done and _WRITE not in done and _LIST in tools:
        return _listing(texts.INTRO)
    if _WRITE not in done:
        lead = texts.AFTER_LIST.format(**_facts(done[_LIST])) if _LIST in done else texts.MARKDOWN + "\n"
        return _writing(lead) if _WRITE in tools else _Scene(lead.partition("Now a **write**")[0] + texts.NO_WRITE_TOOL)
    if _READ not in done and _READ in tools:
        return _leaving(_scene_after(done[_WRITE], texts.WRITTEN, texts.NOT_WRITTEN, texts.UNWRITTEN))
    refused = _READ not in done or done[_READ].is_error
    return _Scene(texts.REFUSED if refused else texts.NOT_REFUSED)


def _read(results: Sequence[ToolResultBlock], tools: set[str]) -> _Scene:
    if results:
        return _Scene(texts.AFTER_READ_ALONE.format(**_facts(results[-1])))
    return _listing(texts.ABOUT_TO_READ) if _LIST in tools else _Scene(texts.NO_TOOLS)


def _write(results: Sequence[ToolResultBlock], tools: set[str]) -> _Scene:
    if results:
        told = (texts.AFTER_WRITE_ALONE, texts.AFTER_DENIED_ALONE, texts.AFTER_FAILED_ALONE)
        return _Scene(_scene_after(results[-1], *told))
    return _writing(texts.ABOUT_TO_WRITE) if _WRITE in tools else _Scene(texts.NO_TOOLS)


def _scene_after(result: ToolResultBlock, done: str, denied: str, failed: str) -> str:
    """What the script says of a write: only of a person's own answer that they said no."""
    if not result.is_error:
        return done
    return denied if result.text.startswith(_SAID_NO) else failed


def _outside(results: Sequence[ToolResultBlock], tools: set[str]) -> _Scene:
    if results:
        return _Scene(texts.REFUSED.partition("\n\n")[0] + "\n" if results[-1].is_error else texts.NOT_REFUSED)
    return _leaving(texts.ABOUT_TO_LEAVE) if _READ in tools else _Scene(texts.NO_TOOLS)


def _listing(lead: str) -> _Scene:
    return _Scene(lead, _LIST, {"path": "."})


def _writing(lead: str) -> _Scene:
    return _Scene(lead, _WRITE, {"path": texts.FILE_PATH, "content": texts.FILE_TEXT})


def _leaving(lead: str) -> _Scene:
    return _Scene(lead, _READ, {"path": texts.OUTSIDE_PATH})


def _facts(result: ToolResultBlock) -> dict[str, str]:
    """What a listing's result shows, counted from its lines and nothing else."""
    if result.is_error:
        return {"list_tool": _LIST, "entries": "it failed, so nothing was read"}
    lines = [line for line in result.text.splitlines() if line.strip() and not line.startswith(("(", "["))]
    count = "nothing yet" if not lines else f"{len(lines)} line{'s' if len(lines) != 1 else ''}"
    return {"list_tool": _LIST, "entries": count}
