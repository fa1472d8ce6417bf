"""Stored messages become items: one for each message of a person, one for everything said in answer."""

import pytest

from desktop.domain.messages import (
    FileBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    Usage,
)
from desktop.domain.threads import MessageRecord, ThreadEnd
from desktop.presenter.common.words import human_cost, human_count
from desktop.presenter.transcript.build import (
    INTERRUPTED,
    NOT_ANSWERED,
    STOPPED,
    build_items,
    continued,
    passed_by,
    summarise,
    tool_part,
)
from desktop.presenter.transcript.items import AttachmentPart, NoticePart, ReasoningPart, TextPart, ToolPart


def record(message_id, role, *blocks, **more):
    return MessageRecord(message_id, "t", None, role, blocks, 0.0, **more)


def test_rounds_and_their_tools_become_one_answer():
    items = build_items(
        [
            record("u", "user", TextBlock("hi")),
            record(
                "a1",
                "assistant",
                ReasoningBlock("hm"),
                TextBlock("let me look"),
                ToolCallBlock("c1", "read_file", {"path": "data/x.csv"}),
                side="a",
                author="assistant",
                usage=Usage(1000, 50, cost_usd=0.01),
                elapsed_ms=1200,
                model="openai/gpt",
            ),
            record("r1", "tool", ToolResultBlock("c1", "read_file", "1", facts={"bytes": 241_000, "category": "read"})),
            record("a2", "assistant", TextBlock("done"), side="a", author="assistant", model="openai/gpt"),
            record("u2", "user", TextBlock("thanks"), FileBlock("n.txt", "abc")),
        ],
        {"a1": (2, 3)},
        {"assistant": "Workbench"},
    )
    assert [i.side for i in items] == ["human", "a", "human"]
    answer = items[1]
    assert (answer.author, answer.sibling, answer.siblings) == ("Workbench", 2, 3)
    assert [type(p) for p in answer.parts] == [ReasoningPart, TextPart, ToolPart, TextPart]
    card = answer.parts[2]
    assert (card.state, card.summary, card.facts, card.category) == ("done", "data/x.csv", ("241 KB",), "read")
    assert "1.1k tokens" in answer.footer
    assert "$0.010" in answer.footer
    assert isinstance(items[2].parts[1], AttachmentPart)


def test_of_a_call_that_was_never_answered_nobody_knows_what_came_of_it():
    items = build_items([record("a", "assistant", ToolCallBlock("c", "bash", {"command": "ls"}), side="a")])
    assert items[0].parts[0].state == "unknown"


def test_a_run_cut_off_in_the_middle_of_a_thread_offers_nothing_to_go_on_with():
    call = record("a", "assistant", ToolCallBlock("c", "bash", {"command": "ls"}), side="a")
    assert build_items([call])[0].can_continue
    assert not build_items([call], at_end=False)[0].can_continue


@pytest.mark.parametrize("answered", [False, True])
def test_an_answer_that_a_person_stopped_at_a_call_is_called_stopped_by_who_reads_it_later(answered):
    call = ToolCallBlock("c", "bash", {"command": "ls"})
    result = ToolResultBlock("c", "bash", "x", False, None, {"state": "done"})
    path = [record("a", "assistant", call, side="a", stop_reason="tool_calls")]
    path += [record("r", "tool", result)] if answered else []
    for stopped, said in ((True, STOPPED), (False, INTERRUPTED)):
        (item,) = build_items(path, left=ThreadEnd(stopped=stopped))
        assert [part.text for part in item.parts if isinstance(part, NoticePart)] == [said.text]
        assert item.can_continue


def test_a_question_that_the_end_of_the_app_left_unanswered_offers_to_go_on_until_an_answer_comes():
    asked = record("q", "user", TextBlock("go"))
    (item,) = build_items([asked], left=ThreadEnd(unanswered=True))
    assert [part.text for part in item.parts if isinstance(part, NoticePart)] == [NOT_ANSWERED.text]
    assert item.parts[-1].actions[0].action == "continue"
    assert continued(item).parts == build_items([asked])[0].parts


@pytest.mark.parametrize(
    ("how", "said"), [({"status": "interrupted"}, "was interrupted"), ({"stop_reason": "aborted"}, "was stopped")]
)
def test_an_answer_that_was_interrupted_or_stopped_says_so_and_can_be_continued(how, said):
    items = build_items([record("a", "assistant", TextBlock("half"), side="a", **how)])
    assert items[0].can_continue
    assert isinstance(items[0].parts[-1], NoticePart)
    assert said in items[0].parts[-1].text
    assert items[0].parts[-1].actions[0].action == "continue"


def test_what_can_be_done_at_the_end_of_a_conversation_is_offered_there_alone():
    def offered(items):
        return [[action.action for p in i.parts if isinstance(p, NoticePart) for action in p.actions] for i in items]

    failed = NoticeBlock("The key was refused.", "model.key_refused", "Check it.")
    stopped = record("a", "assistant", TextBlock("half"), side="a", stop_reason="aborted")
    first = record("b", "assistant", failed, side="a")
    again = record("c", "assistant", failed, side="a")
    asked = record("q", "user", TextBlock("on"))
    assert offered(build_items([stopped, asked, first, again])) == [[], [], ["open-models", "open-models", "retry"]]
    alone = build_items([stopped])
    assert (offered(alone), alone[0].can_continue) == ([["continue"]], True)
    gone_by = passed_by(alone[0])
    assert (offered([gone_by]), gone_by.can_continue) == ([[]], False)


