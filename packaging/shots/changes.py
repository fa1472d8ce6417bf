"""Changes of a thread, as samples: what agents wrote, one undone, one changed by hand since, and an undo shown."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

from PySide6.QtCore import QObject, Signal

from desktop.domain.files.changes import ABSENT, ChangedFile, ChangeOrigin, FileChange, FileState, KeptChange
from desktop.domain.files.undo import ChangedPath, LaterChange, ThreadChanges, UndoConflict, UndoneFile, UndoPreview
from desktop.presenter.changes.panel import ChangesViewModel
from desktop.presenter.changes.rows import call_rows, file_rows

PROJECT = "/home/ida/harbour-sensors"
TITLES: Mapping[str, str] = {"workbench": "Workbench"}
_DAY = time.mktime(time.strptime(time.strftime("%Y-%m-%d"), "%Y-%m-%d"))


class SampleKept(QObject):
    """In the place of what knows how much is kept."""

    changed = Signal()
    failed = Signal(str)
    words = "14.2 MB: 76 versions of files, the oldest of 02 Nov."
    some = True

    def refresh(self) -> None:
        """It is known already."""

    def clear(self) -> None:
        """Nothing is cleared."""


class SampleChanges:
    """In the service's place: nothing happens."""

    def on_done(self, listener: object) -> None:
        """Nobody is told."""


def _at(clock: str) -> float:
    hours, _, minutes = clock.partition(":")
    return _DAY + int(hours) * 3600 + int(minutes) * 60


def _file(name: str) -> FileState:
    return FileState("file", 0o644, 100, name)


def _call(
    name: str,
    clock: str,
    chain: tuple[str, ...],
    files: list[tuple[FileChange, int, int]],
    undoes: tuple[str, ...] = (),
) -> KeptChange:
    thread = "t" if chain[0] in ("workbench", "you") else chain[0]
    command = "python scripts/clean.py" if chain[-1] == "bash" else ""
    above = () if thread == "t" else ("t",)
    origin = ChangeOrigin(thread, above, "r", chain=chain, project=PROJECT, summary=command)
    changed = tuple(ChangedFile(change, added, removed) for change, added, removed in files)
    return KeptChange(name, _at(clock), changed, origin, undoes, number=int(_at(clock)))


def _change(name: str, before: FileState, after: FileState) -> FileChange:
    return FileChange(f"{PROJECT}/{name}", before, after)


def _records() -> tuple[KeptChange, ...]:
    made = [(_change(f"out/gauge-07/{n:02}.csv", ABSENT, _file(f"m{n}")), 241, 0) for n in range(31)]
    gone = [(_change(f"out/old-{n}.tmp", _file(f"g{n}"), ABSENT), 0, 52) for n in "ab"]
    sources = _change("docs/sources.md", _file("s0"), _file("s1"))
    tides = _change("docs/tides.md", _file("t0"), _file("t1"))
    stations = _change("docs/stations.md", _file("st0"), _file("st1"))
    gauge = _change("docs/gauges/gauge-07.md", _file("ga0"), _file("ga1"))
    log = _change("logs/maintenance.md", _file("l0"), _file("l1"))
    back = _change("docs/tides.md", _file("t1"), _file("t0"))
    return (
        _call("c1", "13:52", ("march-cleanup", "bash"), [*made, *gone]),
        _call("c2", "13:58", ("fact-checker", "edit-file"), [(sources, 18, 9)]),
        _call("c3", "14:01", ("fact-checker", "edit-file"), [(tides, 2, 31)]),
        _call("c4", "14:03", ("fact-checker", "bash"), [(stations, 12, 12)]),
        _call("c5", "14:05", ("workbench", "edit-file"), [(gauge, 31, 4)]),
        _call("c6", "14:05", ("workbench", "edit-file"), [(log, 1, 0)]),
        _call("u1", "14:09", ("you", "undo"), [(back, 31, 2)], ("c3",)),
    )


def _several() -> tuple[KeptChange, ...]:
    """Three edits of one file in a row, one of another file, one by another agent, and the first file again."""
    states = [_file(f"s{number}") for number in range(6)]
    edits = [_change("docs/sources.md", before, after) for before, after in pairwise(states)]
    tides = _change("docs/tides.md", _file("t0"), _file("t1"))
    mine, other = ("workbench", "edit-file"), ("fact-checker", "edit-file")
    return (
        _call("c1", "13:52", mine, [(edits[0], 18, 9)]),
        _call("c2", "13:53", mine, [(edits[1], 2, 0)]),
        _call("c3", "13:55", mine, [(edits[2], 1, 4)]),
        _call("c4", "13:58", mine, [(tides, 5, 5)]),
        _call("c5", "13:59", other, [(edits[3], 1, 1)]),
        _call("c6", "14:01", mine, [(edits[4], 1, 1)]),
    )


def _paths(records: tuple[KeptChange, ...]) -> tuple[ChangedPath, ...]:
    found: dict[str, list[tuple[KeptChange, ChangedFile]]] = {}
    for record in records:
        for file in record.files:
            found.setdefault(file.change.path, []).append((record, file))
    out = []
    for path, touched in sorted(found.items()):
        first, last = touched[0][1], touched[-1][1]
        by_hand = path.endswith("sources.md")
        now = _file("by hand") if by_hand else last.change.after
        same = first.change.before == last.change.after
        added, removed = (0, 0) if same else (first.added + by_hand, first.removed)
        ids = tuple(record.change_id for record, _ in touched)
        before, after = first.change.before, last.change.after
        out.append(ChangedPath(path, before, after, now, _at("14:07") if by_hand else 0.0, added, removed, ids))
    return tuple(out)


def sample(name: str, bridge: object) -> ChangesViewModel:
    """A view-model that shows these: ``empty``, ``some``, or ``several`` calls in a row on one file."""
    made = ChangesViewModel(cast(Any, SampleChanges()), cast(Any, bridge), TITLES)
    made.thread_id = "t"
    if name != "empty":
        records, undone = (_records(), {"c3": _at("14:09")}) if name == "some" else (_several(), {})
        made.changes = ThreadChanges(records, undone, _paths(records), 14_200_000, 500_000_000, 30)
        made.files, made._calls = file_rows(made.changes, TITLES), call_rows(made.changes, TITLES)
    return made


def preview() -> UndoPreview:
    """An undo with a conflict, a file that goes with its folder, and one whose rights alone were changed."""
    now = "# Sources\n\n- Harbour office, tables of March\n- Tide tables of the coast guard, by hand\n- Gauge log 7\n"
    then = "# Sources\n\n- Harbour office\n- Tide tables of the coast guard, by hand\n- Log of gauge 7\n"
    later = LaterChange("", (), _at("14:07"))
    conflict = UndoConflict(44, 44, (later,))
    state = _file("x")
    return UndoPreview(
        ("c2",),
        (
            UndoneFile(f"{PROJECT}/docs/sources.md", state, _file("y"), now, then, 17, 9, (conflict,)),
            UndoneFile(f"{PROJECT}/out", FileState("folder", 0o755), ABSENT, "", "", 0, 0, ()),
            UndoneFile(f"{PROJECT}/out/new.bin", state, ABSENT, None, "", 0, 0, ()),
            UndoneFile(f"{PROJECT}/scripts/clean.py", replace(state, mode=0o755), state, then, then, 0, 0, ()),
        ),
    )
