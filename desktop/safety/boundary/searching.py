"""The boundary for a search through a tree, which would ask it a hundred thousand times.

It is told beforehand what is closed there, by path and by object, and goes nowhere else. Whatever it found is judged
like any other path before it is shown.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from desktop.domain.errors import ToolFailure
from desktop.domain.files.searching import FoundPath, SearchArea
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.safety import Access, PathVerdict
from desktop.safety.boundary import paths
from desktop.safety.boundary.disk_snapshot import StatCache
from desktop.safety.boundary.git_excludes import everywhere
from desktop.safety.boundary.mounts import Mounts
from desktop.safety.boundary.policy import BoundaryPolicy


class BoundarySearch:
    """Implements ``domain.searching.SearchBoundary``."""

    def __init__(self, policy: BoundaryPolicy) -> None:
        self._policy = policy

    def within(self, place: WorkPlace) -> BoundarySearch:
        """The same for calls that are made there."""
        return BoundarySearch(self._policy.within(place))

    def explain(self, path: str, access: Access) -> PathVerdict:
        """Judge a path, as the policy does."""
        return self._policy.explain(path, access)

    def area(self, path: str) -> SearchArea:
        """Where a search from here may go."""
        verdict = self._policy.require(path, Access.LIST)
        if verdict.identity == "absent":
            raise ToolFailure(f"There is no file or folder {verdict.resolved}.", code="file.not_found")
        root, moment = verdict.resolved, StatCache()
        lists = self._policy.lists(moment)
        rules = (*lists.denied, *lists.secret)
        closed = [rule.resolved for rule in rules] + list(paths.VIRTUAL)
        for point in Mounts().points_below(root):
            if not self._policy.judge(point, point, Access.LIST, moment, lists).allowed:
                closed.append(point)
        roots = [found for found in self._policy.roots() if paths.is_within(root, found)]
        return SearchArea(
            root,
            max(roots, key=len, default=root),
            tuple(dict.fromkeys(path for path in closed if paths.is_within(path, root))),
            tuple({(rule.identity.device, rule.identity.inode) for rule in rules if rule.identity is not None}),
            everywhere(self._is_open),
        )

    def _is_open(self, path: str) -> bool:
        """Whether a file of the person's own settings is not denied to everything that works for them."""
        return not self._policy.explain(path, Access.READ).rule.startswith("denied")

    def vouched(self, found: Sequence[FoundPath]) -> list[bool]:
        """Each path judged as it is now, in one look at the disk."""
        moment = StatCache()
        lists = self._policy.lists(moment)
        allowed = []
        for one in found:
            verdict = self._policy.explain(os.path.join(os.sep, one.path), Access.READ, moment, lists)
            same = verdict.allowed and verdict.resolved == one.path and verdict.identity != "absent"
            if same and one.inode is not None:
                same = verdict.identity.split(":")[:2] == [str(one.device), str(one.inode)]
            allowed.append(same)
        return allowed
