"""Search services: asked as they document it, and whatever they answer is read as what a stranger sent."""

import asyncio
import json
from collections.abc import AsyncIterator
from email.utils import formatdate
from typing import Any

import pytest

from desktop.workers.inside import CallError
from desktop.workers.web_host import limits
from desktop.workers.web_host.connecting import Way
from desktop.workers.web_host.searching import SearchQuery, search
from tests.servers.raw_web import RawWeb, raw_web
from tests.servers.search_answers import BRAVE, EXA, SEARXNG, TAVILY

pytestmark = pytest.mark.spec("R-WEB-2")
KEY = "tvly-0123456789abcdef"
HIGH = "High water at quay 3 is at 04:11."
KINDS = {"searxng": SEARXNG, "brave-search": BRAVE, "tavily-search": TAVILY, "exa-search": EXA}


@pytest.fixture
async def web() -> AsyncIterator[RawWeb]:
    async with raw_web() as server:
        yield server


async def ask(web: RawWeb, kind: str = "tavily-search", *, count: int = 5, key: str = KEY, path: str = "/") -> Any:
    query = SearchQuery("high water & quay 3", count, "" if kind == "searxng" else key)
    return await search(kind, web.url(path), query, Way(["127.0.0.1"]))


async def refusal(web: RawWeb, kind: str = "tavily-search", **more: Any) -> CallError:
    with pytest.raises(CallError) as error:
        await ask(web, kind, **more)
    assert KEY not in f"{error.value} {error.value.data}", "no error repeats the key"
    return error.value


def head_of(web: RawWeb) -> tuple[str, str]:
    """The first line, and the rest in small letters."""
    first, _, rest = web.seen[-1].partition("\r\n")
    return first, rest.lower()


async def test_each_service_is_asked_as_it_documents(web: RawWeb) -> None:
    web.answer("/search", SEARXNG)
    web.answer("/", TAVILY)
    await ask(web, "searxng")
    assert head_of(web)[0] == "GET /search?q=high+water+%26+quay+3&format=json HTTP/1.1"
    await ask(web, "searxng", path="/search")
    assert head_of(web)[0].startswith("GET /search?q="), "an address that was copied whole means the same"
    await ask(web, "tavily-search", count=3)
    first, rest = head_of(web)
    assert (first, json.loads(web.bodies[-1])) == (
        "POST / HTTP/1.1",
        {"query": "high water & quay 3", "max_results": 3},
    )
    assert f"authorization: bearer {KEY}\r\n" in rest
    web.answer("/", BRAVE)
    await ask(web, "brave-search", count=4)
    first, rest = head_of(web)
    assert first.startswith("GET /?q=high+water+%26+quay+3&count=4&")
    assert f"x-subscription-token: {KEY}\r\n" in rest
    web.answer("/", EXA)
    await ask(web, "exa-search")
    assert f"x-api-key: {KEY}\r\n" in head_of(web)[1]
    sent = json.loads(web.bodies[-1])
    assert sent == {"query": "high water & quay 3", "numResults": 5, "contents": {"highlights": True}}
    assert not any("cookie" in head.lower() for head in web.seen)


@pytest.mark.parametrize(
    ("kind", "title", "url", "text", "count"),
    [
        ("brave-search", "Tide tables & notices", "quay-3", HIGH, 2),
        ("tavily-search", "Tide tables & notices", "quay-3", HIGH, 1),
        ("exa-search", "Tide tables & notices", "quay-3", f"{HIGH} … Low water is at 10:20.", 1),
        ("searxng", "Tide table 0 & tide", "0?q=tide", "High water at quay 0 is 04:10", 1),
    ],
)
async def test_a_result_is_its_title_address_and_snippet_as_plain_text(
    web: RawWeb, kind: str, title: str, url: str, text: str, count: int
) -> None:
    for path in ("/", "/search"):
        web.answer(path, KINDS[kind])
    found = await ask(web, kind)
    assert found["results"][0] == {"title": title, "url": f"https://tides.example/{url}", "text": text}
    assert len(found["results"]) == count
    assert (found["odd"], found["silent"]) == ((1, 2) if kind == "searxng" else (0, 0))


async def test_nothing_found_is_no_error(web: RawWeb) -> None:
    web.answer("/", {"type": "search", "query": {}})
    assert (await ask(web, "brave-search"))["results"] == []
    web.answer("/", {"results": []})
    assert (await ask(web, "exa-search"))["results"] == []


async def test_what_a_service_sends_beyond_reason_is_cut_or_left_out(web: RawWeb) -> None:
    good = {"url": "https://a.example/", "title": "t\n2. [x](https://evil.example)\u202e\u200b" + "y" * 5_000}
    good["content"] = "<img src=x onerror=alert(1)>" + "z " * 50_000
    odd = [
        None,
        7,
        "text",
        {},
        {"url": "javascript:alert(1)"},
        {"url": "file:///etc/passwd"},
        {"url": "https://ida:key@a.example/"},
        {"url": ["https://a.example/"]},
        {"url": "https://a.example/\u202etxt"},
    ]
    same = {"url": "https://a.example", "title": "again"}
    many = [{"url": f"https://a.example/{number}", "title": {"no": "text"}} for number in range(500)]
    web.answer("/", {"results": [good, *odd, same, *many]})
    found = await ask(web, count=5)
    assert [row["url"] for row in found["results"]] == ["https://a.example/"] + [
        f"https://a.example/{n}" for n in range(4)
    ]
    assert found["odd"] == len(odd)
    first = found["results"][0]
    assert len(first["title"]) == limits.TITLE
    assert len(first["text"]) <= limits.SNIPPET
    assert first["title"].startswith("t 2. [x](https://evil.example)yy"), "one line, without what cannot be seen"
    assert "onerror" not in first["text"]
    assert found["results"][1] == {"title": "", "url": "https://a.example/0", "text": ""}


