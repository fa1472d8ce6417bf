"""Gates 1 and 2: from what a caller wrote to one tool it may see (R-RES-3, R-RES-20, R-VIS-1, R-VIS-6, C-3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.errors import Denied, NotFound
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.suggestions import nearest
from desktop.domain.tools import Tool, ToolSpec
from desktop.skills.names import MAX_NAME, is_bare_name
from desktop.skills.patterns.lists import CONTEXT_MANAGER

MAX_REF = 4096
"""Characters of a URI or path that a skill may call by."""


class ToolTable(Protocol):
    """Where tools are looked up; iteration is in listing order."""

    def find(self, name: str) -> Tool | None:
        """The tool with this canonical name or provider alias."""
        ...

    def tools(self) -> Iterable[Tool]:
        """Every registered tool."""
        ...


class AllowedTools(Protocol):
    """The invoking skill's list (gate 6). The pattern language of ``skills.patterns`` implements it too."""

    def offers(self, spec: ToolSpec) -> bool:
        """Whether some call of this tool can be allowed, so that a model gets to see it."""
        ...

    def permits(self, spec: ToolSpec, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        """Whether this call is allowed. ``parts``: those of a command that was taken apart (``CommandTool``); where
        there are none no star covers what joins commands."""
        ...

    def denies(self, spec: ToolSpec) -> bool:
        """Whether it takes the tool out altogether, rather than just not having it."""
        ...

    def constraints(self, spec: ToolSpec) -> Sequence[str]:
        """What each call of the tool has to fit, all of these; one with ``$deny`` none may fit (R-DSC-5)."""
        ...

    def names(self, name: str) -> bool:
        """Whether the tool is named exactly, not by a glob, tag or ``*`` (R-VIS-1)."""
        ...

    @property
    def discovers(self) -> bool:
        """No list, or one with a bare ``*``: discovery mode (R-DSC-4)."""
        ...

    @property
    def exact_names(self) -> Sequence[str]:
        """The exactly named tools in the list's order (R-DSC-10)."""
        ...


@dataclass(frozen=True, slots=True)
class ExactTools:
    """A plain list of exact names and ``*``. None allows everything, an empty list nothing."""

    entries: tuple[str, ...] | None = None

    def offers(self, spec: ToolSpec) -> bool:
        if spec.name == CONTEXT_MANAGER:  # its operations are there unless one is denied (R-PAT-12)
            return True
        return self.entries is None or spec.name in self.entries or "*" in self.entries

    def permits(self, spec: ToolSpec, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        return self.offers(spec)

    def denies(self, spec: ToolSpec) -> bool:
        return False

    def constraints(self, spec: ToolSpec) -> Sequence[str]:
        return ()

    def names(self, name: str) -> bool:
        return self.entries is not None and name in self.entries

    @property
    def discovers(self) -> bool:
        return self.entries is None or "*" in self.entries

    @property
    def exact_names(self) -> Sequence[str]:
        return tuple(entry for entry in self.entries or () if entry != "*")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call. ``native``: a model's function call; ``code``: model-written code; ``skill``: a trusted skill.
    ``chain`` lists agent, skill, tool from the outside in; a permission request shows it."""

    origin: Literal["native", "code", "skill"] = "native"
    chain: tuple[str, ...] = ()
    allowed: AllowedTools = ExactTools()


OPERATIONS = ToolSpec(CONTEXT_MANAGER, "", {}, Category.READ, tags=("meta-internal",), gives="calls")


def check_operation(allowed: AllowedTools, operation: str) -> None:
    """The one decision about an operation of ``ctx.manager``, whether it comes as a call of context-manager, from code
    or as the native ``finish``. Raises Denied ``denied.allowed_tools``."""
    if not allowed.permits(OPERATIONS, {"op": operation}):
        words = f"The operation {operation} is denied here ({CONTEXT_MANAGER}, op={operation})."
        raise Denied(words, code="denied.allowed_tools")


def may(allowed: AllowedTools, operation: str) -> bool:
    """``check_operation`` for what is offered and told."""
    return allowed.permits(OPERATIONS, {"op": operation})


def offered(table: ToolTable, allowed: AllowedTools) -> list[Tool]:
    """The tools a model gets to see: allowed ones, hidden ones only when named exactly (R-VIS-1)."""
    return [
        tool
        for tool in table.tools()
        if allowed.offers(tool.spec) and (tool.spec.visibility != "hidden" or allowed.names(tool.spec.name))
    ]


def resolve(table: ToolTable, ref: str, caller: Caller) -> Tool:
    """The tool that ``ref`` names for ``caller``.

    Raises NotFound, to which ``hint`` adds near matches (R-RES-20), Denied ``denied.untrusted_ref`` when model-written
    code uses anything but a canonical bare name (C-3), Denied ``denied.visibility`` for a hidden tool (R-VIS-6).
    """
    if caller.origin == "code" and not is_bare_name(ref):
        raise Denied(f"{_shown(ref)} is not a plain tool name.", code="denied.untrusted_ref")
    tool = table.find(ref) if len(ref) <= (MAX_REF if caller.origin == "skill" else MAX_NAME) else None
    if tool is None or not _named(tool, ref, caller):
        raise NotFound(f"There is no tool named {_shown(ref)}.")
    if caller.origin != "skill" and tool.spec.visibility == "hidden" and not caller.allowed.names(tool.spec.name):
        raise Denied(f"{tool.spec.name} is hidden and not named in the allowed tools.", code="denied.visibility")
    return tool


def _named(tool: Tool, ref: str, caller: Caller) -> bool:
    """Whether the reference is one that this caller may use: a model names tools, and loads nothing by path or URI,
    also not what somebody else has loaded (C-3, Q-3)."""
    if caller.origin == "skill":
        return True
    return ref == tool.spec.name or (caller.origin == "native" and ref == tool.spec.provider_name)


def hint(table: ToolTable, ref: str, caller: Caller) -> str:
    """Up to three near matches as a sentence, or "". Slow with thousands of tools: use a thread."""
    if caller.origin == "code":
        names = [tool.spec.name for tool in offered(table, caller.allowed)]
    else:
        names = [tool.spec.provider_name for tool in offered(table, caller.allowed)]
    suggested = nearest(ref[:MAX_NAME], names, 3, 0.5)
    return f" Did you mean {', '.join(suggested)}?" if suggested else ""


def _shown(ref: str) -> str:
    return repr(ref if len(ref) <= MAX_NAME else ref[:MAX_NAME] + "…")
