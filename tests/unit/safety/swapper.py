"""A hostile neighbour: swaps files, folders and links in the workspace as fast as it can. Run as a process.

argv: workspace, outside, kind (`file`, `folder` or `write`). Prints `ready`, ends when killed.
"""

import ctypes
import os
import sys

RENAME_EXCHANGE = 2


def main() -> None:
    workspace, outside, kind = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    good, bad = os.path.join(workspace, "target"), os.path.join(workspace, "other")
    if kind in ("folder", "write"):
        os.makedirs(good, exist_ok=True)
        with open(os.path.join(good, "file.txt"), "w") as file:
            file.write("INSIDE")
        os.symlink(outside, bad)
    else:
        with open(good, "w") as file:
            file.write("INSIDE")
        os.symlink(os.path.join(outside, "file.txt"), bad)
    print("ready", flush=True)
    one, two = os.fsencode(good), os.fsencode(bad)
    while True:
        libc.renameat2(-100, one, -100, two, RENAME_EXCHANGE)


main()
