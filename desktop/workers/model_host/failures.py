"""What went wrong with a request, in our own codes (``model.*`` of domain/errors.py), without secrets and paths.

litellm dresses many things alike: a refused connection is an InternalServerError, a cut stream an APIConnectionError
inside a MidStreamFallbackError, an overload of Anthropic's a plain 500. So this looks at class name, status, headers
and text together.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.text.json_text import read_json
from desktop.domain.text.scrub import scrub, without_paths
from desktop.workers.inside import CallError
from desktop.workers.model_host.refusals import refused_by

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
_NO_KEY = re.compile(
    r"api[_ ]key.{0,40}(must be set|missing|not (set|provided|valid))|no auth credentials|API_KEY_INVALID"
    r"|UnrecognizedClientException|InvalidSignatureException|security token included in the request is \w+",
    re.IGNORECASE,
)
_NO_ACCESS = re.compile(r"(don't|doesn't|not|no) (have )?(access|authorized) to|access denied to model", re.IGNORECASE)
_NO_MODEL = re.compile(r"model identifier is invalid|on-demand throughput isn.t supported", re.IGNORECASE)
_SAID_IN_STREAM = "openai.APIError:"  # the provider wrote an error into its stream
_FLAGGED = re.compile(r"requires moderation|input was flagged|content_filter|content management policy", re.IGNORECASE)
_DELAY = re.compile(r"""["']?retryDelay["']?\s*:\s*\\?["'](\d+(?:\.\d+)?)s""")
_MESSAGE = re.compile(r"""["']message["']:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")
_DRESSING = re.compile(
    r"^(?:(?:litellm\.|openai\.)?[A-Za-z_]+(?:Error|Exception|Timeout)(?:\s*(?:-|:)\s*|\s+))+(?:Message: )?"
)
_TAGS = re.compile(r"<[^>]*>")
_AFTER = re.compile(
    r"\s*(?:Original exception:|Handle with `litellm|Traceback \(most recent call last\)|, Metadata: ).*", re.DOTALL
)


def failure(error: BaseException, secrets: Sequence[str], *, streaming: bool) -> CallError:
    """The error to answer with. ``streaming``: part of the answer had already come."""
    if refused := refused_by(error):
        said = scrub(refused.detail, secrets, limit=400)
        return CallError(refused.code, said, {"detail": said})
    original = getattr(error, "original_exception", None) or error
    text = scrub(str(original), secrets, limit=8000)
    status = _status(error, original)
    data: dict[str, Any] = {"status": status, "detail": detail(text)}
    code = _code(type(original).__name__, status, text, streaming, answered=_headers(original) != {})
    if code == "model.rate_limited":
        data["retry_after"] = retry_after(_headers(original), text)
    return CallError(code, data["detail"], data)


def refused(status: int, headers: Mapping[str, str], body: str, secrets: Sequence[str]) -> CallError:
    """The error for what a server answered to a request, out of its status and body."""
    text = scrub(body, secrets, limit=8000)
    said = told(_json(text), text)
    code = refusal(status, text)
    data: dict[str, Any] = {"status": status, "detail": said}
    if code == "model.rate_limited":
        data["retry_after"] = retry_after(headers, text)
    return CallError(code, said, data)


def said_in_stream(error: Any, secrets: Sequence[str]) -> CallError:
    """The error that a server wrote into its answer: a fault of its own, unless it says otherwise."""
    text = scrub(json.dumps(error, ensure_ascii=False), secrets, limit=8000)
    number = error.get("code") if isinstance(error, dict) else None
    status = number if isinstance(number, int) and 400 <= number < 600 else None
    said = told(_json(text), text)
    code = "model.server_error" if status is None else refusal(status, text)
    return CallError(code, said, {"status": status, "detail": said})


def told(value: Any, text: str) -> str:
    """What a server itself says: the words in its JSON, or those of its page."""
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    if isinstance(value, list) and value and isinstance(value[0], dict):  # of fields that are not taken
        place = ".".join(map(str, value[0].get("loc") or ()))
        value = f"{place}: {value[0].get('msg')}" if value[0].get("msg") else value
    if isinstance(value, str):
        return detail(value)
    page = text.lstrip()[:4000]
    return detail(_TAGS.sub(" ", page) if page.startswith("<") else text)


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return None


def _status(error: BaseException, original: Any) -> int | None:
    status = getattr(original, "status_code", None) or getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _headers(error: Any) -> Mapping[str, str]:
    headers = getattr(error, "litellm_response_headers", None) or {}
    return {str(k).lower(): str(v) for k, v in dict(headers).items()}


def _code(kind: str, status: int | None, text: str, streaming: bool, *, answered: bool) -> str:
    if kind == "Timeout":
        return "model.too_slow"
    if not answered and _SAID_IN_STREAM in text:
        return "model.server_error"
    if streaming and not answered:
        return "model.stream_cut" if _BROKEN.search(text) or "Connection" in kind else "model.server_error"
    if kind == "ContextWindowExceededError":
        return "model.context_too_long"
    if said := _by_text(status, text):
        return said
    if not answered and _UNREACHABLE.search(text) and status not in _STATUSES:
        return "model.unreachable"
    if not answered and _BROKEN.search(text):
        return "model.stream_cut"
    if not answered and kind == "APIConnectionError" and status is not None and status >= 500:
        return "model.failed"
    return _by_status(status)


def refusal(status: int | None, text: str) -> str:
    """The code for a status and what was said with it: a status alone means other things in other places."""
    return _by_text(status, text) or _by_status(status)


def _by_text(status: int | None, text: str) -> str:
    return next((code for statuses, pattern, code in _SAID if status in statuses and pattern.search(text)), "")


def _by_status(status: int | None) -> str:
    if status is None or status < 300:
        return "model.failed"
    return _STATUSES.get(status) or ("model.server_error" if status >= 500 else "model.bad_request")


_STATUSES = {
    401: "model.key_refused",
    402: "model.no_credit",
    403: "model.key_refused",
    404: "model.unknown",
    408: "model.too_slow",
    424: "model.server_error",
    429: "model.rate_limited",
}
_ANY = (None, 400, 401, 402, 403, 404, 413, 422, 429, 500, 503)
_SAID: Sequence[tuple[Sequence[int | None], re.Pattern[str], str]] = (
    ((400, 413, 422, 500), _TOO_LONG, "model.context_too_long"),
    (_ANY, _NO_CREDIT, "model.no_credit"),
    (_ANY, _NO_KEY, "model.key_refused"),
    ((400, 404), _NO_MODEL, "model.unknown"),
    ((400, 403), _FLAGGED, "model.bad_request"),
    ((400, 403, 404), _NO_ACCESS, "model.no_access"),
)


def retry_after(headers: Mapping[str, str], text: str = "") -> float | None:
    """Seconds to wait as the server asks, from any of the four ways to say so; never more than an hour."""
    milliseconds = headers.get("retry-after-ms", "")
    value = headers.get("retry-after", "")
    if not (milliseconds or value) and (delay := _DELAY.search(text)):
        value = delay.group(1)
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
