"""A debate that outgrows the models' window: each side has a summary of what it has seen itself, and it outlives us."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.loop.summarising import SYSTEM
from desktop.agents.loop.window import SUMMARY_HEAD
from desktop.domain.messages import ChatMessage
from desktop.domain.models import ModelRequest
from desktop.services.debates.context import side_overlays
from desktop.services.debates.service import DebateService
from tests.unit.agents.script import Script, call, calls, says
from tests.unit.agents.test_rounds import valid
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.debates.kit import DebateWorld, debate_world, setup

TOPIC = "Tea or coffee? Keep to the point."
LONG = "word " * 900


def texts(messages: tuple[ChatMessage, ...]) -> str:
    return "".join(block.text for m in messages for block in m.blocks if hasattr(block, "text"))


class Sides:
    """Each side speaks at length, and reads a file first where ``reads`` is set; summaries name whom they are of."""

    def __init__(self, reads: int = 0) -> None:
        self.requests: list[ModelRequest] = []
        self.summaries: list[ModelRequest] = []
        self.reads, self.round, self.spoken = reads, 0, 0

    def __call__(self, request: ModelRequest) -> Any:
        if request.system == SYSTEM:
            self.summaries.append(request)
            return says(f"Summary {len(self.summaries)}, 4711.")
        self.requests.append(request)
        if self.round < self.reads:
            self.round += 1
            return calls(call(f"c{len(self.requests)}", path=f"p{self.round}"))
        self.round, self.spoken = 0, self.spoken + 1
        return says(f"{'PRO' if 'You are pro' in request.system else 'CON'} speaks {self.spoken}. {LONG}")


def small(w: DebateWorld) -> None:
    runtime = replace(w.runtime, summaries=lambda: True, context_window=lambda _ref: 8_000)
    w.debates = DebateService(runtime, w.owner)


@pytest.mark.spec("R-CTX-3", "R-CTX-5", "R-CTX-6", "R-SES-4")
async def test_each_side_of_a_long_debate_has_its_own_summary_and_a_later_run_goes_on_with_it(tmp_path: Path) -> None:
    sides = Sides()
    async with debate_world(tmp_path, Script(last=sides), mask=lambda text: text.replace("4711", "[REDACTED]")) as w:
        small(w)
        thread_id, _ = await w.run(setup(TOPIC, max_turns=16))
        assert len(await w.outcomes(thread_id)) == 16
        assert 2 <= len(sides.summaries) <= 8
        assert all(texts(request.messages).count(TOPIC) == 1 for request in sides.requests)
        assert all(valid(request.messages) for request in sides.requests)
        told = [m for request in sides.requests[-2:] for m in request.messages if m.text.startswith(SUMMARY_HEAD)]
        assert len(told) == 2
        assert told[0].text != told[1].text
        assert "speaks 15" in texts(sides.requests[-1].messages)
        kept = await w.store.effects.summaries(thread_id)
        assert {one["side"] for one in kept} == {"a", "b"}
        path = await w.service.path(thread_id)
        kept = await side_overlays(w.runtime, thread_id, path)
        assert {overlay.summary for overlay in kept.values()} == {m.text.split("\n\n", 1)[1] for m in told}
        assert kept["b"].summary in told[-1].text
        assert all(overlay.summary.endswith(", [REDACTED].") for overlay in kept.values())
        assert await side_overlays(w.runtime, thread_id, path[:1]) == {}  # of turns that broke off
        _, messages = await w.debates.as_side(thread_id, "a")
        assert SUMMARY_HEAD in texts(tuple(messages))
        other = tmp_path / "again"
        other.mkdir()
        for file in tmp_path.glob("assent.db*"):
            shutil.copy(file, other / file.name)
    again = Sides()
    async with debate_world(other, Script(last=again)) as w:
        small(w)
        await w.debates.extend(thread_id, max_turns=18)
        await w.go_on(thread_id)
        assert len(again.requests) == 2
        assert len(again.summaries) <= 1
        assert all(SUMMARY_HEAD in texts(request.messages) for request in again.requests)


@pytest.mark.spec("R-CTX-5", "R-CTX-9")
async def test_a_turn_of_many_rounds_is_summarised_while_it_is_taken(tmp_path: Path) -> None:
    sides, tool = Sides(reads=14), FakeTool("read-file", body=lambda args, _: f"{args['path']} " + "r" * 4_000)
    async with debate_world(tmp_path, Script(last=sides), tool, allowed="read-file") as w:
        small(w)
        thread_id, _ = await w.run(setup(TOPIC, max_turns=2))
        assert len(await w.outcomes(thread_id)) == 2
        assert len(sides.summaries) >= 2
        assert all(valid(request.messages) for request in sides.requests)
        assert all(texts(request.messages).count(TOPIC) == 1 for request in sides.requests)
        con = [request for request in sides.requests if "You are con" in request.system]
        assert all("PRO speaks 1" in texts(request.messages) for request in con)
        used = sum(turn.usage.input_tokens for turn in await w.debates.turns(thread_id))
        assert used == 100 * (len(sides.requests) + len(sides.summaries))
