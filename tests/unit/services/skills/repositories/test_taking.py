"""Repositories: added, looked at, taken from, compared, undone, removed, shared by a lock file. With the real git."""

from __future__ import annotations

import asyncio
import os
import sys
import tarfile
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.services.skills.repositories.git import GitSurroundings
from desktop.skills.repositories.lock import LockRefused
from tests.unit.services.skills.repositories.kit import Place, Repository, Servers, item, skill

DRIFT = skill("drift-check", tools="read-file write-file(path=data/**)")
FILES = {
    "README.md": "# Gauges\n",
    "drift-check/SKILL.md": DRIFT,
    "drift-check/scripts/compare.py": "print(1)\n",
    "gauge-plot/SKILL.md": skill("gauge-plot", "Plots gauges over time."),
    "one.skill.md": skill("station-names", "Names and codes."),
    ".claude-plugin/plugin.json": '{"name": "gauges"}',
    "agents/log-reader.md": "---\nname: log-reader\ndescription: Answers from the log.\ntools: Read\n---\nAnswer.\n",
    "commands/report.md": "Write the weekly report.\n",
    ".mcp.json": '{"mcpServers": {"ship-tracks": {"command": "uvx", "args": ["ship-tracks"]}}}',
    "hooks/hooks.json": '{"hooks": {"PostToolUse": []}}',
    "surge-mail/SKILL.md": "---\nname: surge-mail\n---\nSend it.\n",
}


@pytest.fixture
def gauges(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "remote" / "gauge-skills")
    made.commit(FILES)
    return made


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    yield made
    await made.close()


async def test_adding_shows_what_it_brings_with_its_problems_and_takes_nothing(
    place: Place, gauges: Repository
) -> None:
    view = await place.add(gauges)
    assert view.source.name == "gauge-skills"
    assert view.source.commit == gauges.git("rev-parse", "HEAD")
    assert {one.name: (one.kind, one.status) for one in view.items} == {
        "drift-check": ("skill", "new"),
        "gauge-plot": ("skill", "new"),
        "station-names": ("skill", "new"),
        "log-reader": ("agent", "new"),
        "report": ("command", "new"),
        "ship-tracks": ("server", "new"),
        "surge-mail": ("skill", "problem"),
    }
    assert "description" in item(view, "surge-mail").offer.problems[0].message  # type: ignore[union-attr]
    assert (view.hooks, view.taken) == (1, 0)
    assert place.taken_files("gauge-skills") == {}
    assert place.state("drift-check") == ""
    assert place.servers.entries == []
    assert not place.shelf.lock_file.exists()


async def test_what_is_taken_is_an_ordinary_skill_that_is_on_and_pinned(place: Place, gauges: Repository) -> None:
    view = await place.take(await place.add(gauges), "drift-check", "log-reader")
    assert (view.taken, view.changed) == (2, 0)
    assert place.state("drift-check") == "ready"
    assert place.taken_files("gauge-skills")["drift-check/scripts/compare.py"] == "print(1)\n"
    agent = place.fabric.find_tool("log-reader")
    assert agent is not None
    assert agent.allowed_tools == "read-file"
    assert place.state("gauge-plot") == ""
    script = place.shelf.place("gauge-skills") / "drift-check" / "scripts" / "compare.py"
    script.write_text("print(2)\n")
    place.fabric.refresh()
    assert place.state("drift-check") == "changed", "off until it was looked at"


async def test_servers_come_into_mcp_yaml_switched_off(place: Place, gauges: Repository) -> None:
    view = await place.take(await place.add(gauges), "ship-tracks")
    assert [(entry["name"], entry["enabled"]) for entry in place.servers.entries] == [("ship-tracks", False)]
    assert item(view, "ship-tracks").status == "same"


