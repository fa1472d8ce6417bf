"""Pictures of the Schedules page for ``dev.py shots``: the real view-model over sample jobs. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, cast

from PySide6.QtWidgets import QWidget

from desktop.domain.definitions import DefinitionProblem
from desktop.domain.jobs import Job, JobPolicy, JobRow, JobRun
from desktop.presenter.schedules.page import JobsViewModel
from desktop.ui.schedules.page import SchedulesPage
from shots.samples import SampleSetup

AGENTS = (("assistant", "Assistant"), ("surge_report", "Surge report"))
HOUR = 3_600.0
REPORT = Job(
    "1",
    "Surge report",
    "Read last night's levels in logs/ and write reports/surge.md: the peaks, the gaps, and what is unchecked.",
    "30 6 * * mon-fri",
    "Europe/Berlin",
    "surge_report",
    "ollama/qwen3:30b",
    JobPolicy(("read-file", "list-directory", "write-file(path=~/harbour/reports/**)"), ("bash",), 12, None, 0.2, 900),
)
PAUSED = replace(REPORT, job_id="2", name="Clean the archive", enabled=False)
NIGHTLY = replace(
    REPORT,
    job_id="3",
    name="Compare all gauges with their neighbours, every night",
    policy=JobPolicy(at_edge=True),
    project="~/work/harbour-sensors",
)


class SampleService:
    """Jobs that stay as they are."""

    def __init__(self, problems: Sequence[DefinitionProblem] = (), *, none: bool = False) -> None:
        self._problems = problems
        self._none = none
        self.admin_allowed = False

    def on_change(self, listener: Callable[[], None]) -> None:
        """Nothing changes."""

    async def jobs(self) -> Sequence[JobRow]:
        """A running, a paused and a failing one."""
        if self._none:
            return ()
        now = time.time()
        failed = JobRun("r", "3", now - HOUR, "failed", now - HOUR, now - HOUR + 4, detail="The model server is away.")
        return (
            JobRow(REPORT, now + HOUR, None, next_ahead_s=HOUR),
            JobRow(PAUSED, None, None),
            JobRow(NIGHTLY, now + 7 * HOUR, failed, failures=3),
        )

    async def problems(self, job: Job) -> Sequence[DefinitionProblem]:
        """As given."""
        return self._problems

    async def next_times(self, schedule: str, zone: str, count: int = 5) -> Sequence[float]:
        """The same hour on five days."""
        start = time.time() // 86_400 * 86_400 + 86_400 + 5.5 * HOUR
        return [start + day * 24 * HOUR for day in range(count)]

    async def ahead(self, zone: str, times: Sequence[float]) -> Sequence[float]:
        """As in Berlin in winter."""
        return [HOUR for _ in times]

    async def runs(self, job_id: str, limit: int = 100) -> Sequence[JobRun]:
        """One of each kind."""
        start = time.time() // 86_400 * 86_400 + 5.5 * HOUR
        kinds: tuple[tuple[Any, float, str], ...] = (
            ("running", 0, ""),
            ("done", 41, ""),
            ("limit", 900, "The deadline of 900 s, set by the job, was reached."),
            ("missed", 0, "3 times passed while Assent was not running."),
            ("overrun", 0, "The run before it was still working."),
            ("failed", 2, "The model server is away."),
        )
        return [
            JobRun(str(at), job_id, start - at * 24 * HOUR, kind, start, start + took, "t" if took else "", "", detail)
            for at, (kind, took, detail) in enumerate(kinds)
        ]


class _Now:
    """A bridge that does what it is given at once: the sample service never waits."""

    @staticmethod
    def spawn(work: Coroutine[Any, Any, None], **_named: Any) -> None:
        """To its end."""
        try:
            work.send(None)
        except StopIteration:
            return


def _page(job_id: str, *problems: DefinitionProblem, none: bool = False) -> QWidget:
    jobs = JobsViewModel(cast(Any, SampleService(problems, none=none)), cast(Any, _Now()))
    page = SchedulesPage(jobs, lambda: AGENTS, cast(Any, SampleSetup()))
    if job_id or problems:
        jobs.open(job_id)
    return page


def _wrong() -> QWidget:
    problems = (
        DefinitionProblem("schedule", "job.schedule", "'0 99 * * *' is no schedule: the last value (99) is too high."),
        DefinitionProblem("policy.allow_admin[0]", "job.admin", "'ba*' is no name of a tool."),
    )
    page = _page("1", *problems)
    cast(Any, page).form.tools.setPlainText("read-file")
    return page


def _edge() -> QWidget:
    page = cast(Any, _page("3"))
    page.resize(1280, 800)
    page.show()
    bar = page.scroller.verticalScrollBar()
    bar.rangeChanged.connect(lambda _minimum, maximum: bar.setValue(maximum // 2))
    bar.setValue(bar.maximum() // 2)
    return cast(QWidget, page)


def _foot() -> QWidget:
    page = cast(Any, _page("1"))
    page.scroller.ensureWidgetVisible(page.history)
    page.resize(1280, 800)
    page.show()
    bar = page.scroller.verticalScrollBar()
    bar.rangeChanged.connect(lambda _minimum, maximum: bar.setValue(maximum))
    bar.setValue(bar.maximum())
    return cast(QWidget, page)


def pictures() -> dict[str, Callable[[], QWidget]]:
    """By name; ``-960`` is small, ``-200`` has large text."""
    return {
        "schedules": lambda: _page("1"),
        "schedules-960": lambda: _page("1"),
        "schedules-200": lambda: _page("1"),
        "schedules-foot": _foot,
        "schedules-wrong": _wrong,
        "schedules-empty": lambda: _page("", none=True),
        "schedules-reads": lambda: _page("3"),
        "schedules-edge": _edge,
    }
