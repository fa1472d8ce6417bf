"""A question about a call as an editor shows it, and what an answer given there means (R-ACP-3).

The editor gets the facts of the window's own dialog, all of the call, and of its answers those that need nothing but a
press: a rule is written in the window alone, where it can be read and tried before it is kept. An editor does not say
whether a person has read to the end. So what is too long to be read there, and what the request itself cannot show
whole, is not asked there at all (``not_for_editors``): it is answered in the window, and denied where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Choice, Decision, PermissionRequest
from desktop.domain.text.hidden_characters import has_hidden
from desktop.presenter.approvals.command_summary import summarise_command
from desktop.presenter.approvals.outcome_words import NOTHING_REAL, as_text
from desktop.presenter.approvals.request_facts import asked_by, request_facts
from desktop.presenter.approvals.request_words import (
    CHANGED,
    EDITED,
    HIDDEN,
    confinement_words,
    hides_something,
    is_unconfined,
    refused_words,
    unknown_words,
)
from desktop.presenter.common.shown import arguments_text, shown_line
from desktop.presenter.editors.fences import fenced

WRITE_LIMIT, ADMIN_LIMIT, ADMIN_LINES = 60_000, 4_000, 60
"""Characters, and lines, of a call that a person can be expected to read in an editor."""
WITH_NETWORK = "+network"
WINDOW = "Assent’s window"
NOT_OFFERED = "the editor answered with something that was not offered"
CLOSED_THERE = "the question was closed in the editor"


class Option(NamedTuple):
    """An answer that can be pressed. ``kind`` as the protocol names them, for its look."""

    option: str
    name: str
    kind: str


Diff = Mapping[str, Any]
"""``path``, ``old`` (None: a new file), ``new``."""


def not_for_editors(request: PermissionRequest) -> str:
    """Why this request is not asked in an editor, as half a sentence, or ""."""
    if request.preview.get("kind") == "diff" and request.preview.get("notes"):
        return "the change cannot be shown whole"
    body = body_text(request)
    if request.is_outcome and not body:
        return "it ran in a copy, and what it did cannot be shown whole in an editor"
    if request.category is Category.ADMIN and (len(body) > ADMIN_LIMIT or body.count("\n") > ADMIN_LINES):
        return "it is an admin call that is too long to be read whole in an editor"
    return "it is too long to be read whole in an editor" if len(body) > WRITE_LIMIT else ""


def body_text(request: PermissionRequest) -> str:
    """All that would run or be written."""
    preview = request.preview
    if request.is_outcome:
        return as_text(request, WRITE_LIMIT)
    if preview.get("kind") == "command":
        return str(preview.get("command", ""))
    argv = preview.get("argv")
    if preview.get("kind") == "argv" and isinstance(argv, list | tuple):
        return "\n".join(str(word).replace("\n", "\\n") for word in argv)
    return arguments_text(request.arguments)


def diff_of(request: PermissionRequest, mask: Callable[[str], str]) -> Diff | None:
    """The change to a file, where it can be shown as it is: what has invisible characters is shown as text."""
    preview = request.preview
    before, after = str(preview.get("before", "")), str(preview.get("after", ""))
    if preview.get("kind") != "diff" or preview.get("notes") or has_hidden(before) or has_hidden(after):
        return None
    old = None if preview.get("new") else mask(before)
    return {"path": str(preview.get("path", "")), "old": old, "new": mask(after)}


def request_text(request: PermissionRequest, title: str, mask: Callable[[str], str], *, whole: bool = True) -> str:
    """The facts, and ``whole`` what would run, as text that an editor draws."""
    parts = [fenced(mask("\n".join(_facts(request, title))))]
    if whole:
        parts.append(fenced(mask(body_text(request)), "sh" if request.preview.get("kind") == "command" else ""))
    return "\n\n".join(parts)


def _facts(request: PermissionRequest, title: str) -> Iterator[str]:
    yield from _warnings(request)
    yield f"Category: {request.category.value}"
    yield f"Asked by: {' › '.join(shown_line(name) for name in asked_by(request, {}))}"
    for fact in request_facts(request, title):
        beside = f" ({fact.mark})" if fact.mark else ""
        yield f"{fact.caption}: {shown_line(fact.text)}{beside}" if fact.caption else f"  {shown_line(fact.text)}"
    if request.rule:
        yield f"Asked for by the rule: {shown_line(request.rule)}"
    if (summary := summarise_command(request)) is not None:
        yield "; ".join(part for part in (summary.count, ", ".join(summary.kinds), summary.sentence(20)) if part)
        yield from _parts(request)
    yield confinement_words(request)
    yield f"Digest: {request.digest[:16]}"


def _warnings(request: PermissionRequest) -> Iterator[str]:
    if request.refused:
        yield refused_words(request)
    elif request.unknown:
        yield shown_line(unknown_words(request))
    elif request.original is not None:
        yield EDITED
    if request.is_outcome:
        yield f"{NOTHING_REAL} Allow takes over what it did."
    if request.stale:
        yield CHANGED
    if is_unconfined(request):
        yield "Nothing confines it."
    if hides_something(request):
        yield HIDDEN


def _parts(request: PermissionRequest) -> Iterator[str]:
    for one in request.judgements:
        touches = f" -> {', '.join(one.touches)}" if one.touches else ""
        yield shown_line(f"  {one.operator} {one.text} [{one.effect}]{touches}".replace("   ", "  "))


# -- answers ----------------------------------------------------------------------------------------------------------


def options_of(request: PermissionRequest) -> tuple[Option, ...]:
    """The answers, the safe one first."""
    return tuple(_options(request))


def _options(request: PermissionRequest) -> Iterator[Option]:
    choices, asks_again = request.choices, bool(request.unknown)
    yield Option("deny", "Skip it" if asks_again else "Deny", "reject_once")
    if "done" in choices:
        yield Option("done", "It was done", "reject_once")
    if "deny_run" in choices:
        yield Option("deny_run", "Deny all from this run", "reject_always")
    if "stop" in choices:
        yield Option("stop", "Stop the run", "reject_always")
    if "allow_once" in choices:
        yield Option("allow_once", "Do it again" if asks_again else "Allow once", "allow_once")
        if request.preview.get("network_offered") is True:
            yield Option(f"allow_once{WITH_NETWORK}", "Allow once, with network", "allow_once")
    if "allow_run" in choices:
        yield Option("allow_run", "Allow for this run", "allow_always")


def decision_of(request: PermissionRequest, option: object) -> Decision:
    """What an answer means for exactly this request (R-PRM-5). What was not offered, and no answer, is a no."""
    offered = {one.option for one in options_of(request)}
    if not isinstance(option, str) or option not in offered:
        return Decision("deny", request.digest, reason=NOT_OFFERED if option else CLOSED_THERE)
    choice: Choice = option.removesuffix(WITH_NETWORK)  # type: ignore[assignment]  # one of the choices of the request
    return Decision(choice, request.digest, with_network=option.endswith(WITH_NETWORK))
