"""What stands over a transcript when a model reads it: a summary, pinned messages; and what became of the rest.

The transcript itself never changes (R-CTX-3). Messages are named by their id in the store.
"""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from desktop.domain.loading.lazy_dataclass import dataclass

MAX_SUMMARY = 24_000
"""Characters of a summary."""
MAX_PINS = 50


@dataclass(frozen=True, slots=True)
class Overlay:
    """The context overlay of one thread. ``summary`` stands for everything up to and with the message ``upto``;
    ``pins`` are messages that are never left out; ``off``: the person took a summary back, so none is made until they
    allow it again."""

    summary: str = ""
    upto: str = ""
    pins: frozenset[str] = frozenset()
    off: bool = False
    summarised: int = 0


@dataclass(frozen=True, slots=True)
class Account:
    """What a request held of the conversation, in messages: ``kept`` as they are, ``shrunk`` results shortened,
    ``dropped`` left out whole, ``summarised`` told by ``summary``. Each counts once; ``pinned`` are among ``kept`` and
    ``shrunk``."""

    kept: int = 0
    shrunk: int = 0
    summarised: int = 0
    dropped: int = 0
    pinned: int = 0
    summary: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ContextShares:
    """What a request's tokens are: ``instructions`` with the schemas of ``tools`` tools, what was said (``messages``),
    and what was ``read`` for it: files, results, pictures."""

    instructions: int = 0
    tools: int = 0
    messages: int = 0
    read: int = 0


class PinnedText(NamedTuple):
    """A pinned message and its beginning. ``here``: it is on the branch that is shown, so that it is sent there."""

    message_id: str
    text: str
    here: bool = True
