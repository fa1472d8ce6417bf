"""The tree of a run, grown from its entries: whose call is whose, what counts as time, and what a person reads."""

import random
from typing import Any

import pytest

from desktop.domain.runs.limits import Limit
from desktop.domain.runs.traces import TYPES, TraceEntry
from desktop.presenter.trace.budget import budget_lines
from desktop.presenter.trace.node import Axis, TraceNode
from desktop.presenter.trace.panel import grown
from desktop.presenter.trace.rows import Folding
from desktop.presenter.trace.tree import MAX_NODES, TraceTree
from desktop.presenter.trace.words import Detail, detail_of, duration, seconds_words, spoken

RUN = "run"


def entry(at: float, kind: str, who: str = RUN, **data: Any) -> TraceEntry:
    own = {name: str(data.pop(name, "")) for name in ("agent", "ancestor", "call")}
    return TraceEntry(at, kind, who, data, **own)


def start() -> TraceEntry:
    return entry(0, "agent-start", agent="Workbench", model="m/x")


def turn(at: float, number: int, who: str = RUN, *, ms: int = 1000) -> list[TraceEntry]:
    return [
        entry(at, "turn-start", who, turnNumber=number),
        entry(
            at + ms / 1000,
            "turn-end",
            who,
            stopReason="tool_calls",
            elapsedMs=ms,
            usage={"inputTokens": 10, "outputTokens": 2, "costUsd": 0.5},
        ),
    ]


def call(at: float, call_id: str, tool: str, who: str = RUN, **data: Any) -> TraceEntry:
    return entry(at, "tool-call", who, tool=tool, callId=call_id, args=data.pop("args", {}), **data)


def result(at: float, call_id: str, who: str = RUN, **data: Any) -> TraceEntry:
    return entry(at, "tool-result", who, callId=call_id, isError=data.pop("failed", False), result="r", **data)


def outline(node: TraceNode, depth: int = 0) -> list[str]:
    own = f"{'  ' * depth}{node.kind} {node.title} {node.state}"
    return [own, *(line for child in node.children for line in outline(child, depth + 1))]


def node(tree: TraceTree, title: str) -> TraceNode:
    assert tree.root is not None
    return next(one for one in tree.root.walk() if one.title == title)


def detail(tree: TraceTree, one: TraceNode, now: float = 1000.0) -> Detail:
    return detail_of(one, tree.axis(now), now)


def facts(found: Detail) -> dict[str, str]:
    return {fact.name: fact.text for fact in found.facts}


def nested() -> list[TraceEntry]:
    """A call that an agent works for, whose own call works for another agent."""
    whose = {"agent": "helper", "call": "1"}
    below = {"agent": "deeper", "ancestor": "h", "call": "an id of the pipeline"}
    return [
        start(),
        *turn(0, 1),
        call(1, "1", "helper"),
        entry(1.1, "agent-start", "h", skill="helper", provider="agent-litellm", **whose),
        entry(1.2, "turn-start", "h", turnNumber=1),
        call(2, "x", "read_file", "h"),
        result(2.5, "x", "h"),
        call(2.6, "y", "deeper", "h"),
        entry(2.7, "agent-start", "d", skill="deeper", **below),
        entry(2.8, "turn-start", "d", turnNumber=1),
        entry(3.0, "message", "d", text="deep"),
        entry(3.1, "turn-end", "d", stopReason="end"),
        entry(3.2, "agent-complete", "d", status="done", **below),
        result(3.3, "y", "h"),
        entry(3.4, "turn-end", "h", stopReason="end"),
        entry(3.5, "agent-complete", "h", status="done", **whose),
        result(3.6, "1", elapsedMs=2500),
        entry(4, "agent-complete", status="response"),
    ]


@pytest.mark.spec("R-TRC-5", "R-TRC-8")
def test_agents_stand_under_the_calls_that_they_work_for_at_any_depth() -> None:
    tree = grown(RUN, nested(), {})
    assert tree.root is not None
    assert outline(tree.root) == [
        "agent Workbench done",
        "  round round 1 done",
        "    agent helper done",
        "      round round 1 done",
        "        call read-file done",
        "        agent deeper done",
        "          round round 1 done",
    ]
    assert (tree.rounds, tree.own_rounds, tree.calls) == (3, 1, 3)
    assert [one.level for one in tree.root.walk()] == [0, 1, 2, 3, 4, 4, 5]


def test_agents_whose_call_nobody_knows_stand_under_the_call_of_their_name_or_the_last_one_that_runs() -> None:
    lost = {"agent": "second", "call": "unknown"}
    tree = grown(
        RUN,
        [
            start(),
            *turn(0, 1),
            call(1, "1", "second"),
            call(1, "2", "first"),
            entry(1.1, "agent-start", "s", skill="second", **lost),
            entry(1.2, "agent-start", "z", agent="z", call="?"),
        ],
        {},
    )
    assert tree.root is not None
    assert outline(tree.root)[2:] == ["    agent second running", "    call first running", "      agent z running"]