async def test_a_taken_server_that_is_another_now_is_replaced_or_taken_out_in_one_step(
    place: Place, gauges: Repository
) -> None:
    view = await place.take(await place.add(gauges), "ship-tracks")
    place.servers.entries = [{**place.servers.entries[0], "enabled": True}]
    await place.take(view, "ship-tracks")
    assert place.servers.entries[0]["enabled"] is True, "one that is the same stays as the person has it"
    gauges.commit({".mcp.json": '{"mcpServers": {"ship-tracks": {"command": "other"}}}'})
    view = await place.look("gauge-skills")
    assert item(view, "ship-tracks").changed
    await place.take(view, "ship-tracks")
    assert [(one["command"], one["enabled"]) for one in place.servers.entries] == [("other", False)]
    view = await place.service.undo("gauge-skills")
    assert [(one["command"], one["enabled"]) for one in place.servers.entries] == [("uvx", True)]
    assert item(view, "ship-tracks").changed
    view = await place.service.take("gauge-skills", {}, [("server", "ship-tracks")])
    assert place.servers.entries == []
    assert item(view, "ship-tracks").taken is None
    await place.service.undo("gauge-skills")
    assert [one["command"] for one in place.servers.entries] == ["uvx"]


async def test_a_server_that_the_person_removed_can_be_taken_again_and_one_they_wrote_stays(
    place: Place, gauges: Repository
) -> None:
    view = await place.take(await place.add(gauges), "ship-tracks")
    place.servers.entries = []
    view = await place.service.view("gauge-skills")
    assert item(view, "ship-tracks").taken is None
    await place.take(view, "ship-tracks")
    assert [one["name"] for one in place.servers.entries] == ["ship-tracks"]


async def test_a_change_that_fails_leaves_mcp_yaml_as_it_was(place: Place, gauges: Repository) -> None:
    view = await place.add(gauges)
    (place.shelf.data("gauge-skills") / "next").write_text("in the way")
    with pytest.raises(OSError, match="next"):
        await place.take(view, "ship-tracks", "drift-check")
    assert place.servers.entries == []
    assert place.taken_files("gauge-skills") == {}


async def test_looking_for_changes_tells_words_from_reach_and_new_from_gone(place: Place, gauges: Repository) -> None:
    view = await place.add(gauges)
    await place.take(view, *(one.name for one in view.items if one.takeable and one.kind != "server"))
    had = place.taken_files("gauge-skills")
    (gauges.path / "one.skill.md").unlink()
    gauges.commit(
        {
            "drift-check/SKILL.md": DRIFT.replace("data/**)", "data/**) web-fetch(url=https://tides.example/**)"),
            "drift-check/scripts/fetch.py": "print(2)\n",
            "gauge-plot/SKILL.md": FILES["gauge-plot/SKILL.md"].replace("well", "better"),
            "tide-fit/SKILL.md": skill("tide-fit"),
        }
    )
    view = await place.look("gauge-skills")
    assert {one.name: one.status for one in view.items if one.kind != "server"} == {
        "drift-check": "reach",
        "gauge-plot": "text",
        "station-names": "gone",
        "log-reader": "same",
        "report": "same",
        "tide-fit": "new",
        "surge-mail": "problem",
    }
    assert item(view, "drift-check").more == {"Tools", "Hosts", "Scripts"}
    assert view.changed == 3
    assert place.taken_files("gauge-skills") == had, "nothing changes until it is taken"
    assert place.state("drift-check") == "ready"


async def test_a_script_that_is_another_is_more_than_words(place: Place, gauges: Repository) -> None:
    await place.take(await place.add(gauges), "drift-check")
    gauges.commit({"drift-check/scripts/compare.py": "import os\n"})
    assert item(await place.look("gauge-skills"), "drift-check").status == "reach"


async def test_code_that_is_another_is_more_than_words(place: Place, tmp_path: Path) -> None:
    made = Repository(tmp_path / "remote" / "code")
    code = 'frontmatter = {"name": "count", "description": "Counts.", "allowed-tools": "read-file"}\n\n'
    made.commit({"count.skill.py": code + "def run(ctx, args):\n    return 1\n"})
    await place.take(await place.add(made), "count")
    assert place.state("count") == "ready"
    made.commit({"count.skill.py": code + "def run(ctx, args):\n    return 2\n"})
    assert item(await place.look("code"), "count").status == "reach"


