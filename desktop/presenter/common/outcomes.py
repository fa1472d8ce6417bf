"""What was decided about a call, who decided it, and how a run ended: the one place of the words for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from desktop.domain.approval.permission import UNANSWERED


class OutcomeWords(NamedTuple):
    """The same in three places, each with a sentence of its own. Empty: that place says nothing of it."""

    card: str
    """On the card of the call, as a sentence."""
    trace: str
    """In a trace, as a part of a line."""
    log: str
    """In the activity log, as the value of a field."""


DECISIONS: Mapping[str, OutcomeWords] = {
    "allow_once": OutcomeWords("Allowed", "allowed once", "Allowed once"),
    "allow_bounded": OutcomeWords(
        "Allowed, with some calls like it", "allowed with some like it", "Allowed, with some calls like it"
    ),
    "allow_run": OutcomeWords("Allowed for the run", "allowed for the run", "Allowed for this run"),
    "allow_always": OutcomeWords("Allowed from now on", "allowed from now on", "Allowed, and a rule was made"),
    "allow_edited": OutcomeWords("", "allowed with your changes", "Allowed with other arguments"),
    "again": OutcomeWords("Run again in a new copy", "run again in a new copy", "Run again in a new copy"),
    "deny": OutcomeWords("Denied", "denied", "Denied"),
    "deny_run": OutcomeWords(
        "Denied, with everything else of its run",
        "denied with the rest of the run",
        "Denied, with all else of this run",
    ),
    "done": OutcomeWords(
        "You said that it was done before Assent was closed",
        "said to have been done",
        "You said that it was done before Assent was closed",
    ),
    "stop": OutcomeWords("The run was ended instead", "its run was ended instead", "You stopped the run instead"),
    UNANSWERED: OutcomeWords("Not answered", "not answered", "Not answered"),
    "refused": OutcomeWords("", "", "Refused before anybody was asked"),
    "answered": OutcomeWords("", "", "You answered the server's question"),
    "declined": OutcomeWords("", "", "You refused to answer the server's question"),
}
"""By the choice that was stored. A card says of an edited call what was edited."""

DECIDED_BY: Mapping[str, OutcomeWords] = {
    "user": OutcomeWords(" by you", "by you", "You"),
    "rule": OutcomeWords(" by a rule", "by a rule", "A rule"),
    "remembered": OutcomeWords(
        " by what you decided for this run", "by what you decided for this run", "You, for this run"
    ),
    "pledge": OutcomeWords(" by you, when the agent asked", "by you, when the agent asked", "You, when it asked"),
    "no_handler": OutcomeWords(": nobody was there to be asked", "because nobody was there", "Nobody to ask"),
    "cancelled": OutcomeWords(": the run ended", "because the run ended", "The run ended"),
    "closed": OutcomeWords(": Assent was closed", "because Assent was closed", "Assent closed"),
    "setting": OutcomeWords(" by a setting", "by a setting", "A setting"),
    "edge": OutcomeWords(
        " unasked: it stayed within the edge of the folder", "unasked, at the edge", "Nobody was asked, at the edge"
    ),
    "grant": OutcomeWords(" by what you granted", "by what you granted", "You, by a grant"),
    "job": OutcomeWords(" by the policy of this job", "by the policy of this job", "The job's policy"),
    "boundary": OutcomeWords("", "", "The boundary"),
    "blocklist": OutcomeWords("", "", "The blocklist"),
    "allowed tools": OutcomeWords("", "", "The list of allowed tools"),
    "visibility": OutcomeWords("", "", "Not offered to the agent"),
    "limit": OutcomeWords("", "", "A limit"),
    "schema": OutcomeWords("", "", "Wrong arguments"),
    "form": OutcomeWords("", "", "What forms may ask"),
    "unknown tool": OutcomeWords("", "", "No such tool"),
    "pipeline": OutcomeWords("", "", "Assent"),
}
"""By who is stored to have decided; a gate that refuses by itself is told in the log alone."""


EDGES = {
    "admin": "admin",
    "folder": "outside the folder",
    "network": "network",
    "undo": "cannot be undone",
    "confined": "not confined",
    "changed": "changed files",
    "text": "text from outside",
    "other": "needs an answer",
}
"""Past what a call goes that asks at the edge."""
EDGES_NAMED = 3


def past_edge_words(found: Iterable[tuple[str, str]]) -> str:
    """What a call goes past, with the words for each."""
    return "; ".join(f"{EDGES.get(kind, kind)}: {words}" for kind, words in found)


class EndingWords(NamedTuple):
    """How a run or an agent in it ended. Empty: that place says it in other words."""

    trace: str
    """As its status in a trace."""
    debate: str = ""
    """Of a debate, as a sentence."""


_LIMIT = "a limit was reached"
ENDINGS: Mapping[str, EndingWords] = {
    "response": EndingWords("done"),
    "end_session_tool": EndingWords("", "{side} called {tool}, which ends it."),
    "max_session_turns": EndingWords(_LIMIT, "It reached its {turns} turns."),
    "max_steps": EndingWords(_LIMIT, "One side used all its rounds without answering."),
    "global_limit": EndingWords(_LIMIT, "A limit across all runs was reached."),
    "limit": EndingWords(_LIMIT, "It reached a limit."),
    "budget": EndingWords("the budget is used up", "It used up its budget."),
    "cancelled": EndingWords("stopped by you", "You stopped it."),
    "interrupted": EndingWords(
        "interrupted",
        "Assent ended in the middle of a turn. Resume goes on there: what was done is not done again, "
        "and an answer that was cut off is asked for anew.",
    ),
    "error": EndingWords("failed", "It could not continue."),
    "terminated": EndingWords("ended by middleware", "Something outside the debate ended it."),
    "done": EndingWords("done"),
    "aborted": EndingWords("stopped"),
    "failed": EndingWords("failed"),
}
"""By ``EndReason``; the last three are statuses of agents that are called."""
