"""A call whose arguments a person edited: judged and shown again before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.approval.permission import Decision
from desktop.domain.errors import BoundaryViolation, ConfigurationError, Denied, KnownError, LimitReached
from desktop.domain.tools import PreCheck, ToolResult, ToolSpec
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.validation import as_json
from desktop.safety.secrets.redaction import SecretRedactor
from tests.unit.pipeline.kit import PATH, Bench, FakeTool, Person
from tests.unit.pipeline.skill_kit import SkillBench


class NotSecret(ExactTools):
    """A list that looks at an argument."""

    def permits(self, tool: ToolSpec, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        return arguments.get("path") != "secret"


def writer(**options: object) -> FakeTool:
    return FakeTool("write-file", Category.WRITE, **options)  # type: ignore[arg-type]


def edited(**arguments: object):
    """A person's answer: allow, with other arguments."""
    return lambda request: Decision("allow_edited", "digest", edited_arguments={**request.arguments, **arguments})


@pytest.mark.spec("R-PRM-5", "R-PRM-2", "R-TOOL-2")
async def test_an_edited_call_comes_back_with_what_it_really_does_before_anything_runs() -> None:
    def checks(args):
        return PreCheck(Category.WRITE, paths=(f"/w/{args['path']}",), identity={args["path"]: "1:2"})

    tool, person = writer(checks=checks), Person(edited(path="important.txt"), "allow_once")
    outcome = await Bench(tool, person=person).call("write_file", {"path": "new.txt"})
    first, second = person.asked
    assert (first.paths, first.arguments) == (("/w/new.txt",), {"path": "new.txt"})
    assert (second.paths, second.arguments) == (("/w/important.txt",), {"path": "important.txt"})
    assert tool.calls == [{"path": "important.txt"}]
    assert '{"path": "important.txt"}' in outcome.result.text
    assert outcome.facts["edited"] == {"path": "important.txt"}


@pytest.mark.spec("R-PRM-5", "R-PRM-4")
async def test_an_edited_call_that_is_denied_at_its_second_look_does_not_run() -> None:
    tool = writer()
    outcome = await Bench(tool, person=Person(edited(path="other"), "deny")).call("write_file")
    assert (outcome.state, tool.calls) == ("denied", [])
    assert "changed the arguments" not in outcome.result.text


@pytest.mark.spec("R-PRM-5", "R-PRM-2", "R-TOOL-2")
@pytest.mark.parametrize(
    ("path", "said"),
    [(5, "Invalid arguments for write_file: "), ("/etc/x", "/etc/x is outside"), ("secret", "is not among the tools")],
)
async def test_an_edit_that_a_gate_refuses_comes_back_with_why_and_can_be_edited_again(path: object, said: str) -> None:
    def checks(arguments: Mapping[str, Any]) -> PreCheck:
        outside = BoundaryViolation("/etc/x is outside the folders.") if arguments["path"] == "/etc/x" else None
        return PreCheck(Category.WRITE, paths=(str(arguments["path"]),), denied=outside)

    tool, person = writer(checks=checks), Person(edited(path=path), edited(path="ours"), "allow_once")
    outcome = await Bench(tool, person=person).call(
        "write_file", {"path": "mine"}, caller=Caller(allowed=NotSecret(("*",)))
    )
    first, second, third = person.asked
    assert (first.refused, third.refused) == ("", "")
    assert said in second.refused
    assert second.choices == ("deny", "allow_edited", "deny_run")
    assert (second.arguments, third.arguments) == ({"path": path}, {"path": "ours"})
    assert first.paths != second.paths
    assert tool.calls == [{"path": "ours"}]
    assert outcome.facts["edited"] == {"path": "ours"}


@pytest.mark.spec("R-PRM-5", "R-PRM-4")
@pytest.mark.parametrize("answer", ["allow_once", "allow_run", "deny"])
async def test_an_edit_that_a_gate_refuses_runs_whatever_is_answered_never(answer: str) -> None:
    tool = writer()
    refused = await Bench(tool, person=Person(edited(path=5), answer)).call("write_file")
    assert (refused.state, tool.calls) == ("denied" if answer == "deny" else "failed", [])
    if answer != "deny":  # nobody can give it; whoever does hears what the gate says
        note, problem = refused.result.text.split("\n", 1)
        assert note == '[The person changed the arguments before allowing this call to: {"path": 5}]'
        assert problem.startswith("Invalid arguments for write_file: ")


