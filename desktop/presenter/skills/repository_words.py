"""What the page of a repository says: chips, lines, the table of reach, the buttons. No Qt."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words
from desktop.presenter.skills.words import source_word
from desktop.services.skills.repositories.compare import Item, SourceView
from desktop.skills.repositories.reach import ROWS, Reach, Row

Key = tuple[str, str]
KINDS: Mapping[str, str] = {"skill": "", "agent": "agent", "command": "command", "server": "MCP server"}
NONE = "none"
_MANY = 12
"""Parts of a cell that are named."""


@dataclass(frozen=True, slots=True)
class TakingPlan:
    """What is to be done: ``words`` on the button, "" for nothing; ``done`` once it was."""

    take: tuple[Key, ...] = ()
    drop: tuple[Key, ...] = ()
    words: str = ""
    done: str = ""


def plan_of(items: Sequence[Item], ticks: Mapping[Key, bool]) -> TakingPlan:
    """From the ticks; without any, what changed in its words alone."""
    take = [one for one in items if ticks.get(one.key) and one.taken is None and one.takeable]
    drop = [one for one in items if ticks.get(one.key) is False and one.taken is not None]
    if take or drop:
        parts = [f"take {_named(take)}"] if take else []
        parts += [f"take out {_named(drop)}"] if drop else []
        words = ", ".join(parts)
        said = [f"{_named(take)} taken"] if take else []
        said += [f"{_named(drop)} taken out"] if drop else []
        return TakingPlan(_keys(take), _keys(drop), words[0].upper() + words[1:], ", ".join(said))
    text = [one for one in items if one.changed and one.status == "text" and one.takeable]
    if not text:
        return TakingPlan()
    return TakingPlan(_keys(text), (), f"Take {_named(text)}, text only", f"{_named(text)} taken")


def _keys(items: Sequence[Item]) -> tuple[Key, ...]:
    return tuple(one.key for one in items)


def _named(items: Sequence[Item]) -> str:
    if len(items) == 1 and len(items[0].name) <= 28:
        return items[0].name
    return f"{len(items):,}"


def tail_words(view: SourceView) -> tuple[str, bool]:
    """What stands at the right of a repository's row, and whether it is about changes."""
    if view.changed:
        return f"{view.changed:,} changed", True
    return f"{view.taken:,}", False


def chip_of(item: Item) -> tuple[str, str]:
    """(badge or "", plain words or "") of a row."""
    if item.status == "problem":
        return "problem", ""
    if item.taken is None:
        return ("same name", "") if item.behind or item.instead else ("new", "")
    if item.kept:
        return "", "kept as it is"
    return {
        "reach": ("reaches more", ""),
        "text": ("text changed", ""),
        "gone": ("gone there", ""),
        "same": ("", "the same"),
    }[item.status]


def line_of(item: Item) -> tuple[str, str]:
    """(words, tone) of a row's second line."""
    offer = item.offer
    if offer is not None and not offer.usable:
        first = next((one for one in offer.problems if one.severity == "error"), None)
        return (first.message if first is not None else "It holds no skill that could be called", "failed")
    if item.behind == "server":
        return f"mcp.yaml has a server called {item.name} already", "text-2"
    if item.behind:
        whose = {"mine": "your own", "project": "your project's", "program": "Assent's own"}
        of = source_word(item.behind)
        words = whose.get(item.behind, f"{of}'s" if of == item.behind else "the installed")
        return f"Would stand behind {words} {item.name}", "text-2"
    if item.instead:
        return f"Would come before another {item.name} ({source_word(item.instead)})", "text-2"
    if offer is None:
        return "It is no longer in the repository; yours stays", "text-2"
    return offer.description, "text-2"


def spoken(item: Item, *, ticked: bool) -> str:
    """A row as a screen reader says it."""
    chip, words = chip_of(item)
    parts = (item.name, KINDS.get(item.kind, ""), "ticked" if ticked else "not ticked", chip or words, line_of(item)[0])
    return ", ".join(part for part in parts if part)


def day_of(at: float, now: float | None = None) -> str:
    """A day in words: today, else 12 November, with its year if it is another."""
    then, today = time.localtime(at), time.localtime(now if now is not None else time.time())
    if then[:3] == today[:3]:
        return "today"
    words = f"{then.tm_mday} {time.strftime('%B', then)}"
    return words if then.tm_year == today.tm_year else f"{words} {then.tm_year}"


