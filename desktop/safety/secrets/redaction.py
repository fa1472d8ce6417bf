"""Takes secrets out of whatever is written down or shown (R-SEC-4 to R-SEC-6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.safety.secrets.known_values import KnownValues, Span, merged

REDACTED = "[REDACTED]"
MIN_ENVIRONMENT = 8
_MAX_DEPTH = 40

_SECRET_VARIABLE = lazy_pattern(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE
)
_NO_SECRET = lazy_pattern(r"[./~]|[A-Za-z]:\\|\d+$|[a-z]+$")

_SECRET_KEY = lazy_pattern(
    r"(?:^|[_\-.\s]|(?<=[a-z]))(?:api[_-]?key|key|token|secret|password|passwd|passphrase|credentials?)$"
    r"|^(?:proxy-)?authorization$|^x-api-key$|^cookie$|^set-cookie$|apikey$",
    re.IGNORECASE,
)
_HARMLESS_KEY = lazy_pattern(r"^(?:max_|num_|n_|public_?|primary_?|foreign_?|sort_?)?(?:key|tokens?)$", re.IGNORECASE)
_TEXT = lazy_pattern(
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


# Whatever ``_TEXT`` finds in plain ASCII has one of these, in small letters. Asked first, they spare nearly every text
# the slow search: it goes back to each letter of each word, a millisecond for 4 KB.
_WORDS = (
    "bearer",
    "basic",
    "key",
    "token",
    "secret",
    "passw",
    "authorization",
    "://",
    "eyj",
    "akia",
    "asia",
    "-----begin",
)
_SHAPES = lazy_pattern(
    r"(?:bearer|basic)\s|(?:key|token|secret|password|passwd|authorization)[\"']?\s*[:=]|://[^\s:/@]+:"
    r"|eyj[a-z0-9_\-]{8}|a[ks]ia[a-z0-9]{12}|-----begin"
)
_RUN = lazy_pattern(r"[a-z0-9_\-]{18}")
_KEYS = lazy_pattern(r"(?:[spr]k|xai|r8|hf|gh[posu]|github_pat|glpat|pplx|nvapi|aiza|xox[abpr])[\-_]?[a-z0-9_\-]{16}")


class SecretRedactor:
    """Implements ``domain.safety.Redactor``; knows every secret value that passed through the keyring."""

    def __init__(self) -> None:
        self._known = KnownValues()

    def remember(self, value: str) -> None:
        """From now on this value, and its usual encodings, never appear."""
        self._known.add(value)

    def remember_environment(self, host: Mapping[str, str]) -> None:
        """The values of variables that are named like secrets; what is a path or a short word is none."""
        for name, value in host.items():
            if len(value) >= MIN_ENVIRONMENT and _SECRET_VARIABLE.search(name) and not _NO_SECRET.match(value):
                self._known.add(value)

    def values(self) -> tuple[str, ...]:
        """The known values, for children that have to keep them out of their last words."""
        return self._known.values

    def contains_known(self, text: str) -> bool:
        """Whether a known secret is in the text."""
        return bool(self._known.spans(text))

    def mask_known(self, text: str) -> str:
        """Known values only, in all their spellings (R-SEC-5)."""
        spans = self._known.spans(text)
        return _without(text, spans) if spans else text

    def mask_data(self, value: Any) -> Any:
        """Known values in JSON-like data; other data is handed back untouched."""
        return self._masked(value, 0) if self._known.values else value

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
        """A masker for a text that comes in pieces."""
        return StreamMasker(self._known)

    def redact_text(self, text: str) -> str:
        """Known values, and whatever looks like a secret (R-SEC-4)."""
        masked = self.mask_known(text)
        return _TEXT.sub(_keep_name, masked) if _may_hold(masked) else masked

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

    def __init__(self, known: KnownValues) -> None:
        self._known = known
        self._held = ""
        self._covered = 0
        """How much of the beginning of what is held belongs to a value that was masked already."""

    def feed(self, piece: str) -> str:
        """Take in a piece; of all that came, masked, what no further piece can change."""
        text = self._held + piece
        spans = self._spans(text)
        held = self._known.pending(text)
        out, at = [], 0
        for start, end in spans:
            if start >= held and not (start == 0 and self._covered):
                break
            out += [text[at:start], "" if start == 0 and self._covered else REDACTED]
            at = end
        out.append(text[at:held])
        self._held, self._covered = text[held:], max(0, at - held)
        return "".join(out)

    def flush(self) -> str:
        """The masked rest of the stream."""
        text, told = self._held, bool(self._covered)
        spans = self._spans(text)
        self._held, self._covered = "", 0
        return _without(text, spans).removeprefix(REDACTED if told else "")

    def _spans(self, text: str) -> list[Span]:
        spans = self._known.spans(text)
        return merged([(0, self._covered), *spans]) if self._covered else spans


def _may_hold(text: str) -> bool:
    """False only for a text in which ``_TEXT`` finds nothing. Letters beyond ASCII may be spellings of others."""
    if not text.isascii():
        return True
    small = text.lower()
    if any(word in small for word in _WORDS) and _SHAPES.search(small) is not None:
        return True
    return _RUN.search(small) is not None and _KEYS.search(small) is not None


def _without(text: str, spans: list[Span]) -> str:
    out, at = [], 0
    for start, end in spans:
        out += [text[at:start], REDACTED]
        at = end
    return "".join((*out, text[at:]))


def _keep_name(match: re.Match[str]) -> str:
    return (match["bearer"] or match["named"] or match["url"] or "") + REDACTED
