"""What other programs may call, wired to the settings."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from desktop.agents.skill.host import Host
from desktop.app.home.folder import home_path
from desktop.app.home.installation import this_installation
from desktop.domain.models import ModelRef
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
    host: Callable[[ModelRef | None], Host | None],
) -> OutsideCalls:
    """The service; what a person switches off ends at once."""

    def forget(run_id: str) -> None:
        gate.forget_run(run_id)
        skills.topics.forget(run_id)

    tools = OutsideTools(skills, lambda: settings.current.other_apps.offered)
    made = OutsideCalls(tools, skills, runtime.pipeline, owner, host, forget)
    settings.subscribe(lambda _settings, keys: made.recheck() if OFFERED in keys else None)
    return made


def start_words(home: Path) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """(command, environment) with which another program starts `assent mcp` for this home. Reads a few
    files, and looks through the PATH."""
    more = () if home == home_path(None, {}) else ("--home", os.fspath(home))
    known = this_installation().command
    if known:
        return (*known, "mcp", *more), {}
    if shutil.which("assent"):
        return ("assent", "mcp", *more), {}
    root = Path(__file__).resolve().parents[3]
    # -P: what starts it stands in a project, whose own folder "desktop" is not ours
    return (sys.executable, "-P", "-m", "desktop", "mcp", *more), {"PYTHONPATH": os.fspath(root)}
