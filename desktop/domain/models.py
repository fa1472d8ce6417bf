"""Models, requests to them and what streams back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, StopReason, ToolCallBlock, Usage
from desktop.domain.model_settings import UNKNOWN, UNSAID, ModelSettings, ModelTraits
from desktop.domain.runs.meta import RunMeta

Locality = Literal["local", "provider", "demo", "scripted"]


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """A kind of place where models live."""

    provider: str
    """The key of the kind."""
    title: str
    """The name a person reads."""
    needs: tuple[str, ...] = ("key",)
    """The fields a person fills in: key, base_url, region, api_version …; one that ends with ``?`` may stay empty."""
    key_url: str = ""
    """Where a key is to be had, shown as text."""
    locality: Locality = "provider"
    """Whether it is on this machine."""
    secrets: tuple[str, ...] = ("key",)
    """The fields that go to the keyring, the main one first."""
    address: str = ""
    """Where it usually answers, where a person may write another."""

    def secret_names(self, name: str) -> dict[str, str]:
        """Under which names the secrets of a connection lie, by field; ``name`` is the connection's
        ``secret_name``. Empty for a connection without a key."""
        return {field: f"{name}/{field}" if i else name for i, field in enumerate(self.secrets)} if name else {}


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider as a person set it up: plain data without the secret, which lives in the keyring.

    ``connection_id`` is unique ("openai", "ollama", "lab-server"); ``secret_name`` names the keyring entry or "".
    """

    connection_id: str
    provider: str
    title: str
    base_url: str = ""
    secret_name: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model at a connection, rendered ``connection/model``."""

    connection_id: str
    model: str

    def __str__(self) -> str:
        return f"{self.connection_id}/{self.model}"

    @classmethod
    def parse(cls, text: str) -> ModelRef:
        """``connection/model``; the model part may itself hold slashes."""
        connection, _, model = text.partition("/")
        return cls(connection, model)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model. Prices are USD per million tokens; None: unknown."""

    ref: ModelRef
    """The model."""
    title: str
    """The name a person reads."""
    context_window: int | None = None
    """Tokens that the server really gives; None: unknown."""
    max_output: int | None = None
    """Tokens of one answer; None: unknown."""
    input_price: float | None = None
    """The price of what is read."""
    output_price: float | None = None
    """The price of what is written."""
    size_bytes: int | None = None
    """The size of a local model."""
    tools: bool | None = None
    """Whether it can call tools; None: unknown."""
    vision: bool | None = None
    """Whether it takes images; None: unknown."""
    hearing: bool | None = None
    """Whether it takes sounds; None: unknown."""
    locality: Locality = "provider"
    """Whether it is on this machine."""
    takes: ModelTraits = UNKNOWN
    """Which settings it takes, and what else it can do."""


@dataclass(frozen=True, slots=True)
class Senses:
    """Which kinds of content a model takes beside text; None: unknown. What a person attached is sent unless it is
    known that it is of no use; what a tool gave only to a model of which it is known that it takes it, for a server
    that does not would refuse this and every later request."""

    images: bool | None = None
    sounds: bool | None = None


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server that was looked for on this machine."""

    kind: Literal["ollama", "lmstudio", "llamacpp", "vllm"]
    """Which server it is."""
    title: str
    """Its name for a person."""
    base_url: str
    """Where it answers, or was looked for."""
    running: bool
    """Whether it answers."""
    models: tuple[ModelInfo, ...] = ()
    """The models that it has."""
    problem: str = ""
    """Why it does not answer as it should."""
    note: str = ""
    """What a person should know of it, as that some of its models are not on this machine."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One round's request. The client owns both time limits, because the library's does not hold once a slow stream
    flows."""

    model: ModelRef
    """The model that is asked."""
    messages: tuple[ChatMessage, ...]
    """The conversation."""
    system: str = ""
    """The system text: the same from round to round, so that providers can read it from their cache."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """Native schemas (``{"name", "description", "parameters"}``)."""
    settings: ModelSettings = UNSAID
    """Temperature, effort and the like."""
    answer_schema: Mapping[str, Any] | None = None
    """A JSON Schema that the model's own structured output holds its texts to (R-MOD-8); None: they are free."""
    deadline_s: float | None = 600.0
    """Seconds for the whole answer."""
    idle_s: float | None = 120.0
    """Seconds of silence between two chunks."""
    beside: str = ""
    """What is said with one message: what the person's message brought in."""
    beside_id: str = ""
    """The ``source_id`` of that message; where it is not among those that are sent, it is said last."""
    note: str = ""
    """What holds for this request alone; it is said last, behind the messages."""

    @property
    def instructions(self) -> str:
        """All that is said beside the messages, in one text."""
        return f"{self.system}{self.beside}{self.note}"


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """An assistant message, and why it is not a whole one: ``error`` None means that it is."""

    message: ChatMessage
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thinking text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningSealed:
    """What the maker of the thinking wants back with it; it ends the thinking before it. ``alone``: it belongs to no
    text that came."""

    sealed: str
    alone: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallProgress:
    """A tool call is being written: its name as soon as known, and how many characters of arguments have come."""

    index: int
    tool: str
    characters: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The last item of every stream that was not cut: calls are complete, usage as reported or None."""

    stop_reason: StopReason
    tool_calls: tuple[ToolCallBlock, ...] = ()
    usage: Usage | None = None
    model: str = ""
    maker: str = ""
    """Who gets the thinking of this answer again, see ``ReasoningBlock.maker``; "": nobody."""


@dataclass(frozen=True, slots=True)
class SettingsLeftOut:
    """Settings of the request that the model does not take, each in words for a person; told once a chat and model."""

    settings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnsweredInstead:
    """Another model answers than the one that was asked, which ``why`` says in words; before all other items."""

    asked: ModelRef
    by: ModelRef
    why: str


StreamItem = (
    TextDelta | ReasoningDelta | ReasoningSealed | ToolCallProgress | SettingsLeftOut | AnsweredInstead | Finished
)


class ModelClient(Protocol):
    """Talks to models. ``stream`` raises ModelError subclasses and ends promptly when the token is cancelled."""

    def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncIterator[StreamItem]:
        """Ask a model; the items of its answer in order, the last of which is ``Finished``."""
        ...


class HeldToSchemas(Protocol):
    """Whether a model's own structured output holds its texts to a JSON Schema, also with tools beside it."""

    async def __call__(self, ref: ModelRef, *, with_tools: bool) -> bool: ...


async def nothing_holds(ref: ModelRef, *, with_tools: bool) -> bool:
    """Where nothing is known of models."""
    del ref, with_tools
    return False


class SecretStore(Protocol):
    """Secrets by name. Values are write-only for the app's windows (R-UI-6); nothing here is ever logged."""

    def get(self, name: str) -> Awaitable[str | None]:
        """The value, or None. Raises SecretsUnavailable when the keyring is locked, missing or silent."""
        ...

    def put(self, name: str, value: str) -> Awaitable[bool]:
        """Store a secret; returns True when the keyring has it, False when only this process does (R-SEC-2)."""
        ...

    def delete(self, name: str) -> Awaitable[None]:
        """Delete the secret from the keyring and from this process."""
        ...
