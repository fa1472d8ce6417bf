"""Chats: limits of an answer, titles, context."""

from __future__ import annotations

from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class Chat:
    """Settings of chats: limits of an answer, titles, context."""

    max_iterations: int = setting(
        20,
        "Most rounds for one answer",
        "whole",
        "A round is one request to the model. One message may lead to this many.",
        "Chats",
        minimum=1,
        maximum=1_000,
    )
    summaries: bool = setting(
        False,
        "Summarise older messages",
        "flag",
        "When a chat outgrows the model's window, the model writes a summary of its older part instead of dropping it.",
        "Chats",
    )
    model_titles: bool = setting(
        True,
        "Titles by the model",
        "flag",
        "After the first answer of a chat its model is asked for a title, which counts among the chat's tokens and "
        "cost. Off: the first words are the title.",
        "Chats",
    )
    agent_threads: Literal["none", "run", "closing", "permanent"] = setting(
        "run",
        "Chats of called agents",
        "choice",
        "How long the chat of an agent that another one called is kept.",
        "Chats",
        choices=(
            ("none", "Not at all"),
            ("run", "Until the run ends"),
            ("closing", "Until Assent is closed"),
            ("permanent", "Until you delete it"),
        ),
    )
    send_on_enter: bool = setting(
        True, "Enter sends", "flag", "Off: Enter breaks the line and Ctrl+Enter sends.", "Chats"
    )
