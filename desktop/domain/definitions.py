"""Agent definitions: one agent a person talks to, or two that talk to each other.

Plain records. Reading and validating files is ``services.definitions``; running them is
``services.chats`` and ``services.debates``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from desktop.domain.agent_names import IDENTIFIER, tool_name_of
from desktop.domain.supervision import Priority

AgentType = Literal["ai_human", "dual_ai"]
SideName = Literal["a", "b"]
SIDES: tuple[SideName, SideName] = ("a", "b")
MAX_AGENTS_DEEP = 8
"""Agents below agents: the root has depth 0 (R-AAT-8)."""


@dataclass(frozen=True, slots=True)
class SideDefinition:
    """One side, with the fields and defaults of R-DEF-1. ``prompt`` names a skill: its body is the system text, its
    frontmatter says tools and model (C-20); or it is "", and ``prompt_text`` is what such a body would be, with
    ``allowed_tools`` as in a frontmatter (None: no list). ``max_rounds`` is ``maxSteps``; None: not set."""

    prompt: str
    label: str = ""
    stop_on_response: bool = True
    stop_tool: str = ""
    stop_property: str = ""
    max_rounds: int | None = None
    end_session_tool: str = ""
    prompt_text: str = ""
    allowed_tools: str | None = None


@dataclass(frozen=True, slots=True)
class DefinitionProblem:
    """What is wrong with a definition: ``path`` as in the file (``sideB.prompt``), a stable ``code`` (R-DEF-14)."""

    path: str
    code: str
    text: str
    warning: bool = False

    @property
    def shown(self) -> str:
        """The problem's text with its place in front."""
        return f"{self.path}: {self.text}" if self.path else self.text


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A definition as its file says. ``max_turns`` is ``maxSessionTurns``, counted in side turns of both (R-SES-14);
    ``environment`` is ``tenvs`` (R-DEF-15); ``priority`` None: its caller's, or that of whoever started it;
    ``origin`` the file, "" for one that is none."""

    name: str
    side_a: SideDefinition
    title: str = ""
    type: AgentType = "ai_human"
    side_b: SideDefinition | None = None
    max_turns: int | None = None
    expose_as_tool: bool = False
    tool_description: str = ""
    description: str = ""
    icon: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    handoff: Literal["call", "transfer"] = "call"
    priority: Priority | None = None
    origin: str = ""

    def side(self, name: SideName) -> SideDefinition:
        """The definition of one side. Raises KeyError for side B of an agent that has only one."""
        found = self.side_a if name == "a" else self.side_b
        if found is None:
            raise KeyError(name)
        return found

    @property
    def shown(self) -> str:
        """What a person reads as its name."""
        said = self.name.replace("_", " ").capitalize() if IDENTIFIER.fullmatch(self.name) else self.name
        return self.title or said

    @property
    def tool_name(self) -> str:
        """The name of the tool by which others call this agent (R-AAT-1)."""
        return tool_name_of(self.name)

    def label_of(self, name: SideName) -> str:
        """What a side is called (S-DEF-2)."""
        own = self.side_a if name == "a" else self.side_b
        if own is not None and own.label:
            return own.label
        if self.type == "dual_ai":
            return "Side A" if name == "a" else "Side B"
        return self.shown if name == "a" else "You"


@dataclass(frozen=True, slots=True)
class AgentRow:
    """A file in the list. ``agent`` None: it says nothing usable; ``tool_problem`` why it cannot be a tool. ``unseen``:
    the digest of a project's file that is off because nobody has looked at it as it is now; else empty. ``cycle``: by
    way of which others it can come to call itself."""

    path: str
    source: Literal["mine", "library", "project"]
    agent: AgentDefinition | None
    problems: tuple[DefinitionProblem, ...] = ()
    kept: bool = False
    writable: bool = False
    tool_problem: str = ""
    unseen: str = ""
    cycle: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong with it, a sentence each."""
        return tuple(problem.shown for problem in self.problems if not problem.warning)
