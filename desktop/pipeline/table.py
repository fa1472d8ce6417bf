"""The table of everything callable: what code registered, then skills along the search path (R-RES-5, R-RES-10)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol

from desktop.domain.skills import SkillDef, SkillFinder
from desktop.domain.tools import Tool
from desktop.pipeline.skill_tool import SkillRunner, SkillTool
from desktop.skills.names import is_bare_name


class Registered(Protocol):
    """The tools that code registered, by canonical name or alias."""

    def find(self, name: str) -> Tool | None: ...

    def tools(self) -> Iterable[Tool]: ...


class SkillTable:
    """``find`` and ``tools`` answer from memory; ``bring`` reads what is not there yet, in a thread."""

    def __init__(self, registered: Registered, finder: SkillFinder, runner: SkillRunner) -> None:
        self._registered = registered
        self._finder = finder
        self._runner = runner
        self._adapters: dict[tuple[str, str, str], SkillTool] = {}

    async def bring(self, ref: str) -> None:
        """Have ``ref`` in memory, if it exists."""
        if self._registered.find(_canonical(ref)) is None and not self._known(ref)[0]:
            await asyncio.to_thread(self._finder.find_tool, _canonical(ref))

    def find(self, name: str) -> Tool | None:
        """By canonical name, alias, or for trusted callers any reference that was brought."""
        found = self._registered.find(name)
        if found is not None:
            return found
        definition = self._known(name)[1]
        return self._tool(definition) if definition is not None else None

    def _known(self, ref: str) -> tuple[bool, SkillDef | None]:
        """(known, definition): a further name of a tool may look like a provider's name of a skill (S-RES-3)."""
        exact = self._finder.find_cached(ref)
        if exact[1] is not None and ref in exact[1].aliases:
            return exact
        return self._finder.find_cached(_canonical(ref))

    def tools(self) -> list[Tool]:
        """Registered ones first, then skills; each name once. Reads the listing from memory where it is there."""
        listed: dict[str, Tool] = {tool.spec.name: tool for tool in self._registered.tools()}
        for definition in self._finder.list_tools():
            if definition.name not in listed:
                listed[definition.name] = self._tool(definition)
        return list(listed.values())

    def _tool(self, definition: SkillDef) -> Tool:
        if definition.tool is not None:
            return definition.tool
        key = (definition.path, definition.entry, definition.name)
        adapter = self._adapters.get(key)
        if adapter is None or adapter.definition is not definition:
            adapter = self._adapters[key] = SkillTool(definition, self._runner)
        return adapter


def _canonical(ref: str) -> str:
    """A provider's name of a skill (``skill_list``) as its own (C-3); any other reference as it is."""
    kebab = ref.replace("_", "-")
    return kebab if is_bare_name(kebab) else ref
