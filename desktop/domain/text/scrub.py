"""Takes secrets and host paths out of text that a library, a child or a server wrote (R-SEC-4, R-SEC-6).

Pure text in, text out. Known secret values go first, then whatever looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.domain.text.secret_encodings import of_all

REDACTED = "[REDACTED]"

_LOOKS_SECRET = lazy_pattern(
    r"""
    (?P<keep>\bbearer\s+|\bbasic\s+(?=\S{0,200}[\d=])|(?:api[_-]?key|_token|_secret|_password|password|authorization|secret)
        ["']?\s*[:=]\s*["']?(?:bearer\s+|basic\s+)?)
        (?!\[REDACTED)[^\s"',;&<>)}\]]{6,}
    | \b(?:sk|pk|rk|gsk|xai|r8|hf|ghp|gho|glpat|tgp|pplx|nvapi|AIza|ABSK)[-_]?(?=[\w-]{0,80}\d)[A-Za-z0-9_\-]{14,}
    | \beyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+){0,2}
    | \b(?:AKIA|ASIA)[A-Z0-9]{12,}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TOPS = "home|root|Users|usr|opt|var|tmp|work|private|mnt|srv"
_HOST_PATH = lazy_pattern(rf"(?<![\w:/.])(?:/(?:{_TOPS})(?:/[^\s\"':,;)\]]+)+)")


def scrub(text: str, secrets: Iterable[str] = (), *, limit: int = 2000) -> str:
    """``text`` without secrets in any of their spellings, at most ``limit`` characters. Idempotent."""
    for spelling in of_all(secrets):
        text = text.replace(spelling, REDACTED)
    text = text[: limit * 4]  # the patterns run on bounded text; the exact values above on all of it
    text = _LOOKS_SECRET.sub(lambda m: (m["keep"] or "") + REDACTED, text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def without_paths(text: str) -> str:
    """``text`` with absolute paths of this machine cut down to their last part, for what a person or server reads."""
    return _HOST_PATH.sub(lambda m: "…/" + PurePath(m.group()).name, text)
