"""The demo model: what a person sees in the first minute, and that it never pretends."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import CancellationError
from desktop.domain.messages import ChatMessage, TextBlock, ToolResultBlock, user_message
from desktop.domain.models import Finished, ModelRequest, TextDelta
from desktop.domain.runs.cancellation import CancellationToken
from desktop.models.demo import DemoModel
from desktop.pipeline.gates import NOT_ANSWERED
from tests.harness.timeouts import WAIT_S
from tests.servers.hosts import meta, request

ROOT = Path(__file__).resolve().parents[3]
TOOLS = tuple({"name": name} for name in ("read_file", "write_file", "list_directory", "bash"))


async def play(messages: Sequence[ChatMessage], **more: Any) -> tuple[str, Finished]:
    asked: ModelRequest = request("demo/demo", messages, tools=more.pop("tools", TOOLS), **more)
    items = [item async for item in DemoModel(pace_s=0).stream(asked, meta())]
    end = items[-1]
    assert isinstance(end, Finished)
    return "".join(i.text for i in items if isinstance(i, TextDelta)), end


async def tour(*outcomes: tuple[str, bool]) -> tuple[list[str], list[tuple[str, Any]]]:
    """Plays on with these results (text, is it an error); returns the texts and the calls."""
    messages = [user_message("Hello")]
    texts, calls = [], []
    for result in (*outcomes, None):
        text, end = await play(messages)
        texts.append(text)
        if result is None or not end.tool_calls:
            calls += [(c.tool, c.arguments) for c in end.tool_calls]
            return texts, calls
        (call,) = end.tool_calls
        calls.append((call.tool, call.arguments))
        messages.append(ChatMessage("assistant", (TextBlock(text), call)))
        messages.append(ChatMessage("tool", (ToolResultBlock(call.call_id, call.tool, result[0], result[1]),)))
    raise AssertionError


@pytest.mark.spec("R-PRV-9", "R-UI-11")
async def test_the_tour_reads_writes_and_runs_into_the_boundary() -> None:
    texts, calls = await tour(("a\nb", False), ("written", False), ("outside", True))
    assert [tool for tool, _ in calls] == ["list_directory", "write_file", "read_file"]
    assert calls[1][1]["path"].startswith("demo/")
    assert calls[2][1] == {"path": "/etc/passwd"}
    assert "not an AI" in texts[0]
    assert "```python" in texts[0]
    assert "| part |" in texts[0]
    assert "2 lines in the workspace" in texts[1]
    assert "is there now" in texts[2]
    assert "Refused" in texts[3]


@pytest.mark.parametrize(
    ("result", "said_no"),
    [("Permission denied by user: not there", True), (NOT_ANSWERED, False), ("No space left on device", False)],
)
async def test_a_denial_is_taken_at_its_word_and_only_a_denial_for_one(result: str, said_no: bool) -> None:
    texts, calls = await tour(("", False), (result, True), ("outside", True))
    assert "othing was written" in texts[2]
    assert ("You said no" in texts[2]) is said_no
    assert [tool for tool, _ in calls].count("write_file") == 1


async def test_it_does_not_call_a_refusal_what_was_none() -> None:
    texts, _ = await tour(("", False), ("", False), ("root:x:0:0", False))
    assert "Refused" not in texts[3]
    assert "your settings allow this path" in texts[3]


async def test_the_same_messages_give_the_same_answer() -> None:
    assert await play([user_message("Hello")]) == await play([user_message("Hello")])


async def test_the_demo_model_calls_no_tool_that_it_was_not_offered() -> None:
    for words in ("Hello", "write", "read", "outside"):
        messages = [user_message("x"), ChatMessage("assistant", (TextBlock("y"),)), user_message(words)]
        _, end = await play(messages[-1:] if words == "Hello" else messages, tools=())
        assert end.tool_calls == ()


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("please write something", "write_file"),
        ("read", "list_directory"),
        ("go outside", "read_file"),
        ("start again", "list_directory"),
    ],
)
async def test_later_it_knows_a_few_words(words: str, tool: str) -> None:
    before = [user_message("x"), ChatMessage("assistant", (TextBlock("y"),))]
    _, end = await play([*before, user_message(words)])
    assert [call.tool for call in end.tool_calls] == [tool]


async def test_what_it_does_not_know_it_says() -> None:
    before = [user_message("x"), ChatMessage("assistant", (TextBlock("y"),))]
    text, end = await play([*before, user_message("What is the capital of France?")])
    assert "I am a script and cannot answer that" in text
    assert end.tool_calls == ()


def prompt_of(name: str) -> str:
    """A prompt of the library as a run sends it."""
    (path,) = (ROOT / "skills").glob(f"*/{name}.skill.md")
    return path.read_text().split("---\n", 2)[2].strip()


PAIRS = [
    ("debate-for", "debate-against", 6, ""),
    ("red-team-planner", "red-team-attacker", 6, ""),
    ("negotiator-a", "negotiator-b", 4, "agree"),
    ("author", "critic", 4, "accept"),
    ("worker", "reviewer", 4, "accept"),
    ("code-author", "code-critic", 4, "accept"),
]


@pytest.mark.spec("R-UI-11")
@pytest.mark.parametrize(("a", "b", "turns", "ends_with"), PAIRS)
async def test_each_template_is_played_to_its_end_and_says_what_it_is(
    a: str, b: str, turns: int, ends_with: str
) -> None:
    tools = (*TOOLS, {"name": "agree"}, {"name": "accept"})
    spoken: list[tuple[str, str]] = []
    last: list[str] = []
    for turn in range(turns):
        side = "ab"[turn % 2]
        seen = [ChatMessage("assistant" if s == side else "user", (TextBlock(t),)) for s, t in spoken]
        messages = [user_message("The topic."), *seen]
        for _ in range(5):
            text, end = await play(messages, system=prompt_of((a, b)[turn % 2]), tools=tools)
            if not end.tool_calls:
                break
            last = [call.tool for call in end.tool_calls]
            messages.append(ChatMessage("assistant", (TextBlock(text), *end.tool_calls)))
            done = [ToolResultBlock(call.call_id, call.tool, "done") for call in end.tool_calls]
            messages.append(ChatMessage("tool", tuple(done)))
        spoken.append((side, text if turn > 1 else "".join(m.text for m in messages if m.role == "assistant") + text))
    assert len({text for _, text in spoken}) == turns
    assert all("script, not an AI" in text for _, text in spoken[:2])
    assert (last[-1:] or [""])[0] == ends_with


ALONE = [
    ("judge", "finish"),
    ("intent-classifier", "classify"),
    ("researcher", "source_reader_agent"),
    ("source-reader", "list_directory"),
    ("fact-checker", "list_directory"),
]


@pytest.mark.spec("R-UI-11")
@pytest.mark.parametrize(("name", "tool"), ALONE)
async def test_each_sample_agent_is_played_by_what_it_may_call(name: str, tool: str) -> None:
    tools = ({"name": tool},)
    text, end = await play([user_message("Hello")], system=prompt_of(name), tools=tools)
    assert "script, not an AI" in text
    assert [call.tool for call in end.tool_calls] == [tool]
    _, end = await play([user_message("Hello")], system=prompt_of(name), tools=())
    assert end.tool_calls == ()


async def test_it_costs_nothing_and_counts_no_tokens() -> None:
    _, end = await play([user_message("Hello")])
    assert end.usage is not None
    assert (end.usage.cost_usd, end.usage.input_tokens, end.usage.output_tokens) == (0.0, 0, 0)


@pytest.mark.spec("R-PRV-10")
async def test_it_streams_at_a_pace_one_can_follow_and_stops_at_once() -> None:
    token = CancellationToken()
    stamps: list[float] = []

    async def read() -> None:
        async for _ in DemoModel().stream(request("demo/demo", tools=TOOLS), meta(token)):
            stamps.append(time.monotonic())
            if len(stamps) == 20:
                token.cancel()

    with pytest.raises(CancellationError):
        await read()
    assert 0.2 < stamps[-1] - stamps[0] < WAIT_S
    assert len(stamps) == 20, "nothing comes after the stop"


async def test_an_answer_that_was_cut_off_goes_on_where_it_stopped() -> None:
    whole, end = await play([user_message("Hello")])
    for cut in (1, len(whole) // 2, len(whole) - 3):
        said = [user_message("Hello"), ChatMessage("assistant", (TextBlock(whole[:cut]),)), user_message("Continue.")]
        rest, rest_end = await play(said)
        assert whole[:cut] + rest == whole
        assert [call.tool for call in rest_end.tool_calls] == [call.tool for call in end.tool_calls]


async def test_continue_after_a_whole_answer_is_a_message_like_any_other() -> None:
    whole, _ = await play([user_message("Hello")], tools=())
    said = [user_message("Hello"), ChatMessage("assistant", (TextBlock(whole),)), user_message("Continue.")]
    text, _ = await play(said, tools=())
    assert text
    assert not whole.startswith(text)
