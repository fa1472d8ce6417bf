"""The built-in tools by name, for code that meets no tool but only its name: in a stored rule, a message, a trace."""

from __future__ import annotations

from collections.abc import Mapping

from desktop.domain.approval.judgement import Category
from desktop.domain.tools import ToolSpec
from desktop.tools.builtin.edit_file import EDIT_FILE
from desktop.tools.builtin.files import LIST_DIRECTORY, READ_FILE, WRITE_FILE
from desktop.tools.builtin.finding import FIND_FILES, FIND_TEXT
from desktop.tools.builtin.read_document import READ_DOCUMENT
from desktop.tools.builtin.shell import BASH
from desktop.tools.builtin.web_fetch import WEB_FETCH
from desktop.tools.builtin.web_search import WEB_SEARCH

_SPECS = (
    READ_FILE,
    LIST_DIRECTORY,
    FIND_TEXT,
    FIND_FILES,
    WRITE_FILE,
    EDIT_FILE,
    BASH,
    WEB_FETCH,
    WEB_SEARCH,
    READ_DOCUMENT,
)
BUILT_IN: Mapping[str, ToolSpec] = {spec.name: spec for spec in _SPECS}

COMMAND_TOOLS = frozenset(name for name, spec in BUILT_IN.items() if spec.about == "command")
FILE_READERS = frozenset(
    name for name, spec in BUILT_IN.items() if spec.about == "path" and spec.category is Category.READ
)
FILE_WRITERS = frozenset(
    name for name, spec in BUILT_IN.items() if spec.about == "path" and spec.category is Category.WRITE
)
