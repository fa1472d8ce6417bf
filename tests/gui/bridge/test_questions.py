"""Questions to a person: futures, in order, answered once and exactly, closed with their run or the app."""

import asyncio
from dataclasses import replace

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Asker, Decision
from desktop.domain.errors import BugError
from desktop.presenter.events.bridge import Bridge
from tests.gui.bridge.conftest import Heard, request
from tests.harness.timeouts import until


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.spec("R-PRM-7")
async def test_asking_waits_for_the_answer_while_the_loop_goes_on(bridge: Bridge, heard: Heard) -> None:
    asker: Asker = bridge
    asking = bridge.spawn(asker.ask(request(1)), name="ask")
    await until(lambda: heard.asked, "the question")
    await asyncio.sleep(0.03)
    assert heard.asked == ["q1"]
    assert not asking.done()
    assert bridge.answer("q1", Decision("allow_once", "d1", reason="fine"))
    decision = await asking
    assert (decision.choice, decision.digest, decision.by, decision.reason) == ("allow_once", "d1", "user", "fine")
    assert decision.waited_s >= 0.02
    assert heard.closed == [("q1", "allow_once", "user")]
    assert bridge.waiting == ()


@pytest.mark.spec("R-PRM-8")
async def test_questions_wait_in_the_order_in_which_they_were_asked(bridge: Bridge, heard: Heard) -> None:
    asking = [bridge.spawn(bridge.ask(request(n)), name=f"ask {n}") for n in range(5)]
    await settled()
    assert heard.asked == [waiting.request_id for waiting in bridge.waiting] == ["q0", "q1", "q2", "q3", "q4"]
    assert bridge.answer("q3", Decision("deny", "d3"))
    assert (await asking[3]).choice == "deny"
    assert [waiting.request_id for waiting in bridge.waiting] == ["q0", "q1", "q2", "q4"]


@pytest.mark.spec("R-PRM-5", "R-PRM-3")
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("q1", Decision("allow_once", "another digest")),
        ("q1", Decision("allow_once", "")),
        ("q1", Decision("allow_edited", "d1")),
        ("q1", Decision("allow_run", "d1")),
        ("q1", Decision("allow_always", "d1")),
        ("q1", Decision("anything", "d1")),  # type: ignore[arg-type]
        ("q2", Decision("allow_once", "d1")),
        ("", Decision("allow_once", "d1")),
    ],
)
async def test_an_answer_that_does_not_fit_changes_nothing(
    bridge: Bridge, heard: Heard, name: str, answer: Decision
) -> None:
    asking = bridge.spawn(bridge.ask(request(1, category=Category.ADMIN)), name="ask")
    await settled()
    assert not bridge.answer(name, answer)
    await settled()
    assert not asking.done()
    assert heard.closed == []
    assert bridge.answer("q1", Decision("deny", "d1"))
    assert not (await asking).allowed


@pytest.mark.spec("R-PRM-5")
async def test_a_question_is_answered_once(bridge: Bridge, heard: Heard) -> None:
    asking = bridge.spawn(bridge.ask(request(1)), name="ask")
    await settled()
    assert bridge.answer("q1", Decision("deny", "d1"))
    assert not bridge.answer("q1", Decision("allow_once", "d1"))
    assert (await asking).choice == "deny"
    assert heard.closed == [("q1", "deny", "user")]


async def test_edited_arguments_travel_with_the_answer(bridge: Bridge, heard: Heard) -> None:
    asking = bridge.spawn(bridge.ask(request(1)), name="ask")
    await settled()
    assert bridge.answer("q1", Decision("allow_edited", "d1", edited_arguments={"path": "b"}))
    assert (await asking).edited_arguments == {"path": "b"}


