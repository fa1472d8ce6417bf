"""What other programs may call, wired to the settings."""

from __future__ import annotations

from collections.abc import Callable

from desktop.agents.skill.host import Host
from desktop.safety.permission.gate import PermissionGate
from desktop.services.outside.calls import OutsideCalls
from desktop.services.outside.offered import OutsideTools
from desktop.services.skills.world import SkillWorld
from desktop.services.turns.runtime import Runtime
from desktop.settings import SettingsService
from desktop.supervision.tasks import TaskOwner

OFFERED = "other_apps.offered"


def outside_calls(
    runtime: Runtime,
    settings: SettingsService,
    skills: SkillWorld,
    gate: PermissionGate,
    owner: TaskOwner,
    host: Callable[[], Host | None],
) -> OutsideCalls:
    """The service; what a person switches off ends at once."""

    def forget(run_id: str) -> None:
        gate.forget_run(run_id)
        skills.topics.forget(run_id)

    tools = OutsideTools(skills, lambda: settings.current.other_apps.offered)
    made = OutsideCalls(tools, skills, runtime.pipeline, owner, host, forget)
    settings.subscribe(lambda _settings, keys: made.recheck() if OFFERED in keys else None)
    return made