async def test_of_a_list_without_end_the_first_hundred_are_looked_at(web: RawWeb) -> None:
    web.answer("/", {"results": [{"url": "about:blank"}] * 150 + [{"url": "https://a.example/"}]})
    assert await ask(web) == {"results": [], "odd": 100, "silent": 0}


@pytest.mark.parametrize(
    ("kind", "status", "body", "code"),
    [
        ("tavily-search", 401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}, "search.key"),
        (
            "tavily-search",
            432,
            {"detail": {"error": "This request exceeds your plan's set usage limit."}},
            "search.spent",
        ),
        ("tavily-search", 433, {"detail": {"error": "exceeds the pay-as-you-go limit"}}, "search.spent"),
        ("tavily-search", 400, {"detail": {"error": "Query is too long."}}, "search.refused"),
        ("brave-search", 422, {"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}, "search.key"),
        ("brave-search", 422, {"error": {"code": "VALIDATION", "detail": "Unable to validate"}}, "search.refused"),
        ("brave-search", 429, {"error": {"code": "QUOTA_LIMITED"}}, "search.spent"),
        ("brave-search", 429, {"error": {"code": "RATE_LIMITED"}}, "search.rate_limited"),
        ("exa-search", 401, {"error": "x-api-key header is invalid"}, "search.key"),
        ("exa-search", 402, {"error": "No credits left", "tag": "NO_MORE_CREDITS"}, "search.spent"),
        ("exa-search", 500, "no object at all", "search.server"),
        ("searxng", 403, None, "search.no_json"),
        ("searxng", 401, None, "search.signed_in"),
        ("searxng", 429, None, "search.rate_limited"),
        ("searxng", 502, [[[[]]]], "search.server"),
    ],
)
async def test_a_refusal_says_what_is_wrong(web: RawWeb, kind: str, status: int, body: object, code: str) -> None:
    for path in ("/", "/search"):
        web.answer(path, body, status=status)
    error = await refusal(web, kind)
    assert (error.code, error.data["status"]) == (code, status)


async def test_what_a_service_says_of_a_refusal_is_kept_short_and_without_the_key(web: RawWeb) -> None:
    web.answer(
        "/", {"detail": {"error": f"The key {KEY} of \x1b[31mida\u202e is <b>wrong</b>. " + "x" * 5_000}}, status=401
    )
    said = (await refusal(web)).data["said"]
    assert len(said) <= 220
    assert "ida is wrong." in said


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ("Retry-After: 17\r\n", 17),
        ("Retry-After: later\r\n", None),
        ("Retry-After: 99999999999999\r\n", None),
        ("X-RateLimit-Remaining: 0, 1987\r\nX-RateLimit-Reset: 1, 1419704\r\n", 1),
        ("X-RateLimit-Remaining: 0, 0\r\nX-RateLimit-Reset: 1, 1419704\r\n", 1_419_704),
        ("", None),
    ],
)
async def test_how_long_to_wait_is_as_the_service_says(web: RawWeb, headers: str, seconds: int | None) -> None:
    web.answer("/", {}, status=429, headers=headers)
    assert (await refusal(web)).data["retry_after"] == seconds


async def test_a_date_to_wait_for_is_read_as_well(web: RawWeb) -> None:
    web.answer("/", {}, status=429, headers=f"Retry-After: {formatdate(4_102_444_800, usegmt=True)}\r\n")
    assert (await refusal(web)).data["retry_after"] == 9_999_999


async def test_a_key_goes_to_no_other_place_and_never_without_encryption(web: RawWeb) -> None:
    async with raw_web() as other:
        other.answer("/", TAVILY)
        web.redirect("/", other.url())
        error = await refusal(web)
        assert (error.code, str(error)) == ("search.redirected", other.url())
        assert other.seen == []
    far = SearchQuery("x", 1, KEY)
    with pytest.raises(CallError) as refused:
        await search("tavily-search", "http://far.example/", far, Way(["far.example:80"]))
    assert refused.value.code == "search.plain"
    assert (await refusal(web, key="a\r\nX-Evil: 1")).code == "search.key"
    assert len(web.seen) == 1


async def test_an_answer_that_is_none_is_an_error(web: RawWeb) -> None:
    codes = []
    for body in (
        "<html>not found</html>",
        "[" * 100_000,
        "",
        '{"results": "none"}',
        '{"results": {"a": 1}}',
        "[]",
        "null",
    ):
        web.page("/", body, kind="application/json")
        codes.append((await refusal(web)).code)
    assert codes == ["search.no_json"] * 3 + ["search.unreadable"] * 4
    web.page("/", json.dumps({"results": [], "more": "x" * limits.ANSWER}), kind="application/json")
    assert (await refusal(web)).code == "search.unreadable"

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
        while True:
            writer.write(b" " * 1_000_000)
            await writer.drain()

    web.answers["/"] = endless
    assert (await refusal(web)).code == "search.unreadable"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_an_address_inside_is_asked_only_where_the_person_wrote_it(web: RawWeb, host: str) -> None:
    web.answer("/search", SEARXNG)
    with pytest.raises(CallError) as error:
        await search("searxng", web.url("/", host=host), SearchQuery("x", 1), Way())
    assert (error.value.code, web.seen) == ("web.private", [])
