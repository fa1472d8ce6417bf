"""The built-in tools by name, for code that meets no tool but only its name: in a stored rule, a message, a trace."""

from __future__ import annotations

from collections.abc import Mapping

from desktop.domain.judgement import Category
from desktop.domain.tools import ToolSpec
from desktop.tools.builtin.files import LIST_DIRECTORY, READ_FILE, WRITE_FILE
from desktop.tools.builtin.shell import BASH

BUILT_IN: Mapping[str, ToolSpec] = {spec.name: spec for spec in (READ_FILE, LIST_DIRECTORY, WRITE_FILE, BASH)}

COMMAND_TOOLS = frozenset(name for name, spec in BUILT_IN.items() if spec.about == "command")
FILE_READERS = frozenset(
    name for name, spec in BUILT_IN.items() if spec.about == "path" and spec.category is Category.READ
)
FILE_WRITERS = frozenset(
    name for name, spec in BUILT_IN.items() if spec.about == "path" and spec.category is Category.WRITE
)