def test_of_an_unknown_outcome_the_card_says_so_and_who_did_not_make_the_call_again():
    facts = {"state": "unknown", "decision": "deny", "by": "user", "category": "write"}
    result = ToolResultBlock("c", "bash", "nobody knows", True, None, facts)
    call = record("a", "assistant", ToolCallBlock("c", "bash", {"command": "ls"}), side="a")
    (item,) = build_items([call, record("r", "tool", result)])
    assert item.parts[0].state == "unknown"
    assert item.parts[0].detail == "Skipped; nobody knows whether it was done by you."


def test_malformed_arguments_are_shown_as_they_came():
    items = build_items([record("a", "assistant", ToolCallBlock("c", "bash", None, "{oops", "bad"), side="a")])
    assert items[0].parts[0].arguments == "{oops"


def test_a_block_of_another_version_is_named_and_not_dropped():
    items = build_items([record("u", "user", UnknownBlock({"kind": "x"}))])
    assert "another version" in items[0].parts[0].text


def test_a_notice_about_a_key_leads_to_the_key():
    block = NoticeBlock("The provider refused the key.", "model.key_refused", "Check it.", "error")
    part = build_items([record("a", "assistant", block, side="a")])[0].parts[0]
    assert part.text == "The provider refused the key. Check it."
    assert part.actions[0].action == "open-models"


def test_figures_are_short_and_an_unknown_cost_is_not_zero():
    assert [human_count(n) for n in (5, 999, 1000, 61_300, 131_072, 1_200_000)] == [
        "5",
        "999",
        "1.0k",
        "61.3k",
        "131k",
        "1.2M",
    ]
    assert human_cost(None) == "cost unknown"
    assert human_cost(0.0871) == "$0.087"


def test_a_summary_is_one_short_line_whatever_the_arguments():
    assert summarise({"path": "a\nb\u2028c"}) == "a\nb\u2028c", "the view shows it escaped; nothing vanishes before"
    assert len(summarise({"command": "x" * 10_000_000})) == 400
    assert summarise({"n": 3, "deep": {"a": [1]}}) == 'n: 3, deep: {"a": [1]}'
    assert summarise(None, "{oops") == "{oops"


@pytest.mark.spec("R-PRM-13", "R-PRM-5")
def test_the_card_of_an_edited_call_tells_what_ran_and_what_the_model_had_asked_for() -> None:
    facts = {
        "state": "done",
        "category": "write",
        "decision": "allow_once",
        "by": "user",
        "bytes": 1,
        "edited": {"path": "important.txt"},
    }
    call = ToolCallBlock("c1", "write_file", {"path": "new.txt", "content": "x"})
    part = tool_part("m", call, ToolResultBlock("c1", "write_file", ".", facts=facts))
    assert part.summary == "important.txt"
    assert '"path": "important.txt"' in part.arguments
    assert '"content": "x"' in part.arguments
    assert part.facts == ("edited by you", "1 byte")
    assert part.detail == 'Edited by you. Allowed by you.\nThe model had asked for:\n{\n  "path": "new.txt"\n}'


def test_a_card_says_in_words_who_decided_and_nothing_where_nobody_had_to() -> None:
    def detail(**facts: str) -> str:
        return tool_part("m", ToolCallBlock("c", "t", {}), ToolResultBlock("c", "t", "", facts=facts)).detail

    assert detail(decision="allow_once", by="setting", category="read") == ""
    assert detail(decision="allow_once", by="setting", category="write") == "Allowed by a setting."
    assert detail(decision="deny", by="cancelled", category="write") == "Not answered: the run ended."
    assert detail(decision="deny", by="closed", category="write") == "Not answered: Assent was closed."
    assert detail(decision="deny", by="user", reason="not now") == "Denied by you.\nReason: not now"
    assert detail() == ""


def thought_of(*blocks, **more):
    return build_items([record("a", "assistant", *blocks, side="a", **more)])[0].parts


def test_thinking_says_how_long_it_took_how_much_it_was_and_who_alone_gets_it_again():
    call = ToolCallBlock("c1", "read_file", {"path": "a"})
    kept = ReasoningBlock("hm", "seal", "work anthropic claude-sonnet", 11.6)
    part, *_ = thought_of(kept, call, usage=Usage(10, 2000, 1900))
    assert (part.title, part.about) == ("Thought for 12 s", "1.9k tokens, kept for claude-sonnet only")
    part, *_ = thought_of(kept, TextBlock("so"))
    assert (part.title, part.about) == ("Thought for 12 s", "")
    part, *_ = thought_of(ReasoningBlock("old"))
    assert (part.title, part.about) == ("Thought", "")
    part, *_ = thought_of(ReasoningBlock("long", seconds=185.0))
    assert part.title == "Thought for 3 min 5 s"


def test_pieces_of_thinking_that_meet_are_one_part_and_what_is_not_shown_has_a_line_only_where_nothing_is():
    hidden = ReasoningBlock("", "seal", "m", 4.0)
    part, text = thought_of(ReasoningBlock("one", "s", "m", 3.0), hidden, ReasoningBlock("two"), TextBlock("so"))
    assert (part.text, part.title, text.markdown) == ("one\n\ntwo", "Thought for 7 s", "so")
    parts = thought_of(ReasoningBlock("one"), TextBlock("so"), hidden, ReasoningBlock("more"), hidden)
    assert [getattr(part, "text", "") for part in parts] == ["one", "", "more"]
    part, *_ = thought_of(hidden, ToolCallBlock("c1", "read_file", {}), usage=Usage(1, 900, 800))
    assert (part.text, part.title) == ("", "Thought for 4 s")
    assert part.about == "800 tokens, not shown by the model, kept for m only"
