"""Sets of row numbers as integers: one bit a row, so that filters are ``&`` and ``|`` and counts are one call."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress

_DIGITS = bytes.maketrans(b"\x00\x01", b"01")
_FLAGS = bytes.maketrans(b"01", b"\x00\x01")


def mask_of(rows: Iterable[int], count: int) -> int:
    """The set of these rows, of ``count`` in all."""
    flags = bytearray(count)
    for row in rows:
        flags[row] = 1
    return mask_of_flags(flags)


def mask_of_flags(flags: bytes | bytearray) -> int:
    """The set of the rows whose flag is 1; each flag is 0 or 1."""
    return int(flags[::-1].translate(_DIGITS), 2) if flags else 0


def flags_of(mask: int, count: int) -> bytes:
    """The mask as bytes: for each row 1 or 0."""
    return format(mask, f"0{count}b").encode("ascii")[::-1].translate(_FLAGS) if count else b""


def rows_in(mask: int, count: int) -> list[int]:
    """The rows of a set, ascending."""
    return list(compress(range(count), flags_of(mask, count)))
