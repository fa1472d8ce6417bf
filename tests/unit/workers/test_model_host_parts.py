"""The parts of the model host that need no process: prompts, windows, tool calls, failures, waiting times."""

import email.utils
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.text.scrub import REDACTED, scrub, without_paths
from desktop.workers.inside import CallError
from desktop.workers.model_child import environment
from desktop.workers.model_host.bounds import LineGuard
from desktop.workers.model_host.clouds import CloudPlace, signed_headers
from desktop.workers.model_host.direct.events import EventReader
from desktop.workers.model_host.failures import detail, failure, retry_after
from desktop.workers.model_host.wire.caching import mark
from desktop.workers.model_host.wire.prompt import OPENING, to_wire
from desktop.workers.model_host.wire.toolcalls import Collector, crowded
from desktop.workers.model_host.wire.windows import Windows, assemble
from tests.servers.signed import signature


def text(role: str, said: str) -> dict[str, Any]:
    return {"role": role, "blocks": [{"kind": "text", "text": said}]}


def call(call_id: str, **more: Any) -> dict[str, Any]:
    return {"kind": "tool_call", "call_id": call_id, "tool": "t", "arguments": {}, **more}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "blocks": [{"kind": "tool_result", "call_id": call_id, "tool": "t", "text": "r"}]}


# -- prompts


def test_roles_alternate_and_system_texts_come_first() -> None:
    wire = to_wire([text("system", "B"), text("user", "1"), text("user", "2"), text("assistant", "3")], "A", "openai")
    assert [(m["role"], m["content"]) for m in wire] == [("system", "A\n\nB"), ("user", "1\n\n2"), ("assistant", "3")]


def test_a_conversation_begins_with_the_user() -> None:
    wire = to_wire([text("assistant", "Hello")], "", "anthropic")
    assert [(m["role"], m["content"]) for m in wire] == [("user", OPENING), ("assistant", "Hello")]


def test_nothing_empty_is_sent() -> None:
    assert to_wire([text("user", "  "), text("assistant", ""), text("user", "x")], "", "openai") == [
        {"role": "user", "content": "x"}
    ]


@pytest.mark.spec("R-CTX-5")
def test_a_call_without_result_and_a_result_without_call_are_left_out() -> None:
    asking = {"role": "assistant", "blocks": [call("a"), call("b")]}
    wire = to_wire([text("user", "x"), asking, result("b"), result("c"), text("user", "y"), result("a")], "", "openai")
    assert [m["role"] for m in wire] == ["user", "assistant", "tool", "user"]
    assert [c["id"] for c in wire[1]["tool_calls"]] == ["b"]


@pytest.mark.parametrize(
    ("provider", "given_id", "sent"),
    [("openai", "call_1", "call_1"), ("gemini", "call_1__thought__" + "x" * 500, "call_1")],
)
def test_ids_that_fit_stay_without_what_an_earlier_assent_kept_in_them(provider: str, given_id: str, sent: str) -> None:
    asking = {"role": "assistant", "blocks": [call(given_id)]}
    wire = to_wire([text("user", "x"), asking, result(given_id)], "", provider)
    assert wire[1]["tool_calls"][0]["id"] == wire[2]["tool_call_id"] == sent


@pytest.mark.parametrize("provider", ["openai", "anthropic", "mistral"])
def test_ids_that_do_not_fit_are_replaced_and_never_occur_twice(provider: str) -> None:
    one = [{"role": "assistant", "blocks": [call("weird id !")]}, result("weird id !")]
    wire = to_wire([text("user", "x"), *one, *one, *one], "", provider)
    made = [m["tool_calls"][0]["id"] for m in wire if m["role"] == "assistant"]
    assert made == [m["tool_call_id"] for m in wire if m["role"] == "tool"]
    assert len(set(made)) == 3
    assert all(i.replace("_", "").isalnum() and len(i) <= 40 for i in made)
    assert provider != "mistral" or all(len(i) == 9 for i in made)


def test_a_file_cannot_break_out_of_its_fence() -> None:
    block = {"kind": "file", "name": "a.md", "text": "```\nx\n````\ny"}
    (message,) = to_wire([{"role": "user", "blocks": [block]}], "", "openai")
    assert message["content"].count("`````") == 2


# -- windows


def test_a_window_is_continued_from_what_is_kept() -> None:
    windows = Windows()
    one = windows.apply({"key": "k", "base": 0, "keep": 0, "version": 1}, [["m", {"role": "user"}]] * 3)
    two = windows.apply({"key": "k", "base": 1, "keep": 2, "version": 2}, [["m", {"role": "assistant"}]])
    assert [m["role"] for m in two] == ["user", "user", "assistant"]
    assert two[:2] == one[:2]


