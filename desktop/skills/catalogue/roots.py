"""Where skills are looked for by convention, whose each folder is, and whether it is trusted (R-SK-15).

Order: the project's folders, the person's own, what was taken of repositories, the shared ones of the Agent Skills
convention, the library last.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillSource
from desktop.skills.values.path_entries import PathEntry

PROJECT_FOLDERS = (".agent/skills", ".agents/skills", ".claude/skills")
SHARED_FOLDERS = (".agents/skills", ".claude/skills")
DEFAULT_IGNORES = ("dist", "node_modules", ".git", ".cache", "__pycache__", ".venv")


@dataclass(frozen=True, slots=True)
class SearchRoot:
    """A folder of the search path. ``trusted`` False: listed for the person only, never searched (R-SK-15).
    ``project`` is the project folder it belongs to, or ""; ``repository`` the name of the one that it was taken of."""

    path: str
    source: SkillSource = "project"
    trusted: bool = True
    project: str = ""
    repository: str = ""

    @property
    def pinned(self) -> bool:
        """Whether the folder's skills come from elsewhere: then they are off once they change, until the person has
        seen the difference."""
        return self.source == "shared" or (self.source == "project" and bool(self.project))

    @property
    def has_authority(self) -> bool:
        """Whether ``role: main`` has a meaning in this folder (R-SK-10)."""
        return self.trusted and self.source in ("library", "project")


@dataclass(frozen=True, slots=True)
class Project:
    """A folder that the person works in."""

    path: str
    trusted: bool = False


def conventional_roots(
    *,
    home: str,
    agent_home: str,
    library: str,
    projects: Iterable[Project] = (),
    repositories: Iterable[tuple[str, str]] = (),
) -> tuple[SearchRoot, ...]:
    """All folders by convention, in search order, whether or not they exist. ``home`` is the person's home folder,
    ``agent_home`` the app's (``~/.agent``), ``library`` the bundled skills, ``repositories`` (name, folder) of what was
    taken of each. A folder under two names counts once; what is the person's own stays so when home itself is opened
    as a project."""
    own = [
        SearchRoot(os.path.join(agent_home, "skills"), "mine"),
        *(SearchRoot(folder, "shared", repository=name) for name, folder in repositories),
        *(SearchRoot(os.path.join(home, *name.split("/")), "shared") for name in SHARED_FOLDERS),
        SearchRoot(library, "library"),
    ]
    taken = {os.path.realpath(root.path) for root in own}
    found = []
    for root in _of_projects(projects):
        real = os.path.realpath(root.path)
        if real not in taken and _stays_inside(real, root.project):
            taken.add(real)
            found.append(root)
    return (*found, *_once(own))


def _of_projects(projects: Iterable[Project]) -> Iterator[SearchRoot]:
    for project in projects:
        for name in PROJECT_FOLDERS:
            yield SearchRoot(os.path.join(project.path, *name.split("/")), "project", project.trusted, project.path)


def _stays_inside(real: str, project: str) -> bool:
    """A project's folder may be a link, but not one that leads out of the project."""
    inside = os.path.realpath(project)
    return real == inside or real.startswith(inside.rstrip(os.sep) + os.sep)


def _once(roots: Iterable[SearchRoot]) -> Iterator[SearchRoot]:
    seen: set[str] = set()
    for root in roots:
        real = os.path.realpath(root.path)
        if real not in seen:
            seen.add(real)
            yield root


def search_entries(roots: Iterable[SearchRoot], ignores: Iterable[str] = DEFAULT_IGNORES) -> tuple[PathEntry, ...]:
    """The search path that these folders make: the trusted ones in order, the library as external, then ignores."""
    entries: list[PathEntry] = []
    for root in roots:
        if root.trusted:
            entries.append({"external": root.path} if root.source == "library" else root.path)
    entries += [{"ignore": pattern} for pattern in ignores]
    return tuple(entries)


def link_targets(root: SearchRoot, roots: Iterable[SearchRoot]) -> tuple[str, ...]:
    """The folders, links resolved, into which a linked folder of ``root`` is followed: its own project, and the other
    folders that are searched. A person who trusts a project trusts what is in it, and no link out of it."""
    own = [root.project] if root.project else [one.path for one in roots if one.trusted and not one.project]
    return tuple(dict.fromkeys(os.path.realpath(path) for path in own))


def root_of(folder: str, roots: Iterable[SearchRoot]) -> SearchRoot:
    """The root at this folder. One that is not known was configured by the person and has no privileges."""
    return next((root for root in roots if root.path == folder), None) or SearchRoot(folder)


def enclosing_root(path: str, roots: Iterable[SearchRoot]) -> SearchRoot | None:
    """The innermost root that a file lies in."""
    holding = [root for root in roots if path.startswith(root.path.rstrip(os.sep) + os.sep)]
    return max(holding, key=lambda root: len(root.path), default=None)
