"""Answers of real servers, byte for byte, with what the app is to make of each.

They stand in ``tests/data/wires``, one file an answer. Most were recorded by public test suites (those of pydantic-ai,
fantasy, the AI SDK and Llama Stack) and are cut from them; those of Ollama and LM Studio, and one of vLLM, are put
together from what these publish. ``expected.json`` has what is in each, compared once with a reader of its own.
"""

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.servers.fixtures import ProviderSpace

FOLDER = Path(__file__).resolve().parents[1] / "data" / "wires"
DIRECT = ("mistral", "openrouter", "deepseek", "groq", "xai", "llamacpp", "vllm", "lmstudio", "openai_compatible")
"""Kinds of connections that are asked without the model library."""


@dataclass(frozen=True)
class Recording:
    """One answer: ``name`` of its file, the kind of connection it came by, the model as it is asked."""

    name: str
    provider: str
    model: str
    status: int = 200
    kind: str = "text/event-stream"

    @property
    def body(self) -> bytes:
        return next(FOLDER.glob(f"{self.name}.*")).read_bytes()

    @property
    def expected(self) -> list[Any]:
        found: list[Any] = _expected()[self.name]
        return found

    def played(self, space: ProviderSpace, pieces: Sequence[bytes] = ()) -> None:
        """The next requests are answered with it, in these ``pieces``."""
        steps = [{"raw_base64": base64.b64encode(piece).decode()} for piece in pieces or [self.body]]
        headers = {"Content-Type": self.kind}
        space.rounds({"bare": True, "bare_status": self.status, "headers": headers, "steps": steps})


@cache
def _expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text("utf-8"))
    return found


JSON = "application/json"
RECORDINGS = (
    Recording("openai-text", "openai", "gpt-4o-mini"),
    Recording("openai-tool", "openai", "gpt-4o"),
    Recording("openai-tools", "openai", "gpt-4o"),
    Recording("openai-refused", "openai", "gpt-4o", 400, JSON),
    Recording("openai-unknown", "openai", "gpt-4o", 404, JSON),
    Recording("responses-text", "openai", "gpt-5-codex"),
    Recording("responses-tool", "openai", "gpt-5-codex"),
    Recording("responses-thinking", "openai", "gpt-5-codex"),
    Recording("anthropic-text", "anthropic", "claude-sonnet-4-5"),
    Recording("anthropic-thinking", "anthropic", "claude-sonnet-4-20250514"),
    Recording("anthropic-redacted", "anthropic", "claude-sonnet-4-5"),
    Recording("anthropic-cached", "anthropic", "claude-sonnet-4-6"),
    Recording("anthropic-unknown", "anthropic", "claude-sonet-4-5", 404, JSON),
    Recording("gemini-text", "gemini", "gemini-2.5-flash"),
    Recording("gemini-signed", "gemini", "gemini-3-pro-preview"),
    Recording("gemini-thinking", "gemini", "gemini-2.5-pro"),
    Recording("gemini-unknown", "gemini", "gemini-3.6-flahs", 404, JSON),
    Recording("bedrock-nova", "bedrock", "us.amazon.nova-micro-v1:0", kind="application/vnd.amazon.eventstream"),
    Recording("bedrock-nova-tool", "bedrock", "us.amazon.nova-micro-v1:0", kind="application/vnd.amazon.eventstream"),
    Recording(
        "bedrock-thinking",
        "bedrock",
        "us.anthropic.claude-sonnet-4-20250514-v1:0",
        kind="application/vnd.amazon.eventstream",
    ),
    Recording(
        "bedrock-redacted",
        "bedrock",
        "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
        kind="application/vnd.amazon.eventstream",
    ),
    Recording("bedrock-unknown", "bedrock", "us.does-not-exist-model-v1:0", 400, JSON),
    Recording("azure-text", "azure", "prod"),
    Recording("azure-tool", "azure", "prod"),
    Recording("ollama-text", "ollama", "llama3.2", kind="application/x-ndjson"),
    Recording("ollama-tool", "ollama", "qwen3", kind="application/x-ndjson"),
    Recording("mistral-text", "mistral", "mistral-small-latest"),
    Recording("mistral-tool", "mistral", "mistral-large-latest"),
    Recording("mistral-tool-in-pieces", "mistral", "mistral-large-latest"),
    Recording("mistral-thinking", "mistral", "mistral-medium-latest"),
    Recording("openrouter-cached", "openrouter", "anthropic/claude-sonnet-4.6"),
    Recording("openrouter-thinking", "openrouter", "anthropic/claude-sonnet-4.5"),
    Recording("openrouter-signed", "openrouter", "anthropic/claude-haiku-4.5"),
    Recording("openrouter-encrypted", "openrouter", "x-ai/grok-4.1-fast"),
    Recording("openrouter-gemini", "openrouter", "google/gemini-3.1-flash-lite-preview"),
    Recording("openrouter-tools", "openrouter", "anthropic/claude-haiku-4.5"),
    Recording("openrouter-error", "openrouter", "minimax/minimax-m2:free"),
    Recording("openrouter-busy", "openrouter", "google/gemini-2.0-flash-exp:free", 429, JSON),
    Recording("deepseek-tool", "deepseek", "deepseek-reasoner"),
    Recording("groq-thinking", "groq", "openai/gpt-oss-120b"),
    Recording("groq-tool", "groq", "llama-3.3-70b-versatile"),
    Recording("groq-tools", "groq", "moonshotai/kimi-k2-instruct-0905"),
    Recording("groq-error", "groq", "openai/gpt-oss-120b"),
    Recording("groq-refused", "groq", "openai/gpt-oss-120b", 400, JSON),
    Recording("groq-unknown", "groq", "non-existent", 404, JSON),
    Recording("xai-text", "xai", "grok-3-mini"),
    Recording("xai-thinking", "xai", "grok-code-fast-1"),
    Recording("llamacpp-text", "llamacpp", "gpt-oss-20b"),
    Recording("llamacpp-thinking", "llamacpp", "gpt-oss-20b"),
    Recording("llamacpp-tool", "llamacpp", "gpt-oss-20b"),
    Recording("vllm-tool", "vllm", "meta-llama/Llama-3.2-1B-Instruct"),
    Recording("vllm-thinking", "vllm", "openai/gpt-oss-20b"),
    Recording("lmstudio-tool", "lmstudio", "qwen2.5-7b-instruct"),
    Recording("ollama-v1-tool", "openai_compatible", "qwen3:8b"),
    Recording("together-tool", "openai_compatible", "moonshotai/Kimi-K2-Instruct-0905"),
    Recording("crusoe-text", "openai_compatible", "meta-llama/Llama-3.3-70B-Instruct"),
    Recording("glm-thinking", "openai_compatible", "glm-4.7-flash"),
    Recording("qwen-tool", "openai_compatible", "qwen-plus"),
    Recording("snowflake-text", "openai_compatible", "claude-sonnet-4-6"),
)


def spoken_directly() -> Iterator[Recording]:
    """Those of servers that are asked without the model library."""
    return (one for one in RECORDINGS if one.provider in DIRECT)
