"""Thinking over a real host, with providers of ours that refuse a tool round without it as the real ones do."""

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest

from desktop.agents.loop.answer import Assembly
from desktop.domain.errors import ModelError
from desktop.domain.messages import (
    ChatMessage,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    thinking_facts,
    user_message,
)
from desktop.domain.model_settings import ModelSettings
from desktop.domain.models import Connection, Finished, ModelRequest
from desktop.models.client import ModelServices
from desktop.workers.child import ChildProcess
from desktop.workers.model_host.limits import REASONING_MAX, SEALED_MAX
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import collect, models_over, request

pytestmark = pytest.mark.asyncio(loop_scope="session")

REGION = {"region": "eu-central-1"}
MAKERS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "anthropic": ("anthropic", "claude-sonnet-4-5", "", {}),
    "bedrock": ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", REGION),
    "gemini": ("gemini", "gemini-3-pro-preview", "", {}),
    "openrouter": ("openrouter", "anthropic/claude-sonnet-4.5", "/api/v1", {}),
    "responses": ("openai", "gpt-5.4", "/v1", {}),
    "deepseek": ("deepseek", "deepseek-reasoner", "/v1", {}),
}
"""By the name of a wire: provider, model, the end of its address, options of the connection."""
HIDES = ("anthropic", "bedrock", "openrouter")
"""Makers that may hide a piece of thinking altogether."""
SIGNS = (*HIDES, "gemini", "responses")
TOOL = {
    "name": "read_file",
    "description": "Reads.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
THOUGHT, SEAL, HIDDEN = "Let me see first.", "c2VhbC1vZi10aGlua2luZw==", "aGlkZGVuLXRoaW5raW5n"
CALL = {"call": {"index": 0, "id": "call_1", "name": "read_file", "arguments": '{"path": "a.txt"}'}}
every_maker = pytest.mark.parametrize("maker", MAKERS)


def steps_of(maker: str) -> list[dict[str, Any]]:
    """A round that thinks and then calls a tool."""
    signed = [{"signature": SEAL}] if maker in SIGNS else []
    hidden = [{"redacted": HIDDEN}] if maker in HIDES else []
    return [{"reasoning": THOUGHT[:6]}, {"reasoning": THOUGHT[6:]}, *signed, *hidden, CALL, {"finish": "tool_calls"}]


def at(maker: str, provider: ProviderSpace, name: str = "") -> Connection:
    kind, _, path, options = MAKERS[maker]
    return Connection(name or kind, kind, kind.title(), provider.base_url + path, "key", options)


def asked(maker: str, *messages: ChatMessage, name: str = "", model: str = "", effort: str = "low") -> ModelRequest:
    kind, usual, _, _ = MAKERS[maker]
    settings = ModelSettings(effort=effort) if effort else ModelSettings()
    return request(f"{name or kind}/{model or usual}", messages, tools=(TOOL,), settings=settings)


async def answer_to(models: ModelServices, what: ModelRequest) -> ChatMessage:
    """The answer as the loop puts it together."""
    build = Assembly(what)
    for item in await collect(models, what):
        build.add(item)
    assert isinstance(build.finished, Finished)
    return build.message(build.finished.stop_reason)


async def first_round(models: ModelServices, maker: str, provider: ProviderSpace) -> tuple[ChatMessage, ...]:
    """What a person asked, the thinking with its call, and the call's result."""
    provider.strict()
    provider.rounds({"steps": steps_of(maker)}, {"steps": [{"text": "Done."}, {"finish": "stop"}]})
    opening = user_message("Read a.txt")
    made = await answer_to(models, asked(maker, opening))
    (call,) = made.tool_calls
    return opening, made, ChatMessage("tool", (ToolResultBlock(call.call_id, "read_file", "text of a"),))


def outcomes(provider: ProviderSpace) -> list[str]:
    """How the requests to a model ended, without those for the list of models."""
    return [one["outcome"] for one in provider.requests() if one["outcome"] != "listed"]


def sent(provider: ProviderSpace) -> str:
    """The body of the latest request."""
    return json.dumps(provider.requests()[-1]["body"], ensure_ascii=False)


@every_maker
@pytest.mark.spec("R-MOD-4")
async def test_a_tool_round_brings_back_the_thinking_that_led_to_the_call_as_it_came(
    host: ChildProcess, provider: ProviderSpace, maker: str
) -> None:
    models = models_over(host, at(maker, provider))
    window = await first_round(models, maker, provider)
    thought = [block for block in window[1].blocks if isinstance(block, ReasoningBlock)]
    assert "".join(block.text for block in thought) == THOUGHT
    assert all(block.goes_back for block in thought)
    done = await answer_to(models, asked(maker, *window))
    assert done.text == "Done."
    assert outcomes(provider) == ["complete", "complete"]
    assert (SEAL in sent(provider), HIDDEN in sent(provider)) == (maker in SIGNS, maker in HIDES)


@every_maker
@pytest.mark.spec("R-MOD-4")
async def test_it_goes_back_in_every_later_request_so_that_the_prefix_stays(
    host: ChildProcess, provider: ProviderSpace, maker: str
) -> None:
    models = models_over(host, at(maker, provider))
    window = await first_round(models, maker, provider)
    await answer_to(models, asked(maker, *window))
    before = sent(provider)
    done = ChatMessage("assistant", (ReasoningBlock("Quite so.", "", "x"), TextBlock("Done.")))
    await answer_to(models, asked(maker, *window, done, user_message("Thanks")))
    assert outcomes(provider) == ["complete"] * 3
    assert (THOUGHT in sent(provider), SEAL in sent(provider)) == (THOUGHT in before, SEAL in before)
    assert "Quite so." not in sent(provider)


@pytest.mark.parametrize("other", ["model", "connection", "address", "provider"])
@every_maker
@pytest.mark.spec("R-MOD-4")
async def test_nobody_else_ever_gets_it(host: ChildProcess, provider: ProviderSpace, maker: str, other: str) -> None:
    models = models_over(host, at(maker, provider))
    window = await first_round(models, maker, provider)
    elsewhere = ProviderSpace(int(provider.base_url.split(":")[2].split("/")[0]))
    elsewhere.steps({"text": "Hello."}, {"finish": "stop"})
    if other == "model":
        elsewhere.base_url = provider.base_url
        provider.steps({"text": "Hello."}, {"finish": "stop"})
        provider._call("/control/strict", False)
        await answer_to(models, asked(maker, *window, model=f"{MAKERS[maker][1]}-next"))
    elif other == "connection":
        await answer_to(models_over(host, at(maker, elsewhere, "mine")), asked(maker, *window, name="mine"))
    elif other == "address":
        await answer_to(models_over(host, at(maker, elsewhere)), asked(maker, *window))
    else:
        wire = "openrouter" if maker == "deepseek" else "deepseek"
        await answer_to(models_over(host, at(wire, elsewhere)), asked(wire, *window))
    assert "text of a" in sent(elsewhere)
    for kept in (THOUGHT, SEAL, HIDDEN):
        assert kept not in sent(elsewhere)


@pytest.mark.parametrize("maker", ["anthropic", "bedrock"])
async def test_claude_does_not_think_in_a_tool_round_that_another_model_began(
    host: ChildProcess, provider: ProviderSpace, maker: str
) -> None:
    provider.strict()
    provider.steps({"text": "Done."}, {"finish": "stop"})
    call = ChatMessage("assistant", (ReasoningBlock("Mine.", "{}", "other"), ToolCallBlock("c", "read_file", {})))
    result = ChatMessage("tool", (ToolResultBlock("c", "read_file", "text of a"),))
    models = models_over(host, at(maker, provider))
    assert (await answer_to(models, asked(maker, user_message("Hi"), call, result))).text == "Done."
    assert '"thinking"' not in sent(provider)
    later = ChatMessage("assistant", (TextBlock("Done."),))
    await answer_to(models, asked(maker, user_message("Hi"), call, result, later, user_message("Think again")))
    assert '"thinking"' in sent(provider)


async def test_openai_gives_its_thinking_encrypted_and_keeps_nothing(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = models_over(host, at("responses", provider))
    await first_round(models, "responses", provider)
    body = provider.requests()[-1]["body"]
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    await answer_to(models, asked("responses", user_message("Hi"), model="gpt-4o", effort=""))
    assert provider.requests()[-1]["path"].endswith("/chat/completions")
    assert not {"store", "include"} & provider.requests()[-1]["body"].keys()


async def test_openai_is_asked_what_it_thought_about_until_it_says_that_it_does_not_tell(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = models_over(host, at("responses", provider))
    unverified = "Your organization must be verified to generate reasoning summaries."
    answer = {"steps": [{"text": "Done."}, {"finish": "stop"}]}
    provider.rounds({"status": 400, "body": {"error": {"message": unverified}}}, answer)
    for _ in range(2):
        assert (await answer_to(models, asked("responses", user_message("Hi")))).text == "Done."
    bodies = [one["body"] for one in provider.requests() if one["outcome"] != "listed"]
    assert [body["reasoning"] for body in bodies] == [{"effort": "low", "summary": "auto"}, *[{"effort": "low"}] * 2]


async def test_what_openai_refuses_to_one_key_it_is_asked_for_by_another(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    first, second = (
        at("responses", provider, "first"),
        replace(at("responses", provider, "second"), secret_name="access"),
    )
    models = models_over(host, first, second)
    refused = {"status": 400, "body": {"error": {"message": "It must be verified to generate reasoning summaries."}}}
    provider.rounds(refused, {"steps": [{"text": "Done."}, {"finish": "stop"}]})
    for name in ("first", "second", "first"):
        assert (await answer_to(models, asked("responses", user_message("Hi"), name=name))).text == "Done."
    bodies = [one["body"] for one in provider.requests() if one["outcome"] != "listed"]
    wordless, in_words = {"effort": "low"}, {"effort": "low", "summary": "auto"}
    assert [body["reasoning"] for body in bodies] == [in_words, wordless, in_words, wordless]


@every_maker
async def test_a_maker_that_does_not_take_it_back_is_asked_once_more_without_it(
    host: ChildProcess, provider: ProviderSpace, maker: str
) -> None:
    models = models_over(host, at(maker, provider))
    opening, made, result = await first_round(models, maker, provider)
    blocks = tuple(
        ReasoningBlock(block.text + "!", block.sealed.replace(SEAL, "YWx0ZXJlZA=="), block.maker)
        if isinstance(block, ReasoningBlock)
        else block
        for block in made.blocks
    )
    altered = ChatMessage("assistant", blocks, made.stop_reason)
    if maker in ("responses", "gemini", "openrouter", "deepseek"):  # which refuse a tool round without it, too
        provider._call("/control/strict", False)
        provider.rounds(
            {"status": 400, "body": {"error": {"message": "The encrypted reasoning could not be verified."}}},
            {"steps": [{"text": "Done."}, {"finish": "stop"}]},
        )
    assert (await answer_to(models, asked(maker, opening, altered, result))).text == "Done."
    assert outcomes(provider) == ["complete", "refused", "complete"]
    assert "YWx0ZXJlZA==" not in sent(provider)
    assert "text of a" in sent(provider)


async def test_another_refusal_is_told_at_once(host: ChildProcess, provider: ProviderSpace) -> None:
    models = models_over(host, at("anthropic", provider))
    window = await first_round(models, "anthropic", provider)
    provider.refuse(400, {"type": "error", "error": {"type": "invalid_request_error", "message": "tools: too many"}})
    with pytest.raises(Exception, match="too many"):
        await answer_to(models, asked("anthropic", *window))
    assert outcomes(provider) == ["complete", "refused"]


async def test_thinking_that_stands_between_texts_goes_back_between_them(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    provider.strict()
    first = [{"reasoning": "One."}, {"signature": "c2lnMQ=="}, {"text": "I look."}]
    second = [{"reasoning": "Two."}, {"signature": "c2lnMg=="}, CALL, {"finish": "tool_calls"}]
    provider.rounds({"steps": first + second}, {"steps": [{"text": "Done."}, {"finish": "stop"}]})
    models = models_over(host, at("anthropic", provider))
    made = await answer_to(models, asked("anthropic", user_message("Read a.txt")))
    assert [type(block) for block in made.blocks] == [ReasoningBlock, TextBlock, ReasoningBlock, ToolCallBlock]
    result = ChatMessage("tool", (ToolResultBlock(made.tool_calls[0].call_id, "read_file", "text of a"),))
    await answer_to(models, asked("anthropic", user_message("Read a.txt"), made, result))
    content = provider.requests()[-1]["body"]["messages"][1]["content"]
    assert [block["type"] for block in content] == ["thinking", "text", "thinking", "tool_use"]
    assert provider.requests()[-1]["outcome"] == "complete"


async def test_a_seal_that_is_too_long_is_dropped_whole_with_all_thinking_of_its_answer(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    long = [{"reasoning": "Hm."}, {"signature": "x" * (SEALED_MAX + 1)}, {"reasoning": "So."}, {"signature": SEAL}]
    provider.steps(*long, CALL, {"finish": "tool_calls"})
    made = await answer_to(models_over(host, at("anthropic", provider)), asked("anthropic"))
    thought = [block for block in made.blocks if isinstance(block, ReasoningBlock)]
    assert "".join(block.text for block in thought) == "Hm.So."
    assert not any(block.goes_back for block in thought)


async def test_a_long_seal_and_a_long_thinking_pass_the_pipe_whole(host: ChildProcess, provider: ProviderSpace) -> None:
    seal, text = "s" * 300_000, "t" * 200_000
    provider.strict()
    steps = [{"reasoning": text}, {"signature": seal}, {"redacted": seal}, CALL, {"finish": "tool_calls"}]
    provider.rounds({"steps": steps}, {"steps": [{"text": "Done."}, {"finish": "stop"}]})
    models = models_over(host, at("anthropic", provider))
    made = await answer_to(models, asked("anthropic", user_message("Read a.txt")))
    result = ChatMessage("tool", (ToolResultBlock(made.tool_calls[0].call_id, "read_file", "text of a"),))
    await answer_to(models, asked("anthropic", user_message("Read a.txt"), made, result))
    assert outcomes(provider) == ["complete", "complete"]


async def test_what_is_known_of_thinking_names_the_one_model_that_gets_it_again(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = models_over(host, at("anthropic", provider))
    _, made, _ = await first_round(models, "anthropic", provider)
    facts = thinking_facts(made.blocks, made.usage)
    assert facts is not None
    assert facts.kept_for == "claude-sonnet-4-5"
    assert thinking_facts([TextBlock("No thought.")], None) is None


@pytest.mark.spec("R-MOD-4")
async def test_thinking_that_never_ends_is_cut_and_what_is_cut_goes_back_to_nobody(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    endless = [{"reasoning": "x" * 500_000}] * (REASONING_MAX // 500_000 + 2)
    provider.rounds({"steps": [*endless, {"signature": SEAL}, CALL, {"finish": "tool_calls"}]})
    made = await answer_to(models_over(host, at("anthropic", provider)), asked("anthropic", user_message("Think.")))
    thought = [block for block in made.blocks if isinstance(block, ReasoningBlock)]
    assert REASONING_MAX <= sum(len(block.text) for block in thought) <= REASONING_MAX + 500_000
    assert not any(block.goes_back for block in thought)
    assert len(made.tool_calls) == 1


@pytest.mark.spec("R-MOD-4", "R-MOD-7")
async def test_another_model_that_is_asked_right_after_gets_no_thinking_of_the_first(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = models_over(host, at("deepseek", provider), at("deepseek", provider, "other"))
    window = await first_round(models, "deepseek", provider)
    await answer_to(models, asked("deepseek", *window))
    assert THOUGHT in sent(provider)
    with contextlib.suppress(ModelError):  # it misses the thinking: this maker wants some with each call
        await collect(models, asked("deepseek", *window, name="other"))
    assert "text of a" in sent(provider)
    assert THOUGHT not in sent(provider)
    await answer_to(models, asked("deepseek", *window))
    assert THOUGHT in sent(provider)
