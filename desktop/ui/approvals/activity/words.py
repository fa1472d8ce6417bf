"""An entry of the activity log in words. Everything that a model, a tool or a file named is made visible and capped."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from desktop.domain.approval.audit import AuditRow
from desktop.domain.approval.audit_chain import ChainReport
from desktop.domain.approval.permission import NOBODY_ANSWERED, UNANSWERED, AuditEntry
from desktop.domain.text.json_text import read_json
from desktop.presenter.approvals.activity_words import finding_words, moment
from desktop.presenter.approvals.call_words import (
    call_words,
    done_by_itself,
    is_work,
    names_of,
    outcome_shown,
    spoken_words,
)
from desktop.presenter.common.outcomes import DECIDED_BY, DECISIONS
from desktop.ui.widgets.shown import shown, shown_line

LONGEST = 4000
"""Characters of one value that are shown; *Copy* and the export have all of it."""
PATHS_SHOWN = 50
NOTES = {"start": "The chain begins", "break": "Lines are missing", "other": "Another version of Assent"}
UNKNOWN = "Not recorded: it is still running, or Assent was closed before it finished"


class EntryFact(NamedTuple):
    """One line of an entry's details; ``machine`` text is quoted as it is."""

    name: str
    text: str
    machine: bool = False


HINT = EntryFact(
    "What to do",
    "An export that you made earlier, or a backup of the home folder, holds the lines as they were. Restoring "
    "an older copy of the database looks like this too.",
)


def who(entry: AuditEntry) -> str:
    """Who or what decided: the person, a rule, a setting."""
    if done_by_itself(entry):
        return "Nobody was asked"
    if entry.category == "read" and entry.by == "setting":
        return "Needs no answer" if is_work(entry) else "Reads run"
    return DECIDED_BY[entry.by].log if entry.by in DECIDED_BY else shown_line(entry.by[:80])


def _choice(entry: AuditEntry) -> str:
    """The decision of an entry. Earlier versions wrote a denial where the question had only closed."""
    denied = entry.decision.startswith("deny")
    return UNANSWERED if denied and entry.by in NOBODY_ANSWERED else entry.decision


def decision_word(entry: AuditEntry) -> str:
    """A stored choice in a word."""
    if done_by_itself(entry):
        return "by itself"
    decision = _choice(entry)
    if decision == UNANSWERED:
        return "not answered"
    if decision == "allow_edited":
        return "edited"
    return "denied" if decision.startswith("deny") else "allowed" if decision.startswith("allow") else decision


def when(at: float) -> str:
    """The local time, with the date unless it is today."""
    try:
        then, now = time.localtime(at), time.localtime()
    except (OverflowError, ValueError, OSError):
        return "?"
    pattern = "%H:%M:%S" if then[:3] == now[:3] else "%d %b %H:%M" if then[0] == now[0] else "%d %b %Y"
    return time.strftime(pattern, then)


def spoken(row: AuditRow, titles: Mapping[str, str]) -> str:
    """A row for who does not see it."""
    entry = row.entry
    if row.note:
        return f"{when(entry.at)}, {NOTES.get(row.kind, '')}: {row.note}"
    came = f", {outcome_shown(entry)}" if entry.outcome else ""
    by = "" if done_by_itself(entry) else f" by {who(entry)}"
    words = f"{decision_word(entry)}{by}{came}: {spoken_words(entry, titles)}"
    return f"{when(entry.at)}, {shown_line(words[:LONGEST])}"


def rule_of(entry: AuditEntry) -> str:
    """What names the rule that decided, or that was made: its id, else its pattern; "" where there was none."""
    rule = entry.extra.get("rule")
    if not isinstance(rule, Mapping):
        return ""
    ids = rule.get("rule_ids")
    named = rule.get("rule_id") or (ids[0] if isinstance(ids, list) and ids else "") or rule.get("pattern")
    return named if isinstance(named, str) else ""


