"""What the Skills page calls things: sources, kinds, badges of a row, and sentences about one skill. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from desktop.domain.skills import SkillSource
from desktop.domain.text.words import compact
from desktop.pipeline.context import MAX_DEPTH
from desktop.skills.catalogue.rows import SkillRow

SOURCES: tuple[tuple[str, str, str], ...] = (
    ("mine", "Mine", "file"),
    ("project", "Project", "folder"),
    ("shared", "Installed", "pin"),
    ("library", "Internal", "lock"),
    ("mcp", "MCP", "server"),
    ("program", "Built in", "settings"),
)
"""(source, word, icon), in the order of the page."""

YOURS: frozenset[SkillSource] = frozenset({"mine", "project", "shared", "mcp"})
"""What a person made, put there or connected. What Assent brings is behind *Internal* and *Built in*."""
YOURS_WORD, EVERYTHING, EVERYTHING_WORD = "Yours", "all", "Everything"

TIPS: Mapping[str, str] = {
    "": "What you made, installed or connected",
    EVERYTHING: "Also what comes with Assent",
    "mine": "In your own skills folder",
    "project": "In the project folders that you opened",
    "shared": "Taken of a repository, or in ~/.agents and ~/.claude, which other apps use too",
    "library": "Instructions that come with Assent, for its own agents",
    "mcp": "Tools of your MCP servers",
    "program": "Tools that come with Assent, those of tools.yaml, and agents that others can call",
    "text": "Text that an agent follows",
    "code": "Programs that run when an agent calls them",
    "tool": "What agents call directly, without a file of its own",
    "problems": "Files with mistakes or warnings",
    "off": "Changed since you read them, or of a project that you do not trust",
    "shown": "Agents find these by themselves",
    "hidden": "Only agents whose list names them can use these",
    "all": "Both",
}
"""What a filter shows, by its value, for its tooltip."""

EMPTY: Mapping[str, tuple[str, str]] = {
    "project": ("No skills of a project", "Open a project folder, and its skills are listed here."),
    "shared": ("Nothing installed", "What you take of a repository is listed here, and what is in ~/.agents/skills."),
    "mcp": ("No tools of MCP servers", "Add a server in Settings, MCP servers."),
    "code": ("No skills in code", "A skill can be a Python or JavaScript file too."),
    "problems": ("No problems", "Every skill can be read."),
    "off": ("Nothing is switched off", "Agents can use every skill."),
    "hidden": ("Nothing is hidden", "A skill is hidden when its file says visibility: hidden."),
}
"""(title, sentence) where a single filter shows nothing."""


def count_of(shown: int, all_: int, hidden: int) -> str:
    """The number above the list. ``all_`` is what *Everything* has, without those that are ``hidden``; these are told
    where the list has all others: beside a part of them it is not known what they would be a part of."""
    part = "" if shown == all_ else f"{shown:,} of "
    more = f", {hidden:,} more hidden" if hidden and not part else ""
    return f"{part}{all_:,} {'skill' if all_ == 1 else 'skills'}{more}"


def nothing_words(source: str, kind: str, look: str, visibility: str, *, more: bool) -> tuple[str, str]:
    """Why the list is empty. ``more``: something else than these filters narrows it, such as a search."""
    chosen = [one for one in (source, kind, look) if one] or ([visibility] if visibility == "hidden" else [])
    usual = ("Nothing found", "No skill matches all of this.")
    return EMPTY.get(chosen[0], usual) if len(chosen) == 1 and not more else usual


KINDS: tuple[tuple[str, str, str, frozenset[str]], ...] = (
    ("text", "Instructions", "quote", frozenset({"markdown", "folder"})),
    ("code", "Code", "terminal", frozenset({"python", "javascript", "foreign"})),
    ("tool", "Tools", "settings", frozenset({"program"})),
)
"""(group, word, icon, kinds in it)."""

MAX_PEERS = 5
KIND_WORDS = {
    "markdown": "instructions, one file",
    "folder": "instructions, a folder with files",
    "python": "Python code",
    "javascript": "JavaScript code",
    "foreign": "TypeScript code, which Assent does not run",
    "program": "a part of Assent",
}
NEW_KINDS = (("folder", "Folder"), ("markdown", "One file"), ("python", "Python"))
OFF = {
    "untrusted": "You have not trusted the project it belongs to. Agents cannot see or use it.",
    "changed": "It has changed since you last read it, so it is off.",
    "broken": "It has a mistake and cannot run.",
}
CODE_FIELDS = {
    "name": "name",
    "description": "description",
    "patterns": "allowed-tools",
    "tags": "tags",
    "visibility": "visibility",
    "category": "category",
}
"""Which field of the form a problem stands at, by the first word of its code."""


def source_word(source: str) -> str:
    """``mine``, ``project``, ``installed`` …"""
    return next((word.lower() for name, word, _ in SOURCES if name == source), source)


def badges_of(row: SkillRow, changed: Collection[str] = ()) -> tuple[str, ...]:
    """The badges of a row, most urgent first. ``changed``: paths that another program wrote since the app started."""
    found = []
    if row.state == "changed":
        found.append("off: changed")
    elif row.state == "untrusted":
        found.append("not trusted")
    if row.has_problems or row.state == "broken":
        found.append("problem")
    if row.shadowed:
        found.append("shadowed")
    if row.hidden:
        found.append("hidden")
    if row.path in changed and row.state != "changed":
        found.append("changed on disk")
    return tuple(found)


def type_words(schema: Mapping[str, Any]) -> str:
    """A JSON Schema in a few words: ``text``, ``list of whole numbers``, ``one of a, b``."""
    if "const" in schema:
        return f"always {_json(schema['const'])}"
    choices = schema.get("enum")
    if isinstance(choices, list):
        shown = ", ".join(_json(choice) for choice in choices[:6])
        return f"one of {shown}" + (" …" if len(choices) > 6 else "")
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(type_words({**schema, "type": one}) for one in kind[:4])
    if kind == "array":
        items = schema.get("items")
        return f"list of {_many(type_words(items))}" if isinstance(items, Mapping) else "list"
    for word in ("anyOf", "oneOf"):
        options = schema.get(word)
        if isinstance(options, list) and options:
            return " or ".join(dict.fromkeys(type_words(o) for o in options[:4] if isinstance(o, Mapping)))
    return _TYPES.get(str(kind), "anything")


_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "object": "object",
    "null": "nothing",
}


def _many(words: str) -> str:
    return {"text": "texts", "whole number": "whole numbers", "number": "numbers", "object": "objects"}.get(
        words, words
    )


def _json(value: Any) -> str:
    text = compact(value, 41)
    return text if len(text) <= 40 else text[:39] + "…"


def table_of(schema: Mapping[str, Any] | None) -> tuple[tuple[str, str, str], ...]:
    """(name, what it is, description) of each property: what a skill takes or gives."""
    if schema is None:
        return ()
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return () if schema.get("type") == "object" else (("", type_words(schema), str(schema.get("description", ""))),)
    listed = schema.get("required")
    required = set(map(str, listed)) if isinstance(listed, list) else set()
    return tuple(_row(str(name), part, str(name) in required) for name, part in properties.items())


def _row(name: str, part: Any, required: bool) -> tuple[str, str, str]:
    schema = part if isinstance(part, Mapping) else {}
    words = [type_words(schema)]
    if required:
        words.append("required")
    if "default" in schema:
        words.append(f"else {_json(schema['default'])}")
    return name, ", ".join(words), str(schema.get("description", ""))


def calls_itself(name: str, peers: Sequence[str], maximum: int = MAX_DEPTH) -> str:
    """How a skill, or an agent, can end up calling itself, through which others, and where that ends."""
    others = [one for one in peers if one != name]
    more = f" and {len(others) - MAX_PEERS:,} more" if len(others) > MAX_PEERS else ""
    how = f"through {', '.join(others[:MAX_PEERS])}{more}" if others else "directly, as its own list names it"
    return f"{how}. Calls are nested at most {maximum} deep"
