"""schedule-create and skill-register: a person sees all of it and agrees; bad input asks nobody; never unattended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import Denied
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.messages import ToolResultBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import ToolCallContext
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.schedules.registering import ScheduleCreate, SkillRegister
from desktop.services.schedules.service import JobService, JobSurroundings
from desktop.services.skills.editing import SkillService
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.patterns.paths import Where
from desktop.tools.registry import ToolRegistry
from tests.unit.pipeline.kit import Person
from tests.unit.services.kit import MODEL, ROOT, World, world

TEXT = "---\nname: tidy\ndescription: Tidies.\nmetadata:\n  role: context\n---\nPut things where they belong.\n"
JOB = {"name": "Morning", "message": "Look at the mail.", "schedule": "0 8 * * 1-5", "zone": "Europe/Berlin"}


class Anything:
    """The permission of a job that may make any call."""

    present = at_edge = False

    def refusal(self, facts: Any) -> str:
        return ""


class EffectRequest:
    """A world with both tools, in which the model makes one call."""

    def __init__(self, w: World, jobs: JobService, mine: Path, person: Person) -> None:
        self.w, self.jobs, self.mine, self.person = w, jobs, mine, person

    async def result(self) -> ToolResultBlock:
        path = await self.w.ask(await self.w.thread(), "go")
        blocks = [block for message in path for block in message.blocks]
        return next(block for block in blocks if isinstance(block, ToolResultBlock))


@asynccontextmanager
async def asked(tmp_path: Path, tool: str, arguments: Any, *answers: str) -> AsyncIterator[EffectRequest]:
    registry, person, mine = ToolRegistry(), Person(*answers), tmp_path / "skills"
    mine.mkdir()
    model = ScriptedModel([calls(tool, arguments), says("done")])
    roots = (SearchRoot(str(mine), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    async with world(tmp_path, model, registered=registry, person=person, roots=roots) as w:
        around = JobSurroundings(admin_allowed=lambda: False, default_model=lambda: MODEL, where=Where("/w", "/h"))
        jobs = JobService(w.runtime, w.service, around)
        await jobs.open()
        service = SkillService(w.skills, w.runtime.pipeline, w.runtime.agents, mine=mine, trash=tmp_path / "trash")
        registry.register(ScheduleCreate(jobs))
        registry.register(SkillRegister(lambda: service))
        yield EffectRequest(w, jobs, mine, person)


@pytest.mark.spec("R-PRM-2")
async def test_the_request_shows_the_whole_file(tmp_path: Path) -> None:
    async with asked(tmp_path, "skill_register", {"text": TEXT}) as a:
        tool = a.w.runtime.pipeline.table.find("skill-register")
        assert tool is not None
        preview = (await tool.precheck({"text": TEXT}, NOWHERE)).preview
        assert (preview["kind"], preview["after"], preview["new"]) == ("diff", TEXT, True)
        assert preview["path"] == str(a.mine / "tidy.skill.md")


@pytest.mark.spec("R-CRON-1", "S-BLT-3")
@pytest.mark.parametrize(("tool", "arguments"), [("schedule-create", JOB), ("skill-register", {"text": TEXT})])
async def test_in_a_job_both_are_refused_whatever_its_policy_says(tmp_path: Path, tool: str, arguments: Any) -> None:
    async with asked(tmp_path, "look", {}) as a:
        found = a.w.runtime.pipeline.table.find(tool)
        assert found is not None
        meta = RunMeta("run", CancellationToken(), "thread", unattended=Anything())
        with pytest.raises(Denied, match="nobody is asked while a job runs"):
            await found.execute(arguments, ToolCallContext(meta, "c1"))
        assert (list(a.mine.iterdir()), list(await a.jobs.jobs())) == ([], [])


@pytest.mark.spec("S-BLT-3")
async def test_a_job_is_made_once_a_person_has_seen_all_of_it(tmp_path: Path) -> None:
    async with asked(tmp_path, "schedule_create", JOB, "allow_once") as a:
        result = await a.result()
        assert not result.is_error, result.text
        request = a.person.asked[0]
        assert (request.tool, request.category.value) == ("schedule-create", "admin")
        assert dict(request.arguments) == JOB
        row = (await a.jobs.jobs())[0]
        assert (row.job.name, row.job.schedule, row.job.zone) == ("Morning", "0 8 * * 1-5", "Europe/Berlin")
        assert row.job.policy.allowed_tools is None  # it reads, and nothing else
        await a.jobs.delete(row.job.job_id)
        assert list(await a.jobs.jobs()) == []


@pytest.mark.spec("S-BLT-3")
async def test_a_skill_is_kept_once_a_person_has_seen_its_file(tmp_path: Path) -> None:
    async with asked(tmp_path, "skill_register", {"text": TEXT}, "allow_once") as a:
        result = await a.result()
        assert not result.is_error, result.text
        assert a.person.asked[0].category.value == "admin"
        assert dict(a.person.asked[0].arguments) == {"text": TEXT}
        assert (a.mine / "tidy.skill.md").read_text() == TEXT
        found = a.w.skills.fabric.find_tool("tidy")
        assert found is not None
        assert found.source == "mine"


async def test_what_a_person_denies_is_not_kept(tmp_path: Path) -> None:
    async with asked(tmp_path, "skill_register", {"text": TEXT}, "deny") as a:
        assert (await a.result()).is_error
        assert list(a.mine.iterdir()) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("schedule_create", {**JOB, "schedule": "soon"}, "schedule"),
        ("schedule_create", {**JOB, "ref": "nobody-here"}, "nobody-here"),
        ("schedule_create", {**JOB, "zone": "Mars/Olympus"}, "Mars/Olympus"),
        ("schedule_create", {"name": "x"}, "message"),
        ("skill_register", {"text": "no frontmatter"}, "This is no skill yet"),
        ("skill_register", {"text": TEXT.replace("name: tidy", "name: Not A Name")}, "line 2: name must be"),
        ("skill_register", {"text": TEXT.replace("role: context", "role: middleware\n  level: moon")}, "level must be"),
    ],
)
async def test_nobody_is_asked_about_what_could_not_be_kept(
    tmp_path: Path, tool: str, arguments: Any, said: str
) -> None:
    async with asked(tmp_path, tool, arguments) as a:
        result = await a.result()
        assert result.is_error
        assert said in result.text
        assert a.person.asked == []


async def test_a_skill_takes_no_others_place(tmp_path: Path) -> None:
    async with asked(tmp_path, "skill_register", {"text": TEXT}) as a:
        (a.mine / "tidy.skill.md").write_text("mine")
        assert "already" in (await a.result()).text
        assert (a.mine / "tidy.skill.md").read_text() == "mine"


@pytest.mark.parametrize("name", ["content-filter", "agent-litellm", "assistant", "skill-register", "tidy"])
async def test_a_skill_takes_no_name_that_a_skill_or_a_tool_has(tmp_path: Path, name: str) -> None:
    async with asked(tmp_path, "skill_register", {"text": TEXT.replace("name: tidy", f"name: {name}")}) as a:
        (a.mine / "other.skill.md").write_text(TEXT)
        a.w.skills.fabric.refresh()
        result = await a.result()
        assert result.is_error
        assert f"{name} already" in result.text
        assert a.person.asked == []
        assert [path.name for path in a.mine.iterdir()] == ["other.skill.md"]
