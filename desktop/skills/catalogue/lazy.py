"""Metadata that stays JSON text until somebody looks at it: most of 10,000 definitions are never looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


class LazyMapping(Mapping[str, Any]):
    """The mapping that a JSON object says, read at the first look. Equal to any mapping with the same items."""

    __slots__ = ("_found", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, Any] | None = None

    def _read(self) -> dict[str, Any]:
        found = self._found
        if found is None:
            found = self._found = json.loads(self._text)
        return found

    def __getitem__(self, key: str) -> Any:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __eq__(self, other: object) -> bool:
        return dict(other) == self._read() if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._read())
