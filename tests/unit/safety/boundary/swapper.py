"""A hostile neighbour: swaps files, folders, links, pipes and second names as fast as it can. Run as a process.

argv: workspace, outside, kind, denied file. The name ``target`` is swapped with something else; ``outside`` holds the
same names as what is inside. Prints ``ready``, ends when killed.
"""

import ctypes
import os
import sys

RENAME_EXCHANGE = 2
INSIDE = "INSIDE"


def folder(path: str) -> None:
    """A folder with a file, and a folder with a file."""
    os.makedirs(os.path.join(path, "deep"), exist_ok=True)
    for name in ("file.txt", "deep/file.txt"):
        with open(os.path.join(path, name), "w") as file:
            file.write(INSIDE)


def prepare(kind: str, good: str, bad: str, outside: str, denied: str) -> None:
    """``good`` is what was approved, ``bad`` what takes its place."""
    if kind in ("folder", "parent"):
        folder(good)
        os.symlink(outside, bad)
        return
    with open(good, "w") as file:
        file.write(INSIDE)
    if kind == "file":
        os.symlink(os.path.join(outside, "file.txt"), bad)
    elif kind == "pipe":
        os.mkfifo(bad)
    elif kind == "second name":
        os.link(denied, bad)
    elif kind == "dangling":
        os.symlink(os.path.join(outside, "not-there-yet.txt"), bad)
    elif kind == "magic":
        os.symlink(f"/proc/self/root{outside}/file.txt", bad)


def main() -> None:
    workspace, outside, kind, denied = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    good, bad = os.path.join(workspace, "target"), os.path.join(workspace, "other")
    prepare(kind, good, bad, outside, denied)
    print("ready", flush=True)
    one, two = os.fsencode(good), os.fsencode(bad)
    while True:
        libc.renameat2(-100, one, -100, two, RENAME_EXCHANGE)


main()
