"""What the logs of earlier runs say of calls inside calls."""

from __future__ import annotations

import json

import pytest

from desktop.domain.effects import EffectRecord, call_key, digest_value
from desktop.domain.judgement import Category
from desktop.domain.messages import ChatMessage, TextBlock, Usage
from desktop.domain.recall import inside_key, likeness
from desktop.domain.tools import ToolSpec
from desktop.supervision.call_history import OTHER_WAY, UNKNOWN, CallHistory
from desktop.supervision.call_journal import fates
from desktop.supervision.effect_values import message_to_plain

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
    done, unknown = before.recall(key("a"), WRITE), before.recall(key("b"), WRITE)
    assert done is not None
    assert unknown is not None
    assert done.result is not None
    assert (done.result.text, done.again) == ("wrote a", "")
    assert (unknown.result, unknown.again) == (None, UNKNOWN)
    assert before.recall(key("r"), READ) is None
    assert [before.recall(key(word), WRITE) for word in ("a", "b", "never")] == [None] * 3
    assert before.question(ROOT, CODE) == ""


@pytest.mark.spec("R-JRN-2")
def test_what_a_later_run_began_is_not_inside_what_an_earlier_one_left_open() -> None:
    log = Log().begun("invoke", at=ROOT, writes=False).begun("append", at=key("a"))
    log.begun("look", at=key("r"), writes=False)
    log.run = "run-2"
    log.begun("batch", at=ROOT).begun("append", at=key("b"))
    before = log.before()
    unknown = before.recall(key("a"), WRITE)
    assert unknown is not None
    assert unknown.again == UNKNOWN
    assert before.recall(key("r"), READ) is None


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
def test_who_is_asked_about_a_call_as_a_whole_reads_what_is_known_of_each_inside() -> None:
    log = Log().begun("batch", at=ROOT).begun("append", at=key("a")).done("append", at=key("a"))
    log.begun("append", at=key("b"))
    before = log.before()
    assert before.question(ROOT, OWN) == (
        f"{UNKNOWN} Inside it: does append (done); does append (nobody knows whether it was done)."
    )
    assert before.other_way(key("new")).startswith(OTHER_WAY)
    assert len(before.left(key("new"))) == 2
    for word in ("a", "b"):
        before.recall(key(word), WRITE)
    assert (before.other_way(key("new")), before.left(ROOT)) == ("", ())


@pytest.mark.spec("R-JRN-2")
def test_calls_that_an_earlier_version_named_at_random_are_asked_about_as_a_whole() -> None:
    log = Log().begun("invoke", at=ROOT, writes=False).begun("append", at=call_key("message", "random"))
    assert log.before().question(ROOT, CODE).startswith(UNKNOWN)


@pytest.mark.spec("R-JRN-2", "R-AAT-2")
def test_of_an_agent_whose_thread_is_gone_a_person_is_asked_if_it_had_done_anything() -> None:
    nothing = Log().begun("helper-agent", at=ROOT).before()
    assert nothing.question(ROOT, HELPER) == "", "it had no thread yet, so it had done nothing"
    log = Log().begun("helper-agent", at=ROOT).begun("append", at=call_key("below", "c9"))
    before = log.before()
    assert "does append (nobody knows whether it was done)" in before.question(ROOT, HELPER)
    before.threads = frozenset({ROOT})
    assert before.question(ROOT, HELPER) == ""
    assert before.refused(ROOT) == ("does append (nobody knows whether it was done)",)


@pytest.mark.spec("R-JRN-2", "R-SUP-7")
def test_answers_come_back_in_order_and_are_not_counted_again() -> None:
    agent = inside_key(ROOT, likeness("agent-loop", None), 1)
    log = Log().said("one", at=agent)
    log.run = "run-2"
    log.said("two", at=agent).said("of another call", at=call_key("message", "c2"))
    log.records.append(log.records[0]._replace(value=digest_value("00"), agent="0"))
    before = log.before()
    said = [before.said(agent) for _ in range(3)]
    assert [one.text if one is not None else None for one in said] == ["one", "two", None]
    assert {one.usage for one in said if one is not None} == {None}
    assert [before.said(call_key("message", "c2")), before.said("0")] == [None, None]


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize("callers", [{"message": "", "below": key("h")}, {}])
def test_of_calls_at_once_each_has_inside_it_only_what_it_made_itself(callers: dict[str, str]) -> None:
    """Also below an agent in a thread of its own; where nobody knows for whom that works, all that were under way then
    may have made it, and none of these is left out for it."""
    helper, slow, skill, below = key("h"), key("slow"), key("skill"), call_key("below", "c9")
    log = Log().begun("invoke", at=ROOT, writes=False).begun("append", at=slow).begun("helper-agent", at=helper)
    log.begun("skill", at=skill).begun("append", at=key("in", skill)).begun("append", at=below)
    found = fates(log.records, callers)
    alike = () if callers else (below,)
    assert found[ROOT].within == (slow, helper, skill, key("in", skill), below)
    assert (found[slow].within, found[helper].within) == (alike, (below,))
    assert found[skill].within == (key("in", skill), *alike)
    before = CallHistory()
    before.join(CallHistory.of(log.records, callers), {ROOT})
    assert len(before.left(ROOT)) == 5
    before.recall(helper, HELPER)
    left = before.left(ROOT)
    assert len(left) == (3 if callers else 4)
    assert "does append (nobody knows whether it was done)" in left
