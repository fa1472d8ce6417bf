"""The MCP servers of mcp.yaml in the running app: confined as every other tool (S-RES-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.app.wiring.boundary import BoundaryServices
from desktop.app.wiring.cli_tools import reserved_by
from desktop.app.wiring.keys import KeyServices
from desktop.app.wiring.skills import PinFile
from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError
from desktop.domain.tools import ToolSpec
from desktop.pipeline.validation import Validator
from desktop.safety.confinement.environment import needs_admin
from desktop.safety.confinement.output import upright
from desktop.safety.confinement.process import held
from desktop.safety.permission.audit import RedactedLog
from desktop.services.skills.world import SkillWorld
from desktop.settings import SettingsService
from desktop.skills.resolution.find import find_on_disk
from desktop.skills.schemas.validation import check
from desktop.supervision.tasks import TaskOwner
from desktop.tools.mcp.asking.questions import PersonQuestions
from desktop.tools.mcp.pins import McpPins
from desktop.tools.mcp.servers import McpServers
from desktop.tools.mcp.services import McpServices
from desktop.workers.mcp_child import mcp_host

if TYPE_CHECKING:
    from desktop.tools.mcp.reading.answer import CheckValue

SERVERS = "mcp.yaml"
PINS = "mcp-pins.json"
_BOUND = ("security.", "tools.")
"""Settings that a server is started under."""


def mcp_servers(
    home: Path,
    boundary: BoundaryServices,
    skills: SkillWorld,
    owner: TaskOwner,
    settings: SettingsService,
    keys: KeyServices,
    log: RedactedLog,
) -> McpServers:
    """The service of MCP servers; the file is read in the background, and no server starts before ``begin``."""
    registry, cli = boundary.tools, boundary.cli
    redactor, pins = keys.redactor, PinFile(home / "data" / PINS)
    services = McpServices(
        child=mcp_host(secrets=redactor.values),
        policy=cli.policy,
        confinement=cli.confinement,
        environment=cli.environment,
        settings=cli.settings,
        hold=held,
        check_schema=_schema_problem,
        check_value=value_check(),
        pins=McpPins(pins),
        spawn=owner.spawn,
        redactor=redactor,
        clean=upright,
        questions=PersonQuestions(log.add),
        secrets=keys.secrets,
        remember=redactor.remember,
        notes=pins,
        pictures=boundary.pictures,
        documents=boundary.documents,
    )
    found = McpServers(
        home / SERVERS, registry, services, needs_admin=needs_admin, taken=_taken(skills), told=skills.shown.refresh
    )
    skills.fabric.on_change(lambda _changes: found.recheck())
    settings.subscribe(lambda _settings, keys: _changed(found, keys))
    owner.spawn(asyncio.to_thread(found.reload), "mcp.yaml: read")
    return found


def _taken(skills: SkillWorld) -> Callable[[str], str]:
    """A function that says who has a name among Assent's own and the person's skills: no server's tool takes their
    place."""

    def taken(name: str) -> str:
        found = find_on_disk(name, skills.fabric.globals)
        return reserved_by(skills, name) or (f"a skill ({found.path})" if found is not None else "")

    return taken


def _changed(servers: McpServers, keys: frozenset[str]) -> None:
    if any(key.startswith(_BOUND) for key in keys):
        servers.confinement_changed()


def value_check() -> CheckValue:
    """A function that says why a structured result is not what the tool declares, or ""; each schema is compiled
    once."""
    validator = Validator()

    async def problem(tool: str, schema: Mapping[str, Any], value: Any) -> str:
        try:
            await validator.check_result(ToolSpec(tool, "", {}, Category.READ, returns=schema), value)
        except KnownError as error:
            return str(error)
        return ""

    return problem


def _schema_problem(schema: object) -> str:
    """What is wrong with a schema, by the rules of skill files, or "" (R-SK-4)."""
    problems = check(schema, arguments=True)
    return f"{problems[0].pointer or 'it'}: {problems[0].message}" if problems else ""
