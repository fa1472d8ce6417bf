"""What a request says in words: why it asks, what its answer holds for, what to know before answering. The same
sentences wherever a person is asked: in the window, and in an editor that works with Assent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.text.hidden_characters import has_hidden
from desktop.presenter.common.outcomes import EDGES_NAMED, past_edge_words
from desktop.presenter.common.shown import shown_line

ASKS = "Was this done?"
WHY = "Assent was closed while this was running."
LOOK = "Check whether it was done before you answer. “Do it again” makes exactly this call once more."
LOOK_ONLY = "Check whether it was done before you answer."
AS_EDITED = "You had edited this call before it started; this is what was started."
HOLDS = (
    "Your answer holds for exactly these arguments. "
    "If the file or a link on its path changes first, you are asked again."
)
CHANGED = "What it touches has changed since you answered. That answer is void: look at it again."
EDITED = "You edited this call. Nothing has run yet: this is what it would do now."
REFUSED = "Nothing has run. As you edited this call, it may not be made: {why} Edit it again, or deny it."
HOLDS_FOR_FILES = (
    "Shown is what it changed, compared file by file. Not shown is what it read. Your answer holds for exactly these "
    "files as they are now; if one changes first, you are asked again."
)
HOLDS_AFTER_CHANGE = (
    "A file is taken over only if the real one is still as it was when the copy was made. All that is ticked is taken "
    "over together, or nothing is."
)
ASKED_BEFORE = "You are asked before it runs: no copy can be made. {why}"
WEB_HOLDS = (
    "A page can hold text that tries to steer the model. The mark helps it notice; it is no guarantee. "
    "Allow once is for this address; the other answers are for every page of the host. Activity lists each host."
)
SEARCH_HOLDS = (
    "Titles and snippets can hold text that tries to steer the model. The mark helps it notice; it is no guarantee. "
    "Allow once is for this search; the other answers are for every search with this service."
)
HIDDEN = (
    "This call contains characters that are invisible or change the order of what you read. "
    "They are written out as \\u{…}."
)


PAST_IT = "that goes past the edge asks"


def why(request: PermissionRequest) -> str:
    """The sentence that says why a person is asked."""
    if request.unknown:
        return WHY
    reason = shown_line(request.raised_because).strip()
    if reason and reason[-1] not in ".!?":
        reason += "."
    reason = reason[:1].upper() + reason[1:]
    if request.asks:
        return " ".join(part for part in (reason, shown_line(request.asks)) if part)
    if request.category is Category.ADMIN:
        rule = "Admin calls always ask and are never remembered."
    elif not is_command(request):
        rule = f"Every write {PAST_IT if request.past_edge else 'asks'} unless a rule allows it."
    elif all(one.effect == "reads" for one in request.judgements):
        rule = "As far as can be told it only reads. A command asks each time unless a rule or a setting lets it pass."
    else:
        rule = f"A command {PAST_IT if request.past_edge else 'asks each time'} unless a rule allows it."
    if isinstance(no_copy := request.preview.get("no_copy"), str):
        rule = f"{rule} {ASKED_BEFORE.format(why=shown_line(no_copy))}"
    return " ".join(part for part in (reason, rule) if part)


def unknown_words(request: PermissionRequest) -> str:
    """What a person has to know before they answer about a call that had begun when Assent ended."""
    edited = f" {AS_EDITED}" if request.original is not None else ""
    return f"{request.unknown}{edited} " + (f"{request.unrepeatable} {LOOK_ONLY}" if request.unrepeatable else LOOK)


def refused_words(request: PermissionRequest) -> str:
    """Why the call may not be made as a person edited it."""
    return REFUSED.format(why=f"{shown_line(request.refused).rstrip('.')}.")


def confinement_words(request: PermissionRequest) -> str:
    """What confines the call, or what an answer to it holds for."""
    if request.is_outcome:
        return HOLDS_AFTER_CHANGE if request.stale else HOLDS_FOR_FILES
    if request.preview.get("kind") == "web":
        return WEB_HOLDS
    if request.preview.get("kind") == "search":
        return SEARCH_HOLDS
    confinement = request.preview.get("confinement")
    if confinement:
        return shown_line(str(confinement))
    return _edits_hold(request) or HOLDS


def _edits_hold(request: PermissionRequest) -> str:
    """What an answer to edits holds for, or "" where there are none."""
    preview = request.preview
    bound, count = preview.get("bound"), preview.get("edit_count")
    if not isinstance(bound, Mapping) or not isinstance(count, int):
        return ""
    made = {1: "The edit is made", 2: "Both edits are made"}.get(count, f"All {count:,} edits are made")
    or_none = " whole or not at all" if count == 1 else ", or neither" if count == 2 else ", or none"
    ends = f"Line ends ({shown_line(str(bound['ends']))})" if bound.get("ends") else "Line ends"
    encoding = f"encoding ({shown_line(str(bound['encoding']))})" if bound.get("encoding") else "encoding"
    return (
        f"{made}{or_none}. {ends}, {encoding} and file mode stay as they are. "
        "If the file changes before you answer, you are asked again and see what changed."
    )


def past_words(request: PermissionRequest) -> str:
    """Of a call in a chat that works up to the edge: what it goes past."""
    named = past_edge_words((one.kind, one.words) for one in request.past_edge[:EDGES_NAMED])
    return shown_line(f"{named[:1].upper()}{named[1:]}")


def is_unconfined(request: PermissionRequest) -> bool:
    """Whether the call runs a program that nothing confines."""
    return request.preview.get("confined_by") == "none" and "confinement" in request.preview


def hides_something(request: PermissionRequest) -> bool:
    """Whether an argument has characters that cannot be seen."""
    return any(_hides(value) for value in request.arguments.values())


def _hides(value: Any) -> bool:
    if isinstance(value, str):
        return has_hidden(value)
    if isinstance(value, Mapping):
        return any(_hides(one) for one in value.values())
    return isinstance(value, list | tuple) and any(_hides(one) for one in value)


def is_command(request: PermissionRequest) -> bool:
    """Whether a shell command is asked about."""
    preview = request.preview
    return preview.get("kind") == "command" or (request.is_outcome and "command" in preview)
