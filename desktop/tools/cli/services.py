"""What the tools of tools.yaml are made with."""

from __future__ import annotations

from dataclasses import replace

from desktop.domain.approval.consents import ClosedPlaces
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import (
    Confinement,
    EnvironmentBuilder,
    PathPolicy,
    ProcessRunner,
    SettingsProvider,
    ShellReader,
)
from desktop.tools.builtin.rehearsals import CommandsInCopies


@dataclass(frozen=True, slots=True)
class CliServices:
    """What tools need of the safety room."""

    reader: ShellReader
    """Reads commands."""
    policy: PathPolicy
    """Judges paths."""
    confinement: Confinement
    """Confines the process."""
    environment: EnvironmentBuilder
    """Makes its environment."""
    runner: ProcessRunner
    """Runs it."""
    settings: SettingsProvider
    """Reads the settings."""
    places: ClosedPlaces | None = None
    """The denied folders that a person agreed to; None: none can be asked for."""
    in_copies: CommandsInCopies | None = None
    """Runs it in a copy first; None: it is asked about before."""

    def within(self, place: WorkPlace) -> CliServices:
        """The same for calls that are made there."""
        if not place.project:
            return self
        return replace(
            self,
            reader=self.reader.within(place),
            policy=self.policy.within(place),
            confinement=self.confinement.within(place),
            settings=lambda: self.settings().within(place),
        )