@pytest.mark.parametrize(
    "change",
    [
        {"key": "other", "base": 1, "keep": 1, "version": 2},
        {"key": "k", "base": 9, "keep": 1, "version": 2},
        {"key": "k", "base": 1, "keep": 2, "version": 2},
    ],
)
def test_a_window_that_is_not_known_is_lost(change: dict[str, Any]) -> None:
    windows = Windows()
    windows.apply({"key": "k", "base": 0, "keep": 0, "version": 1}, [["m", {"role": "user"}]])
    with pytest.raises(CallError) as lost:
        windows.apply(change, [])
    assert lost.value.code == "window.lost"


@pytest.mark.parametrize(
    "parts",
    [
        [["b", {}]],
        [["+", "text", "x"]],
        [["m", {"role": "wizard"}]],
        [["m"]],
        [3],
        [["m", {"role": "user"}], ["+", "t", "x"]],
    ],
)
def test_parts_that_do_not_fit_together_are_refused(parts: list[Any]) -> None:
    with pytest.raises(CallError):
        assemble(parts)


# -- tool calls


def delta(index: Any = None, call_id: Any = None, name: Any = None, arguments: Any = "") -> Any:
    return SimpleNamespace(index=index, id=call_id, function=SimpleNamespace(name=name, arguments=arguments))


@given(
    st.lists(
        st.builds(
            delta,
            st.none() | st.integers(-1, 3),
            st.none() | st.sampled_from("abc"),
            st.none() | st.sampled_from("fg"),
            st.none() | st.text(max_size=5),
        )
    )
)
def test_whatever_is_streamed_calls_have_ids_of_their_own_and_nothing_is_lost(deltas: list[Any]) -> None:
    collector = Collector()
    collector.add(deltas)
    calls = collector.finish()
    assert len({c.call_id for c in calls}) == len(calls)
    assert all(c.call_id for c in calls)
    assert all(c.name or c.problem for c in calls)
    assert sum(c.characters for c in calls) == sum(len(d.function.arguments or "") for d in deltas)


def test_pieces_without_number_and_id_continue_the_last_call() -> None:
    collector = Collector()
    collector.add([delta(None, None, "f", '{"a"'), delta(None, None, None, ": 1}")])
    assert ["".join(c.pieces) for c in collector.finish()] == ['{"a": 1}']


def test_text_is_no_crowd() -> None:
    assert crowded('{"a":[' + "0," * 30_000 + "0]}")
    assert not crowded('{"content": "' + 'a,b[{\\"' * 30_000 + '"}')


# -- failures


class AuthenticationError(Exception):
    status_code = 401
    litellm_response_headers = {"x": "y"}


@pytest.mark.spec("R-SEC-6")
def test_a_failure_shows_what_the_provider_said_and_no_secret() -> None:
    key = "my-very-own-key"
    said = f"litellm.AuthenticationError: X - {{'error': {{'message': 'Bad key {key} at /home/bob/x/keys.py'}}}}"
    error = failure(AuthenticationError(said), (key,), streaming=False)
    assert error.code == "model.key_refused"
    assert error.data["detail"] == f"Bad key {REDACTED} at …/keys.py"


def test_an_error_without_status_is_our_own_code() -> None:
    assert failure(ValueError("odd"), (), streaming=False).code == "model.failed"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({}, None),
        ({"retry-after": "999999"}, 3600.0),
    ],
)
def test_the_time_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_the_time_to_wait_may_be_a_date() -> None:
    waited = retry_after({"retry-after": email.utils.formatdate(time.time() + 30, usegmt=True)})
    assert waited is not None
    assert 25 < waited <= 31


def test_the_librarys_dressing_is_taken_off() -> None:
    assert detail("litellm.BadRequestError: OpenAIException - Something is off") == "Something is off"


# -- secrets in text, and the environment


