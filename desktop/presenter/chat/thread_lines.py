"""The lines of the list of threads: by the folder that they work in, else by day, pinned first; the runs of a job
stand in one that unfolds. Qt-free."""

from __future__ import annotations

import datetime
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.threads import JOB_LABEL, ThreadJob, ThreadRecord
from desktop.presenter.common.folders import NO_FOLDER, name_of
from desktop.presenter.schedules.words import BAD, STATUS, short_word

NOTHING: Mapping[str, str] = MappingProxyType({})
USUAL_AGENT = "assistant"
"""Who answers in most threads: said only where it is another one."""
PROJECT, OLDER = "project ", "older "
"""Stand before a folder: in the line that its chats are below, and in the one that its older chats are folded into."""
NEWEST = 5
"""Chats of a folder that show without its older ones."""
ARCHIVED = "archived"
"""Stands for a job in the line that archived threads are folded into."""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A line of the list: a group's header (``thread_id`` and ``job_id`` empty), a thread, the runs of a job, or what
    is archived."""

    title: str
    """Title of the thread, job or group."""
    thread_id: str = ""
    """Empty where the line is no thread."""
    time_text: str = ""
    """When it was last used, in words."""
    pinned: bool = False
    """Whether the person pinned it."""
    note: str = ""
    """Stands under the title of a thread; of a folder, why it cannot be used."""
    state: str = ""
    """Counts while no run of the thread is known."""
    icon: str = ""
    """Stands before the title."""
    agent: str = ""
    """Who answers in the thread, if that is not the usual agent."""
    editor: str = ""
    """The editor that made the thread."""
    job_id: str = ""
    """The job whose runs this line stands for."""
    runs: tuple[str, ...] = ()
    """The threads of a job's line, the newest first."""
    is_open: bool = False
    """The runs of the job stand below this line."""
    inside: bool = False
    """This line stands below its job's line."""

    @property
    def key(self) -> str:
        """Identifies the line when the list is read anew."""
        return self.thread_id or (job_key(self.job_id) if self.job_id else self.title)

    @property
    def spoken(self) -> str:
        """The line as a screen reader says it."""
        if self.job_id == ARCHIVED:
            chats = "1 chat" if len(self.runs) == 1 else f"{len(self.runs):,} chats"
            return f"Archived, {chats}, {'unfolded' if self.is_open else 'folded'}"
        chats = "1 chat" if len(self.runs) == 1 else f"{len(self.runs):,} chats"
        if self.job_id.startswith((PROJECT, OLDER)):
            what = f"Folder {self.title}, {chats}" if self.job_id.startswith(PROJECT) else self.title
            return ", ".join(filter(None, (what, self.note, "unfolded" if self.is_open else "folded")))
        if not self.job_id:
            made = f"from {self.editor}" if self.editor else ""
            mode = "asks only at the edge" if self.icon == "edge" else ""
            return ", ".join(part for part in (self.title, self.state, self.note, mode, made) if part)
        runs = "1 run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        return f"Job {self.title}, {runs}, {'unfolded' if self.is_open else 'folded'}"


def job_key(job_id: str) -> str:
    """The key of a job's line."""
    return f"job {job_id}"


def group_of(at: float, now: datetime.datetime) -> str:
    """Today, Yesterday, Last 7 days, then the month by name and, for other years, the year."""
    then = datetime.datetime.fromtimestamp(at)
    days = (now.date() - then.date()).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    if days < 7:
        return "Last 7 days"
    return then.strftime("%B") if then.year == now.year else then.strftime("%B %Y")


def time_text(at: float, now: datetime.datetime) -> str:
    """The clock today, the weekday this week, else the date."""
    then = datetime.datetime.fromtimestamp(at)
    days = (now.date() - then.date()).days
    if days <= 0:
        return then.strftime("%H:%M")
    return then.strftime("%a") if days < 7 else then.strftime("%d %b")


def arrange(
    threads: Sequence[ThreadRecord],
    now: datetime.datetime | None = None,
    unfolded: Collection[str] = (),
    closed: Mapping[str, str] = NOTHING,
) -> list[ThreadRow]:
    """The list's rows with headers: first the folders that chats work in, the one that was used last at the top, then
    the chats without one; where none works in a folder, by day. ``unfolded``: the lines that a person turned (folders
    are open until they are folded, all others folded until they are opened); ``closed``: why folders cannot be used.
    What is archived is at the end."""
    moment = now or datetime.datetime.fromtimestamp(time.time())
    newest = sorted((t for t in threads if not t.archived), key=lambda t: (t.pinned, t.updated_at), reverse=True)
    away = sorted((t for t in threads if t.archived), key=lambda t: t.updated_at, reverse=True)
    projects: dict[str, list[ThreadRecord]] = {}
    for thread in newest:
        if thread.project:
            projects.setdefault(thread.project, []).append(thread)
    rows: list[ThreadRow] = []
    for project in sorted(projects, key=lambda one: max(t.updated_at for t in projects[one]), reverse=True):
        rows.extend(_project(project, projects[project], moment, unfolded, closed.get(project, "")))
    rest = [thread for thread in newest if not thread.project]
    rows.extend(_no_project(rest, moment, unfolded) if rows and rest else _by_day(rest, moment, unfolded))
    return [*rows, *_archived(away, moment, ARCHIVED in unfolded)] if away else rows


