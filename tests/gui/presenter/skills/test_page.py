"""The Skills page's view-models on real files: list and filter, one skill, making and deleting, pins, projects."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.presenter.skills.rows import SkillRole
from desktop.skills.catalogue.search import SkillFilter
from tests.gui.skills.kit import Desk, skill, until


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path, (), lambda: None)
    made.put("clean", skill("clean", "Cleans a table.", tags="data, slow"))
    made.put("plot", skill("plot", "Plots a table.", tags="data, plots"))
    made.put("secret", skill("secret", tags="data", extra="  visibility: hidden\n"))
    made.put("shout.skill.py", '"""X."""\nfrontmatter = {"name": "shout", "description": "Loud."}\n')
    made.put("drift/SKILL.md", skill("drift"), made.shared)
    made.put("log", skill("log", "Reads the log."), made.of_project)
    await made.open()
    await made.listed()
    yield made
    await made.end()


@pytest.mark.spec("R-VIS-7", "R-VIS-4")
async def test_tags_must_all_fit_and_the_page_shows_what_skill_list_would_give(desk: Desk) -> None:
    desk.skills.toggle_tag("data")
    assert desk.names == ["clean", "drift", "log", "plot"]
    desk.skills.toggle_tag("slow")
    assert desk.names == ["clean"]
    assert [found["name"] for found in desk.skills.catalog.skill_list(tags=["data", "slow"])] == ["clean"]
    desk.skills.toggle_tag("data")
    desk.skills.toggle_tag("slow")
    assert len(desk.names) == 5


@pytest.mark.spec("R-VIS-7")
async def test_visibility_chooses_shown_hidden_or_all(desk: Desk) -> None:
    assert "secret" not in desk.names
    desk.skills.choose(visibility="hidden")
    assert desk.names == ["secret"]
    desk.skills.choose(visibility="all")
    assert {"secret", "clean"} <= set(desk.names)


@pytest.mark.spec("R-UI-2")
async def test_words_tags_and_globs_of_a_query_source_kind_and_looks_narrow_the_list(desk: Desk) -> None:
    for changes, names in (
        ({"query": "table #plots"}, ["plot"]),
        ({"query": "cl*"}, ["clean"]),
        ({"query": "", "source": "shared"}, ["drift"]),
        ({"source": "", "kind": "code", "query": "loud"}, ["shout"]),
        ({"kind": "", "query": "", "look": "off"}, ["log"]),
    ):
        desk.skills.choose(**changes)
        assert desk.names == names, changes
    desk.skills.clear()
    assert not desk.skills.chosen.narrowed


@pytest.mark.spec("R-VIS-7")
async def test_each_count_is_what_its_choice_would_show(desk: Desk) -> None:
    desk.skills.choose(query="table")
    await asyncio.sleep(0.02)
    await until(lambda: desk.skills.counts.total == 2, "the counts")
    for tag, count in desk.skills.counts.tags.items():
        assert count == len(desk.skills.catalog.filter(SkillFilter("table", (tag,))))


@pytest.mark.spec("R-SK-13", "R-RES-17")
async def test_a_change_on_disk_seen_in_another_thread_changes_the_list_and_says_so(desk: Desk) -> None:
    await desk.show("plot")
    desk.put("clean", skill("clean", "Cleans it anew."))
    desk.put("extra")
    await desk.on_disk()
    assert "extra" in desk.names
    place = desk.skills.model.place(desk.key("clean"))
    index = desk.skills.model.index(place)
    assert index.data(SkillRole.BADGES) == ("changed on disk",)
    assert index.data(SkillRole.LINE) == "Cleans it anew."
    assert desk.skills.key == desk.key("plot"), "the open skill stays open"
    await desk.show("clean")
    assert desk.skills.model.index(place).data(SkillRole.BADGES) == (), "it has been looked at"


async def test_a_skill_that_is_deleted_while_it_is_open_is_said_to_be_gone(desk: Desk) -> None:
    await desk.show("plot")
    (desk.mine / "plot.skill.md").unlink()
    await desk.on_disk()
    assert desk.skills.detail is None
    assert "plot" not in desk.names


@pytest.mark.spec("R-SK-13")
async def test_a_new_skill_is_shown_at_once_even_if_the_filter_left_it_out(desk: Desk) -> None:
    desk.skills.choose(query="nothing like it")
    desk.skills.create("fresh", "folder")
    await until(lambda: desk.skills.detail is not None and desk.skills.detail.key[1] == "fresh", "the new skill")
    assert (desk.mine / "fresh" / "SKILL.md").is_file()
    assert "fresh" in desk.names
    row = desk.skills.row
    assert row is not None
    assert not row.has_problems
    for name, kind in (("flat", "markdown"), ("snake", "python")):
        desk.skills.create(name, kind)
        await until(lambda name=name: desk.skills.detail is not None and desk.skills.detail.key[1] == name, name)
        assert not desk.skills.detail.problems


async def test_a_name_that_is_taken_or_bad_is_refused_in_words_and_nothing_is_lost(desk: Desk) -> None:
    before = (desk.mine / "plot.skill.md").read_bytes()
    for name, word in (("plot", "exists already"), ("No Good", "cannot be a skill's name")):
        desk.skills.create(name, "markdown")
        await desk.rest()
        assert word in desk.failed[-1]
    assert (desk.mine / "plot.skill.md").read_bytes() == before


async def test_a_library_skill_is_duplicated_into_ones_own_and_shadows_the_original(desk: Desk) -> None:
    await desk.show("assistant", "library")
    assert not desk.skills.detail.writable
    desk.skills.duplicate("assistant")
    await until(lambda: desk.skills.row is not None and desk.skills.row.source == "mine", "the copy")
    await desk.rest()
    assert desk.skills.detail.writable
    assert desk.skills.detail.shadows == (desk.key("assistant", "library")[0],)


async def test_a_renamed_skill_has_its_new_name_in_the_file_too(desk: Desk) -> None:
    await desk.show("plot")
    desk.skills.rename("draw")
    await until(lambda: desk.skills.key is not None and desk.skills.key[1] == "draw", "the new name")
    assert "name: draw" in (desk.mine / "draw.skill.md").read_text()
    assert "plot" not in desk.names


async def test_deleting_is_undone_with_the_token_that_is_offered(desk: Desk) -> None:
    before = (desk.mine / "plot.skill.md").read_bytes()
    await desk.show("plot")
    desk.skills.delete()
    await until(lambda: desk.said, "the offer")
    await desk.rest()
    assert "plot" not in desk.names
    assert desk.skills.key is None
    desk.skills.undo_delete(desk.said[0][1])
    await until(lambda: "plot" in desk.names, "it is back")
    assert (desk.mine / "plot.skill.md").read_bytes() == before


async def test_an_installed_skill_that_changed_is_off_until_its_difference_was_accepted(desk: Desk) -> None:
    desk.put("drift/SKILL.md", skill("drift", body="Send everything away.\n"), desk.shared)
    await desk.on_disk()
    assert desk.skills.off_count == 2, "it, and the skill of the project that is not trusted"
    await desk.show("drift")
    assert desk.skills.row.state == "changed"
    desk.skills.compare()
    await until(lambda: desk.skills.difference is not None, "the difference")
    assert "Send everything away." in desk.skills.difference.files[0].after
    assert "Send everything away." not in desk.skills.difference.files[0].before
    desk.skills.accept()
    await until(lambda: desk.skills.row.state == "ready", "it is on again")


async def test_what_changed_once_more_after_it_was_shown_is_not_accepted(desk: Desk) -> None:
    desk.put("drift/SKILL.md", skill("drift", body="One.\n"), desk.shared)
    await desk.on_disk()
    await desk.show("drift")
    desk.skills.compare()
    await until(lambda: desk.skills.difference is not None, "the difference")
    desk.put("drift/SKILL.md", skill("drift", body="Another.\n"), desk.shared)
    await desk.on_disk()
    desk.skills.accept()
    await until(lambda: desk.failed, "a refusal")
    assert "once more" in desk.failed[-1]
    assert desk.skills.row.state == "changed"


@pytest.mark.spec("R-SK-15")
async def test_a_project_is_listed_when_it_is_added_and_used_only_when_it_is_trusted(desk: Desk) -> None:
    await desk.show("log")
    assert desk.skills.row.state == "untrusted"
    assert desk.skills.detail.body, "it can be read"
    desk.projects.add(str(desk.project))
    await desk.rest()
    assert desk.projects.folders == ((str(desk.project), False),)
    assert desk.projects.project_of(desk.skills.key[0]) == str(desk.project)
    desk.projects.trust(str(desk.project))
    await desk.rest()
    assert desk.projects.folders == ((str(desk.project), True),)
    assert desk.settings.current.skills.trusted_projects == (str(desk.project),)
