"""Tries to read and to write one path, without harm: the child that the reach explorer confines like a command.

Runs as ``python -I -S reach_probe.py JSON``, standard library only, none of our modules. The JSON names the path, what
is really there (``identity``: ``device:inode``, or "absent") and a ``probe`` name that nothing has. What is there is
opened and closed, never written, cut or waited for; only in a folder, and where nothing is, an empty file is made and
taken away again. On standard output: ``{"read": [outcome, code], "write": [outcome, code]}``, outcome ``opened``,
``refused``, ``hidden`` (something else, or nothing, is seen there) or ``untried``.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys

QUIETLY = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)


def answer(error: OSError, there: bool) -> tuple[str, str]:
    """A refusal by its name. Not to be found, though it is there, means that it is hidden."""
    code = errno.errorcode.get(error.errno or 0, "error")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return ("hidden", code) if there else ("untried", code)
    if error.errno in (errno.ETXTBSY, errno.ENXIO, errno.ENOSPC, errno.EDQUOT, errno.EMFILE):
        return "untried", code
    return "refused", code


def is_it(status: os.stat_result, identity: str) -> bool:
    """Whether this is what lies outside."""
    return f"{status.st_dev}:{status.st_ino}" == identity


def opened(path: str, flags: int, identity: str) -> tuple[str, str]:
    """Open and close what is there."""
    descriptor = os.open(path, flags | QUIETLY)
    try:
        return ("opened", "") if is_it(os.fstat(descriptor), identity) else ("hidden", "another")
    finally:
        os.close(descriptor)


def made(path: str) -> tuple[str, str]:
    """Make an empty file and take it away."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | QUIETLY, 0o600))
    os.unlink(path)
    return "opened", ""


def attempt(access: str, path: str, identity: str, probe: str) -> tuple[str, str]:
    """Try one access to a path: read it, or write there."""
    there = identity != "absent"
    try:
        if not there:
            return made(path) if access == "write" else ("untried", "ENOENT")
        status = os.stat(path)
        if not is_it(status, identity):
            return "hidden", "another"
        folder = stat.S_ISDIR(status.st_mode)
        if not folder and not stat.S_ISREG(status.st_mode):
            return "untried", "special"
        if access == "read":
            return opened(path, os.O_RDONLY, identity)
        return made(os.path.join(path, probe)) if folder else opened(path, os.O_WRONLY, identity)
    except OSError as error:
        return answer(error, there)


def main() -> int:
    """Try to read and to write, and print what came of it."""
    wish = json.loads(sys.argv[1])
    found = {access: attempt(access, wish["path"], wish["identity"], wish["probe"]) for access in ("read", "write")}
    sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
