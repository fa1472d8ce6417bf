"""The facts about a call that a person reads before they answer: who asks, where it runs, what it really touches
(R-PRM-2). One list for the window and for an editor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from desktop.domain.approval.permission import PermissionRequest, same_json
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words, size_words
from desktop.presenter.approvals.call_words import names_of
from desktop.presenter.approvals.outcome_words import made_of
from desktop.presenter.approvals.request_words import why
from desktop.presenter.common.shown import arguments_text, shown_line
from desktop.presenter.common.words import clock_s
from desktop.tools.acp.asks import ASKS

INSIDE = "inside the boundary"
PATHS_SHOWN = 6
ORIGINAL_SHOWN = 300
"""Characters of an argument that was changed; all of it is on the card of the call."""

FOLLOWS = "Follows"
"""The caption of what was read from outside before the call."""
NO_VERDICT = "That does not say that it steered this call."

Look = Literal["code", "title", "words", "quiet", "less"]
"""``code``: machine text, never cut; ``title``: cut where there is no room; ``quiet`` and ``less``: of less weight."""


@dataclass(frozen=True, slots=True)
class Fact:
    """``caption`` is empty where it goes on with the one above; ``mark``: a state that stands beside it."""

    caption: str
    text: str
    look: Look = "code"
    mark: str = ""


def asked_by(request: PermissionRequest, titles: Mapping[str, str]) -> tuple[str, ...]:
    """Who asks, from the outside in, with the tool at the end; agents by their titles."""
    chain = request.chain[:-1] if request.chain and request.chain[-1] == request.tool else request.chain
    return names_of(chain, titles) if chain and request.tool == ASKS else (*names_of(chain, titles), request.tool)


def request_facts(request: PermissionRequest, thread_title: str) -> tuple[Fact, ...]:
    """All but who asks and which rule says so, in the order in which they are shown."""
    return tuple(_facts(request, thread_title))


def _facts(request: PermissionRequest, thread_title: str) -> Iterator[Fact]:
    preview = request.preview
    if request.place:
        yield Fact("From code", request.place)
    if thread_title:  # what another program calls belongs to no chat
        yield Fact("Chat", shown_line(thread_title), "title")
    yield from _announced(request)
    kind = preview.get("kind")
    if request.is_outcome:
        yield Fact("Ran in", str(preview.get("cwd", "")))
        yield Fact("", made_of(request), "quiet")
        yield from _variables(request)
    elif kind == "command":
        yield Fact("Runs in", str(preview.get("cwd", "")))
        yield from _variables(request)
    elif kind == "argv":
        yield from _program(request)
    elif kind == "mcp":
        yield from _server(request)
    elif kind == "skill":
        yield from _skill(request)
    else:
        yield from _paths(request)
    if not request.arguments:
        yield Fact("Arguments", "none", "quiet")
    yield from _version(request)
    yield from _original(request)
    yield from _follows(request)
    if not request.is_outcome or request.raised_because:
        yield Fact("Why it asks", why(request), "words")


def _follows(request: PermissionRequest) -> Iterator[Fact]:
    """Whose text was read before the call: a fact, no verdict."""
    if request.follows:
        said = shown_line(request.follows)
        yield Fact(FOLLOWS, f"{said[:1].upper()}{said[1:]}. {NO_VERDICT}", "words")


def _announced(request: PermissionRequest) -> Iterator[Fact]:
    """The words of an agent of another maker that asks before it does something, and what a yes is good for."""
    agent = request.preview.get("said_by")
    if not isinstance(agent, str):
        return
    said, who = shown_line(str(request.arguments.get("says", "")))[:ORIGINAL_SHOWN], shown_line(agent)[:60]
    yield Fact("It says", f"{said}. {who} says so; Assent does not rely on it.", "quiet")
    if request.preview.get("kind") == "said":
        free = request.preview.get("confined_by") == "none"
        good_for = f"For what it does by itself, {'which nothing confines' if free else 'inside its confinement'}."
    else:
        good_for = "For exactly what stands below, once. If it then does something else, you are asked again."
    yield Fact("A yes is", f"{good_for} Its own “always allow” is never taken.", "quiet")


def _original(request: PermissionRequest) -> Iterator[Fact]:
    """What the model had asked for, of everything that a person changed."""
    if request.original is None:
        return
    now, caption = request.arguments, "Model asked"
    for name, value in request.original.items():
        if name in now and same_json(now[name], value):
            continue
        line = f"{name}: {value if isinstance(value, str) else arguments_text({name: value})}"
        yield Fact(caption, line if len(line) <= ORIGINAL_SHOWN else f"{line[:ORIGINAL_SHOWN]}…")
        caption = ""


def _program(request: PermissionRequest) -> Iterator[Fact]:
    """The facts about an argument vector: which file it starts, where, and what else it names."""
    preview = request.preview
    program = str(preview.get("program", ""))
    for caption, text in (("Program", program), ("Runs in", str(preview.get("cwd", "")))):
        if text:
            yield Fact(caption, text)
    others = [path for path in request.paths if path != program]
    for at, path in enumerate(others[:PATHS_SHOWN]):
        yield Fact("Touches" if not at else "", path)
    if len(others) > PATHS_SHOWN:
        yield Fact("", f"and {len(others) - PATHS_SHOWN:,} more", "less")
    yield from _variables(request)


def _variables(request: PermissionRequest) -> Iterator[Fact]:
    """What a program gets beside the usual: by name, with the value where it is the thread's own."""
    found = request.preview.get("environment")
    if isinstance(found, list) and found:
        yield Fact("Variables", shown_line(", ".join(map(str, found))))


