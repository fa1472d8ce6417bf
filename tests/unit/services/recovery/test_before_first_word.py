"""A run that ends with the process before its model has said anything: middleware around its turn may have written."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.models.scripted import calls, fails, says
from desktop.recovery.resume import conclude_settled
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.script import Hang, Script
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.debates.kit import DebateWorld, setup, until
from tests.unit.services.kit import World
from tests.unit.services.turns.test_own_provider import said
from tests.unit.services.turns.test_prompt_middleware import HEAD, CutOff, endless, watched

DIARY = {"path": "diary"}


class Killed(CutOff):
    """Lives that end as kill -9 ends them: the next one has the files as they were at that moment."""

    under_way = False
    """The end comes in the middle of a write."""

    async def kill(self, w: World, begun: asyncio.Event, start: str = "continue") -> None:
        """Start, go on or try again, and take the files once the work has begun."""
        await (w.service.send(self.thread, "go") if start == "first" else getattr(w.service, HOW[start])(self.thread))
        await self.taken(w, begun)

    async def taken(self, w: World, begun: asyncio.Event) -> None:
        async with asyncio.timeout(WAIT_S):
            await begun.wait()
            while not await self._written_down(w):
                await asyncio.sleep(0.002)
        left = self.path.with_name(self.path.name + "+")  # the index of the log is made anew, as after a kill
        self.path = Path(shutil.copytree(self.path, left, ignore=shutil.ignore_patterns("*-shm")))

    async def _written_down(self, w: World) -> bool:
        """What came of a write is on the disk at the latest before the next effect begins."""
        (run, *_) = await w.store.runs.of_thread(thread_id=self.thread)
        phases = [line.phase for line in await w.store.effects.load(run.run_id) if line.name == "other"]
        return self.under_way or phases.count("begun") == phases.count("completed")

    async def gone_on(self, w: World, how: str = "continue") -> list[str]:
        await getattr(w.service, HOW[how])(self.thread)
        return said(await w.settled(self.thread))


HOW = {"continue": "continue_answer", "retry": "retry"}


def stuck(begun: asyncio.Event, *paths: str) -> Any:
    """A layer that writes and then never comes to the turn."""

    async def layer(ctx: Any) -> None:
        for path in paths:
            await ctx.manager.invoke("other", {"path": path})
        begun.set()
        await asyncio.Event().wait()

    return layer


@pytest.mark.parametrize("how", ["continue", "retry"])
@pytest.mark.spec("D-10", "R-JRN-2")
async def test_what_a_layer_wrote_before_the_model_spoke_is_not_written_again(tmp_path: Path, how: str) -> None:
    cut, begun = Killed(tmp_path / "life"), asyncio.Event()
    cut.path.mkdir()
    async with cut.life(layer=stuck(begun, "diary")) as w:
        await cut.kill(w, begun, "first")
    async with cut.life(says("Done.")) as w:
        assert len(await conclude_settled(w.store)) == 1, "there is something to go on with"
        assert await cut.gone_on(w, how) == ["user: go", "assistant: Done."]
    assert cut.written == [DIARY]
    async with cut.life(says("Again.")) as w:
        assert await conclude_settled(w.store) == []
        await w.ask(cut.thread, "once more")
    assert cut.written == [DIARY, DIARY], "the layers of another turn write for themselves"


@pytest.mark.spec("D-10", "R-JRN-2")
async def test_a_write_of_a_layer_that_may_have_been_done_before_the_model_spoke_is_asked_about(tmp_path: Path) -> None:
    cut, (begun, hangs) = Killed(tmp_path / "life"), endless()
    cut.path.mkdir()
    cut.under_way = True
    async with cut.life(write=hangs) as w:
        await cut.kill(w, begun, "first")
    cut.person.asked.clear()
    async with cut.life(says("Done.")) as w:
        assert await cut.gone_on(w) == ["user: go", "assistant: Done."]
    assert [(one.tool, bool(one.unknown)) for one in cut.person.asked] == [("other", True)]


@pytest.mark.spec("D-10", "R-JRN-2")
async def test_it_stays_known_over_more_ends_of_the_process_and_failures_and_once_the_model_speaks(
    tmp_path: Path,
) -> None:
    cut = Killed(tmp_path / "life")
    cut.path.mkdir()
    for start, paths in [("first", ("diary",)), ("continue", ("diary", "second"))]:
        begun = asyncio.Event()
        async with cut.life(layer=stuck(begun, *paths)) as w:
            await cut.kill(w, begun, start)
    assert cut.written == [DIARY, {"path": "second"}]

    async def both(ctx: Any) -> Any:
        await ctx.manager.invoke("other", {"path": "diary"})
        await ctx.manager.invoke("other", {"path": "second"})
        return await ctx.manager.next()

    async with cut.life(fails("model.unreachable", "down"), layer=both) as w:
        await cut.gone_on(w)
        assert w.ends()[-1].code == "model.unreachable"
    begun, hangs = endless()
    async with cut.life(calls("slow", {"path": "a"}), look=hangs, layer=both) as w:
        await cut.kill(w, begun, "retry")
    async with cut.life(says("Done."), layer=both) as w:
        assert (await cut.gone_on(w))[-1] == "assistant: Done."
    assert cut.written == [DIARY, {"path": "second"}]


@pytest.mark.spec("D-10", "R-JRN-2")
async def test_another_answer_to_the_same_message_has_layers_that_write_for_themselves(tmp_path: Path) -> None:
    cut, begun = Killed(tmp_path / "life"), asyncio.Event()
    cut.path.mkdir()
    async with cut.life(layer=stuck(begun, "diary")) as w:
        await cut.kill(w, begun, "first")
    begun = asyncio.Event()
    async with cut.life(layer=stuck(begun, "diary")) as w:
        question = (await w.service.thread(cut.thread)).active_leaf
        await w.service.regenerate(question or "")
        await cut.taken(w, begun)
        assert cut.written == [DIARY, DIARY]
    async with cut.life(says("Done.")) as w:
        await cut.gone_on(w)
    assert cut.written == [DIARY, DIARY], "the latest of the answers is gone on with"


@pytest.mark.spec("R-JRN-2", "S-JRN-2")
async def test_a_chat_that_ends_with_an_unanswered_question_says_so_until_it_is_answered(tmp_path: Path) -> None:
    cut, begun = Killed(tmp_path / "life"), asyncio.Event()
    cut.path.mkdir()
    async with cut.life(layer=stuck(begun)) as w:
        await cut.kill(w, begun, "first")
        assert not (await w.service.thread_end(cut.thread)).unanswered, "it is at work"
    async with cut.life(says("Done.")) as w:
        assert (await w.service.thread_end(cut.thread)).unanswered
        await cut.gone_on(w)
        assert not (await w.service.thread_end(cut.thread)).unanswered


@pytest.mark.parametrize("spoke", [False, True])
@pytest.mark.spec("D-10", "R-JRN-2")
async def test_what_a_layer_around_a_debates_turn_wrote_is_not_written_again(tmp_path: Path, spoke: bool) -> None:
    written: list[str] = []
    path, began = tmp_path / "life", asyncio.Event()
    path.mkdir()

    async def writes(args: Any, _context: Any) -> str:
        written.append(args["path"])
        return "written"

    async def first(ctx: Any) -> Any:
        await ctx.manager.invoke("other", {"path": "diary"})
        if spoke:
            return await ctx.manager.next()
        began.set()
        return await asyncio.Event().wait()

    async def again(ctx: Any) -> Any:
        await ctx.manager.invoke("other", {"path": "diary"})
        return await ctx.manager.next()

    thread, other = "", FakeTool("other", Category.WRITE, body=writes)
    words = [*speaks("half an answer")[:-1], Hang()]
    for number, layer in enumerate((first, again, again)):
        answers = {0: Script(words), 1: Script(words)}.get(number, Script(speaks("a1"), speaks("b1")))
        made = DebateWorld(path, answers, (other,), {"person": Person(*["allow_once"] * 9)}, "other")
        keys = HEAD.format(tools="other", keys="  watch: true", body="x").replace("helper", "pro")
        (made.prompts / "pro.skill.md").write_text(keys)
        await made.store.open()
        watched(made, layer)
        thread = thread or await made.debates.create(setup(max_turns=2))
        if number == 1:
            assert len(await conclude_settled(made.store)) == 1, "there is something to go on with"
        await made.debates.start(thread)
        if number < 2:
            await _until_it_hangs(made, thread, number, began, spoke)
            path = Path(shutil.copytree(path, f"{path}+", ignore=shutil.ignore_patterns("*-shm")))
        else:
            state = await made.rest(thread)
            assert (state.end_reason, await made.outcomes(thread)) == ("max_session_turns", ["a1", "b1"])
        await made.debates.close()
        await made.service.close()
        await made.store.close()
    assert written == ["diary"]


async def _until_it_hangs(made: DebateWorld, thread: str, number: int, began: asyncio.Event, spoke: bool) -> None:
    """The layer has written and stands still, or the model has said something and does."""

    async def hangs() -> bool:
        left = await made.store.debates.left(thread_id=thread)
        return bool(left and left[-1].text) if spoke or number else began.is_set()

    async def on_disk() -> bool:
        runs = await made.store.runs.of_thread(thread_id=thread)
        lines = [line for run in runs for line in await made.store.effects.load(run.run_id) if line.name == "other"]
        return {"begun", "completed"} <= {line.phase for line in lines}

    await until(hangs)
    await until(on_disk)
