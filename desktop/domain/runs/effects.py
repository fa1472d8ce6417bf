"""The journal of a run's effects: what its agents asked of the world, in order, written before it is done. A run that
was cut off goes on from it: what is done is not done again (R-JRN-2)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

EffectKind = Literal["llm", "tool", "summary", "return", "end"]
"""``summary`` keeps, as its value, what a side of a debate was told of older messages; its name is the thread's id.
``return`` is the terminal entry of one agent, ``end`` the one of the run (R-JRN-5)."""

EffectPhase = Literal["begun", "completed", "failed", "cancelled", "limit"]


class EffectRecord(NamedTuple):
    """One line of a run's append-only journal. An effect has two: ``begun``, then how it ended.

    ``sequence`` counts within the run from 1; ``agent`` is the agent's path in the run tree (``0`` is the root, ``0.3``
    its third child), or what names a tool call (``call_key``, ``call_keys.inside_key``). ``step`` counts the effects
    there from 1. ``digest`` stands for the arguments;
    ``value`` is the outcome as JSON, masked, or a digest of it where nobody needs it any more, or the thread has it
    (``digested``); ``summary`` is for a person, redacted (R-JRN-6). ``at``: seconds since the epoch. What was refused
    before it began has one line only. A tuple, for one is made and stored twice in every call.
    """

    run_id: str
    sequence: int
    agent: str
    step: int
    kind: EffectKind
    name: str
    digest: str
    phase: EffectPhase
    at: float
    value: str = ""
    summary: str = ""


class EffectLog(Protocol):
    """The store of effect journals. ``append`` keeps the order in which it is called, also when nobody waits for it."""

    def append(self, records: Sequence[EffectRecord]) -> asyncio.Future[None]:
        """Write all or none; done when they outlive the death of this process. Begins at once."""
        ...

    async def load(self, run_id: str) -> list[EffectRecord]:
        """The whole journal of a run, in order."""
        ...


_DIGEST = '"sha256:'


def digested(value: str) -> str:
    """What stands for an outcome that is not kept: a digest, itself a JSON text. Of "" and of a digest the same."""
    if not value or is_digest(value):
        return value
    return digest_value(hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:16])


def digest_value(digest: str) -> str:
    """``digest``, hex digits, as a line's value."""
    return f'{_DIGEST}{digest}"'


def is_digest(value: str) -> bool:
    """Whether a line's value only stands for the outcome."""
    return value.startswith(_DIGEST)


_TOOL = f"{_DIGEST}tool "


def tool_value(digest: str) -> str:
    """The value of a line that has only what the tool was: nothing of it is forgotten (``digested``)."""
    return digest_value(f"tool {digest}")


def tool_of(value: str) -> str:
    """The digest in a line's value, or "" if it holds none."""
    return value[len(_TOOL) : -1] if value.startswith(_TOOL) else ""


def call_key(message_id: str, call_id: str) -> str:
    """What names a tool call of a chat in its run's journal: ids of calls are the model's, and come again."""
    return f"{message_id}:{call_id}"