def _server(request: PermissionRequest) -> Iterator[Fact]:
    """The facts about a tool of an MCP server: which server, what that is, and its own words about the tool."""
    preview = request.preview
    for caption, key in (("MCP server", "server"), ("Which is", "where"), ("Its tool", "tool")):
        if text := str(preview.get(key, "")):
            yield Fact(caption, text)
    claims = preview.get("claims")
    if isinstance(claims, list) and claims:
        said = ", ".join(shown_line(str(claim)) for claim in claims)
        yield Fact("It says", f"{said}. The server says so; Assent does not rely on it.", "quiet")


def _skill(request: PermissionRequest) -> Iterator[Fact]:
    """The facts about a skill in code: what runs is its own code, and what that does with its arguments is its own
    affair, so no argument is shown as what it touches."""
    given = ", with the arguments below" if request.arguments else ""
    yield Fact("Runs", f"The code of this skill{given}.", "words")
    yield Fact("Its code is in", str(request.preview.get("path", "")))
    if request.preview.get("network") is True:
        yield Fact("Network", "Its code may reach any computer.", "words")


def _version(request: PermissionRequest) -> Iterator[Fact]:
    """The version of the file that edits are for."""
    bound = request.preview.get("bound")
    if not isinstance(bound, Mapping):
        return
    read_at, lines, size = bound.get("read_at"), bound.get("lines"), bound.get("size")
    digest = str(bound.get("digest", ""))
    known = isinstance(read_at, int | float) and read_at > 0
    changed = bound.get("changed") or request.stale
    which = "the file as it is now, of which a search showed lines"
    if changed:
        which = "the file as it is now; it has changed since you answered"
    elif isinstance(read_at, int | float) and known:
        which = f"the version it read at {clock_s(read_at)}"
    about = [count_words(lines, "line")] if isinstance(lines, int) else []
    about += [size_words(size)] if isinstance(size, int) else []
    said = ", ".join([which, *about, f"{digest[:4]} {digest[4:8]}"])
    yield Fact("Bound to", said, "words", mark="" if changed else "unchanged since" if known else "")


def _inside(request: PermissionRequest, path: str) -> str:
    """What the place of a file that is written is inside of."""
    if request.preview.get("kind") != "diff":
        return ""
    return "inside the project" if request.project and f"{path}/".startswith(f"{request.project}/") else INSIDE


def _paths(request: PermissionRequest) -> Iterator[Fact]:
    asked = request.arguments.get("path")
    if isinstance(asked, str):
        yield Fact("Path", asked)
    for at, path in enumerate(request.paths[:PATHS_SHOWN]):
        yield Fact("Really is" if not at else "", path, mark=_inside(request, path))
    if len(request.paths) > PATHS_SHOWN:
        yield Fact("", f"and {len(request.paths) - PATHS_SHOWN} more, see Arguments", "quiet")
