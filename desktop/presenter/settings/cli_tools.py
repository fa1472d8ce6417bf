"""The settings page of tools.yaml: what is in force and what is wrong, the text, trying a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.skills import SkillProblem
from desktop.presenter.settings.cli_example import EXAMPLE
from desktop.presenter.settings.yaml_file import YamlFileViewModel
from desktop.presenter.skills.forms import FormField, fields_of
from desktop.tools.cli.tools import CliState

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.skills.trying import SkillTrials
    from desktop.tools.cli.tool import CliTool
    from desktop.tools.cli.tools import CliTools


@dataclass(frozen=True, slots=True)
class CliRow:
    """One tool in force."""

    name: str
    """As rules name it."""
    alias: str
    """As models call it."""
    category: str
    """read, write or admin."""
    description: str
    """What models read about it."""
    command: tuple[str, ...]
    """Program and arguments, with placeholders."""
    note: str
    """Why all its calls are admin, or ""."""
    line: int
    """Where it stands in tools.yaml."""
    reads: tuple[str, ...] = ()
    """The denied folders that it names."""
    agreed: tuple[str, ...] = ()
    """Those of them that it really reads since a person agreed."""
    offline: str = ""
    """Why it has no network, or ""."""


class CliToolsViewModel(YamlFileViewModel):
    """``changed`` after what is in force or its problems changed, ``requests_wanted`` when the person wants to see what
    waits for an answer; the text is its base's."""

    changed = Signal()
    requests_wanted = Signal()
    _told = Signal(object)

    def __init__(self, service: CliTools, trials: SkillTrials, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(service, bridge, example=EXAMPLE, holds="tools", parent=parent)
        self._service = service
        self.trials = trials
        self._state = service.state
        self._told.connect(self._take)
        service.on_change(self._told.emit)

    # -- what is in force ---------------------------------------------------------------------------------------------

    @property
    def rows(self) -> tuple[CliRow, ...]:
        """The tools in force, in the order of the file."""
        return tuple(_row(tool) for tool in self._state.tools)

    @property
    def file_problems(self) -> tuple[SkillProblem, ...]:
        """What is wrong in the file on disk."""
        return self._state.problems

    @property
    def kept(self) -> bool:
        """Whether the file is broken and the last good tools stay in force."""
        return self._state.kept

    def _take(self, state: CliState) -> None:
        self._state = state
        self.changed.emit()
        self._reopen()

    def take_back(self, name: str) -> None:
        """The tool reads no denied folder any more, until a person agrees again. Raises NotFound."""
        self._spawn(self._state.tool(name).reads.take_back(), f"take back what {name} reads")

    # -- trying -------------------------------------------------------------------------------------------------------

    def fields(self, name: str) -> tuple[FormField, ...]:
        """The form of a tool's parameters (S-CLI-1). Raises NotFound."""
        return fields_of(self._state.tool(name).definition.params) or ()

    def preview(self, name: str, values: Mapping[str, Any]) -> tuple[Sequence[str], str]:
        """(the vector that would run, what is wrong with the values)."""
        try:
            return self._state.tool(name).words(values), ""
        except KnownError as error:
            return (), str(error)


def _row(tool: CliTool) -> CliRow:
    definition = tool.definition
    groups = (f"[{'  '.join(map(str, group))}]" for _, group in definition.optional_args)
    command = (definition.cmd, *map(str, definition.args), *groups)
    return CliRow(
        definition.name,
        tool.spec.provider_name,
        tool.spec.category.value,
        definition.description,
        command,
        tool.always_admin,
        definition.line,
        definition.reads,
        tool.reads.agreed,
        definition.offline,
    )
