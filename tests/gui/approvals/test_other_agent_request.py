"""What an agent of another maker asks for: its words are marked as its own, and what a yes is good for is said."""

import pytest
from shots.other_agents import asks_request

from desktop.presenter.approvals.request_facts import request_facts


@pytest.mark.spec("R-ACP-2", "R-PRM-2")
@pytest.mark.parametrize(
    ("kind", "good_for"), [("diff", "For exactly what stands below, once."), ("said", "inside its confinement")]
)
def test_its_words_are_marked_and_a_yes_is_for_that_alone(kind: str, good_for: str) -> None:
    facts = {fact.caption: fact.text for fact in request_facts(asks_request(kind), "My chat")}
    assert facts["It says"] == "Merge by station and time. opencode says so; Assent does not rely on it."
    assert good_for in facts["A yes is"]
    assert "Its own “always allow” is never taken." in facts["A yes is"]
    assert facts["Really is"] == "/home/ida/harbour-sensors/ingest/nightly.py"
    assert asks_request(kind).choices == ("deny", "allow_once", "deny_run")  # never edited nor remembered
