"""What was typed during a run: held by a Stop, left by a failure, sent in order."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from desktop.domain.errors import ModelServerError
from desktop.domain.models import TextDelta
from desktop.domain.runs.events import RunEnded, TextArrived
from tests.unit.agents.script import Hang, Script, call
from tests.unit.agents.script import calls as many_calls
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.chats.test_service import shown
from tests.unit.services.kit import world


@pytest.mark.spec("R-SES-19")
async def test_a_stop_holds_what_waits_until_the_person_sends_it_or_clears_it(tmp_path: Path) -> None:
    model = Script([TextDelta("x"), Hang()], speaks("to other"), speaks("to second"))
    async with world(tmp_path, model) as w:
        thread = await w.thread()
        await w.service.send(thread, "first")
        await w.until(TextArrived)
        for text in ("second", "third", "fourth"):
            await w.service.send(thread, text)
        await w.service.stop(thread)
        await w.until(RunEnded)
        await w.settled(thread)
        waiting = await w.service.queued(thread)
        assert [text for _, text in waiting] == ["second", "third", "fourth"]
        assert await w.service.held(thread) == {queue_id for queue_id, _ in waiting}
        await w.service.send(thread, "something else")
        await w.until(RunEnded, 2)
        assert shown(await w.settled(thread))[-2:] == [("user", "something else"), ("assistant", "to other")]
        assert len(await w.service.queued(thread)) == 3, "nor do they go when that is done"
        await w.service.release_queue(thread)
        await w.until(RunEnded, 3)
        assert shown(await w.settled(thread))[-2:] == [("user", "second"), ("assistant", "to second")]
        assert [text for _, text in await w.service.queued(thread)] == ["third", "fourth"]
        await w.service.clear_queue(thread)
        assert await w.service.queued(thread) == []
        assert await w.service.held(thread) == frozenset()


@pytest.mark.spec("R-SES-19")
async def test_what_a_stop_holds_does_not_slip_into_the_next_run_between_its_rounds(tmp_path: Path) -> None:
    script = Script([TextDelta("x"), Hang()], many_calls(call("c", "look")), speaks("looked"))
    async with world(tmp_path, script, FakeTool("look")) as w:
        thread = await w.thread()
        await w.service.send(thread, "first")
        await w.until(TextArrived)
        await w.service.send(thread, "held")
        await w.service.stop(thread)
        await w.until(RunEnded)
        await w.settled(thread)
        await w.service.send(thread, "look")
        await w.until(RunEnded, 2)
        assert [text for role, text in shown(await w.settled(thread)) if role == "user"] == ["first", "look"]
        assert [text for _, text in await w.service.queued(thread)] == ["held"]


@pytest.mark.spec("R-SES-19")
async def test_after_a_failure_what_waits_stays_and_goes_on_in_order(tmp_path: Path) -> None:
    go = asyncio.Event()
    script = Script([TextDelta("x"), go, ModelServerError("down")], speaks("b"), speaks("c"), speaks("d"))
    async with world(tmp_path, script) as w:
        thread = await w.thread()
        await w.service.send(thread, "fails")
        await w.until(TextArrived)
        await w.service.send(thread, "waits")
        await w.service.send(thread, "waits too")
        go.set()
        await w.until(RunEnded)
        await w.settled(thread)
        assert [text for _, text in await w.service.queued(thread)] == ["waits", "waits too"]
        await w.service.send(thread, "last")  # goes behind what waits
        await w.until(RunEnded, 4)
        asked = [text for role, text in shown(await w.settled(thread)) if role == "user"]
        assert asked == ["fails", "waits", "waits too", "last"]
