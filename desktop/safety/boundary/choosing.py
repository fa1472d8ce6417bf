"""A folder that a person names as a project, judged before any thread works in it."""

from __future__ import annotations

import os

from desktop.domain.files.projects import ProjectFolder
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.safety import Access
from desktop.safety.boundary.paths import PathProblem, is_within, resolve
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.project import closed_because


def judged_folder(policy: BoundaryPolicy, text: str) -> ProjectFolder:
    """Where a folder really is, and why no thread can work in it, if none can. Blocks; never raises for the text."""
    given = os.path.normpath(os.path.expanduser(text)) if text else ""
    if not os.path.isabs(given):
        return ProjectFolder(text, "", "is no folder's whole path")
    try:
        real = resolve(given, os.sep)
    except PathProblem as problem:
        return ProjectFolder(given, "", str(problem))
    return ProjectFolder(given, real, closed_because(real) or _closed_to_tools(policy, real))


def _closed_to_tools(policy: BoundaryPolicy, real: str) -> str:
    """Why tools could not work there even as a project, or ""."""
    verdict = policy.within(WorkPlace(real)).explain(real, Access.LIST)
    if verdict.rule.startswith("denied"):
        return "is in a denied folder"
    lists = policy.lists()
    home, own = lists.home, lists.own_workspace
    of_app = home is not None and is_within(real, home.resolved) and not is_within(real, own)
    if of_app or verdict.rule.startswith("protected"):
        return "belongs to Assent itself"
    if any(is_within(real, rule.resolved) for rule in lists.installed):
        return "is part of Assent's own program"
    if not verdict.allowed:
        return "is closed to tools"
    return "" if os.access(real, os.R_OK | os.X_OK) else "cannot be read by you"
