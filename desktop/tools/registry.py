"""The table of everything callable that is registered in the running app (R-TOOL-8, C-3)."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ConfigurationError
from desktop.domain.tools import Tool


class ToolRegistry:
    """Tools by canonical name or provider alias; both are unique together. Safe to use from several threads."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._lock = threading.Lock()
        self._tools: dict[str, Tool] = {}
        self._names: dict[str, str] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Add a tool. Raises ConfigurationError when a name is taken or the category is none (R-TOOL-1, R-TOOL-8)."""
        with self._lock:
            self._add(tool, self._tools, self._names)

    def unregister(self, name: str) -> bool:
        """Remove a tool by its canonical name; False when there was none."""
        with self._lock:
            gone = self._tools.pop(name, None)
            if gone is None:
                return False
            self._names = {key: owner for key, owner in self._names.items() if owner != name}
            return True

    def replace_source(self, source: str, tools: Iterable[Tool]) -> None:
        """Swap all tools of one source at once; when one cannot be registered, nothing changes (R-CLI-14)."""
        with self._lock:
            kept = {name: tool for name, tool in self._tools.items() if tool.spec.source != source}
            names = {key: owner for key, owner in self._names.items() if owner in kept}
            for tool in tools:
                self._add(tool, kept, names)
            self._tools, self._names = kept, names

    def find(self, name: str) -> Tool | None:
        """The tool with this canonical name or alias."""
        with self._lock:
            return self._tools.get(self._names.get(name, ""))

    def tools(self) -> list[Tool]:
        """Every tool, by canonical name."""
        with self._lock:
            return [self._tools[name] for name in sorted(self._tools)]

    @staticmethod
    def _add(tool: Tool, tools: dict[str, Tool], names: dict[str, str]) -> None:
        spec = tool.spec
        if not isinstance(spec.category, Category):
            raise ConfigurationError(f"The tool {spec.name} has no category (read, write or admin).")
        for name in {spec.name, spec.provider_name}:
            if name in names:
                raise ConfigurationError(f"The tool name {name!r} is taken by {names[name]}; unregister that first.")
        tools[spec.name] = tool
        names.update(dict.fromkeys((spec.name, spec.provider_name), spec.name))
