"""Public skills, as their repositories have them: loaded, listed, used with their files, and chosen for plain requests.

Run with ``-m soak`` and ASSENT_PUBLIC_SKILLS naming a folder that holds the repositories, each in a folder of its own.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from desktop.agents.skill.discovery import resolve_visible_tools
from desktop.domain.errors import KnownError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Access
from desktop.domain.skills import SkillDef
from desktop.pipeline.names import ExactTools
from desktop.services.skills.activation import chosen, fitting
from desktop.services.skills.files import FilesWithSkills
from desktop.services.skills.world import SkillWorld
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.formats.folder import folder_files
from desktop.skills.resolution.fabric import SkillFabric
from tests.unit.pipeline.kit import Table
from tests.unit.safety.world import World
from tests.unit.skills.resolution.kit import MemoryStore

REQUESTS = Path(__file__).resolve().parents[3] / "data" / "skill_requests.tsv"
FEW = ("anthropics", "obra", "openai", "vercel-labs", "google-gemini")
"""Beginnings of the folders of a modest installation."""
READ_FILES = 1_000_000
"""Bytes beyond which a file of a skill is for a command to read."""


def repositories() -> list[Path]:
    folder = os.environ.get("ASSENT_PUBLIC_SKILLS", "")
    if not folder:
        pytest.skip("ASSENT_PUBLIC_SKILLS names no folder with public skills")
    return sorted(path for path in Path(folder).iterdir() if path.is_dir())


def opened(root: Path) -> SkillFabric:
    fabric = SkillFabric.open([SearchRoot(str(root), "shared")], pin_store=MemoryStore())
    fabric.refresh()
    return fabric


@pytest.mark.soak
@pytest.mark.spec("R-SK-2", "R-RES-9")
async def test_public_skills_are_loaded_listed_and_used_with_their_files(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for root in repositories():
        fabric = opened(root)
        known = fabric.globals.index.peek(str(root), fabric._ignores)
        assert known is not None
        counts["SKILL.md"] += sum(rel.endswith("SKILL.md") for rel in known.listing.files)
        counts["loaded"] += sum(1 for number in range(len(known)) if known.columns[1][number])
        world, reading = SkillWorld(fabric, Table()), FilesWithSkills(World(tmp_path / root.name).files())
        reading.skills = world.in_use
        visible = {tool.spec.name for tool in resolve_visible_tools(world.table.tools(), ExactTools(None)).usable}
        for skill in fabric.list_tools():
            counts["with a name of their own"] += 1
            counts["ready"] += skill.state == "ready"
            counts["listed to a model"] += skill.name in visible
            await used(world, reading, skill, counts, wrong)
        world.close()
    print(*(f"{name}: {count}" for name, count in counts.items()), *wrong[:20], sep="\n")
    assert counts["ready"] == counts["text given"] + counts["text refused"]
    assert not wrong


async def used(
    world: SkillWorld, reading: FilesWithSkills, skill: SkillDef, counts: Counter[str], wrong: list[str]
) -> None:
    """Bring one in, and read every file that it is told of."""
    if skill.state != "ready":
        return
    try:
        text = await world.expanded(skill, {}, {}, {}, token=CancellationToken())
    except KnownError:
        counts["text refused"] += 1
        return
    counts["text given"] += 1
    folder = os.path.dirname(skill.path)
    if folder not in text:
        wrong.append(f"{skill.path}: its folder is not told")
    for file in folder_files(skill).files:
        counts["files"] += 1
        path = os.path.join(folder, file.path)
        if file.size > READ_FILES:
            counts["files too large to be read as text"] += 1
        elif not reading.explain(path, Access.READ).allowed:
            wrong.append(f"{path} is closed")
        else:
            with reading.open_read(path) as stream:
                counts["files read"] += len(stream.read()) == file.size


@pytest.mark.soak
def test_plain_requests_bring_in_the_right_public_skill_and_hardly_ever_a_wrong_one() -> None:
    lines = [line for line in REQUESTS.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(lines) == 100
    roots = repositories()
    for name, part in (("few", [root for root in roots if root.name.startswith(FEW)]), ("all", roots)):
        skills = {skill.name: skill for root in part for skill in opened(root).list_tools()}
        counts: Counter[str] = Counter()
        for line in lines:
            text, _, names = line.partition("\t")
            right = set(names.split()) & skills.keys()
            if names and not right:
                continue  # that skill is not installed
            came = {skill.name for skill in chosen(text, skills.values())}
            shown = {skill.name for skill in fitting(text, skills.values())}
            counts["requests that a skill fits"] += bool(right)
            counts["the right one came"] += bool(right & came)
            counts["among those shown"] += bool(right & shown)
            counts["requests that none fits"] += not right
            counts["wrong ones came"] += len(came - set(names.split()))
        print(name, len(skills), dict(counts))
        assert counts["wrong ones came"] * 10 <= counts["the right one came"]
        assert counts["among those shown"] >= 0.9 * counts["requests that a skill fits"]
