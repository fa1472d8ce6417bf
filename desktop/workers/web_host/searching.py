"""Asks one search service: its request as it is documented, its answer read as what a stranger sent.

A redirect is never followed: a key would go there. What is wrong is said with a code that the app has words for.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import httpx2

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.domain.text.scrub import scrub
from desktop.domain.web.addresses import BadWebAddress, WebAddress, read_address
from desktop.domain.web.nearness import Nearness
from desktop.workers.inside import CallError
from desktop.workers.web_host import limits
from desktop.workers.web_host.connecting import Asked, Way, asked, body_of, in_words, packings
from desktop.workers.web_host.markdown import without_unseen
from desktop.workers.web_host.tags import tags

_HEADERS = {"User-Agent": "Assent (searches for a person)", "Accept": "application/json", "Accept-Encoding": "gzip"}
_JSON = {"Content-Type": "application/json"}
_KEY = re.compile(r"[!-~]{1,4096}")
_NO_KEY = frozenset({"SUBSCRIPTION_TOKEN_INVALID", "INVALID_API_KEY", "UNAUTHORIZED"})
_SPENT = frozenset({"QUOTA_LIMITED", "NO_MORE_CREDITS", "OUT_OF_CREDITS", "USAGE_LIMIT_EXCEEDED"})
_TEXTS, _LAYERS = ("code", "tag", "message", "detail", "error"), 3
_SAID = 200
"""Characters of what a service says of a refusal."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is searched for, and with what."""

    words: str
    """The query."""
    count: int
    """How many results are wanted."""
    key: str = ""
    """The key of the service."""


@dataclass(frozen=True, slots=True)
class ServiceDialect:
    """How one kind of service is asked, and where the results are in its answer."""

    ask: Callable[[str, SearchQuery], tuple[str, Asked]]
    """The address and what is sent there, by the service's own address."""
    place: tuple[str, ...]
    """The keys that lead to the list of results."""
    snippet: tuple[str, ...]
    """The fields of a result that may hold the snippet, the best first."""
    refused: Mapping[int, str]
    """What a status means there, where that is not what it usually means."""


def _searxng(base: str, query: SearchQuery) -> tuple[str, Asked]:
    base = base.rstrip("/").removesuffix("/search")
    return f"{base}/search?{urlencode({'q': query.words, 'format': 'json'})}", Asked(_HEADERS)


def _brave(base: str, query: SearchQuery) -> tuple[str, Asked]:
    sent = {"q": query.words, "count": query.count, "text_decorations": "false", "result_filter": "web"}
    return f"{base.rstrip('/')}?{urlencode(sent)}", Asked({**_HEADERS, "X-Subscription-Token": query.key})


def _tavily(base: str, query: SearchQuery) -> tuple[str, Asked]:
    return base, _posted({"Authorization": f"Bearer {query.key}"}, query=query.words, max_results=query.count)


def _exa(base: str, query: SearchQuery) -> tuple[str, Asked]:
    wanted = {"query": query.words, "numResults": query.count, "contents": {"highlights": True}}
    return base, _posted({"x-api-key": query.key}, **wanted)


def _posted(headers: Mapping[str, str], **sent: Any) -> Asked:
    return Asked({**_HEADERS, **_JSON, **headers}, "POST", json.dumps(sent).encode())


DIALECTS: Mapping[str, ServiceDialect] = {
    "searxng": ServiceDialect(_searxng, ("results",), ("content",), {403: "search.no_json", 401: "search.signed_in"}),
    "brave-search": ServiceDialect(_brave, ("web", "results"), ("description",), {402: "search.spent"}),
    "tavily-search": ServiceDialect(_tavily, ("results",), ("content",), {432: "search.spent", 433: "search.spent"}),
    "exa-search": ServiceDialect(_exa, ("results",), ("highlights", "summary", "text"), {402: "search.spent"}),
}
"""By the kind of service."""


async def search(kind: str, base: str, query: SearchQuery, way: Way) -> Mapping[str, Any]:
    """The results, cleaned and capped, and how many were left out. Raises CallError."""
    dialect = DIALECTS[kind]
    if query.key and not _KEY.fullmatch(query.key):
        raise CallError("search.key", "The key has characters that no key has.")
    text, what = dialect.ask(base, query)
    try:
        address = read_address(text)
    except BadWebAddress as error:
        raise CallError("search.address", str(error)) from None
    if query.key and address.scheme == "http" and address.near is not Nearness.HERE:
        raise CallError("search.plain", "The key would go there without encryption.")
    with in_words(address, way):
        async with asyncio.timeout(limits.SECONDS):
            return await _answered(address, what, way, dialect, query)


