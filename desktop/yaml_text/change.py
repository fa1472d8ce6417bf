"""Changing keys of a YAML mapping in its text: only the lines of a changed key are written anew (R-SK-11).

A round trip through a YAML library would normalise quotes, indents and blank lines of everything; so the library only
says where a key stands, and the one new entry is written here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import dedent
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import FormatError
from desktop.yaml_text.compare import all_the_same, means, nothing_else_differs
from desktop.yaml_text.entry import as_json, entry_lines
from desktop.yaml_text.parsing import composed, yaml

MAX_TEXT = 256_000
_ITEM = re.compile(r"^( *)- ")
_KEY = re.compile(r"[^\s#-]")


class Remove:
    """The value of a change that takes its key out."""


REMOVE = Remove()


class NotEditable(KnownError):
    """The text is not in a shape that a form can change; it can still be edited as text."""

    code = "skill.not_editable"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key of a block mapping: lines ``first`` to ``end`` (exclusive) in the text, the nodes of both."""

    key: str
    first: int
    end: int
    name: yaml.ScalarNode
    value: yaml.Node

    @property
    def indent(self) -> int:
        """Columns before the key."""
        return int(self.name.start_mark.column)


def change_key(
    text: str, path: Sequence[str], value: Any, *, what: str = "The frontmatter", block_lists: bool = False
) -> str:
    """``text`` (a YAML mapping) with the key at ``path`` set to ``value``, added where it is missing, or removed.

    ``path`` has one or more names; what lies on the way is made, and goes when nothing is left in it. Raises
    NotEditable for text that is no block mapping (a flow mapping, an alias, more than one document) on the way;
    ``what`` the text is called there. ``block_lists``: each item of a list has a line, however short the list is.
    """
    if len(text) > MAX_TEXT:
        raise NotEditable(f"{what} is too large for the form.", next_step="Edit it as text.")
    lines = text.splitlines(keepends=True)
    root = _root(text, what)
    end = _end(lines, root)
    change = _TextChange(lines, "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n", what, block_lists)
    try:
        changed = "".join(change.made(root, 0, end, tuple(path), value))
        if changed == text or _is_meant(root, changed, path, value):
            return changed
    except (TypeError, ValueError, RecursionError, FormatError, yaml.YAMLError):
        pass  # a date or a tag that would be written anew, an anchor that would be gone
    raise NotEditable(f"{what} cannot be changed here without changing more.", next_step="Edit it as text.")


def _is_meant(before: yaml.Node | None, changed: str, path: Sequence[str], value: Any) -> bool:
    """Whether the text says what it shall, and of everything else what it said. Raises FormatError for no YAML."""
    after, _ = composed(changed)
    wanted = None if value is REMOVE else composed("\n".join(entry_lines(path[-1], value)) + "\n")[0]
    return nothing_else_differs(before, after, path) and means(after, path, wanted)


def in_lines(text: str) -> str:
    """A mapping in braces as one with a line for each key, for ``change_key``, and ``null`` as nothing; any other text
    as it is."""
    node, loader = composed(text)
    if node is None or not (getattr(node, "flow_style", False) or node.value in ("~", "null")):
        return text
    entries = (loader.construct_document(node) or {}).items()
    return "".join(f"{line}\n" for key, value in entries for line in entry_lines(str(key), value, block_lists=True))


def with_item(text: str, key: str, entry: Mapping[str, object]) -> str:
    """``text`` with one more entry at the end of the list below the top-level ``key``, in the indent that the list has;
    everything else, comments too, stays as it is, also where it is no YAML yet. Values are written as JSON."""
    written = [f"{name}: {as_json(value)}" for name, value in entry.items()]
    return with_block(text, key, "\n".join(f"{'- ' if not at else '  '}{line}" for at, line in enumerate(written)))


def with_block(text: str, key: str, block: str) -> str:
    """The same with the lines of an entry, as ``without_item`` gives them."""
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    start = next((at for at, line in enumerate(lines) if line.startswith(f"{key}:")), None)
    if start is None:
        lines.append(f"{key}:")
        start = len(lines) - 1
    elif lines[start].removeprefix(f"{key}:").strip() in ("[]", "~", "null"):
        lines[start] = f"{key}:"
    end = next((at for at in range(start + 1, len(lines)) if _KEY.match(lines[at])), len(lines))
    indent = next((found[1] for line in lines[start + 1 : end] if (found := _ITEM.match(line))), "  ")
    added = [f"{indent}{line}" if line.strip() else "" for line in dedent(block).rstrip("\n").split("\n")]
    return "\n".join([*lines[:end], *added, *lines[end:]]) + "\n"


