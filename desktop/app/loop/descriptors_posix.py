"""Descriptors on Linux and macOS: sockets and pipes through Qt's notifiers, children through pidfds where there are
any."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from asyncio import unix_events
from collections.abc import Callable
from typing import Any

import qasync

from desktop.app.loop.readiness import READ, WRITE, WatchTable

PIDFD = sys.platform == "linux" and sys.version_info < (3, 12) and hasattr(os, "pidfd_open")
"""From 3.12 on asyncio watches children through pidfds itself; before, it spends a thread on each."""
logger = logging.getLogger(__name__)

if sys.platform == "win32":
    raise ImportError("Windows has no descriptors that could be watched")


class PosixDescriptors(qasync.QEventLoop):  # type: ignore[misc]
    """What asyncio's selector does, done by Qt."""

    def _make_watch_tables(self) -> None:
        self._readers = WatchTable(self, READ)
        self._writers = WatchTable(self, WRITE)

    def _clear_watch_tables(self) -> None:
        self._readers.clear()
        self._writers.clear()

    def _add_reader(self, fd: Any, callback: Callable[..., Any], *args: Any) -> asyncio.Handle:
        self._check_closed()
        handle = asyncio.Handle(callback, args, self, None)
        self._readers.add(fd, handle)
        return handle

    def _remove_reader(self, fd: Any) -> bool:
        return self._readers.remove(fd)

    def _add_writer(self, fd: Any, callback: Callable[..., Any], *args: Any) -> asyncio.Handle:
        self._check_closed()
        handle = asyncio.Handle(callback, args, self, None)
        self._writers.add(fd, handle)
        return handle

    def _remove_writer(self, fd: Any) -> bool:
        return self._writers.remove(fd)

    async def _make_subprocess_transport(self, protocol: Any, args: Any, shell: Any, *rest: Any, **kwargs: Any) -> Any:
        if not PIDFD:
            return await super()._make_subprocess_transport(protocol, args, shell, *rest, **kwargs)
        waiter = self.create_future()
        events: Any = unix_events  # of whose private class no types are known
        transport = events._UnixSubprocessTransport(self, protocol, args, shell, *rest, waiter=waiter, **kwargs)
        self._watch_child(transport)
        try:
            await waiter
        except BaseException:
            transport.close()
            await transport._wait()
            raise
        return transport

    def _watch_child(self, transport: Any) -> None:
        pid: int = transport.get_pid()
        pidfd = _open_pidfd(pid)

        def ended() -> None:
            self._remove_reader(pidfd)
            os.close(pidfd)
            try:
                returncode = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            except ChildProcessError:
                returncode = 255
                logger.warning("child process %d was waited for by someone else: will report returncode 255", pid)
            # One round later, so that what the pipes still hold is read first (as asyncio's own watchers do).
            self.call_soon(self.call_soon, transport._process_exited, returncode)

        self._add_reader(pidfd, ended)


def _open_pidfd(process: int) -> int:
    """Where there is such a thing (``PIDFD``). Raises OSError."""
    if sys.platform == "linux":
        return os.pidfd_open(process)
    raise OSError("only Linux has descriptors of processes")
