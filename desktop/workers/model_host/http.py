"""Small JSON requests without litellm: discovery and model lists must not wait for its import.

Standard library only, in threads. Never follows redirects (a key would follow), asks proxies only for addresses that
are not this machine, reads at most ``BODY_MAX`` bytes, and ends by its deadline.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import certifi

from desktop.domain.text.json_text import read_json
from desktop.workers.model_host.limits import BODY_MAX
from desktop.workers.model_host.refusals import AnswerRefused, place

_CHUNK = 64 * 1024
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Unreachable(Exception):
    """The server gave no answer; the text is a short reason."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """``body`` is the JSON value, or None when there was none."""

    status: int
    headers: Mapping[str, str]
    body: Any
    text: str


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Takes the place of the one that follows, and does nothing: a redirect is an error like others."""

    def http_error_302(self, *_: Any, **__: Any) -> Any:
        """Follow no redirect by itself: its address has to be looked at before."""
        return None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


async def fetch(
    url: str, *, headers: Mapping[str, str] | None = None, body: Any = None, timeout: float = 10.0
) -> HttpAnswer:
    """GET, or POST with a JSON ``body``. ``timeout`` (seconds) bounds all of it. Raises Unreachable, and
    Refused for a redirect."""
    return await asyncio.to_thread(_fetch, url, dict(headers or {}), body, timeout)


def _fetch(url: str, headers: dict[str, str], body: Any, timeout: float) -> HttpAnswer:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Unreachable("the address is not a web address")
    data = None if body is None else json.dumps(body).encode()
    try:
        request = urllib.request.Request(url, data, {"Accept": "application/json", **headers})
        if data is not None:
            request.add_header("Content-Type", "application/json")
        with _opener(parts.hostname, parts.scheme).open(request, timeout=timeout) as response:
            return _read(response, response.status, time.monotonic() + timeout)
    except urllib.error.HTTPError as error:
        with error:
            if 300 <= error.code < 400:
                raise AnswerRefused("model.redirected", place(url, error.headers.get("Location", ""))) from None
            return _read(error, error.code, time.monotonic() + timeout)
    except (OSError, ValueError, urllib.error.URLError) as error:
        reason = getattr(error, "reason", None) or error
        raise Unreachable(getattr(reason, "strerror", None) or str(reason) or type(reason).__name__) from None
    except http.client.HTTPException as error:
        raise Unreachable(type(error).__name__) from None


def _opener(host: str, scheme: str) -> urllib.request.OpenerDirector:
    handlers: list[Any] = [_NoRedirect()]
    if host in _LOOPBACK:
        handlers.append(urllib.request.ProxyHandler({}))
    if scheme == "https":
        handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=certifi.where())))
    return urllib.request.build_opener(*handlers)


def _read(response: Any, status: int, deadline: float) -> HttpAnswer:
    chunks: list[bytes] = []
    size = 0
    while chunk := response.read1(_CHUNK) if hasattr(response, "read1") else response.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > BODY_MAX:
            raise Unreachable(f"the answer is larger than {BODY_MAX // 1_000_000} MB")
        if time.monotonic() > deadline:
            raise Unreachable("the answer takes too long")
    text = b"".join(chunks).decode("utf-8", "replace")
    try:
        value = read_json(text)
    except (ValueError, RecursionError):
        value = None
    return HttpAnswer(status, {k.lower(): v for k, v in response.headers.items()}, value, text[:4000])
