"""Asks the fence host, and checks what it says. A fence that is too much for it is remembered by nobody here: who asks
keeps the answer, also the one that there is none."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable
from typing import Any

from desktop.domain.errors import ChildDied, ProtocolViolation
from desktop.domain.fences.colours import CODE_LONGEST, ColourSpans
from desktop.domain.fences.drawing import SOURCE_LONGEST, UNDRAWN, Drawing, DrawingKind, DrawingReader, Undrawn
from desktop.domain.processes import Child, ChildHealth, ChildRefused

log = logging.getLogger(__name__)
DEADLINE_S = 20.0
"""Seconds of waiting for one answer; the process has limits of its own, which are shorter while the machine has
time for it."""
PIECE = 16_000
"""Characters of one piece of a code on the pipe."""
REASON = 400
"""Characters of a reason why something is not drawn."""
LONGEST = CODE_LONGEST * 8 * 2
"""Characters of the spans of one code, in base64."""


class FenceService:
    """``child`` is the fence host."""

    def __init__(self, child: Child) -> None:
        self._child, self._turn = child, asyncio.Lock()

    @property
    def health(self) -> ChildHealth:
        """How the process is now."""
        return self._child.health

    async def stop(self) -> None:
        """End the process."""
        await self._child.stop()

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
        try:
            await self._told("colours", {"language": language[:80]}, parts, take)
        except (ChildRefused, ChildDied, ProtocolViolation, TimeoutError) as failed:
            log.info("the colours of a code: %s", failed)
            return ColourSpans()
        return ColourSpans.received(b"".join(pieces))

    async def drawing(self, kind: DrawingKind, source: str) -> Drawing | Undrawn:
        """What a source draws, or why it does not."""
        if len(source) > SOURCE_LONGEST:
            return Undrawn(f"It is longer than {SOURCE_LONGEST:,} characters.")
        reader = DrawingReader()

        def take(item: Any) -> None:
            try:
                reader.take(item.get("marks") if isinstance(item, dict) else None)
            except ValueError as error:
                raise ProtocolViolation(f"a drawing: {error}") from None

        parts = [source[at : at + PIECE] for at in range(0, len(source), PIECE)]
        try:
            return reader.whole(await self._told("drawing", {"kind": kind}, parts, take))
        except ChildRefused as refused:
            return Undrawn(str(refused)[:REASON] if refused.code == UNDRAWN else "It cannot be drawn.")
        except (ChildDied, TimeoutError):
            return Undrawn("It takes too long, or too much memory, to be drawn.")
        except (ProtocolViolation, ValueError) as wrong:
            log.info("a fence: %s", wrong)
            return Undrawn("What draws it said nothing that makes sense.")

    async def _told(
        self, method: str, params: dict[str, Any], parts: list[str], take: Callable[[Any], None]
    ) -> dict[str, Any]:
        """The value of a call. Raises ChildRefused, ChildDied, ProtocolViolation and TimeoutError.

        One call at a time, as the process works anyway: what ends it costs its own fence and no other."""
        async with self._turn:
            stream = self._child.stream(method, params, parts=parts, deadline_s=DEADLINE_S)
            try:
                async for item in stream:
                    take(item)
            except TimeoutError:
                await self._child.stop()
                raise
            finally:
                stream.cancel()
        if not isinstance(stream.value, dict):
            raise ProtocolViolation("an answer is no answer")
        return stream.value
