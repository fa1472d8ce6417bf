"""Cache marks over a real host, and what a provider with a cache counts then."""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from desktop.domain.messages import (
    ChatMessage,
    ImageBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
    user_message,
)
from desktop.domain.models import Connection, Finished, ModelRequest
from desktop.models.client import ModelServices
from desktop.workers.child import ChildProcess
from tests.harness.prefix_cache import MARKS_MAX
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import collect, models_over, request

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
WIRES: dict[str, tuple[str, str, str]] = {
    "anthropic": ("anthropic", "claude-sonnet-4-5", ""),
    "bedrock": ("bedrock", CLAUDE, ""),
    "openrouter": ("openrouter", "anthropic/claude-sonnet-4.5", "/api/v1"),
    "nova": ("bedrock", "us.amazon.nova-pro-v1:0", ""),
    "gemini": ("openrouter", "google/gemini-2.5-pro", "/api/v1"),
}
SYSTEM = "You look after tide gauges. " * 300
TOOLS = tuple(
    {
        "name": f"tool_{number}",
        "description": "Reads the levels of a gauge and says what is wrong with them. " * 4,
        "parameters": {"type": "object", "properties": {"path": {"type": "string", "description": "Which file."}}},
    }
    for number in range(12)
)
DONE = [{"text": "Done."}, {"finish": "stop"}, {"usage": {"output": 20}}]


def over(host: ChildProcess, provider: ProviderSpace, wire: str) -> ModelServices:
    kind, _, path = WIRES[wire]
    options = {"region": "eu-central-1"} if kind == "bedrock" else {}
    return models_over(host, Connection(kind, kind, kind.title(), provider.base_url + path, "key", options))


def asked(wire: str, messages: Sequence[ChatMessage], **more: Any) -> ModelRequest:
    kind, model, _ = WIRES[wire]
    return request(f"{kind}/{model}", messages, **{"system": SYSTEM, "tools": TOOLS, **more})


def rounds(count: int, calls: int = 1) -> Iterator[list[ChatMessage]]:
    """The messages of each request of a run in which every round makes calls."""
    messages = [user_message("Look at all gauges and say which are wrong.")]
    for number in range(count):
        yield list(messages)
        made = tuple(ToolCallBlock(f"c{number}_{at}", "tool_1", {"path": f"{number}_{at}.csv"}) for at in range(calls))
        messages.append(ChatMessage("assistant", (TextBlock(f"I look at gauge {number}."), *made)))
        for call in made:
            result = ToolResultBlock(call.call_id, "tool_1", f"level {number} " * 150)
            messages.append(ChatMessage("tool", (result,)))


async def used(models: ModelServices, what: ModelRequest) -> Usage:
    end = (await collect(models, what))[-1]
    assert isinstance(end, Finished)
    assert end.usage is not None
    return end.usage


def marks(body: Any) -> int:
    return json.dumps(body).count('"cache_control"') + json.dumps(body).count('"cachePoint"')


@pytest.mark.spec("R-MOD-3")
@pytest.mark.parametrize("calls", [1, 30])
@pytest.mark.parametrize("wire", ["anthropic", "bedrock"])
async def test_each_round_reads_from_the_cache_all_that_the_round_before_has_sent(
    host: ChildProcess, provider: ProviderSpace, wire: str, calls: int
) -> None:
    models = over(host, provider, wire)
    provider.caches()
    provider.rounds({"steps": DONE})
    before = 0
    for number, messages in enumerate(rounds(6, calls)):
        usage = await used(models, asked(wire, messages))
        plain, read, written = provider.requests()[-1]["counted"]
        assert (usage.input_tokens, usage.cached_tokens, usage.written_tokens) == (
            plain + read + written,
            read,
            written,
        )
        assert (read, plain) == (before, 0), f"round {number}"
        before = read + written
        assert marks(provider.requests()[-1]["body"]) <= MARKS_MAX


