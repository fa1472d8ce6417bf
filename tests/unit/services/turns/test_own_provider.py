"""A provider that a person wrote works for the agent of a chat as it does for a called skill; so do the settings of an
agent's prompt."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.messages import TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.runs.events import RetryScheduled, TextArrived
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.skills.python_worker import PythonWorker
from desktop.safety.confinement.select import SystemConfinement
from desktop.skills.catalogue.roots import SearchRoot
from tests.harness.help_pages import samples
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.kit import ROOT, World, agent, world

HEAD = (
    "---\nname: helper\ndescription: x\nallowed-tools: look write-file agent-mine agent-careful\nmetadata:\n"
    "  model: {MODEL}\n---\nHelp.\n"
)
PROVIDER = """
frontmatter = {"name": "agent-mine", "description": "x", "metadata": {"category": "read", "visibility": "hidden",
    "params": {"type": "object", "additionalProperties": True}}}
async def run(ctx, args):
    async def tell(**event):
        return await ctx.manager.invoke(args["hookRef"], event) or {}
BODY
"""
LISTED = """
    calls = [{"tool": "look", "args": {"path": "a"}}, {"tool": "write-file", "args": {"path": "b"}}]
    await tell(type="turn-start", turnNumber=1)
    await tell(type="message", text="First I ", delta=True)
    await tell(type="message", text="look.", delta=True)
    seen = [await ctx.manager.invoke(args["invokeRef"], call) for call in calls]
    await tell(type="turn-end", result="First I look.", turnNumber=1, toolCalls=2)
    await tell(type="turn-start", turnNumber=2)
    await tell(type="message", text="It says " + seen[0]["text"])
    await tell(type="turn-end", result="First I look.\\n\\nIt says " + seen[0]["text"], turnNumber=2, toolCalls=0)
    return "It says " + seen[0]["text"]
"""
DEAF = """
    for number in range(1, 40):
        try:
            await tell(type="turn-start", turnNumber=number)
            await tell(type="message", text=f"round {number}")
            await ctx.manager.invoke(args["invokeRef"], {"tool": "look", "args": {"path": "a"}})
            await tell(type="turn-end", result=f"round {number}", turnNumber=number, toolCalls=1)
        except Exception:
            pass
    return "never heeded"
"""


def skills(folder: Path, body: str = "", model: str = "{agent: agent-mine}") -> tuple[SearchRoot, ...]:
    """A person's folder beside the library."""
    folder.mkdir(exist_ok=True)
    (folder / "helper.skill.md").write_text(HEAD.replace("{MODEL}", model))
    if body:
        (folder / "agent-mine.skill.py").write_text(PROVIDER.replace("BODY", body))
    return SearchRoot(str(folder), "mine"), SearchRoot(str(ROOT / "skills"), "library")


def tools() -> Sequence[FakeTool]:
    return (
        FakeTool("look", body=lambda *_: "forty-two"),
        FakeTool("write-file", Category.WRITE, body=lambda *_: "written"),
    )


@asynccontextmanager
async def opened(
    tmp_path: Path, confinement: SystemConfinement, model: ScriptedModel, roots: Sequence[SearchRoot], **options: Any
) -> AsyncIterator[World]:
    """A person's skills in Python run in confined processes, as in the app."""
    options = {"agents": agent(prompt="helper"), "person": Person("allow_once")} | options
    async with world(tmp_path, model, *tools(), roots=roots, **options) as w:
        workspace = str(confinement.profile().writable[0])

        def text(definition: Any) -> str:
            return Path(definition.path).read_text("utf-8")

        w.skills.runs.python = PythonWorker(confinement, lambda: workspace, text)
        yield w


def said(records: Sequence[Any]) -> list[str]:
    found = []
    for record in records:
        for block in record.blocks:
            if isinstance(block, TextBlock):
                found.append(f"{record.role}: {block.text}")
            elif isinstance(block, ToolCallBlock):
                found.append(f"calls {block.tool}")
            elif isinstance(block, ToolResultBlock):
                found.append(f"result {block.text}")
    return found


