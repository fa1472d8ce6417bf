"""The agents of a run for the Run panel: their order, what is said of them, budgets that are typed, what is asked."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest
from shots.run_panel import RUN, THREAD, SampleService, node, request, sample

from desktop.domain.errors import ConfigurationError
from desktop.domain.runs.events import RunEnded, RunTreeChanged
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import BY_HAND, NodeFacts, NodeState, StoredRun
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.run_panel.budget import LIMITS, limit_lines, read_budget, read_limit, shown
from desktop.presenter.run_panel.nodes import MAX_ENDED, AgentTree
from desktop.presenter.run_panel.panel import KEPT, RunTreeViewModel
from desktop.presenter.run_panel.words import (
    cost_words,
    facts_of,
    figures,
    is_turning,
    look_of,
    spoken,
    tokens_words,
    word_of,
)
from tests.harness.timeouts import WAIT_MS

W, T, J = NodeState.WORKING, NodeState.THINKING, NodeState.JOINING


def tree_of(*nodes: Any) -> AgentTree:
    made = AgentTree(RUN, THREAD)
    made.apply(nodes)
    return made


def paths(tree: AgentTree) -> list[str]:
    return [line.path for line in tree.lines()]


# -- the tree ---------------------------------------------------------------------------------------------------------


def test_agents_stay_in_the_place_in_which_they_were_first_seen() -> None:
    tree = tree_of(node("0", "root", J), node("0.2", "b", W), node("0.10", "c", W), node("0.2.1", "d", W))
    before = paths(tree)
    assert before == ["0", "0.2", "0.2.1", "0.10"]
    tree.apply([node("0.10", "c", NodeState.COMPLETED), node("0.1", "late", W), node("0.2", "b", T)])
    assert paths(tree) == [*before, "0.1"]
    tree.fold("0.2", True)
    assert paths(tree) == ["0", "0.2", "0.10", "0.1"]
    folded = tree.line("0.2")
    assert folded is not None
    assert (folded.below, folded.is_open, folded.level) == (1, False, 1)


def test_of_thousands_of_agents_that_have_ended_the_last_stay_and_those_at_work_all() -> None:
    tree = tree_of(node("0", "root", J), node("0.1", "busy", T))
    for number in range(2, 3_000):
        tree.apply([node(f"0.{number}", "short", NodeState.COMPLETED, ended_at=float(number))])
    assert len(paths(tree)) <= MAX_ENDED + 3
    assert paths(tree)[:2] == ["0", "0.1"]
    assert paths(tree)[-1] == "0.2999"


def test_at_the_end_of_a_run_nobody_of_it_is_at_work_and_who_had_ended_says_how() -> None:
    tree = tree_of(node("0", "root", J), node("0.1", "a", T), node("0.2", "b", NodeState.FAILED, detail="It broke."))
    assert (tree.at_work, tree.over) == (2, False)
    tree.end()
    assert (tree.at_work, tree.over) == (0, True)
    assert [line.facts.state for line in tree.lines()] == [NodeState.CANCELLED, NodeState.CANCELLED, NodeState.FAILED]
    assert [fact.text for fact in facts_of(tree.lines()[2]) if fact.name == "Ended"] == ["It broke."]


# -- words ------------------------------------------------------------------------------------------------------------


def line(state: NodeState = T, **facts: Any) -> Any:
    return tree_of(node("0", "helper", state, **facts)).lines()[0]


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({"state": NodeState.CALLING, "doing": "write_file"}, "calling write-file"),
        ({"state": NodeState.CALLING}, "making a call"),
        ({"state": NodeState.JOINING, "doing": "plot/0.3"}, "waiting for plot"),
        ({"state": NodeState.WAITING, "doing": "bash"}, "waiting for you"),
        ({"state": NodeState.THINKING, "pause_asked": True}, "thinking, then pauses"),
        ({"state": NodeState.PAUSED, "pause_asked": True}, "paused"),
        ({"state": NodeState.LIMIT, "detail": "The budget is used up: max_rounds 2."}, "round limit reached"),
        ({"state": NodeState.LIMIT, "detail": "maxTurns 3"}, "limit reached"),
        ({"state": NodeState.COMPLETED, "pause_asked": True}, "done"),
    ],
)
def test_a_state_in_words(facts: dict[str, Any], word: str) -> None:
    assert word_of(line(**facts)) == word


def test_what_is_not_known_says_so() -> None:
    known = line(cost_usd=0.031).facts
    assert cost_words(known) == "$0.031"
    assert cost_words(replace(known, cost_known=False)) == "at least $0.031"
    assert cost_words(replace(known, cost_known=False, cost_usd=0.0)) == "cost unknown"
    assert tokens_words(replace(known, input_tokens=0, output_tokens=0)) == "tokens unknown"
    assert tokens_words(replace(known, input_tokens=0, output_tokens=0, rounds=0)) == "0 tokens"
    assert tokens_words(replace(known, input_tokens=1, output_tokens=0)) == "1 token"


@pytest.mark.spec("R-SUP-10")
def test_time_waited_for_a_person_is_told_apart() -> None:
    shown_line = line(elapsed_s=41.4, waited_s=134, side="b", rounds=1, cost_usd=0.01)
    assert figures(shown_line.facts) == "Side B · mistral-large · 1 round · 4.1k tokens · $0.010"
    assert spoken(shown_line) == (
        "helper, Side B, thinking, mistral-large, 1 round, 4.1k tokens, $0.010, 41 s, "
        "waited 2 min 14 s for you, level 1"
    )
    told = {fact.name: fact.text for fact in facts_of(shown_line)}
    assert (told["Time"], told["Waited"]) == ("41 s", "2 min 14 s for you, not counted as time")


def test_an_agent_under_a_paused_one_says_who_is_paused() -> None:
    below = tree_of(node("0", "boss", J, pause_asked=True), node("0.1", "a", T), node("0.1.1", "b", T)).line("0.1.1")
    assert below is not None
    assert (below.paused_by, word_of(below)) == ("boss", "thinking, then pauses")
    assert {fact.name: fact.text for fact in facts_of(below)}["Paused"] == "together with boss, which called it"


# -- budgets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_tokens", "50k", 50_000),
        ("max_tokens", "1.5 M", 1_500_000),
        ("max_tokens", "200,000", 200_000),
        ("max_cost_usd", "$0.50", 0.5),
        ("max_cost_usd", "2", 2.0),
        ("max_rounds", " 7 ", 7),
        ("max_cost_usd", "0,50", 0.5),
        ("max_cost_usd", "$0,5", 0.5),
        ("max_cost_usd", "1,234.50", 1_234.5),
        ("max_cost_usd", "0,125", 0.125),
        ("max_cost_usd", "12,5", 12.5),
        ("deadline_s", "90 s", 90.0),
        ("deadline_s", "1 h 30 min", 5_400.0),
        ("deadline_s", "2m", 120.0),
        ("deadline_s", "", None),
    ],
)
def test_a_limit_as_it_is_typed(name: str, text: str, value: float | None) -> None:
    assert read_limit(name, text) == value
    if value is not None:
        assert read_limit(name, shown(name, value)) == value


@pytest.mark.spec("R-LIM-7")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_tokens", "many"),
        ("max_cost_usd", "1,234"),
        ("max_cost_usd", "1.234,50"),
        ("max_tokens", "1.000"),
        ("max_tokens", "1,5"),
        ("max_tokens", "10,00"),
        ("max_rounds", "1,5"),
        ("max_tokens", "0,500"),
        ("max_tokens", "1.5"),
        ("max_rounds", "0"),
        ("max_rounds", "-3"),
        ("max_rounds", "1e3"),
        ("max_cost_usd", "0"),
        ("max_cost_usd", "inf"),
        ("max_cost_usd", "€5"),
        ("deadline_s", "90"),
        ("deadline_s", "0 s"),
        ("deadline_s", "5 min soon"),
        ("max_tokens", "9" * 40),
        ("max_rounds", "٣x"),
    ],
)
def test_what_is_no_limit_is_refused_with_how_to_write_it(name: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"such as|at least"):
        read_limit(name, text)


@pytest.mark.spec("R-SUP-7")
def test_less_than_is_used_is_refused_with_the_reason_and_what_was_not_touched_stays() -> None:
    budget = ExecutionBudget(max_tokens=90_000, max_cost_usd=1 / 3, deadline_s=61.25)
    facts = line(rounds=5, elapsed_s=41, budget=budget).facts
    texts = {one.name: one.text for one in limit_lines(facts)}
    made, wrong = read_budget(facts, texts)
    assert (made, wrong) == (budget, {})
    made, wrong = read_budget(facts, {**texts, "max_rounds": "4", "deadline_s": "30 s", "max_tokens": "x"})
    assert made is None
    assert wrong["max_rounds"] == "5 rounds are used already. Give it more, or cancel the agent."
    assert wrong["deadline_s"].startswith("41 s is used already.")
    assert sorted(wrong) == ["deadline_s", "max_rounds", "max_tokens"]
    made, wrong = read_budget(facts, {**texts, "max_rounds": "5", "max_tokens": ""})
    assert made == replace(budget, max_rounds=5, max_tokens=None)


@pytest.mark.spec("R-LIM-5", "R-SUP-8")
def test_each_limit_says_who_set_it_and_which_one_above_holds_where_there_is_none() -> None:
    tree = tree_of(
        node("0", "boss", J, rounds=20, budget=ExecutionBudget(max_rounds=30)),
        node(
            "0.1",
            "a",
            T,
            rounds=4,
            budget=ExecutionBudget(max_tokens=90_000, deadline_s=60),
            where="the agent a",
            budget_changed=(("deadline_s", "you"),),
        ),
    )
    facts = tree.get("0.1")
    assert facts is not None
    where = {one.name: one.where for one in limit_lines(facts, tree.above("0.1"))}
    assert where == {
        "max_tokens": "set by the agent a",
        "deadline_s": "set by you",
        "max_cost_usd": "",
        "max_rounds": "30 for all of boss, 10 left",
    }


@pytest.mark.spec("R-LIM-5")
@pytest.mark.parametrize(
    ("rounds", "by", "where"),
    [
        (None, "", "20 for an answer, set by the loop's default; a number here replaces that"),
        (
            30,
            "the policy of the job x",
            "set by the policy of the job x; 20 for an answer, set by the loop's default; a number here replaces that",
        ),
        (30, BY_HAND, f"set by {BY_HAND}"),
    ],
)
def test_the_rounds_that_an_agent_brings_along_are_said_until_a_person_sets_others(
    rounds: int | None, by: str, where: str
) -> None:
    changed = (("max_rounds", by),) if by else ()
    budget = ExecutionBudget(max_rounds=rounds)
    facts = line(own_rounds=20, own_rounds_from="the loop's default", budget=budget, budget_changed=changed).facts
    assert next(one.where for one in limit_lines(facts) if one.name == "max_rounds") == where
    over = replace(facts, state=NodeState.COMPLETED)
    assert "for an answer" not in next(one.where for one in limit_lines(over) if one.name == "max_rounds")


def test_whoever_waits_for_an_agent_names_it_as_its_row_does() -> None:
    service = SampleService(
        [node("0", "boss", J, doing="source_reader_agent/0.1"), node("0.1", "source_reader_agent", T)]
    )
    made = RunTreeViewModel(service, tuple, {"source_reader_agent": "Source reader", "boss": "Boss"})
    made.open_thread(THREAD)
    made.take((RunTreeChanged(thread_id=THREAD, run_id=RUN, nodes=tuple(service.nodes.values())),))
    assert [(one.facts.agent, word_of(one)) for one in made.lines()] == [
        ("Boss", "waiting for Source reader"),
        ("Source reader", "thinking"),
    ]
    root = made.line("0")
    assert root is not None
    assert next(fact.text for fact in facts_of(root) if fact.name == "Tool calls") == "6, with the agents below"


# -- the view-model ---------------------------------------------------------------------------------------------------


def told(*nodes: Any, run: str = RUN, thread: str = THREAD) -> RunTreeChanged:
    return RunTreeChanged(thread_id=thread, run_id=run, nodes=nodes)


def counted(model: RunTreeViewModel) -> dict[str, int]:
    found = {"shown": 0, "moved": 0}
    model.shown.connect(lambda: found.update(shown=found["shown"] + 1))
    model.moved.connect(lambda: found.update(moved=found["moved"] + 1))
    return found


def test_the_latest_run_of_the_open_thread_shows_and_that_of_the_thread_of_an_agent_in_it(qapp: Any) -> None:
    model, _ = sample([node("0", "one", T)])
    model.take((told(node("0", "x", T, thread_id="other"), run="r9", thread="other"),))
    assert model.run_id == RUN
    model.take((told(node("0", "two", T), node("0.1", "child", T, thread_id="own"), run="r2"),))
    assert (model.run_id, model.live) == ("r2", True)
    for thread, run in (("own", "r2"), ("other", "r9"), ("nowhere", ""), (THREAD, "r2")):
        model.open_thread(thread)
        assert model.run_id == run
    model.take((RunEnded(thread_id=THREAD, run_id="r2", reason="response"),))
    assert (model.run_id, model.live) == ("r2", False)


def test_while_nobody_looks_nothing_is_told_and_then_all_at_once(qtbot: Any) -> None:
    model, _ = sample([node("0", "one", T)])
    found = counted(model)
    for number in range(50):
        model.take((told(node("0", "one", T, rounds=number)),))
    assert found == {"shown": 0, "moved": 0}
    model.watch(True)
    assert found["moved"] >= 1
    before = found["moved"]
    for number in range(50):
        model.take((told(node("0", "one", T, rounds=number)),))
    qtbot.waitUntil(lambda: found["moved"] > before, timeout=WAIT_MS)
    assert found["moved"] == before + 1
    model.watch(False)
    assert not model._again.isActive()
    assert not model._later.isActive()


def test_figures_that_nobody_tells_of_are_read_again_while_somebody_looks(qtbot: Any) -> None:
    model, service = sample([node("0", "boss", J, rounds=1)])
    model.watch(True)
    service.change("0", rounds=7)
    qtbot.waitUntil(lambda: model.lines()[0].facts.rounds == 7, timeout=WAIT_MS)
    model.watch(False)


def test_runs_that_are_over_are_kept_in_a_bounded_number(qapp: Any) -> None:
    model, _ = sample([node("0", "one", T)])
    for number in range(100):
        where = {"thread_id": f"t{number}", "run_id": f"r{number}"}
        model.take(
            (
                told(node("0", "x", T, thread_id=f"t{number}"), run=f"r{number}", thread=f"t{number}"),
                RunEnded(**where, reason="response"),
            )
        )
    assert len(model._trees) == KEPT + 1
    assert set(model._run_of.values()) == set(model._trees)


@pytest.mark.spec("R-SUP-6")
def test_pause_turns_into_resume_and_what_is_over_says_so(qapp: Any) -> None:
    model, service = sample([node("0", "boss", J), node("0.1", "a", T)])
    for _ in range(2):
        model.toggle_pause("0.1")
    assert service.done == [("pause", "0.1"), ("resume", "0.1")]
    sentences: list[str] = []
    model.said.connect(sentences.append)
    service.over = True
    model.cancel("0.1")
    assert sentences == ["This agent has ended."]
    assert model.change_budget("0.1", dict.fromkeys((name for name, _ in LIMITS), "")) == {"": "This agent has ended."}


def test_the_request_of_the_agent_that_waits_is_found_among_others(qapp: Any) -> None:
    waits = {"state": NodeState.WAITING, "doing": "write_file"}
    nodes = [node("0", "Workbench", J), node("0.1", "plot", **waits), node("0.2", "other", **waits)]
    asked = [
        replace(request(), request_id="else", run_id="another"),
        replace(request(), request_id="by-other", chain=("Workbench", "other")),
        replace(request("bash"), request_id="bash", chain=("Workbench", "plot")),
        replace(request(), request_id="by-plot"),
    ]
    model = RunTreeViewModel(SampleService(nodes), lambda: asked, {"plot": "The plotter"})
    model.open_thread(THREAD)
    model.take((told(*nodes),))
    assert model.lines()[1].facts.agent == "The plotter"
    found = [model.request_of(path) for path in ("0", "0.1", "0.2")]
    assert [one.request_id if one else "" for one in found] == ["", "by-plot", "by-other"]
    wanted: list[Any] = []
    model.request_wanted.connect(wanted.append)
    model.go("0.1")
    assert wanted == [asked[3]]


# -- what only shows with a run, and what is kept of one --------------------------------------------------------------


def judge(state: NodeState, **facts: Any) -> NodeFacts:
    return replace(node("7f3a91c2:0.1", "judge", state, **facts), parent="0")


def test_a_judge_shows_with_a_run_that_is_over_and_is_at_work_by_itself() -> None:
    tree = tree_of(node("0", "debate", NodeState.COMPLETED), node("0.1", "a", NodeState.COMPLETED))
    assert tree.over
    tree.apply([judge(T)])
    tree.end()
    assert (tree.over, tree.at_work, paths(tree)) == (False, 1, ["0", "0.1", "7f3a91c2:0.1"])
    tree.apply([judge(NodeState.COMPLETED)])
    assert tree.over


@pytest.mark.spec("R-SUP-10", "R-AAT-9")
def test_of_agents_in_one_thread_each_has_its_own_request() -> None:
    nodes = (node("0", "boss", NodeState.WAITING, doing="bash"), node("0.1", "skill", NodeState.WAITING, doing="bash"))
    made, _ = sample(nodes)
    asked = [replace(request("bash"), request_id=name, node=at) for name, at in (("own", ""), ("below", "0.1"))]
    made._requests = lambda: asked
    found = [made.request_of(path) for path in ("0", "0.1")]
    assert [one.request_id for one in found if one is not None] == ["own", "below"]


def test_one_that_was_cancelled_says_that_it_is_stopping_until_it_has_ended() -> None:
    shown_line = line(NodeState.WAITING, doing="bash", stopping=True, pause_asked=True)
    assert (word_of(shown_line), look_of(shown_line.facts)) == ("stopping", "running")
    assert is_turning(shown_line.facts)
    assert facts_of(shown_line)[0].text == "It was cancelled and is stopping."
    tree = tree_of(node("0", "helper", T, stopping=True))
    tree.end()
    assert word_of(tree.lines()[0]) == "cancelled"


class KeptService(SampleService):
    """That has something of an earlier start."""

    def __init__(self, kept: StoredRun | None) -> None:
        super().__init__(())
        self.kept, self.asked = kept, list[str]()

    async def last(self, thread_id: str) -> StoredRun | None:
        self.asked.append(thread_id)
        return self.kept


def test_what_began_on_another_day_says_which() -> None:
    noon = time.mktime((2026, 3, 5, 12, 2, 0, 0, 0, -1))
    told = {fact.name: fact.text for fact in facts_of(line(NodeState.COMPLETED, started_at=noon, ended_at=noon + 60))}
    assert told["Began"] == "5 Mar 12:02, ended 5 Mar 12:03"


async def test_a_thread_of_an_earlier_start_shows_its_last_run_once_somebody_looks() -> None:
    ended = (node("0", "boss", NodeState.INTERRUPTED), node("0.1", "log", NodeState.COMPLETED, thread_id="log"))
    service, bridge = KeptService(StoredRun(RUN, ended)), Bridge()
    made = RunTreeViewModel(service, tuple, {"boss": "The Boss"}, bridge)
    made.open_thread(THREAD)
    assert service.asked == []
    made.watch(True)
    while made.tree is None:
        await asyncio.sleep(0)
    assert [(one.facts.agent, word_of(one)) for one in made.lines()] == [("The Boss", "interrupted"), ("log", "done")]
    assert not made.live
    assert made.thread_of("0.1") == "log"
    made.open_thread("log")
    assert made.run_id == RUN, "an agent of it wrote here"
    made.open_thread(THREAD)
    assert service.asked == [THREAD], "it is known now"
    begun = RunTreeChanged(thread_id=THREAD, run_id="another", nodes=(node("0", "boss", T),))
    made.take((begun,))
    assert (made.run_id, made.live) == ("another", True)
    made.watch(False)
    await bridge.shutdown(2.0)


async def test_what_comes_while_the_kept_run_is_read_counts_more() -> None:
    service, bridge = KeptService(StoredRun(RUN, (node("0", "boss", NodeState.INTERRUPTED),))), Bridge()
    made = RunTreeViewModel(service, tuple, {}, bridge)
    made.open_thread(THREAD)
    made.watch(True)
    made.take((RunTreeChanged(thread_id=THREAD, run_id="new", nodes=(node("0", "boss", T),)),))
    made.take((RunTreeChanged(thread_id="", run_id="a try", nodes=(node("0", "boss", T),)),))
    while bridge.task_names:
        await asyncio.sleep(0)
    assert (made.run_id, [word_of(one) for one in made.lines()]) == ("new", ["thinking"])
    assert list(made._trees) == ["new"]
    made.watch(False)
    await bridge.shutdown(2.0)


def test_a_short_line_of_an_agent_keeps_what_was_used_to_the_last() -> None:
    side = node("0.1", "Caution", NodeState.CALLING, rounds=4, side="b")
    assert [figures(side, without=n) for n in range(4)] == [
        "Side B · mistral-large · 4 rounds · 16.4k tokens · $0.041",
        "Side B · 4 rounds · 16.4k tokens · $0.041",
        "4 rounds · 16.4k tokens · $0.041",
        "16.4k tokens · $0.041",
    ]