def facts(row: AuditRow, thread_title: str, titles: Mapping[str, str]) -> list[EntryFact]:
    """Everything that is known of a row, what matters first."""
    entry = row.entry
    if row.note:
        return [EntryFact("What", row.note), EntryFact("Written", moment(entry.at)), _number(row)]
    extra, words = entry.extra, call_words(entry, titles)
    later = f" (at {time.strftime('%H:%M:%S', time.localtime(row.outcome_at))})" if row.outcome_at else ""
    found = [
        EntryFact("Decision", _decision(entry)),
        EntryFact("Outcome", outcome_shown(entry) + later if entry.outcome else UNKNOWN),
        EntryFact("Time", moment(entry.at) + _waited(extra)),
        EntryFact("Reason", _text(extra.get("reason"))),
        EntryFact("Answered in", _text(extra.get("via"))),
        EntryFact("What", f"{words.tool}: {words.what}" if words.plain else ""),
        EntryFact("Tool", entry.tool, machine=True),
        EntryFact("Category", entry.category + _because(extra)),
        EntryFact("Called by", " › ".join(names_of(entry.chain, titles))),
        EntryFact("Touches", _paths(entry.paths), machine=True),
        EntryFact("Network", _network(extra)),
        EntryFact("Arguments", readable(entry.summary), machine=True),
        EntryFact("The model had asked for", readable(_text(extra.get("original"))), machine=True),
        EntryFact("Edited to", readable(_text(extra.get("edited"))), machine=True),
        EntryFact("Rule", _rule_text(extra.get("rule")), machine=True),
        EntryFact("Chat", thread_title),
        EntryFact("Run", entry.run_id, machine=True),
        EntryFact("Call", entry.call_id, machine=True),
        EntryFact("Digest of the arguments", entry.digest, machine=True),
        _number(row),
    ]
    return [fact._replace(text=_cut(shown(fact.text))) for fact in found if fact.text.strip()]


def about_chain(report: ChainReport) -> list[EntryFact]:
    """What a check found, for beside the list."""
    at = f"{report.lines:,} lines were looked at; the last is {report.head.number:,}."
    found = [EntryFact("What is wrong" if n == 0 else "", words) for n, words in enumerate(finding_words(report))]
    return [
        *found,
        EntryFact("Looked at", at),
        EntryFact("Checksum of the last line", report.head.link, machine=True),
        HINT,
    ]


def as_text(found: list[EntryFact]) -> str:
    """All facts as text, for the clipboard."""
    return "\n".join(f"{fact.name}: {fact.text}" if fact.name else fact.text for fact in found)


def readable(summary: str) -> str:
    """Arguments a line each, where they are whole; else as they were kept."""
    try:
        found = read_json(summary)
    except (ValueError, RecursionError):
        return summary
    if not isinstance(found, dict):
        return summary
    return "\n".join(f"{name}: {_text(value)}" for name, value in found.items())


def _decision(entry: AuditEntry) -> str:
    if done_by_itself(entry):
        return "Nobody was asked: it did this by itself, inside what confines it here, if anything does"
    known = DECISIONS.get(_choice(entry))
    return f"{known.log if known is not None else entry.decision}, by: {who(entry)}"


def _number(row: AuditRow) -> EntryFact:
    adopted = ", written before lines were chained" if row.kind == "adopted" else ""
    return EntryFact("Entry", f"{row.number:,}{adopted}")


def _waited(extra: Mapping[str, Any]) -> str:
    waited = extra.get("waited_s")
    known = isinstance(waited, int | float) and not isinstance(waited, bool) and waited >= 0.05
    return f", after {waited:.1f} s" if known else ""


def _network(extra: Mapping[str, Any]) -> str:
    """Whether it was allowed with the network, and where to as far as that was known; "" for what has no say in it."""
    if "network" not in extra:
        return ""
    hosts = extra.get("hosts")
    named = ", ".join(str(host) for host in hosts) if isinstance(hosts, list) else ""
    return ("With" if extra["network"] is True else "Without") + (f": {named}" if named else "")


def _because(extra: Mapping[str, Any]) -> str:
    why = _text(extra.get("raised_because"))
    return f": {why}" if why else ""


def _paths(paths: tuple[str, ...]) -> str:
    rest = [f"and {len(paths) - PATHS_SHOWN:,} more"] if len(paths) > PATHS_SHOWN else []
    return "\n".join([*(shown_line(path) for path in paths[:PATHS_SHOWN]), *rest])


def _rule_text(rule: Any) -> str:
    if not isinstance(rule, Mapping):
        return ""
    pattern = rule.get("pattern")
    return pattern if isinstance(pattern, str) and pattern else _text(dict(rule))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
