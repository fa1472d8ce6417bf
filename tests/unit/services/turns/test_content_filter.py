"""The content filter around real runs: neither shown nor kept, whatever the pieces, the blocks and the rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.messages import NoticeBlock, ReasoningBlock, TextBlock
from desktop.domain.runs.events import ToolCallWriting
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.settings.groups.middleware import ContentFilterSettings
from tests.unit.services.skills.test_levels import FILTER, Levelled, notices, streamed


async def test_the_content_filter_replaces_before_anything_is_shown_whatever_the_pieces(tmp_path: Path) -> None:
    script = ScriptedModel([says("the Project Titan is on, titanic too!", pieces=12)])
    chosen = ContentFilterSettings(patterns=(r"project titan\b", "tita[a-z]+"))
    bench = Levelled(tmp_path, script, **FILTER, content_filter=chosen)
    async with bench.worlds() as w:
        path = await w.ask(await w.thread(), "hello")
        assert "itan" not in streamed(w)
        assert path[-1].text == streamed(w)
        assert path[-1].text == "the [removed] is on, [removed] too!"
        assert notices(path) == ["answer.filtered"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("titan it is", "One place was replaced by the content filter."),
        ("titan and titan", "2 places were replaced by the content filter."),
    ],
)
async def test_who_reads_an_answer_hears_in_how_many_places_it_was_changed(
    tmp_path: Path, said: str, told: str
) -> None:
    bench = Levelled(
        tmp_path, ScriptedModel([says(said)]), **FILTER, content_filter=ContentFilterSettings(patterns=("titan",))
    )
    async with bench.worlds() as w:
        path = await w.ask(await w.thread(), "hello")
        assert [block.text for block in path[-1].blocks if isinstance(block, NoticeBlock)] == [told]


async def test_the_content_filter_refuses_an_answer_and_the_calls_in_it(tmp_path: Path) -> None:
    chosen = ContentFilterSettings(patterns=("titan",), action="refuse")
    script = ScriptedModel([says("all of this is fine, and titan is not"), calls("write_file", {"path": "titan"})])
    bench = Levelled(tmp_path, script, **FILTER, content_filter=chosen)
    async with bench.worlds() as w:
        thread = await w.thread()
        path = await w.ask(thread, "hello")
        assert (w.ends()[0].reason, "expression 1 of 1" in w.ends()[0].detail) == ("terminated", True)
        assert path[-1].text == streamed(w) == "all of this is fine, and "
        await w.ask(thread, "again")
        assert w.ends()[1].reason == "terminated"
        assert "ToolCallStarted" not in w.kinds()


THOUGHT = {"reasoning": "hm"}


async def test_a_word_in_two_halves_with_a_thought_between_is_neither_shown_nor_kept(tmp_path: Path) -> None:
    halves = [{"text": "a ti"}, THOUGHT, {"text": "tan b"}, {"finish": "end"}]
    thoughts = [{"reasoning": "ti"}, {"text": "well"}, {"reasoning": "tan"}, {"finish": "end"}]
    bench = Levelled(
        tmp_path, ScriptedModel([halves, thoughts]), **FILTER, content_filter=ContentFilterSettings(patterns=("titan",))
    )
    async with bench.worlds() as w:
        thread = await w.thread()
        path = await w.ask(thread, "hello")
        assert path[-1].text == streamed(w) == "a ti[removed] b"
        assert notices(path) == ["answer.filtered"]
        path = await w.ask(thread, "again")
        thought = [block.text for block in path[-1].blocks if isinstance(block, ReasoningBlock)]
        assert thought == ["ti", "[removed]"]
        assert [type(block) for block in path[-1].blocks][:3] == [ReasoningBlock, TextBlock, ReasoningBlock]


async def test_a_word_over_a_call_and_the_round_after_it_is_found(tmp_path: Path) -> None:
    call = {"call": {"tool": "write_file", "arguments": {"path": "a"}, "id": "1"}}
    rounds = [[{"text": "a ti"}, call], [{"text": "tan b"}, {"finish": "end"}]]
    bench = Levelled(
        tmp_path, ScriptedModel(rounds), **FILTER, content_filter=ContentFilterSettings(patterns=("titan",))
    )
    async with bench.worlds() as w:
        path = await w.ask(await w.thread(), "hello")
        assert streamed(w) == "a ti[removed] b"
        assert path[-1].text == "[removed] b"


@pytest.mark.parametrize(
    "call",
    [
        {"tool": "write_file", "arguments": '{"path":"ti\\u0074an"'},
        {"tool": "write_file", "arguments": {"path": "write\u00adfile"}, "word": "write.?file"},
        {"tool": "write_file", "arguments": {"path": "a", "content": '{"b": "ti\\u0074an"}'}},
        {"tool": "write_file", "arguments": {"path": "ti\u00adtan"}},
        {"tool": "write_file", "arguments": {"path": "a", "titan": 1}},
    ],
)
async def test_a_refused_call_is_not_made_however_the_word_is_written(tmp_path: Path, call: dict[str, Any]) -> None:
    word = call.get("word", "titan")
    script = ScriptedModel([[{"text": "well"}, {"call": {**call, "id": "1"}}]])
    chosen = ContentFilterSettings(patterns=(word,), action="refuse")
    async with Levelled(tmp_path, script, **FILTER, content_filter=chosen).worlds() as w:
        path = await w.ask(await w.thread(), "hello")
        assert (w.ends()[0].reason, path[-1].text) == ("terminated", "well")
        assert "ToolCallStarted" not in w.kinds()
        written = [event.tool for event in w.events if isinstance(event, ToolCallWriting)]
        assert written == (["write_file"] if word == "titan" else [])
