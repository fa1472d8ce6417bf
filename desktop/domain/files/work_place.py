"""Where a call is made: the folder that its thread works in, and the variables that its thread sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WorkPlace:
    """What a call has of its thread. A call is judged and made in the same place; nothing of it is global."""

    project: str = ""
    """The folder that the thread works in, resolved when a person chose it; "": the app's own workspace."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The thread's variables (D-6)."""
    thread_id: str = field(default="", compare=False)
    """Whose calls they are; "": no thread's."""


NOWHERE = WorkPlace()
"""No project, no variables."""
