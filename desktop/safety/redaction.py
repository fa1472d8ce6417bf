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
        self._pattern: re.Pattern[str] | None = None

    def remember(self, value: str) -> None:
        """From now on this value, and its usual encodings, never appear."""
        if len(value) < MIN_SECRET:
            return
        with self._lock:
            self._values.update(_spellings(value))
            longest_first = sorted(self._values, key=len, reverse=True)
            self._pattern = re.compile("|".join(re.escape(text) for text in longest_first))

    def contains_known(self, text: str) -> bool:
        """Whether a known secret is in the text."""
        pattern = self._pattern
        return pattern is not None and pattern.search(text) is not None

    def mask_known(self, text: str) -> str:
        """Exact known values only (R-SEC-5)."""
        pattern = self._pattern
        return text if pattern is None else pattern.sub(REDACTED, text)

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
