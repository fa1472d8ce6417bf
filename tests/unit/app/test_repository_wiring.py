"""Repositories in the app as it is wired: the real services, mcp.yaml, and a second start."""

from __future__ import annotations

import asyncio
from pathlib import Path

from desktop.app.wiring.page_services import skill_repositories
from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.runs.cancellation import CancellationToken
from desktop.settings import SettingsService
from tests.unit.services.skills.repositories.kit import Repository, skill

SERVERS = '{"mcpServers": {"ship-tracks": {"command": "uvx", "args": ["ship-tracks"], "env": {"PLACE": "harbour"}}}}'


async def nobody(_request: PermissionRequest) -> Decision:
    """No person is there."""
    raise AssertionError("nothing asks")


async def started(home: Path) -> Services:
    (home / "workspace").mkdir(parents=True, exist_ok=True)
    settings = SettingsService(home)
    await settings.load()
    services = await build_services(home, settings, nobody, windows=lambda _ref: None)
    await asyncio.to_thread(services.skills.fabric.refresh)
    return services


async def ended(services: Services) -> None:
    await services.debates.close()
    await services.chats.close()
    await services.stop_children()
    await services.close()


async def test_what_is_taken_is_there_after_a_restart_and_a_server_is_switched_off(tmp_path: Path) -> None:
    made, home = Repository(tmp_path / "remote" / "gauge-skills"), tmp_path / "agent"
    made.commit({"tide/SKILL.md": skill("tide-fit"), ".mcp.json": SERVERS})
    home.mkdir()
    (home / "mcp.yaml").write_text("# mine\nservers: []\n")
    services = await started(home)
    repositories = skill_repositories(services)
    name = await repositories.add(str(made.path), CancellationToken(), lambda _words: None)
    view = await repositories.view(name)
    seen = view.seen(item.key for item in view.items)
    await repositories.take(name, seen)
    text = (home / "mcp.yaml").read_text()
    assert "# mine" in text
    (server,) = services.mcp.state.servers
    assert (server.definition.name, server.definition.enabled) == ("ship-tracks", False)
    found = services.skills.fabric.find_tool("tide-fit")
    assert found is not None
    assert (found.state, found.source) == ("ready", "shared")
    made.commit({".mcp.json": SERVERS.replace("uvx", "other")})
    await repositories.look(name, CancellationToken(), lambda _words: None)
    newer = (await repositories.view(name)).seen([("server", "ship-tracks")])
    await repositories.take(name, newer)
    assert [one.definition.command for one in services.mcp.state.servers] == ["other"]
    await repositories.undo(name)
    assert (home / "mcp.yaml").read_text() == text
    await repositories.take(name, {}, [("server", "ship-tracks")])
    assert (home / "mcp.yaml").read_text() == "# mine\nservers:\n"
    await repositories.undo(name)
    (home / "mcp.yaml").write_text(text.replace("ship-tracks", "ship_tracks").replace("uvx", "by-hand"))
    await asyncio.to_thread(services.mcp.reload)
    mine = await repositories.view(name)
    await repositories.take(name, {}, [("server", "ship-tracks")])
    await repositories.undo(name)
    assert [one.definition.command for one in services.mcp.state.servers] == ["by-hand"], mine
    (home / "mcp.yaml").write_text(text)
    made.commit({".mcp.json": SERVERS})
    await repositories.look(name, CancellationToken(), lambda _words: None)
    await ended(services)
    again = await started(home)
    found = again.skills.fabric.find_tool("tide-fit")
    assert found is not None
    assert found.state == "ready"
    (after,) = await skill_repositories(again).views()
    assert (after.taken, after.changed) == (2, 0)
    await ended(again)
