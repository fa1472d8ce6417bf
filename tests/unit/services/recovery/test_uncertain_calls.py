"""A write that may have been done is not made again unasked: by nobody in its conversation, whatever allows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.messages import ToolResultBlock
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.recovery.resume import conclude_settled
from desktop.recovery.uncertain_calls import in_logs
from desktop.recovery.words import JUST_LIKE_IT
from desktop.store.uncertain_calls import CallLine
from tests.unit.services.delegation.test_resuming import AGENTS, ASKS_HELPER, SKILLS, EffectRequest, Pen, begin, write
from tests.unit.services.delegation.test_tools import house

IN_OTHER_WORDS = calls("helper_agent", {"message": "Write it now."})


def line(run: str, key: str, phase: str, digest: str = "d", *, cut: bool = True) -> CallLine:
    return CallLine(run, key, digest, phase, "append a" if phase == "begun" else "", cut)


BEGUN = line("1", "m:c", "begun")


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize(
    ("after", "left"),
    [
        ([], True),
        ([line("1", "m:c", "cancelled")], True),
        ([line("1", "m:c", "failed")], False),
        ([line("2", "m:c", "failed", cut=False)], True),  # refused there, or left to be found out
        ([line("2", "m:c", "completed", "e", cut=False)], False),  # a person says that it was done
        ([line("2", "inside x m:c", "completed", cut=False)], True),  # settled: done, or not
        ([line("2", "n:c", "begun", cut=False), line("2", "n:c", "completed", cut=False)], False),
        ([line("1", "m:d", "begun"), line("1", "m:d", "completed")], True),  # its twin was made beside it
        ([line("2", "n:c", "begun", cut=False), line("2", "n:c", "cancelled", cut=False)], True),
    ],
)
def test_a_call_is_in_doubt_until_it_or_one_just_like_it_came_to_an_end_later(
    after: list[CallLine], *, left: bool
) -> None:
    assert in_logs([BEGUN, *after]) == ({"d"} if left else set())


@pytest.mark.spec("R-JRN-2", "R-PRM-4", "R-AAT-2")
@pytest.mark.parametrize("way", ["regenerate", "swept", "send"])
async def test_a_write_of_a_called_agent_is_asked_about_whoever_comes_to_make_it(tmp_path: Path, way: str) -> None:
    """By an agent that is called in other words, on another branch, also after that was concluded; by the chat."""
    first, model = Pen("h1", written=True), ScriptedModel([ASKS_HELPER, write("h1")])
    async with house(tmp_path, model, *AGENTS, tools=(first.tool,), skills=SKILLS) as h:
        thread = await begin(h, first)
    pen, person = Pen(), EffectRequest("deny")
    by_helper = [IN_OTHER_WORDS, write("h1"), says("helped"), says("done")]
    by_itself = [write("h1"), write("h1"), write("h2"), says("done")]
    model = ScriptedModel([*([says("fine")] if way == "swept" else []), *(by_itself if way == "send" else by_helper)])
    async with house(tmp_path, model, *AGENTS, tools=(pen.tool,), skills=SKILLS, person=person) as h:
        service = h.world.service
        path = await service.path(thread)
        if way == "send":
            await service.send(thread, "Go on.")
        elif way == "swept":
            await service.edit(path[0].message_id, "Hello.")
            await h.world.settled(thread)
            assert await conclude_settled(h.world.store) == []
            await service.edit(path[0].message_id, "Please, now.")
        else:
            await service.regenerate(path[-1].message_id)
        shown = await h.world.settled(thread)
        assert [one.unknown for one in person.unknown] == [JUST_LIKE_IT] * (2 if way == "send" else 1)
        assert (first.paper, pen.paper) == (["h1"], ["h2"] if way == "send" else [])
        assert any(isinstance(b, ToolResultBlock) for m in shown for b in m.blocks)
        assert shown[-1].text == "done"