@pytest.mark.spec("R-MOD-3")
async def test_what_the_cache_saved_is_what_the_same_tokens_cost_without_it(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models, price = over(host, provider, "bedrock"), 3.3
    provider.caches()
    provider.rounds({"steps": DONE})
    total = Usage(cost_usd=0.0)
    for messages in rounds(3):
        usage = await used(models, asked("bedrock", messages))
        plain = usage.input_tokens - usage.cached_tokens - usage.written_tokens
        paid = (plain + 0.1 * usage.cached_tokens + 1.25 * usage.written_tokens) * price + 20 * price * 5
        assert usage.cost_usd == pytest.approx(paid / 1e6)
        without = usage.input_tokens * price + 20 * price * 5
        assert usage.saved_usd == pytest.approx((without - paid) / 1e6)
        total = total.plus(usage)
    assert total.saved_usd is not None
    assert total.saved_usd > 0


@pytest.mark.spec("R-MOD-3")
async def test_at_openrouter_claude_is_marked_in_the_texts_and_gpt_not_at_all(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = over(host, provider, "openrouter")
    *_, messages = rounds(3)
    await collect(models, asked("openrouter", messages))
    body = provider.requests()[-1]["body"]
    marked = [one["role"] for one in body["messages"] if "cache_control" in json.dumps(one)]
    assert marked == ["system", "tool", "tool"]
    assert all("cache_control" not in one for one in body["messages"])
    assert "cache_control" not in json.dumps(body["tools"])
    gpt = request("openrouter/openai/gpt-4o", messages, system=SYSTEM, tools=TOOLS)
    await collect(models, gpt)
    assert not marks(provider.requests()[-1]["body"])


@pytest.mark.spec("R-MOD-3")
async def test_amazons_own_models_are_marked_behind_texts_only(host: ChildProcess, provider: ProviderSpace) -> None:
    """They refuse the whole request otherwise: behind a tool, a tool's result or a picture."""
    models = over(host, provider, "nova")
    seen = ChatMessage("user", (TextBlock("What is this?"), ImageBlock("image/png", "aGVsbG8=" * 9, "a.png")))
    windows = [*rounds(3), [seen], [*list(rounds(3))[-1], user_message("And now?")]]
    for messages, note in itertools.product(windows, ("", "It is noon.")):
        await collect(models, asked("nova", messages, note=note))
        body = provider.requests()[-1]["body"]
        assert "cachePoint" not in json.dumps(body["toolConfig"])
        before = [
            list(content[at - 1]) if at else []
            for content in (body["system"], *(one["content"] for one in body["messages"]))
            for at, block in enumerate(content)
            if "cachePoint" in block
        ]
        assert before
        assert all(kinds == ["text"] for kinds in before)


@pytest.mark.spec("R-MOD-3")
async def test_of_gemini_at_openrouter_one_mark_moves_only_when_there_is_much_more(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    """What stands before it is bought anew with each move, and is read until then."""
    models = over(host, provider, "gemini")
    before: list[tuple[int, str]] = []
    for number, messages in enumerate(rounds(30)):
        await collect(models, asked("gemini", messages, note=f"Round {number}."))
        sent = provider.requests()[-1]["body"]["messages"]
        marked = [at for at, one in enumerate(sent) if "cache_control" in json.dumps(one)]
        assert len(marked) <= 1
        before += [(at, json.dumps(sent[: at + 1]).partition("cache_control")[0]) for at in marked]
    places = [at for at, _ in before]
    assert 25 <= len(before) <= 30, "from where it is long enough"
    assert places == sorted(places)
    assert 3 <= len(set(places)) <= 6
    assert len(set(before)) == len(set(places)), "what stands before the mark is the same until it moves"


@pytest.mark.parametrize("wire", WIRES)
async def test_what_is_too_short_for_the_cache_is_not_marked(
    host: ChildProcess, provider: ProviderSpace, wire: str
) -> None:
    await collect(over(host, provider, wire), asked(wire, [user_message("Hi")], system="Be brief.", tools=TOOLS[:1]))
    assert not marks(provider.requests()[-1]["body"])


async def test_a_model_that_caches_longer_beginnings_only_is_marked_from_there_on(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models, messages = over(host, provider, "anthropic"), [user_message("x" * 2_000)]
    short = {"system": "y" * 6_000, "tools": ()}
    await collect(models, asked("anthropic", messages, **short))
    assert marks(provider.requests()[-1]["body"]) == 2
    opus = request("anthropic/claude-opus-4-5", messages, **short)
    await collect(models, opus)
    assert not marks(provider.requests()[-1]["body"])


async def test_a_mark_stands_behind_a_picture_and_never_makes_an_empty_text(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    seen = ChatMessage("user", (TextBlock("What is this?"), ImageBlock("image/png", "aGVsbG8=" * 9, "a.png")))
    await collect(over(host, provider, "anthropic"), asked("anthropic", [seen]))
    body = provider.requests()[-1]["body"]
    content = body["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["text", "image"]
    assert "cache_control" in content[-1]
    assert all(part.get("text") != "" for part in content)


@pytest.mark.spec("R-MOD-3")
@pytest.mark.parametrize("wire", ["anthropic", "bedrock"])
async def test_a_run_of_30_rounds_pays_for_a_fraction_of_what_it_sends(
    host: ChildProcess, provider: ProviderSpace, wire: str
) -> None:
    models = over(host, provider, wire)
    provider.caches()
    provider.rounds({"steps": DONE})
    for messages in rounds(30):
        await collect(models, asked(wire, messages))
    counted = [one["counted"] for one in provider.requests() if "counted" in one]
    sent = sum(map(sum, counted))
    paid = sum(plain + 0.1 * read + 1.25 * written for plain, read, written in counted)
    print(f"{wire}: 30 rounds, {sent:,} tokens sent, {paid:,.0f} paid, {100 * paid / sent:.1f} %")
    assert len(counted) == 30
    assert paid < 0.2 * sent
