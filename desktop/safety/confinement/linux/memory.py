"""How much memory a process and all that it started hold, and who is ended first when the computer has none left.

A limit of the kernel on each process (RLIMIT_AS, RLIMIT_DATA) breaks programs that reserve far more than they use, as
node and java do, and a control group needs one that was handed to us. So the tree is looked at twice a second: first by
a sum that is quick and counts twice what processes share, and only where that is over the limit by their true shares.
Files in folders of the process's own are memory, too, and so are files without a name in memory that it holds open.
What grows faster than that is the kernel's to end: it is told to take these processes before every other, and so never
the app. Memory that only the kernel knows of is not seen, such as a file that was sent away and that nobody took.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence

from desktop.safety.confinement.linux.launcher import descendants, living_thread

if sys.platform != "linux":
    raise ImportError("for Linux alone")

LOOK_S = 0.5
_FIRST_TO_GO = "1000"
_SHARED = "/dev/shm"
_BLOCK = 512
_QUICK = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB", re.MULTILINE)
_TRUE = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB", re.MULTILINE)
_IN_MEMORY = re.compile(r"^\S+ \S+ (\d+):(\d+) .* - (?:tmpfs|ramfs|devtmpfs|hugetlbfs) ", re.MULTILINE)
_MAPPED = re.compile(rb"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+)", re.MULTILINE)
_SHARE = re.compile(rb"^(Pss|Anonymous):\s+(\d+) kB", re.MULTILINE)

File = tuple[int, int]
"""Device and inode."""


async def outgrown(root: int, limit: int, folders: Iterable[str] = ()) -> None:
    """Returns once ``root`` and its descendants hold more than ``limit`` bytes, what is in ``folders`` of their own
    included; never where the limit is 0."""
    while True:
        if await asyncio.to_thread(is_over, root, limit, folders):
            return
        await asyncio.sleep(LOOK_S)


def is_over(root: int, limit: int, folders: Iterable[str] = ()) -> bool:
    """Whether the processes below ``root`` hold more memory than the limit.

    Each time, every one of them is told to go first when memory runs out: a process can take that back itself.
    """
    tree = [root, *descendants(root)]
    for process in tree:
        with contextlib.suppress(OSError), open(f"/proc/{process}/oom_score_adj", "w") as file:
            file.write(_FIRST_TO_GO)
    if not limit:
        return False
    # what is known of a process is known of its threads, and of one whose first thread has ended by no other way
    threads = [living_thread(process) or process for process in tree]
    kept = _in_folders(tree[-1], folders)
    nameless = _nameless(threads, kept)
    files = sum(kept.values()) + sum(nameless.values())
    if sum(_kilobytes(thread, "status", _QUICK) or 0 for thread in threads) * 1024 + files <= limit:
        return False
    true = (_kilobytes(thread, "smaps_rollup", _TRUE) for thread in threads)
    held = (
        _kilobytes(thread, "status", _QUICK) or 0 if own is None else own
        for thread, own in zip(threads, true, strict=True)
    )
    total = sum(held) * 1024 + files
    if nameless and total > limit:
        total -= sum(_mapped(thread, nameless) for thread in threads)
    return total > limit


def _kilobytes(process: int, name: str, lines: re.Pattern[bytes]) -> int | None:
    """The sum of some lines of what the kernel tells of a process; None where it does not."""
    try:
        with open(f"/proc/{process}/{name}", "rb") as file:
            return sum(map(int, lines.findall(file.read())))
    except OSError:
        return None


def _in_folders(process: int, folders: Iterable[str]) -> dict[int, int]:
    """Bytes of the files in folders that only this process's tree has, which are kept in memory, by device."""
    used = dict[int, int]()
    for folder in (*folders, *((_SHARED,) if folders else ())):
        place = f"/proc/{process}/root{folder}"
        with contextlib.suppress(OSError):
            device = os.stat(place).st_dev
            if device != os.stat(folder).st_dev:
                about = os.statvfs(place)
                used[device] = (about.f_blocks - about.f_bfree) * about.f_frsize
    return used


def _nameless(threads: Sequence[int], counted: Collection[int]) -> dict[File, int]:
    """Bytes of each file that is kept in memory and has no name any more, or never had one (memfd), and that one of
    these holds open, but for what is on devices that are counted as a whole."""
    found = dict[File, int]()
    places = _devices_in_memory(threads).difference(counted)
    for thread in threads:
        for about in _open_files(thread):
            if not about.st_nlink and about.st_dev in places:
                found[about.st_dev, about.st_ino] = about.st_blocks * _BLOCK
    return found


def _open_files(thread: int) -> Iterator[os.stat_result]:
    """What the kernel tells of each file without a name. Others are not asked about: that may mean asking a server."""
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{thread}/fd"):
            place = f"/proc/{thread}/fd/{name}"
            with contextlib.suppress(OSError):
                if os.readlink(place).endswith(" (deleted)"):
                    yield os.stat(place)


def _devices_in_memory(threads: Sequence[int]) -> set[int]:
    """Where files are kept in memory: what is mounted so for these, and the kernel's own, unmounted place."""
    nameless = os.memfd_create("assent-device")
    try:
        found = {os.fstat(nameless).st_dev}
    finally:
        os.close(nameless)
    spaces = set[int]()
    for thread in threads:
        with contextlib.suppress(OSError):
            space = os.stat(f"/proc/{thread}/ns/mnt").st_ino
            if space not in spaces:
                spaces.add(space)
                with open(f"/proc/{thread}/mountinfo", encoding="utf-8", errors="replace") as file:
                    found.update(os.makedev(int(one), int(two)) for one, two in _IN_MEMORY.findall(file.read()))
    return found


def _mapped(thread: int, files: Collection[File]) -> int:
    """Bytes of these files that stand in a process's share as well, since it has them mapped."""
    try:
        with open(f"/proc/{thread}/smaps", "rb") as file:
            text = file.read()
    except OSError:
        return 0
    total = 0
    maps = list(_MAPPED.finditer(text))
    for at, one in enumerate(maps):
        if (os.makedev(int(one[1], 16), int(one[2], 16)), int(one[3])) in files:
            end = maps[at + 1].start() if at + 1 < len(maps) else len(text)
            share = {name: int(size) for name, size in _SHARE.findall(text, one.end(), end)}
            total += max(0, share.get(b"Pss", 0) - share.get(b"Anonymous", 0))
    return total * 1024
