"""The desk of the reach explorer, made from the rooms that decide about real calls."""

from __future__ import annotations

from collections.abc import Callable

from desktop.app.rooms import Rooms, safety_of
from desktop.conversation.reach_desk import ReachDesk, ReachServices
from desktop.safety.audit_lines import RedactedLog
from desktop.safety.process import ProcessRunner
from desktop.safety.reach import ProvenFiles, Prover

DECIDING = ("security.", "tools.bash.network")
"""Settings on which depends what can be reached."""


def reach_desk(rooms: Rooms) -> ReachDesk:
    """For the page of the boundary; reads nothing yet."""
    safety = safety_of(rooms.settings, rooms.home, rooms.grants)

    def changes(listener: Callable[[], None]) -> Callable[[], None]:
        def told(_settings: object, keys: frozenset[str]) -> None:
            if any(key.startswith(DECIDING) for key in keys):
                listener()

        return rooms.settings.subscribe(told)

    return ReachDesk(ReachServices(
        policy=rooms.policy, settings=safety, rules=rooms.rules.book, agents=rooms.agents, skills=rooms.skills,
        confinement=rooms.confinement, log=RedactedLog(rooms.store.audit, rooms.redactor), activity=rooms.store.audit,
        prover=Prover(rooms.policy, ProvenFiles(rooms.policy), rooms.confinement, ProcessRunner(), safety),
        changes=changes, walls=rooms.confinement.walls,
    ))  # fmt: skip
