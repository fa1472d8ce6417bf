"""Fifty rounds of a chat over a real host: what a request begins with is what the one before it was, byte for byte."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.models import Connection
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.client import ModelServices
from desktop.services.chats.service import ConversationService
from desktop.services.threads.context import ContextService
from desktop.skills.catalogue.roots import SearchRoot
from desktop.workers.child import ChildProcess
from tests.harness.prefix_cache import blocks_of
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import models_over
from tests.unit.pipeline.kit import FakeTool, Table
from tests.unit.services.kit import ROOT, World, world

pytestmark = pytest.mark.asyncio(loop_scope="session")

MODEL = "anthropic/claude-sonnet-4-5"
ROUNDS = 13
"""Of each of the four messages."""


class GrowingTable(Table):
    """Tools that come and go, as those of servers do."""

    def change(self, *tools: FakeTool) -> None:
        self._tools = tools


def over(host: ChildProcess, provider: ProviderSpace) -> ModelServices:
    return models_over(host, Connection("anthropic", "anthropic", "Anthropic", provider.base_url, "key"))


def run_of(rounds: int, name: str = "read_file") -> list[dict[str, Any]]:
    """A run that calls a tool in all of its rounds but the last, and thinks before each call."""
    made: list[dict[str, Any]] = []
    for number in range(rounds - 1):
        call = {"id": f"toolu_{name}_{number}", "name": name, "arguments": json.dumps({"path": f"{number}.csv"})}
        thinks = [{"reasoning": f"Then file {number}."}, {"signature": f"c2ln{number}"}]
        made.append({"steps": [*thinks, {"text": f"File {number}."}, {"call": call}, {"finish": "tool_calls"}]})
    return [*made, {"steps": [{"text": "That is all."}, {"finish": "stop"}, {"usage": {"output": 9}}]}]


def bodies(provider: ProviderSpace) -> list[dict[str, Any]]:
    return [one["body"] for one in provider.requests() if one["path"].endswith("/v1/messages")]


def told(body: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Tools, system text and messages of a request as they are written, without their marks."""
    parts = ({"tools": body.get("tools"), "messages": []}, {"system": body.get("system"), "messages": []})
    only = {"messages": body["messages"]}
    tools, system, messages = ([json.dumps(block) for block, _ in blocks_of(part)] for part in (*parts, only))
    return tools, system, messages


async def ask(w: World, service: ConversationService, provider: ProviderSpace, thread: str, text: str) -> None:
    provider.rounds(*run_of(ROUNDS))
    w.service = service
    await w.ask(thread, text)


