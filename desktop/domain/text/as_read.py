"""A text as an eye takes it: without what draws nothing or is only drawn over other letters, and each letter in its one
usual writing.

Characters that draw nothing are left out, odd blanks become the ordinary one, marks are put together with their letter
where there is one character for both (an ``e`` with its acute), and left out where there is none (a stroke through a
``t``); full-width letters, ligatures and their like become plain (NFKC). Letters of other scripts that look the same
(a Cyrillic ``а``) stay what they are: which of them stand for which is a guess. Marks of scripts that are written with
them (Arabic, Devanagari, Thai) are letters here, and stay.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.hidden_characters import HIDDEN

_OVER = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f" + (
    "\u0483-\u0489\u2de0-\u2dff\ua66f-\ua672\ua674-\ua67d\ua69e\ua69f"  # of old Cyrillic
    "\u1cd0-\u1cd2\u1cd4-\u1ce0"  # of Vedic
)
_JOINS = "\u3099\u309a\u1161-\u11ff"
"""Sound marks of Kana and the parts of a Hangul syllable: put together with what stands before, never left out."""
_BLANK = "\u000b\u000c\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000"
_USUAL = "\t\n\r -~\u00bf-\u00ff\u0400-\u045f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3"
"""Stay as they are, where no mark follows."""
_FOLLOWS = f"(?:(?![{_BLANK}])[{_OVER}{_JOINS}{HIDDEN.pattern[1:-1]}])"
_TOKEN = re.compile(f"[{_USUAL}]+(?!{_FOLLOWS})|.{_FOLLOWS}*", re.DOTALL)
_ODD = re.compile(f"[^{_USUAL}]")
_BLANKS = re.compile(f"[{_BLANK}]")
_MARKS = re.compile(f"[{_OVER}]+")
_UNSEEN = re.compile(f"(?:{HIDDEN.pattern})+")
MAX_MARKS = 30
"""Of one letter, that are put in their order: as many as Unicode's own limit for texts in pieces (UAX 15). The library
sorts them one by one, and lets nobody else work meanwhile."""

MAX_LETTERS = 4
"""What is short for more than these, as a whole sentence in Arabic (U+FDFA), stays as it is: a text must not grow."""


@dataclass(frozen=True, slots=True)
class AsRead:
    """``text``, and where in the written text each of its characters begins and ends; ``same``: it is as written."""

    text: str
    begins: Sequence[int]
    ends: Sequence[int]
    same: bool = False

    def at(self, written: int) -> int:
        """The first character that begins at or after this place of the written text."""
        return bisect_left(self.begins, written)


def as_read(written: str) -> AsRead:
    """Takes time in proportion to the text."""
    size = len(written)
    if _ODD.search(written) is None:
        return AsRead(written, range(size), range(1, size + 1), True)
    said: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for token in _TOKEN.finditer(written):
        begin, end = token.span()
        if end - begin > 1 and _ODD.search(token[0]) is None:
            said.append(token[0])
            begins.extend(range(begin, end))
            ends.extend(range(begin + 1, end + 1))
            continue
        letter = _letter(token[0])
        said.append(letter)
        begins.extend([begin] * len(letter))
        ends.extend([end] * len(letter))
    return AsRead("".join(said), begins, ends)


def _letter(written: str) -> str:
    """One letter with what belongs to it."""
    seen = _UNSEEN.sub("", _BLANKS.sub(" ", written))
    if not seen.isascii() and len(unicodedata.normalize("NFKC", seen[:1])) <= MAX_LETTERS:
        seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", _with_few_marks(seen)))
    return _MARKS.sub("", seen) if len(written) > 1 else seen


def _with_few_marks(letter: str) -> str:
    """Without the marks that stand behind many others; what is a letter of its own stays."""
    if len(letter) <= MAX_MARKS:
        return letter
    kept: list[str] = []
    marks = 0
    for character in letter:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)
