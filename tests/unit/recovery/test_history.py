"""What the logs of earlier runs say of calls inside calls."""

from __future__ import annotations

import json

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.messages import ChatMessage, TextBlock, Usage
from desktop.domain.runs.call_keys import inside_key, likeness
from desktop.domain.runs.effects import EffectRecord, call_key, digest_value
from desktop.domain.tools import ToolResult, ToolSpec
from desktop.recovery.effect_values import message_to_plain
from desktop.recovery.history import CallHistory, call_outcomes
from desktop.recovery.past import NEVER_BEGUN, Done, InProgress, Unknown, inside_of, question_of
from desktop.recovery.words import ANOTHER_WAY, NOBODY_KNOWS

ROOT = call_key("message", "c1")
WRITE = ToolSpec("append", "", {}, Category.WRITE)
READ = ToolSpec("look", "", {}, Category.READ)
CODE = ToolSpec("invoke", "", {}, Category.READ, nests="calls")
HELPER = ToolSpec("helper-agent", "", {}, Category.WRITE, nests="thread")
OWN = ToolSpec("batch", "", {}, Category.WRITE)


def key(word: str, above: str = ROOT) -> str:
    return inside_key(above, likeness("append", {"word": word}), 1)


class Log:
    """Lines of runs, in order."""

    def __init__(self) -> None:
        self.records: list[EffectRecord] = []
        self.run = "run-1"

    def begun(self, name: str, *, at: str, writes: bool = True) -> Log:
        return self._line(name, at, "begun", "", f"does {name}" if writes else "")

    def done(self, name: str, *, at: str, text: str = "ok") -> Log:
        return self._line(name, at, "completed", json.dumps({"text": text}), "")

    def said(self, text: str, *, at: str) -> Log:
        message = ChatMessage("assistant", (TextBlock(text),), "end", Usage(5, 5), "m")
        return self._line("m", at, "completed", json.dumps(message_to_plain(message)), "", "llm")

    def _line(self, name: str, at: str, phase: str, value: str, summary: str, kind: str = "tool") -> Log:
        number = len(self.records) + 1
        self.records.append(EffectRecord(self.run, number, at, 1, kind, name, "d", phase, 1.0, value, summary))  # type: ignore[arg-type]
        return self

    def before(self, *roots: str) -> CallHistory:
        found = CallHistory()
        found.join(CallHistory.of(self.records), roots or (ROOT,))
        return found


@pytest.mark.spec("R-JRN-2")
def test_each_call_inside_is_recalled_once_and_a_read_is_made_again_unasked() -> None:
    log = Log().begun("invoke", at=ROOT, writes=False)
    log.begun("append", at=key("a")).done("append", at=key("a"), text="wrote a")
    log.begun("append", at=key("b")).begun("look", at=key("r"), writes=False)
    before = log.before()
    assert before.past_inside(key("a"), {}, WRITE) == Done(ToolResult("wrote a"))
    assert before.past_inside(key("b"), {}, WRITE) == Unknown(NOBODY_KNOWS)
    assert before.past_inside(key("r"), {}, READ) == NEVER_BEGUN
    assert [before.past_inside(key(word), {}, WRITE) for word in ("a", "b", "never")] == [NEVER_BEGUN] * 3
    assert isinstance(before.past(ROOT, {}, CODE), InProgress)


