"""Tools registered by code: bootstrap tools, MCP tools, inline delegates, callback refs (R-RES-10 … R-RES-12, C-3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef, SkillFunction, SkillSource
from desktop.domain.tools import Tool
from desktop.skills.names import MAX_NAME, is_bare_name, normal_tags
from desktop.skills.resolution.globals import Globals

_ALIAS_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
SUFFIX = 8
"""Hexadecimal digits at the end of a callback's name."""
_FREE: Mapping[str, Any] = {"params": {"type": "object", "additionalProperties": True}}


@dataclass(frozen=True, slots=True)
class RegisterToolOptions:
    """What ``register_tool`` takes (R-RES-11)."""

    name: str
    """Its name."""
    fn: SkillFunction | None = None
    """The function."""
    description: str = ""
    """What models and people read."""
    params: Mapping[str, Any] | None = None
    """The JSON Schema of its arguments."""
    returns: Mapping[str, Any] | None = None
    """The JSON Schema of its result."""
    tags: Iterable[str] = ()
    """Its tags; those that begin with ``meta-`` are kept for ``source="library"`` only (R-SK-10)."""
    visibility: str = ""
    """Whom it is shown to."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Further frontmatter."""
    role: str = ""
    """What it is for, besides being called."""
    allowed_tools: str | None = None
    """Its list; None: not given."""
    src: str | None = None
    """``mcp://…``, ``inline://…`` or None."""
    module: str = ""
    """Where the code came from, for people."""
    content: str = ""
    """Its text, for people."""
    aliases: tuple[str, ...] = ()
    """Names for providers (S-RES-3)."""
    category: str = ""
    """Who has to agree, or ""."""
    source: SkillSource = "program"
    """Whose it is."""
    tool: Tool | None = None
    """The tool, instead of a function."""


def register_tool(globals: Globals, options: RegisterToolOptions) -> SkillDef:
    """Add a tool, in place of one of the same name. Raises ConfigurationError for a name or alias that cannot be."""
    definition = _definition(options)
    tools = globals.tools
    with tools.lock:
        _require_free(globals, definition)
        _remove(globals, definition.name)
        tools.programmatic[definition.name] = definition
        tools.aliases.update(dict.fromkeys(definition.aliases, definition.name))
        if definition.src:
            tools.by_src[definition.src] = definition.name
        tools.changes += 1
    globals.cache.forget_names([definition.name, *definition.aliases])
    return definition


def unregister_tool(globals: Globals, name: str) -> bool:
    """Remove a tool and what the caches know of it; False when there is none."""
    with globals.tools.lock:
        removed = _remove(globals, name)
        globals.tools.changes += removed is not None
    if removed is not None:
        globals.cache.forget_names([name, *removed.aliases])
    return removed is not None


def create_callback_ref(
    globals: Globals,
    label: str,
    fn: SkillFunction | Callable[..., Any],
    *,
    description: str = "",
    params: Mapping[str, Any] | None = None,
    returns: Mapping[str, Any] | None = None,
    category: str = "read",
) -> str:
    """Register a function under a generated name, ``{label}-{8 hex}``, and return it (R-RES-12). An ordinary
    programmatic tool, hidden: it obeys allowed-tools like any other."""
    if not is_bare_name(label) or len(label) > MAX_NAME - SUFFIX - 1:
        raise ConfigurationError(f"{label!r} cannot be the label of a callback.")
    with globals.tools.lock:
        name = _free_name(globals, label)
        register_tool(
            globals,
            RegisterToolOptions(
                name, fn, description or f"Callback {label}", params, returns, visibility="hidden", category=category
            ),
        )
    return name


def hand_out(globals: Globals, label: str, fn: SkillFunction | None = None, tool: Tool | None = None) -> str:
    """A ref of the runtime's own, ``{label}-{8 hex}``, for one agent and its provider: never listed, and no change to
    what skills there are. A ``fn`` is called by ``ctx.manager.invoke`` and is no tool: it checks itself who calls. A
    ``tool`` is found by whoever knows the ref. Give it back with ``take_back``."""
    with globals.tools.lock:
        name = _free_name(globals, label)
        globals.tools.handed[name] = SkillDef(
            label,
            f"Callback {label}",
            "program",
            "program",
            metadata=_FREE,
            visibility="hidden",
            category="read",
            fn=fn,
            tool=tool,
        )
    return name


def take_back(globals: Globals, ref: str) -> None:
    """Remove what was registered under a ref: it is not found any more (R-AG-9)."""
    with globals.tools.lock:
        globals.tools.handed.pop(ref, None)


def _free_name(globals: Globals, label: str) -> str:
    while (name := f"{label}-{os.urandom(SUFFIX // 2).hex()}") in globals.tools.programmatic | globals.tools.handed:
        pass
    return name


def lookup(globals: Globals, ref: str) -> SkillDef | None:
    """The registered skill of this exact alias (C-3), name or ``src``."""
    tools = globals.tools
    handed = tools.handed.get(ref)
    if handed is not None and handed.tool is not None:
        return handed
    return tools.programmatic.get(tools.aliases.get(ref) or tools.by_src.get(ref) or ref)


def all_programmatic(globals: Globals) -> list[SkillDef]:
    """All registered skills, in the order of registration."""
    with globals.tools.lock:
        return list(globals.tools.programmatic.values())


def _definition(options: RegisterToolOptions) -> SkillDef:
    if not is_bare_name(options.name):
        raise ConfigurationError(f"{options.name!r} cannot be the name of a tool.", next_step="Use a-z, 0-9 and -.")
    metadata = {**options.metadata}
    for key, value in (("params", options.params), ("returns", options.returns)):
        if value is not None:
            metadata[key] = value
    extras = {key: value for key, value in (("module", options.module), ("content", options.content)) if value}
    tags = normal_tags(options.tags)
    if options.source != "library":
        tags = tuple(tag for tag in tags if not tag.startswith("meta-"))
    return SkillDef(
        options.name,
        options.description,
        "program",
        options.source,
        src=options.src,
        allowed_tools=options.allowed_tools,
        metadata=metadata,
        extras=extras,
        tags=tags,
        visibility=options.visibility,
        role=options.role,
        category=options.category,
        fn=options.fn,
        tool=options.tool,
        aliases=tuple(dict.fromkeys(options.aliases)),
    )


def _require_free(globals: Globals, definition: SkillDef) -> None:
    """Aliases and sources are exact names of one tool; a name of one may not be an alias of another."""
    tools = globals.tools
    for alias in definition.aliases:
        if not alias or len(alias) > MAX_NAME or not set(alias) <= _ALIAS_CHARACTERS:
            raise ConfigurationError(f"{alias!r} cannot be an alias of {definition.name}.")
        other = alias if alias in tools.programmatic else tools.aliases.get(alias, definition.name)
        if other != definition.name:
            raise ConfigurationError(f"{alias!r} cannot be an alias of {definition.name}: it names {other}.")
    owner = tools.aliases.get(definition.name, definition.name)
    if owner != definition.name:
        raise ConfigurationError(f"{definition.name!r} is already an alias of {owner}.")
    owner = tools.by_src.get(definition.src or "", definition.name)
    if owner != definition.name:
        raise ConfigurationError(f"{definition.src} is already the tool {owner}.")


def _remove(globals: Globals, name: str) -> SkillDef | None:
    tools = globals.tools
    found = tools.programmatic.pop(name, None)
    if found is not None:
        for alias in found.aliases:
            tools.aliases.pop(alias, None)
        if found.src:
            tools.by_src.pop(found.src, None)
    return found
