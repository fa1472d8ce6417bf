"""A job that works in a folder: its runs do, under the job's own list, and one whose folder is gone does not begin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ConfigurationError
from desktop.domain.jobs import JobPolicy
from desktop.domain.tools import PreCheck
from desktop.models.scripted import calls, says
from desktop.safety.boundary.choosing import judged_folder
from desktop.services.projects.instructions import ProjectInstructions
from desktop.services.projects.service import ProjectService
from desktop.services.schedules.service import JobService
from tests.unit.pipeline.kit import FakeTool
from tests.unit.safety.world import World as Places
from tests.unit.services.schedules.test_service import HOURLY, Jobs, jobs


def with_projects(made: Jobs, places: Places) -> None:
    """The job service, in an app that has projects."""
    world = made.world
    instructions = ProjectInstructions(places.files(), world.store.state)
    judge = partial(judged_folder, places.policy)
    projects = ProjectService(world.service, world.store.state, judge, world.service.is_working, instructions)
    runs = made.service._runs
    around = replace(made.service._around, projects=projects)
    made.service = JobService(runs._runtime, world.service, around)


@pytest.mark.spec("R-PRJ-1", "R-CRON-2")
async def test_the_runs_of_a_job_work_in_its_folder_and_its_patterns_begin_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(tmp_path / "disk")
    monkeypatch.setenv("HOME", str(places.person))
    project = places.person / "tides"
    project.mkdir()

    def checks(args: object) -> PreCheck:
        path = str(project / str(args["path"]))  # type: ignore[index]
        return PreCheck(Category.WRITE, constraint=path, resolved={"path": path})

    write = FakeTool("write-file", category=Category.WRITE, checks=checks)
    answers = (calls("write_file", {"path": "out/a"}), calls("write_file", {"path": "b"}), says("Done."), says("None."))
    async with jobs(tmp_path, *answers, tools=(write,)) as made:
        with_projects(made, places)
        policy = JobPolicy(("write-file(path=out/*)",))
        job = await made.service.save(replace(HOURLY, policy=policy, project="~/tides"))
        await made.at(60.1)
        assert await made.history(job) == [("done", 60)]
        assert {place.project for place in write.places} == {str(project)}
        assert [args["path"] for args in write.calls] == ["out/a"], "the list of the job holds in its folder"
        thread = await made.world.service.thread((await made.service.runs(job.job_id))[0].thread_id)
        assert thread.project == str(project)
        plain = await made.service.save(replace(HOURLY, name="Plain"))
        await made.service.try_once(plain.job_id)
        await made.history(plain)
        other = await made.world.service.thread((await made.service.runs(plain.job_id))[0].thread_id)
        assert other.project == ""


@pytest.mark.spec("R-PRJ-1")
async def test_a_job_is_not_saved_with_a_folder_that_cannot_be_used_and_fails_in_words_once_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(tmp_path / "disk")
    monkeypatch.setenv("HOME", str(places.person))
    project = places.person / "tides"
    project.mkdir()
    async with jobs(tmp_path) as made:
        with_projects(made, places)
        for folder in ("/", "~", "~/gone", "tides", "~/.ssh", "~/.agent"):
            with pytest.raises(ConfigurationError, match="project: "):
                await made.service.save(replace(HOURLY, project=folder))
        job = await made.service.save(replace(HOURLY, project="~/tides"))
        project.rename(places.person / "moved")
        await made.at(60.1)
        assert await made.history(job) == [("failed", 60)]
        (run,) = await made.service.runs(job.job_id)
        assert "is gone" in run.detail
        assert run.thread_id == ""
        assert not project.exists()
