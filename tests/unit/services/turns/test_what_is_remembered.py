"""The prompt of an agent says what it reads of what was said before, and what condenses a conversation that is too long
for its model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.skill.history import MAX_MESSAGES
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.programmatic import RegisterToolOptions
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import ROOT, World, agent, world

FREE = {"type": "object", "additionalProperties": True}
HEAD = (
    "---\nname: {name}\ndescription: x\nallowed-tools: archive picker look sub\n"
    "metadata:\n  model: {model}\n---\nHelp.\n"
)


@asynccontextmanager
async def opened(
    tmp_path: Path, answers: list[Any], model: str, *, sub: str = "{}", **options: Any
) -> AsyncIterator[tuple[World, ScriptedModel]]:
    """A chat whose agent's prompt says ``model``; ``sub`` is a skill in words that it may call."""
    folder, played = tmp_path / "mine", ScriptedModel(answers)
    folder.mkdir()
    for name, said in (("helper", model), ("sub", sub)):
        (folder / f"{name}.skill.md").write_text(HEAD.format(name=name, model=said))
    roots = (SearchRoot(str(folder), "mine"), SearchRoot(str(ROOT / "skills"), "library"))
    options = {"roots": roots, "agents": agent(prompt="helper"), **options}
    async with world(tmp_path, played, FakeTool("look"), **options) as w:
        yield w, played


def register(w: World, name: str, fn: Any) -> None:
    w.skills.fabric.register_tool(RegisterToolOptions(name, fn, name, params=FREE, category="read"))


def heard(model: ScriptedModel, number: int) -> list[str]:
    return [message.text for message in model.requests[number].messages]


@pytest.mark.spec("R-CTX-4")
async def test_without_a_history_each_message_is_all_that_the_agent_reads(tmp_path: Path) -> None:
    answers = [says("one"), calls("look", {"path": "a"}), says("two")]
    async with opened(tmp_path, answers, "{history: none}") as (w, model):
        thread = await w.thread()
        await w.ask(thread, "first")
        await w.ask(thread, "second")
        assert heard(model, 0) == ["first"]
        assert heard(model, 1) == ["second"]
        assert heard(model, 2)[0] == "second", "what it does itself it reads, too"
        assert len(heard(model, 2)) == 3


