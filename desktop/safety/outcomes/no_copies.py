"""Where no copies of folders can be made for commands: each request says so."""

from __future__ import annotations

from desktop.domain.files.outcomes import CommandCopy, NoCopy
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.select import SystemConfinement

WHY = "Only Linux has what is needed for it."


class NoCopies:
    """Implements ``domain.outcomes.CommandCopies``; what it is given is for the systems that have them."""

    def __init__(self, root: str, confinement: SystemConfinement, policy: BoundaryPolicy) -> None:
        pass

    def refusal(self, place: WorkPlace = NOWHERE, *, grants: bool = True) -> str:
        """Why no copy can be made."""
        return WHY

    def make(self, place: WorkPlace = NOWHERE, *, grants: bool = True, cache: str = "") -> CommandCopy:
        """Raises NoCopy."""
        raise NoCopy(WHY)

    def clear(self) -> None:
        """There is nothing to remove."""
