"""A Python skill that took over its process forges frames: no call passes ungated, and the app goes on (R-SK-14)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.pipeline.context import CallResult
from tests.harness.timeouts import WAIT_S
from tests.unit.pipeline import forged_frames
from tests.unit.pipeline.kit import Person
from tests.unit.pipeline.test_python_worker import Place
from tests.unit.safety.world import World

SOURCE = Path(forged_frames.__file__).read_text("utf-8")
OFTEN = 3
"""Of each group so many every time, spread over it; all of them in the soak."""
MENDED = {"zeros without end", "half a character", "a value that is no number", "a failure of a megabyte"}
"""Always: these got further once than they may."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(World(tmp_path), ("landlock", "bubblewrap"))  # the one that starts sooner; the frames are the same
    yield made
    made.close()


async def forged(place: Place, mode: str, *answers: str) -> tuple[CallResult, Person]:
    """What a call came to whose process forged this, and who was asked."""
    person = Person(*(answers or ("deny",) * 3))
    outcome = await asyncio.wait_for(place.run(SOURCE, {"mode": mode}, person=person), WAIT_S)
    return outcome, person


def some(group: dict[str, object]) -> list[object]:
    every = max(1, len(group) // OFTEN)
    chosen = {mode for at, mode in enumerate(group) if at % every == 0} | MENDED
    return [pytest.param(mode, marks=[] if mode in chosen else [pytest.mark.soak]) for mode in group]


@pytest.mark.spec("R-SK-14", "R-INV-2")
@pytest.mark.parametrize("mode", [*some(forged_frames.FRAMES)])
async def test_a_frame_that_the_protocol_does_not_know_ends_the_process(place: Place, mode: str) -> None:
    outcome, person = await forged(place, mode)
    assert outcome.result.code in ("skill.died", "denied.limit"), outcome.result.text
    assert not person.asked
    assert not place.tools[1].calls


@pytest.mark.spec("R-SK-14", "R-INV-2", "R-INV-3")
@pytest.mark.parametrize("mode", some(forged_frames.ITEMS))
async def test_what_is_no_call_or_is_nobodys_to_make_is_not_made(place: Place, mode: str) -> None:
    outcome, person = await forged(place, mode)
    refused = mode in forged_frames.REFUSED
    assert outcome.result.text == "refused" if refused else outcome.result.is_error, outcome.result.text
    assert not person.asked
    assert not place.tools[1].calls


@pytest.mark.spec("R-SK-14", "R-PRM-1", "R-PRM-3")
@pytest.mark.parametrize("mode", some(forged_frames.CLAIMS))
async def test_a_call_that_says_it_was_allowed_is_asked_about_like_any_other(place: Place, mode: str) -> None:
    outcome, person = await forged(place, mode)
    asked = {"in the arguments": 0, "again under the same number": 2}.get(mode, 1)
    assert len(person.asked) == asked, outcome.result.text
    assert all((one.tool, one.category.value) == ("write-file", "write") for one in person.asked)
    assert not place.tools[1].calls


@pytest.mark.spec("R-SK-14")
@pytest.mark.parametrize("mode", some(forged_frames.ENDS))
async def test_whatever_comes_as_its_end_is_a_result_that_can_be_kept_or_an_error(place: Place, mode: str) -> None:
    outcome, person = await forged(place, mode)
    result = outcome.result
    assert result.text.encode("utf-8"), "what no file and no database can hold is not passed on"
    assert len(result.text) < 5_000
    assert "NaN" not in result.text
    assert "Infinity" not in result.text
    assert len(person.asked) == (mode == "a call with half a character")
    assert not place.tools[1].calls


@pytest.mark.spec("R-SK-14")
async def test_after_all_of_that_an_honest_skill_works_as_before(place: Place) -> None:
    for mode in ("more than the window", "an approval", "half a character"):
        await forged(place, mode)
    outcome = await place.run("async def run(ctx, args):\n    return await ctx.manager.invoke('look', {'path': 'a'})\n")
    assert outcome.result.text == "did look"


def test_there_are_enough_of_them() -> None:
    groups = (forged_frames.FRAMES, forged_frames.ITEMS, forged_frames.CLAIMS, forged_frames.ENDS)
    assert len(forged_frames.MODES) == sum(len(group) for group in groups) >= 95
