"""A process that makes one temporary folder, says where it is and waits until it is killed or its input ends; or, with
a number of seconds, takes away what others left that is older."""

import sys
from pathlib import Path

from desktop.files.temporary import TemporaryFolder, remove_left_behind

if __name__ == "__main__":
    if len(sys.argv) > 1:
        remove_left_behind(float(sys.argv[1]))
    else:
        with TemporaryFolder("trial") as folder:
            (Path(folder.path) / "inside").mkdir()
            print(folder.path, flush=True)
            sys.stdin.read()
