"""The home folder: where it is, its layout, and that only one Assent has it.

Imported before the first paint: nothing heavy here. Blocks for well under a millisecond.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Mapping
from pathlib import Path

from desktop.app.home.owners import other_owner, owner_for_root
from desktop.domain.errors import HomeInUse, HomeNotWritable
from desktop.systems import file_lock

FOLDERS = ("data", "logs", "skills", "agents", "workspace")
DEFAULT = "~/.agent"
LOCK_WIDTH = 19
"""Characters for a process id."""
SAYS_SO_S = 0.05
"""Seconds in which one that has just come has written its number."""


def home_path(option: str | None, environment: Mapping[str, str]) -> Path:
    """``--home``, else ``AGENT_HOME``, else ``~/.agent``; absolute, links not followed. Raises HomeNotWritable."""
    wanted = option or environment.get("AGENT_HOME") or DEFAULT
    try:
        return Path(os.path.abspath(Path(wanted).expanduser()))
    except RuntimeError as error:
        raise HomeNotWritable(
            f"Whose folder “{wanted}” is cannot be found out: HOME is not set, or nobody has that name.",
            next_step="Set HOME to your home folder, or name the folder for Assent: --home DIR.",
        ) from error


DATA, SOCKET = "data", "raise.sock"


class Home:
    """A home that this process holds until ``release()`` or its end, however it ends."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.data = path / DATA
        self.logs = path / "logs"
        self._lock: int | None = lock

    @property
    def database(self) -> Path:
        """The database file, made by the store."""
        return self.data / "assent.db"

    @property
    def socket(self) -> Path:
        """Where other processes ask something of this one (``instance``)."""
        return self.data / SOCKET

    def release(self) -> None:
        """Let another process have the home. Safe to call twice."""
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


def open_home(path: Path) -> Home:
    """Make what is missing, and take the home. Raises HomeNotWritable or HomeInUse, in words for a person."""
    try:
        _make_folders(path)
        return Home(path, _take_lock(path))
    except OSError as error:
        raise _not_writable(path, error) from error


def _make_folders(path: Path) -> None:
    _not_as_root(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    for name in FOLDERS:
        (path / name).mkdir(mode=0o700, exist_ok=True)
    for name in ("data", "logs"):
        if not os.access(path / name, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path / name))


def _not_as_root(path: Path) -> None:
    """Root may write anywhere, but the person whose folder it is could not use what root leaves there. Raises
    HomeNotWritable."""
    owner = owner_for_root(path)
    if owner:
        raise HomeNotWritable(
            f"The folder of {path} belongs to {owner}, who could not use any more what Assent writes there as root.",
            next_step="Start it without sudo, or with a folder of root's own: --home DIR.",
        )


def _take_lock(path: Path) -> int:
    """The lock belongs to the open file, so the system drops it with the process; no child inherits the file.

    It holds the process id, padded: writing over it costs a twentieth of making the file empty first.
    """
    lock = os.open(path / "data" / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _is_mine(lock):
            pass
        file_lock.write_at(lock, f"{os.getpid():<{LOCK_WIDTH}}\n".encode("ascii"), 0)
    except BlockingIOError as error:
        os.close(lock)
        raise _in_use(path, holder(path)) from error
    except BaseException:
        os.close(lock)
        raise
    return lock


def _is_mine(lock: int) -> bool:
    """Take the lock. False: try again, for only who asks about it has it, for an instant. Raises BlockingIOError."""
    try:
        file_lock.take(lock)
    except BlockingIOError:
        file_lock.ask(lock)
        return False
    return True


def holder(path: Path) -> int:
    """The process that has the home; 0: none, or one that has just come and has not said so. The lock itself is asked:
    the process that is named may have ended, and another have its number."""
    try:
        with open(path / DATA / "lock", encoding="latin-1") as file:
            found = int(file.read(LOCK_WIDTH))
            try:
                file_lock.ask(file.fileno())
            except BlockingIOError:
                time.sleep(SAYS_SO_S)  # one that has just come still has the number of the last one there
                found = int(file_lock.read_at(file.fileno(), LOCK_WIDTH, 0))
                os.kill(found, 0)
                return found
    except PermissionError:
        return found
    except (OSError, ValueError, OverflowError):
        return 0
    return 0


def _in_use(path: Path, holder: int) -> HomeInUse:
    process = f" (process {holder})" if holder else ""
    return HomeInUse(
        f"Assent is already running with the home folder {path}{process}.",
        next_step="Use the window that is open, or start with another folder: --home DIR.",
    )


def _not_writable(path: Path, error: OSError) -> HomeNotWritable:
    where = error.filename or path
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return HomeNotWritable(
            f"The disk is full, so Assent cannot use the home folder {path}.",
            next_step="Free some space and try again.",
        )
    if error.errno in {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}:
        return HomeNotWritable(
            f"The file system of {path} has no locks, so two Assents could not be kept from writing there at once.",
            next_step="Choose a folder on a local disk: --home DIR.",
        )
    owner = other_owner(Path(where)) if error.errno in {errno.EACCES, errno.EPERM} else ""
    if owner:
        return HomeNotWritable(
            f"Assent cannot write to its home folder: {where} belongs to {owner}.",
            next_step="Start it as that user, have the folder given to you, or start with another one: --home DIR.",
        )
    if error.errno in {errno.EEXIST, errno.ENOTDIR}:
        return HomeNotWritable(
            f"{where} is not a folder, so it cannot be Assent's home.",
            next_step="Move that file away, or start with another folder: --home DIR.",
        )
    if error.errno == errno.EROFS:
        return HomeNotWritable(
            f"{where} is on a disk that can only be read, so Assent cannot use it as its home.",
            next_step="Make that disk writable, or start with a folder on another one: --home DIR.",
        )
    return HomeNotWritable(
        f"Assent cannot write to its home folder: {where}: {error.strerror or error}.",
        next_step="Give yourself write permission for that folder, or start with another one: --home DIR.",
    )
