"""What went wrong with a request, in our own codes (``model.*`` of domain/errors.py), without secrets and paths.

litellm dresses many things alike: a refused connection is an InternalServerError, a cut stream an APIConnectionError
inside a MidStreamFallbackError, an overload of Anthropic's a plain 500. So this looks at class name, status, headers
and text together.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from typing import Any

from desktop.domain.scrub import scrub, without_paths
from desktop.workers.inside import CallError

_TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size|limit)|maximum context|prompt is too long|too many (input )?tokens"
    r"|input is too long|exceeds? the (available )?context|token count.{0,40}exceeds|reduce the length",
    re.IGNORECASE,
)
_UNREACHABLE = re.compile(
    r"connection (error|refused|reset)|cannot connect|connect call failed|name or service not known|getaddrinfo"
    r"|network is unreachable|no route to host|nodename nor servname|temporary failure in name resolution"
    r"|all connection attempts failed|server disconnected|certificate verify failed",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"payload is not completed|incomplete chunked read|peer closed connection|connection (reset|lost|closed)"
    r"|transferencodingerror|codec can't decode|server disconnected",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient_quota|exceeded your current quota|credit balance is too low", re.IGNORECASE)
_NO_KEY = re.compile(r"api[_ ]key.{0,40}(must be set|missing|not (set|provided))|no auth credentials", re.IGNORECASE)
_MESSAGE = re.compile(r"""["']message["']:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")
_DRESSING = re.compile(r"^(?:litellm\.)?(?:[A-Za-z_]+(?:Error|Exception|Timeout)\s*(?:-|:)\s*)+")
_AFTER = re.compile(r"\s*(?:Original exception:|Handle with `litellm).*", re.DOTALL)


def failure(error: BaseException, key: str, *, streaming: bool) -> CallError:
    """The error to answer with. ``streaming``: part of the answer had already come."""
    original = getattr(error, "original_exception", None) or error
    text = scrub(str(original), (key,), limit=8000)
    status = _status(error, original)
    data: dict[str, Any] = {"status": status, "detail": detail(text)}
    code = _code(type(original).__name__, status, text, streaming, answered=_headers(original) != {})
    if code == "model.rate_limited":
        data["retry_after"] = retry_after(_headers(original))
    return CallError(code, data["detail"], data)


def _status(error: BaseException, original: Any) -> int | None:
    status = getattr(original, "status_code", None) or getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _headers(error: Any) -> Mapping[str, str]:
    headers = getattr(error, "litellm_response_headers", None) or {}
    return {str(k).lower(): str(v) for k, v in dict(headers).items()}


def _code(kind: str, status: int | None, text: str, streaming: bool, *, answered: bool) -> str:
    if kind == "Timeout":
        return "model.too_slow"
    if streaming and not answered:
        return "model.stream_cut" if _BROKEN.search(text) or "Connection" in kind else "model.server_error"
    if kind == "ContextWindowExceededError" or (status in (400, 413, 422, 500) and _TOO_LONG.search(text)):
        return "model.context_too_long"
    if _NO_CREDIT.search(text) or status == 402:
        return "model.no_credit"
    if status in (401, 403) or _NO_KEY.search(text):
        return "model.key_refused"
    if not answered and _UNREACHABLE.search(text):
        return "model.unreachable"
    return _by_status(kind, status, answered)


def _by_status(kind: str, status: int | None, answered: bool) -> str:
    if status == 429:
        return "model.rate_limited"
    if status == 404:
        return "model.unknown"
    if status is not None and status >= 500:
        return "model.server_error" if answered or kind != "APIConnectionError" else "model.failed"
    return "model.bad_request" if status is not None and 400 <= status < 500 else "model.failed"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the server asks, from any of the three ways to say so; never more than an hour."""
    milliseconds = headers.get("retry-after-ms", "")
    value = headers.get("retry-after", "")
    try:
        if milliseconds:
            seconds = float(milliseconds) / 1000
        elif re.fullmatch(r"\d+(\.\d+)?", value):
            seconds = float(value)
        else:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(0.0, seconds), 3600.0)


def detail(text: str) -> str:
    """What the provider itself said, out of all that is wrapped around it; at most 400 characters."""
    found = _MESSAGE.search(text)
    said = (found.group(1) or found.group(2)) if found else _AFTER.sub("", _DRESSING.sub("", text))
    return scrub(without_paths(" ".join(said.replace("\\'", "'").replace('\\"', '"').split())), limit=400)