async def test_a_script_that_may_run_now_is_another(place: Place, gauges: Repository) -> None:
    await place.take(await place.add(gauges), "drift-check")
    (gauges.path / "drift-check" / "scripts" / "compare.py").chmod(0o755)
    gauges.commit()
    assert item(await place.look("gauge-skills"), "drift-check").status != "same"


async def test_an_update_is_on_at_once_shows_its_difference_and_can_be_undone(place: Place, gauges: Repository) -> None:
    await place.take(await place.add(gauges), "gauge-plot", "drift-check")
    before = place.taken_files("gauge-skills")
    newer = FILES["gauge-plot/SKILL.md"].replace("well", "better")
    commit = gauges.commit({"gauge-plot/SKILL.md": newer})
    view = await place.look("gauge-skills")
    detail = await place.service.detail("gauge-skills", ("skill", "gauge-plot"))
    (file,) = detail.difference.files
    assert (file.name, file.before, file.after) == ("SKILL.md", before["gauge-plot/SKILL.md"], newer)
    view = await place.take(view, "gauge-plot")
    assert place.taken_files("gauge-skills") == {**before, "gauge-plot/SKILL.md": newer}
    assert place.state("gauge-plot") == "ready"
    assert item(view, "gauge-plot").taken.commit == commit  # type: ignore[union-attr]
    assert item(view, "drift-check").taken.commit != commit  # type: ignore[union-attr]
    await place.service.undo("gauge-skills")
    assert place.taken_files("gauge-skills") == before
    assert place.state("gauge-plot") == "ready"


async def test_what_a_person_keeps_is_not_said_again_until_it_changes_once_more(
    place: Place, gauges: Repository
) -> None:
    await place.take(await place.add(gauges), "gauge-plot")
    gauges.commit({"gauge-plot/SKILL.md": skill("gauge-plot", "Second.")})
    await place.look("gauge-skills")
    assert (await place.service.keep("gauge-skills", ("skill", "gauge-plot"))).changed == 0
    assert (await place.look("gauge-skills")).changed == 0
    gauges.commit({"gauge-plot/SKILL.md": skill("gauge-plot", "Third.")})
    assert (await place.look("gauge-skills")).changed == 1


async def test_a_name_of_ones_own_stays_before_that_of_a_repository(place: Place, gauges: Repository) -> None:
    (place.home / "skills" / "gauge-plot.skill.md").write_text(skill("gauge-plot", "Mine."))
    place.fabric.refresh()
    view = await place.add(gauges)
    assert item(view, "gauge-plot").behind == "mine"
    assert not item(view, "gauge-plot").in_order
    await place.take(view, "gauge-plot")
    found = place.fabric.find_tool("gauge-plot")
    assert found is not None
    assert found.description == "Mine."


async def test_what_became_another_between_the_look_and_the_press_is_not_taken(
    place: Place, gauges: Repository
) -> None:
    view = await place.add(gauges)
    gauges.commit({item(view, "gauge-plot").rel: skill("gauge-plot", "Another.", tools="bash")})
    looking = asyncio.create_task(place.look(view.source.name))
    await asyncio.sleep(0)  # it has begun: whoever presses now waits for its end
    with pytest.raises(KnownError, match="another one by now"):
        await place.take(view, "gauge-plot")
    fresh = await looking
    assert place.taken_files(view.source.name) == {}
    await place.take(fresh, "gauge-plot")
    assert place.state("gauge-plot") == "ready"


