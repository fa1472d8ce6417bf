"""The Skills page's view-models on real files: list and filter, one skill, making and deleting, pins, projects."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.skill.discovery import resolve_visible_tools
from desktop.app.wiring.skills import follow_settings
from desktop.presenter.skills.rows import SkillRole
from desktop.skills.catalogue.search import SkillFilter
from desktop.skills.patterns.lists import AllowedList
from tests.gui.skills.kit import ROOT, SkillsBench, skill
from tests.harness.timeouts import until


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SkillsBench]:
    made = SkillsBench(tmp_path, (), lambda: None)
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
async def test_tags_must_all_fit_and_the_page_shows_what_skill_list_would_give(bench: SkillsBench) -> None:
    bench.skills.toggle_tag("data")
    assert bench.names == ["clean", "drift", "log", "plot"]
    bench.skills.toggle_tag("slow")
    assert bench.names == ["clean"]
    assert [found["name"] for found in bench.skills.catalog.skill_list(tags=["data", "slow"])] == ["clean"]
    bench.skills.toggle_tag("data")
    bench.skills.toggle_tag("slow")
    assert len(bench.names) == 5


@pytest.mark.spec("R-VIS-7")
async def test_visibility_chooses_shown_hidden_or_all(bench: SkillsBench) -> None:
    assert "secret" not in bench.names
    bench.skills.choose(visibility="hidden")
    assert bench.names == ["secret"]
    bench.skills.choose(visibility="all")
    assert {"secret", "clean"} <= set(bench.names)


@pytest.mark.spec("R-UI-2")
async def test_words_tags_and_globs_of_a_query_source_kind_and_looks_narrow_the_list(bench: SkillsBench) -> None:
    for changes, names in (
        ({"query": "table #plots"}, ["plot"]),
        ({"query": "cl*"}, ["clean"]),
        ({"query": "", "source": "shared"}, ["drift"]),
        ({"source": "", "kind": "code", "query": "loud"}, ["shout"]),
        ({"kind": "", "query": "", "look": "off"}, ["log"]),
    ):
        bench.skills.choose(**changes)
        assert bench.names == names, changes
    bench.skills.clear()
    assert not bench.skills.chosen.narrowed


@pytest.mark.spec("R-VIS-7")
async def test_each_count_is_what_its_choice_would_show(bench: SkillsBench) -> None:
    bench.skills.choose(query="table")
    await asyncio.sleep(0.02)
    await until(lambda: bench.skills.counts.total == 2, "the counts")
    for tag, count in bench.skills.counts.tags.items():
        assert count == len(bench.skills.catalog.filter(SkillFilter("table", (tag,))))


@pytest.mark.spec("R-SK-13", "R-RES-17")
async def test_a_change_on_disk_seen_in_another_thread_changes_the_list_and_says_so(bench: SkillsBench) -> None:
    await bench.show("plot")
    bench.put("clean", skill("clean", "Cleans it anew."))
    bench.put("extra")
    await bench.on_disk()
    assert "extra" in bench.names
    place = bench.skills.model.place(bench.key("clean"))
    index = bench.skills.model.index(place)
    assert index.data(SkillRole.BADGES) == ("changed on disk",)
    assert index.data(SkillRole.LINE) == "Cleans it anew."
    assert bench.skills.key == bench.key("plot"), "the open skill stays open"
    await bench.show("clean")
    assert bench.skills.model.index(place).data(SkillRole.BADGES) == (), "it has been looked at"


async def test_a_skill_that_is_deleted_while_it_is_open_is_said_to_be_gone(bench: SkillsBench) -> None:
    await bench.show("plot")
    (bench.mine / "plot.skill.md").unlink()
    await bench.on_disk()
    assert bench.skills.detail is None
    assert "plot" not in bench.names


@pytest.mark.spec("R-SK-13")
async def test_a_new_skill_is_shown_at_once_even_if_the_filter_left_it_out(bench: SkillsBench) -> None:
    bench.skills.choose(query="nothing like it")
    bench.skills.create("fresh", "folder")
    await until(lambda: bench.skills.detail is not None and bench.skills.detail.key[1] == "fresh", "the new skill")
    assert (bench.mine / "fresh" / "SKILL.md").is_file()
    assert "fresh" in bench.names
    row = bench.skills.row
    assert row is not None
    assert not row.has_problems
    for name, kind in (("flat", "markdown"), ("snake", "python")):
        bench.skills.create(name, kind)
        await until(lambda name=name: bench.skills.detail is not None and bench.skills.detail.key[1] == name, name)
        assert not bench.skills.detail.problems


async def test_a_name_that_is_taken_or_bad_is_refused_in_words_and_nothing_is_lost(bench: SkillsBench) -> None:
    before = (bench.mine / "plot.skill.md").read_bytes()
    for name, word in (("plot", "exists already"), ("No Good", "cannot be a skill's name")):
        bench.skills.create(name, "markdown")
        await bench.rest()
        assert word in bench.failed[-1]
    assert (bench.mine / "plot.skill.md").read_bytes() == before


async def test_a_library_skill_is_duplicated_into_ones_own_and_shadows_the_original(bench: SkillsBench) -> None:
    await bench.show("assistant", "library")
    assert not bench.skills.detail.writable
    bench.skills.duplicate("assistant")
    await until(lambda: bench.skills.row is not None and bench.skills.row.source == "mine", "the copy")
    await bench.rest()
    assert bench.skills.detail.writable
    assert bench.skills.detail.shadows == (bench.key("assistant", "library")[0],)


async def test_a_renamed_skill_has_its_new_name_in_the_file_too(bench: SkillsBench) -> None:
    await bench.show("plot")
    bench.skills.rename("draw")
    await until(lambda: bench.skills.key is not None and bench.skills.key[1] == "draw", "the new name")
    assert "name: draw" in (bench.mine / "draw.skill.md").read_text()
    assert "plot" not in bench.names


async def test_deleting_is_undone_with_the_token_that_is_offered(bench: SkillsBench) -> None:
    before = (bench.mine / "plot.skill.md").read_bytes()
    await bench.show("plot")
    bench.skills.delete()
    await until(lambda: bench.said, "the offer")
    await bench.rest()
    assert "plot" not in bench.names
    assert bench.skills.key is None
    bench.skills.undo_delete(bench.said[0][1])
    await until(lambda: "plot" in bench.names, "it is back")
    assert (bench.mine / "plot.skill.md").read_bytes() == before


async def test_an_installed_skill_that_changed_is_off_until_its_difference_was_accepted(bench: SkillsBench) -> None:
    bench.put("drift/SKILL.md", skill("drift", body="Send everything away.\n"), bench.shared)
    await bench.on_disk()
    assert bench.skills.off_count == 2, "it, and the skill of the project that is not trusted"
    await bench.show("drift")
    assert bench.skills.row.state == "changed"
    bench.skills.compare()
    await until(lambda: bench.skills.difference is not None, "the difference")
    assert "Send everything away." in bench.skills.difference.files[0].after
    assert "Send everything away." not in bench.skills.difference.files[0].before
    bench.skills.accept()
    await until(lambda: bench.skills.row.state == "ready", "it is on again")


async def test_what_changed_once_more_after_it_was_shown_is_not_accepted(bench: SkillsBench) -> None:
    bench.put("drift/SKILL.md", skill("drift", body="One.\n"), bench.shared)
    await bench.on_disk()
    await bench.show("drift")
    bench.skills.compare()
    await until(lambda: bench.skills.difference is not None, "the difference")
    bench.put("drift/SKILL.md", skill("drift", body="Another.\n"), bench.shared)
    await bench.on_disk()
    bench.skills.accept()
    await until(lambda: bench.failed, "a refusal")
    assert "once more" in bench.failed[-1]
    assert bench.skills.row.state == "changed"


@pytest.mark.spec("R-SK-15")
async def test_a_project_is_listed_when_it_is_added_and_used_only_when_it_is_trusted(
    bench: SkillsBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(bench.person))

    def offered() -> bool:
        listed = {found["name"] for found in bench.skills.catalog.skill_list()}
        usable = resolve_visible_tools(bench.world.table.tools(), AllowedList.of("*")).usable
        assert ("log" in listed) == ("log" in {tool.spec.name for tool in usable})
        return "log" in listed

    def spawn(change: Coroutine[Any, Any, Any], name: str) -> None:
        bench.bridge.spawn(change, name=name)

    follow_settings(bench.world, bench.settings, bench.home, ROOT / "skills", spawn)
    await bench.show("log")
    assert (bench.skills.row.state, offered()) == ("untrusted", False)
    assert bench.skills.detail.body, "it can be read"
    bench.projects.add(str(bench.project))
    await bench.rest()
    assert bench.projects.folders == ((str(bench.project), False),)
    assert bench.projects.project_of(bench.skills.key[0]) == str(bench.project)
    assert (bench.skills.row.state, offered()) == ("untrusted", False)
    bench.projects.trust(str(bench.project))
    await until(lambda: bench.skills.row.state == "ready", "it is on")
    assert offered()
    assert bench.projects.folders == ((str(bench.project), True),)
    assert bench.settings.current.skills.trusted_projects == (str(bench.project),)
