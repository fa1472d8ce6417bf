"""Which model is asked, and the connections to models."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection
from desktop.domain.servers.starting import USUAL_CONTEXT
from desktop.settings.spec import setting

PAGE = "Models and keys"
_LEFT = "It goes on when Assent ends. Off: it ends with Assent."
_WITH = "Each start of Assent starts it, unless it runs already."
_EYES = "The file beside the model with which it sees images, as you saw it. With Assent no other one is given to it."
_PROGRAM = "The program that you saw and started. With Assent only this one is started, no other of its name."


def _context(server: str) -> Any:
    about = "How many tokens of a chat it holds. More needs more memory. With 0 it chooses."
    most = {"minimum": 0, "maximum": 1 << 24, "unit": "tokens"}
    return setting(USUAL_CONTEXT, f"Context of {server}", "whole", about, PAGE, **most)


def _port(server: str) -> Any:
    about = "Where the one that was started last answers, if not at its usual port. With 0 it is that."
    return setting(0, f"Port of {server}", "whole", about, PAGE, minimum=0, maximum=65535)


@dataclass(frozen=True, slots=True)
class LlamaCppStart:
    """How llama-server is started from the page of models."""

    file: str = setting("", "Model file of llama-server", "text", "The GGUF file that llama-server is given.", PAGE)
    sees_with: str = setting("", "Image file of llama-server", "text", _EYES, PAGE)
    context: int = _context("llama-server")
    """How many tokens of a chat it holds."""
    leave_running: bool = setting(False, "Leave llama-server running", "flag", _LEFT, PAGE)
    with_assent: bool = setting(False, "Start llama-server with Assent", "flag", _WITH, PAGE)
    program: str = setting("", "Program of llama-server", "text", _PROGRAM, PAGE)
    port: int = _port("llama-server")
    """Where it answered last, if not at its usual port."""


@dataclass(frozen=True, slots=True)
class OllamaStart:
    """How Ollama is started from the page of models."""

    context: int = _context("Ollama")
    leave_running: bool = setting(False, "Leave Ollama running", "flag", _LEFT, PAGE)
    with_assent: bool = setting(False, "Start Ollama with Assent", "flag", _WITH, PAGE)
    program: str = setting("", "Program of Ollama", "text", _PROGRAM, PAGE)
    port: int = _port("Ollama")


@dataclass(frozen=True, slots=True)
class ModelsSettings:
    """Settings of models: the default model and the connections."""

    default: str = setting(
        "",
        "Default model",
        "text",
        "The model of a new chat, written connection/model. Empty: the first one that is there.",
        "Models and keys",
    )
    fallbacks: tuple[str, ...] = setting(
        (),
        "If a model cannot answer",
        "texts",
        "Models to ask instead, in order, each written connection/model: where the one that was asked is overloaded, "
        "takes no more requests or cannot be reached, and nothing of its answer has come. What is asked of a model on "
        "your own computer or network never goes to one elsewhere.",
        "Models and keys",
    )
    corrections: tuple[str, ...] = setting(
        (),
        "What models take",
        "traits",
        "Where a list or a server is wrong about a model: connection/model, then effort=low,high (or no), "
        "temperature=no, seed=yes and so on, schema=yes.",
        "Chats",
    )
    connections: tuple[Connection, ...] = setting(
        (),
        "Connections",
        "connections",
        "Providers and servers, without their keys: those are in the system's keyring.",
        "Models and keys",
    )
    llamacpp: LlamaCppStart = field(default_factory=LlamaCppStart)
    """llama-server, as a person starts it here."""
    ollama: OllamaStart = field(default_factory=OllamaStart)
    """Ollama, as a person starts it here."""