@pytest.mark.spec("R-PRM-10", "R-SUP-10")
def test_waiting_for_a_person_is_drawn_short_and_counts_for_nothing() -> None:
    tree = grown(
        RUN,
        [
            start(),
            *turn(0, 1),
            call(1, "w", "write_file"),
            entry(1, "tool-waiting", callId="w", category="write"),
            entry(101, "tool-answered", callId="w", decision="allow_once", by="user"),
            result(102, "w", elapsedMs=1000, facts={"state": "done", "category": "write"}),
            entry(102, "agent-complete", status="response"),
        ],
        {},
    )
    axis, write = tree.axis(500), node(tree, "write-file")
    assert tree.root is not None
    assert (duration(tree.root, axis, 500), duration(write, axis, 500), write.waited(500)) == (2.0, 1.0, 100.0)
    begin, asked, ran = axis.place(1), axis.place(101), axis.place(102)
    assert 0 < asked - begin < 0.2
    assert ran - asked > 0.35
    assert facts(detail(tree, write))["Waited"] == "1 min 40 s, not counted as time"


def test_what_works_while_another_call_waits_counts_as_time() -> None:
    tree = grown(
        RUN,
        [
            start(),
            *turn(0, 1),
            call(1, "w", "write_file"),
            entry(1, "tool-waiting", callId="w"),
            call(1, "r", "read_file"),
            result(31, "r"),
            entry(41, "tool-answered", callId="w", decision="deny", by="user"),
            result(41, "w", failed=True, facts={"state": "denied"}),
            entry(41, "agent-complete", status="response"),
        ],
        {},
    )
    assert tree.root is not None
    assert duration(tree.root, tree.axis(99), 99) == 31.0


def test_a_nested_call_that_waits_is_told_by_its_agent_and_by_the_pipeline_and_stands_there_once() -> None:
    whose = {"agent": "helper", "call": "1"}
    tree = grown(
        RUN,
        [
            start(),
            *turn(0, 1),
            call(1, "1", "helper"),
            entry(1.1, "agent-start", "h", skill="helper", **whose),
            entry(1.2, "turn-start", "h"),
            call(2, "model's", "write_file", "h"),
            call(2.1, "pipeline's", "write_file", category="write", parent="1"),
            entry(2.1, "tool-waiting", callId="pipeline's", category="write"),
            entry(12.1, "tool-answered", callId="pipeline's", decision="allow_once", by="user"),
            result(12.2, "pipeline's", elapsedMs=100, facts={"state": "done", "category": "write", "size": 12}),
            result(12.3, "model's", "h"),
        ],
        {},
    )
    assert tree.root is not None
    assert outline(tree.root)[2:] == [
        "    agent helper running",
        "      round round 1 done",
        "        call write-file done",
    ]
    write = node(tree, "write-file")
    assert (write.category, write.waited(99), write.elapsed_ms, tree.calls) == ("write", 10.0, 100, 2)
    assert duration(tree.root, tree.axis(12.3), 12.3) == pytest.approx(2.3)


def test_the_calls_of_a_skill_that_nobody_told_of_are_listed_below_its_own() -> None:
    read = {"tool": "read_file", "state": "done", "elapsed_ms": 40, "args": "a.txt"}
    told = [read, {"tool": "bash", "state": "denied"}, "odd"]
    tree = grown(RUN, [start(), *turn(0, 1), call(1, "s", "tidy"), result(2, "s", facts={"nested": told})], {})
    assert tree.root is not None
    assert outline(node(tree, "tidy")) == ["call tidy done", "  call read-file done", "  call bash denied"]
    assert node(tree, "read-file").summary == "a.txt"


@pytest.mark.parametrize("of_agent", [True, False])
def test_all_calls_of_code_stand_below_it_those_that_waited_and_those_that_nobody_told_of(of_agent: bool) -> None:
    """Of the run's own agent, and of one that was called."""
    whose = {"agent": "helper", "call": "1"}
    listed = [{"tool": name, "state": "done"} for name in ("list-directory", "write_file", "list-directory")]
    below = [entry(1.1, "agent-start", "h", skill="helper", **whose), entry(1.2, "turn-start", "h")]
    who, card = ("h", "1") if of_agent else (RUN, "c")
    tree = grown(
        RUN,
        [
            start(),
            *turn(0, 1),
            *([call(1, "1", "helper"), *below] if of_agent else []),
            call(2, "c", "invoke", who, args={"code": "…"}),
            call(2.1, "w", "write_file", category="write", parent=card),
            entry(2.1, "tool-waiting", callId="w", category="write"),
            entry(3.1, "tool-answered", callId="w", decision="allow_once", by="user"),
            result(3.2, "w", facts={"state": "done"}),
            result(3.3, "c", who, facts={"state": "done", "nested": listed}),
        ],
        {},
    )
    below_it = ["  call write-file done", "  call list-directory done", "  call list-directory done"]
    assert outline(node(tree, "invoke")) == ["call invoke done", *below_it]
    assert tree.calls == 4 + of_agent


