"""What may be opened of the denied folders for one tool that says so (``reads`` in tools.yaml, D-4).

Only a denied folder or file, or what lies in one; never what is Assent's, a keyring or a password of the screen,
whoever asks. The sandbox profile judges each path here once more when a process starts.
"""

from __future__ import annotations

import os

from desktop.domain.approval.consents import Opening
from desktop.safety.boundary import paths
from desktop.safety.boundary.disk_snapshot import StatCache
from desktop.safety.boundary.mounts import Mounts
from desktop.safety.boundary.paths import PathProblem, is_within
from desktop.safety.boundary.policy import BoundaryPolicy, BoundaryRule, Lists, screen_passwords

KEYRINGS = ("~/.local/share/keyrings", "~/.local/share/kwalletd", "~/Library/Keychains", "/Library/Keychains")


def judged(policy: BoundaryPolicy, entry: str) -> Opening:
    """An entry as it is written: from ``/`` or ``~/``, without ``..`` and links. Blocks."""
    if not entry.startswith(("/", "~/")) or ".." in entry.split("/"):
        return Opening(
            entry, "", "refused", "a path begins with / or ~/ and has no '..' in it, so that it means one place"
        )
    home = paths.real(os.path.expanduser("~"))
    try:
        full = paths.absolute(os.path.join(home, entry[2:].lstrip("/")) if entry.startswith("~/") else entry, os.sep)
        written, resolved = os.path.normpath(full), paths.resolve(full, os.sep)
    except PathProblem as problem:
        return Opening(entry, "", "refused", f"it {problem}")
    if written != resolved:
        return Opening(entry, resolved, "refused", f"it is a link, or lies behind one: write {resolved}")
    return judged_path(policy.lists(), resolved, entry)


def judged_path(lists: Lists, resolved: str, entry: str = "") -> Opening:
    """Judge a path in which all links were followed. Blocks."""
    refused, closed = _refusal(lists, resolved), _closing(lists, resolved)
    if refused:
        return Opening(entry, resolved, "refused", refused)
    if not os.path.lexists(resolved):
        return Opening(entry, resolved, "nothing", "it does not exist, so nothing is opened")
    if not closed:
        return Opening(entry, resolved, "nothing", "no denied folder holds it, so there is nothing to open")
    return Opening(entry, resolved, "opens")


def _closing(lists: Lists, resolved: str) -> bool:
    return any(is_within(resolved, rule.resolved) for rule in lists.denied)


def _refusal(lists: Lists, resolved: str) -> str:
    """Why it is opened to nobody, as half a sentence, or ""."""
    moment = StatCache()
    line, status = moment.line(resolved), moment.status(resolved)
    person = paths.real(os.path.expanduser("~"))
    if is_within(person, resolved):
        return "it is, or holds, your whole home folder"

    def meets(rule: BoundaryRule) -> bool:
        return rule.covers(resolved, line) or is_within(rule.resolved, resolved)

    own = (*lists.secret, *lists.installed, *((lists.home,) if lists.home is not None else ()))
    if any(meets(rule) for rule in own):
        return "it holds, or lies in, what belongs to Assent"
    never = (BoundaryRule.of(path, os.sep, closing=True, moment=moment) for path in (*_keyrings(), *screen_passwords()))
    if any(rule is not None and meets(rule) for rule in never):
        return "it holds, or lies in, a keyring or the password of the screen"
    if kind := paths.special_kind(resolved, None if status is None else status.st_mode):
        return f"it is {kind}"
    if Mounts().points_below(resolved):
        return "something else is mounted in it"
    if not _closing(lists, resolved) and (inner := _inner(lists, resolved)):
        return f"it holds {inner}, which is denied: name that itself"
    return ""


def _keyrings() -> tuple[str, ...]:
    """Where the passwords of this session are kept, also where the environment has them elsewhere."""
    data = os.environ.get("XDG_DATA_HOME", "")
    return (*KEYRINGS, *((os.path.join(data, "keyrings"),) if os.path.isabs(data) else ()))


def _inner(lists: Lists, resolved: str) -> str:
    return next((rule.text for rule in lists.denied if is_within(rule.resolved, resolved)), "")
