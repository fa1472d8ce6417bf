"""What in an address reads like a code and not like words: text of a person's could leave in it, written otherwise.

It is a mark for a person who looks at a request, no verdict: commits, ids and keys look like that, too; and what leaves
in plain words has no such look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from desktop.domain.loading.lazy_dataclass import dataclass

LEAST, LEAST_DIGITS, LEAST_LETTERS, LEAST_ENCODED = 16, 20, 40, 6
"""Characters from which a part counts: mixed, of digits, of letters; how many ``%XX`` in one part."""
RUNS = 4
"""Times that digits come between letters."""
MOST = 20
_PART = re.compile(r"[^/?&=#.,;:@+!*'()|\[\]$]+")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_DIGITS = re.compile(r"(?<=[A-Za-z])[0-9]+(?=[A-Za-z])")
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")


@dataclass(frozen=True, slots=True)
class CodeLike:
    """A part of an address, ``start`` to ``end``."""

    start: int
    end: int
    text: str


def code_like(address: str) -> tuple[CodeLike, ...]:
    """The parts that look like that, in their order, at most ``MOST``."""
    return tuple(_found(address))[:MOST]


def _found(address: str) -> Iterator[CodeLike]:
    begins = address.find("://") + 3 if "://" in address else 0
    for part in _PART.finditer(address, begins):
        if _is_code(part[0]):
            yield CodeLike(part.start(), part.end(), part[0])


def _is_code(part: str) -> bool:
    if len(_ENCODED.findall(part)) >= LEAST_ENCODED and len(part) >= 3 * LEAST_ENCODED:
        return not _is_text(part)
    plain = part.replace("-", "").replace("_", "").replace("~", "").replace("%", "")
    if len(plain) < LEAST:
        return False
    if plain.isdigit():
        return len(plain) >= LEAST_DIGITS
    if _HEX.fullmatch(plain) and any(letter.isdigit() for letter in plain):
        return True
    return any(_mixed(word) for word in (part, *re.split(r"[-_~]", part)) if len(word) >= LEAST)


def _is_text(part: str) -> bool:
    """Whether what is encoded are the words of another script: letters, and what stands between them."""
    try:
        text = bytes.fromhex("".join(one[1:] for one in _ENCODED.findall(part))).decode("utf-8")
    except (ValueError, UnicodeDecodeError):
        return False
    return all(letter.isalpha() or letter in " ,.-()'’" for letter in text)


def _mixed(word: str) -> bool:
    """Whether its letters and digits change places as no word's do: ``x7Rq2TzL0p``, and not ``PyQt6Bindings``."""
    letters = [letter for letter in word if letter not in "-_~"]
    if all(letter.isalpha() for letter in letters):
        cases = sum(a.islower() and b.isupper() for a, b in pairwise(letters))
        return cases * 5 >= len(letters) or (len(letters) >= LEAST_LETTERS and "-" not in word and "_" not in word)
    kinds = ["d" if letter.isdigit() else "u" if letter.isupper() else "l" for letter in letters]
    changes = sum(a != b for a, b in pairwise(kinds))
    return changes * 3 >= len(letters) or len(_DIGITS.findall(word)) >= RUNS
