"""What the model library does wrong in this version, put right after it is loaded. Each mend names what is lost without
it; the tests of the wires fail when one is taken out and the library has not learned it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def mend(module: Any) -> None:
    """Put right what is wrong in the loaded library."""
    _gemini_ends(module)
    _redacted_at_bedrock()
    _details_of_openrouter()


def _gemini_ends(module: Any) -> None:
    """A piece of Gemini's answer that says nothing of an end is no end: the library calls each of them a stop, so
    that a stream that breaks off would look whole."""
    config = module.VertexGeminiConfig
    reason_of: Callable[[Any, Any], Any] = config._check_finish_reason

    def reason(message: Any, finish_reason: Any) -> Any:
        return reason_of(message, finish_reason) if finish_reason else None

    config._check_finish_reason = staticmethod(reason)


def _redacted_at_bedrock() -> None:
    """Thinking that Claude does not show goes back to Bedrock as it came: the library makes an empty text of it and
    leaves that out, and Bedrock refuses thinking that was modified."""
    processor = importlib.import_module(
        "litellm.litellm_core_utils.prompt_templates.factory"
    ).BedrockConverseMessagesProcessor
    translate: Callable[[Any], list[Any]] = processor.translate_thinking_blocks_to_reasoning_content_blocks

    def translated(thinking_blocks: Any) -> list[Any]:
        found: list[Any] = []
        for block in thinking_blocks:
            if block.get("type") == "redacted_thinking":
                found.append({"reasoningContent": {"redactedContent": block.get("data")}})
            else:
                found += translate([block])
        return found

    processor.translate_thinking_blocks_to_reasoning_content_blocks = staticmethod(translated)


def _details_of_openrouter() -> None:
    """A piece of OpenRouter's stream that has only details of thinking, such as its signature, reaches the reader: the
    library takes it for empty."""
    handler = importlib.import_module(
        "litellm.llms.openrouter.chat.transformation"
    ).OpenRouterChatCompletionStreamingHandler
    parse: Callable[[Any, Any], Any] = handler.chunk_parser

    def parsed(self: Any, chunk: Any) -> Any:
        for choice in chunk.get("choices") or () if isinstance(chunk, dict) else ():
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if isinstance(delta, dict) and delta.get("reasoning_details"):
                delta["provider_specific_fields"] = {"reasoning_details": delta.pop("reasoning_details")}
        return parse(self, chunk)

    handler.chunk_parser = parsed
