"""What a person should know of an entry of the allowed or denied list, before and after it is there (R-FS-11, R-FS-14).

Blocking: a few system calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Literal

from desktop.domain.safety import SUGGESTED_DENIED, EntryFacts, SafetySettings
from desktop.safety.boundary import paths
from desktop.safety.boundary.paths import PathProblem
from desktop.safety.boundary.policy import workspace_of

ListName = Literal["allowed", "denied"]
_SHOWN = 3
_HOLDS = {
    "~/.ssh": "the keys with which you log in to other computers",
    "~/.gnupg": "the keys with which you sign and decrypt",
    "/etc/shadow": "the scrambled passwords of this computer",
    "/etc/passwd": "the list of this computer's accounts",
    "~/.aws": "keys to your cloud accounts",
    "~/.config/gcloud": "keys to your cloud accounts",
    "~/.azure": "keys to your cloud accounts",
    "~/.kube": "keys to your clusters",
    "~/.docker": "keys to your registries",
    "~/.netrc": "passwords for servers",
    "~/.git-credentials": "passwords for servers",
    "~/.mozilla": "your browser's passwords and sessions",
    "~/.config/google-chrome": "your browser's passwords and sessions",
    "~/.config/chromium": "your browser's passwords and sessions",
    "~/.config/BraveSoftware": "your browser's passwords and sessions",
    "~/.local/share/keyrings": "your keyring",
    "~/.password-store": "your passwords",
}
_CONSEQUENCE = (
    "Commands that you allow could then read it, and so could every file tool where an allowed folder holds it."
)


def describe(name: ListName, entry: str, settings: SafetySettings) -> EntryFacts:
    """The facts of an entry that is in a list, or that is about to be."""
    base = workspace_of(settings)
    try:
        resolved = paths.resolve(entry, base)
        written = os.path.normpath(paths.absolute(entry, base))
    except PathProblem as problem:
        return EntryFacts(entry, "", (f"is no path: it {problem}",))
    missing = not os.path.lexists(resolved)
    link = resolved != written
    opposite = settings.denied if name == "allowed" else settings.allowed
    found = _below(resolved, opposite, base)
    whole = _whole(resolved) if name == "allowed" else ""
    warnings = []
    if missing and name == "allowed":  # a denied path need not be there: then it is closed in advance
        warnings.append("does not exist")
    if link:
        warnings.append("is a link, or lies behind one")
    if found:
        words = "holds {}, which stays denied" if name == "allowed" else "holds the allowed {}, which is denied with it"
        warnings.append(words.format(_listed(found)))
    if whole:
        warnings.append(f"is {whole}")
    marks = _marks(name, missing=missing, link=link, holds=bool(found), whole=whole)
    adding = _adding(entry, whole) if name == "allowed" else ""
    removing = _removing(entry, resolved, base) if name == "denied" else ""
    return EntryFacts(entry, resolved, tuple(warnings), missing, adding, removing, marks)


def _marks(name: ListName, *, missing: bool, link: bool, holds: bool, whole: str) -> tuple[tuple[str, str], ...]:
    """The warnings, short, the gravest first."""
    found = [
        ("warning", whole.removeprefix("a folder that ")) if whole else None,
        ("warning", "holds a denied child" if name == "allowed" else "holds an allowed folder") if holds else None,
        ("warning" if name == "allowed" else "", "missing") if missing else None,
        ("info", "a link") if link else None,
    ]
    return tuple(mark for mark in found if mark is not None)


def _below(resolved: str, entries: Iterable[str], base: str) -> list[str]:
    """Entries of the other list that lie below this one."""
    found = []
    for entry in entries:
        try:
            other = paths.resolve(entry, base)
        except PathProblem:
            continue
        if other != resolved and paths.is_within(other, resolved):
            found.append(entry)
    return found


def _listed(found: list[str]) -> str:
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _whole(resolved: str) -> str:
    """What makes a folder too much to allow without a second thought, or ""."""
    home = os.path.realpath(os.path.expanduser("~"))
    if resolved == os.path.dirname(resolved):
        return "the whole computer"
    if resolved == home:
        return "your whole home folder"
    return "a folder that holds your whole home" if paths.is_within(home, resolved) else ""


def _adding(entry: str, whole: str) -> str:
    if not whole:
        return ""
    return (
        f"{entry} is {whole}. Agents could read everything in it without asking, and write whatever you allow once. "
        "Only what is denied stays closed; what you have not denied, such as mail, browser profiles and the keys of "
        "other programs, is open."
    )


def _removing(entry: str, resolved: str, base: str) -> str:
    """What removing a denied entry opens."""
    for known in (*_HOLDS, *SUGGESTED_DENIED):
        try:
            if paths.resolve(known, base) == resolved:
                holds = _HOLDS.get(known, "what programs keep secret")
                return f"{entry} holds {holds}. {_CONSEQUENCE}"
        except PathProblem:
            continue
    return f"{entry} would no longer be closed. {_CONSEQUENCE}"
