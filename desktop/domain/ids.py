"""Identifiers. All are opaque strings; a person never reads them, a log may."""

from __future__ import annotations

import uuid
from typing import NewType

from desktop.domain.loading.lazy_dataclass import dataclass

ThreadId = NewType("ThreadId", str)
RunId = NewType("RunId", str)
MessageId = NewType("MessageId", str)
CallId = NewType("CallId", str)
RequestId = NewType("RequestId", str)


def new_id() -> str:
    """A cryptographically random id (uuid4, 32 hex digits) (R-SES-1)."""
    return uuid.uuid4().hex


def short_id() -> str:
    """Eight random hex digits, for names such as ``callback-1a2b3c4d`` (R-RES-12, R-TRC-6)."""
    return uuid.uuid4().hex[:8]


@dataclass(frozen=True, slots=True)
class AgentId:
    """Address of one agent in a run tree, rendered ``type/key`` (Q-11)."""

    type: str
    key: str

    def __str__(self) -> str:
        return f"{self.type}/{self.key}"
