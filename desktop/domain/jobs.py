"""Scheduled jobs: runs without a person, each under a policy of its own.

Contract between the runtime and the Schedules page. Times are seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.loading.lazy_dataclass import dataclass

MissedPolicy = Literal["skip", "once"]
"""What becomes of times that passed while the app was closed: only noted, or made up for by one run."""
JobRunStatus = Literal["running", "done", "failed", "stopped", "limit", "interrupted", "missed", "overrun"]
"""``missed``: the app was closed; ``overrun``: the run before it was still at work, so this one was left out."""
MAX_SNIPPET = 200
MAX_NAME = 200
MAX_MESSAGE = 20_000
KEPT_THREADS = 100
"""Threads of a job's runs that stay; of the older ones those that a person has touched."""


class Unattended(Protocol):
    """The permission of a run in which nobody can be asked (R-CRON-1); travels in ``RunMeta``."""

    def refusal(self, facts: CallFacts) -> str:
        """Why the call may not be made, in a sentence; empty: it may."""
        ...

    def denies(self, facts: CallFacts) -> bool:
        """Whether the job itself denies the call, so that nothing else allows it."""
        ...

    @property
    def at_edge(self) -> bool:
        """Whether what stays within the edge of the job's folder may be done without being listed (R-ASK-1)."""
        ...

    @property
    def present(self) -> bool:
        """Whether a person goes on with the run: of what had begun when the app ended they are asked whether it was
        done, and of nothing else."""
        ...


@dataclass(frozen=True, slots=True)
class JobPolicy:
    """What a job may do. It always reads, but for what an entry with ``$deny`` names."""

    allowed_tools: tuple[str, ...] | None = None
    """Patterns as in trust rules; None: only what reads (R-CRON-2)."""
    allow_admin: tuple[str, ...] = ()
    """Exact names of tools (R-CRON-3, R-CRON-4), in force only beside a list of tools and while the app's switch for it
    is on."""
    max_rounds: int = 10
    """The limit on rounds."""
    max_tokens: int | None = None
    """None: the app's own limit, as for those below."""
    max_cost: float | None = None
    """In USD."""
    deadline_s: float | None = None
    """In seconds."""
    at_edge: bool = False
    """Whether, beside the list, it does what stays within the edge of its folder, but for what the list denies."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as a person set it up."""

    job_id: str
    """The job."""
    name: str
    """The name a person reads."""
    message: str
    """What is sent."""
    schedule: str
    """A cron expression of five fields, read as cron reads it (0 and 7 are Sunday)."""
    zone: str = ""
    """The time zone of the schedule, an IANA name; "": this machine's."""
    agent: str = "assistant"
    """The agent that the message goes to."""
    model: str = ""
    """``connection/model``, or "" for the agent's own."""
    policy: JobPolicy = field(default_factory=JobPolicy)
    """What its runs may do."""
    enabled: bool = True
    """False: paused."""
    missed: MissedPolicy = "skip"
    """What becomes of times that passed while Assent was closed."""
    created_at: float = 0.0
    """Seconds since the epoch."""
    seen_at: float = 0.0
    """The time up to which its times were dealt with."""
    project: str = ""
    """The folder that its runs work in, as a person wrote it; "": none."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How its model is to answer (``model_settings``), over what the agent says."""


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a job, or a time at which there was none."""

    job_run_id: str
    """The record of this time."""
    job_id: str
    """The job."""
    planned_at: float
    """When it was due."""
    status: JobRunStatus
    """How it went."""
    started_at: float = 0.0
    """When it began; 0: it did not."""
    ended_at: float = 0.0
    """When it ended; 0: not yet, or nobody knows when (``interrupted``)."""
    thread_id: str = ""
    """The thread of the run, or ""."""
    run_id: str = ""
    """The run, or ""."""
    detail: str = ""
    """Why it went so, in at most 200 characters."""
    tried: bool = False
    """Whether a person started it by hand."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as the page lists it."""

    job: Job
    """The job."""
    next_at: float | None
    """The next time; None: it is paused, or has no time to come."""
    last: JobRun | None
    """The last run."""
    failures: int = 0
    """Runs that failed in a row."""
    running: bool = False
    """Whether a run is under way."""
    waiting: bool = False
    """Whether its run is there, and waits for a place."""
    next_ahead_s: float = 0.0
    """Seconds that the clock of the job's own zone is ahead of UTC at ``next_at``."""
    problem: str = ""
    """A sentence on why it cannot run at all, or ""."""