@pytest.mark.spec("R-AG-1", "R-AG-3", "R-AG-9", "R-PRV-2", "R-PRV-3")
async def test_a_provider_of_ones_own_answers_in_a_chat_and_its_calls_stand_in_the_thread(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    async with opened(tmp_path, confinement, ScriptedModel([]), skills(tmp_path / "mine", LISTED)) as w:
        records = await w.ask(await w.thread(), "What does it say?")
        assert said(records) == [
            "user: What does it say?",
            "assistant: First I look.",
            "calls look",
            "calls write-file",
            "result forty-two",
            "result written",
            "assistant: It says forty-two",
        ]
        assert len([record for record in records if record.role == "assistant"]) == 2, "one message a round"
        heard = [event.text for event in w.events if isinstance(event, TextArrived)]
        assert "".join(heard[:-1]) == "First I look."
        assert [end.reason for end in w.ends()] == ["response"]
        assert w.skills.fabric.globals.tools.handed == {}, "its refs are gone with it"


TALKS_ON = """
    await tell(type="turn-start", turnNumber=1)
    await tell(type="retry", attempt=2, delayMs=1500, error="The line is busy.")
    await tell(type="message", text="Before. ")
    await ctx.manager.invoke(args["invokeRef"], {"tool": "look", "args": {"path": "a"}})
    await tell(type="message", text="Before. After.")
    used = {"inputTokens": 30, "outputTokens": 4}
    await tell(type="turn-end", result="Before. After.", turnNumber=1, toolCalls=1, usage=used)
    return "Before. After."
"""


@pytest.mark.spec("R-PRV-2", "R-SUP-7")
async def test_retries_and_what_is_said_after_a_call_and_used_are_shown_and_stored(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    async with opened(tmp_path, confinement, ScriptedModel([]), skills(tmp_path / "mine", TALKS_ON)) as w:
        thread = await w.thread()
        records = await w.ask(thread, "go")
        assert said(records) == [
            "user: go",
            "assistant: Before. ",
            "calls look",
            "assistant: After.",
            "result forty-two",
        ]
        (retry,) = [event for event in w.events if isinstance(event, RetryScheduled)]
        assert (retry.attempt, retry.delay_s, retry.detail) == (2, 1.5, "The line is busy.")
        usage = (await w.service.thread(thread)).usage
        assert (usage.input_tokens, usage.output_tokens) == (30, 4)
        found = await w.store.search.messages(text="After")
        assert [hit.message_id for hit in found] == [records[1].message_id], "all of it can be found"


@pytest.mark.spec("R-AG-3", "R-PRV-3")
async def test_the_provider_of_the_help_page_answers_in_a_chat_and_knows_what_was_said_before(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    (source,) = samples("models-and-providers", "python")
    roots = skills(tmp_path / "mine", model="{agent: agent-careful}")
    (tmp_path / "mine" / "agent-careful.skill.py").write_text(source)
    model = ScriptedModel(
        [calls("look", {"path": "a"}), says("One."), says("One, I checked."), says("Two."), says("Two!")]
    )
    async with opened(tmp_path, confinement, model, roots) as w:
        thread = await w.thread()
        await w.ask(thread, "Count.")
        records = await w.ask(thread, "Go on.")
        assert said(records)[-5:] == [
            "assistant: One.",
            "assistant: One, I checked.",
            "user: Go on.",
            "assistant: Two.",
            "assistant: Two!",
        ]
        told = [message.text for message in model.requests[3].messages if message.role != "tool"]
        assert told == ["Count.", "", "One.", "One, I checked.", "Go on."]
        assert [end.reason for end in w.ends()] == ["response", "response"]


@pytest.mark.spec("R-AG-3")
async def test_a_skill_in_the_place_of_the_bundled_provider_answers_in_every_chat(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    roots = skills(tmp_path / "mine", model="{}")
    own = PROVIDER.replace("agent-mine", "agent-litellm").replace("BODY", '    return "It is me now."')
    (tmp_path / "mine" / "agent-litellm.skill.py").write_text(own)
    async with opened(tmp_path, confinement, ScriptedModel([]), roots) as w:
        assert said(await w.ask(await w.thread(), "Who?")) == ["user: Who?", "assistant: It is me now."]


@pytest.mark.spec("R-LIM-1", "R-LIM-5", "R-AG-1")
async def test_a_provider_that_does_not_heed_its_limit_gets_no_round_and_no_call_more(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    roots = skills(tmp_path / "mine", DEAF, "{agent: agent-mine, maxTurns: 3}")
    async with opened(tmp_path, confinement, ScriptedModel([]), roots) as w:
        records = await w.ask(await w.thread(), "go")
        assert [line for line in said(records) if line.startswith("assistant")] == [
            "assistant: round 1",
            "assistant: round 2",
            "assistant: round 3",
            "assistant: Stopped: maximum iteration limit reached.",
        ]
        assert said(records).count("result forty-two") == 3
        (end,) = w.ends()
        assert "maxTurns 3 (set by the skill helper)" in end.limit


@pytest.mark.spec("R-AG-1", "D-10")
async def test_the_rounds_that_a_prompt_sets_hold_in_a_chat(tmp_path: Path) -> None:
    model = ScriptedModel([calls("look", {"path": str(n)}) for n in range(9)])
    roots = skills(tmp_path / "mine", model="{maxTurns: 2}")
    async with world(tmp_path, model, *tools(), roots=roots, agents=agent(prompt="helper")) as w:
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert "maxTurns 2 (set by the skill helper)" in end.limit
        assert len(model.requests) == 2


@pytest.mark.spec("D-10", "C-17")
async def test_the_calls_that_a_prompt_sets_hold_in_a_chat(tmp_path: Path) -> None:
    model = ScriptedModel([calls("look", {"path": str(n)}) for n in range(9)])
    roots = skills(tmp_path / "mine", model="{maxSteps: 2}")
    async with world(tmp_path, model, *tools(), roots=roots, agents=agent(prompt="helper")) as w:
        records = await w.ask(await w.thread(), "go")
        assert said(records).count("result forty-two") == 2
        (end,) = w.ends()
        assert end.limit == "maxSteps 2 (set by the skill helper)"


@pytest.mark.spec("R-LIM-7", "R-AG-3")
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("{maxTurns: -1}", "model.maxTurns"),
        ("{agent: ../x}", "model.agent"),
        ("{agent: agent-absent}", "no agent provider named agent-absent"),
        ("{persistent: maybe}", "model.persistent"),
    ],
)
async def test_wrong_settings_of_a_prompt_are_said_before_any_model_is_asked(
    tmp_path: Path, model: str, words: str
) -> None:
    asked = ScriptedModel([says("never")])
    roots = skills(tmp_path / "mine", model=model)
    async with world(tmp_path, asked, *tools(), roots=roots, agents=agent(prompt="helper")) as w:
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert words in end.detail
        assert asked.requests == []


@pytest.mark.spec("R-AG-9", "R-AG-12", "R-PRV-10")
async def test_a_stop_ends_a_provider_that_waits_for_ever(tmp_path: Path, confinement: SystemConfinement) -> None:
    body = """
    await tell(type="turn-start", turnNumber=1)
    await tell(type="message", text="I think", delta=True)
    import asyncio
    await asyncio.sleep(600)
"""
    async with opened(tmp_path, confinement, ScriptedModel([]), skills(tmp_path / "mine", body)) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await w.until(TextArrived)
        await w.service.stop(thread)
        records = await w.settled(thread)
        assert [end.reason for end in w.ends()] == ["cancelled"]
        assert said(records)[:2] == ["user: go", "assistant: I think"]
        assert w.skills.fabric.globals.tools.handed == {}, "its refs are gone with it"


@pytest.mark.spec("R-PRV-3", "R-AG-5")
async def test_a_call_that_the_person_denies_is_told_to_the_provider_and_nothing_is_done(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    roots = skills(tmp_path / "mine", LISTED)
    async with opened(tmp_path, confinement, ScriptedModel([]), roots, person=Person("deny")) as w:
        records = await w.ask(await w.thread(), "go")
        assert said(records)[2:6] == [
            "calls look",
            "calls write-file",
            "result forty-two",
            "result Permission denied by user",
        ]


@pytest.mark.spec("R-MW-1", "R-LIM-1")
async def test_what_a_provider_of_ones_own_asks_counts_for_the_budget(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    (source,) = samples("models-and-providers", "python")
    roots = skills(tmp_path / "mine", model="{agent: agent-careful}")
    (tmp_path / "mine" / "agent-careful.skill.py").write_text(source)
    model = ScriptedModel([calls("look", {"path": str(n)}) for n in range(9)])
    budget = ExecutionBudget(max_rounds=2)
    async with opened(tmp_path, confinement, model, roots, budget=budget) as w:
        await w.ask(await w.thread(), "go")
        (end,) = w.ends()
        assert len(model.requests) == 2
        assert end.reason in ("global_limit", "budget")