USED = {
    "inputTokens": 1204,
    "outputTokens": 388,
    "reasoningTokens": 120,
    "cachedTokens": 900,
    "writtenTokens": 200,
    "savedUsd": 0.05,
}


@pytest.mark.spec("R-LIM-5", "R-TRC-1")
def test_everything_about_a_round_a_call_and_an_agent_is_said() -> None:
    tree = grown(
        RUN,
        [
            start(),
            entry(0, "turn-start", turnNumber=1, messageId="m"),
            entry(0.5, "reasoning", text="Hm. ", delta=True),
            entry(1, "retry", attempt=1, delayMs=2000, error="overloaded"),
            entry(3, "message", text="I look."),
            entry(3, "turn-end", stopReason="length", model="m/y", elapsedMs=3000, usage=USED),
            call(3, "b", "bash", args={"command": "ls \u202e"}),
            entry(3, "tool-waiting", callId="b", raisedBecause="it deletes"),
            entry(
                4, "tool-answered", callId="b", decision="allow_run", by="rule", rule={"pattern": "bash(command=ls*)"}
            ),
            result(
                5,
                "b",
                failed=True,
                tool="bash",
                facts={"state": "failed", "exit_code": 2, "bytes": 812, "code": "tool.exit"},
            ),
            call(5, "h", "helper"),
            entry(5, "agent-start", "h", agent="helper", call="h", skill="helper", provider="mine"),
            entry(6, "turn-start", "h"),
            entry(7, "agent-complete", "h", status="limit", limit="maxSteps 1 (set by the skill helper)"),
            result(8, "h", failed=True, facts={"state": "failed"}),
        ],
        {},
    )
    one = detail(tree, node(tree, "round 1"))
    assert facts(one) == {
        "Model": "m/y",
        "Tokens": "1,204 in, 388 out, 120 reasoning",
        "Cache": "900 of 1,204 from the cache, 200 written to it, saved $0.050",
        "Cost": "unknown",
        "Ended for": "the limit on output tokens",
        "Retry": "overloaded, after 2.0 s",
        "Time": "3.0 s",
    }
    assert [(quote.name, quote.text) for quote in one.quotes] == [("Reasoning", "Hm. "), ("Text", "I look.")]
    ran = detail(tree, node(tree, "bash"))
    assert facts(ran)["Decision"] == "allowed for the run by the rule bash(command=ls*)"
    assert facts(ran)["Asked for"] == "it deletes"
    assert facts(ran)["Result"] == "failed, 812 bytes, exit code 2, tool.exit"
    assert ran.arguments is not None
    assert "\u202e" in ran.arguments.text  # escaped where it is shown
    agent = detail(tree, node(tree, "helper"))
    assert (agent.word, agent.state) == ("limit reached", "failed")
    assert facts(agent)["Limit"] == "maxSteps 1 (set by the skill helper)"
    assert (facts(agent)["Skill"], facts(agent)["Provider"]) == ("helper", "mine")


@pytest.mark.spec("R-LIM-5")
def test_the_budget_names_the_limits_that_apply_and_who_set_them() -> None:
    tree = grown(RUN, nested(), {})
    limits = (
        Limit("maxIterations", 20, "the loop's default"),
        Limit("max_cost_usd", 2.0, "the run's budget"),
        Limit("deadline_s", 60, "the run's budget"),
    )
    lines = {line.name: line for line in budget_lines(tree, limits, 30.0)}
    assert lines["Rounds"].words == "1 of 20, 2 more by agents"
    assert lines["Rounds"].where == "maxIterations, set by the loop's default"
    assert (lines["Tool calls"].words, lines["Tool calls"].fraction) == ("3", None)
    assert (lines["Tokens"].words, lines["Cost"].words) == ("12 and more", "unknown of 2")
    whole = grown(RUN, [start(), *turn(0, 1)], {})
    assert budget_lines(whole, limits, 1.0)[3].words == "$0.500 of 2"
    assert budget_lines(whole, limits, 1.0)[3].fraction == 0.25
    assert (lines["Time"].words, lines["Time"].fraction) == ("30.0 s of 60", 0.5)
    unknown = grown(RUN, [start(), entry(0, "turn-start"), entry(1, "turn-end", usage={"inputTokens": 3})], {})
    assert {line.name: line.words for line in budget_lines(unknown, (), 0.0)}["Cost"] == "unknown"
    silent = grown(RUN, [start(), entry(0, "turn-start"), entry(1, "turn-end", stopReason="end")], {})
    words = {line.name: line.words for line in budget_lines(silent, (), 0.0)}
    assert (words["Tokens"], words["Cost"]) == ("unknown", "unknown")


