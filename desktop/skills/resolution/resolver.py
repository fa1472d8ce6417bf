"""Resolution as one object over its globals: what the rooms that call skills hold (``domain.skills.SkillFinder``)."""

from __future__ import annotations

from typing import Any

from desktop.domain.skills import SkillDef, SkillFunction
from desktop.domain.tools import Tool
from desktop.skills.catalogue.roots import enclosing_root, search_entries
from desktop.skills.resolution import authority, content, find, listing, peers, programmatic, suggestions
from desktop.skills.resolution.folders import definitions_of
from desktop.skills.resolution.globals import Globals, search_path
from desktop.skills.resolution.programmatic import RegisterToolOptions


class Resolver:
    """Implements ``domain.skills.SkillFinder``. What is not said to be otherwise may block: use a thread."""

    def __init__(self, globals: Globals) -> None:
        self.globals = globals

    def find_tool(self, ref: str, *, cwd: str | None = None) -> SkillDef | None:
        """Find a tool by reference, for trusted callers; see ``find.find_tool``."""
        return find.find_tool(ref, self.globals, cwd=cwd)

    def find_cached(self, ref: str) -> tuple[bool, SkillDef | None]:
        """(known, definition) from memory alone; does not block."""
        return find.find_cached(ref, self.globals)

    def list_tools(self) -> list[SkillDef]:
        """Everything that can be named; see ``listing.list_tools``."""
        return listing.list_tools(self.globals)

    def shipped(self) -> tuple[SkillDef, ...]:
        """The library's own skills, also those whose names mean another one."""
        library = [root for root in self.globals.config.roots if root.source == "library"]
        entries = search_entries(library, search_path(self.globals).ignore)
        return listing.list_on_disk(self.globals, paths=entries) if library else ()

    def defined_in(self, path: str) -> tuple[SkillDef, ...]:
        """The skills of a file of the folders, also those whose names mean another one."""
        root = enclosing_root(path, self.globals.config.roots)
        return definitions_of(self.globals, root, search_path(self.globals).ignore, path) if root is not None else ()

    def find_authority(self, definition: SkillDef) -> SkillDef | None:
        """The main skill that a tool stands under; see ``authority.find_authority``."""
        return authority.find_authority(definition, self.globals)

    def peers_of(self, definition: SkillDef) -> tuple[str, ...]:
        """The skills by way of which this one can come to call itself, itself alone where it names itself; see
        ``peers.cyclic_peers``. Blocks."""
        found = peers.cyclic_peers(self.globals).get(definition.name, frozenset())
        return tuple(sorted(found - {definition.name})) or tuple(found)

    def suggest_names(self, ref: str, count: int = 3) -> list[str]:
        """For "did you mean" (R-RES-20)."""
        return suggestions.suggest_names(ref, self.globals, count)

    def register_tool(self, options: RegisterToolOptions) -> SkillDef:
        """Register a tool from code. Does not block."""
        return programmatic.register_tool(self.globals, options)

    def unregister_tool(self, name: str) -> bool:
        """Remove a tool that code registered; whether there was one. Does not block."""
        return programmatic.unregister_tool(self.globals, name)

    def hand_out(self, label: str, fn: SkillFunction | None = None, tool: Tool | None = None) -> str:
        """Make a reference to a function or tool; see ``programmatic.hand_out``. Does not block."""
        return programmatic.hand_out(self.globals, label, fn, tool)

    def handed(self, ref: str) -> SkillDef | None:
        """The function that was handed out under this ref, or None. Does not block."""
        found = self.globals.tools.handed.get(ref)
        return found if found is not None and found.fn is not None else None

    def take_back(self, ref: str) -> None:
        """Make a reference that was handed out invalid. Does not block."""
        programmatic.take_back(self.globals, ref)

    def create_callback_ref(self, label: str, fn: SkillFunction, **options: Any) -> str:
        """Make a reference to a function; see ``programmatic.create_callback_ref``. Does not block."""
        return programmatic.create_callback_ref(self.globals, label, fn, **options)

    def body(self, definition: SkillDef) -> str:
        """The body as it is in the file now; see ``content.body``."""
        return content.body(self.globals, definition)

    def read_beside(self, definition: SkillDef, rel: str, maximum: int = content.MAX_BESIDE) -> bytes:
        """A file of a folder skill's own folder; see ``content.beside``."""
        return content.beside(self.globals, definition, rel, maximum)
