"""A process with all that it started: on macOS its group, which one can leave, on Windows its job, which none can."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

from desktop.domain.safety import ProcessSpec
from desktop.systems import processes


def default_launcher() -> tuple[str, ...]:
    """Nothing starts commands in between."""
    return ()


def held(spec: ProcessSpec) -> ProcessSpec:
    """The same process: nothing ties one to its parent here."""
    return spec


async def outgrown(root: int, limit: int, folders: Iterable[str] = ()) -> None:  # noqa: ARG001 - as on Linux
    """Never returns: what a tree of processes holds is not told here."""
    await asyncio.Event().wait()


def kill_tree(root: int) -> None:
    """End everything."""
    signal_tree(root, processes.KILL, group=True)


def end_leftovers(root: int, *, ended: bool) -> None:  # noqa: ARG001 - as on Linux
    """The last resort when waiting was cut short twice, and the only one for what outlived its leader."""
    signal_tree(root, processes.KILL, group=True)


def signal_tree(root: int, number: int, *, group: bool = False) -> None:  # noqa: ARG001 - as on Linux
    """Signal ``root`` and its group or tree. Never raises."""
    with contextlib.suppress(OSError):
        processes.signal_all(root, number)
