"""The token: first reason wins, children follow, nothing accumulates."""

import asyncio
import gc
import threading
import time

import pytest

from desktop.domain.errors import CancellationError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from tests.harness.timeouts import WAIT_S


@pytest.mark.spec("R-CAN-1")
def test_the_first_reason_wins():
    token = CancellationToken()
    token.cancel("first")
    token.cancel("second")
    assert token.reason == "first"


@pytest.mark.spec("R-CAN-2")
def test_check_raises_once_cancelled_and_once_the_deadline_passed():
    CancellationToken().check()
    token = CancellationToken()
    token.cancel("stop")
    with pytest.raises(CancellationError, match="stop"):
        token.check()
    with pytest.raises(CancellationError, match="deadline"):
        CancellationToken(deadline=time.monotonic() - 1).check()


@pytest.mark.spec("R-CAN-3")
async def test_wait_ends_on_cancel_and_on_the_deadline():
    token = CancellationToken()
    waiting = asyncio.ensure_future(token.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    token.cancel("now")
    assert await asyncio.wait_for(waiting, WAIT_S) == "now"
    assert await asyncio.wait_for(CancellationToken(deadline=time.monotonic() + 0.01).wait(), WAIT_S) == "deadline"


@pytest.mark.spec("R-CAN-4")
def test_children_follow_their_parent_and_never_lead_it():
    parent = CancellationToken()
    first, second = parent.child(), parent.child()
    first.cancel("only me")
    assert not parent.cancelled
    assert not second.cancelled
    parent.cancel("all")
    assert second.reason == "all"
    assert first.reason == "only me"
    assert parent.child().reason == "all", "a child of a cancelled token is born cancelled"


@pytest.mark.spec("R-CAN-5")
def test_finished_children_leave_nothing_behind():
    parent = CancellationToken()
    for _ in range(1000):
        parent.child().detach()
    kept = [parent.child() for _ in range(3)]
    gc.collect()
    assert len(parent._children) == 3
    del kept
    gc.collect()
    assert len(parent._children) == 0


@pytest.mark.spec("R-CAN-6")
def test_a_listener_that_raises_does_not_stop_the_others():
    token, heard = CancellationToken(), []

    def bad(reason):
        raise RuntimeError("listener")

    token.on_cancel(bad)
    token.on_cancel(heard.append)
    token.cancel("x")
    assert heard == ["x"]


def test_a_detached_listener_hears_nothing_and_a_late_one_hears_at_once():
    token, heard = CancellationToken(), []
    token.on_cancel(heard.append)()
    token.cancel("x")
    assert heard == []
    token.on_cancel(heard.append)
    assert heard == ["x"]


@pytest.mark.spec("R-CAN-12")
async def test_a_token_may_be_cancelled_from_another_thread():
    token = CancellationToken()
    thread = threading.Timer(0.02, token.cancel, ["from a thread"])
    thread.start()
    assert await asyncio.wait_for(token.wait(), WAIT_S) == "from a thread"
    thread.join()


@pytest.mark.spec("R-CAN-8", "R-CAN-7")
def test_a_span_keeps_the_run_and_gets_its_own_token_and_trace():
    meta = RunMeta("run-1", CancellationToken(), thread_id="t")
    span = meta.span()
    assert (span.run_id, span.thread_id) == ("run-1", "t")
    assert span.trace_id != meta.trace_id
    span.cancellation.cancel("span")
    assert not meta.cancellation.cancelled


def test_a_child_cannot_outlive_its_parents_deadline():
    parent = CancellationToken(deadline=100.0)
    assert parent.child(deadline=200.0).deadline == 100.0
    assert parent.child(deadline=50.0).deadline == 50.0


@pytest.mark.spec("R-CAN-4")
def test_however_long_a_chain_of_children_is_the_last_one_hears() -> None:
    root = last = CancellationToken()
    kept = [root]
    for _ in range(5000):
        last = last.child()
        kept.append(last)
    root.cancel("all of you")
    assert last.reason == "all of you"
