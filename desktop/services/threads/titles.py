"""A thread's title by a cheap local rule: at most six words of what the person asked for (N-4)."""

from __future__ import annotations

import re

from desktop.domain.text.hidden_characters import without_hidden

MAX_WORDS = 6
MAX_CHARACTERS = 60
MAX_TOPIC, MINIMUM = 100, 20
"""Letters of a debate's title, and of a clause that can be one."""
_LOOK = 2_000
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = re.compile(r"[#>*_`~|]+|\]\([^)]*\)|[\[\]]")
_LINK = re.compile(r"https?://(?:www\.)?([^/\s]+)\S*")
_OPENING = re.compile(
    r"^(?:(?:hi|hello|hey|hallo|please|bitte|ok|okay|so)\b[\s,!.]*|(?:can|could|would|will) you (?:please )?"
    r"|i (?:want|need|would like|'d like) (?:you )?to |help me (?:to )?)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:]\s|\s[-–—]\s|[，；：]")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def title_from(text: str) -> str:
    """A title, or "" when the text holds none (only code, only white space)."""
    plain = _MARKS.sub(" ", _LINK.sub(r"\1", _FENCE.sub(" ", without_hidden(text[:_LOOK]))))
    for sentence in _SENTENCE.split(plain):
        words = " ".join(sentence.split())
        shorter = _OPENING.sub("", words).strip() or words
        title = " ".join(shorter.split()[:MAX_WORDS])[:MAX_CHARACTERS].strip(" ,;:.!?-–—。")
        if any(character.isalnum() for character in title):
            return title[0].upper() + title[1:]
    return " ".join(without_hidden(text[:_LOOK]).split())[:MAX_CHARACTERS]


def topic_title(text: str) -> str:
    """A debate's title: the first sentence of its topic; of a long one what stands before a comma, else whole words
    and "…". The list has one line for it and cuts what it must."""
    plain = _MARKS.sub(" ", _LINK.sub(r"\1", _FENCE.sub(" ", without_hidden(text[:_LOOK]))))
    for sentence in _SENTENCE.split(plain):
        whole = " ".join(sentence.split()).rstrip(" ,;:.。-–—")
        if any(character.isalnum() for character in whole):
            return _fitting(whole[0].upper() + whole[1:])
    return title_from(text)


def _fitting(whole: str) -> str:
    if len(whole) <= MAX_TOPIC:
        return whole
    clauses = [mark.start() for mark in _CLAUSE.finditer(whole) if MINIMUM <= mark.start() <= MAX_TOPIC]
    if clauses:
        return whole[: clauses[-1]]
    space = whole.rfind(" ", MINIMUM, MAX_TOPIC)
    return f"{whole[: space if space > 0 else MAX_TOPIC - 1].rstrip(' ,;:-–—')}…"
