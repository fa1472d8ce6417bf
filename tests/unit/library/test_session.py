"""The ``session`` middleware: what it keeps, for whom, and that it never costs a call its value (S-INV-1)."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool

pytestmark = pytest.mark.spec("S-INV-1")

STORES = pytest.mark.parametrize("store", ["memory", "file"])


async def told(ctx: Any, args: Any) -> Any:
    return [entry["args"]["say"] for entry in ctx.locals["session"]]


@STORES
async def test_of_many_calls_at_once_none_fails_and_none_is_forgotten(tmp_path: Path, store: str) -> None:
    bench = LibraryBench(tmp_path)
    bench.register("talk", told, metadata={"session": {"store": store, "maxEntries": 300, "capture": "$args"}})
    outcomes = await asyncio.gather(*(bench.call("talk", {"say": n}) for n in range(200)))
    assert [outcome.result.text for outcome in outcomes if outcome.result.is_error] == []
    kept = (await bench.call("talk", {"say": -1})).result.structured
    assert sorted(kept) == list(range(200))
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.expects_log("a session of work could not be kept: NotADirectoryError")
async def test_what_cannot_be_written_costs_no_call_its_value_and_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = LibraryBench(tmp_path)
    (tmp_path / "data").write_text("no folder")
    ran: list[int] = []

    async def work(ctx: Any, args: Any) -> str:
        ran.append(1)
        return "done"

    bench.register("work", work, metadata={"session": {"store": "file"}})
    with caplog.at_level(logging.WARNING):
        texts = [(await bench.call("work", {"n": n})).result.text for n in (1, 2)]
    assert (texts, len(ran)) == (["done", "done"], 2)
    assert ["could not be kept" in record.message for record in caplog.records] == [True]


@STORES
async def test_a_skill_of_the_same_name_from_elsewhere_does_not_get_the_first_ones_entries(
    tmp_path: Path, store: str
) -> None:
    bench = LibraryBench(tmp_path)
    config = {"session": {"store": store}}
    bench.register("talk", told, metadata=config, src="mcp://one/talk")
    await bench.call("talk", {"say": "secret"})
    bench.fabric.unregister_tool("talk")
    bench.register("talk", told, metadata=config, src="mcp://two/talk")
    assert (await bench.call("talk", {"say": "x"})).result.structured == []


async def test_a_file_that_grew_too_large_forgets_its_oldest_entries_and_not_all(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path)
    config = {"store": "file", "maxEntries": 1000, "capture": ["$args", "result.a", "result.b", "result.c"]}

    async def large(ctx: Any, args: Any) -> Any:
        return dict.fromkeys("abc", ["y" * 2000] * 5)

    bench.register("large", large, metadata={"session": config})
    await asyncio.gather(*(bench.call("large", {"n": n, "x": ["x" * 2000] * 5}) for n in range(160)))
    (file,) = (tmp_path / "data" / "sessions").glob("*.json")
    assert 3_000_000 < file.stat().st_size <= 4_000_000
    assert len(json.loads(file.read_text())) > 50


@pytest.mark.spec("R-LIM-7")
@pytest.mark.parametrize(
    "asked",
    [
        {"key": 3},
        3,
        {"maxEntries": 0},
        {"maxEntries": -1},
        {"maxEntries": "many"},
        {"maxEntries": float("nan")},
        {"maxEntries": 1.5},
        {"store": "cloud"},
        {"capture": 3},
        {"capture": [3]},
    ],
)
async def test_a_wrong_key_is_an_error_in_words_before_anything_runs(tmp_path: Path, asked: Any) -> None:
    bench = LibraryBench(tmp_path)
    ran: list[int] = []

    async def work(ctx: Any, args: Any) -> str:
        ran.append(1)
        return "done"

    bench.register("work", work, metadata={"session": asked})
    result = (await bench.call("work")).result
    assert (result.code, ran) == ("skill.configuration", [])
    assert "metadata.session" in result.text


async def test_true_means_the_defaults(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path)
    bench.register("talk", told, metadata={"session": True})
    assert [(await bench.call("talk", {"say": n})).result.structured for n in (1, 2)] == [[], [1]]


async def test_a_prompt_reads_what_earlier_calls_came_to(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path)
    bench.write(
        "note.skill.md",
        "---\nname: note\ndescription: x\nmetadata:\n  role: context\n  params:\n    type: object\n    properties:\n"
        "      say: {type: string}\n  session: {key: notes, capture: [$args]}\n---\n"
        "Before: :context[session]. Last: :context[session.0.args.say]. Now: :arg[say].\n",
    )
    first = (await bench.call("note", {"say": "one"})).result.text
    second = (await bench.call("note", {"say": "two"})).result.text
    assert first.startswith("Before: []. ")
    assert '"say":"one"' in second.replace(" ", "")
    assert "Last: one. Now: two." in second


def test_trust_in_a_file_is_listed_as_doing_nothing(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path)
    bench.write("sly.skill.md", "---\nname: sly\ndescription: x\nmetadata:\n  trust:\n    rules: '*'\n---\nHello\n")
    found = bench.fabric.find_tool("sly")
    assert found is not None
    assert [(one.code, one.severity, one.line) for one in found.problems] == [("key.idle", "warning", 5)]


@STORES
@pytest.mark.spec("R-WEB-3")
async def test_words_from_outside_that_an_earlier_call_read_come_before_this_one(tmp_path: Path, store: str) -> None:
    bench = LibraryBench(tmp_path, FakeTool("look", gives="outside"))

    async def work(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("look", {"path": "x"}) if args.get("reads") else len(ctx.locals["session"])

    bench.register("work", work, metadata={"session": {"store": store}})
    facts = [(await bench.call("work", {"reads": reads})).facts.get("outside") for reads in (False, True, False)]
    assert facts == [None, ["the tool look"], ["the tool look"]]