def without_item(text: str, key: str, name: str, *, what: str) -> tuple[str, str]:
    """(``text`` without the entry that is called ``name`` of the list below the top-level ``key``, that entry's lines).
    Comments before it stay. Raises NotEditable as ``change_item`` does, and where that would change anything else."""
    lines = text.splitlines(keepends=True)
    before = _root(text, what)
    first, _, end = _place_of_item(lines, before, key, name)
    made = "".join([*lines[:first], *lines[end:]])
    after = _root(made, what)
    was, now = _list_of(before, key), _list_of(after, key)
    left = [item for item in was if not _is_called(item, name)]
    same = len(left) == len(was) - 1 and all_the_same(left, now)
    if not same or not nothing_else_differs(before, after, (key,)):
        raise NotEditable(f"{what} cannot be changed here without changing more.", next_step="Edit it as text.")
    return made, "".join(lines[first:end])


def change_item(text: str, key: str, name: str, path: Sequence[str], value: Any, *, what: str) -> str:
    """``change_key`` inside the entry that is called ``name`` of the list below the top-level ``key``. Raises
    NotEditable where there is no such entry with a line for each of its keys."""
    lines = text.splitlines(keepends=True)
    first, column, end = _place_of_item(lines, _root(text, what), key, name)
    block = lines[first:end]
    mark, block[0] = block[0][:column], " " * column + block[0][column:]
    changed = change_key("".join(block), path, value, what=what)
    made = "".join([*lines[:first], mark + changed[column:], *lines[end:]])
    _root(made, what)
    return made


def _place_of_item(lines: list[str], root: yaml.MappingNode | None, key: str, name: str) -> tuple[int, int, int]:
    """(first line, column of its keys, line after it) of a named entry."""
    for item in _list_of(root, key):
        if _is_called(item, name):
            first, column = item.start_mark.line, item.start_mark.column
            if not item.flow_style and lines[first][:column].strip() == "-":
                return first, column, _reach(lines, item)
            break
    raise NotEditable(
        f"{name} cannot be changed here: it has no line for each of its keys.", next_step="Edit it as text."
    )


def _list_of(root: yaml.MappingNode | None, key: str) -> list[Any]:
    listed = next((value for at, value in (root.value if root else ()) if at.value == key), None)
    return listed.value if isinstance(listed, yaml.SequenceNode) and not listed.flow_style else []


def _is_called(item: yaml.Node, name: str) -> bool:
    return _is_mapping(item) and any(at.value == "name" and _is_name(value, name) for at, value in item.value)


def _is_name(node: yaml.Node, name: str) -> bool:
    """Whether a name is written there, with hyphens or with underscores."""
    return isinstance(node, yaml.ScalarNode) and str(node.value).replace("_", "-") == name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class _TextChange:
    """One change of a text."""

    lines: list[str]
    newline: str
    what: str
    block_lists: bool

    def made(
        self, mapping: yaml.MappingNode | None, indent: int, end: int, path: Sequence[str], value: Any
    ) -> list[str]:
        """The lines with the change made below one block mapping whose entries stand at ``indent``."""
        lines = self.lines
        entries = self._entries(mapping, end) if mapping is not None else []
        here = entries[0].indent if entries else indent
        found = next((entry for entry in entries if entry.key == path[0]), None)
        if found is None:
            return lines if value is REMOVE else self._added(entries, here, end, path, value)
        inner, rest = found.value, path[1:]
        if value is REMOVE and not _holds(inner, rest):
            return lines
        if value is REMOVE and _only(inner, rest):
            after = lines[found.end :]
            ends = len(entries) == 1 and "".join(after[:1]).startswith("...")  # nothing is left that it could end
            return lines[: found.first] + after[ends:]
        if rest and isinstance(inner, yaml.MappingNode) and not inner.flow_style and inner.value:
            return self.made(inner, found.indent + 2, found.end, rest, value)
        fresh = self._written(path[0], _set(_construct(inner), rest, value) if rest else value, here)
        if comment := _comment(lines, found):
            fresh[0] = fresh[0].rstrip("\r\n") + comment + self.newline
        return [*lines[: found.first], *fresh, *lines[found.end :]]

    def _added(self, entries: list[_Entry], indent: int, end: int, path: Sequence[str], value: Any) -> list[str]:
        """A new entry after the last one of its mapping."""
        for name in reversed(path[1:]):
            value = {name: value}
        at = entries[-1].end if entries else end
        before = self.lines[:at]
        if before and not before[-1].endswith(("\n", "\r")):
            before[-1] += self.newline
        return [*before, *self._written(path[0], value, indent), *self.lines[at:]]

    def _entries(self, mapping: yaml.MappingNode, end: int) -> list[_Entry]:
        """The entries with their lines. Comments and blank lines before the next key belong to that key."""
        lines, nodes = self.lines, mapping.value
        for key, _ in nodes:
            before = lines[key.start_mark.line][: key.start_mark.column] if key.start_mark.line < len(lines) else ""
            if not isinstance(key, yaml.ScalarNode) or before.strip():
                raise NotEditable(f"{self.what} has keys that are not plain words.", next_step="Edit it as text.")
        firsts = [*(key.start_mark.line for key, _ in nodes), end]
        return [
            _Entry(str(key.value), first, _last(lines, max(first + 1, _reach(lines, value)), limit), key, value)
            for (key, value), first, limit in zip(nodes, firsts, firsts[1:], strict=False)
        ]

    def _written(self, key: str, value: Any, indent: int) -> list[str]:
        return [" " * indent + line + self.newline for line in entry_lines(key, value, self.block_lists)]


