"""Pictures of the activity log for ``dev.py shots``: a morning's work in memory. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, cast

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.audit import (
    AuditChoices,
    AuditFilter,
    AuditFormat,
    AuditPage,
    AuditRow,
    CallPlace,
    Progress,
    Stop,
)
from desktop.domain.approval.audit_chain import ChainEnd, ChainReport, Finding
from desktop.domain.approval.permission import AuditEntry
from desktop.presenter.approvals.activity import ActivityViewModel

HOME = "/home/ida/work/harbour-sensors"
_ROWS: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("bash", "admin", "deny", "user", '{"command": "git push origin main"}', "denied"),
    ("write-file", "write", "allow_once", "user", '{"path": "docs/runbook/nightly.md"}', "done"),
    ("write-file", "write", "allow_edited", "user", '{"path": "docs/nightly.md"}', "asked again"),
    ("write-file", "write", "allow_run", "remembered", '{"path": "data/gauge-07/2026-03.clean.csv"}', "done"),
    ("read-file", "read", "allow_once", "setting", '{"path": "data/gauge-07/2026-03.csv"}', "done"),
    ("read-file", "read", "refused", "boundary", '{"path": "/etc/passwd"}', "denied"),
    ("bash", "admin", "refused", "blocklist", '{"command": "rm -rf out"}', "denied"),
    ("bash", "write", "allow_once", "rule", '{"command": "pytest -q tests/ingest"}', "failed, exit code 1"),
    ("bash", "admin", "unanswered", "cancelled", '{"command": "find out -name \'*.tmp\' -delete"}', "aborted"),
    ("list-directory", "read", "allow_once", "setting", '{"path": "data/"}', ""),
)


def entries() -> tuple[AuditEntry, ...]:
    """A morning's work, newest first."""
    more: Mapping[int, dict[str, Any]] = {
        1: {
            "original": '{"path": "docs/nightly.md", "content": "…"}',
            "edited": '{"path": "docs/runbook/nightly.md"}',
            "waited_s": 12.4,
        },
        0: {"reason": "Not before the review.", "raised_because": "it sends data to another machine", "waited_s": 48.0},
        7: {"rule": {"pattern": "bash(command=pytest -q*)", "rule_id": "rule-3"}},
    }
    return tuple(
        AuditEntry(
            at=time.time() - 70 * n,
            run_id="run1",
            thread_id="t1",
            call_id=f"c{n}",
            tool=tool,
            chain=("Workbench", "march-cleanup"),
            category=category,
            decision=decision,
            by=by,
            summary=summary,
            digest="9f2c" * 16,
            outcome=outcome,
            extra=more.get(n, {}),
            paths=(f"{HOME}/docs/runbook/nightly.md",) if tool == "write-file" else (),
        )
        for n, (tool, category, decision, by, summary, outcome) in enumerate(_ROWS)
    )


def rows() -> tuple[AuditRow, ...]:
    """As lines of a log that was taken over, with a break in it."""
    made = entries()
    start = AuditEntry(time.time() - 86_400, "", "", "", (), "", "", "", "", "")
    told = "From here on each line is chained to all before it. The 3 before it were written without and taken over."
    first = len(made) + 3
    calls = [AuditRow(first + len(made) - n, "call", entry) for n, entry in enumerate(made)]
    old = [AuditRow(n, "adopted", replace(made[n], at=time.time() - 9e6 * n)) for n in (3, 2, 1)]
    return (*calls, AuditRow(first, "start", start, note=told), *old)


def hostile() -> tuple[AuditRow, ...]:
    """Texts that want to be something else, and much of everything."""
    text = "harmless.txt\u202egnp.exe\u202c \x1b[2J\u200b <b>bold</b> &amp; \n second line " + "long-" * 900
    bad = replace(
        entries()[0],
        tool="a\u202eb" * 40,
        summary=text,
        chain=(text, "x" * 300),
        outcome=f"failed, {text}",
        by=text,
        category="write\u200b",
        decision="odd\u202e" * 9,
        paths=tuple(f"/p/{n}/{text}" for n in range(200)),
        extra={"reason": text, "rule": {"pattern": text}, "waited_s": "soon"},
        at=1e300,
    )
    return (
        AuditRow(10**12, "call", bad),
        AuditRow(3, "other", bad, note="A line of another version of Assent."),
        *rows(),
    )


