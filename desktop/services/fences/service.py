"""Asks the fence host, and checks what it says. A fence that is too much for it is remembered by nobody here: who asks
keeps the answer, also the one that there is none."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from typing import Any

from desktop.domain.errors import ChildDied, ProtocolViolation
from desktop.domain.fences.colours import CODE_LONGEST, ColourSpans
from desktop.domain.processes import Child, ChildHealth, ChildRefused

log = logging.getLogger(__name__)
DEADLINE_S = 20.0
"""Seconds of waiting for one answer; the process has limits of its own, which are shorter while the machine has
time for it."""
PIECE = 16_000
"""Characters of one piece of a code on the pipe."""
LONGEST = CODE_LONGEST * 8 * 2
"""Characters of the spans of one code, in base64."""


class FenceService:
    """``child`` is the fence host."""

    def __init__(self, child: Child) -> None:
        self._child = child

    @property
    def health(self) -> ChildHealth:
        """How the process is now."""
        return self._child.health

    async def colours(self, language: str, code: str) -> ColourSpans:
        """The colours of a code in a language as a fence names it; none for one that is not known, or for a code that
        cannot be coloured."""
        if not language or len(code) > CODE_LONGEST:
            return ColourSpans()
        pieces: list[bytes] = []
        room = LONGEST

        def take(item: Any) -> None:
            nonlocal room
            text = item.get("spans") if isinstance(item, dict) else None
            room -= len(text) if isinstance(text, str) else room + 1
            if room < 0:
                raise ProtocolViolation("the colours of a code are none, or too many")
            try:
                pieces.append(base64.b64decode(str(text), validate=True))
            except ValueError:
                raise ProtocolViolation("the colours of a code cannot be read") from None

        parts = [code[at : at + PIECE] for at in range(0, len(code), PIECE)]
        await self._ask("colours", {"language": language[:80]}, parts, take)
        return ColourSpans.received(b"".join(pieces))

    async def _ask(self, method: str, params: dict[str, Any], parts: list[str], take: Callable[[Any], None]) -> Any:
        """The value of a call, None where there is none."""
        stream = self._child.stream(method, params, parts=parts, deadline_s=DEADLINE_S)
        try:
            async for item in stream:
                take(item)
        except ChildRefused as refused:
            log.info("a fence: %s", refused.code)
            return None
        except TimeoutError:
            await self._child.stop()
            return None
        except (ChildDied, ProtocolViolation) as failed:
            log.info("a fence: %s", failed)
            return None
        return stream.value
