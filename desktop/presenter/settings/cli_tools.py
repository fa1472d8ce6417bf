"""The settings page of tools.yaml: what is in force and what is wrong, the text, trying a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.common.unsaved import UnsavedTexts
from desktop.presenter.settings.cli_example import EXAMPLE
from desktop.presenter.settings.declared import DeclaredViewModel
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


class CliToolsViewModel(DeclaredViewModel):
    """The tools of tools.yaml."""

    _state: CliState
    adding = Signal()
    """A person wants to write one more tool."""

    def __init__(
        self, service: CliTools, trials: SkillTrials, bridge: Bridge, texts: UnsavedTexts | None = None
    ) -> None:
        super().__init__(service, trials, bridge, example=EXAMPLE, holds="tools", texts=texts)

    @property
    def rows(self) -> tuple[CliRow, ...]:
        """The tools in force, in the order of the file."""
        return tuple(_row(tool) for tool in self._state.tools)

    def add(self) -> None:
        """Go to the end of the text, where one more tool is written."""
        self.adding.emit()

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