@pytest.mark.spec("R-PRM-8")
@pytest.mark.parametrize("how", ["call", "answer"])
async def test_denying_a_run_denies_all_its_questions_and_no_others(bridge: Bridge, heard: Heard, how: str) -> None:
    mine = [bridge.spawn(bridge.ask(request(n)), name="mine") for n in range(3)]
    other = bridge.spawn(bridge.ask(request(9, run="other")), name="other")
    await settled()
    if how == "call":
        assert bridge.deny_run("r") == 3
    else:
        assert bridge.answer("q1", Decision("deny_run", "d1", reason="enough"))
    decisions = await asyncio.gather(*mine)
    assert [(d.choice, d.digest, d.allowed) for d in decisions] == [("deny_run", f"d{n}", False) for n in range(3)]
    assert not other.done()
    assert bridge.answer("q9", Decision("allow_once", "d9"))
    assert (await other).allowed


@pytest.mark.spec("R-PRM-9", "R-CAN-10", "R-CAN-11")
async def test_cancelling_the_asking_task_closes_its_question_as_denied(bridge: Bridge, heard: Heard) -> None:
    asking = bridge.spawn(bridge.ask(request(1)), name="ask")
    await settled()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert heard.closed == [("q1", "deny", "cancelled")]
    assert not bridge.answer("q1", Decision("allow_once", "d1"))


@pytest.mark.spec("R-PRM-9")
async def test_a_task_cancelled_right_after_the_answer_closes_its_question_only_once(
    bridge: Bridge, heard: Heard
) -> None:
    asking = bridge.spawn(bridge.ask(request(1)), name="ask")
    await settled()
    assert bridge.answer("q1", Decision("allow_once", "d1"))
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert heard.closed == [("q1", "allow_once", "user")]


@pytest.mark.spec("R-PRM-9", "R-UI-8")
async def test_closing_the_app_denies_what_waits_and_what_is_still_asked(bridge: Bridge, heard: Heard) -> None:
    asking = [bridge.spawn(bridge.ask(request(n)), name="ask") for n in range(2)]
    await settled()
    assert bridge.deny_all() == 2
    decisions = [*await asyncio.gather(*asking), await bridge.ask(request(7))]
    assert [(d.choice, d.by) for d in decisions] == [("deny", "closed")] * 3
    assert heard.asked == ["q0", "q1"]


@pytest.mark.spec("R-PRM-9", "R-UI-8")
async def test_shutdown_denies_before_it_cancels(heard: Heard) -> None:
    bridge = Bridge()
    heard.listen(bridge)
    got: list[Decision] = []

    async def run() -> None:
        got.append(await bridge.ask(request(1)))

    bridge.spawn(run(), name="run")
    await settled()
    await bridge.shutdown(1.0)
    assert heard.closed == [("q1", "deny", "closed")]


@pytest.mark.spec("R-PRM-6")
async def test_questions_wait_for_a_window_and_are_then_told_once() -> None:
    bridge, heard = Bridge(), Heard()
    heard.listen(bridge, window=False)
    asking = [bridge.spawn(bridge.ask(request(n)), name="ask") for n in range(2)]
    await settled()
    assert heard.asked == []
    heard.attach(bridge)
    await settled()
    assert heard.asked == ["q0", "q1"]
    asking.append(bridge.spawn(bridge.ask(request(2)), name="ask"))
    await settled()
    assert heard.asked == ["q0", "q1", "q2"]
    bridge.deny_all()
    assert not any(decision.allowed for decision in await asyncio.gather(*asking))


@pytest.mark.spec("R-PRM-6", "R-PRM-9")
async def test_without_a_window_ever_closing_the_app_denies() -> None:
    bridge = Bridge()
    asking = bridge.spawn(bridge.ask(request(1)), name="ask")
    await settled()
    assert not asking.done()
    bridge.deny_all()
    assert (await asking).by == "closed"


async def test_asking_the_same_request_twice_is_our_bug(bridge: Bridge, heard: Heard) -> None:
    asking = bridge.spawn(bridge.ask(request(1)), name="ask")
    await settled()
    with pytest.raises(BugError, match="asked twice"):
        await bridge.ask(replace(request(1), tool="other"))
    assert not asking.done()
    assert bridge.answer("q1", Decision("deny", "d1"))
    await asking
