"""What a call goes past, in a thread that works up to the edge of its folder (R-ASK-1).

Only what is named here stays within: writes of file tools, and what a command did in its copy. They go through the
recorder of changes, which refuses to make them in such a thread where it cannot keep what was there. All else asks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import dropwhile

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.approval.thread_modes import EdgeModes, PastEdge
from desktop.domain.files.changes import FileChange
from desktop.domain.files.outcomes import OutcomeReading
from desktop.domain.text.words import count_words
from desktop.domain.tools import PreCheck
from desktop.safety.boundary.paths import is_within
from desktop.safety.boundary.project import closed_because

NAMED = 3
"""Paths and hosts that are named."""


def past_the_edge(request: PermissionRequest, check: PreCheck, modes: EdgeModes) -> tuple[PastEdge, ...]:
    """Why a call asks although its thread works up to the edge, the gravest first; empty: it need not ask. Blocks."""
    return tuple(_past(request, check, modes))


def _past(request: PermissionRequest, check: PreCheck, modes: EdgeModes) -> Iterator[PastEdge]:
    if request.category is not Category.WRITE:
        yield PastEdge("admin", check.raised_because or "an admin call asks each time")
    if request.follows:
        yield PastEdge("text", request.follows)
    if not request.project:
        yield PastEdge("folder", "this chat works in no folder")
        return
    if why := closed_because(request.project):
        yield PastEdge("folder", f"{request.project} {why}")
        return
    if why := modes.unconfined():
        yield PastEdge("confined", why)
    if request.unknown or request.unrepeatable or request.only_once or request.refused or request.consent is not None:
        yield PastEdge("other", "it wants an answer of its own")
    yield from _network(check)
    yield from _lasting(check)
    yield from _places(request, check)


def _network(check: PreCheck) -> Iterator[PastEdge]:
    shown = check.preview
    hosts = [str(host) for host in (*(shown.get("hosts") or ()), *(shown.get("tried") or ()))]
    if shown.get("network") is True or shown.get("network_asked") is True or shown.get("tried"):
        yield PastEdge("network", _some(list(dict.fromkeys(hosts))) or "it uses the network")
    if shown.get("opened"):
        yield PastEdge("folder", "it reads a folder that is closed")


def _lasting(check: PreCheck) -> Iterator[PastEdge]:
    if check.not_undoable:
        yield PastEdge("undo", check.not_undoable)
    elif not check.undoable:
        kind = check.preview.get("kind")
        why = str(check.preview.get("no_copy") or "it does not run in a copy") if kind == "command" else ""
        yield PastEdge("undo", why or "nothing can undo what it does")


def _places(request: PermissionRequest, check: PreCheck) -> Iterator[PastEdge]:
    """Every place that the call changes, not only those that a request lists."""
    if check.preview.get("kind") != "outcome":
        outside = [path for path in check.paths if not is_within(path, request.project)]
        if outside or not check.paths:
            yield PastEdge("folder", _some(outside) or "where it writes is not known")
        return
    reading = check.preview.get("reading")
    if not isinstance(reading, OutcomeReading):
        yield PastEdge("other", "what it did is not known")
        return
    outside = [change.path for change in reading.changes if not is_within(change.path, request.project)]
    outside += [one.path for one in reading.left_out if not is_within(one.path, request.project)]
    outside += _leading_out(reading.changes, request.project)
    if outside:
        yield PastEdge("folder", _some(outside))
    if reading.meanwhile:
        yield PastEdge("changed", f"{_some(sorted(reading.meanwhile))} changed meanwhile")
    if reading.beyond:
        yield PastEdge("undo", f"it changed {count_words(reading.beyond, 'file')} more than can be looked at")
    if reading.left_out:
        yield PastEdge("other", f"{_some([one.path for one in reading.left_out])} cannot be taken over as it is")
    if check.preview.get("ended") != "exited":
        yield PastEdge("other", "it did not end by itself")


def _leading_out(changes: Sequence[FileChange], project: str) -> list[str]:
    """Links that would lead out of the folder, now or once others have changed."""
    links = [change for change in changes if change.after.kind == "link"]
    return [f"{one.path} (a link to {one.after.target})" for one in links if not _stays_inside(one, project)]


def _stays_inside(link: FileChange, project: str) -> bool:
    """Whether a link leads into the folder whatever else in it becomes a link that does. So it is read by its words
    first, for above it there is none; and one that goes up again behind a name leads wherever that name leads."""
    parts = [part for part in link.after.target.split(os.sep) if part not in ("", os.curdir)]
    after_names = list(dropwhile(lambda part: part == os.pardir, parts))
    target = os.path.normpath(os.path.join(os.path.dirname(link.path), link.after.target))
    return os.pardir not in after_names and is_within(target, project) and is_within(os.path.realpath(target), project)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
