"""Narrower patterns that would let the same recorded calls through; the simulator verifies them before it shows one."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import CommandPart
from desktop.services.rules.text import literally
from desktop.skills.patterns.commands import ARGUMENT, command_glob
from desktop.skills.patterns.grammar import Constraint, Pattern
from desktop.skills.patterns.paths import is_path_name

MAX_WAYS = 8
_WORD = re.compile(r"\w\*+$")


def narrower(pattern: Pattern, passing: Sequence[CallFacts], workspace: str) -> Iterator[str]:
    """Candidates, the widest first, of calls that the pattern lets through."""
    seen: dict[str, None] = {}
    for constraint in pattern.constraints:
        ways = _commands if constraint.name == ARGUMENT else _paths if is_path_name(constraint.name) else _exact
        for glob in ways(constraint, passing, workspace):
            seen[_written(pattern, constraint, glob)] = None
    if not pattern.constraints and (made := _first(passing)) is not None:
        for glob in (_commands if made.name == ARGUMENT else _paths)(made, passing, workspace):
            seen[f"{pattern.selector.text}({made.name}={glob})"] = None
    seen.pop(pattern.text, None)
    yield from seen


def _first(passing: Sequence[CallFacts]) -> Constraint | None:
    """For a pattern that says nothing of arguments: the one that its calls are about."""
    names = Counter(
        name for facts in passing for name in facts.arguments if name == ARGUMENT or is_path_name(name)
    ).most_common(1)
    return Constraint(names[0][0], "**", 1) if names else None


def _written(pattern: Pattern, changed: Constraint, glob: str) -> str:
    specs = [f"{one.name}={glob if one is changed else one.glob}" for one in pattern.constraints]
    mark = "#" if pattern.selector.kind == "tag" else ""
    return f"{mark}{pattern.selector.text}({','.join(specs)})"


def _commands(constraint: Constraint, passing: Sequence[CallFacts], _workspace: str) -> Iterator[str]:
    if _WORD.search(constraint.glob):
        yield re.sub(r"\*+$", "", constraint.glob) + "{, *}"
    glob = command_glob(constraint.glob)
    texts = Counter(
        part.text for facts in passing for part in facts.parts if part.text and not part.hidden and glob.fits(part.text)
    )
    heads = Counter[str]()
    for text, count in texts.items():
        words = text.split(" ")
        heads[" ".join(words[:2])] += count
    chosen = [head for head, _ in heads.most_common(MAX_WAYS)]
    if len(chosen) > 1 or (chosen and len(texts) > 1):
        yield _braced(chosen) + "{, *}"
    maximum = [text for text, _ in texts.most_common(MAX_WAYS)]
    for size in range(len(maximum), 0, -1):
        yield _braced(maximum[:size])


def like_command(parts: Sequence[CommandPart]) -> Iterator[str]:
    """Values of ``command`` that cover all commands of a call, the narrowest first: what each begins with, its first
    two words, and anything behind that."""
    texts = list(dict.fromkeys(part.text for part in parts))
    heads = list(dict.fromkeys(map(_head, texts)))
    found = [_braced(texts)] if len(texts) > 1 else []
    for glob in (*found, _braced(heads) + "{, *}"):
        made = command_glob(glob) if all(texts) else None
        if made is not None and all(made.covers(part) for part in parts):
            yield glob


def _head(text: str) -> str:
    """The first two words of a command; all of it where they are quoted, for a quoted word may have blanks."""
    head = " ".join(text.split(" ")[:2])
    return text if "'" in head else head


def _paths(constraint: Constraint, passing: Sequence[CallFacts], workspace: str) -> Iterator[str]:
    found = Counter(path for facts in passing if isinstance(path := facts.resolved.get(constraint.name), str))
    if not found:
        yield from _exact(constraint, passing, workspace)
        return
    paths = [_short(path, workspace) for path, _ in found.most_common()]
    folders = list(dict.fromkeys(os.path.dirname(path) for path in paths))
    common = os.path.commonpath(folders) if len({path.startswith("/") for path in paths}) == 1 else ""
    if common not in ("", "/"):
        yield f"{literally(common)}/**"
    inside = [folder for folder in folders if folder not in ("", "/")][:MAX_WAYS]
    if inside:
        yield f"{_braced(inside)}/*"
    yield from _kinds(paths)
    yield from (_braced(paths[:size]) for size in range(min(MAX_WAYS, len(paths)), 0, -1))


def _kinds(paths: Sequence[str]) -> Iterator[str]:
    """Files of one kind in their folder: of all folders, then of the one that was met most."""
    found = Counter[str]()
    for path in paths:
        (folder, name), (_, kind) = os.path.split(path), os.path.splitext(path)
        if kind and folder not in ("", "/"):
            found[f"{literally(folder)}/*{literally(kind)}"] += 1
        else:
            found[literally(name if not folder else path)] += 1
    maximum = [glob for glob, _ in found.most_common(MAX_WAYS)]
    if len(maximum) > 1:
        yield "{" + ",".join(maximum) + "}"
    yield from (glob for glob in maximum[:1] if "*" in glob)


def _exact(constraint: Constraint, passing: Sequence[CallFacts], _workspace: str) -> Iterator[str]:
    values = Counter(
        value
        for facts in passing
        if isinstance(value := facts.arguments.get(constraint.name), str) and value.isprintable()
    )
    maximum = [value for value, _ in values.most_common(MAX_WAYS) if value]
    yield from (_braced(maximum[:size]) for size in range(len(maximum), 0, -1))


def _short(path: str, workspace: str) -> str:
    """The path as a person would write it: relative inside the workspace."""
    return path[len(workspace) + 1 :] if path.startswith(f"{workspace}/") else path


def _braced(texts: Sequence[str]) -> str:
    """One glob for exactly these texts: what they begin with in common, whole words only, then the rest in braces."""
    if len(texts) == 1:
        return literally(texts[0])
    low, high = min(texts), max(texts)
    same = next((at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
    head = low[:same]
    if not any(text == head for text in texts) or not all(text[len(head) :][:1] in ("", " ", "/") for text in texts):
        head = re.sub(r"[^ /]*$", "", head)
    return literally_head(head) + "{" + ",".join(literally_head(text[len(head) :]) for text in sorted(texts)) + "}"


def literally_head(text: str) -> str:
    """Escape a piece of a value, like ``literally``; blanks at its ends stay as they are."""
    return re.sub(r"[*?\[\]{},()\\]", r"\\\g<0>", text)
