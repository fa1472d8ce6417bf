"""JSON that others wrote, no deeper than what Python reads by itself everywhere up to 3.11.

From 3.12 on Python's own reader goes as deep as its stack holds (3.14: tens of thousands of levels), so that the value
comes to functions that cannot go as deep.
"""

import json
import re
from itertools import accumulate
from typing import Any

MAX_DEPTH = 900
"""Levels, fewer than the calls that Python has within each other."""
_STRING = re.compile('"[^"]*"?')
_BRACKETS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_OTHERS = bytes(set(range(256)) - set(b"[{]}"))


def read_json(text: str | bytes | bytearray, **hooks: Any) -> Any:
    """``json.loads``, with its keywords. Raises ValueError, and RecursionError for what is nested too deeply, whether
    or not it is JSON further on."""
    if isinstance(text, bytes | bytearray):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if not isinstance(text, str):
        raise TypeError(f"JSON is text, not {type(text).__name__}")
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise RecursionError("JSON that is nested too deeply")
    return json.loads(text, **hooks)


def _depth(text: str) -> int:
    """The levels of a text that may be JSON; what stands in its strings is none."""
    outside = _STRING.sub("", text.replace("\\\\", "").replace('\\"', ""))
    steps = outside.encode("ascii", "ignore").translate(_BRACKETS, _OTHERS)
    return max(accumulate(memoryview(steps).cast("b")), default=0)
