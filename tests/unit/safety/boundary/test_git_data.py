"""What git writes for every commit is covered by an answer given beforehand; what it runs is not."""

from __future__ import annotations

import pytest

from desktop.safety.boundary.autorun_places import is_data_of_git

pytestmark = pytest.mark.spec("R-OUT-3")


@pytest.mark.parametrize(
    "path",
    [
        "HEAD",
        "index.lock",
        "refs/heads/main",
        "refs/heads/fix/tides.lock",
        "refs/remotes/origin/HEAD",
        "refs/stash",
        "logs/HEAD",
        "logs/refs/heads/main",
        "objects/ab/cdef",
        "objects/pack/pack-ab.idx",
        "refs",
        "logs/refs/tags",
    ],
)
def test_what_a_commit_or_a_fetch_writes_is_data(path: str) -> None:
    assert is_data_of_git(f"/w/.git/{path}")


@pytest.mark.parametrize(
    "path",
    [
        "config",
        "hooks/pre-commit",
        "info/attributes",
        "refs/.vscode/tasks.json",
        "refs/x/config",
        "logs/r/hooks/pre-commit",
        "refs/heads/x/config",
        "refs/heads/x/hooks/update",
        "logs/refs/heads/x/commondir",
        "refs/heads/.envrc",
    ],
)
def test_what_a_program_runs_or_reads_as_settings_is_none_wherever_it_lies(path: str) -> None:
    assert not is_data_of_git(f"/w/.git/{path}")
