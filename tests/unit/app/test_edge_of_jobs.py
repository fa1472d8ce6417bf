"""Jobs at the edge of their folder, in the whole runtime: real files and commands, nobody to be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.audit import AuditFilter
from desktop.domain.errors import ConfigurationError
from desktop.domain.jobs import Job, JobPolicy
from desktop.domain.messages import ToolResultBlock
from tests.harness.timeouts import WAIT_S
from tests.unit.app.test_edge import Bench, Person, running, skip_without_copies

AT_EDGE = JobPolicy(at_edge=True, max_rounds=20)


def each(calls: Iterable[tuple[str, dict[str, Any]]], *, offered: bool) -> list[Any]:
    made = ({"tool": tool, "arguments": given} | ({} if offered else {"unoffered": True}) for tool, given in calls)
    return [*([{"call": call}] for call in made), [{"text": "Done."}]]


@asynccontextmanager
async def with_job(
    path: Path, policy: JobPolicy, *calls: tuple[str, dict[str, Any]], rules: str = ""
) -> AsyncIterator[tuple[Bench, Job]]:
    """A job that makes the calls one after another; whoever would be asked says yes to everything."""
    async with running(path, "ask", Person(), each(calls, offered=policy.at_edge)) as bench:
        skip_without_copies(bench)
        if rules:
            await bench.services.rules.book.add({"tool": rules, "policy": "deny"})
        job = Job("", "Nightly", "Work.", "0 3 * * *", model="scripted/scripted", policy=policy)
        yield bench, await bench.services.jobs.save(replace(job, project=str(bench.project)))


async def worked(bench: Bench, job: Job) -> list[str]:
    """What became of each call, in order, after one run of the job."""
    thread_id = await bench.services.jobs.try_once(job.job_id)
    await bench.services.chats.wait(thread_id, 4 * WAIT_S)
    assert bench.person.asked == [], "nobody is there to be asked"
    path = await bench.services.chats.path(thread_id)
    assert path[-1].text == "Done."
    return [block.text for message in path for block in message.blocks if isinstance(block, ToolResultBlock)]


@pytest.mark.spec("R-ASK-1", "R-CRON-1")
async def test_a_job_at_the_edge_edits_and_runs_commands_in_its_folder_and_what_goes_past_it_is_denied(
    tmp_path: Path,
) -> None:
    outside = tmp_path / "home" / "workspace" / "out.txt"
    calls = (
        ("write_file", {"path": "in.md", "content": "text"}),
        ("bash", {"command": "cp in.md copy.md"}),
        ("write_file", {"path": str(outside), "content": "out"}),
        ("bash", {"command": f"echo in > second.md; echo out > {outside}"}),
        ("write_file", {"path": ".git/hooks/pre-commit", "content": "#!/bin/sh\n"}),
        ("bash", {"command": "curl http://127.0.0.1:9/x > page.html"}),
    )
    async with with_job(tmp_path, AT_EDGE, *calls) as (bench, job):
        said = await worked(bench, job)
        assert ((bench.project / "in.md").read_text(), (bench.project / "copy.md").read_text()) == ("text", "text")
        assert not outside.exists()
        assert sorted(one.name for one in bench.project.iterdir()) == ["copy.md", "in.md"], "a denied copy is dropped"
        assert f"past the edge of the folder: {outside}" in said[2], said[2]
        assert "past the edge of the folder" in said[3], said[3]
        by = await decisions(bench)
        assert by[:2] == [("edge", "allow_once")] * 2
        assert {decision for _, decision in by[2:]} == {"deny"}, by
        assert (await bench.services.store.changes.amount()).size > 0, "and what ran can be undone"


async def decisions(bench: Bench) -> list[tuple[str, str]]:
    """By whom each call was decided, and how, in order."""
    page = await bench.services.store.audit.page(AuditFilter(), limit=200)
    return [(row.entry.by, row.entry.decision) for row in reversed(page.rows) if row.kind == "call"]


@pytest.mark.spec("R-ASK-1", "R-CRON-2", "R-CRON-3")
async def test_its_list_still_denies_and_allows_and_a_job_without_the_mode_writes_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "one" / "home" / "workspace" / "out.txt"
    calls = (
        ("write_file", {"path": "in.md", "content": "text"}),
        ("write_file", {"path": "secret/in.md", "content": "text"}),
        ("write_file", {"path": str(outside), "content": "listed"}),
    )
    listed = (f"write-file(path={outside})", "write-file(path=secret/**, $deny)")
    async with with_job(tmp_path / "one", replace(AT_EDGE, allowed_tools=listed), *calls) as (bench, job):
        await worked(bench, job)
        assert [one.name for one in bench.project.rglob("*.md")] == ["in.md"], "what its list denies stays denied"
        assert outside.read_text() == "listed"
    async with with_job(tmp_path / "two", replace(AT_EDGE, at_edge=False), *calls) as (bench, job):
        await worked(bench, job)
        assert [*bench.project.iterdir()] == []
    async with with_job(tmp_path / "three", AT_EDGE, *calls, rules="write-file") as (bench, job):
        await worked(bench, job)
        assert [*bench.project.iterdir()] == [], "rules of the person go before the mode"


@pytest.mark.spec("R-ASK-1", "R-CRON-1")
async def test_a_job_takes_no_mode_from_its_thread_and_gives_it_none(tmp_path: Path) -> None:
    calls = (("write_file", {"path": "in.md", "content": "text"}),)
    async with with_job(tmp_path, AT_EDGE, *calls) as (bench, job):
        await worked(bench, job)
        (run,) = await bench.services.jobs.runs(job.job_id)
        assert bench.services.thread_modes.mode(run.thread_id) == "ask", "what a person writes there asks each time"
        thread = await bench.services.chats.thread(run.thread_id)
        assert thread.job is not None
        assert thread.job.at_edge


@pytest.mark.spec("R-ASK-1")
async def test_a_job_without_a_folder_has_no_edge_and_a_kept_one_is_read_again(tmp_path: Path) -> None:
    async with with_job(tmp_path, AT_EDGE) as (bench, job):
        with pytest.raises(ConfigurationError, match=r"policy\.at_edge: Choose a folder first"):
            await bench.services.jobs.save(replace(job, project=""))
        (row,) = await bench.services.jobs.jobs()
        assert row.job.policy.at_edge is True


@pytest.mark.spec("R-WEB-3", "R-CRON-1")
async def test_after_text_from_outside_only_what_its_list_names_goes_on(tmp_path: Path) -> None:
    calls = (
        ("write_file", {"path": "before.md", "content": "text"}),
        ("bash", {"command": "curl -s https://tides.example/x"}),
        ("write_file", {"path": "planted.md", "content": "text"}),
        ("write_file", {"path": "listed.md", "content": "text"}),
    )
    listed = ("bash(command=curl -s https://tides.example/*)", "write-file(path=listed.md)")
    async with with_job(tmp_path, replace(AT_EDGE, allowed_tools=listed), *calls) as (bench, job):
        said = await worked(bench, job)
        assert "text of tides.example was read" in said[2], said
        assert sorted(one.name for one in bench.project.iterdir()) == ["before.md", "listed.md"]
