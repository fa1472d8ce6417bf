"""The ``env`` of one entry: names that may be set, references that can be meant (R-ENV-2..7)."""

from __future__ import annotations

import re
from collections.abc import Callable

from desktop.domain.approval.judgement import Category
from desktop.domain.keyring import referred_to
from desktop.tools.declared.entries import EntryProblems, no_argument
from desktop.yaml_text.tree import Node

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFERENCE = re.compile(r"\$\{(?:keyring:[^/{}]+/[^{}]+|[A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)


def read_env(
    node: Node | None, category: Category | None, needs_admin: Callable[[str], bool], notes: EntryProblems
) -> dict[str, str]:
    """The variables that can be used; values as written, references are followed at each call."""
    if node is None or node.empty:
        return {}
    if node.kind != "map":
        notes.error(node, "env", "this has to be `NAME: value`")
        return {}
    found = {}
    for name, (key, value) in node.entries.items():
        at = f"env.{name[:64]}"
        if not _VARIABLE.fullmatch(name):
            notes.error(key, at, "this is no name of a variable")
        elif needs_admin(name) and category is not Category.ADMIN:
            notes.error(key, at, "this variable can make programs run other code: only an admin tool may set it")
        elif wrong := _wrong(value):
            notes.error(value, at, wrong)
        else:
            _doubt(name, value, at, notes)
            found[name] = value.text
    return found


def _wrong(value: Node) -> str:
    if value.kind != "text":
        return "a variable's value has to be a text"
    if value.text.startswith("${keyring:") and not _REFERENCE.fullmatch(value.text):
        return "a value from the keyring is written ${keyring:service/user}, and nothing beside it"
    entry = referred_to(value.text)
    if entry is not None and entry.problem:
        return entry.problem
    return no_argument(value.text)


def _doubt(name: str, value: Node, at: str, notes: EntryProblems) -> None:
    if _REFERENCE.fullmatch(value.text):
        return
    if _REFERENCE.search(value.text):
        words = "only a value that is nothing but ${NAME} is replaced; this one is passed as it is"
        notes.warn(value, at, words)
    elif _SECRET.search(name) and not value.empty:
        notes.warn(value, at, "this looks like a secret in a file: keep it as ${keyring:service/user}")