def test_a_line_is_read_aloud_with_its_state_its_time_and_its_level() -> None:
    tree = grown(RUN, nested(), {})
    assert tree.root is not None
    said = spoken(node(tree, "helper"), tree.axis(4), 4, True)
    assert said == "helper, agent, done, 2.5 s, open, 1 line below, level 3"
    waits = grown(
        RUN,
        [
            start(),
            *turn(0, 1),
            call(1, "w", "bash", args={"command": "ls"}, category="write"),
            entry(1, "tool-waiting", callId="w"),
        ],
        {},
    )
    assert spoken(node(waits, "bash"), waits.axis(11), 11, False) == (
        "bash ls, write call, waiting for you, 0.00 s, waited 10.0 s for you, level 3"
    )


def test_a_long_run_shows_the_calls_of_its_last_rounds_until_a_person_opens_others() -> None:
    entries = [start()]
    for number in range(1, 31):
        entries += [*turn(number, number), call(number + 0.5, f"c{number}", "bash"), result(number + 0.6, f"c{number}")]
    tree, folding = grown(RUN, entries, {}), Folding()
    assert len(folding.rows(tree)) == 1 + 30 + 3
    folding.reveal(node(tree, "bash"))
    assert len(folding.rows(tree)) == 1 + 30 + 4
    assert tree.root is not None
    folding.choose(tree.root, False)
    assert folding.rows(tree) == [tree.root]


def test_a_run_that_is_cut_off_leaves_nothing_at_work() -> None:
    tree = grown(RUN, [*nested()[:9], entry(9, "agent-complete", status="cancelled")], {})
    assert tree.root is not None
    assert all(one.over and not one.busy and one.ended is not None for one in tree.root.walk())
    assert node(tree, "deeper").state == "aborted"


@pytest.mark.parametrize("seed", range(30))
def test_no_order_of_entries_breaks_the_tree(seed: int) -> None:
    rng = random.Random(seed)
    ids, contexts = ["a", "b", "c", ""], [RUN, "x", "y", ""]
    entries = []
    for at in range(300):
        data = {
            "callId": rng.choice(ids),
            "tool": rng.choice(["bash", "helper", None, 3]),
            "args": rng.choice([{}, None, 7]),
            "turnNumber": rng.choice([1, None, "x"]),
            "elapsedMs": rng.choice([5, -1, None, True, "x"]),
            "usage": rng.choice([None, {}, {"inputTokens": "x", "costUsd": float("nan")}, {"inputTokens": -4}]),
            "facts": rng.choice([None, [], {"state": "odd", "nested": "x"}, {"nested": [{}]}]),
            "status": rng.choice(["done", "limit", None, 4]),
            "parent": rng.choice(["", "a", "?"]),
            "text": rng.choice(["t", None]),
            "stopReason": rng.choice([None, "end", "error", 5]),
        }
        own = {"agent": rng.choice(["helper", ""]), "ancestor": rng.choice(contexts), "call": rng.choice(ids)}
        entries.append(entry(at, rng.choice(TYPES), rng.choice(contexts), **data, **own))
    tree = grown(RUN, entries, {})
    assert tree.root is not None
    axis, folding = tree.axis(400), Folding()
    for one in tree.root.walk():
        detail_of(one, axis, 400)
        assert spoken(one, axis, 400, folding.is_open(tree, one))
        assert 0 <= axis.place(one.started) <= 1
        assert duration(one, axis, 400) >= 0
        assert one.open_below >= 0
    assert budget_lines(tree, (), 1.0)


def test_a_tree_has_a_largest_size() -> None:
    tree = TraceTree(RUN)
    for number in range(MAX_NODES + 100):
        tree.add(call(number, str(number), "bash"))
    assert tree.root is not None
    assert sum(1 for _ in tree.root.walk()) == MAX_NODES
    assert tree.left_out == 102


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.00 s"),
        (0.04, "0.04 s"),
        (0.3, "0.3 s"),
        (59.94, "59.9 s"),
        (59.97, "1 min 0 s"),
        (134, "2 min 14 s"),
        (3599.7, "1 h 0 min"),
        (7500, "2 h 5 min"),
    ],
)
def test_seconds_are_said_as_a_person_says_them(seconds: float, words: str) -> None:
    assert seconds_words(seconds) == words


def test_an_axis_without_length_places_everything() -> None:
    axis = Axis(5.0, 5.0, ([5.0, None],))
    assert (axis.place(0), axis.place(99)) == (0.0, 0.0)
