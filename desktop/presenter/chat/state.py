"""Small records that the chat page shows beside the transcript."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Usage
from desktop.presenter.transcript.items import ListeningAgent


@dataclass(frozen=True, slots=True)
class Meters:
    """What the header of a chat always shows."""

    agent: str = "assistant"
    """Name of the agent that answers."""
    agent_title: str = "Assistant"
    """The same agent as a person reads it."""
    model: str = ""
    """Reference of the model."""
    model_title: str = ""
    """The same model as a person reads it."""
    context_used: int = 0
    """Tokens of the last request, or an estimate before there was one."""
    context_window: int | None = None
    """Tokens that the model can read; None: unknown."""
    tokens: int = 0
    """Tokens used in this thread so far."""
    cost: float | None = 0.0
    """Dollars used in this thread so far; None: unknown."""
    compacting: bool = False
    """Not every message is sent as it is."""
    dropped: bool = False
    """Some messages are neither sent nor in a summary."""
    used: Usage | None = None
    """What was used in this thread so far, all of it."""
    token_scale: float = 1.0
    """How many of the model's tokens an estimated one is, as it was last learned."""


@dataclass(frozen=True, slots=True)
class RunState:
    """What the composer and the Stop button need to know."""

    running: bool = False
    """Whether a run goes on."""
    waiting: bool = False
    """Whether it waits for a person."""
    stopping: bool = False
    """Whether it is being stopped."""
    can_send: bool = True
    """Whether a message can be sent or queued."""
    phase: str = ""
    """What the run is doing."""
    sentence: str = ""
    """The same, for a person."""
    listening: tuple[ListeningAgent, ...] = ()
    """The agents that wait for a message."""

    @property
    def queues(self) -> bool:
        """Whether what is sent now waits: the agent of the thread is at work, and not waiting for a message."""
        return self.running and not any(agent.is_own for agent in self.listening)


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """Typed during a run; goes out when the run has ended, or, once a Stop holds it, when the person says so."""

    queue_id: str
    text: str
    held: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """One completion for ``/`` or ``@``: what is shown, what is inserted."""

    label: str
    """What is read, and found by."""
    insert: str
    """What takes the place of the word that was typed."""
    hint: str = ""
    """What stands at the right."""
    icon: str = ""
    """What stands at the left."""
    group: str = ""
    """What it stands under."""
    detail: str = ""
    """What it is asked for by, and found by, too."""
    barred: bool = False
    """It is shown with the reason and cannot be chosen."""
    item: object = None
    """Of a server: its resource, family of resources, or prompt."""
