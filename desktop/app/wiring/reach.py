"""The desk of the reach explorer, made from the rooms that decide about real calls."""

from __future__ import annotations

from collections.abc import Callable

from desktop.app.wiring.runtime import Services, safety_of
from desktop.safety.boundary.reach import ProvenFiles, Prover
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.permission.audit import RedactedLog
from desktop.services.reach.service import ReachService, ReachServices

DECIDING = ("security.", "tools.bash.network")
"""Settings on which depends what can be reached."""


def reach_desk(rooms: Services) -> ReachService:
    """For the page of the boundary; reads nothing yet."""
    safety = safety_of(rooms.settings, rooms.home, rooms.grants)

    def changes(listener: Callable[[], None]) -> Callable[[], None]:
        def told(_settings: object, keys: frozenset[str]) -> None:
            if any(key.startswith(DECIDING) for key in keys):
                listener()

        return rooms.settings.subscribe(told)

    return ReachService(
        ReachServices(
            policy=rooms.policy,
            settings=safety,
            rules=rooms.rules.book,
            agents=rooms.agents,
            skills=rooms.skills,
            confinement=rooms.confinement,
            log=RedactedLog(rooms.store.audit, rooms.redactor),
            activity=rooms.store.audit,
            prover=Prover(rooms.policy, ProvenFiles(rooms.policy), rooms.confinement, GroupRunner(), safety),
            changes=changes,
            walls=rooms.confinement.walls,
        )
    )
