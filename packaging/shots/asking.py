"""Sample questions of servers for the pictures: a form, and a page to be opened. Never in the app."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from desktop.domain.server_questions import AnswerValue, AskedField, ServerQuestion
from desktop.tools.mcp.asking.form import checked, fields_of, typed

_SCHEMA = {
    "type": "object",
    "properties": {
        "quay": {
            "type": "string",
            "title": "Quay",
            "oneOf": [
                {"const": "q1", "title": "Quay 1, ferry"},
                {"const": "q3", "title": "Quay 3, north steps"},
                {"const": "q4", "title": "Quay 4"},
            ],
            "default": "q3",
        },
        "urgency": {"type": "string", "title": "How urgent", "enum": ["low", "normal", "high"], "default": "normal"},
        "day": {"type": "string", "title": "Day of the visit", "format": "date"},
        "mail": {"type": "string", "title": "Call back at", "format": "email"},
        "stop": {"type": "boolean", "title": "Stop the gauge while they work", "default": True},
    },
    "required": ["quay", "urgency", "day", "stop"],
}
_WORDS = "Where is it, and when may somebody come? Quay 3 needs a boat at low water."
FORM = ServerQuestion(
    "q1",
    "harbour-tickets",
    "tickets.harbour.example",
    ("Workbench",),
    "harbour-tickets-create",
    "t1",
    _WORDS,
    fields_of(_SCHEMA),
)
PAGE = ServerQuestion(
    "q2",
    "harbour-tickets",
    "tickets.harbour.example",
    ("Workbench", "file-ticket"),
    "harbour-tickets-create",
    "t1",
    "Confirm the visit with the harbour office first.",
    (),
    "https://visits.harbour.example/confirm/8f2c19?from=assent",
)


class SampleAsking(QObject):
    """One question, and another behind it."""

    changed = Signal()

    def __init__(self, question: ServerQuestion) -> None:
        super().__init__()
        self.current, self.behind = question, 1 if question.url else 0

    def is_open(self, _question_id: str) -> bool:
        """It waits."""
        return True

    def value(self, asked: AskedField, raw: object) -> AnswerValue | None:
        """As the app does it."""
        if asked.kind in ("text", "number", "integer"):
            return typed(asked, str(raw))
        return None if raw is None else checked(asked, raw)

    def send(self, _question_id: str, _values: Mapping[str, AnswerValue]) -> bool:
        """Nothing is sent."""
        return False

    def refuse(self, _question_id: str) -> None:
        """Nothing happens."""

    def stop_call(self, _question_id: str) -> None:
        """Nothing happens."""
