"""Titles from the model: when it is asked, what becomes of what it says, and what stays when it fails."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from desktop.domain.models import ModelRequest
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import RunEnded, RunStarted, ThreadChanged
from desktop.domain.runs.supervision import Priority
from desktop.models.scripted import ScriptedModel, fails, says
from desktop.services.chats.model_titles import SYSTEM, clean_title
from desktop.supervision.model_queue import ModelQueue
from tests.harness.timeouts import HELD_S, WAIT_S
from tests.unit.agents.script import Hang, Script
from tests.unit.agents.script import says as speaks
from tests.unit.services.debates.kit import debate_world, setup
from tests.unit.services.kit import World, world

ON = {"titles": lambda: True}


def of_titles(model: Script) -> list[ModelRequest]:
    return [request for request in model.requests if request.system == SYSTEM]


async def quiet(w: World) -> None:
    async with asyncio.timeout(WAIT_S):
        while w.owner.alive:
            await asyncio.sleep(0.002)


async def entitled(w: World, thread: str, text: str) -> str:
    """Send, and wait until the title has been asked for, too."""
    await w.service.send(thread, text)
    await w.settled(thread)
    await quiet(w)
    return (await w.service.thread(thread)).title


async def test_the_first_answer_gets_a_title_from_the_model_which_counts_for_the_thread(tmp_path: Path) -> None:
    model = Script(speaks("Ninety metres."), speaks('**Title: "Height of the tower."**'))
    async with world(tmp_path, model, **ON) as w:
        thread = await w.thread()
        before = [event for event in w.events if isinstance(event, ThreadChanged)]
        assert await entitled(w, thread, "please how tall is that old tower over there") == "Height of the tower"
        (asked,) = of_titles(model)
        assert "how tall is that old tower" in asked.messages[0].text
        assert "Ninety metres." in asked.messages[0].text
        assert asked.tools == ()
        assert len([e for e in w.events if isinstance(e, ThreadChanged) and e.what == "title"]) > len(before)
        record = await w.service.thread(thread)
        answer = (await w.service.path(thread))[-1]
        assert record.usage.input_tokens > answer.usage.input_tokens, "what the title used is counted"


async def test_it_is_asked_once_and_not_again_after_the_second_answer(tmp_path: Path) -> None:
    model = Script(speaks("One."), speaks("First things"), speaks("Two."))
    async with world(tmp_path, model, **ON) as w:
        thread = await w.thread()
        await entitled(w, thread, "one")
        assert await entitled(w, thread, "two") == "First things"
        assert len(of_titles(model)) == 1


@pytest.mark.parametrize("model_ref", ["demo/demo", "scripted/scripted"])
async def test_neither_the_demo_nor_a_script_is_asked(model_ref: str, tmp_path: Path) -> None:
    model = Script(speaks("One."))
    async with world(tmp_path, model, **ON) as w:
        thread = await w.thread(model_ref)
        assert await entitled(w, thread, "look at this") == "Look at this"
        assert of_titles(model) == []


async def test_off_nothing_is_asked(tmp_path: Path) -> None:
    model = Script(speaks("One."))
    async with world(tmp_path, model) as w:
        assert await entitled(w, await w.thread(), "look at this") == "Look at this"
        assert of_titles(model) == []


async def test_what_a_person_called_it_stays_also_when_they_do_so_meanwhile(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("One."), says("The model's")]), **ON) as w:
        thread = await w.thread()
        await w.service.rename(thread, "Mine")
        assert await entitled(w, thread, "look at this") == "Mine"
    go_on = asyncio.Event()
    slow = Script(speaks("One."), [go_on, *speaks("The model's")])
    async with world(tmp_path / "second", slow, **ON) as w:
        thread = await w.thread()
        await w.service.send(thread, "look at this")
        await w.settled(thread)
        await asked_for(w, slow)
        await w.service.rename(thread, "Mine")
        go_on.set()
        await quiet(w)
        assert (await w.service.thread(thread)).title == "Mine"


async def asked_for(w: World, model: Script) -> None:
    async with asyncio.timeout(WAIT_S):
        while not of_titles(model):
            await asyncio.sleep(0.002)


async def test_it_gives_way_to_a_debate_too_and_is_asked_again_after_it(tmp_path: Path) -> None:
    turns = [speaks(text) for text in ("a1", "b1", "a2", "b2")]
    model = Script(speaks("One."), [Hang()], *turns, speaks("The model's"))
    async with debate_world(tmp_path, model, **ON) as w:
        thread = await w.thread()
        await w.ask(thread, "look at this")
        await asked_for(w, model)
        await w.run(setup())
        assert model.cancelled == 1
        await quiet(w)
        assert (await w.service.thread(thread)).title == "The model's"


async def test_closing_the_app_ends_the_asking(tmp_path: Path) -> None:
    model = Script(speaks("One."), [Hang()])
    async with world(tmp_path, model, **ON) as w:
        thread = await w.thread()
        await w.ask(thread, "look at this")
        await asked_for(w, model)
        assert await w.service.close() == []
        assert model.cancelled == 1
        assert (await w.service.thread(thread)).title == "Look at this"


async def test_what_is_owed_is_not_asked_for_by_the_end_of_a_run_once_it_is_off_or_closed(tmp_path: Path) -> None:
    model, on = Script(speaks("One."), [Hang()]), [True]
    where = {"thread_id": "another", "run_id": "another"}
    begins = RunStarted(**where, agent="", model="", user_message_id="")
    async with world(tmp_path, model, titles=lambda: on[0]) as w:
        await w.ask(await w.thread(), "look at this")
        await asked_for(w, model)
        w.bus.publish(begins)
        await quiet(w)
        on[0] = False
        w.bus.publish(RunEnded(**where, reason="response"))
        assert w.owner.alive == 0
    model = Script(speaks("One."), [Hang()])
    async with world(tmp_path / "second", model, **ON) as w:
        await w.ask(await w.thread(), "look at this")
        await asked_for(w, model)
        w.bus.publish(begins)
        await w.service.close()
        w.bus.publish(RunEnded(**where, reason="response"))
        assert w.owner.alive == 0


class Noting(ModelQueue):
    """The queue, which remembers what each request counted for."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[Priority] = []

    async def acquire(self, priority: Priority, token: CancellationToken) -> None:
        self.weights.append(priority)
        await super().acquire(priority, token)


