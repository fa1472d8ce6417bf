"""What other apps left in a project: counted before it is used, looked at as a repository, and nothing starts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import mkdtemp

import pytest

from desktop.domain.files.work_place import WorkPlace
from desktop.services.projects.offers import offers_in
from tests.unit.safety.world import World as Places
from tests.unit.services.skills.repositories.kit import Place, item

pytestmark = pytest.mark.spec("R-PRJ-4")

SKILL = "---\nname: {name}\ndescription: Does {name}.\nallowed-tools: Read, Bash(git:*)\n---\nDo it.\n"
AGENT = "---\nname: reviewer\ndescription: Reviews.\ntools: Read, Grep, Glob\n---\nReview it.\n"
SERVERS = {
    "files": {"command": "touch", "args": ["{ran}"]},
    "far": {"type": "http", "url": "https://mcp.example.com/x"},
}


def filled(project: Path) -> Path:
    """A project with all kinds of things in it; whatever starts anything leaves a file ``ran``."""
    for name in ("pdf", "tide"):
        (project / ".claude" / "skills" / name).mkdir(parents=True)
        (project / ".claude" / "skills" / name / "SKILL.md").write_text(SKILL.format(name=name))
    (project / ".claude" / "skills" / "empty").mkdir()
    (project / ".claude" / "agents").mkdir()
    (project / ".claude" / "agents" / "reviewer.md").write_text(AGENT)
    (project / ".claude" / "agents" / "README.md").write_text("none")
    (project / ".claude" / "commands").mkdir()
    (project / ".claude" / "commands" / "ship.md").write_text("Ship it.\n")
    (project / ".agents" / "skills" / "sums").mkdir(parents=True)
    (project / ".agents" / "skills" / "sums" / "SKILL.md").write_text(SKILL.format(name="sums"))
    text = json.dumps({"mcpServers": SERVERS}).replace("{ran}", str(project / "ran"))
    (project / ".mcp.json").write_text(text)
    (project / ".vscode").mkdir()
    (project / ".vscode" / "mcp.json").write_text('{"servers": {"near": {"type": "stdio", "command": "npx"}}}')
    (project / ".vscode" / "settings.json").write_text("{}")
    (project / "src").mkdir()
    (project / "src" / "SKILL.md").write_text(SKILL.format(name="elsewhere"))
    return project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "tides"
    folder.mkdir()
    return folder


def offered(tmp_path: Path, project: Path) -> list[tuple[str, str, str]]:
    files = Places(Path(mkdtemp(dir=tmp_path))).files().within(WorkPlace(str(project)))
    return [(one.kind, one.title, one.where) for one in offers_in(files, str(project))]


def test_what_lies_in_a_project_is_counted_by_kind_and_place(tmp_path: Path, project: Path) -> None:
    filled(project)
    assert offered(tmp_path, project) == [
        ("skills", "2 skills", ".claude/skills"),
        ("agents", "2 agents and commands", ".claude"),
        ("skills", "1 skill", ".agents/skills"),
        ("servers", "2 MCP servers", ".mcp.json"),
        ("servers", "1 MCP server", ".vscode/mcp.json"),
    ]
    assert not (project / "ran").exists()


def test_pipes_links_and_nonsense_in_their_places_count_for_nothing_and_hold_nobody_up(
    tmp_path: Path, project: Path
) -> None:
    elsewhere = filled(tmp_path / "elsewhere")
    os.mkfifo(project / ".mcp.json")
    (project / ".claude").mkdir()
    (project / ".claude" / "skills").symlink_to(elsewhere / ".claude" / "skills")
    (project / ".vscode").mkdir()
    for text in ("[]", "{", '{"servers": 3}', '{"mcpServers": {"a": 1}}', "[" * 100_000, "\udcff"):
        (project / ".vscode" / "mcp.json").write_text(text, errors="surrogateescape")
        assert offered(tmp_path, project) == []
    (project / ".vscode" / "mcp.json").unlink()
    (project / ".vscode" / "mcp.json").symlink_to(elsewhere / ".mcp.json")
    assert offered(tmp_path, project) == []


async def test_it_is_looked_at_and_taken_as_from_a_repository_one_thing_at_a_time(
    tmp_path: Path, project: Path
) -> None:
    filled(project)
    place = Place(tmp_path / "place")
    try:
        view = await place.add(f"project:{project}")
        names = sorted((one.kind, one.name) for one in view.items)
        assert names == [
            ("agent", "reviewer"),
            ("command", "ship"),
            ("server", "far"),
            ("server", "files"),
            ("server", "near"),
            ("skill", "pdf"),
            ("skill", "sums"),
            ("skill", "tide"),
        ], "of the rest of the project nothing is read"
        assert not (project / "ran").exists()
        assert place.state("pdf") == ""
        assert place.servers.entries == []
        await place.take(view, "pdf")
        assert place.state("pdf") == "ready"
        assert place.state("tide") == ""
        await place.take(await place.service.view(view.source.name), "files")
        assert [entry["enabled"] for entry in place.servers.entries] == [False]
        assert not (project / "ran").exists()
        (project / ".claude" / "skills" / "pdf" / "SKILL.md").write_text(SKILL.format(name="pdf") + "More.\n")
        changed = item(await place.look(view.source.name), "pdf")
        assert changed.status == "text"
        assert "More." not in place.taken_files(view.source.name)["pdf/SKILL.md"]
    finally:
        await place.close()
