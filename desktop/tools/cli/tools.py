"""The file tools.yaml of a running app: read, put in force at once, changed only here (R-CLI-14, R-FS-10, Q-17).

Every method blocks: use a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.domain.approval.consents import Opening
from desktop.domain.errors import ConfigurationError, NotFound
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillProblem
from desktop.tools.cli.definitions import SOURCE, TOOLS, CliDefinition, CliFile, CliRules, parse
from desktop.tools.cli.reads import nothing_opens
from desktop.tools.declared.file import DeclaredFile
from desktop.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from desktop.tools.cli.tool import CliTool


@dataclass(frozen=True, slots=True)
class CliState:
    """``tools`` are in force, in the order of the file; ``problems`` are those of the file as it is now. ``kept``: the
    file is broken, and what is in force is from before."""

    tools: tuple[CliTool, ...] = ()
    problems: tuple[SkillProblem, ...] = ()
    kept: bool = False

    def tool(self, name: str) -> CliTool:
        """The tool of this name. Raises NotFound."""
        found = next((tool for tool in self.tools if tool.definition.name == name), None)
        if found is None:
            raise NotFound(f"There is no tool {name} in tools.yaml now.", next_step="Choose another.")
        return found


class CliTools(DeclaredFile[CliDefinition]):
    """``make`` turns a definition into a tool; ``needs_admin`` and ``reserved`` are rules that other rooms have: which
    variables only admin tools may set, which names are the app's own, and what of the denied folders may be opened."""

    def __init__(
        self,
        path: Path,
        registry: ToolRegistry,
        make: Callable[[CliDefinition], CliTool],
        *,
        needs_admin: Callable[[str], bool],
        reserved: Callable[[str], str] = lambda _: "",
        opens: Callable[[str], Opening] = nothing_opens,
    ) -> None:
        super().__init__(path, TOOLS)
        self._registry = registry
        self._make = make
        self._rules = CliRules(needs_admin, self._taken, opens)
        self._reserved = reserved
        self._state = CliState()

    @property
    def state(self) -> CliState:
        """What is in force and what is wrong; cheap."""
        return self._state

    def check(self, text: str) -> CliFile:
        """What a text would declare, while a person types; nothing changes."""
        return parse(text, self._rules)

    def _take(self, found: CliFile) -> None:
        kept, problems = found.broken, found.problems
        if not kept:
            try:
                tools = [self._make(definition) for definition in found.definitions]
                self._registry.replace_source(SOURCE, tools)
                self._state = CliState(tuple(tools), problems)
            except ConfigurationError as error:  # a name was taken between the check and now
                kept, problems = True, (*problems, *TOOLS.broken(str(error)).problems)
        if kept:
            self._state = CliState(self._state.tools, problems, kept=True)
        self.retell()

    def _taken(self, name: str) -> str:
        """The owner of this name or its alias, as words; "" where only tools.yaml has it."""
        for other in (name, name.replace("-", "_")):
            found = self._registry.find(other)
            if found is not None and found.spec.source != SOURCE:
                return f"a tool that is there already ({found.spec.name})"
        return self._reserved(name)
