"""Agent definitions: one agent a person talks to, or two that talk to each other.

Plain records. Reading and validating files is ``services.definitions``; running them is
``services.chats`` and ``services.debates``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from desktop.domain.agent_names import IDENTIFIER
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.supervision import Priority

AgentType = Literal["ai_human", "dual_ai"]
SideName = Literal["a", "b"]
SIDES: tuple[SideName, SideName] = ("a", "b")
MAX_AGENTS_DEEP = 8
"""Agents below agents: the root has depth 0 (R-AAT-8)."""


@dataclass(frozen=True, slots=True)
class SideDefinition:
    """One side, with the fields and defaults of R-DEF-1."""

    prompt: str
    """A skill: its body is the system text, its frontmatter says tools and model (C-20); or ""."""
    label: str = ""
    """The side's name in the transcript."""
    stop_on_response: bool = True
    """Whether a reply ends the turn."""
    stop_tool: str = ""
    """The tool whose call ends the turn."""
    stop_property: str = ""
    """The argument of ``stop_tool`` that is the result."""
    max_rounds: int | None = None
    """``maxSteps``; None: not set."""
    end_session_tool: str = ""
    """The tool whose call ends the session."""
    prompt_text: str = ""
    """The prompt where it is written in place of a skill."""
    allowed_tools: str | None = None
    """The list beside ``prompt_text``, as in a frontmatter; None: no list."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """As ``model`` in a frontmatter, and stands over what the prompt's says: the model, its settings; of definitions
    that are in no file, more."""


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
    """A definition as its file says."""

    name: str
    """The name others refer to it by."""
    side_a: SideDefinition
    """The side that begins, or the only one."""
    title: str = ""
    """The name a person reads."""
    type: AgentType = "ai_human"
    """Whether a person is the other side, or a second agent."""
    side_b: SideDefinition | None = None
    """The other side of two agents."""
    max_turns: int | None = None
    """``maxSessionTurns``, counted in turns of both sides (R-SES-14)."""
    expose_as_tool: bool = False
    """Whether other agents may call it."""
    tool_description: str = ""
    """What the tool's description says."""
    description: str = ""
    """What a person reads about it."""
    icon: str = ""
    """The name of a bundled icon or an image file."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """``tenvs``: the variables of its threads (R-DEF-15)."""
    handoff: Literal["call", "transfer"] = "call"
    """Whether a call is answered, or hands the conversation over."""
    priority: Priority | None = None
    """None: its caller's, or that of whoever started it."""
    origin: str = ""
    """Its file; "" for one that is in none."""

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
    """A file in the list."""

    path: str
    """The file."""
    source: Literal["mine", "library", "project"]
    """Whose file it is."""
    agent: AgentDefinition | None
    """The definition; None: the file says nothing usable."""
    problems: tuple[DefinitionProblem, ...] = ()
    """What is wrong with the file."""
    kept: bool = False
    """Whether an earlier version stays in force because this one is broken."""
    writable: bool = False
    """Whether Assent may change the file."""
    tool_problem: str = ""
    """Why it cannot be a tool, or ""."""
    unseen: str = ""
    """The digest of a project's file that is off because nobody has looked at it as it is now; else ""."""
    cycle: tuple[str, ...] = ()
    """The other agents by way of which it can come to call itself."""

    @property
    def errors(self) -> tuple[str, ...]:
        """What is wrong with it, a sentence each."""
        return tuple(problem.shown for problem in self.problems if not problem.warning)
