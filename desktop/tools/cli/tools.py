"""The file tools.yaml of a running app: read, put in force at once, changed only here (R-CLI-14, R-FS-10, Q-17).

What is in force is the last set that could be read. Every method blocks: use a thread. Listeners are called in the
thread that saw the change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from desktop.domain.consents import Opening
from desktop.domain.errors import ConfigurationError, NotFound
from desktop.domain.skills import SkillProblem
from desktop.tools.cli.definitions import SOURCE, CliDefinition, CliFile, CliRules, parse, problem
from desktop.tools.cli.reads import nothing_opens
from desktop.tools.cli.tool import CliTool
from desktop.tools.person_file import CannotSaveTools, PersonFile, ToolsFile
from desktop.tools.registry import ToolRegistry
from desktop.yaml_text.tree import MAX_BYTES


@dataclass(frozen=True, slots=True)
class CliState:
    """``tools`` are in force, in the order of the file; ``problems`` are those of the file as it is now. ``kept``: the
    file is broken, and what is in force is from before."""

    tools: tuple[CliTool, ...] = ()
    problems: tuple[SkillProblem, ...] = ()
    kept: bool = False

    def tool(self, name: str) -> CliTool:
        """One of them. Raises NotFound."""
        found = next((tool for tool in self.tools if tool.definition.name == name), None)
        if found is None:
            raise NotFound(f"There is no tool {name} in tools.yaml now.", next_step="Choose another.")
        return found


class CliTools:
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
        self.path = path
        self._file = PersonFile(path, MAX_BYTES)
        self._registry = registry
        self._make = make
        self._rules = CliRules(needs_admin, self._taken, opens)
        self._reserved = reserved
        self._lock = threading.RLock()
        self._state = CliState()
        self._seen = ""
        self._listeners: list[Callable[[CliState], None]] = []

    @property
    def state(self) -> CliState:
        """What is in force and what is wrong; cheap."""
        return self._state

    def on_change(self, listener: Callable[[CliState], None]) -> Callable[[], None]:
        """Called after every reload; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self) -> ToolsFile:
        """The file; an absent one is empty. Raises CannotSaveTools when it cannot be read."""
        return self._file.read()

    def check(self, text: str) -> CliFile:
        """What a text would declare, while a person types; nothing changes."""
        return parse(text, self._rules)

    def reload(self) -> CliState:
        """Put what the file declares in force, all at once; a broken file changes nothing but the problems."""
        with self._lock:
            self._seen = self._file.looks()
            try:
                text = self.read().text
            except CannotSaveTools as error:
                wrong = problem("error", str(error), 1, 1, "cli.file")
                return self._keep(CliFile((), (wrong,), broken=True))
            return self._take(parse(text, self._rules))

    def reload_if_changed(self) -> CliState:
        """The same when the file looks different than at the last reload."""
        with self._lock:
            return self._state if self._file.looks() == self._seen else self.reload()

    def _take(self, found: CliFile) -> CliState:
        if found.broken:
            return self._keep(found)
        try:
            tools = [self._make(definition) for definition in found.definitions]
            self._registry.replace_source(SOURCE, tools)
        except ConfigurationError as error:  # a name was taken between the check and now
            return self._keep(
                replace(found, problems=(*found.problems, problem("error", str(error), 1, 1, "cli.file")))
            )
        return self._tell(CliState(tuple(tools), found.problems))

    def _keep(self, found: CliFile) -> CliState:
        return self._tell(CliState(self._state.tools, found.problems, kept=True))

    def retell(self) -> None:
        """What a person agreed to changed: nothing is read, but what is shown may differ."""
        self._tell(self._state)

    def _tell(self, state: CliState) -> CliState:
        self._state = state
        for listener in tuple(self._listeners):
            listener(state)
        return state

    def _taken(self, name: str) -> str:
        """Who has this name or its alias already, beside tools.yaml itself."""
        for other in (name, name.replace("-", "_")):
            found = self._registry.find(other)
            if found is not None and found.spec.source != SOURCE:
                return f"a tool that is there already ({found.spec.name})"
        return self._reserved(name)

    # -- writing ------------------------------------------------------------------------------------------------------

    def save(self, text: str, stamp: str, *, over: bool = False) -> ToolsFile:
        """Write the whole file and put it in force. ``stamp`` is what was read; ``over`` writes over other changes.

        Raises ToolsFileConflict, or CannotSaveTools for a text that is no list of tools or a disk that says no.
        """
        found = parse(text, self._rules)
        if found.broken:
            first = found.problems[0]
            raise CannotSaveTools(
                f"Line {first.line}, column {first.column}: {first.message}",
                next_step="Correct it; until then nothing is saved and the tools stay as they are.",
            )
        with self._lock:
            written = self._file.write(text, stamp, over=over)
            self.reload()
        return written
