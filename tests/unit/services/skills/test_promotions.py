"""``$local`` and ``$global``: only a trusted project's main skill promotes, and never over what is the app's own."""

import asyncio
from pathlib import Path

import pytest

from desktop.services.skills.world import SkillWorld
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.fabric import SkillFabric
from tests.unit.pipeline.kit import Table
from tests.unit.services.kit import ROOT, skill_world

LIBRARY = SearchRoot(str(ROOT / "skills"), "library")


def chief(folder: Path, more: str = "") -> str:
    """A main skill in a folder, which promotes."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "---\nname: chief\ndescription: Leads.\nmetadata:\n  role: main\n  $local: {team: blue}\n"
    (folder / "chief.skill.md").write_text(f"{text}  $global:\n    house: white\n{more}---\nLead.\n")
    return str(folder)


def closed_after(world: SkillWorld) -> tuple[bool, bool]:
    """Whether anything was promoted: (into locals, into globals)."""
    world.promote()
    found = (bool(world._promoted().local), "house" in world.shared)
    world.close()
    return found


@pytest.mark.spec("R-INV-13", "R-SK-10", "R-SK-15")
@pytest.mark.parametrize(
    ("source", "trusted", "promotes"),
    [("project", True, True), ("project", False, False), ("mine", True, False), ("shared", True, False)],
)
async def test_only_the_main_skill_of_a_trusted_project_promotes(
    tmp_path: Path, source: str, trusted: bool, promotes: bool
) -> None:
    folder = chief(tmp_path / "p" / ".agents" / "skills")
    root = SearchRoot(folder, source, trusted, str(tmp_path / "p") if source == "project" else "")  # type: ignore[arg-type]
    world = await asyncio.to_thread(skill_world, Table(), root, LIBRARY)
    assert await asyncio.to_thread(closed_after, world) == (promotes, promotes)


@pytest.mark.spec("R-INV-13")
async def test_the_librarys_main_skill_promotes_nothing(tmp_path: Path) -> None:
    fabric = SkillFabric.open([SearchRoot(chief(tmp_path / "library"), "library")])
    fabric.refresh()
    assert await asyncio.to_thread(closed_after, SkillWorld(fabric, Table())) == (False, False)


@pytest.mark.spec("R-INV-13")
async def test_a_promotion_replaces_nothing_of_the_apps_own(tmp_path: Path) -> None:
    own = dict(skill_world(Table(), LIBRARY).shared)
    assert own
    more = "".join(f"    {key}: theirs\n" for key in own)
    folder = chief(tmp_path / "p" / ".agents" / "skills", more)
    world = skill_world(Table(), SearchRoot(folder, "project", True, str(tmp_path / "p")), LIBRARY)
    before = {key: value for key, value in world.shared.items() if key in own}
    await asyncio.to_thread(world.promote)
    assert world.shared["house"] == "white"
    assert set(before) == set(own)
    assert all(world.shared[key] is value for key, value in before.items())
    await asyncio.to_thread(world.close)