def head_words(view: SourceView) -> tuple[tuple[str, str], ...]:
    """(text, style) pieces below a repository's address."""
    source = view.source
    if not view.looked:
        return (("It was not looked at to the end yet.", ""),)
    newest, when = source.commit[:7], day_of(source.looked)
    commits = {one.commit for one in source.taken if one.commit}
    first = max((one.at for one in source.taken), default=0.0)
    pieces: list[tuple[str, str]] = []
    if source.taken and commits:
        have = sorted(commits)[0][:7] if len(commits) == 1 else f"{len(commits)} commits"
        pieces += [("You have ", ""), (have, "mono" if len(commits) == 1 else ""), (f", {day_of(first)}. ", "")]
    elif source.taken:
        pieces += [(f"You took from it {day_of(first)}. ", "")]
    if newest:
        pieces += [("Newest is ", ""), (newest, "mono"), (f", looked at {when}.", "")]
    else:
        pieces += [(f"Looked at {when}.", "")]
    return tuple(pieces)


def notes_of(view: SourceView) -> str:
    """What of it is never taken, or is beyond a limit."""
    found = []
    if view.hooks:
        found.append(f"{count_words(view.hooks, 'hook')} of its plugins would run programs: hooks are not taken.")
    if view.modules:
        found.append("Other repositories inside it are not followed.")
    if view.more:
        found.append("It holds more than is listed here.")
    return " ".join(found)


def count_line(view: SourceView) -> str:
    """Above the list."""
    return f"{len(view.items):,} in it, {view.taken:,} taken"


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of the table of reach: what there was, what stayed, what came, what went."""

    row: str
    before: str
    stays: str
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def reach_table(item: Item) -> tuple[Cell, ...]:
    """What it may reach: as it was taken, and now. Rows that say nothing on both sides are left out, but the first."""
    now = item.offer.reach if item.offer is not None else Reach({})
    before = item.before if item.before is not None else Reach({})
    cells = []
    for row in ROWS:
        was, then = before.parts.get(row, ()), now.parts.get(row, ())
        if not was and not then and row in ("Settings",):
            continue
        cells.append(_cell(row, was, then, before, now))
    return tuple(cells)


def _cell(row: Row, was: Sequence[str], then: Sequence[str], before: Reach, now: Reach) -> Cell:
    added, gone = now.added(before, row), now.gone(before, row)
    stays = [part for part in then if part not in added]
    if row == "Scripts":
        return Cell(
            row, f"{len(was):,}" if was else NONE, f"{len(then):,}" if then else NONE, added[:_MANY], gone[:_MANY]
        )
    return Cell(row, _parts(was), _parts(stays) if stays or not added else "", added[:_MANY], gone[:_MANY])


def _parts(parts: Sequence[str]) -> str:
    if not parts:
        return NONE
    more = f" and {len(parts) - _MANY:,} more" if len(parts) > _MANY else ""
    return "  ".join(parts[:_MANY]) + more


def banner_of(item: Item) -> tuple[str, tuple[tuple[str, str], ...]]:
    """(kind of notice or "", pieces) above the changes of an item."""
    if item.status == "problem":
        return "failed", ((line_of(item)[0], ""),)
    if item.taken is None:
        if item.kind == "server":
            runs = item.offer.server.runs if item.offer is not None and item.offer.server is not None else ""
            words = ". Nothing runs yet: it comes into mcp.yaml switched off, until you have looked at it there."
            return "info", (("This is a program or an address: ", ""), (runs, "mono"), (words, ""))
        return ("ask", ((line_of(item)[0] + ".", ""),)) if item.behind or item.instead else ("", ())
    if item.kind == "server" and item.changed and item.offer is not None and item.offer.server is not None:
        words = ". Taking it puts it in place of yours in mcp.yaml, switched off, until you have looked at it there."
        return "ask", (
            ("It is another program or address now: ", "strong"),
            (item.offer.server.runs, "mono"),
            (words, ""),
        )
    if item.status == "reach" and not item.kept:
        words = " Nothing changes until you take it. Its calls ask as before."
        return "ask", (("It wants to reach more than what you took.", "strong"), (words, ""))
    if item.status == "text" and not item.kept:
        return "info", (("Its words changed, and it reaches no more than before.", ""),)
    if item.status == "gone":
        return "info", (("It is no longer in the repository. Yours stays until you take it out.", ""),)
    if item.kept:
        return "info", (("You keep what you have. You can still take this one.", ""),)
    return "", ()


def take_words(item: Item) -> str:
    """On the button that takes the shown item; "" where there is nothing to take."""
    if not item.takeable or item.status == "same":
        return ""
    if item.kind == "server":
        return "Take it, switched off"
    if item.taken is None:
        return "Take it"
    return "Take it, with its new reach" if item.status == "reach" else "Take it"


def remove_words(view: SourceView) -> str:
    """What goes and what stays."""
    servers = [one.name for one in view.source.taken if one.kind == "server"]
    number = len(view.source.taken) - len(servers)
    goes = (
        f"What you took of it goes with it: {count_words(number, 'skill')}. " if number else "Nothing was taken of it. "
    )
    stays = f"mcp.yaml keeps {', '.join(servers[:5])}. " if servers else ""
    return f"{goes}{stays}The repository itself is not touched, and copies that you made stay."