@pytest.mark.spec("R-JRN-2")
def test_what_a_later_run_began_is_not_inside_what_an_earlier_one_left_open() -> None:
    log = Log().begun("invoke", at=ROOT, writes=False).begun("append", at=key("a"))
    log.begun("look", at=key("r"), writes=False)
    log.run = "run-2"
    log.begun("batch", at=ROOT).begun("append", at=key("b"))
    before = log.before()
    assert before.past_inside(key("a"), {}, WRITE) == Unknown(NOBODY_KNOWS)
    assert before.past_inside(key("r"), {}, READ) == NEVER_BEGUN


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
def test_who_is_asked_about_a_call_as_a_whole_reads_what_is_known_of_each_inside() -> None:
    log = Log().begun("batch", at=ROOT).begun("append", at=key("a")).done("append", at=key("a"))
    log.begun("append", at=key("b"))
    before = log.before()
    assert question_of(before.past(ROOT, {}, OWN)) == (
        f"{NOBODY_KNOWS} Inside it: does append (done); does append (nobody knows whether it was done)."
    )
    assert before.divergence(key("new")).startswith(ANOTHER_WAY)
    assert len(before.not_repeated(key("new"))) == 2
    for word in ("a", "b"):
        before.past_inside(key(word), {}, WRITE)
    assert (before.divergence(key("new")), before.not_repeated(ROOT)) == ("", ())


@pytest.mark.spec("R-JRN-2")
def test_calls_that_an_earlier_version_named_at_random_are_asked_about_as_a_whole() -> None:
    log = Log().begun("invoke", at=ROOT, writes=False).begun("append", at=call_key("message", "random"))
    assert question_of(log.before().past(ROOT, {}, CODE)).startswith(NOBODY_KNOWS)


@pytest.mark.spec("R-JRN-2", "R-AAT-2")
def test_of_an_agent_whose_thread_is_gone_a_person_is_asked_if_it_had_done_anything() -> None:
    nothing = Log().begun("helper-agent", at=ROOT).before()
    assert question_of(nothing.past(ROOT, {}, HELPER)) == "", "it had no thread yet, so it had done nothing"
    log = Log().begun("helper-agent", at=ROOT).begun("append", at=call_key("below", "c9"))
    before = log.before()
    assert "does append (nobody knows whether it was done)" in question_of(before.past(ROOT, {}, HELPER))
    before.threads = frozenset({ROOT})
    assert question_of(before.past(ROOT, {}, HELPER)) == ""
    assert inside_of(before.past(ROOT, {}, HELPER)) == ("does append (nobody knows whether it was done)",)


@pytest.mark.spec("R-JRN-2", "R-SUP-7")
def test_answers_come_back_in_order_and_are_not_counted_again() -> None:
    agent = inside_key(ROOT, likeness("agent-loop", None), 1)
    log = Log().said("one", at=agent)
    log.run = "run-2"
    log.said("two", at=agent).said("of another call", at=call_key("message", "c2"))
    log.records.append(log.records[0]._replace(value=digest_value("00"), agent="0"))
    before = log.before()
    said = [before.answered(agent) for _ in range(3)]
    assert [one.text if one is not None else None for one in said] == ["one", "two", None]
    assert {one.usage for one in said if one is not None} == {None}
    assert [before.answered(call_key("message", "c2")), before.answered("0")] == [None, None]


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize("callers", [{"message": "", "below": key("h")}, {}])
def test_of_calls_at_once_each_has_inside_it_only_what_it_made_itself(callers: dict[str, str]) -> None:
    """Also below an agent in a thread of its own; where nobody knows for whom that works, all that were under way then
    may have made it, and none of these is left out for it."""
    helper, slow, skill, below = key("h"), key("slow"), key("skill"), call_key("below", "c9")
    log = Log().begun("invoke", at=ROOT, writes=False).begun("append", at=slow).begun("helper-agent", at=helper)
    log.begun("skill", at=skill).begun("append", at=key("in", skill)).begun("append", at=below)
    found = call_outcomes(log.records, callers)
    alike = () if callers else (below,)
    assert found[ROOT].within == (slow, helper, skill, key("in", skill), below)
    assert (found[slow].within, found[helper].within) == (alike, (below,))
    assert found[skill].within == (key("in", skill), *alike)
    before = CallHistory()
    before.join(CallHistory.of(log.records, callers), {ROOT})
    assert len(before.not_repeated(ROOT)) == 5
    before.past_inside(helper, {}, HELPER)
    left = before.not_repeated(ROOT)
    assert len(left) == (3 if callers else 4)
    assert "does append (nobody knows whether it was done)" in left
