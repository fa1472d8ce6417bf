"""Agents that break the protocol, lie, flood, die or hang cost their own turn, and nothing else."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.harness.timeouts import WAIT_S
from tests.unit.agents.acp.kit import desk

ENDS = {
    "dies": "ended: It ended with exit code 3.",
    "streams": "ended: It sent more than 32 MB in one turn.",
    "flood": "ended: It sent more messages than can be read.",
    "tools_flood": "ended: It sent more messages than can be read.",
    "huge": "ended: It sent a message of more than 8 MB.",
    "garbage": "ended: It writes text to its output that is no message of the protocol.",
    "version": "did not start: It speaks a version of the protocol that is not known: 99.",
    "sign-in": "is not signed in: Log in first",
}


@pytest.mark.spec("R-ACP-1")
async def test_one_that_breaks_a_rule_is_ended_and_the_chat_says_how(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for mode, said in ENDS.items():
            name = mode.replace("_", "-")
            await d.switched_on(name, "hostile.py", mode)
            told = await d.says(await d.thread(name), "go")
            assert f"{name.capitalize()} {said}" in told[-1]
        health = d.services.others.agents.services.child.health
        assert (health.state, health.restarts) == ("ready", 0), "the host of all agents lives on"
        await d.switched_on()
        assert (await d.says(await d.thread(), "say fine"))[-1] == "assistant: fine"


@pytest.mark.spec("R-ACP-1")
async def test_what_is_not_known_is_left_out_and_refused_with_the_codes_of_the_protocol(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on("odd", "hostile.py", "unknown")
        told = await d.says(await d.thread("odd"), "go")
        assert told[-1] == "assistant: -32601 -32602"
        assert any("from_the_future" in line for line in d.services.others.agents.logs["odd"])


@pytest.mark.spec("R-ACP-1")
async def test_a_plan_that_is_too_long_is_cut_and_its_many_updates_hold_nobody_up(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on("plans", "hostile.py", "plans")
        thread = await d.thread("plans")
        told = await d.says(thread, "go")
        assert told[-3:-1] == ["assistant: planned", "calls acp-did"]
        assert told[-1].endswith("442 more")
        state = d.services.others.state(thread)
        assert state is not None
        assert (len(state.plan.entries), max(len(one.text) for one in state.plan.entries)) == (60, 400)
        assert state.plan.more == 442


@pytest.mark.spec("R-ACP-2")
async def test_a_permission_that_was_taken_back_closes_its_question_and_a_later_yes_gives_nothing(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path, "allow_once") as d:
        d.asked.go_on = asyncio.Event()  # the person never answers
        await d.switched_on("fickle", "hostile.py", "withdraws")
        told = await d.says(await d.thread("fickle"), "go")
        assert len(d.asked.requests) == 1
        assert told[-1] == 'assistant: {"outcome": {"outcome": "cancelled"}} and on'
        assert "aborted" in told[-2]


@pytest.mark.spec("R-ACP-1")
async def test_one_that_does_not_heed_a_stop_is_ended(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_once") as d:
        d.asked.go_on = asyncio.Event()
        await d.switched_on("deaf", "hostile.py", "deaf")
        thread = await d.thread("deaf")
        await d.services.chats.send(thread, "go")
        async with asyncio.timeout(WAIT_S):
            await d.asked.waiting.wait()
        session = d.services.others.session(thread)
        assert session is not None
        await d.services.chats.stop(thread)
        assert await d.services.chats.wait(thread, WAIT_S)
        async with asyncio.timeout(WAIT_S):
            while session.gone is None:
                await asyncio.sleep(0.02)
        assert d.services.others.session(thread) is None


@pytest.mark.spec("R-ACP-1")
async def test_what_it_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on("leaves", "hostile.py", "daemon")
        thread = await d.thread("leaves")
        assert (await d.says(thread, "go"))[-1].startswith("assistant: left ")
        async with asyncio.timeout(WAIT_S):
            while not (before := left_behind()):
                await asyncio.sleep(0.02)
        await d.services.others.end(thread)
        async with asyncio.timeout(WAIT_S):
            while left_behind() & before:
                await asyncio.sleep(0.02)


def left_behind() -> set[int]:
    """The processes that the agent ``leaves`` put aside."""
    found = set()
    for name in os.listdir("/proc"):
        try:
            line = Path("/proc", name, "cmdline").read_bytes() if name.isdigit() else b""
        except OSError:
            continue
        if b"3600.25" in line:
            found.add(int(name))
    return found


@pytest.mark.spec("R-ACP-2", "R-ACP-4")
async def test_a_stop_ends_what_it_left_at_work_also_where_it_heeds_the_stop(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on("leaves", "hostile.py", "leaves_and_heeds")
        thread = await d.thread("leaves")
        await d.services.chats.send(thread, "go")
        async with asyncio.timeout(WAIT_S):
            while not (before := left_behind()):
                await asyncio.sleep(0.02)
            await d.services.chats.stop(thread)
            while left_behind() & before or d.services.others.session(thread) is not None:
                await asyncio.sleep(0.02)


@pytest.mark.spec("R-ACP-2", "R-ACP-4")
async def test_what_it_did_against_the_answer_or_beyond_it_is_put_down(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for mode, answer, put_down in (
            ("defies", "deny", True),
            ("heeds", "deny", False),
            ("shifts", "allow_once", True),
            ("keeps_to_it", "allow_once", False),
            ("cannot", "allow_once", True),
        ):
            name = mode.replace("_", "-")
            await d.switched_on(name, "hostile.py", mode)
            d.asked.answers(answer)
            told = await d.says(await d.thread(name), "go")
            assert ("calls acp-did" in told) is put_down, mode


@pytest.mark.spec("R-ACP-2")
async def test_a_command_of_which_a_part_could_not_be_kept_is_refused_and_not_run_without_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on("commands", "hostile.py", "commands")
        assert (await d.says(await d.thread("commands"), "go"))[-1] == "assistant:" + " -32602" * 6
        assert d.asked.requests == []


@pytest.mark.spec("R-ACP-2")
async def test_more_requests_than_are_kept_at_once_are_refused(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on("asks", "hostile.py", "many")
        assert (await d.says(await d.thread("asks"), "go"))[-1] == "assistant: 300 refused"
