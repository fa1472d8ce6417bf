"""Changes and undos in words."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping, Sequence

from desktop.domain.files.undo import LaterChange, UndoConflict, UndoneFile, UndoPreview
from desktop.domain.text.words import count_words
from desktop.presenter.common.words import clock

BY_HAND = "by hand or another program"
ARROW = " › "


def when(at: float) -> str:
    """``14:02`` of today, else with the day."""
    if time.strftime("%Y-%m-%d", time.localtime(at)) == time.strftime("%Y-%m-%d"):
        return clock(at)
    return time.strftime("%d %b", time.localtime(at))


def path_in(path: str, project: str) -> str:
    """A path from the project on, or whole where it lies elsewhere."""
    if project and path.startswith(project.rstrip(os.sep) + os.sep):
        return path[len(project.rstrip(os.sep)) + 1 :]
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path


def who(chain: Sequence[str], titles: Mapping[str, str]) -> str:
    """``fact-checker › edit-file``: the agent by its title, and the tool."""
    if not chain:
        return BY_HAND
    named = [titles.get(chain[0], chain[0]), *chain[1:]]
    return ARROW.join(named if len(named) <= 3 else [named[0], "…", named[-1]])


def kept_words(days: float, size: int, most: int) -> str:
    """The foot of the view."""
    used = f"{size / 1e6:.1f}" if size < 1e9 else f"{size / 1e6:,.0f}"
    amount = f"{used} of {most // 1_000_000:,} MB"
    return f"Kept for {count_words(round(days), 'day')}, {amount}. Each undo is shown before it is done."


def conflict_words(conflict: UndoConflict, titles: Mapping[str, str]) -> str:
    """One conflict as half a sentence: what was changed again, when, and by whom."""
    if conflict.why and not conflict.later:
        return _plain(conflict.why)
    if conflict.first == 0:
        what = "the file was changed again"
    elif conflict.last < conflict.first:
        what = f"the lines at line {conflict.first} were removed"
    elif conflict.last == conflict.first:
        what = f"line {conflict.first} was changed again"
    else:
        what = f"lines {conflict.first} to {conflict.last} were changed again"
    if conflict.why:
        what = _plain(conflict.why)
    return f"{what} {later_words(conflict.later, titles)}".strip()


def _plain(sentence: str) -> str:
    text = sentence.rstrip(".")
    return text[:1].lower() + text[1:]


def later_words(later: Sequence[LaterChange], titles: Mapping[str, str]) -> str:
    """``at 14:07, by hand or another program``; of several the last two."""
    said = []
    for one in later[-2:]:
        at = f"at {when(one.at)}, " if one.at else ""
        said.append(f"{at}{BY_HAND}" if not one.by else f"{at}by {who(one.chain, titles)}")
    return " and ".join(said)


def preview_words(preview: UndoPreview, titles: Mapping[str, str]) -> str:
    """What stays and what goes, as a sentence or two; "" where nothing stays."""
    conflicts = [one for file in preview.files for one in file.conflicts]
    if not conflicts:
        return "" if preview.does_something else "Everything is as it was before already."
    first = conflict_words(conflicts[0], titles)
    head = "One conflict" if len(conflicts) == 1 else f"{len(conflicts)} conflicts"
    more = f"; and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
    rest = "Undo leaves that as it is now" if len(conflicts) == 1 else "Undo leaves these as they are now"
    tail = " and takes the rest back." if preview.does_something else ", so there is nothing to take back."
    return f"{head}: {first}{more}. {rest}{tail}"


def what_words(file: UndoneFile) -> str:
    """What the undo does to a file, in a few words."""
    now, then = file.now, file.then
    kind = {"folder": "folder ", "link": "link "}.get((then if now.kind == "absent" else now).kind, "")
    if now.kind == "absent":
        return f"{kind}comes back"
    if then.kind == "absent":
        return f"{kind}is removed"
    rights = ""
    if now.kind == then.kind and now.mode != then.mode:
        rights = f"rights {stat.filemode(now.mode)[1:]} → {stat.filemode(then.mode)[1:]}"
    if rights and now.digest == then.digest:
        return f"{kind}{rights}"
    goes = "goes back" if file.then_text is not None else "goes back, not text or too long to show"
    return f"{goes}, {rights}" if rights else goes


def undone_words(preview: UndoPreview, project: str) -> str:
    """For the toast, once it is done."""
    changed = [file.path for file in preview.changed]
    what = path_in(changed[0], project) if len(changed) == 1 else count_words(len(changed), "file")
    return f"Undone: {what}"