@pytest.mark.spec("R-CTX-4", "R-CTX-2")
async def test_a_skill_can_give_what_was_said_before_in_the_place_of_the_thread(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    async def archive(ctx: Any, args: Any) -> Any:
        asked.append(dict(args))
        return [{"role": "user", "text": "long ago"}, {"role": "assistant", "text": "I remember"}]

    async with opened(tmp_path, [says("one"), says("two")], "{history: archive}") as (w, model):
        register(w, "archive", archive)
        thread = await w.thread()
        await w.ask(thread, "first")
        await w.ask(thread, "second")
        assert heard(model, 1) == ["long ago", "I remember", "second"]
        assert asked[1] == {"agent": "assistant", "thread": thread, "message": "second"}


@pytest.mark.spec("R-CTX-4", "R-CTX-7")
@pytest.mark.parametrize("gives", ["no list", 7, None, "raises", "not there"])
async def test_a_history_that_is_none_ends_the_run_before_a_model_is_asked(tmp_path: Path, gives: Any) -> None:
    async def archive(ctx: Any, args: Any) -> Any:
        if gives == "raises":
            raise ValueError("the archive burnt down")
        return gives

    async with opened(tmp_path, [says("never")], "{history: archive}") as (w, model):
        if gives != "not there":
            register(w, "archive", archive)
        await w.ask(await w.thread(), "first")
        assert [end.reason for end in w.ends()] == ["error"]
        assert model.requests == []


@pytest.mark.spec("R-CTX-4", "R-AG-10")
@pytest.mark.parametrize("gives", ["no list", [{"role": "user", "text": "x"}] * (MAX_MESSAGES + 1)])
async def test_a_called_skill_whose_history_is_none_or_without_end_is_not_worked_on(tmp_path: Path, gives: Any) -> None:
    async def archive(ctx: Any, args: Any) -> Any:
        return gives

    answers = [calls("sub", {}), says("done")]
    async with opened(tmp_path, answers, "{}", sub="{history: archive}") as (w, model):
        register(w, "archive", archive)
        await w.ask(await w.thread(), "first")
        assert len(model.requests) == 2
        (result,) = model.requests[1].messages[-1].blocks
        assert "The history archive has to give at most 10,000 messages as a list." in result.text


@pytest.mark.spec("R-CTX-4", "R-CTX-7")
@pytest.mark.parametrize(
    "block",
    [
        {"kind": "text", "text": 7},
        {"kind": "text", "text": {"a": 1}},
        {"kind": "text"},
        {"kind": "tool_call", "call_id": 5, "tool": None, "arguments": "x"},
        {"kind": "tool_call", "call_id": "c", "tool": "look", "arguments": "x"},
        {"kind": "tool_result", "call_id": "c", "tool": "look", "text": "x", "is_error": "x"},
        {"kind": "tool_result", "call_id": "c", "tool": "look", "text": "x", "facts": 7},
        {"kind": "image", "media_type": 5, "data": "x"},
        {"kind": "image", "path": "/etc/passwd"},
        {"kind": ["text"]},
        {},
    ],
)
async def test_a_block_of_a_history_that_is_none_is_left_out_and_the_others_are_read(
    tmp_path: Path, block: Any
) -> None:
    async def archive(ctx: Any, args: Any) -> Any:
        good = {"kind": "text", "text": "long ago"}
        return [{"role": "user", "blocks": [block, good]}, {"role": "assistant", "blocks": [block]}]

    async with opened(tmp_path, [says("one")], "{history: archive}") as (w, model):
        register(w, "archive", archive)
        await w.ask(await w.thread(), "first")
        assert heard(model, 0) == ["long ago", "first"]


@pytest.mark.spec("R-CTX-4", "R-AG-10")
async def test_a_called_skill_may_have_a_history_too(tmp_path: Path) -> None:
    async def archive(ctx: Any, args: Any) -> Any:
        return [{"role": "user", "text": "long ago"}, {"role": "assistant", "text": "I remember"}]

    answers = [calls("sub", {}), says("from below"), says("done")]
    async with opened(tmp_path, answers, "{}", sub="{history: archive}") as (w, model):
        register(w, "archive", archive)
        await w.ask(await w.thread(), "first")
        assert heard(model, 1) == ["long ago", "I remember", "Execute the task."]


@pytest.mark.spec("R-CTX-2", "R-CTX-5")
@pytest.mark.parametrize("where", ["chat", "called skill"])
async def test_a_skill_chooses_what_stays_where_not_all_fits(tmp_path: Path, where: str) -> None:
    asked: list[Any] = []

    async def picker(ctx: Any, args: Any) -> Any:
        asked.append(args["messages"])
        return [one["index"] for one in args["messages"] if "gold" in one["text"]]

    long = "word " * 1_000
    said = [f"gold {long}" if number == 1 else f"sand {number} {long}" for number in range(6)]

    async def archive(ctx: Any, args: Any) -> Any:
        return [{"role": "user" if at % 2 == 0 else "assistant", "text": text} for at, text in enumerate(said)]

    model = "{history: archive, compaction: [shrink-results, picker]}"
    answers = [says("done")] if where == "chat" else [calls("sub", {}), says("from below"), says("done")]
    given = (model, "{}") if where == "chat" else ("{}", model)
    window = 6_000 if where == "chat" else 7_000
    async with opened(tmp_path, answers, given[0], sub=given[1], context_window=lambda _ref: window) as (w, played):
        register(w, "archive", archive)
        register(w, "picker", picker)
        await w.ask(await w.thread(), "what shines?")
        texts = heard(played, 0 if where == "chat" else 1)
        assert [text[:4] for text in texts] == ["gold", "what" if where == "chat" else "Exec"]
        assert [row["role"] for row in asked[0]][:2] == ["user", "assistant"]
        assert all(row["tokens"] > 1_000 for row in asked[0][:6])


@pytest.mark.spec("R-CTX-7")
@pytest.mark.expects_log("picker could not condense")
@pytest.mark.parametrize("gives", [[99], "all", [True]])
async def test_a_strategy_that_gives_nonsense_leaves_it_to_the_window(tmp_path: Path, gives: Any) -> None:
    async def picker(ctx: Any, args: Any) -> Any:
        return gives

    async def archive(ctx: Any, args: Any) -> Any:
        return [{"role": "user", "text": f"{at} " + "word " * 1_000} for at in range(6)]

    model = "{history: archive, compaction: picker}"
    async with opened(tmp_path, [says("done")], model, context_window=lambda _ref: 6_000) as (w, played):
        register(w, "archive", archive)
        register(w, "picker", picker)
        await w.ask(await w.thread(), "hello")
        texts = heard(played, 0)
        assert texts[-1] == "hello"
        assert 1 < len(texts) < 7, "the oldest were left out"


@pytest.mark.spec("R-LIM-7", "R-CTX-2")
@pytest.mark.parametrize("model", ["{history: 7}", "{compaction: {a: b}}", "{compaction: [1]}"])
async def test_what_names_no_skill_is_an_error_before_the_first_round(tmp_path: Path, model: str) -> None:
    async with opened(tmp_path, [says("never")], model) as (w, played):
        await w.ask(await w.thread(), "hello")
        (end,) = w.ends()
        assert (end.reason, "model." in end.detail, played.requests) == ("error", True, [])
