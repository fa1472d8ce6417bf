"""The service of the reach explorer, made from the services that decide about real calls."""

from __future__ import annotations

from collections.abc import Callable

from desktop.app.wiring.boundary import safety_of
from desktop.app.wiring.services import Services
from desktop.safety.boundary.reach import ProvenFiles, Prover
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.permission.audit import RedactedLog
from desktop.services.reach.service import ReachService, ReachServices

DECIDING = ("security.", "tools.bash.network")
"""Settings on which depends what can be reached."""


def reach_service(services: Services) -> ReachService:
    """For the page of the boundary; reads nothing yet."""
    safety = safety_of(services.settings, services.home, services.grants)

    def changes(listener: Callable[[], None]) -> Callable[[], None]:
        def told(_settings: object, keys: frozenset[str]) -> None:
            if any(key.startswith(DECIDING) for key in keys):
                listener()

        return services.settings.subscribe(told)

    return ReachService(
        ReachServices(
            policy=services.policy,
            settings=safety,
            rules=services.rules.book,
            agents=services.agents,
            skills=services.skills,
            confinement=services.confinement,
            log=RedactedLog(services.store.audit, services.redactor),
            activity=services.store.audit,
            prover=Prover(services.policy, ProvenFiles(services.policy), services.confinement, GroupRunner(), safety),
            changes=changes,
            profile=services.confinement.profile,
        )
    )
