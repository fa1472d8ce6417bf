"""What a check of the activity log found, in sentences for a person."""

from __future__ import annotations

import time

from desktop.domain.approval.audit_chain import ChainReport, Finding

SAID = 50
"""Findings that are told one by one."""
_DAMAGE = {
    "altered": "{lines} not what Assent wrote: changed or added from outside, or a line before was removed",
    "missing": "{lines} missing",
    "cut": "{lines} missing at the end, or not those that were written; after a power cut it can be the last moments",
    "unanchored": "The file that keeps where the log ends was missing or could not be read; "
    "lines that were cut off at the end before then cannot be noticed",
    "unguarded": "The database no longer refused changes to the log",
}


def summary_words(report: ChainReport, now: float) -> str:
    """One line: what was looked at and whether it is whole."""
    if report.cancelled:
        return f"The check was stopped after {_lines(report.lines)}."
    at = time.strftime("%H:%M", time.localtime(now))
    if report.whole:
        adopted = f" {report.adopted:,} were written before lines were chained." if report.adopted else ""
        return f"Checked at {at}: {_lines(report.lines)}, all as they were written.{adopted}"
    return f"Checked at {at}: {_lines(report.lines)}, and not all is as it was written."


BROKEN = (
    "The activity log is not as Assent wrote it: something outside Assent changed it or took lines out. "
    "Approvals, Activity says which."
)
"""For the start of the app: that something is wrong, and where to look."""


def broken_words(report: ChainReport) -> str:
    """How much is wrong, and up to where all is well."""
    places = len(report.findings)
    much = "1 thing is wrong with it." if places == 1 else f"{places:,} things are wrong with it."
    first = _first(report)
    if first is None:
        return much
    since = f", written until {moment(first.after)}" if first.after is not None else ""
    return f"{much} Everything before entry {first.first:,}{since}, is as it was."


def _first(report: ChainReport) -> Finding | None:
    """The first entry that is concerned, if there are any before it."""
    lines = [finding for finding in report.findings if finding.damage in ("altered", "missing", "cut")]
    found = min(lines, key=lambda finding: finding.first, default=None)
    return found if found is not None and found.first > 1 else None


def finding_words(report: ChainReport) -> tuple[str, ...]:
    """Each finding as a sentence, the first of them; then how many more, and up to where all is well."""
    told = [f"{_sentence(finding)}." for finding in report.findings[:SAID]]
    rest = len(report.findings) - SAID
    if rest > 0:
        told.append(f"And {rest:,} more places.")
    first = _first(report)
    if first is not None:
        told.append(f"Everything before entry {first.first:,} is as it was written.")
    return tuple(told)


def _sentence(finding: Finding) -> str:
    one = finding.first == finding.last
    lines = f"Entry {finding.first:,} is" if one else f"Entries {finding.first:,} to {finding.last:,} are"
    return _DAMAGE[finding.damage].format(lines=lines) + _between(finding)


def _between(finding: Finding) -> str:
    times = [moment(at) for at in (finding.after, finding.before) if at is not None]
    if len(times) == 2:
        return f" (between {times[0]} and {times[1]})" if times[0] != times[1] else f" ({times[0]})"
    word = "after" if finding.after is not None else "before"
    return f" ({word} {times[0]})" if times else ""


def moment(at: float) -> str:
    """Local date and time; a line may hold a time that there is not."""
    try:
        return time.strftime("%d %b %Y %H:%M:%S", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return "an impossible time"


def _lines(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"
