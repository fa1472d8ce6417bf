"""The rows of what a command did, in words; beside ``outcome_words`` because the rows know Qt."""

from __future__ import annotations

from collections.abc import Mapping

from desktop.domain.text.words import count_words
from desktop.presenter.approvals.outcome_rows import OutcomeRows, TickedFile, TickedFolder, WhatKind
from desktop.presenter.common.shown import shown_line


def summary_words(rows: OutcomeRows) -> str:
    """``31 made, 7 changed, 2 deleted``, or what is left out of it."""
    if rows.left_out:
        return f"{rows.left_out} left out until you have chosen"
    if rows.waiting:
        return f"{rows.waiting} left out until you have opened {'it' if rows.waiting == 1 else 'them'}"
    return kinds_words(rows.kinds)


def kinds_words(kinds: Mapping[WhatKind, int]) -> str:
    """How many of each kind."""
    names = {"rights": "with other rights"}
    return ", ".join(f"{many:,} {names.get(kind, kind)}" for kind, many in kinds.items())


def count_of(rows: OutcomeRows) -> str:
    """``41 files``, or ``39 of 41 files``."""
    whole = count_words(len(rows.leaves), "file")
    return whole if rows.count == len(rows.leaves) else f"{rows.count:,} of {whole}"


def take_words(rows: OutcomeRows) -> str:
    """What stands on the button."""
    many, whole = rows.count, len(rows.leaves)
    if not whole:
        return "Pass on its output"
    if many == whole:
        return f"Take over these {many:,}" if many > 1 else "Take over this one"
    return f"Take over the other {many:,}" if rows.meanwhile and many else f"Take over {many:,}"


def spoken(node: TickedFolder | TickedFile | str) -> str:
    """A row for a screen reader."""
    if isinstance(node, str):
        return node
    if isinstance(node, TickedFile):
        state = "ticked" if node.ticked else "open it first" if node.waits else "not ticked"
        parts = [state, "changed meanwhile" if node.meanwhile else "", node.kind, node.label, node.detail]
        if node.figures is not None:
            parts.append(f"{node.figures.added} lines added, {node.figures.removed} removed")
        return ", ".join(part for part in parts if part)
    state = {"all": "ticked", "some": "some ticked", "none": "not ticked"}[node.ticked]
    fold = "unfolded" if node.unfolded else "folded"
    return f"{state}, folder {node.label}, {kinds_words(node.kinds)}, {fold}"


def listing(folder: TickedFolder) -> str:
    """What is in a folder, for what can be shown of none of it alone."""
    return "\n".join(
        f"{leaf.kind:<8} {shown_line(leaf.path.removeprefix(folder.path + '/'))}" for leaf in folder.leaves
    )
