"""Threads without runs: list, search, drafts, environment, titles, agents, export."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from desktop.domain.errors import ConfigurationError, NotFound
from desktop.domain.messages import (
    FileBlock,
    ImageBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop.domain.safety import SafetySettings
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.models.scripted import ScriptedModel, says
from desktop.services.threads.export import fence, render
from desktop.services.threads.titles import title_from, topic_title
from desktop.services.turns.prompts import system_text
from tests.harness.definitions import load_agents
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import ROOT, world

THREAD = ThreadRecord("t", "A <b>title</b>", 0.0, 0.0, model="test/model")


def record(role: str, *blocks) -> MessageRecord:
    return MessageRecord(f"m{len(blocks)}", "t", None, role, tuple(blocks), 0.0)  # type: ignore[arg-type]


async def test_threads_are_listed_renamed_pinned_found_deleted_and_brought_back(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("Zebras have stripes.")])) as w:
        thread, other = await w.thread(), await w.thread()
        await w.ask(thread, "Please tell me about zebras!")
        assert (await w.service.thread(thread)).title == "Tell me about zebras"
        await w.service.rename(thread, "Stripes")
        await w.service.pin(other, True)
        assert [t.thread_id for t in await w.service.threads()] == [other, thread]
        assert {hit.thread_id for hit in await w.service.search("zebras")} == {thread}
        await w.service.delete(thread)
        assert [t.thread_id for t in await w.service.threads()] == [other]
        await w.service.undo_delete(thread)
        assert (await w.service.thread(thread)).title == "Stripes"
        assert {e.what for e in w.events if hasattr(e, "what")} >= {"title", "pinned", "deleted", "restored"}


async def test_a_persons_title_stays_and_the_first_question_gives_the_automatic_one(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("1"), says("2"), says("3")])) as w:
        thread = await w.thread()
        await w.ask(thread, "what is a monad")
        await w.ask(thread, "and a functor")
        assert (await w.service.thread(thread)).title == "What is a monad"
        named = (await w.service.create_thread(model="test/scripted", title="Mine")).thread_id
        await w.ask(named, "something else")
        assert (await w.service.thread(named)).title == "Mine"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("hi, can you please fix the login bug in auth.py? It fails.", "Fix the login bug in auth.py"),
        ("# Weekly report\n\nplease write it", "Weekly report"),
        ("```python\nprint(1)\n```\nWhy does this print 1?", "Why does this print 1"),
        ("see https://www.example.org/a/b?c=d now", "See example.org now"),
        ("Wie wird das Wetter morgen in Berlin wohl werden", "Wie wird das Wetter morgen in"),
        ("你好，请帮我写一首关于春天的诗", "你好，请帮我写一首关于春天的诗"),
        ("x" * 200, "X" + "x" * 59),
        ("hello", "Hello"),
        ("```\ncode only\n```", "``` code only ```"),
        ("   \n ", ""),
    ],
)
def test_a_title_is_at_most_six_words_of_the_question(text: str, title: str) -> None:
    assert title_from(text) == title
    assert len(title_from(text)) <= 60


async def test_no_title_holds_what_turns_the_words_around_or_cannot_be_seen(tmp_path: Path) -> None:
    evil = "safe\u202etxt.exe\u2066 and\u00a0more\u200b"
    assert title_from(evil) == topic_title(evil) == "Safetxt.exe and more"
    async with world(tmp_path, ScriptedModel([])) as w:
        thread = (await w.service.create_thread()).thread_id
        await w.service.rename(thread, evil)
        assert [one.title for one in await w.service.threads()] == ["safetxt.exe and more"]


@pytest.mark.parametrize(
    ("topic", "title"),
    [
        ("should a team rewrite its product? Say why.", "Should a team rewrite its product?"),
        (
            "Should the harbour office publish its raw tide data as it arrives, or only the checked series a day "
            "later?",
            "Should the harbour office publish its raw tide data as it arrives",
        ),
        ("A plan to move our database over one weekend.", "A plan to move our database over one weekend"),
        ("word " * 40, "Word" + " word" * 19 + "…"),
        ("x" * 300, "X" + "x" * 98 + "…"),
        ("## Topic\n\nmore", "Topic"),
        ("```\ncode only\n```", "``` code only ```"),
    ],
)
def test_a_debates_title_is_not_cut_inside_a_sentence_where_that_can_be(topic: str, title: str) -> None:
    assert topic_title(topic) == title
    assert len(title) <= 100


async def test_drafts_are_kept_for_threads_and_for_the_chat_that_does_not_exist_yet(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([])) as w:
        thread = await w.thread()
        await w.service.save_draft(thread, "half a thought")
        await w.service.save_draft("", "a new chat", (FileBlock("a.txt", "attached"),))
        await w.service.save_draft("", "a new chat, said better", None)
    async with world(tmp_path, ScriptedModel([])) as w:
        kept = [await w.service.draft(key) for key in (thread, "")]
        assert [(d.text, d.attachments) for d in kept] == [
            ("half a thought", ()),
            ("a new chat, said better", (FileBlock("a.txt", "attached"),)),
        ]


async def test_a_message_that_is_being_said_differently_is_kept_with_its_thread(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([])) as w:
        thread = await w.thread()
        assert await w.service.edited(thread) == ("", "")
        await w.service.keep_edited(thread, "m1", "in other words")
    async with world(tmp_path, ScriptedModel([])) as w:
        assert await w.service.edited(thread) == ("m1", "in other words")
        await w.service.keep_edited(thread, "", "")
        assert await w.service.edited(thread) == ("", "")


@pytest.mark.spec("R-DEF-15", "R-SEC-1")
async def test_a_threads_environment_is_told_to_the_agent_and_takes_no_secrets(tmp_path: Path) -> None:
    model = ScriptedModel([says("ok")])
    async with world(tmp_path, model) as w:
        thread = await w.thread()
        await w.service.set_environment(thread, {"PROJECT": "apollo"})
        for name in ("API_KEY", "github_token", "PASSWORD"):
            with pytest.raises(ConfigurationError, match="keep it in Settings, Keyring"):
                await w.service.set_environment(thread, {name: "x"})
        for wrong in ({"a b": "x"}, {"": "x"}, {"A": "sk-" + "a1" * 20}, {"A": "x" * 2001}, {"A": "x\u202ey"}):
            with pytest.raises(ConfigurationError):
                await w.service.set_environment(thread, wrong)
        with pytest.raises(ConfigurationError, match="50 is the most"):
            await w.service.set_environment(thread, {f"A{n}": "x" for n in range(51)})
        await w.ask(thread, "hi")
        assert "PROJECT is apollo." in model.requests[0].system
        assert await w.service.environment(thread) == {"PROJECT": "apollo"}


async def test_what_does_not_exist_is_named_as_such(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([])) as w:
        for action in (w.service.thread("x"), w.service.message("x"), w.service.send("x", "hi"), w.service.retry("x")):
            with pytest.raises(NotFound):
                await action
        assert w.service.running() == ()


def test_the_system_text_names_workspace_boundaries_and_tools() -> None:
    safety = SafetySettings("/home/me/work", allowed=("/home/me/work",), denied=("/home/me/.ssh",), granted=("/mnt/x",))
    text = system_text("Body.", [FakeTool("read-file")], safety, {})
    assert text.startswith("Body.\n")
    for part in ("/home/me/work", "/mnt/x", "/home/me/.ssh", "read_file (runs at once)"):
        assert part in text
    assert "no tools" in system_text("Body.", [], None, {})


@pytest.mark.spec("R-DEF-1", "R-DEF-2", "R-DEF-3", "R-DEF-4", "R-DEF-8", "R-DEF-14", "R-LIM-7", "R-DEF-12")
def test_agent_files_are_read_and_every_problem_of_one_is_named_at_once(tmp_path: Path) -> None:
    book = load_agents(ROOT / "resources/agents")
    assert book.problems == ()
    assert book.get("").side_a.prompt == "assistant"
    (tmp_path / "a.yaml").write_text("name: ../Bad Name\ntype: other\nsideA: {maxSteps: 0}\n")
    (tmp_path / "b.yaml").write_text("name: [unclosed\n")
    (tmp_path / "c.yaml").write_text("name: loops\nsideA: {prompt: assistant, stopOnResponse: false}\n")
    (tmp_path / "d.yaml").write_text("name: good\nsideA: {prompt: assistant, maxSteps: 7}\n")
    (tmp_path / "e.yaml").write_text("name: good\nsideA: {prompt: assistant}\n")
    book = load_agents(tmp_path)
    assert book.get("good").side_a.max_rounds == 7
    for part in ("name must not look like a path", "type must be", "sideA.prompt", "sideA.maxSteps"):
        assert part in book.problems[0]
    assert book.problems[1].startswith("b.yaml:")
    assert "nothing ends this side" in book.problems[2]
    assert "already taken" in book.problems[3]


MESSAGES = [
    record(
        "user",
        TextBlock("<script>alert(1)</script> and `code`"),
        ImageBlock("image/png", "aGk=", "cat.png"),
        ImageBlock("image/svg+xml", "aGk=", "evil.svg"),
    ),
    record(
        "assistant",
        ReasoningBlock("hm"),
        TextBlock("```js\n</pre><script>x</script>\n```\ntext"),
        ToolCallBlock("c", "bash", {"command": "ls\n```"}),
    ),
    record("tool", ToolResultBlock("c", "bash", "```\n<img src=http://evil>\n```", True)),
    record("assistant", NoticeBlock("Cut.", next_step="Continue.")),
]


@pytest.mark.spec("R-UI-9")
def test_the_html_export_holds_nothing_that_runs_or_loads() -> None:
    page = render(THREAD, MESSAGES, "html").decode()
    tags = set(re.findall(r"<\s*([a-zA-Z]+)", page))
    assert tags <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h",
        "p",
        "pre",
        "code",
        "details",
        "summary",
        "img",
    } | {"doctype"}
    assert re.findall(r'src="([^"]*)"', page) == ["data:image/png;base64,aGk="]
    assert "default-src 'none'" in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"\son\w+=", page)
    assert "<title>A &lt;b&gt;title&lt;/b&gt;</title>" in page


def test_the_markdown_export_keeps_texts_and_fences_that_nothing_breaks_out_of() -> None:
    text = render(THREAD, MESSAGES, "md").decode()
    assert text.count("## You") == 1
    assert "````\n```\n<img" in text
    assert "> **Note:** Cut. Continue." in text
    assert fence("a ```` b").startswith("`````\n")


def test_the_json_export_holds_everything_and_other_formats_are_refused() -> None:
    data = json.loads(render(THREAD, MESSAGES, "json"))
    assert data["format"] == 1
    assert [m["role"] for m in data["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert data["messages"][1]["blocks"][2]["arguments"] == {"command": "ls\n```"}
    with pytest.raises(ConfigurationError, match="pdf"):
        render(THREAD, MESSAGES, "pdf")


async def test_a_thread_is_exported_as_it_is_shown(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("Bonjour")])) as w:
        thread = await w.thread()
        await w.ask(thread, "in French")
        assert b"Bonjour" in await w.service.export(thread, "md")
