"""How a process ended, as the result of a call: for the shell and for declared tools alike (R-CLI-13)."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.errors import ToolAborted, ToolFailure, ToolTimeout
from desktop.domain.safety import ConfinementKind, ProcessOutcome, ProcessSpec
from desktop.domain.text.words import plain_line
from desktop.domain.tools import ToolResult

NETWORK_WAS_NOT_GIVEN = (
    "[It ran without the network: what it does cannot be told from the command. A person can give it the network in "
    "its request.]\n"
)
NETWORK_IS_OFF = "[The network is switched off for commands; a person can allow it in Settings, Tools and limits.]\n"
SHARED_MEMORY_IS_CLOSED = (
    "[Shared memory (/dev/shm) is closed to commands under Landlock, because what other programs keep there could be "
    "read and overwritten, too. Locks, queues, pools and arrays of Python's multiprocessing need it. What works: "
    "concurrent.futures.ThreadPoolExecutor, or processes that talk through pipes; or a person installs bubblewrap, "
    "under which each command has shared memory of its own.]\n"
)
FORK_SERVER_IS_CLOSED = (
    "[Unix sockets are closed to commands, because services of this computer listen on them. From Python 3.14 on, "
    "multiprocessing starts its processes through one unless it is told otherwise. What works: "
    "multiprocessing.set_start_method('fork') or ('spawn') before the first process.]\n"
)

_NAMED, _NAME = 3, 40
_WANTED_SHARED = re.compile(r"/dev/shm|\bSemLock\b|\b(?:shm|sem)_open\b|\bshared_memory\b")
_FORK_SERVER = re.compile(r"\bmultiprocessing/forkserver\.py\b")
_REFUSED = re.compile(r"Permission denied|\bEACCES\b|\bEPERM\b|Operation not permitted", re.IGNORECASE)


def lost_files_note(paths: list[str]) -> str:
    """For a command that wrote into a folder of its own: success there is no file anywhere."""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return (
        f"[Outside the allowed folders: {', '.join(paths[:_NAMED])}{more}. Each command has a /tmp and a /run of its "
        "own; what it wrote there is gone now.]\n"
    )


def taken_over_note(taken: int, of: int) -> str:
    """For a command of which a person took over a part only."""
    if taken == of:
        return ""
    if not taken:
        return "[It ran in a copy, and a person took over none of its changes: no file has changed.]\n"
    return f"[It ran in a copy, and a person took over {taken} of its {of} changes; the others were not made.]\n"


def ended_note(left: Sequence[str] | None) -> str:
    """For a command that left something running: it is gone, and who counts on it should know."""
    if not left:
        return ""
    found = Counter(plain_line(name, _NAME) or "?" for name in left)
    names = [name if many == 1 else f"{many} x {name}" for name, many in found.most_common(_NAMED)]
    more = f" and {len(found) - _NAMED} other names" if len(found) > _NAMED else ""
    those = "1 process" if len(left) == 1 else f"{len(left):,} processes"
    return f"[It left {those} running, which ended with it: {', '.join(names)}{more}.]\n"


def with_changes(result: ToolResult, note: str, changes: int | None) -> ToolResult:
    """A result with words of ours above it, and how many changes of a copy became real; None: it ran in none."""
    facts = result.facts if changes is None else {**result.facts, "changes": changes}
    return replace(result, text=note + result.text, facts=facts)


def assigned(variables: Mapping[str, str]) -> list[str]:
    """Variables with their values, as a shell would be given them."""
    return [f"{name}={shlex.quote(value)}" for name, value in sorted(variables.items())]


def closed_to_processes(output: str, confined_by: ConfinementKind) -> str:
    """Why a program that failed could not share memory among its processes, or start them by way of a socket, if its
    output says that it could not."""
    if confined_by not in ("bubblewrap", "landlock") or not _REFUSED.search(output):
        return ""
    if confined_by == "landlock" and _WANTED_SHARED.search(output):
        return SHARED_MEMORY_IS_CLOSED
    return FORK_SERVER_IS_CLOSED if _FORK_SERVER.search(output) else ""


def ended_early(outcome: ProcessOutcome) -> ToolResult:
    """Of a command that was ended by whoever asked for it, and by nobody else: what it wrote until then."""
    facts = {"elapsed_s": round(outcome.elapsed_s, 3), "bytes": outcome.total_bytes, "truncated": outcome.truncated}
    text = f"[Ended by whoever asked for it, with everything it had started.]\n{outcome.output}"
    return ToolResult(text, is_error=True, code="tool.ended", facts=facts)


def result_of(
    outcome: ProcessOutcome, spec: ProcessSpec, hint: str = "", confined_by: ConfinementKind = "none"
) -> ToolResult:
    """The result of a finished process: its text and facts.

    ``hint``, and what its sandbox explains, stand above the output of one that failed. Raises ToolTimeout, ToolAborted
    or, where it outgrew its memory or its room on the disk, ToolFailure, with what it had written.
    """
    wrote = f" It had written:\n{outcome.output}" if outcome.output else " It had written nothing."
    if outcome.ended == "timeout":
        after = f"Stopped after the time limit of {spec.timeout_s:g} s, with everything it had started."
        raise ToolTimeout(after + wrote)
    if outcome.ended == "memory":
        limit = f"{spec.memory_limit / 1e9:.3g} GB"
        said = f"Ended because it used more than {limit} of memory, with everything it had started.{wrote}"
        raise ToolFailure(said, code="tool.memory")
    if outcome.ended == "disk":
        said = (
            f"Ended because it wrote more than its copy of the folders may hold, with everything it had started.{wrote}"
        )
        raise ToolFailure(said, code="tool.disk")
    if outcome.ended == "aborted":
        raise ToolAborted("Operation aborted" + (f"\n{outcome.output}" if outcome.output else ""))
    facts: dict[str, Any] = {
        "exit_code": outcome.exit_code,
        "elapsed_s": round(outcome.elapsed_s, 3),
        "bytes": outcome.total_bytes,
        "truncated": outcome.truncated,
    }
    if outcome.exit_code == 0:
        return ToolResult(outcome.output or "[No output.]", facts=facts)
    hint += closed_to_processes(outcome.output, confined_by)
    text = f"{hint}[Exit code {outcome.exit_code}.]\n{outcome.output}"
    return ToolResult(text, is_error=True, code="tool.exit", facts=facts)
