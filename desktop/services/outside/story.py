"""What agents do, as programs outside hear it: the events of a run's topic with the path of the agent (R-MSV-2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from desktop.supervision.topics import TopicListener, Topics

MAX_AGENTS = 4_000
"""Agents of one call whose places are known; names of later ones stand alone."""

Told = Callable[[Mapping[str, Any]], None]


class RunStory:
    """Hears the topic of one run from ``begin`` to ``end`` and tells each event: ``type``, ``path``, ``agent``,
    ``sequence``, ``at`` and ``data``. Texts in it are clean and bounded already (R-TRC-9)."""

    def __init__(self, topics: Topics, run_id: str, told: Told) -> None:
        self._topics, self._run_id, self._told = topics, run_id, told
        self._paths: dict[str, str] = {}
        self._listener: TopicListener | None = None

    def begin(self) -> None:
        """Listen from now on. Raises ToolFailure where too many do."""
        self._listener = self._topics.subscribe(f"run.{self._run_id}", self._run_id, heard=self._heard)

    def end(self) -> None:
        """Listen no more."""
        self._topics.forget(self._run_id)
        self._listener = None

    def _heard(self) -> None:
        while self._listener is not None and (event := self._topics.take(self._listener)) is not None:
            if isinstance(event.data, Mapping):
                self._tell(event.data)

    def _tell(self, envelope: Mapping[str, Any]) -> None:
        data = envelope.get("data")
        if not isinstance(data, Mapping) or data.get("runId") != self._run_id:
            return
        said = {key: value for key, value in data.items() if key not in _IDENTITY}
        self._told(
            {
                "type": envelope.get("type"),
                "path": self._path(data),
                "agent": data.get("agent"),
                "sequence": data.get("sequence"),
                "at": envelope.get("timestamp"),
                "data": said,
            }
        )

    def _path(self, data: Mapping[str, Any]) -> str:
        """The agents from the first down to this one, by name."""
        own, above, name = (str(data.get(key) or "") for key in ("contextId", "ancestorContextId", "agent"))
        known = self._paths.get(own)
        if known is None:
            parent = self._paths.get(above, "")
            known = f"{parent}/{name}" if parent else name
            if len(self._paths) < MAX_AGENTS:
                self._paths[own] = known
        return known


_IDENTITY = frozenset({"runId", "contextId", "ancestorContextId", "agent", "sequence"})
