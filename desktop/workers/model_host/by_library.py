"""An answer as the model library reads it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

CLOSE_SECONDS = 1.0
PIECES_KEPT = 64


class LibraryStream:
    """Reads one answer. ``reason``: why it ended, once the provider has said so; ``reports``: what it says it used."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._said = ""

    @classmethod
    async def open(cls, library: Any, made: Mapping[str, Any]) -> LibraryStream:
        """Ask. Raises whatever the library does."""
        return cls(await library.acompletion(**made))

    async def more(self) -> Sequence[Any]:
        """What came next; nothing once the answer is over."""
        while True:
            try:
                chunk = await self._response.__anext__()
            except StopAsyncIteration:
                return ()
            self._said = self._latest() or self._said
            self._forget_pieces()
            if choices := getattr(chunk, "choices", None):
                return (choices[0].delta,)

    @property
    def reason(self) -> str:
        return self._latest() or self._said

    @property
    def model(self) -> str:
        return str(getattr(self._response, "model", None) or "")[:200]

    @property
    def reports(self) -> Sequence[Any]:
        pieces = getattr(self._response, "chunks", ())
        return [used for piece in pieces if (used := getattr(piece, "usage", None)) is not None]

    def _latest(self) -> str:
        """What the provider said of the end; the library keeps only what the latest piece said, under either name."""
        response = self._response
        said = getattr(response, "received_finish_reason", None) or getattr(
            response, "intermittent_finish_reason", None
        )
        return str(said or "")

    def _forget_pieces(self) -> None:
        """The library keeps every piece of an answer, each a thousand times its text. Only those with usage are needed,
        of them the first and the last; and the last two, which it compares."""
        pieces = getattr(self._response, "chunks", None)
        if not isinstance(pieces, list) or len(pieces) < PIECES_KEPT:
            return
        counted = [piece for piece in pieces[:-2] if getattr(piece, "usage", None) is not None]
        keep = PIECES_KEPT // 8
        pieces[:] = [*counted[:keep], *counted[keep:][-keep:], *pieces[-2:]]

    async def close(self) -> None:
        """Close the connection at once; a server that does not care is left to the garbage collector."""
        close = getattr(self._response, "aclose", None)
        if close is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await close()