# -- where keys stand -------------------------------------------------------------------------------------------------


def _root(text: str, what: str) -> yaml.MappingNode | None:
    try:
        node, _ = composed(text)
    except FormatError as error:
        raise NotEditable(f"{what} is not valid YAML.", next_step="Correct it as text first.") from error
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value and not node.style):
        return None
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise NotEditable(f"{what} is not a plain list of keys.", next_step="Edit it as text.")
    return node


def _end(lines: list[str], root: yaml.MappingNode | None) -> int:
    """Where the mapping ends at the latest: before the line that ends the document."""
    at = root.end_mark.line if root is not None else len(lines)
    return at if at < len(lines) and lines[at].startswith("...") else len(lines)


def _holds(node: yaml.Node, path: Sequence[str]) -> bool:
    """Whether there is a value at ``path``."""
    here = [inner for key, inner in node.value if key.value == path[0]] if path and _is_mapping(node) else []
    return not path or any(_holds(inner, path[1:]) for inner in here)


def _only(node: yaml.Node, path: Sequence[str]) -> bool:
    """Whether nothing is left without the value at ``path``, which is there."""
    return not path or (len(node.value) == 1 and _only(node.value[0][1], path[1:]))


def _is_mapping(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode)


def _reach(lines: list[str], node: yaml.Node) -> int:
    """The line after the last one that is part of a value, also where it looks like a comment or a blank line."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        return max((_reach(lines, inner) for pair in node.value for inner in _parts(pair)), default=0)
    end = node.end_mark.line + (node.end_mark.column > 0)
    if getattr(node, "style", None) not in ("|", ">") or node.value.endswith("\n\n") or not node.value.strip("\n"):
        return int(end)
    while end > node.start_mark.line + 1 and not lines[end - 1].rstrip("\r\n"):
        end -= 1  # blank lines below a text in a block are none of it
    return int(end)


def _parts(pair: Any) -> tuple[yaml.Node, ...]:
    return pair if isinstance(pair, tuple) else (pair,)


def _last(lines: list[str], least: int, limit: int) -> int:
    """Where an entry ends: before the comments and blank lines that lead to what follows."""
    last = limit
    while last > least and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    return last


def _comment(lines: list[str], entry: _Entry) -> str:
    """The comment in the line of a key whose value ends there or begins further down, with the space before it."""
    line, value = lines[entry.first].rstrip("\r\n"), entry.value
    if value.end_mark.line == entry.first:
        tail = line[value.end_mark.column :]
    elif value.start_mark.line > entry.first:
        tail = line[entry.name.end_mark.column :].lstrip(" ").removeprefix(":")
    else:
        return ""
    return tail if tail.lstrip().startswith("#") else ""


def _construct(node: yaml.Node) -> Any:
    return yaml.SafeLoader("").construct_document(node)


def _set(data: Any, path: Sequence[str], value: Any) -> dict[str, Any]:
    """``data`` as a mapping with one value in it changed."""
    result = dict(data) if isinstance(data, Mapping) else {}
    if len(path) > 1:
        result[path[0]] = _set(result.get(path[0]), path[1:], value)
    elif value is REMOVE:
        result.pop(path[0], None)
    else:
        result[path[0]] = value
    return result