@pytest.mark.spec("R-SUP-14")
async def test_under_supervision_it_waits_as_the_lightest_also_while_its_thread_is_looked_at(tmp_path: Path) -> None:
    model = Script(speaks("One."), speaks("A title"))
    queue = Noting()
    async with world(tmp_path, model, supervised=True, queue=queue, **ON) as w:
        thread = await w.thread()
        w.live.attention.move(thread)
        assert await entitled(w, thread, "look at this") == "A title"
        assert queue.weights == [Priority.HIGH, Priority.LOW]


@pytest.mark.parametrize("said", [fails("model.failed"), says(""), says("***"), says("x" * 5_000)])
async def test_a_failure_is_silent_and_the_first_words_stay(said: object, tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("One."), said]), **ON) as w:  # type: ignore[list-item]
        thread = await w.thread()
        assert await entitled(w, thread, "look at this") == "Look at this"
        assert [end.reason for end in w.ends()] == ["response"]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Height of the tower", "Height of the tower"),
        ("## Height of the `tower`\nand more", "Height of the tower"),
        ('"Height of the tower."', "Height of the tower"),
        ("Titel: „Höhe des Turms“", "Höhe des Turms"),
        ("- [Tower](https://x.example) height", "Tower height"),
        ("<b>Tower</b>", "Tower"),
        ('[<img src="file:///tmp/x">](y) Tower', "Tower"),
        ("<<b>img src=x> Tower", "img src=x> Tower"),
        ("[[a](b)](c) `[<i>](x)` Tower", "a Tower"),
        ("[" * 20 + "a" + "](x)" * 20, ""),
        ("Tow\u202eer\u200b \u00adheight\x07", "Tower height"),
        ("a\u00a0b\u3000c", "a b c"),
        ("\n\n  塔の高さ。\n", "塔の高さ"),
        ("", ""),
        ("***", ""),
        ("\u200b\u200b", ""),
        ("word " * 40, "word word word word word word word word word word word word…"),
        ("x" * 300, "x" * 59 + "…"),
    ],
)
def test_a_title_is_one_line_of_plain_words(said: str, title: str) -> None:
    assert clean_title(said) == title


@pytest.mark.parametrize("said", ["[" * 50_000, "[a](" * 20_000, "<" * 50_000, "\n".join(["[](" * 20_000] * 9)])
def test_a_hostile_line_is_not_read_for_long(said: str) -> None:
    begun = time.thread_time()
    clean_title(said)
    assert time.thread_time() - begun < HELD_S
