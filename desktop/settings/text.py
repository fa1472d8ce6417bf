"""The text of config.yaml: read with the place of every key, and changed so that all else stays as it was.

PyYAML is loaded by the first text: call it in a thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.errors import SettingsError
from desktop.domain.text.places import FormatError
from desktop.yaml_text.change import REMOVE, NotEditable, change_key, in_lines
from desktop.yaml_text.document import Document, read

MAX_BYTES = 1_000_000
HEADER = "# Settings of Assent. Everything that is not here has its default; keys and passwords never stand here.\n"
_EDIT = "Correct the file and save it; until then the last good settings stay in force."


def parse(raw: bytes) -> Document:
    """Raises SettingsError with line and column. The values of an empty file are an empty mapping."""
    if len(raw) > MAX_BYTES:
        raise SettingsError("config.yaml is larger than a megabyte.", next_step=_EDIT)
    try:
        document = read(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        raise _error("it is not UTF-8 text", line, column) from error
    except FormatError as error:
        if error.line:
            raise _error(str(error), error.line, error.column) from error
        raise SettingsError(f"config.yaml cannot be read: {error}.", next_step=_EDIT) from error
    if document.values is None:
        return Document({})
    if not isinstance(document.values, dict):
        raise _error("it must hold names with values, such as 'appearance:'", 1, 1)
    return document


def _error(what: str, line: int, column: int) -> SettingsError:
    return SettingsError(
        f"config.yaml, line {line}, column {column}: {what}.", line=line, column=column, next_step=_EDIT
    )


def change(text: str, values: Mapping[str, Any], forget: Sequence[str], renames: Mapping[str, str]) -> str:
    """``text`` with ``values`` set by dotted key and ``forget`` removed; every other byte stays.

    ``renames`` (old to new) gives keys that an older version wrote their new name. The text must be readable.
    """
    changes: dict[str, Any] = {}
    written = parse(text.encode()).values
    for old, new in renames.items():
        value = _at(written, old)
        if value is not None:
            changes |= {old: REMOVE} | ({new: value} if _at(written, new) is None else {})
    changes |= {**values, **dict.fromkeys(forget, REMOVE)}
    changed = text = text or HEADER
    try:
        changed = in_lines(text)
        for key, value in changes.items():
            changed = change_key(changed, key.split("."), value, what="it", block_lists=True)
    except NotEditable as error:
        raise SettingsError(
            f"config.yaml cannot be changed without damage: {str(error).rstrip('.')}.",
            next_step="Change it in an editor, or remove what is unusual in it.",
        ) from error
    return "" if changed == HEADER else changed


def _at(values: Any, key: str) -> Any:
    for name in key.split("."):
        values = values.get(name) if isinstance(values, Mapping) else None
    return values