async def _answered(
    address: WebAddress, what: Asked, way: Way, dialect: ServiceDialect, query: SearchQuery
) -> Mapping[str, Any]:
    async with asked(address, what, way) as response:
        body, cut = await body_of(response, packings(response, address.host), limits.ANSWER)
        if response.status_code != 200:
            raise _refusal(response, body, dialect, query.key)
    if cut:
        raise CallError("search.unreadable", f"it is larger than {limits.ANSWER // 1_000_000} MB")
    try:
        found = read_json(body)
    except (ValueError, RecursionError):
        raise CallError("search.no_json", "it is no JSON") from None
    return _read(found, dialect, query.count)


def _read(found: Any, dialect: ServiceDialect, count: int) -> Mapping[str, Any]:
    """The results of an answer. Raises CallError where it is none of this kind."""
    rows = found
    for key in dialect.place:
        if not isinstance(rows, Mapping):
            raise CallError("search.unreadable", "it has no results where they belong")
        rows = rows.get(key, {} if key != dialect.place[-1] else None)
    if rows is None and isinstance(found, Mapping) and len(dialect.place) > 1:
        rows = []  # Brave leaves out the whole list where nothing was found
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise CallError("search.unreadable", "it has no results where they belong")
    made: dict[str, Mapping[str, str]] = {}
    odd = 0
    for row in rows[: limits.ROWS]:
        one = _result(row, dialect.snippet)
        odd += one is None
        if one is not None and len(made) < count:
            made.setdefault(one["url"], one)
    silent = found.get("unresponsive_engines", ()) if isinstance(found, Mapping) else ()
    return {"results": list(made.values()), "odd": odd, "silent": len(silent) if isinstance(silent, list) else 0}


def _result(row: Any, snippet: Sequence[str]) -> Mapping[str, str] | None:
    """One result; None: it leads to no page of the web."""
    if not isinstance(row, Mapping):
        return None
    try:
        url = read_address(str(row.get("url") or "")).text
    except BadWebAddress:
        return None
    said = next((text for name in snippet if (text := _plain(row.get(name), limits.SNIPPET))), "")
    return {"title": _plain(row.get("title"), limits.TITLE), "url": url, "text": said}


def _plain(value: Any, most: int) -> str:
    """One line of text: markup and what cannot be seen taken out, cut."""
    parts = value if isinstance(value, list) else [value]
    text = " … ".join(part[: limits.FIELD] for part in parts[:10] if isinstance(part, str))
    kept = "".join(piece for piece in tags(text) if isinstance(piece, str))
    line = " ".join(without_unseen(kept)[0].split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _refusal(response: httpx2.Response, body: bytes, dialect: ServiceDialect, key: str) -> CallError:
    """What another status than 200 means."""
    status = response.status_code
    code, said = _said(body, key)
    data = {"status": status, "said": said}
    if status in (301, 302, 303, 307, 308):
        return CallError("search.redirected", _plain(response.headers.get("location", ""), 200))
    if code in _NO_KEY:
        return CallError("search.key", "", data)
    if code in _SPENT:
        return CallError("search.spent", "", data)
    if status in dialect.refused:
        return CallError(dialect.refused[status], "", data)
    if status == 429:
        return CallError("search.rate_limited", "", {**data, "retry_after": _wait(response.headers)})
    usual = "search.key" if status in (401, 403) else "search.server" if status >= 500 else "search.refused"
    return CallError(usual, "", data)


def _said(body: bytes, key: str) -> tuple[str, str]:
    """The code that a service gives, and its sentence, without the key."""
    try:
        found = read_json(body[: limits.FIELD])
    except (ValueError, RecursionError):
        return "", ""
    texts: dict[str, str] = {}
    for _ in range(_LAYERS):
        if not isinstance(found, Mapping):
            break
        texts |= {name: found[name] for name in _TEXTS if isinstance(found.get(name), str)}
        found = next((found[name] for name in ("error", "detail") if isinstance(found.get(name), Mapping)), None)
    said = next((texts[name] for name in ("detail", "message", "error") if name in texts), "")
    words = scrub(_plain(said, 4 * _SAID), [key] if key else [], limit=_SAID)
    return texts.get("code", texts.get("tag", "")).upper()[:60], words


def _wait(headers: httpx2.Headers) -> int | None:
    """Seconds to wait, by ``Retry-After`` or Brave's ``X-RateLimit-Reset`` (one number for each window)."""
    said = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,7}", said):
        return int(said)
    if said:
        try:
            return max(0, min(9_999_999, round(email.utils.parsedate_to_datetime(said).timestamp() - time.time())))
        except (ValueError, OverflowError):
            return None
    left = re.findall(r"\d{1,9}", headers.get("x-ratelimit-remaining", "")[:200])
    resets = re.findall(r"\d{1,9}", headers.get("x-ratelimit-reset", "")[:200])
    waits = [int(reset) for rest, reset in zip(left, resets, strict=False) if not int(rest)]
    return max(waits, default=None)
