"""``allowed-tools`` as other apps write it, in our patterns (R-PRJ-4, agentskills.io, SK table).

``Bash(git:*) Bash(jq:*) Read``, ``Read, Write, Edit`` and patterns of ours may stand in one list. What is understood
binds; what is not is handed back, for a warning, and allows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.mcp_names import canonical
from desktop.skills.patterns.grammar import parse_pattern
from desktop.skills.patterns.syntax import PatternError

_BASH = "Bash"
TOOLS: dict[str, tuple[str, ...]] = {
    "Read": ("read-file",),
    "NotebookRead": ("read-file",),
    "Write": ("write-file",),
    "Edit": ("edit-file",),
    "MultiEdit": ("edit-file",),
    "NotebookEdit": ("edit-file",),
    _BASH: ("bash",),
    "Shell": ("bash",),
    "Glob": ("find-files",),
    "LS": ("list-directory",),
    "List": ("list-directory",),
    "Grep": ("find-text",),
    "WebFetch": ("web-fetch",),
    "WebSearch": ("web-search",),
    "Skill": ("skill-list", "skill-describe", "skill-invoke"),
}
"""Names of Claude Code's tools, and ours that do what they are for."""
_DOMAIN = "domain:"
_BY_PATH = frozenset({"read-file", "write-file", "edit-file", "list-directory", "find-text", "find-files"})
_BY_ANY_CASE = {name.lower(): name for name in TOOLS}
_WORD = re.compile(r"([A-Za-z_][\w-]*)(?:\s*\((.*)\))?", re.DOTALL)
_FOREIGN = re.compile(r"(?:^|[\s,])(?:[A-Z]\w*|mcp__\w+|bash\([^=$()]*\))(?=[\s,(]|\Z)")
_OURS = re.compile(r"\s*(?:\$|[\w.\[\]-]+=)")
_NESTS = re.compile(r"[({\\]")
_ENTRY = re.compile(r"[^\s,]+")
_OUR_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}\*?\Z")
"""A pattern of ours beyond doubt."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_PREFIX = re.compile(r":\*\Z|\s+\*\Z")
_SPECIAL = re.compile(r"[\\,(){}\[\]?]")
_VARIABLE = re.compile(r"\$\{?[A-Za-z_]\w*\}?|\{\w+\}")
_FOLDER = re.compile(r"\$\{CLAUDE_SKILL_DIR\}|\$CLAUDE_SKILL_DIR\b|\{baseDir\}")


@dataclass(frozen=True, slots=True)
class Reading:
    """The list of tools of another product, read. ``patterns`` are ours; ``unknown`` what was not understood, each with
    its column from 1."""

    patterns: tuple[str, ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()


def is_foreign(text: str) -> bool:
    """Whether anything in a list is certainly none of our own patterns: no name of ours has a capital, for example."""
    return _FOREIGN.search(text) is not None


def forbids(word: str) -> bool:
    """Whether an entry that was not understood says what may not be done: without it more would be allowed."""
    return "$deny" in word or "$policy" in word


def read_list(text: str, folder: str, *, any_case: bool = False) -> Reading:
    """Read a whole list. ``folder`` is the skill's own, for patterns that name it; ``any_case``: ``read`` is ``Read``
    too, as in files that were not written for us."""
    patterns: dict[str, None] = {}
    unknown: list[tuple[str, int]] = []
    for word, column in _words(text):
        found = _translated(word, folder, any_case=any_case)
        if found:
            patterns.update(dict.fromkeys(found))
        else:
            unknown.append((word, column))
    return Reading(tuple(patterns), tuple(unknown))


def _words(text: str) -> Iterator[tuple[str, int]]:
    """The entries with their columns, split at blanks and commas outside of parentheses and braces."""
    if not _NESTS.search(text):  # as nearly all lists
        yield from ((found[0], found.start() + 1) for found in _ENTRY.finditer(text))
        return
    start, depth, at = -1, 0, 0
    while at < len(text):
        letter = text[at]
        if depth <= 0 and (letter.isspace() or letter == ","):
            if start >= 0 and not _goes_on(text, at):
                yield text[start:at], start + 1
                start = -1
        else:
            start = at if start < 0 else start
            depth += (letter in "({") - (letter in ")}")
            at += letter == "\\"
        at += 1
    if start >= 0:
        yield text[start:], start + 1


def _goes_on(text: str, at: int) -> bool:
    """Whether a parenthesis after blanks belongs to the word before them: ``Bash (git:*)``."""
    return text[at:].lstrip(" \t")[:1] == "(" and text[at] in " \t"


def _translated(word: str, folder: str, *, any_case: bool) -> list[str]:
    """Our patterns for one entry; none when it is not understood."""
    match = _WORD.fullmatch(word)
    name, inside = (match[1], match[2]) if match is not None else ("", None)
    if inside is None:
        theirs = _BY_ANY_CASE.get(name, name) if any_case else name
    else:
        theirs = name if name != name.lower() or _OURS.match(inside) else _BY_ANY_CASE.get(name, name)
    if theirs in TOOLS:
        return _of_tool(theirs, (inside or "").strip(), folder)
    if word.startswith("mcp__"):
        return _of_server(word)
    if name != name.lower():
        return []  # names of ours have no capitals
    if _OUR_NAME.match(word):
        return [word]
    try:
        parse_pattern(word)
    except PatternError:
        return []
    return [word]


def _of_tool(name: str, inside: str, folder: str) -> list[str]:
    ours = TOOLS[name]
    if inside in ("", "*", "**", ":*"):
        return list(ours)
    text = _FOLDER.sub(lambda _: folder, inside)
    if _VARIABLE.search(text):
        return []  # of somebody else's surroundings
    if ours == ("bash",):
        return [f"bash(command={_escaped(command)})" for command in _commands(text)]
    if ours == ("web-fetch",):
        return [f"web-fetch(host={_escaped(text[len(_DOMAIN) :])})"] if text.startswith(_DOMAIN) else []
    if not _BY_PATH.issuperset(ours):
        return []
    return [f"{tool}(path={_escaped(_path(text))})" for tool in ours]


def _commands(text: str) -> list[str]:
    """``git:*`` and ``git *`` are the program alone, and with anything after it; all else is the one command."""
    prefix = _PREFIX.sub("", text).strip()
    if prefix == text.strip():
        return [prefix]
    return [prefix, f"{prefix} *"] if prefix else ["*"]


def _path(text: str) -> str:
    """``//x`` is absolute elsewhere, ``/x`` begins at the project."""
    return text[1:] if text.startswith("/") else text.removeprefix("./")


def _of_server(name: str) -> list[str]:
    _, server, *tool = name.split("__", 2)
    whole = not tool or tool[0] in ("", "*")
    if not _PLAIN_NAME.fullmatch(server) or not (whole or _PLAIN_NAME.fullmatch(tool[0])):
        return []
    return [f"{canonical(server, 'x')[:-2]}-*" if whole else canonical(server, tool[0])]


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", text)
