"""Regular expressions that are compiled with their first use: most starts never use most of them, and Python takes a
tenth of a millisecond and more for each."""

from __future__ import annotations

import re
from typing import Any, cast


class LazyPattern:
    """Becomes the compiled pattern as soon as something of it is asked for; from there on it is as quick as it."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, for a pattern that is only asked for its methods and attributes."""
    return cast("re.Pattern[str]", LazyPattern(text, flags))
