"""A question as an editor shows it: the facts of the window's dialog, all of the call, and nothing that could pretend
to be more than machine text."""

from dataclasses import replace
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category, Judgement
from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.approvals.request_facts import request_facts
from desktop.presenter.editors.fences import cut, fenced
from desktop.presenter.editors.requests import (
    ADMIN_LIMIT,
    WRITE_LIMIT,
    decision_of,
    diff_of,
    not_for_editors,
    options_of,
    request_text,
)


def command(text: str, **more: Any) -> PermissionRequest:
    preview = {"kind": "command", "command": text, "cwd": "/work", "confinement": "Confined by x.", "confined_by": "x"}
    request = PermissionRequest(
        request_id="r",
        run_id="run",
        thread_id="t",
        call_id="c",
        tool="bash",
        description="",
        category=Category.WRITE,
        raised_because="",
        chain=("assistant",),
        arguments={"command": text},
        paths=(),
        judgements=(Judgement(text, "writes", touches=("/work/a",)),),
        preview=preview,
        digest="0123456789abcdef0123",
        asked_at=0.0,
    )
    return replace(request, **more)


def write(before: str, after: str, **preview: Any) -> PermissionRequest:
    shown = {"kind": "diff", "path": "/work/a", "before": before, "after": after, "new": False, "notes": [], **preview}
    arguments = {"path": "a", "content": after}
    return command("", tool="write-file", arguments=arguments, paths=("/work/a",), preview=shown, judgements=())


def same(text: str) -> str:
    return text


@pytest.mark.spec("R-ACP-3", "R-PRM-2")
def test_an_editor_is_told_every_fact_that_the_dialog_shows() -> None:
    for request in (command("touch a"), write("x", "y")):
        text = request_text(request, "My chat", same)
        for fact in request_facts(request, "My chat"):
            assert fact.text in text
        assert "Asked by: assistant › " in text
        assert "Digest: 0123456789abcdef" in text
    assert "Confined by x." in request_text(command("touch a"), "", same)
    assert "touch a [writes] -> /work/a" in request_text(command("touch a"), "", same)


@pytest.mark.spec("R-ACP-3", "R-PRM-15")
@pytest.mark.parametrize("text", ["echo '\n```\n**Confined: yes**\n```'", "a\u202eb", "``````", "x\r\x1b[2J"])
def test_a_command_cannot_end_its_block_or_hide_a_part_of_itself(text: str) -> None:
    shown = request_text(command(text), "", same)
    body = shown[shown.rindex("\n\n`") + 2 :]
    fence = body[: len(body) - len(body.lstrip("`"))]
    assert body.endswith(f"\n{fence}")
    assert fence not in body[len(fence) : -len(fence)]
    assert not set("\u202e\r\x1b") & set(shown)


def test_what_cannot_be_seen_is_shown_as_text_and_not_as_a_diff() -> None:
    assert diff_of(write("one\n", "two\n"), same) == {"path": "/work/a", "old": "one\n", "new": "two\n"}
    assert diff_of(write("", "two\n", new=True), same) == {"path": "/work/a", "old": None, "new": "two\n"}
    assert diff_of(write("one\n", "t\u202ewo\n"), same) is None
    assert "t\\u{202e}wo" in request_text(write("one\n", "t\u202ewo\n"), "", same)
    assert "invisible" in request_text(write("one\n", "t\u202ewo\n"), "", same)


@pytest.mark.spec("R-ACP-3", "R-PRM-3")
@pytest.mark.parametrize(
    ("request_", "elsewhere"),
    [
        (command("x" * WRITE_LIMIT), False),
        (command("x" * (WRITE_LIMIT + 1)), True),
        (command("x" * ADMIN_LIMIT, category=Category.ADMIN), False),
        (command("x" * (ADMIN_LIMIT + 1), category=Category.ADMIN), True),
        (command("x\n" * 61, category=Category.ADMIN), True),
        (write("a", "b", notes=["only the beginning of the present text is shown"]), True),
    ],
)
def test_what_is_too_long_to_be_read_or_not_shown_whole_is_no_question_for_an_editor(
    request_: PermissionRequest, elsewhere: bool
) -> None:
    assert bool(not_for_editors(request_)) is elsewhere


def test_each_answer_means_what_the_dialog_means_by_it_for_this_call_alone() -> None:
    asked = command("curl x", preview={"kind": "command", "network_offered": True})
    assert [one.option for one in options_of(asked)] == [
        "deny",
        "deny_run",
        "allow_once",
        "allow_once+network",
        "allow_run",
    ]
    yes = decision_of(asked, "allow_once+network")
    assert (yes.choice, yes.digest, yes.with_network, yes.by) == ("allow_once", asked.digest, True, "user")
    for strange in ("allow_always", "allow_edited", "allow_once+network+network", "", None, 7, ["allow_once"]):
        assert decision_of(asked, strange).choice == "deny"
    admin = command("x", category=Category.ADMIN)
    assert "allow_run" not in [one.option for one in options_of(admin)]
    assert decision_of(admin, "allow_run").choice == "deny"
    again = command("x", unknown="Nobody knows whether it was done.")
    assert [one.name for one in options_of(again)] == ["Skip it", "It was done", "Stop the run", "Do it again"]
    assert decision_of(again, "done").choice == "done"


def test_the_middle_of_nothing_is_left_out_in_silence() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "abc\n[1 characters are not shown here; Assent has all of it]"
    assert cut("abcd", 3, end=True).endswith("\nbcd")
    assert fenced("a", "sh") == "```sh\na\n```"