def _project(
    project: str, threads: Sequence[ThreadRecord], now: datetime.datetime, turned: Collection[str], closed: str
) -> Iterator[ThreadRow]:
    """The line of a folder and, unless it is folded, its chats below it; the older ones are in a line of their own."""
    ids, key = tuple(thread.thread_id for thread in threads), PROJECT + project
    is_open = key not in turned
    yield ThreadRow(name_of(project), note=closed, icon="folder", job_id=key, runs=ids, is_open=is_open)
    if not is_open:
        return
    rows = [row for row in _by_day(threads, now, turned) if row.thread_id or row.job_id]
    first = sum(1 for thread in threads if thread.pinned) + NEWEST
    older, key = rows[first:], OLDER + project
    yield from rows[:first]
    if len(older) > 1:
        ids = tuple(one for row in older for one in ((row.thread_id,) if row.thread_id else row.runs))
        yield ThreadRow(f"{len(ids):,} older", job_id=key, runs=ids, is_open=key in turned)
    yield from older if key in turned or len(older) == 1 else ()


def _no_project(
    threads: Sequence[ThreadRecord], now: datetime.datetime, turned: Collection[str]
) -> Iterator[ThreadRow]:
    """The chats that work in no folder, beside others that do."""
    ids, is_open = tuple(thread.thread_id for thread in threads), PROJECT not in turned
    yield ThreadRow(NO_FOLDER, job_id=PROJECT, runs=ids, is_open=is_open)
    yield from (row for row in _by_day(threads, now, turned) if is_open and (row.thread_id or row.job_id))


def _by_day(
    newest: Sequence[ThreadRecord], moment: datetime.datetime, unfolded: Collection[str]
) -> Iterator[ThreadRow]:
    """Pinned first, then by day, newest first; a job's runs where the newest of them is."""
    jobs: dict[str, list[ThreadRecord]] = {}
    for thread in newest:
        if job_id := _folded_in(thread):
            jobs.setdefault(job_id, []).append(thread)
    group = ""
    for thread in newest:
        runs = jobs.get(_folded_in(thread), [])
        if runs and runs[0] is not thread:
            continue
        name = "Pinned" if thread.pinned else group_of(thread.updated_at, moment)
        if name != group:
            yield ThreadRow(name)
            group = name
        if thread.job is not None and runs:
            yield from _job(thread.job, runs, moment, thread.job.job_id in unfolded)
        else:
            yield _thread(thread, moment)


def _archived(threads: Sequence[ThreadRecord], now: datetime.datetime, is_open: bool) -> Iterator[ThreadRow]:
    ids = tuple(thread.thread_id for thread in threads)
    yield ThreadRow("Archived", icon="folder", job_id=ARCHIVED, runs=ids, is_open=is_open, time_text=f"{len(ids):,}")
    for thread in threads if is_open else ():
        yield replace(_thread(thread, now), pinned=False, inside=True)


def _folded_in(thread: ThreadRecord) -> str:
    """The job in whose line a thread stands, or ""."""
    return thread.job.job_id if thread.job is not None and not thread.pinned else ""


def _thread(thread: ThreadRecord, now: datetime.datetime) -> ThreadRow:
    icon = "schedules" if thread.label == JOB_LABEL else "edge" if thread.mode == "edge" else ""
    icon = icon or ("code" if thread.editor else "")
    agent = "" if thread.agent == USUAL_AGENT else thread.agent
    title = thread.title or "New chat"
    state = "interrupted" if thread.state == "interrupted" else ""
    when = time_text(thread.updated_at, now)
    return ThreadRow(
        title, thread.thread_id, when, thread.pinned, state=state, icon=icon, agent=agent, editor=thread.editor
    )


def _job(job: ThreadJob, runs: Sequence[ThreadRecord], now: datetime.datetime, is_open: bool) -> Iterator[ThreadRow]:
    yield ThreadRow(
        job.name or "A job",
        time_text=time_text(runs[0].updated_at, now),
        state="failed" if job.status in BAD else "",
        icon="schedules",
        job_id=job.job_id,
        runs=tuple(run.thread_id for run in runs),
        is_open=is_open,
    )
    for run in runs if is_open else ():
        status = run.job.status if run.job is not None else ""
        icon, word = STATUS.get(status, ("schedules", ""))[0], short_word(status)
        title = (run.title or "New chat").removeprefix(f"{job.name}, ")
        yield ThreadRow(title, run.thread_id, word, note=word, icon="" if status == "running" else icon, inside=True)