@pytest.mark.spec("R-PRM-5", "R-PRM-2")
@pytest.mark.parametrize(
    "error", [LimitReached("Too many files.", limit="files"), ConfigurationError("The server's entry has no command.")]
)
@pytest.mark.parametrize("raised", [True, False])
async def test_an_edit_comes_back_whatever_kind_of_refusal_it_meets(error: KnownError, raised: bool) -> None:
    def checks(arguments: Mapping[str, Any]) -> PreCheck:
        if arguments["path"] == "bad" and raised:
            raise error
        return PreCheck(Category.WRITE, denied=error if arguments["path"] == "bad" else None)

    tool, person = writer(checks=checks), Person(edited(path="bad"), edited(path="good"), "allow_once")
    outcome = await Bench(tool, person=person).call("write_file")
    assert [request.refused for request in person.asked] == ["", str(error), ""]
    assert person.asked[1].choices == ("deny", "allow_edited", "deny_run")
    assert (outcome.state, tool.calls) == ("done", [{"path": "good"}])


@pytest.mark.spec("R-PRM-5")
async def test_the_model_hears_which_arguments_a_person_left_out() -> None:
    def leave_out(_request: object) -> Decision:
        return Decision("allow_edited", "digest", edited_arguments={})

    tool, person = writer(params={**PATH, "required": []}), Person(leave_out, "allow_once")
    outcome = await Bench(tool, person=person).call("write_file")
    note = outcome.result.text.partition("\n")[0]
    assert note == "[The person changed the arguments before allowing this call to: {}, without path]"


@pytest.mark.spec("R-PRM-5", "R-TOOL-2")
@pytest.mark.parametrize("change", [{"path": "b"}, {"message": "bye"}, {"path": "b", "message": "bye"}])
async def test_a_message_beside_the_arguments_can_be_changed_and_only_what_was_changed_is_told(
    change: dict[str, str],
) -> None:
    person = Person(edited(**change), "allow_once")
    bench = SkillBench(tools=(writer(),), person=person)
    outcome = await bench.call("write-file", {"path": "a"}, said="hello")
    assert [dict(request.arguments) for request in person.asked] == [
        {"path": "a", "message": "hello"},
        {"path": "a", "message": "hello", **change},
    ]
    assert person.asked[1].original == {"path": "a", "message": "hello"}
    assert outcome.facts["edited"] == change
    note = outcome.result.text.partition("\n")[0]
    assert note == f"[The person changed the arguments before allowing this call to: {as_json(change)}]"


@pytest.mark.spec("R-PRM-5", "R-LOOP-3")
async def test_the_model_hears_of_an_edit_also_when_the_edited_call_fails_and_not_in_full_when_it_is_long() -> None:
    def fail(_args: object, _context: object) -> ToolResult:
        raise Denied("The disk said no.", code="file.failed")

    person = Person(edited(path="x" * 5000), "allow_once")
    outcome = await Bench(writer(body=fail), person=person).call("write_file")
    assert outcome.result.text.startswith("[The person changed the arguments")
    assert outcome.result.text.endswith("The disk said no.")
    assert "(5000 characters)" in outcome.result.text
    assert len(outcome.result.text) < 3000


@pytest.mark.spec("R-SEC-5", "R-PRM-5")
async def test_a_key_that_a_person_wrote_into_a_call_reaches_the_tool_and_not_the_model() -> None:
    redactor, key = SecretRedactor(), "known-secret-1"
    redactor.remember(key)
    tool, person = writer(), Person(edited(path="x" * 1990 + key), "allow_once")
    outcome = await Bench(tool, person=person, redactor=redactor).call("write_file")
    assert tool.calls[0]["path"].endswith(key)
    assert "The person changed the arguments" in outcome.result.text
    assert "known-secret" not in str(outcome)


@pytest.mark.spec("R-PRM-5", "R-TOOL-4")
async def test_an_edit_that_raises_the_category_is_asked_about_as_what_it_is() -> None:
    tool = writer(checks=lambda a: PreCheck(Category.ADMIN if a["path"] == "/etc/x" else Category.WRITE))
    person = Person(edited(path="/etc/x"), "deny")
    outcome = await Bench(tool, person=person).call("write_file")
    assert [request.category for request in person.asked] == [Category.WRITE, Category.ADMIN]
    assert outcome.state == "denied"
