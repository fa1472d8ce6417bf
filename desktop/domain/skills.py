"""What a skill is: one record for files and programmatic tools alike.

The rooms ``skills`` (reads, finds, edits), ``pipeline`` (calls) and the Skills page all speak of these records. A
definition is small: bodies stay in their files until they are run or shown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.tools import Tool

SkillKind = Literal["markdown", "folder", "python", "javascript", "foreign", "program"]
"""``markdown``: ``*.skill.md``; ``folder``: ``SKILL.md`` with scripts/, references/, assets/; ``foreign``:
``*.skill.ts``, listed and never run (C-1); ``program``: registered by code."""

SkillSource = Literal["library", "mine", "shared", "project", "mcp", "program"]
"""``library``: the bundled ``skills/``; ``mine``: ``~/.agent/skills``; ``shared``: folders of the Agent Skills
convention in home (``~/.agents/skills``, ``~/.claude/skills``); ``project``: below a project folder; ``program``:
registered by code."""

SkillState = Literal["ready", "untrusted", "changed", "broken"]
"""``untrusted``: of a project that the person has not trusted (R-SK-15); ``changed``: pinned, and different since it
was seen; ``broken``: has a problem that keeps it from running. Only ``ready`` is offered to models and runs."""

Severity = Literal["error", "warning"]

Level = Literal["agent", "chat", "call"]
LEVELS: tuple[Level, ...] = ("agent", "chat", "call")
"""What middleware stands around: an agent's work, a request to a model, a tool call (D-7)."""


AGENT_PARAMS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"message": {"type": "string", "maxLength": 20_000, "description": "What the agent is to do."}},
    "required": ["message"],
    "additionalProperties": False,
}
"""What an agent in code takes that declares nothing."""


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """What is wrong with a file, for the page: where (``line`` and ``column`` from 1), what, and how bad.

    An ``error`` keeps the skill from running (or from existing); a ``warning`` does not. ``code`` is stable:
    ``frontmatter.yaml``, ``name.invalid``, ``name.duplicate``, ``schema.invalid``, ``patterns.invalid``, …
    """

    path: str
    message: str
    line: int = 1
    column: int = 1
    severity: Severity = "error"
    code: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


SkillFunction = Callable[[Any, Mapping[str, Any]], Any | Awaitable[Any]]
"""``(ctx, args) -> value``: the entry point of code skills and programmatic tools (R-SK-7)."""


