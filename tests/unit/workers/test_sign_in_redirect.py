"""The listener that takes what the browser brings back from a sign-in: one answer, its own, and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from desktop.workers.inside import CallError
from desktop.workers.mcp_host.sign_in.redirect import HEAD_MAX, BrowserAnswer, RedirectListener
from tests.harness.timeouts import WAIT_S

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.spec("R-MCP-2")]
STATE = "the-state-that-was-sent"


class Browser:
    """Visits the listener with a raw request; returns status and page."""

    def __init__(self, listener: RedirectListener, address: str) -> None:
        self.listener, self.port = listener, urlsplit(address).port or 0

    async def visit(self, target: str, method: str = "GET", host: str = "") -> tuple[int, str]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"{method} {target} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{self.port}'}\r\n\r\n"
        try:
            writer.write(head.encode())
            answer = (await reader.read()).decode()
        except ConnectionError:  # it was not listened to
            answer = ""
        finally:
            writer.close()
        return (int(answer.split()[1]), answer.partition("\r\n\r\n")[2]) if answer else (0, "")

    async def answer(self) -> BrowserAnswer:
        async with asyncio.timeout(WAIT_S):
            return await self.listener.answer()

    async def refusal(self) -> CallError:
        with pytest.raises(CallError) as caught:
            await self.answer()
        return caught.value


@pytest_asyncio.fixture(loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    listener = RedirectListener()
    address = await listener.start()
    listener.state = STATE
    yield Browser(listener, address)
    listener.close()


async def test_one_answer_is_taken_and_then_nobody_listens(browser: Browser) -> None:
    status, page = await browser.visit(f"/callback?code=abc&state={STATE}&iss=https%3A%2F%2Fid.example")
    assert status == 200
    assert "go back to Assent" in page
    assert await browser.answer() == BrowserAnswer("abc", STATE, "https://id.example")
    with pytest.raises(OSError):
        await browser.visit(f"/callback?code=other&state={STATE}")


async def test_a_second_answer_changes_nothing(browser: Browser) -> None:
    await browser.visit(f"/callback?code=first&state={STATE}")
    await browser.visit(f"/callback?code=second&state={STATE}")
    assert (await browser.answer()).code == "first"


async def test_of_two_answers_at_once_one_counts(browser: Browser) -> None:
    both = [await asyncio.open_connection("127.0.0.1", browser.port) for _ in range(2)]
    for at, (_, writer) in enumerate(both):
        head = f"GET /callback?code=c{at}&state={STATE} HTTP/1.1\r\nHost: 127.0.0.1:{browser.port}\r\n\r\n"
        writer.write(head.encode())
    pages = [(await reader.read()).decode() for reader, _ in both]
    for _, writer in both:
        writer.close()
    assert (await browser.answer()).code in ("c0", "c1")
    assert any("go back to Assent" in page for page in pages)


@pytest.mark.parametrize("query", ["code=abc&state=other", "code=abc", "error=access_denied&state=other"])
async def test_an_answer_without_its_state_ends_the_sign_in(browser: Browser, query: str) -> None:
    status, _ = await browser.visit(f"/callback?{query}")
    error = await browser.refusal()
    assert status == 400
    assert error.code == "mcp.sign_in_refused"
    assert "does not belong to this sign-in" in str(error)


async def test_an_answer_before_the_browser_was_sent_anywhere_is_none(browser: Browser) -> None:
    browser.listener.state = ""
    await browser.visit("/callback?code=abc&state=")
    assert "does not belong" in str(await browser.refusal())


async def test_what_is_no_answer_is_not_served_and_the_wait_goes_on(browser: Browser) -> None:
    other = f"/callback?code=abc&state={STATE}"
    assert (await browser.visit("/"))[0] == 404
    assert (await browser.visit("/favicon.ico"))[0] == 404
    assert (await browser.visit(f"/../callback?code=a&state={STATE}"))[0] == 404
    assert (await browser.visit(other, method="POST"))[0] == 405
    assert (await browser.visit(other, host="evil.example"))[0] == 400
    assert (await browser.visit("nonsense"))[0] == 404
    await browser.visit(other)
    assert (await browser.answer()).code == "abc"


async def test_a_parameter_that_is_there_twice_ends_it(browser: Browser) -> None:
    await browser.visit(f"/callback?code=a&code=b&state={STATE}")
    assert "twice" in str(await browser.refusal())


async def test_a_refusal_is_told_cut_and_as_plain_text_and_never_on_the_page(browser: Browser) -> None:
    words = "%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE" + "x" * 2_000
    _, page = await browser.visit(f"/callback?error=server_error&error_description={words}&state={STATE}")
    error = await browser.refusal()
    assert str(error).startswith("It says: <script>alert(1)</script>xxx")
    assert len(str(error)) < 400
    assert "script" not in page
    assert "xxx" not in page


async def test_a_person_who_does_not_agree_is_told_so(browser: Browser) -> None:
    await browser.visit(f"/callback?error=access_denied&state={STATE}")
    assert (await browser.refusal()).code == "mcp.sign_in_denied"


async def test_a_megabyte_is_not_read(browser: Browser) -> None:
    status, _ = await browser.visit(f"/callback?error={'x' * (4 * HEAD_MAX)}&state={STATE}")
    assert status in (0, 431)
    assert "too long" in str(await browser.refusal())
