"""A process that makes changes and takes them back, over and over, until it is killed: ``HOME WORKSPACE WHAT``."""

import sys
from pathlib import Path

from desktop.domain.safety import SafetySettings
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.changes.apply import JournaledApplier
from tests.unit.safety.changes.kit import Tree, between, contents_of

MANY = 60


def trees() -> tuple[Tree, Tree]:
    """Two trees that differ in everything a change can do."""
    old: Tree = {"a": None, "b": None, "b/c": None, "turns": "file", "same": "same"}
    new: Tree = {"a": None, "d": None, "d/c": None, "turns": None, "turns/in": "folder", "same": "same"}
    for number in range(MANY):
        old[f"a/{number}"] = f"old {number}\n" * 50
        new[f"a/{number}"] = f"new {number}\n" * 50
        old[f"b/c/{number}"] = f"moved {number}\n"
        new[f"d/c/{number}"] = f"moved {number}\n"
    return old, new


def applier(home: str, workspace: str) -> JournaledApplier:
    settings = SafetySettings(workspace=workspace, allowed=(workspace,))
    return JournaledApplier(BoundaryPolicy(home, lambda: settings), f"{home}/data/changes")


def main(home: str, workspace: str, what: str) -> None:
    one = applier(home, workspace)
    if what == "recover":
        print("ready", flush=True)
        one.recover()
        return
    old, new = trees()
    root = Path(workspace)
    forth, back, contents = between(root, old, new), between(root, new, old), contents_of(old, new)
    is_old = (root / "b").exists()
    print("ready", flush=True)
    while True:
        assert one.apply(forth if is_old else back, contents) == ()
        is_old = not is_old


if __name__ == "__main__":
    main(*sys.argv[1:])
