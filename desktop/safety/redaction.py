"""Takes secrets out of whatever is written down or shown (R-SEC-4 to R-SEC-6)."""

from __future__ import annotations

import base64
import json
import re
import threading
import urllib.parse
from collections.abc import Mapping
from typing import Any

REDACTED = "[REDACTED]"
MIN_SECRET = 6  # a shorter value would eat ordinary words
_MAX_DEPTH = 40

_SECRET_KEY = re.compile(
    r"(?:^|[_\-.\s]|(?<=[a-z]))(?:api[_-]?key|key|token|secret|password|passwd|passphrase|credentials?)$"
    r"|^(?:proxy-)?authorization$|^x-api-key$|^cookie$|^set-cookie$|apikey$",
    re.IGNORECASE,
)
_HARMLESS_KEY = re.compile(r"^(?:max_|num_|n_|public_?|primary_?|foreign_?|sort_?)?(?:key|tokens?)$", re.IGNORECASE)
_TEXT = re.compile(
    r"""
    (?P<bearer>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=\-]{8,}
    | (?P<named>\b[\w\-]*(?:api[_\-]?key|_key|_token|_secret|_password|passwd|password|authorization)["']?\s*[:=]\s*)
      (?:(?P<quote>["'])(?:\\.|(?!(?P=quote)).){3,}(?P=quote)|(?:(?:bearer|basic|token)\s+)?[^\s"',;&<>)}\]]{3,})
    | (?P<url>\b[a-z][a-z0-9+.\-]*://[^\s:/@]+:)[^\s/@]+(?=@)
    | \beyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+){0,2}
    | \b(?:AKIA|ASIA)[A-Z0-9]{12,}
    | \b(?:sk|pk|rk|gsk|xai|r8|hf|ghp|gho|ghs|ghu|github_pat|glpat|pplx|nvapi|AIza|xox[abpr])[\-_]?[A-Za-z0-9_\-]{16,}
    | -----BEGIN[ A-Z]*PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ A-Z]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.IGNORECASE | re.VERBOSE,
)


class Redactor:
    """Implements ``domain.safety.Redactor``; knows every secret value that passed through the keyring."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: set[str] = set()
        self._beginnings: tuple[frozenset[str], int] = frozenset(), 0
        self._pattern: re.Pattern[str] | None = None

    def remember(self, value: str) -> None:
        """From now on this value, and its usual encodings, never appear."""
        if len(value) < MIN_SECRET:
            return
        with self._lock:
            self._values.update(_spellings(value))
            longest_first = sorted(self._values, key=len, reverse=True)
            beginnings = frozenset(text[:end] for text in self._values for end in range(1, len(text)))
            self._beginnings = beginnings, max(map(len, self._values)) - 1
            self._pattern = re.compile("|".join(re.escape(text) for text in longest_first))

    def contains_known(self, text: str) -> bool:
        """Whether a known secret is in the text."""
        pattern = self._pattern
        return pattern is not None and pattern.search(text) is not None

    def mask_known(self, text: str) -> str:
        """Exact known values only (R-SEC-5)."""
        pattern = self._pattern
        return text if pattern is None else pattern.sub(REDACTED, text)

    def mask_data(self, value: Any) -> Any:
        """Exact known values in JSON-like data; other data is handed back untouched."""
        return value if self._pattern is None else self._masked(value, 0)

    def _masked(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.mask_known(value)
        if depth > _MAX_DEPTH:
            return "[too deep]" if isinstance(value, (Mapping, list, tuple)) else value
        if isinstance(value, Mapping):
            return {self._masked(key, depth + 1): self._masked(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            masked = [self._masked(item, depth + 1) for item in value]
            return masked if isinstance(value, list) else tuple(masked)
        return value

    def masker(self) -> StreamMasker:
        """For a text that comes in pieces."""
        return StreamMasker(self)

    def split_known(self, text: str) -> tuple[str, str]:
        """``text`` masked as far as it is certain, and its end that may be the beginning of a known value."""
        pattern, beginnings = self._pattern, self._beginnings
        if pattern is None:
            return text, ""
        held = _held_from(text, 0, beginnings)
        done, out = 0, []
        for match in pattern.finditer(text):
            if match.start() >= held:
                break
            out += [text[done : match.start()], REDACTED]
            done = match.end()
            if done > held:  # a whole value: what it ends with begins no other
                held = _held_from(text, done, beginnings)
        return "".join((*out, text[done:held])), text[held:]

    def redact_text(self, text: str) -> str:
        """Known values, and whatever looks like a secret (R-SEC-4)."""
        return _TEXT.sub(_keep_name, self.mask_known(text))

    def redact_data(self, value: Any) -> Any:
        """A copy of JSON-like data without secrets; anything else becomes its redacted text."""
        return self._data(value, 0)

    def _data(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if depth > _MAX_DEPTH:
            return "[too deep]"
        if isinstance(value, Mapping):
            return {self.redact_text(str(key)): self._entry(str(key), item, depth) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self._data(item, depth + 1) for item in value]
        if isinstance(value, (bytes, bytearray)):
            return self.redact_text(bytes(value).decode("utf-8", "replace"))
        return self.redact_text(str(value))

    def _entry(self, key: str, item: Any, depth: int) -> Any:
        names_secret = _SECRET_KEY.search(key) is not None and not _HARMLESS_KEY.match(key)
        if names_secret and item not in (None, "") and not isinstance(item, bool):
            return REDACTED
        return self._data(item, depth + 1)


class StreamMasker:
    """Implements ``domain.safety.TextMasker``. Values learnt while the text comes count from their next beginning."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """What is certain of all that came."""
        certain, self._held = self._redactor.split_known(self._held + piece)
        return certain

    def flush(self) -> str:
        """The rest."""
        rest, self._held = self._held, ""
        return self._redactor.mask_known(rest)


def _held_from(text: str, start: int, known: tuple[frozenset[str], int]) -> int:
    """Where the longest end of ``text`` begins, from ``start`` on, that a known value could begin with. ``known``: all
    beginnings of values, and how long the longest is."""
    beginnings, longest = known
    for at in range(max(start, len(text) - longest), len(text)):
        if text[at:] in beginnings:
            return at
    return len(text)


def _spellings(value: str) -> set[str]:
    """How a value looks in JSON, in a URL, in base64."""
    encoded = value.encode("utf-8", "replace")
    found = {
        value,
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        urllib.parse.quote(value, safe=""),
        urllib.parse.quote_plus(value),
        base64.b64encode(encoded).decode().rstrip("="),
        base64.urlsafe_b64encode(encoded).decode().rstrip("="),
    }
    return {text for text in found if len(text) >= MIN_SECRET}


def _keep_name(match: re.Match[str]) -> str:
    return (match["bearer"] or match["named"] or match["url"] or "") + REDACTED
