"""What must not stand in a report that a person may pass on: secrets, who they are, where their files are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Redactor
from desktop.domain.text.scrub import scrub

MAX_TEXT = 60_000
"""Characters of a text that goes into a report; the rest is cut before it is masked, and said."""
_PATH = re.compile(
    r"(?<![\w:/.<>~])(?:/[^/\n\"'<>|:;,)\]]{1,200}(?=/))+/[^\s\"'<>|:;,)\]/]*|\b[A-Za-z]:\\[^\n\"'<>|;,)\]]+"
)
"""With spaces in the names of folders: better too much of a line than a piece of a name."""
_KEPT = re.compile(r"/(?:usr|bin|sbin|lib\d*|proc|sys|dev)(?:/|$)")
"""Where every computer has the same."""
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>)\]]+", re.IGNORECASE)
_NUMBERS = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}\b", re.IGNORECASE
)
_BELOW = re.compile(r"(?<=~)(?:/[^\s\"'<>|:;,)\]]+)+|(?<=<Assent's home>)/(?!data\b|logs\b)[^\s\"'<>|:;,)\]]+")
_COMMON = frozenset("root user users admin assent linux debian ubuntu home localhost test".split())
"""Names that tell nothing of a person, and stand in other words."""
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Person:
    """Whom a report must not name."""

    names: tuple[str, ...] = ()
    """The login, the parts of the full name, what the computer is called."""
    homes: tuple[str, ...] = ()
    """The person's home folder, in its spellings."""
    own: tuple[str, ...] = ()
    """Where Assent keeps what is the person's, in its spellings."""


class ReportMask:
    """``mask`` takes out of a text what a report must not have. What the person writes there is theirs."""

    def __init__(self, redactor: Redactor, person: Person) -> None:
        self._redactor = redactor
        self._folders = [
            *((one, "<Assent's home>") for one in _longest_first(person.own)),
            *((one, "~") for one in _longest_first(person.homes)),
        ]
        words = [name for name in person.names if len(name) >= _SHORTEST and name.casefold() not in _COMMON]
        named = "|".join(re.escape(word) for word in _longest_first(words))
        self._names = re.compile(rf"(?<![^\W_])(?:{named})(?![^\W_])", re.IGNORECASE) if named else None

    def mask(self, text: str) -> str:
        """The text without secrets, addresses, names and paths of this person."""
        text = self._redactor.redact_text(text[:MAX_TEXT])
        text = scrub(text, limit=MAX_TEXT)
        for folder, instead in self._folders:
            text = re.sub(rf"{re.escape(folder)}(?=[/\\\s\"'.,:;)\]]|$)", instead, text)
        text = _URL.sub("<address>", text)
        text = _PATH.sub(_everywhere_or_none, text)
        text = _BELOW.sub("/…", text)
        text = _NUMBERS.sub("<address>", _MAIL.sub("<address>", text))
        return self._names.sub("<name>", text) if self._names is not None else text

    def without_keys(self, text: str) -> str:
        """What a person has written, without the keys that Assent knows."""
        return self._redactor.redact_text(text)


def _everywhere_or_none(path: re.Match[str]) -> str:
    return path[0] if _KEPT.match(path[0]) and " " not in path[0] else "<path>"


def _longest_first(texts: Iterable[str]) -> list[str]:
    return sorted({text.rstrip("/\\") for text in texts if len(text.strip("/\\")) >= _SHORTEST}, key=len, reverse=True)
