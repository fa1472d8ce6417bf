"""Changing keys of a YAML text and leaving everything else as it was. Imported only in a thread: ruamel is slow."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from desktop.domain.errors import SettingsError
from desktop.settings.yaml_read import reads_as

HEADER = "# Settings of Assent. Everything that is not here has its default; keys and passwords never stand here.\n"


def change(text: str, values: Mapping[str, Any], forget: Sequence[str], renames: Mapping[str, str]) -> str:
    """``text`` with ``values`` set by dotted key and ``forget`` removed; comments, order, unknown keys stay.

    ``renames`` (old to new) gives keys that an older version wrote their new name. The text must be readable.
    """
    engine = YAML(typ="rt")
    engine.preserve_quotes = True
    engine.width = 4096
    engine.indent(mapping=2, sequence=4, offset=2)
    try:
        root = engine.load(text or HEADER) or CommentedMap()
    except YAMLError as error:
        raise SettingsError(
            f"config.yaml cannot be changed without damage: {str(error).splitlines()[0]}.",
            next_step="Change it in an editor, or remove what is unusual in it.",
        ) from error
    for old, new in renames.items():
        _rename(root, old, new)
    for key, value in values.items():
        _set(root, key.split("."), _quoted(value))
    for key in forget:
        _remove(root, key.split("."))
    out = io.StringIO()
    if root:
        engine.dump(root, out)
    written = out.getvalue()
    return written if text or not written else HEADER + written


def _set(root: Any, parts: list[str], value: Any) -> None:
    for part in parts[:-1]:
        if not isinstance(root.get(part), dict):
            root[part] = CommentedMap()
        root = root[part]
    root[parts[-1]] = value


def _remove(root: Any, parts: list[str]) -> Any:
    """The value that was there, or None. A section that becomes empty goes too."""
    if not isinstance(root, dict) or parts[0] not in root:
        return None
    if len(parts) == 1:
        return root.pop(parts[0])
    found = _remove(root[parts[0]], parts[1:])
    if found is not None and not root[parts[0]]:
        root.pop(parts[0])
    return found


def _rename(root: Any, old: str, new: str) -> None:
    value = _remove(root, old.split("."))
    if value is not None:
        _set(root, new.split("."), value)


def _quoted(value: Any) -> Any:
    """With quotes where a bare word would be read as something else."""
    if isinstance(value, str):
        return value if reads_as(value) == value else DoubleQuotedScalarString(value)
    if isinstance(value, list):
        return [_quoted(item) for item in value]
    if isinstance(value, dict):
        return {name: _quoted(item) for name, item in value.items()}
    return value
