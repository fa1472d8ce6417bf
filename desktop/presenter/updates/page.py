"""Updates for their page of Settings, and for the few words elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.installation import Installation
from desktop.presenter.updates.words import RightRow, UpdateFacts, UpdateView, rows_of, view_of
from desktop.services.updates.service import KEY

if TYPE_CHECKING:
    from desktop.domain.updates.rights import RightChange
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.updates.service import UpdateService
    from desktop.settings import SettingsService


class UpdatesViewModel(QObject):
    """``changed`` when ``view`` is another; ``refused`` says why a switch was not kept."""

    changed = Signal()
    refused = Signal(str)

    def __init__(
        self,
        service: UpdateService,
        settings: SettingsService,
        bridge: Bridge,
        installation: Installation,
        title_of: Callable[[str], str],
        running: Callable[[], tuple[str, ...]],
    ) -> None:
        super().__init__()
        self._service, self._settings, self._bridge = service, settings, bridge
        self._installation, self._title_of, self._running = installation, title_of, running
        self._differences: tuple[RightChange, ...] = ()
        self._rows: tuple[RightRow, ...] = ()
        self.view = self._made()
        service.on_change(self.refresh)

    def refresh(self) -> None:
        """Look at how updates stand now."""
        made = self._made()
        if made != self.view:
            self.view = made
            self.changed.emit()

    def _made(self) -> UpdateView:
        service = self._service
        around = UpdateFacts(
            service.version,
            service.can_look,
            service.can_install,
            service.is_on,
            self._installation,
            self._title_of,
            self._running(),
        )
        return view_of(service.state, around, self._rows_of(service.state.differences))

    def _rows_of(self, differences: tuple[RightChange, ...]) -> tuple[RightRow, ...]:
        """The same as before for the same ones: there may be thousands, and each word about how far it is asks."""
        if differences is not self._differences:
            self._differences, self._rows = differences, rows_of(differences)
        return self._rows

    # -- what the person does ------------------------------------------------------------------------------------------

    def switch(self, on: bool) -> None:
        """Look for new versions from now on, or no longer."""

        async def work() -> None:
            try:
                await self._settings.update(KEY, on)
            except KnownError as error:
                self.refused.emit(error.advice)
                self.changed.emit()

        self._bridge.spawn(work(), name="switch updates")

    def look(self) -> None:
        """Look now."""
        self._bridge.spawn(self._service.look(), name="look for a new version")

    def update(self) -> None:
        """Fetch the new version, and have it start the next time once no run is at work."""
        self._service.update()

    def stop(self) -> None:
        """Give up fetching or waiting."""
        self._service.stop()

    def later(self) -> None:
        """Say no more of it until the next start."""
        self._service.later()

    def skip(self) -> None:
        """Not this version."""
        self._bridge.spawn(self._service.skip(), name="skip a version")

    def take_up(self) -> None:
        """This version after all."""
        self._bridge.spawn(self._service.take_up(), name="take a version up again")

    def go_back(self) -> None:
        """To the version before."""
        self._service.go_back()

    def restart(self) -> None:
        """End in order and start the other version."""
        self._service.restart()