BROKEN = ChainReport(
    4120,
    ChainEnd(4131, "ab" * 32),
    (
        Finding("altered", 57, 57, time.time() - 9e5, time.time() - 8.9e5),
        Finding("missing", 801, 812, time.time() - 5e5, time.time() - 4e5),
        Finding("cut", 4131, 4160, time.time() - 900),
    ),
    43,
)
WHOLE = ChainReport(4160, ChainEnd(4160, "ab" * 32), adopted=3)


class SampleLog:
    """Knows its rows; finds nothing but the text in them."""

    def __init__(self, given: tuple[AuditRow, ...], report: ChainReport = WHOLE) -> None:
        self.given, self.report = given, report

    async def page(
        self, wanted: AuditFilter, *, before: int | None = None, after: int | None = None, limit: int = 200
    ) -> AuditPage:
        """Those that hold the text."""
        found = [row for row in self.given if before is None or row.number < before]
        found = [row for row in found if wanted.text.lower() in f"{row.entry.tool} {row.entry.summary}".lower()]
        return AuditPage(tuple(found[:limit]), len(found) > limit)

    async def count(self, wanted: AuditFilter) -> int:
        """Of them."""
        return len((await self.page(wanted, limit=10**9)).rows)

    async def choices(self) -> AuditChoices:
        """A few."""
        return AuditChoices(("bash", "list-directory", "write-file"), ("admin", "read"), ("boundary", "user"), ("t1",))

    async def check(self, progress: Progress, stop: Stop) -> ChainReport:
        """What was given."""
        return self.report

    async def export(
        self, target: str, fmt: AuditFormat, wanted: AuditFilter, progress: Progress, stop: Stop
    ) -> int | None:
        """Nothing is written."""
        return len(self.given)

    async def place(self, entry: AuditEntry) -> CallPlace | None:
        """All threads are gone."""
        return None


class _Bridge(QObject):
    """Runs what needs no loop to its end at once."""

    events = Signal(object)

    def spawn(self, work: Coroutine[Any, Any, Any], **_: Any) -> Any:
        """It is over when this returns."""
        try:
            work.send(None)
        except StopIteration:
            return _Done()
        work.close()
        return _Done()


class _Done:
    def done(self) -> bool:
        """Always."""
        return True

    def cancel(self) -> None:
        """Too late."""


def sample_activity(
    given: tuple[AuditRow, ...] | None = None, report: ChainReport = WHOLE, parent: QObject | None = None
) -> ActivityViewModel:
    """The real view-model over sample rows."""
    bridge = _Bridge(parent)
    made = ActivityViewModel(cast(Any, bridge), SampleLog(rows() if given is None else given, report), parent)
    bridge.setParent(made)
    return made


def _detail(tab: Any, at: int) -> None:
    tab.list.setCurrentIndex(tab.model.index(at))
    tab.show_row(tab.list.current)


def _checked(tab: Any) -> None:
    tab.foot.check.click()


def _which(tab: Any) -> None:
    _checked(tab)
    tab.notice.details.click()


def _busy(tab: Any) -> None:
    job = tab._activity.checking
    job.begin().progress(41_200, 100_000)
    job.moved.emit()


Act = Callable[[Any], None]
PICTURES: dict[str, tuple[tuple[AuditRow, ...] | None, ChainReport, Act]] = {
    "02-activity": (None, WHOLE, _checked),
    "02-activity-entry": (None, WHOLE, lambda tab: _detail(tab, 1)),
    "02-activity-rule": (None, WHOLE, lambda tab: _detail(tab, 7)),
    "02-activity-entry-960": (None, WHOLE, lambda tab: _detail(tab, 0)),
    "02-activity-960": (None, WHOLE, _checked),
    "02-activity-checking": (None, WHOLE, _busy),
    "02-activity-broken": (None, BROKEN, _checked),
    "02-activity-broken-960": (None, BROKEN, _checked),
    "02-activity-broken-which": (None, BROKEN, _which),
    "02-activity-nothing": (None, WHOLE, lambda tab: tab._activity.choose(text="no such thing")),
    "02-activity-empty": ((), WHOLE, _checked),
    "02-activity-hostile": (hostile(), WHOLE, lambda tab: _detail(tab, 0)),
}
AT_200 = ("02-activity", "02-activity-entry", "02-activity-broken")


def show(page: Any, name: str) -> None:
    """Set the page up for a picture."""
    page.show_tab("activity")
    PICTURES[name][2](page.activity)