@pytest.mark.spec("R-MOD-3")
async def test_fifty_rounds_begin_as_the_round_before_with_pins_new_tools_and_skills_in_between(
    host: ChildProcess, provider: ProviderSpace, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "pirate.skill.md").write_text("---\nname: pirate\ndescription: talk\n---\nTalk like a pirate.\n")
    roots = (SearchRoot(str(mine), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    read, other = FakeTool("read-file", body=lambda args, _: f"level {args['path']} " * 40), FakeTool("zebra-look")
    table = GrowingTable(read, other)
    provider.caches()
    few, many = Limit("rounds", ROUNDS, "the test"), Limit("rounds", 100, "the test")
    bounds = {"usual_rounds": lambda: few, "thread_rounds": lambda: many, "budget": ExecutionBudget(max_rounds=100)}
    async with world(tmp_path, over(host, provider).client, registered=table, roots=roots, **bounds) as w:
        context = ContextService(w.store)
        service = ConversationService(replace(w.runtime, context=context), w.owner)
        thread = await w.thread(MODEL)
        await ask(w, service, provider, thread, "Read all files.")
        await context.pin(thread, (await service.path(thread))[0].message_id, True)
        await ask(w, service, provider, thread, "/pirate and once more")
        table.change(FakeTool("alpha-of-a-server"), read, other)
        await ask(w, service, provider, thread, "What has the new server?")
        table.change(read, other)
        await ask(w, service, provider, thread, "The server is gone again.")
        table.change(FakeTool("alpha-of-a-server"), read, other)
    sent = [told(body) for body in bodies(provider)]
    assert len(sent) == 4 * ROUNDS
    moved = 0
    for number, (before, now) in enumerate(pairwise(sent), 1):
        assert now[0][: len(before[0])] == before[0] or number == 3 * ROUNDS, f"tools of request {number}"
        assert (now[0], now[1]) == before[:2] or number % ROUNDS == 0, f"request {number} begins otherwise"
        kept = [text for text in before[2] if "# Note" not in text]
        same = next((at for at, (a, b) in enumerate(zip(kept, now[2], strict=False)) if a != b), len(kept))
        if same < len(kept) and not (number % ROUNDS == 0 and "# Skill: pirate" in kept[same]):
            moved += 1  # there are more than a hundred messages now
            assert number > 48, f"messages of request {number}"
    assert moved <= 1
    assert sum("# Note" in messages[-1] for _, _, messages in sent) == 8  # the rounds that are left, twice an answer
    assert sent[ROUNDS][:2] == sent[0][:2], "a skill that a message names changes what is before the message"
    assert [re.search(r'"name": "([^"]*)"', tool)[1] for tool in sent[2 * ROUNDS][0]][-1] == "alpha_of_a_server"  # type: ignore[index]
    counted = [one["counted"] for one in provider.requests() if "counted" in one]
    assert sum(read for _, read, _ in counted) > 0.75 * sum(map(sum, counted))


@pytest.mark.spec("R-MOD-3", "R-CTX-6")
async def test_a_window_that_is_full_moves_on_by_steps_and_not_with_each_round(
    host: ChildProcess, provider: ProviderSpace, tmp_path: Path
) -> None:
    read = FakeTool("read-file", body=lambda args, _: f"level {args['path']} " * 40)
    provider.caches()
    provider.rounds(*run_of(90))
    many = Limit("rounds", 100, "the test")
    bounds = {"usual_rounds": lambda: many, "thread_rounds": lambda: many, "budget": ExecutionBudget(max_rounds=100)}
    async with world(tmp_path, over(host, provider).client, read, **bounds) as w:
        await w.ask(await w.thread(MODEL), "Read all files.")
    sent = [told(body)[2] for body in bodies(provider)]
    moved = [now[1] != before[1] for before, now in pairwise(sent) if len(before) > 1]
    assert len(sent) == 90
    assert 0 < sum(moved) <= 4


@pytest.mark.spec("R-MOD-3", "S-CTX-2")
async def test_between_two_summaries_requests_begin_alike_and_tools_and_system_text_always_do(
    host: ChildProcess, provider: ProviderSpace, tmp_path: Path
) -> None:
    read = FakeTool("read-file", body=lambda args, _: f"level {args['path']} " * 400)
    summary = {"steps": [{"text": "They read files."}, {"finish": "stop"}, {"usage": {"output": 9}}]}
    rounds = run_of(30)
    provider.rounds(
        *(one for at, made in enumerate(rounds) for one in ((made, summary) if at in (13, 21) else (made,)))
    )
    many = Limit("rounds", 100, "the test")
    async with world(tmp_path, over(host, provider).client, read, usual_rounds=lambda: many) as w:
        context = ContextService(w.store)
        runtime = replace(w.runtime, context=context, summaries=lambda: True, context_window=lambda _ref: 24_000)
        w.service = ConversationService(runtime, w.owner)
        await w.ask(await w.thread(MODEL), "Read all files.")
    asked = [body for body in bodies(provider) if body.get("tools")]
    sent = [told(body) for body in asked]
    assert len(bodies(provider)) - len(asked) >= 2, "no summary was asked for"
    assert all(one[:2] == sent[0][:2] for one in sent)
    moved = sum(now[2][: len(before[2])] != before[2] for before, now in pairwise(sent))
    assert 1 <= moved <= len(bodies(provider)) - len(asked) + 1
