"""The text of an Agent Skills folder as a model gets it: its arguments put in, and told where its files are.

``$ARGUMENTS``, ``$ARGUMENTS[0]``, ``$0`` and ``${CLAUDE_SKILL_DIR}`` mean what they mean in Claude Code. What is put in
is never read for directives, nor for another of these (R-SK-12).
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
from collections.abc import Iterator, Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef
from desktop.skills.formats.folder import FolderFiles
from desktop.tools.builtin.edit_file import EDIT_FILE
from desktop.tools.builtin.files import LIST_DIRECTORY, READ_FILE, WRITE_FILE
from desktop.tools.builtin.finding import FIND_FILES, FIND_TEXT
from desktop.tools.builtin.shell import BASH
from desktop.tools.builtin.web_fetch import WEB_FETCH
from desktop.tools.builtin.web_search import WEB_SEARCH

ARGUMENTS = "arguments"
"""The argument by which a skill in words is told what follows its name."""
MAX_LISTED = 200
_SCRIPTS = (".py", ".sh", ".js", ".mjs", ".ts", ".rb", ".pl")
_PLACE = re.compile(
    r"\$ARGUMENTS\[(?P<index>\d{1,3})\]|(?P<all>\$ARGUMENTS\b)|\$(?P<short>\d{1,2})(?!\w|[.,-]\d)"
    r"|(?P<folder>\$\{CLAUDE_SKILL_DIR\}|\$CLAUDE_SKILL_DIR\b)"
)
_READ, _LIST = READ_FILE.provider_name, LIST_DIRECTORY.provider_name
_NAMES = ", ".join(
    f"{theirs} is {ours.provider_name}"
    for theirs, ours in (
        ("Read", READ_FILE),
        ("LS", LIST_DIRECTORY),
        ("Glob", FIND_FILES),
        ("Grep", FIND_TEXT),
        ("Write", WRITE_FILE),
        ("Edit", EDIT_FILE),
        ("Bash", BASH),
        ("WebFetch", WEB_FETCH),
    )
)
_NAMES += f", WebSearch is {WEB_SEARCH.provider_name} (where a search is offered)"


def of_agent_skills(definition: SkillDef) -> bool:
    """Whether it is a folder of the Agent Skills format, written for any app."""
    return definition.kind == "folder" and definition.source != "library"


@dataclass(frozen=True, slots=True)
class Marked:
    """A body with marks where values belong, to be expanded before they are put in."""

    text: str
    values: tuple[str, ...]
    mark: str

    def filled(self, expanded: str) -> str:
        """The expanded text with the values in their places."""
        return re.sub(rf"{self.mark}(\d+);", lambda found: self.values[int(found[1])], expanded)


def marked(body: str, given: str, folder: str) -> Marked:
    """Mark the places of ``given``, what follows the skill's name, and of its ``folder``. Arguments that no place asks
    for come last, under a word of their own; a numbered place beyond them stays as it is: it may be a price, or of a
    shell."""
    words, mark = _words(given), f"assent-{secrets.token_hex(8)}-"
    values: list[str] = []
    asked = False

    def place(found: re.Match[str]) -> str:
        nonlocal asked
        number = found["index"] or found["short"]
        if found["folder"]:
            value = folder
        elif found["all"]:
            asked, value = True, given
        elif int(number) < len(words):
            asked, value = True, words[int(number)]
        else:
            return found[0]
        values.append(value)
        return f"{mark}{len(values) - 1};"

    text = _PLACE.sub(place, body)
    if given and not asked:
        values.append(given)
        text = f"{text.rstrip()}\n\nARGUMENTS: {mark}{len(values) - 1};\n"
    return Marked(text, tuple(values), mark)


def _words(given: str) -> list[str]:
    try:
        return shlex.split(given)
    except ValueError:  # an apostrophe in plain text
        return given.split()


def with_folder(text: str, definition: SkillDef, found: FolderFiles) -> str:
    """The text, with where its files are and how they can be used."""
    return f"{text.rstrip()}\n\n" + "\n".join(_about(definition, found)) + "\n"


def _about(definition: SkillDef, found: FolderFiles) -> Iterator[str]:
    folder = os.path.dirname(definition.path)
    yield f"(About this skill. Its folder is {_one_line(folder)}; relative paths in its text start there."
    yield f"Where it names tools of other apps: {_NAMES}.)"
    if not found.files:
        return
    yield f"Its files, which {_READ} and {_LIST} may read and nothing may change:"
    yield from _listed([f"{_one_line(file.path)} ({file.size:,} bytes)" for file in found.files], more=found.more)
    if any(file.path.startswith("scripts/") or file.path.endswith(_SCRIPTS) for file in found.files):
        how = f"Its scripts run through {BASH.provider_name}, named by their whole path"
        yield f"{how}; the person is asked as for any command."


def _listed(lines: Sequence[str], *, more: bool) -> Iterator[str]:
    yield from (f"- {line}" for line in lines[:MAX_LISTED])
    if more or len(lines) > MAX_LISTED:
        yield f"- and more, which {_LIST} shows"


def _one_line(text: str) -> str:
    """A name as one line, so that it cannot pass for a second entry of a list."""
    shown = text.encode("utf-8", "backslashreplace").decode()
    return shown if shown.isprintable() else shown.encode("unicode_escape").decode()
