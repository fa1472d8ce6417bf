"""The nearest place to a text that is not in a file, and what differs there: so that it is mended in one step. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence

from desktop.domain.text.words import count_words

MAX_WORDS_OF_OLD = 2_000
"""Words of a text up to which it is looked for with other white space."""
MAX_TEXT = 500_000
"""Characters of a file that are gone through; of a larger one what is around a line that both have."""
_TELLING, _AROUND = 8, 5_000
"""Characters of a line that says where to look; and characters around it."""
_SHOWN_LINES, _SHOWN_CHARACTERS = 12, 1_500
_COMMON = 50
"""A line that is in the file so often says nothing of a place."""
_ENOUGH = 0.5
"""Share of the words of a line that have to be in another for it to be near."""
_NUMBERED = re.compile(r"\s*\d+\s*[:→|\t-] ?")
_WORDS = re.compile(r"\w{2,}")
_ALIKE = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " "})


def nearest_words(text: str, old: str) -> str:
    """Where in the file something like ``old`` is, how it differs, and how it is written there."""
    before = 0
    if len(text) > MAX_TEXT:
        text, before = _stretch(text, old)
    lines, wanted = text.split("\n"), old.split("\n")
    if _without_numbers(text, wanted):
        return "It is there without the line numbers: they are no part of the file's text."
    at = _spaced_otherwise(text, old)
    if at is not None:
        return _told(lines, wanted, at, before)
    at = _by_lines(lines, wanted)
    if at is None:
        at = _by_words(lines, wanted)
    if at is None:
        return "Nothing in the file is like it: read the file again."
    return _told(lines, wanted, at, before)


def _stretch(text: str, old: str) -> tuple[str, int]:
    """The part of a large file around the first line of ``old`` that is in it, and how many lines are before it."""
    for line in old.split("\n"):
        telling = line.strip()
        at = text.find(telling) if len(telling) >= _TELLING else -1
        if at >= 0:
            start = text.rfind("\n", 0, max(0, at - len(old) - _AROUND)) + 1
            return text[start : at + len(old) + _AROUND], text.count("\n", 0, start)
    return text[:MAX_TEXT], 0


def _without_numbers(text: str, wanted: Sequence[str]) -> bool:
    if not all(_NUMBERED.match(line) for line in wanted if line.strip()):
        return False
    bare = "\n".join(_NUMBERED.sub("", line, count=1) for line in wanted)
    return bool(bare.strip()) and bare in text


def _spaced_otherwise(text: str, old: str) -> int | None:
    """The line at which the same words are with other white space between them, from 0."""
    words = old.split()
    if not words or len(words) > MAX_WORDS_OF_OLD:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    if found is None:
        return None
    lead = old[: len(old) - len(old.lstrip())].count("\n")
    return max(0, text.count("\n", 0, found.start()) - lead)


def _by_lines(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The line from which on most lines are the same but for white space and case."""
    there: dict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        if key := _key(line):
            there[key].append(at)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        places = there.get(_key(line), ())
        if len(places) <= _COMMON:
            votes.update(max(0, at - offset) for at in places)
    return votes.most_common(1)[0][0] if votes else None


def _key(line: str) -> str:
    return "".join(line.translate(_ALIKE).casefold().split())


def _by_words(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The line that has the most words of the longest wanted line."""
    offset, longest = max(enumerate(wanted), key=lambda one: len(one[1]))
    words = set(_WORDS.findall(longest))
    if not words:
        return None
    best, most = None, _ENOUGH * len(words)
    for at, line in enumerate(lines):
        same = sum(word in line for word in words)
        if same > most:
            best, most = at, same
    return None if best is None else max(0, best - offset)


def _told(lines: Sequence[str], wanted: Sequence[str], at: int, before: int) -> str:
    there = lines[at : at + len(wanted)]
    first, last = before + at + 1, before + at + len(there)
    where = f"line {first}" if last == first else f"lines {first} to {last}"
    shown = "\n".join(there[:_SHOWN_LINES])
    cut = len(there) > _SHOWN_LINES or len(shown) > _SHOWN_CHARACTERS
    end = f"\n[{count_words(len(there), 'line')}, cut here]" if cut else ""
    return f"Nearest is {where}; {_difference(there, wanted, first)}. There it reads:\n{shown[:_SHOWN_CHARACTERS]}{end}"


def _difference(there: Sequence[str], wanted: Sequence[str], first: int) -> str:
    """What is different in the first line that is not the same."""
    for offset, (line, old) in enumerate(zip(there, wanted, strict=False)):
        edge = offset in (0, len(wanted) - 1)
        if line == old or (edge and old and old in line):
            continue
        where = f"line {first + offset} differs in"
        if line.rstrip() == old.rstrip():
            return (
                f"{where} white space at its end (the file has {_blanks(line, end=True)}, old {_blanks(old, end=True)})"
            )
        if line.strip() == old.strip():
            return f"{where} its indentation (the file has {_blanks(line)}, old {_blanks(old)})"
        if line.split() == old.split():
            return f"{where} white space between words"
        if line.casefold() == old.casefold():
            return f"{where} upper and lower case"
        return _letters(line, old, first + offset, where)
    return "white space or line breaks differ" if len(there) == len(wanted) else "the file ends there"


def _blanks(line: str, *, end: bool = False) -> str:
    """The white space at the beginning or end of a line in words."""
    blank = line[len(line.rstrip()) :] if end else line[: len(line) - len(line.lstrip())]
    kinds = Counter(blank)
    said = [count_words(kinds.pop(" ", 0), "space"), count_words(kinds.pop("\t", 0), "tab")]
    said += [f"{count} × {_named(one)}" for one, count in kinds.items()]
    return " and ".join(part for part in said if not part.startswith("0 ")) or "none"


def _letters(line: str, old: str, number: int, where: str) -> str:
    """Letters that look alike, or the place from which on two lines differ."""
    plain = old.strip()
    if plain.translate(_ALIKE) in line.translate(_ALIKE) and plain not in line:
        start = line.translate(_ALIKE).find(plain.translate(_ALIKE))
        pairs = zip(line[start:], plain, strict=False)
        one, other = next((one, other) for one, other in pairs if one != other)
        return f"{where} letters that look alike (the file has {_named(one)}, old {_named(other)})"
    if old.strip() and _key(old) in _key(line):
        return f"{where} white space or case"
    start = next((at for at, (a, b) in enumerate(zip(line, old, strict=False)) if a != b), min(len(line), len(old)))
    there, here = line[start : start + 30], old[start : start + 30]
    return f"line {number} differs from column {start + 1} on (the file has {_quoted(there)}, old {_quoted(here)})"


def _named(letter: str) -> str:
    return f"{letter if letter.isprintable() else ''} U+{ord(letter):04X} {unicodedata.name(letter, '')}".strip()


def _quoted(text: str) -> str:
    return f"“{text}”" if text else "nothing"
