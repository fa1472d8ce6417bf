"""What can be chosen for a thread in an editor: who answers, and with which model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.errors import ConfigurationError, KnownError
from desktop.domain.models import ModelInfo
from desktop.domain.text.hidden_characters import without_hidden
from desktop.domain.threads import ThreadRecord
from desktop.presenter.editors.desk import EditorDesk

AGENT, MODEL = "agent", "model"
MODELS_SHOWN = 500
ASK_MODE = "ask"
MODES = (
    {"id": ASK_MODE, "name": "Ask each time", "description": "Every write and command asks, unless a rule allows it."},
)


def options_of(desk: EditorDesk, thread: ThreadRecord, models: Sequence[ModelInfo]) -> list[dict[str, Any]]:
    """The choices of a thread, with what is chosen. ``models``: those that are known so far."""
    agents = {agent.name: (agent.shown, agent.description) for agent in desk.agents.chat()}
    agents.setdefault(thread.agent, (thread.agent, ""))
    known = {str(model.ref): model.title for model in models[:MODELS_SHOWN]}
    known.setdefault(thread.model, thread.model.partition("/")[2] or thread.model)
    return [
        _select(AGENT, "Agent", thread.agent, agents),
        _select(MODEL, "Model", thread.model, {ref: (title, ref) for ref, title in known.items() if ref}),
    ]


def _select(name: str, title: str, chosen: str, values: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    return {
        "id": name,
        "name": title,
        "value": chosen,
        "choices": [
            {"value": value, "name": without_hidden(shown)[:120] or value, "description": without_hidden(about)[:400]}
            for value, (shown, about) in values.items()
        ],
    }


def check(desk: EditorDesk, option: str, value: str) -> None:
    """Raises KnownError for what cannot be chosen."""
    if option == AGENT:
        if value not in {agent.name for agent in desk.agents.chat()}:
            raise ConfigurationError(f"There is no agent named {value!r:.80} to chat with.")
    elif option == MODEL:
        if not desk.reaches(value):
            raise KnownError(
                f"There is no connection for the model {value!r:.200}.",
                next_step="Choose another, or connect it in Assent, Settings, Models and keys.",
                code="model.unknown",
            )
    else:
        raise ConfigurationError(f"There is nothing called {option!r:.40} to choose.")


async def choose(desk: EditorDesk, thread_id: str, option: str, value: str) -> None:
    """Set a choice of a thread. Raises KnownError for what cannot be chosen."""
    check(desk, option, value)
    await (desk.chats.set_agent if option == AGENT else desk.chats.set_model)(thread_id, value)
