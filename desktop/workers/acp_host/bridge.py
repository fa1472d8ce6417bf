"""The stdio MCP server that an agent starts to reach our tools: it copies bytes, and knows nothing.

Runs inside the agent's confinement, where neither the network nor a socket leads out: what it has is a folder of named
pipes that only this agent's processes and the host see. ``python -I bridge.py FOLDER``; the key is in the environment.
It imports nothing of Assent: a few modules of Python's own library are all it needs.
"""

import contextlib
import os
import secrets
import sys
import threading

DOOR = "door"
KEY = "ASSENT_TOOLS_KEY"


def copy(source: int, target: int) -> None:
    """All that comes from one end to the other."""
    with contextlib.suppress(OSError):
        while data := os.read(source, 1 << 16):
            while data:
                data = data[os.write(target, data) :]


def main() -> None:
    if sys.platform == "win32":
        sys.exit("Windows has no pipes in folders, by which this joins the app.")
    folder = sys.argv[1]
    name = secrets.token_hex(16)
    paths = [os.path.join(folder, f"{name}.{end}") for end in ("in", "out")]
    for path in paths:
        os.mkfifo(path, 0o600)
    door = os.open(os.path.join(folder, DOOR), os.O_WRONLY)
    os.write(door, f"{os.environ.pop(KEY, '')} {name}\n".encode())
    os.close(door)
    to_host = os.open(paths[0], os.O_WRONLY)
    from_host = os.open(paths[1], os.O_RDONLY)
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)

    def asked() -> None:
        copy(0, to_host)
        os.close(to_host)

    threading.Thread(target=asked, daemon=True).start()
    copy(from_host, 1)


if __name__ == "__main__":
    main()
