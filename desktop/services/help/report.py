"""The report of a problem: what a person would send, masked, as a text that they can change. Nothing here sends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from desktop.domain.errors import KnownError
from desktop.services.help.log_errors import KnownCode, last_errors
from desktop.services.help.masking import ReportMask

YOURS = "What happened\n-------------\n\n\n"
"""Begins a report; below it the person writes."""
CHECKING = "Checks: Assent is looking at this computer…"
"""Stands in a report until the checks are over."""
NO_ERRORS = "None in the log."
MAX_CHECK_LINE = 600


class ProblemReport:
    """``facts``: the versions and the system, a line each. ``check``: what works on this computer, a line each."""

    def __init__(
        self,
        facts: Callable[[], Sequence[str]],
        check: Callable[[], Awaitable[Sequence[str]]],
        logs: Path,
        code: KnownCode,
        mask: ReportMask,
    ) -> None:
        self._facts, self._check, self._logs = facts, check, logs
        self._code, self._mask = code, mask

    def begin(self) -> str:
        """The report but for the checks. Blocks."""
        facts = "\n".join(self._mask.mask(line) for line in self._facts())
        errors = "\n".join(last_errors(self._logs, self._code)) or NO_ERRORS
        told = f"{_head('Last errors, without what was said in them')}{errors}"
        return f"{YOURS}{_head('Assent')}{facts}\n\n{CHECKING}\n\n{told}\n"

    async def checks(self) -> str:
        """What stands in the place of ``CHECKING`` in the end."""
        try:
            found = await self._check()
        except KnownError as error:
            found = [str(error)]
        lines = [self._mask.mask(line[:MAX_CHECK_LINE]) for line in found]
        return _head("Checks") + ("\n".join(lines) or "They gave no answer.")

    def ready(self, text: str) -> str:
        """What a person made of it, as it leaves the window: without the keys that Assent knows."""
        return self._mask.without_keys(text)


def _head(title: str) -> str:
    return f"{title}\n{'-' * len(title)}\n"
