"""``assent audit-check FILE``: follow the chain of an exported activity log. No home, no Qt, no store."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from desktop.domain.approval.audit_chain import (
    EXPORT_FORMAT,
    ChainEnd,
    ChainReport,
    ChainWalker,
    Finding,
    canonical,
    digest,
)
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json

WHOLE, DAMAGED, UNREADABLE = 0, 1, 2
"""Exit codes."""
MAX_LINE = 4_000_000
"""Bytes; a line of the log has a few thousand."""
WORDS = {
    "altered": "not what stands before vouches for: changed, put in, or something before was taken out",
    "missing": "missing",
    "cut": "missing at the end, or not the end that the file names at its beginning",
}


@dataclass(frozen=True, slots=True)
class FileReport:
    """``shown`` lines stand there with their content, ``masked`` of the others without secrets that became known
    later. ``problem``: why it is no such file, in a sentence, or empty."""

    chain: ChainReport
    shown: int = 0
    masked: int = 0
    problem: str = ""


def main(arguments: Sequence[str]) -> int:
    """Check an activity log. Exit codes: 0 whole, 1 damaged, 2 cannot be read."""
    say, name = sys.stdout.write, parser().parse_args(arguments).file
    try:
        with Path(name).open("rb") as file:
            report = follow(iter(lambda: file.readline(MAX_LINE + 1), b""))
    except OSError as error:
        say(f"{name} cannot be read: {error.strerror}.\n")
        return UNREADABLE
    say(told(report))
    return UNREADABLE if report.problem else WHOLE if report.chain.whole else DAMAGED


def parser() -> argparse.ArgumentParser:
    """What `assent audit-check` takes."""
    made = argparse.ArgumentParser(
        prog="assent audit-check", description="Follow the chain of an exported activity log."
    )
    made.add_argument("file", metavar="FILE", help="the activity log, exported as JSON Lines")
    return made


def follow(lines: Iterable[bytes]) -> FileReport:
    """Check the lines of an exported file."""
    walker = ChainWalker()
    source = iter(lines)
    end = _end(next(source, b""))
    if end is None:
        return FileReport(
            ChainReport(0, ChainEnd()), problem="This is no activity log that Assent exported as JSON Lines."
        )
    shown = masked = 0
    for place, line in enumerate(source, 2):
        record = _record(line)
        if record is None:
            why = f"Line {place} of the file is not as Assent writes it."
            return FileReport(_report(walker), shown, masked, why)
        content = record.get("content")
        made = digest(canonical(content)) if content is not None else record["hash"]
        walker.step(record["number"], made, record["link"], (content or {}).get("at"))
        shown += content is not None
        masked += "masked" in record
    _compare(walker, end)
    return FileReport(_report(walker), shown, masked)


def _compare(walker: ChainWalker, end: ChainEnd) -> None:
    if end.number > walker.head.number:
        walker.report(Finding("cut", walker.head.number + 1, end.number, walker.at))
    elif end != walker.head:
        walker.report(Finding("cut", end.number, walker.head.number, walker.at))


def _report(walker: ChainWalker) -> ChainReport:
    return ChainReport(walker.lines, walker.head, walker.findings, walker.damaged)


def _end(line: bytes) -> ChainEnd | None:
    """Where the file says at its beginning that the log ended."""
    head = _parsed(line)
    if head is None or head.get("format") != EXPORT_FORMAT or not isinstance(head.get("head"), dict):
        return None
    number, link = head["head"].get("number"), head["head"].get("link")
    return ChainEnd(number, link) if isinstance(number, int) and isinstance(link, str) else None


def _record(line: bytes) -> dict[str, Any] | None:
    """One line, if it is exactly as it is written: no second key of a name, nothing besides."""
    record = _parsed(line)
    if record is None or type(record.get("number")) is not int or not isinstance(record.get("link"), str):
        return None
    has_content = isinstance(record.get("content"), dict)
    if has_content == isinstance(record.get("hash"), str):
        return None
    at = record["content"].get("at") if has_content else None
    if not set(record) <= {"number", "link", "content", "hash", "masked"} or not isinstance(at, int | float | None):
        return None
    return record


def _parsed(line: bytes) -> dict[str, Any] | None:
    if len(line) > MAX_LINE:
        return None
    try:
        record = read_json(line)
        same = isinstance(record, dict) and written(record) == line
    except (ValueError, RecursionError):
        return None
    return record if same else None


def written(record: dict[str, Any]) -> bytes:
    """A record as a line of the file."""
    return (json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n").encode("ascii")


def told(report: FileReport) -> str:
    """The findings as lines for a terminal."""
    if report.problem:
        return report.problem + "\n"
    chain = report.chain
    rest = f", {report.masked:,} with secrets taken out" if report.masked else ""
    lines = [
        f"{chain.lines:,} lines, {report.shown:,} with content{rest}; the end is {chain.head.number:,} "
        f"{chain.head.link}"
    ]
    lines += [f"  {_sentence(finding)}." for finding in chain.findings]
    if chain.whole:
        lines.append(
            "The chain is whole. Compare the end with what you noted elsewhere: a log that somebody made up "
            "from its beginning is whole too."
        )
    else:
        lines.append(f"The chain is broken: {chain.damaged:,} lines are not as they were written.")
    return "\n".join(lines) + "\n"


def _sentence(finding: Finding) -> str:
    one = finding.first == finding.last
    lines = f"line {finding.first:,}" if one else f"lines {finding.first:,} to {finding.last:,}"
    after = "" if finding.after is None else f" (after {_moment(finding.after)})"
    return f"{lines}{after}: {WORDS.get(finding.damage, finding.damage)}"


def _moment(at: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return "a time that is none"
