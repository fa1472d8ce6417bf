"""Questions that an MCP server asks a person while one of its tools is called, and their answers (R-MCP-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass

AskedKind = Literal["text", "number", "integer", "boolean", "one", "many"]
AskedFormat = Literal["", "email", "uri", "date", "date-time"]
AnswerAction = Literal["accept", "decline", "cancel"]
"""As the protocol has them: it was answered; the person refused; the question went away without an answer."""
AnswerValue = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class AskedField:
    """One plain field of a form. All texts are the server's, cut and without what cannot be seen."""

    name: str
    """The server's name for it."""
    kind: AskedKind
    """What may be given."""
    label: str
    """What stands above it."""
    required: bool = False
    """Whether it has to be filled in."""
    words: str = ""
    """What the server says about it."""
    format: AskedFormat = ""
    """What kind of text."""
    shortest: int = 0
    """Characters of a text at least, or how many choices."""
    longest: int = 0
    """The same at most."""
    low: float | None = None
    """The least number."""
    high: float | None = None
    """The greatest."""
    choices: tuple[tuple[str, str], ...] = ()
    """(value, what is shown) of each."""
    default: AnswerValue | None = None
    """What the server proposes."""


@dataclass(frozen=True, slots=True)
class ServerQuestion:
    """One question. ``fields`` of a form, or ``url`` of a page that a person is asked to open."""

    question_id: str
    """The question."""
    server: str
    """The server, by the person's name for it."""
    where: str
    """Where it is: its host, or the program."""
    asked_by: tuple[str, ...]
    """Who called its tool: agent, skill, tool."""
    tool: str
    """The tool that was called."""
    thread_id: str
    """The thread of the call."""
    message: str
    """What it asks, in its own words."""
    fields: tuple[AskedField, ...] = ()
    """The form; () of one that asks for a page to be opened, or for nothing but a yes."""
    url: str = ""
    """The page, or ""."""
    asked_at: float = 0.0
    """Seconds since the epoch."""

    @property
    def is_web(self) -> bool:
        """Whether what is typed leaves this computer."""
        return "://" in self.where or "." in self.where


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """``content`` of a form that was answered; ``stops``: the person ended the call, too."""

    action: AnswerAction
    content: Mapping[str, AnswerValue] = field(default_factory=dict, repr=False)
    stops: bool = False
