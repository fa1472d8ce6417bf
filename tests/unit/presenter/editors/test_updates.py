"""What an editor is told about calls: short, masked, and of each call under a number of its own."""

from typing import Any

import pytest

from desktop.domain.messages import AudioBlock, ImageBlock
from desktop.domain.runs.events import ToolCallFinished, ToolCallOutput, ToolCallStarted
from desktop.presenter.editors.prompts import path_of, plain_name
from desktop.presenter.editors.updates import (
    HIDDEN_VALUE,
    RESULT_LIMIT,
    VALUE_LIMIT,
    EditorCalls,
    Surroundings,
    call_updates,
    shortened,
)
from desktop.tools.builtin.catalogue import BUILT_IN

WHERE = {"thread_id": "t", "run_id": "r", "message_id": "m", "call_id": "c"}


def mask(text: str) -> str:
    return text.replace("hunter2", "[REDACTED]")


def calls() -> EditorCalls:
    by_alias = {spec.provider_name: spec for spec in BUILT_IN.values()}
    return EditorCalls(Surroundings(by_alias.get, lambda: "/work", mask, lambda: "A chat"))


def started(**arguments: Any) -> ToolCallStarted:
    return ToolCallStarted(**WHERE, tool="write_file", arguments=arguments, category="write")


def finished(text: str, *media: Any) -> ToolCallFinished:
    return ToolCallFinished(
        **WHERE, tool="write_file", state="done", text=text, is_error=False, code="", elapsed_ms=1, media=media
    )


@pytest.mark.spec("R-ACP-3", "R-SEC-4")
def test_secrets_and_long_values_do_not_go_to_an_editor() -> None:
    told = calls().started(started(path="a", content="hunter2" + "x" * 9_000, options={"api_key": "k", "n": [1, None]}))
    assert "hunter2" not in str(told)
    assert len(told["input"]["content"]) < VALUE_LIMIT + 100
    assert told["input"]["options"] == {"api_key": HIDDEN_VALUE, "n": [1, None]}
    deep: Any = "x"
    for _ in range(50):
        deep = {"a": deep}
    assert len(str(shortened(deep, mask))) < 1_000


def test_a_path_is_a_location_as_the_tool_takes_it() -> None:
    for path, place in (("a/../b", "/work/b"), ("/etc/x", "/etc/x"), ("a\0b", None)):
        assert calls().started(started(path=path))["locations"] == ([place] if place else [])


def test_a_name_that_a_model_uses_again_is_another_call() -> None:
    known = calls()
    assert known.started(started(path="a"))["call"] == "c"
    (end,) = call_updates(finished("Done."), known)
    assert (end["call"], end["status"]) == ("c", "completed")
    again = known.started(started(path="a"))
    assert (again["call"], again["kind"]) == ("c.2", "call")


def test_a_result_is_cut_with_a_word_and_what_an_editor_is_not_sent_is_named() -> None:
    known = calls()
    known.started(started(path="a"))
    image, sound = ImageBlock("image/png", "AAAA"), AudioBlock("audio/wav", "AAAA")
    (end,) = call_updates(finished("`" * 3 + "x" * (RESULT_LIMIT + 5), image, image, sound), known)
    text, media = (one["text"] for one in end["content"])
    assert text.startswith("````\n")
    assert "[8 characters are not shown here; Assent has all of it]" in text
    assert media == "2 images and 1 sound: see this chat in Assent."


def test_output_of_a_running_call_is_told_a_few_times_a_second_and_only_its_end() -> None:
    known = calls()
    known.started(started(path="a"))
    told = [list(call_updates(ToolCallOutput(**WHERE, text=f"line {n}\n"), known)) for n in range(2_000)]
    pictures = [one for some in told for one in some]
    assert 1 <= len(pictures) < 200
    assert all(len(str(one)) < 6_000 for one in pictures)


def test_calls_that_the_editor_does_not_know_are_not_told() -> None:
    assert list(call_updates(finished("x"), calls())) == []


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c", "/a/b c"),
        ("file://localhost/a", "/a"),
        ("file://other/a", ""),
        ("file:relative", ""),
        ("http://x/a", ""),
        ("file:///a%00b", ""),
        ("file:///a%0ab", ""),
        ("file:///%ff", ""),
        ("file:///a\u202eb", ""),
        ("file://[", ""),
        ("", ""),
    ],
)
def test_only_an_address_of_a_file_here_is_a_path(uri: str, path: str) -> None:
    assert path_of(uri) == path


def test_the_name_of_an_editor_is_short_and_of_one_line() -> None:
    assert plain_name("Zed\u202e\n Preview", "an editor") == "Zed Preview"
    assert plain_name("\u200b", "an editor") == "an editor"
    assert plain_name(None, "an editor") == "an editor"
    assert len(plain_name("x" * 500, "")) == 40
