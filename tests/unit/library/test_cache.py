"""The ``cache`` middleware: which calls may share a result, and which may not (S-INV-1)."""

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import ToolFailure
from desktop.models.scripted import ScriptedModel, says
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool

CACHED = {"cache": 60}


def counter(answers: list[str]) -> Any:
    async def run(ctx: Any, args: Any) -> str:
        answers.append("x")
        return f"answer {len(answers)}"

    return run


@pytest.fixture
def bench(tmp_path: Path) -> LibraryBench:
    return LibraryBench(tmp_path, FakeTool("look"))


async def test_two_skills_that_code_registered_do_not_share_results(bench: LibraryBench) -> None:
    async def other(ctx: Any, args: Any) -> str:
        return "other"

    bench.register("one", counter([]), metadata=CACHED)
    bench.register("two", other, metadata=CACHED)
    assert [(await bench.call(name)).result.text for name in ("one", "two", "one")] == ["answer 1", "other", "answer 1"]


@pytest.mark.spec("R-SK-13")
async def test_another_skill_under_the_same_name_answers_for_itself(bench: LibraryBench) -> None:
    async def other(ctx: Any, args: Any) -> str:
        return "other"

    bench.register("one", counter([]), metadata=CACHED)
    await bench.call("one")
    bench.register("one", other, metadata=CACHED)
    assert (await bench.call("one")).result.text == "other"


@pytest.mark.spec("R-AG-5")
async def test_a_caller_with_a_narrower_list_does_not_get_what_a_wider_one_made(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path, FakeTool("look"), model=ScriptedModel([says("wide"), says("narrow"), says("no")]))
    head = "---\nname: tell\ndescription: tells\nmetadata:\n  category: read\n  cache: 60\n---\n"
    bench.write("tell.skill.md", head + "Tell.\n")
    texts = [
        (await bench.call("tell", allowed=allowed)).result.text
        for allowed in ("tell look", "tell", "tell look", "tell")
    ]
    assert texts == ["wide", "narrow", "wide", "narrow"]


@pytest.mark.spec("R-INV-14")
async def test_another_delegate_or_a_change_of_the_skill_it_names_is_another_result(bench: LibraryBench) -> None:
    def says_it(text: str) -> Any:
        async def run(ctx: Any, args: Any) -> str:
            return text

        return run

    bench.register("first", says_it("first"))
    bench.register("second", says_it("second"))
    bench.register("mine", None, metadata={**CACHED, "delegate": "first"})
    assert (await bench.call("mine")).result.text == "first"
    bench.register("mine", None, metadata={**CACHED, "delegate": "second"})
    assert (await bench.call("mine")).result.text == "second"
    bench.register("second", says_it("changed"))
    assert (await bench.call("mine")).result.text == "changed"


@pytest.mark.spec("R-SK-12")
async def test_a_text_that_came_out_different_is_worked_on_anew(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path, model=ScriptedModel([says("old"), says("new")]))
    (bench.mine / "note").mkdir()
    head = "---\nname: note\ndescription: tells\nmetadata:\n  category: read\n  role:\n  cache: 60\n---\n"
    (bench.mine / "note" / "tone.md").write_text("Be kind.")
    bench.write("note/SKILL.md", head + ":inline[tone.md]\n")
    assert [(await bench.call("note")).result.text for _ in range(2)] == ["old", "old"]
    (bench.mine / "note" / "tone.md").write_text("Be brief.")
    assert (await bench.call("note")).result.text == "new"


async def test_one_skill_with_room_for_one_result_pushes_out_no_other_skills(bench: LibraryBench) -> None:
    bench.register("many", counter([]), metadata=CACHED)
    bench.register("few", counter([]), metadata={"cache": {"maxEntries": 1}})
    calls = [("many", 1), ("few", 1), ("few", 2), ("many", 1), ("few", 1)]
    texts = [(await bench.call(name, {"n": n})).result.text for name, n in calls]
    assert texts == ["answer 1", "answer 1", "answer 2", "answer 1", "answer 3"]


async def test_whoever_changes_a_result_changes_their_own(bench: LibraryBench) -> None:
    async def look_up(ctx: Any, args: Any) -> Any:
        return {"rows": [1]}

    async def spoils(ctx: Any, args: Any) -> Any:
        found = await ctx.manager.invoke("look-up")
        found["rows"].append(2)
        return found

    bench.register("look-up", look_up, metadata=CACHED)
    bench.register("spoils", spoils)
    for _ in range(3):
        assert (await bench.call("spoils")).result.structured == {"rows": [1, 2]}


@pytest.mark.spec("R-LIM-7")
@pytest.mark.parametrize(
    ("key", "asked"),
    [
        *(("cache", one) for one in ("soon", -1, float("nan"), float("inf"), [], {"ttl": "x"}, {"maxEntries": 0})),
        *(("cache", {"maxEntries": one}) for one in (-1, 1.5, "many", float("nan"), 10**400)),
        *(("retry", one) for one in ("often", 0, -1, float("nan"), 1.5, [], {"attempts": "x"}, {"delay": -1})),
        *(("retry", {"factor": one}) for one in ("x", -2, float("nan"))),
        *(("timeout", one) for one in (True, "soon", 0, -1, float("nan"), float("inf"), {}, [])),
    ],
)
async def test_a_key_that_makes_no_sense_is_an_error_in_words_before_anything_runs(
    bench: LibraryBench, key: str, asked: Any
) -> None:
    ran: list[str] = []
    bench.register("work", counter(ran), metadata={key: asked})
    result = (await bench.call("work")).result
    assert (result.code, ran) == ("skill.configuration", [])
    assert f"metadata.{key}" in result.text


async def test_true_means_the_defaults(bench: LibraryBench) -> None:
    ran: list[str] = []

    async def fails(ctx: Any, args: Any) -> str:
        ran.append("x")
        if len(ran) < 3:
            raise ToolFailure("busy")
        return "third time"

    bench.register("again", fails, metadata={"retry": True})
    assert (await bench.call("again")).result.text == "third time"
    bench.register("kept", counter([]), metadata={"cache": True})
    assert [(await bench.call("kept")).result.text for _ in range(2)] == ["answer 1", "answer 1"]


@pytest.mark.spec("R-AG-10")
async def test_what_is_said_beside_the_arguments_makes_it_another_call(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path, FakeTool("look"), model=ScriptedModel([says("of one"), says("of two")]))
    head = "---\nname: tell\ndescription: tells\nmetadata:\n  category: read\n  cache: 60\n---\n"
    bench.write("tell.skill.md", head + "Tell.\n")
    texts = [(await bench.call("tell", said=said)).result.text for said in ("one", "two", "one")]
    assert texts == ["of one", "of two", "of one"]


@pytest.mark.spec("R-WEB-3")
async def test_words_from_outside_that_are_remembered_are_read_again(tmp_path: Path) -> None:
    look = FakeTool("look", gives="outside")
    bench = LibraryBench(tmp_path, look)

    async def look_up(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {"path": "x"})

    bench.register("look-up", look_up, metadata={"cache": 60})
    first, again = await bench.call("look-up"), await bench.call("look-up")
    assert len(look.calls) == 1
    assert first.facts["outside"] == again.facts["outside"] == ["the tool look"]
