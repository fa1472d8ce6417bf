"""What the Schedules page and the threads of jobs say: times, states, what a job may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from desktop.domain.jobs import JobPolicy, JobRow, JobRun
from desktop.domain.threads import ThreadJob

STATUS = {
    "running": ("running", "Running"),
    "done": ("allow", "Done"),
    "failed": ("failed", "Failed"),
    "stopped": ("stop", "Stopped"),
    "limit": ("failed", "A limit was reached"),
    "interrupted": ("failed", "Interrupted"),
    "missed": ("clock", "Missed"),
    "overrun": ("clock", "Left out"),
}
"""Icon and words of each status."""
AT_EDGE = "In its folder it edits files and runs commands, as far as that can be undone and needs no network."
BAD = frozenset({"failed", "limit", "interrupted"})


def moment(at: float, now: float, zone: str = "", ahead_s: float | None = None) -> str:
    """A time as a person reads it: today and tomorrow by name. ``ahead_s``: what the clock of the job's zone is ahead
    of UTC then; where it shows another time than this machine's, that is said, too."""
    then, today = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    days = (then.date() - today.date()).days
    day = {0: "Today", 1: "Tomorrow", -1: "Yesterday"}.get(days, f"{then:%a} {then.day} {then:%b}")
    words = f"{day} {then:%H:%M}"
    there = then if ahead_s is None or not zone else datetime.fromtimestamp(at + ahead_s, UTC).replace(tzinfo=None)
    if there.replace(microsecond=0) == then.replace(microsecond=0):
        return words
    same_day = there.date() == then.date()
    return f"{words} ({there:%H:%M}{'' if same_day else f' {there:%a}'} in {place_of(zone)})"


def place_of(zone: str) -> str:
    """A time zone in words."""
    return zone.rpartition("/")[2].replace("_", " ")[:40]


def state_of(row: JobRow, now: float) -> str:
    """The line below a job's name: what it does next or did last."""
    if row.running:
        return "Waiting for its turn" if row.waiting else "Running now"
    if row.problem or not row.job.enabled:
        return f"Cannot run: {row.problem}" if row.problem else "Paused"
    following = "No more runs planned"
    if row.next_at is not None:
        following = f"Next: {moment(row.next_at, now, row.job.zone, row.next_ahead_s)}"
    return f"Failed {row.failures} times. {following}" if row.failures > 1 else following


def policy_words(policy: JobPolicy, *, admin_allowed: bool) -> str:
    """What a job may do, in a sentence."""
    if policy.allowed_tools is None:
        words = "It only reads and changes nothing."
    elif not policy.allowed_tools:
        words = "Uses no tools."
    else:
        words = "May use, without asking: " + ", ".join(policy.allowed_tools) + "."
    if policy.at_edge:
        words = "Beside that it only reads." if not policy.allowed_tools else words.replace("May", "It may also", 1)
        words = f"{AT_EDGE} {words}"
    if policy.allow_admin:
        names = ", ".join(policy.allow_admin)
        off = "" if admin_allowed else " (switched off in Settings, so refused)"
        words += f" Admin calls of {names}{off}."
    return words


def listed(text: str) -> tuple[str, ...]:
    """Patterns of a field, one a line or by commas outside brackets."""
    found, depth, word = [], 0, ""
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character in ",\n" and depth <= 0:
            found.append(word)
            word, depth = "", 0
        else:
            word += character
    return tuple(part.strip() for part in [*found, word] if part.strip())


def duration(run: JobRun) -> str:
    """How long a run took, or ""."""
    seconds = run.ended_at - run.started_at
    if not run.started_at or seconds < 0 or run.status in ("running", "missed", "overrun", "interrupted"):
        return ""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def gathered(runs: Sequence[JobRun]) -> tuple[JobRun, ...]:
    """A history, the newest first, in which times in a row that were left out stand in one row, the last one's."""
    found: list[JobRun] = []
    counts: list[int] = []
    for run in runs:
        if found and run.status == "overrun" == found[-1].status:
            counts[-1] += 1
        else:
            found.append(run)
            counts.append(1)
    return tuple(
        replace(run, detail=f"{count} times in a row: {run.detail}") if count > 1 else run
        for run, count in zip(found, counts, strict=True)
    )


def short(name: str) -> str:
    """A job's name in a sentence that must be seen whole."""
    return name if len(name) <= 40 else f"{name[:39].rstrip()}…"


def chip_words(job: ThreadJob) -> str:
    """What stands in the head of a job's thread."""
    word = short_word(job.status)
    return f"Job: {word.lower()}" if word else "Job"


def short_word(status: str) -> str:
    """A run's status where there is little room, or ""."""
    return "Limit" if status == "limit" else STATUS[status][1] if status in STATUS else ""


def thread_words(job: ThreadJob) -> str:
    """The job whose run a thread is, and under whose rules a person's messages in it run."""
    of = f"of {short(job.name)}" if job.name else "of a job that is gone"
    of += ", which was deleted" if job.name and job.deleted else ""
    of += ", which works up to the edge of its folder" if job.at_edge else ""
    if job.status == "running":
        return f"A run {of}. What you write before it ends is answered under the job's rules: nobody is asked."
    again = "stay under the job's" if job.name else "only read"
    words = "What you write runs under your own rules, as in any chat."
    return f"A run {of}. {words} Answer again and Continue at its answer {again}."
