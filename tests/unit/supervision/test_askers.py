"""Who is asked about a call: the window and an editor at once, and only an answer that fits counts."""

import asyncio
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.supervision.askers import Askers


def request(**more: Any) -> PermissionRequest:
    fields: dict[str, Any] = {
        "request_id": "r",
        "run_id": "run",
        "thread_id": "t",
        "call_id": "c",
        "tool": "write-file",
        "description": "",
        "category": Category.WRITE,
        "raised_because": "",
        "chain": (),
        "arguments": {},
        "paths": (),
        "judgements": (),
        "preview": {},
        "digest": "d",
        "asked_at": 0.0,
    }
    return PermissionRequest(**{**fields, **more})


class Person:
    """Somebody who is asked. ``says``: a decision, None for "not here", an error; without one the question waits until
    ``later`` has one."""

    def __init__(self, *says: Any) -> None:
        self.says = list(says)
        self.later: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self.asked = asyncio.Event()
        self.withdrawn = False

    async def ask(self, _request: PermissionRequest) -> Any:
        self.asked.set()
        if self.says:
            said = self.says.pop(0)
            if isinstance(said, Exception):
                raise said
            return said
        try:
            return await self.later
        except asyncio.CancelledError:
            self.withdrawn = True
            raise


YES, NO = Decision("allow_once", "d"), Decision("deny", "d")


@pytest.mark.spec("R-ACP-3", "R-PRM-5")
@pytest.mark.parametrize("first", ["window", "editor"])
async def test_the_first_answer_counts_and_the_question_is_taken_from_the_other(first: str) -> None:
    window = Person(*([YES] if first == "window" else []))
    editor = Person(*([NO] if first == "editor" else []))
    askers = Askers(window)
    askers.claim("t", editor.ask)
    asker = askers.of(request())
    assert asker is not None
    assert await asker.ask(request()) == (YES if first == "window" else NO)
    assert (window.withdrawn, editor.withdrawn) == (first == "editor", first == "window")


@pytest.mark.parametrize(
    "said",
    [
        None,
        Decision("allow_once", "of another call"),
        Decision("allow_always", "d"),
        pytest.param(RuntimeError("gone"), marks=pytest.mark.expects_log("could not be asked")),
    ],
)
async def test_an_answer_that_does_not_fit_leaves_the_question_to_the_window(said: Any) -> None:
    admin = request(category=Category.ADMIN)
    window, editor = Person(), Person(said)
    askers = Askers(window)
    askers.claim("t", editor.ask)
    asker = askers.of(admin)
    assert asker is not None
    asking = asyncio.ensure_future(asker.ask(admin))
    await editor.asked.wait()
    for _ in range(10):  # what the editor said has been looked at by then
        await asyncio.sleep(0)
    window.later.set_result(YES)
    assert await asking is YES


async def test_a_run_that_ends_takes_the_question_from_everybody() -> None:
    window, editor = Person(), Person()
    askers = Askers(window)
    askers.claim("t", editor.ask)
    asker = askers.of(request())
    assert asker is not None
    asking = asyncio.ensure_future(asker.ask(request()))
    await window.asked.wait()
    await editor.asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (window.withdrawn, editor.withdrawn) == (True, True)


@pytest.mark.spec("R-PRM-6")
async def test_where_nobody_is_left_to_answer_it_is_a_no() -> None:
    askers = Askers(None)
    askers.claim("t", Person(None).ask)
    asker = askers.of(request())
    assert asker is not None
    assert await asker.ask(request()) == Decision("deny", "d", by="no_handler")


async def test_questions_of_called_agents_go_where_their_thread_is_seen_and_no_further() -> None:
    askers = Askers(Person())
    release = askers.claim("t", Person().ask)
    assert askers.of(request(thread_id="hidden", above=("t",))) is not None
    assert askers.of(request(thread_id="other")) is None
    second = askers.claim("t", Person().ask)
    release()
    assert askers.of(request()) is not None
    second()
    assert askers.of(request()) is None