@dataclass(frozen=True, slots=True)
class SkillDef:
    """One callable as resolution yields it. ``fn``, ``tool`` and ``aliases`` are those of programmatic ones only."""

    name: str
    """Its name."""
    description: str
    """What models and people read."""
    kind: SkillKind
    """How it is written."""
    source: SkillSource
    """Whose it is."""
    path: str = ""
    """The absolute file; "" for programmatic ones."""
    src: str | None = None
    """The URI it is found by (``file://…#name``, ``mcp://…``, ``inline://…``), or None."""
    root: str = ""
    """The search-path folder it came from."""
    entry: str = ""
    """The fragment in a multi-skill file, or the function of a code skill."""
    allowed_tools: str | None = None
    """Its list; None: not given (R-PAT-5)."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The mapping of that name, with ``params`` and ``returns`` in it."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Top-level keys that are not ours."""
    tags: tuple[str, ...] = ()
    """Its tags."""
    visibility: str = ""
    """Whom it is shown to."""
    role: str = ""
    """What it is for, besides being called: agent, middleware, main."""
    category: str = ""
    """As declared, or "" (Q-2 decides then)."""
    stamp: str = ""
    """``size:mtime_ns:inode`` of the file as it was read."""
    body_at: int = -1
    """The character offset of the body in the text; -1 where there is none."""
    body_end: int = -1
    """Where the body ends; -1 for the end of the file."""
    problems: tuple[SkillProblem, ...] = ()
    """What is wrong with it."""
    state: SkillState = "ready"
    """Whether it can be called."""
    fn: SkillFunction | None = None
    """The function of a programmatic one."""
    tool: Tool | None = None
    """The tool of a programmatic one."""
    aliases: tuple[str, ...] = ()
    """The names that providers know it by (C-3)."""
    text: str = ""
    """The body of one that is in no file (a side's prompt written in place)."""

    @property
    def params(self) -> Mapping[str, Any] | None:
        """The JSON Schema of the arguments; None: takes none (R-SK-5). An agent in code that declares none takes a
        message."""
        found = self.metadata.get("params")
        if isinstance(found, Mapping):
            return found
        return AGENT_PARAMS if self.role == "agent" else None

    @property
    def returns(self) -> Mapping[str, Any] | None:
        """The JSON Schema of a structured result, or None."""
        found = self.metadata.get("returns")
        return found if isinstance(found, Mapping) else None

    @property
    def model_invocable(self) -> bool:
        """Whether a model may bring it in by itself. ``disable-model-invocation: true``: only a person names it."""
        return not _says(self.extras.get("disable-model-invocation"), "true")

    @property
    def user_invocable(self) -> bool:
        """Whether a person names it. ``user-invocable: false``: it is knowledge for the model alone."""
        return not _says(self.extras.get("user-invocable"), "false")

    @property
    def argument_hint(self) -> str:
        """What may follow its name, for a person, on one short line."""
        found = self.extras.get("argument-hint")
        text = " ".join(map(str, found)) if isinstance(found, list) else str(found or "")
        return " ".join(text.split())[:120]

    @property
    def is_words(self) -> bool:
        """Text for whoever reads it (S-SK-4), and no work of an agent of its own: that is what ``context: fork`` asks
        for, and a value that is promised needs."""
        text = self.kind in ("markdown", "folder") and self.role == "context"
        return text and self.returns is None and self.extras.get("context") != "fork"

    @property
    def level(self) -> Level | None:
        """What a middleware skill stands around. None for any other skill, and for a level that does not exist."""
        if self.role != "middleware":
            return None
        said = self.metadata.get("level", "call")
        return next((level for level in LEVELS if level == said), None)

    @property
    def place(self) -> str:
        """A key that names exactly this skill, also when others have its name: a library skill's name, any other's file
        and entry."""
        if self.source == "library" or not self.path:
            return self.name
        return f"{self.path}#{self.entry}" if self.entry else self.path

    @property
    def wants_network(self) -> bool:
        """Whether its process is to have the network. An agent in code reaches the world by its calls alone."""
        return self.metadata.get("network") is True and self.role != "agent"

    @property
    def is_code(self) -> bool:
        """Whether the skill is Python or JavaScript, which is never run only to be listed (R-SK-6)."""
        return self.kind in ("python", "javascript", "foreign")


def _says(value: Any, word: str) -> bool:
    """Whether a key has a truth value, however it was written."""
    return isinstance(value, (bool, str)) and str(value).strip().lower() == word


class SkillFinder(Protocol):
    """Resolution as others see it: by reference, and all of them (R-RES-1, R-RES-9). Blocking on a cache miss only."""

    def find_tool(self, ref: str, *, cwd: str | None = None) -> SkillDef | None:
        """URI, bare name or path, in that order; None when there is none, which is no error (R-RES-20)."""
        ...

    def find_cached(self, ref: str) -> tuple[bool, SkillDef | None]:
        """(known, definition) from memory alone: safe on the loop."""
        ...

    def list_tools(self) -> list[SkillDef]:
        """Programmatic ones first, then each folder in order; each name once (R-RES-9)."""
        ...

    def find_authority(self, definition: SkillDef) -> SkillDef | None:
        """The nearest enclosing main skill, else the project's, else the library's (R-RES-16)."""
        ...

    def body(self, definition: SkillDef) -> str:
        """A markdown skill's body as it is in the file now. Blocks; raises KnownError when the file has gone or changed
        its meaning since it was listed."""
        ...
