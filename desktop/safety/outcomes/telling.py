"""What those around a command in its copy tell of it when it has ended: what it left, and which hosts it asked for."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import sys

from desktop.domain.files.outcomes import CommandTraces
from desktop.safety.confinement.asked_hosts import asked_hosts

if sys.platform != "linux":
    raise ImportError("for Linux alone")

MAX_TOLD = 1 << 18
_LONGEST = 40
_FIRST_DESCRIPTOR = 100
"""A number that no shell on the way takes for a file of its own."""


class CopyReport:
    """A socket with two ends: whoever confines the command gets one, this process reads the other. A socket, since what
    runs inside could open the end of a pipe or a file through /proc."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._keeping = -1
        with theirs:
            self.descriptor = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR)

    def read(self) -> CommandTraces:
        """All that was told; once, when the command has ended."""
        self._close_theirs()
        told = b""
        with contextlib.suppress(OSError):  # nothing more of it: whoever should have told was ended, too
            while len(told) < MAX_TOLD:
                piece, handed, *_ = socket.recv_fds(self._ours, 1 << 16, 4)
                for descriptor in handed:
                    if self._keeping < 0:
                        self._keeping = descriptor
                    else:
                        os.close(descriptor)
                if not piece:
                    break
                told += piece
        hosts, more = asked_hosts(self._keeping) if self._keeping >= 0 else (None, False)
        return CommandTraces(_left(told), hosts, more)

    def close(self) -> None:
        """Nobody wants to know any more. Blocks: the kernel takes its time to end a socket that keeps packets."""
        self._close_theirs()
        self._ours.close()
        if self._keeping >= 0:
            os.close(self._keeping)
            self._keeping = -1

    def _close_theirs(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _left(told: bytes) -> tuple[str, ...] | None:
    """The processes that were alive; None where the list was not finished."""
    lines = told.decode("utf-8", "replace").splitlines()
    if "." not in lines:
        return None
    return tuple(line[1 : _LONGEST + 1] for line in lines if line.startswith("+"))
