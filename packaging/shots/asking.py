"""Sample questions of servers, and sign-ins to them, for the pictures. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from desktop.domain.servers.questions import AnswerValue, AskedField, ServerQuestion
from desktop.domain.servers.sign_in import SignInFacts, SignInScope
from desktop.presenter.mcp.rows import McpRow
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


def signed(name: str, host: str, state: str, facts: SignInFacts) -> McpRow:
    """A server at an address, and how a person's sign-in to it stands."""
    elsewhere = "It runs elsewhere: nothing on this computer holds what it does with these arguments."
    return McpRow(name, state, "", f"https://{host}/mcp", True, True, elsewhere, "", "", "", (), (), 1, sign_in=facts)


_OFFERED = (
    SignInScope("archive.read", "", needed=True),
    SignInScope("archive.annotate"),
    SignInScope("offline_access", "Stay signed in when this sign-in ends"),
)
_NOW = time.time()
SIGN_INS = (
    signed("tide-archive", "tides.example", "sign_in", SignInFacts("asks", "login.tides.example", scopes=_OFFERED)),
    signed(
        "harbour-tickets",
        "tickets.harbour.example",
        "sign_in",
        SignInFacts("waiting", "login.harbour.example", address="https://login.harbour.example/a", until=_NOW + 258),
    ),
    signed(
        "station-registry",
        "stations.example",
        "running",
        SignInFacts(
            "in",
            "login.stations.example",
            since=_NOW - 9_000,
            renewed=_NOW - 1_200,
            renews=True,
            granted=("stations:read", "stations:write"),
            left_out=("stations:delete",),
            can_revoke=True,
        ),
    ),
    signed(
        "weather",
        "weather.example",
        "sign_in",
        SignInFacts(
            "refused",
            problem="The answer came from login.wx.example, but the server had named id.weather.example. "
            "Nothing was kept.",
        ),
    ),
)


class SampleAsking(QObject):
    """One question, and another behind it."""

    changed = Signal()

    def __init__(self, question: ServerQuestion) -> None:
        super().__init__()
        self.current, self.behind = question, 1 if question.url else 0
        self.asked_by = lambda one: one.asked_by

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