@pytest.mark.spec("R-SEC-4", "R-SEC-6")
@pytest.mark.parametrize(
    ("secret", "value"),
    [
        ("sk-proj-abcdefghij1234567890", "abcdefghij"),
        ("Bearer abcdef123456", "abcdef"),
        ("api_key=hello12345", "hello"),
        ("'x-api-key': 'zzzzzzzz1'", "zzz"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIA"),
        ("OPENAI_API_KEY=abcdefgh", "abcd"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "eyJ"),
        ("authorization: Basic dXNlcjpwYXNz", "dXNl"),
    ],
)
def test_what_looks_like_a_secret_is_taken_out(secret: str, value: str) -> None:
    cleaned = scrub(f"before {secret} after")
    assert value not in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")
    assert scrub(cleaned) == cleaned


@pytest.mark.parametrize("plain", ["Basic understanding of tokens", "skillfulnessandpatience", "the token limit is 8"])
def test_plain_words_stay(plain: str) -> None:
    assert scrub(plain) == plain


@pytest.mark.parametrize("piece", ["a-", "sk-", "bearer ", "/home", "api_key ", "eyJ", "basic a", "_token\t"])
def test_hostile_text_is_cleaned_quickly(piece: str) -> None:
    began = time.thread_time()
    without_paths(scrub(piece * 8000, limit=8000))
    assert time.thread_time() - began < 5, "what grows with the square takes many seconds"


def test_host_paths_are_cut_and_web_addresses_stay() -> None:
    assert without_paths("in /home/bob/a/b.py, see https://x.org/home/bob") == "in …/b.py, see https://x.org/home/bob"


@pytest.mark.spec("R-ENV-6")
def test_the_hosts_environment_holds_no_key_whatever_ours_holds() -> None:
    ours = {"PATH": "/bin", "OPENAI_API_KEY": "sk-1", "AWS_SECRET_ACCESS_KEY": "x", "PYTHONPATH": "/x", "no_proxy": "x"}
    made = environment(ours)
    assert "sk-1" not in made.values()
    assert not any(word in name for name in made for word in ("KEY", "SECRET", "TOKEN", "PASSWORD", "PYTHON"))
    assert made["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert made["NO_PROXY"] == "x,localhost,127.0.0.1,::1"


# -- signatures


@pytest.mark.parametrize(
    ("query", "signed"),
    [
        ("", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ],
)
def test_amazons_published_examples_have_the_signature_that_the_fake_amazon_checks(query: str, signed: str) -> None:
    headers = {"host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z"}
    secret, scope = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830/us-east-1/service/aws4_request"
    assert signature("GET", f"https://example.amazonaws.com/{query}", headers, b"", secret, scope) == signed


def test_a_temporary_key_sends_its_token_under_the_signature() -> None:
    place = CloudPlace("", "b", {"access_key_id": "A", "session_token": "the-token"}, {"region": "eu-west-1"})
    url = "https://x.org/models?b=2&a=1"
    made = {name.lower(): value for name, value in signed_headers(url, place).items()}
    sent = {"host": "x.org", "x-amz-date": made["x-amz-date"], "x-amz-security-token": "the-token"}
    scope = f"{made['x-amz-date'][:8]}/eu-west-1/bedrock/aws4_request"
    assert made["x-amz-security-token"] == "the-token"
    assert made["authorization"].endswith(
        f"Credential=A/{scope}, SignedHeaders=host;x-amz-date;x-amz-security-token, "
        f"Signature={signature('GET', url, sent, b'', 'b', scope)}"
    )


NOTED = [text("user", "x"), {"role": "assistant", "blocks": [call("call_1")]}, result("call_1")]


@pytest.mark.spec("R-MOD-3")
@pytest.mark.parametrize(
    ("provider", "messages", "last"),
    [
        ("anthropic", NOTED, {"role": "user", "content": "Two rounds."}),
        ("mistral", NOTED, {"role": "tool", "content": "r\n\nTwo rounds."}),
        ("openai", NOTED[:1], {"role": "user", "content": "x\n\nTwo rounds."}),
        (
            "anthropic",
            NOTED[:1],
            {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "Two rounds."}]},
        ),
    ],
)
def test_a_note_for_one_request_stands_last_and_leaves_all_before_it_as_it_was(
    provider: str, messages: list[Any], last: dict[str, Any]
) -> None:
    without = to_wire(messages, "Be brief.", provider)
    noted = to_wire(messages, "Be brief.", provider, "Two rounds.")
    assert {name: noted[-1][name] for name in last} == last
    assert noted[: len(without) - 1] == without[:-1]


@pytest.mark.spec("R-MOD-3")
def test_a_mark_stands_before_what_is_not_there_in_the_next_request() -> None:
    for messages, place in ((NOTED, -2), (NOTED[:1], -1)):
        wire = to_wire(messages, "Be brief. " * 900, "anthropic", "Two rounds.")
        made = {"model": "anthropic/claude-sonnet-4-5", "messages": wire}
        mark(made, "anthropic", {}, noted=True)
        marked = [at for at, message in enumerate(wire) if "cache_control" in json.dumps(message)]
        assert marked[-1] == len(wire) + place
        assert "Two rounds" not in json.dumps([one for one in wire if "cache_control" in one])
        content = wire[-1]["content"]
        assert isinstance(content, str) or "cache_control" not in content[-1]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_events_are_the_same_wherever_their_lines_are_cut(end: str) -> None:
    text = end.join(
        (": alive", "", "event: x", "data: one", "data:two", "", "data", "", "data: three", "", "")
    ).encode()
    for at in range(len(text)):
        guard, reader = LineGuard(events=True), EventReader()
        found = [data for piece in (text[:at], text[at:]) for data in reader.feed(guard.feed(piece))]
        assert found == [b"one\ntwo", b"three"], at
    assert reader.rest() == []
