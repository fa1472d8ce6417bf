"""What Activity and requests call things: by what was done and whose words it is, never by names of our own code."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from shots.other_agents import asks_request
from shots.samples import write_request

from desktop.domain.approval.audit import AuditRow
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, PermissionRequest
from desktop.presenter.approvals.call_words import INSIDE, asks_words, call_words, kept_arguments
from desktop.presenter.approvals.request_facts import asked_by, request_facts
from desktop.ui.approvals.activity.words import decision_word, facts, spoken, who
from tests.gui.approvals.conftest import DialogBench

ROOT = Path(__file__).parents[3]
TITLES = {"acp_opencode": "opencode", "assistant": "Assistant"}


def entry(tool: str, arguments: object, **more: object) -> AuditEntry:
    summary = json.dumps(arguments)[:500]
    return AuditEntry(
        0.0,
        "r",
        "t",
        "c",
        ("acp_opencode", "agent"),
        tool,
        "read",
        "allow_once",
        "setting",
        "",
        **{"summary": summary, **more},
    )


DID = {"agent": "opencode", "says": "Change app.py", "kind": "edit", "state": "completed"}


@pytest.mark.spec("R-ACP-4", "R-PRM-13")
def test_what_an_agent_did_by_itself_is_told_in_its_words_and_nobody_is_said_to_have_decided() -> None:
    row = AuditRow(1, "call", entry("acp-did", DID, outcome="done"))
    assert call_words(row.entry, TITLES) == ("opencode did", "Edit: Change app.py", True)
    assert (decision_word(row.entry), who(row.entry)) == ("by itself", "Nobody was asked")
    found = {fact.name: fact.text for fact in facts(row, "", TITLES)}
    assert found["Decision"].startswith("Nobody was asked")
    assert (found["Outcome"], found["Called by"]) == ("it says done", "opencode › agent")
    assert "opencode did: Edit: Change app.py" in spoken(row, TITLES)
    assert "{" not in spoken(row, TITLES)
    failed = entry("acp-did", {**DID, "state": "failed"}, outcome="done")
    assert "it says failed" in spoken(AuditRow(1, "call", failed), TITLES)


@pytest.mark.spec("R-ACP-4", "R-PRM-13")
def test_the_work_of_an_agent_is_told_by_its_title_and_what_it_was_told() -> None:
    long = {"userMessage": "Tidy up", "prompt": "You work " * 200, "config": {"acp": "opencode"}}
    assert call_words(entry("agent-acp", long), TITLES) == ("opencode at work", "Tidy up", True)
    assert who(entry("agent-acp", long)) == "Needs no answer"
    assert who(entry("read-file", {"path": "a"})) == "Reads run"
    assert call_words(entry("agent-acp", {"prompt": "You work " * 200}), TITLES).what == ""


@pytest.mark.parametrize("folder", ["agent", "events", "middleware", "pipeline", "tools"])
def test_everything_of_the_library_that_works_inside_has_words(folder: str) -> None:
    files = sorted((ROOT / "skills" / folder).glob("*.skill.*"))
    names = {re.search(r'"name": "([a-z-]+)"', file.read_text())[1] for file in files}
    assert names
    assert names <= set(INSIDE)


@pytest.mark.parametrize(
    ("summary", "kept"),
    [
        ('{"a": 1, "b": "half of it', {"a": 1, "b": "half of it"}),
        ('{"a": "x \\"path\\": \\"/etc\\"", "path": "y"}', {"a": 'x "path": "/etc"', "path": "y"}),
        ('{"a": [1, {"path": "z"', None),
        ('{"a": [1], "b": {"c', {"a": [1]}),
        ("{}", {}),
        ("{", None),
        ("[1]", None),
        ("plain", None),
        ('{"a": ' + "[" * 5000, None),
        ('{"a" : 1}', None),
    ],
)
def test_of_arguments_that_were_cut_what_is_there_is_read_and_nothing_else(summary: str, kept: object) -> None:
    assert kept_arguments(summary) == kept


@pytest.mark.spec("R-ACP-2", "R-PRM-2")
def test_a_request_of_another_agent_is_named_by_the_agent_and_what_it_wants() -> None:
    request = replace(asks_request("said"), chain=("acp_opencode", "acp-asks"))
    request = replace(request, arguments={**request.arguments, "kind": "edit"})
    assert asks_words(request) == "opencode asks: edit"
    assert asked_by(request, TITLES) == ("opencode",)
    assert asks_words(write_request()) == ""


@pytest.mark.spec("R-ACP-2")
async def test_a_screen_reader_hears_who_asks_for_what_and_no_name_of_our_code(bench: DialogBench) -> None:
    request = asks_request("said")
    await bench.ask(replace(request, arguments={**request.arguments, "kind": "edit"}))
    assert bench.dialog.accessibleName().startswith("Request: opencode asks: edit, ")
    assert "acp" not in bench.dialog.accessibleName()


def skill_request(**more: object) -> PermissionRequest:
    preview = {"kind": "skill", "path": "/home/ida/.agent/skills/word-count.skill.py", "network": False}
    plain = replace(
        write_request(),
        tool="word-count",
        arguments={"path": "words.txt"},
        preview=preview,
        paths=(preview["path"],),
        category=Category.WRITE,
    )
    return replace(plain, **more)


@pytest.mark.spec("R-PRM-2", "R-SK-15")
def test_a_skill_in_code_shows_where_its_code_is_and_never_its_file_as_what_an_argument_means() -> None:
    found = {fact.caption: fact.text for fact in request_facts(skill_request(), "My chat")}
    assert "Path" not in found
    assert "Really is" not in found
    assert found["Its code is in"] == "/home/ida/.agent/skills/word-count.skill.py"
    assert found["Runs"] == "The code of this skill, with the arguments below."
    assert "Network" not in found
    reaching = skill_request(preview={**skill_request().preview, "network": True}, arguments={})
    found = {fact.caption: fact.text for fact in request_facts(reaching, "My chat")}
    assert found["Network"] == "Its code may reach any computer."
    assert (found["Arguments"], found["Runs"]) == ("none", "The code of this skill.")