async def test_two_repositories_of_one_name_stand_beside_each_other(place: Place, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        Repository(tmp_path / folder / "skills").commit({"tide/SKILL.md": skill("tide", f"Of {folder}.")})
        view = await place.add(tmp_path / folder / "skills")
        await place.take(view, "tide")
    assert [one.source.name for one in await place.service.views()] == ["skills", "skills-2"]
    with pytest.raises(KnownError, match="as skills"):
        await place.add(tmp_path / "a" / "skills")


async def test_removing_a_repository_takes_what_was_taken_and_nothing_else(place: Place, gauges: Repository) -> None:
    view = await place.add(gauges)
    await place.take(view, "drift-check", "ship-tracks")
    await place.service.remove("gauge-skills")
    assert await place.service.views() == ()
    assert place.state("drift-check") == ""
    assert not place.shelf.place("gauge-skills").exists()
    assert not place.shelf.data("gauge-skills").exists()
    assert len(place.servers.entries) == 1, "mcp.yaml is the person's"
    assert (gauges.path / "drift-check" / "SKILL.md").exists()
    await place.take(await place.add(gauges), "drift-check")
    assert place.state("drift-check") == "ready", "taken once more, it is on"


async def test_one_of_several_with_a_name_can_be_had_under_another(place: Place, tmp_path: Path) -> None:
    shop = Repository(tmp_path / "remote" / "shop")
    shop.commit(
        {
            "plugins/sea/skills/review/SKILL.md": skill("review", "Of the sea."),
            "plugins/land/skills/review/SKILL.md": skill("review", "Of the land."),
            "plugins/land/skills/review/notes.md": "x\n",
            "copy/review/SKILL.md": skill("review", "Of the sea."),
            "misnamed/SKILL.md": skill("Tide Fit", "With a name for people."),
            "colon/SKILL.md": "---\nname: colon\ndescription: Use it: always.\nallowed-tools: Read\n---\nx\n",
        }
    )
    view = await place.add(shop)
    assert sorted(one.name for one in view.items) == ["colon", "land-review", "misnamed", "review"]
    await place.take(view)
    names = {one.name for one in view.items}
    assert all(place.state(name) == "ready" for name in names)
    colon = place.fabric.find_tool("colon")
    assert colon is not None
    assert (colon.description, colon.allowed_tools) == ("Use it: always.", "read-file")
    assert (await place.look("shop")).changed == 0


@pytest.mark.parametrize("form", ["folder", "zip", "tar.gz"])
async def test_a_folder_or_an_archive_is_a_source_without_git(form: str, place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "from" / "gauges"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    source = folder
    if form == "zip":
        source = tmp_path / "gauges.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for name, text in FILES.items():
                archive.writestr(name, text)
    elif form == "tar.gz":
        source = tmp_path / "gauges.tar.gz"
        with tarfile.open(source, "w:gz") as tar:
            tar.add(folder, "gauges")
    view = await place.add(source)
    assert view.source.commit == ""
    assert {one.name for one in view.items} == {
        "drift-check",
        "gauge-plot",
        "station-names",
        "surge-mail",
        "ship-tracks",
        "log-reader",
        "report",
    }
    await place.take(view, "drift-check")
    assert place.state("drift-check") == "ready"


async def test_a_lock_file_gives_another_machine_exactly_that_set(tmp_path: Path, gauges: Repository) -> None:
    first = Place(tmp_path, name="first")
    await first.take(await first.add(gauges), "drift-check", "log-reader")
    gauges.commit({"drift-check/SKILL.md": skill("drift-check", "Another.")})
    lock = shared(first, gauges)
    second = Place(tmp_path, name="second")
    await add_here(second, gauges)
    words = await second.service.from_lock(str(lock), CancellationToken(), second.said.append)
    assert words == ("gauge-skills: 2 taken.",)
    assert second.taken_files("gauge-skills") == first.taken_files("gauge-skills")
    view = await second.service.view("gauge-skills")
    assert item(view, "drift-check").status == "text", "and says what is newer there"
    await first.close()
    await second.close()


@pytest.mark.parametrize("what", ["sha256", "commit", "name"])
async def test_a_lock_file_that_does_not_fit_the_repository_takes_nothing(
    what: str, tmp_path: Path, gauges: Repository
) -> None:
    first = Place(tmp_path, name="first")
    await first.take(await first.add(gauges), "drift-check", "log-reader")
    lock = shared(first, gauges)
    text = lock.read_text()
    taken = first.shelf.sources()[0].taken[0]
    old, new = {
        "sha256": (taken.digest, "0" * 64),
        "commit": (taken.commit, "0" * 40),
        "name": ('"drift-check"', '"surge-mail"'),
    }[what]
    lock.write_text(text.replace(old, new))
    second = Place(tmp_path, name="second")
    await add_here(second, gauges)
    (words,) = await second.service.from_lock(str(lock), CancellationToken(), second.said.append)
    assert "nothing was taken" in words
    assert second.taken_files("gauge-skills") == {}
    await first.close()
    await second.close()


def shared(place: Place, gauges: Repository) -> Path:
    """The lock file as a team has it. The address of this test lies on this computer, so it is not in the file: the
    other machine has the repository under the same name already."""
    found = place.shelf.lock_file
    assert str(gauges.path) not in found.read_text()
    copy = place.home.parent / f"{place.home.name}.lock"
    copy.write_bytes(found.read_bytes())
    return copy


async def add_here(place: Place, gauges: Repository) -> None:
    await place.add(gauges)


async def test_a_lock_file_of_a_repository_that_nobody_else_can_reach_says_so(tmp_path: Path, place: Place) -> None:
    (tmp_path / "skills.lock").write_text('{"format": 1, "sources": [{"name": "gauges", "address": "", "taken": []}]}')
    (words,) = await place.service.from_lock(str(tmp_path / "skills.lock"), CancellationToken(), place.said.append)
    assert "computer of whoever wrote" in words
    with pytest.raises(LockRefused):
        await place.service.from_lock(str(tmp_path / "nowhere.lock"), CancellationToken(), place.said.append)


async def test_without_git_it_says_what_to_do_and_archives_still_work(tmp_path: Path, gauges: Repository) -> None:
    place = Place(tmp_path, around=GitSurroundings(None, {"PATH": os.defpath}))
    with pytest.raises(KnownError, match="git is not installed") as refused:
        await place.add(gauges)
    assert "zip" in refused.value.advice
    assert await place.service.views() == ()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("tide/SKILL.md", skill("tide"))
    assert (await place.add(tmp_path / "a.zip")).items
    await place.close()


async def test_servers_with_a_name_that_is_taken_are_refused_and_nothing_else_of_it_happens(
    tmp_path: Path, gauges: Repository
) -> None:
    place = Place(tmp_path, Servers("ship-tracks"))
    view = await place.add(gauges)
    assert item(view, "ship-tracks").behind == "server"
    with pytest.raises(KnownError):
        await place.take(view, "ship-tracks", "drift-check")
    assert place.taken_files("gauge-skills") == {}
    await place.close()


async def test_what_has_a_problem_cannot_be_taken(place: Place, gauges: Repository) -> None:
    view = await place.add(gauges)
    with pytest.raises(KnownError, match="description"):
        await place.take(view, "surge-mail", "drift-check")
    assert place.taken_files("gauge-skills") == {}


async def test_a_start_after_a_crash_finishes_what_was_decided_and_it_is_on(tmp_path: Path, gauges: Repository) -> None:
    place = Place(tmp_path)
    await place.take(await place.add(gauges), "gauge-plot")
    gauges.commit({"gauge-plot/SKILL.md": skill("gauge-plot", "Second.")})
    await place.take(await place.look("gauge-skills"), "gauge-plot")
    await place.close()
    data = place.shelf.data("gauge-skills")
    sources = (data.parent / "sources.json").read_text()
    os.rename(place.shelf.place("gauge-skills"), data / "next")
    source = sources[sources.index("[") + 1 : sources.rindex("]")]
    (data / "change.json").write_text(source)
    again = Place(tmp_path)
    assert [one.name for one in again.finished] == ["gauge-skills"]
    assert again.state("gauge-plot") == "ready"
    assert (await again.service.view("gauge-skills")).taken == 1
    await again.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what a descriptor is from /proc")
async def test_all_that_was_taken_is_on_the_disk_before_it_is_decided(
    place: Place, gauges: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = await place.add(gauges)
    synced: list[str] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    await place.take(view, "drift-check")
    data = place.shelf.data("gauge-skills")
    decided = next(at for at, path in enumerate(synced) if "change.json" in path)
    before = set(synced[:decided])
    taken = [
        path.relative_to(place.shelf.place("gauge-skills")) for path in place.shelf.place("gauge-skills").rglob("*")
    ]
    assert {str(data / "next" / one) for one in taken} <= before
    assert {str(data / "next"), str(data)} <= before
    assert {str(data), str(place.shelf.place("gauge-skills").parent)} <= set(synced[decided:])
