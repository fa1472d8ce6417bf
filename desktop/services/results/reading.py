"""Opens results, each in a process of its own, which is gone when nobody looks at it any more. What it says is checked
and capped."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from desktop.domain.errors import ChildDied, ProtocolViolation
from desktop.domain.files.results import DrawnSize, NodeKind, ResultAbout, ResultKind, ResultRefused, ResultValue
from desktop.domain.processes import Child, ChildRefused, ChildStream
from desktop.systems import current

DEADLINE_S = 90.0
"""Seconds for one answer; the process has limits of its own, which are shorter as long as the machine is not busy."""
PICTURE = 24_000_000
"""Characters of a piece of a page in base64."""
MOST = 40_000
"""Pixels of a drawn page in height, and in width."""
COUNTED = 1_000_000_000
"""Rows, columns, pages or values that are counted; more a view cannot have."""
NAMES, NAME, NOTES, LEFT = 400, 400, 20, 400
CELLS = 40_000_000
"""Characters of all cells that one call gives."""
_NODES: tuple[NodeKind, ...] = ("object", "list", "part", "number", "text", "word")
_ENDS = {
    "signal 27": "It takes too much of the processor to show; it was given up.",
    "signal 9": "It takes more memory to show than there is.",
    "signal 6": "It takes more memory to show than there is for it.",
    "signal 11": "What shows it broke down over it.",
}


class ResultReader:
    """Implements ``domain.files.results.ResultOpener``. ``child`` makes the process for a handle."""

    def __init__(self, child: Callable[[int], Child]) -> None:
        self._child = child

    @asynccontextmanager
    async def open(self, handle: int, name: str, kind: ResultKind) -> AsyncIterator[OpenedResult]:
        """See ``ResultOpener``."""
        if current.WINDOWS:  # pragma: no cover - Windows hands no open files over
            raise ResultRefused("Results cannot be drawn on this system yet; their text can be read.")
        child = self._child(handle)
        try:
            result = OpenedResult(child)
            await result.look(name, kind)
            yield result
        finally:
            await child.stop()


class OpenedResult:
    """Implements ``domain.files.results.OpenResult``."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._about = ResultAbout()

    @property
    def about(self) -> ResultAbout:
        return self._about

    async def look(self, name: str, kind: ResultKind) -> None:
        """Find out what it is. Raises ResultRefused."""
        _, told = await self._call("open", {"kind": kind, "name": name})
        self._about = _about(told)

    async def draw(self, width: int, scale: float) -> DrawnSize:
        _, told = await self._call("draw", {"width": width, "scale": scale})
        wide, high, tile = _number(told, "width"), _number(told, "height"), _number(told, "tile")
        if not (0 < wide <= MOST and 0 < high <= 4 * MOST and 0 < tile <= MOST):
            raise ResultRefused("What draws it said nothing that makes sense.")
        return DrawnSize(wide, high, tile, str(told.get("note", ""))[:NAME])

    async def tile(self, number: int) -> bytes:
        return await self._picture("tile", {"number": number})

    async def page(self, part: int, width: int) -> bytes:
        return await self._picture("page", {"part": part, "width": width})

    async def rows(self, first: int, count: int, *, whole: bool = False) -> list[tuple[str, ...]]:
        asked = {"first": first, "count": count, "whole": whole}
        found: list[tuple[str, ...]] = []
        held: list[str] = []
        for item in (await self._call("rows", asked, most=CELLS))[0]:
            cells = item.get("cells")
            held += [str(cell) for cell in cells] if isinstance(cells, list) else []
            if item.get("more") is not True:
                found.append(tuple(held))
                held = []
        return found[:count]

    async def sort(self, column: int, *, descending: bool) -> None:
        await self._call("sort", {"column": column, "descending": descending})

    async def nodes(self, path: Sequence[int], first: int, count: int) -> list[ResultValue]:
        asked = {"path": list(path), "first": first, "count": count}
        return [_node(item) for item in (await self._call("nodes", asked))[0]][:count]

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _picture(self, method: str, asked: Mapping[str, Any]) -> bytes:
        items, _ = await self._call(method, asked, most=PICTURE)
        try:
            return base64.b64decode("".join(str(item.get("data", "")) for item in items), validate=True)
        except ValueError:
            raise ResultRefused("The picture of it cannot be read.") from None

    async def _call(
        self, method: str, asked: Mapping[str, Any], *, most: int = 8_000_000
    ) -> tuple[list[Mapping[str, Any]], Mapping[str, Any]]:
        """All that a call gives, and its value. Raises ResultRefused."""
        stream = self._child.stream(method, asked, deadline_s=DEADLINE_S)
        try:
            items = await _all(stream, most)
        except ChildRefused as error:
            raise ResultRefused(str(error), code=error.code) from None
        except ChildDied:
            how = self._child.health.last_end
            words = _ENDS.get(how, f"What shows it broke down over it ({how or 'no reason given'}).")
            raise ResultRefused(words, code="result.died", next_step="Its text can be read all the same.") from None
        except ProtocolViolation:
            words = "What shows it said what it may not say; nothing of it was taken."
            raise ResultRefused(words, code="result.died") from None
        except TimeoutError:
            raise ResultRefused("It takes too long to show; it was given up.", code="result.died") from None
        finally:
            stream.cancel()
        return items, stream.value if isinstance(stream.value, Mapping) else {}


async def _all(stream: ChildStream, most: int) -> list[Mapping[str, Any]]:
    items: list[Mapping[str, Any]] = []
    size = 0
    async for item in stream:
        if isinstance(item, Mapping):
            items.append(item)
            size += _size(item)
        if size > most:
            raise ProtocolViolation("more of a result than was asked for")
    return items


def _size(item: Mapping[str, Any]) -> int:
    cells = item.get("cells")
    size = sum(len(str(cell)) for cell in cells) if isinstance(cells, list) else 0
    return 40 + size + len(str(item.get("data", ""))) + len(str(item.get("words", "")))


def _number(told: Mapping[str, Any], name: str) -> int:
    found = told.get(name)
    return min(found, COUNTED) if type(found) is int and found > 0 else 0


def _node(told: Any) -> ResultValue:
    having = told if isinstance(told, Mapping) else {}
    kind = having.get("kind")
    return ResultValue(
        str(having.get("key", ""))[:NAME],
        next((one for one in _NODES if one == kind), "word"),
        str(having.get("words", ""))[:NAME],
        _number(having, "count"),
        min(_number(having, "rows"), MOST),
    )


def _texts(found: Any, most: int) -> tuple[str, ...]:
    return tuple(str(one)[:NAME] for one in found[:most]) if isinstance(found, list) else ()


def _about(told: Mapping[str, Any]) -> ResultAbout:
    left = told.get("left")
    pairs = [one for one in left[:LEFT] if isinstance(one, list) and len(one) == 2] if isinstance(left, list) else []
    return ResultAbout(
        title=str(told.get("title", ""))[:NAME],
        left=tuple((str(what)[:60], str(which)[:NAME]) for what, which in pairs),
        more_left=_number(told, "more"),
        rows=_number(told, "rows"),
        names=_texts(told.get("names"), NAMES),
        columns=_number(told, "columns"),
        root=_node(told["root"]) if "root" in told else None,
        pages=_number(told, "pages"),
        notes=_texts(told.get("notes"), NOTES),
    )
