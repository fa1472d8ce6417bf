"""The chat view-model over the real service and store: what a person sees, in the order in which it happens."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from desktop.domain.context import Account
from desktop.domain.messages import TextBlock
from desktop.domain.runs.events import ContextMeasured, ContextSummarising, RunStarted
from desktop.domain.threads import MessageRecord
from desktop.models.scripted import fails, says
from desktop.presenter.transcript.items import NoticePart, ToolPart
from desktop.presenter.transcript.live_threads import LiveThreads
from tests.harness.timeouts import WAIT_S
from tests.unit.services.cut_off import WRITE, cut_off, line


@pytest.mark.spec("R-UI-1", "R-SES-2")
async def test_the_first_message_makes_a_thread_and_its_answer_streams_in(make_page):
    page = await make_page(says("Hello, this is an answer.", pieces=5))
    await page.open("")
    page.chat.send("Say hello to me please")
    await page.until(lambda: len(page.items) == 2 and not page.items[1].live, "an answer")
    assert page.texts == ["Say hello to me please", "Hello, this is an answer."]
    assert [item.side for item in page.items] == ["human", "a"]
    await page.at_rest()
    assert page.chat.title == "Say hello to me please"
    assert page.failures == []


async def test_what_was_said_is_there_when_the_thread_is_opened_again(make_page):
    page = await make_page(says("one"), says("two"))
    await page.open("")
    page.chat.send("first")
    await page.until(lambda: page.texts == ["first", "one"])
    await page.at_rest()
    page.chat.send("second")
    await page.until(lambda: page.texts == ["first", "one", "second", "two"])
    await page.at_rest()
    thread_id = page.chat.thread_id
    await page.open("")
    assert page.items == []
    await page.open(thread_id)
    assert page.texts == ["first", "one", "second", "two"]


async def test_the_conversation_of_a_called_agent_that_is_gone_leaves_what_is_open(make_page):
    page = await make_page(says("one"))
    await page.open("")
    page.chat.send("first")
    await page.until(lambda: page.texts == ["first", "one"])
    await page.at_rest()
    known = page.chat.thread_id
    page.chat.open_child("0123456789abcdef")
    await page.until(lambda: page.failures, "a word about it")
    assert "no longer kept" in str(page.failures[0])
    assert (page.chat.thread_id, page.texts) == (known, ["first", "one"])
    await page.open("")
    page.chat.open_child(known)
    await page.until(lambda: page.chat.thread_id == known and page.texts == ["first", "one"], "one that is kept")
    await page.at_rest()


@pytest.mark.spec("R-CTX-6")
def test_shortened_results_are_no_left_out_messages(qapp):
    board = LiveThreads()
    at = {"thread_id": "t", "run_id": "r", "used": 10, "window": 100, "compacted": True}
    for account, told in ((Account(kept=12, shrunk=3), False), (Account(shrunk=3, dropped=1), True), (Account(), True)):
        board.take((ContextMeasured(**at, account=account),))
        assert board.state("t").compacted is told


@pytest.mark.spec("R-CTX-6")
def test_while_older_messages_are_summarised_the_chat_says_so_and_they_are_not_called_left_out(qapp):
    board, where = LiveThreads(), {"thread_id": "t", "run_id": "r"}
    board.take((RunStarted(**where, agent="assistant", model="m", user_message_id="u"), ContextSummarising(**where)))
    assert board.state("t").phase == "summarising older messages"
    measured = {**where, "used": 10, "window": 100, "compacted": True}
    board.take((ContextMeasured(**measured, account=Account(kept=2, summarised=9)),))
    state = board.state("t")
    assert (state.phase, state.compacted, state.dropped) == ("thinking", True, False)
    board.take((ContextMeasured(**measured, account=Account(kept=2, dropped=9)),))
    assert state.dropped


async def test_a_thread_opened_in_the_middle_of_its_answer_shows_what_has_come_and_goes_on(make_page):
    page = await make_page([{"text": "begin"}, {"wait": 0.4}, {"text": " end"}])
    await page.open("")
    page.chat.send("go")
    await page.until(lambda: page.texts == ["go", "begin"], "the beginning")
    thread_id = page.chat.thread_id
    await page.open("")
    await page.open(thread_id)
    assert page.texts == ["go", "begin"]
    await page.until(lambda: page.texts[-1:] == ["begin end"] and not page.items[-1].live, "the end")
    await page.at_rest()


async def test_a_thread_whose_answer_ends_while_it_is_opened_shows_the_whole_answer(make_page):
    page = await make_page([{"text": "begin"}, {"wait": 0.2}, {"text": " end"}])
    await page.open("")
    page.chat.send("go")
    await page.until(lambda: page.texts == ["go", "begin"], "the beginning")
    thread_id = page.chat.thread_id
    await page.open("")
    ended = threading.Event()
    loop = asyncio.get_running_loop()
    busy = [loop.run_in_executor(None, ended.wait, WAIT_S) for _ in range(64)]  # what is read is drawn after them
    page.chat.open_thread(thread_id)
    await page.until(lambda: page.chat.run_state.running, "the thread in the middle of its answer")
    await page.until(lambda: not page.chat.run_state.running, "the end of the run")
    opened = page.opened
    ended.set()
    await asyncio.gather(*busy)
    await page.until(lambda: page.opened > opened, "the thread opened")
    assert page.texts == ["go", "begin end"]
    assert not page.items[-1].can_continue
    await page.at_rest()


@pytest.mark.spec("R-SES-19")
async def test_a_message_typed_during_a_run_is_queued_and_then_sent(make_page):
    page = await make_page([{"text": "slow"}, {"wait": 0.3}], says("second answer"))
    await page.open("")
    page.chat.send("first")
    await page.until(lambda: page.texts == ["first", "slow"])
    page.chat.send("second")
    await page.until(lambda: [q.text for q in page.queue] == ["second"], "queued")
    await page.until(lambda: page.texts == ["first", "slow", "second", "second answer"], "both answered")
    await page.at_rest()
    assert page.queue == ()


@pytest.mark.spec("R-SES-19")
async def test_a_stop_holds_what_waits_and_send_next_sends_it(make_page):
    page = await make_page([{"text": "slow"}, {"wait": 300}], says("second answer"))
    await page.open("")
    page.chat.send("first")
    await page.until(lambda: page.texts == ["first", "slow"])
    page.chat.send("second")
    await page.until(lambda: [q.text for q in page.queue] == ["second"], "queued")
    page.chat.stop()
    await page.until(lambda: [(q.text, q.held) for q in page.queue] == [("second", True)], "held")
    await page.at_rest()
    assert page.texts[-1] == "slow"
    page.chat.send_next()
    await page.until(lambda: page.texts[-2:] == ["second", "second answer"], "answered")
    await page.at_rest()
    assert page.queue == ()


async def test_a_message_typed_while_a_tool_works_goes_into_the_run_and_shows_in_its_place(make_page):
    slow = {"call": {"tool": "skill_list", "arguments": {}}}
    page = await make_page([{"text": "looking"}, {"wait": 0.3}, slow], says("as you say"))
    await page.open("")
    page.chat.send("first")
    await page.until(lambda: page.texts == ["first", "looking"])
    page.chat.send("only two")
    await page.until(lambda: page.texts == ["first", "looking", "only two", "as you say"], "steered")
    await page.at_rest()
    assert page.queue == ()
    assert [item.live for item in page.items] == [False] * 4
    thread_id = page.chat.thread_id
    await page.open("")
    await page.open(thread_id)
    assert page.texts == ["first", "looking", "only two", "as you say"]
    assert len(page.model.requests) == 2


async def test_stop_shows_at_once_and_keeps_what_had_come(make_page):
    page = await make_page([{"text": "half"}, {"hang": True}])
    await page.open("")
    page.chat.send("go")
    await page.until(lambda: page.texts == ["go", "half"])
    page.chat.stop()
    assert page.chat.run_state.stopping
    await page.until(lambda: not page.chat.run_state.running, "stopped")
    await page.at_rest()
    assert page.texts == ["go", "half"]


async def test_editing_makes_a_sibling_and_the_old_branch_stays_reachable(make_page):
    page = await make_page(says("old answer"), says("new answer"))
    await page.open("")
    page.chat.send("old words")
    await page.until(lambda: page.texts == ["old words", "old answer"])
    await page.at_rest()
    page.chat.edit(page.items[0].message_id, "new words")
    await page.until(lambda: page.texts == ["new words", "new answer"], "the new branch")
    await page.at_rest()
    assert (page.items[0].sibling, page.items[0].siblings) == (2, 2)
    page.chat.go_sibling(page.items[0].message_id, -1)
    await page.until(lambda: page.texts == ["old words", "old answer"], "the old branch")
    await page.at_rest()


async def test_regenerating_counts_the_answers(make_page):
    page = await make_page(says("one"), says("two"))
    await page.open("")
    page.chat.send("q")
    await page.until(lambda: page.texts == ["q", "one"])
    await page.at_rest()
    page.chat.regenerate(page.items[1].message_id)
    await page.until(lambda: page.texts == ["q", "two"], "another answer")
    await page.at_rest()
    assert (page.items[1].sibling, page.items[1].siblings) == (2, 2)


async def test_a_failure_is_said_in_words_with_the_next_step_and_can_be_tried_again(make_page):
    page = await make_page(fails("model.key_refused", "The key was refused."), says("now it works"))
    await page.open("")
    page.chat.send("q")
    await page.until(lambda: len(page.items) == 2 and not page.items[1].live, "a failure shown")
    await page.at_rest()
    notices = [p for p in page.items[1].parts if isinstance(p, NoticePart)]
    assert len(notices) == 1
    assert "The key was refused." in notices[0].text
    assert [a.action for a in notices[0].actions] == ["open-models", "retry"]
    page.chat.retry()
    await page.until(lambda: page.texts[-1] == "now it works", "the second try")
    await page.at_rest()


async def test_an_answer_that_is_gone_on_with_does_not_say_any_more_that_it_was_cut(make_page):
    page = await make_page([{"text": "slow"}, {"wait": 300}], says("goes on"))
    await page.open("")
    page.chat.send("first")
    await page.until(lambda: page.texts == ["first", "slow"])
    page.chat.stop()
    await page.until(lambda: any(isinstance(p, NoticePart) for i in page.items for p in i.parts), "stopped")
    await page.at_rest()
    page.chat.continue_answer(page.items[-1].message_id)
    await page.until(lambda: "goes on" in page.texts[-1], "the rest")
    await page.at_rest()
    assert not [part for item in page.items for part in item.parts if isinstance(part, NoticePart)]


@pytest.mark.spec("R-UI-8", "R-JRN-2")
@pytest.mark.parametrize("cut_off_first", [True, False])
async def test_what_the_conversation_has_gone_on_from_offers_nothing_any_more(make_page, cut_off_first):
    page = await make_page(says("two") if cut_off_first else fails("model.key_refused", "Refused."), says("two"))

    def offered():
        return [[a.action for p in i.parts if isinstance(p, NoticePart) for a in p.actions] for i in page.items]

    if cut_off_first:
        store = page.service._runtime.store
        thread = await page.service.create_thread(model="test/scripted")
        world = SimpleNamespace(store=store, thread=lambda: asyncio.sleep(0, thread.thread_id))
        await page.open(await cut_off(world, [("c1", WRITE), ("c2", WRITE)], [line(1, "c1", WRITE, "begun")]))
        assert offered() == [[], ["continue"]]
        assert [part.state for part in page.items[1].parts if isinstance(part, ToolPart)] == ["unknown", "aborted"]
    else:
        await page.open("")
        page.chat.send("go")
        await page.until(lambda: len(page.items) == 2 and not page.items[1].live, "a failure shown")
        await page.at_rest()
        assert offered() == [[], ["open-models", "retry"]]
    page.chat.send("and now?")
    await page.until(lambda: page.texts[-1] == "two", "the next answer")
    await page.at_rest()
    assert offered() == [[], [] if cut_off_first else ["open-models"], [], []]
    states = [part.state for part in page.items[1].parts if isinstance(part, ToolPart)]
    assert states == (["unknown", "aborted"] if cut_off_first else [])
    assert page.failures == []


async def test_drafts_are_kept_for_each_thread(make_page):
    page = await make_page(says("a"))
    await page.open("")
    page.chat.send("q")
    await page.until(lambda: len(page.items) == 2)
    await page.at_rest()
    thread_id = page.chat.thread_id
    page.chat.set_draft("half a thought")
    await page.at_rest()
    await page.open("")
    assert page.draft == ""
    await page.open(thread_id)
    assert page.draft == "half a thought"


async def test_a_long_thread_shows_its_end_first_and_then_all_of_it(make_page):
    page = await make_page(says("answer"), repeat=True)
    await page.open("")
    for number in range(45):
        page.chat.send(f"q{number}")
        await page.until(lambda number=number: page.texts[-2:] == [f"q{number}", "answer"])
        await page.at_rest()
    thread_id = page.chat.thread_id
    await page.open("")
    first = []
    page.chat.items_reset.connect(lambda items: first.append(len(items)))
    await page.open(thread_id)
    assert first[-1] < 90, "the first page is not the whole thread"
    assert page.texts == [t for n in range(45) for t in (f"q{n}", "answer")]


async def test_a_deleted_thread_is_gone_at_once_and_comes_back_with_undo(make_page):
    page = await make_page(says("a"))
    await page.open("")
    page.chat.send("Keep this")
    await page.until(lambda: len(page.items) == 2)
    await page.at_rest()
    thread_id = page.chat.thread_id
    page.threads.refresh()
    await page.until(lambda: page.threads.model().place(thread_id) >= 0, "listed")
    said: list[str] = []
    page.threads.said.connect(lambda _words, token: said.append(token))
    page.threads.delete(thread_id)
    assert page.threads.model().place(thread_id) < 0
    await page.until(lambda: said, "the sentence")
    page.threads.undo(said[0])
    await page.until(lambda: page.threads.model().place(thread_id) >= 0, "back")
    await page.at_rest()


async def test_search_finds_a_word_in_any_thread(make_page):
    page = await make_page(says("The harbour lies in fog."))
    await page.open("")
    page.chat.send("weather?")
    await page.until(lambda: len(page.items) == 2)
    await page.at_rest()
    found = []
    page.threads.hits_changed.connect(lambda text, hits: found.append(hits))
    page.threads.search("harbour")
    await page.until(lambda: found and found[-1], "a hit")
    assert found[-1][0].thread_id == page.chat.thread_id


@pytest.mark.spec("R-MOD-9")
async def test_before_a_request_the_context_is_estimated_as_the_chosen_model_counts(make_page) -> None:
    page = await make_page()
    thread = await page.service.create_thread(agent="assistant", model="lab/m")
    block = TextBlock("x" * 4_000)
    await page.service._store.messages.add(  # as an earlier start left it: nothing was measured
        record=MessageRecord("m1", thread.thread_id, None, "user", (block,), 1.0)
    )
    page.chat.token_scale = {"lab/m": 1.5}.get
    await page.open(thread.thread_id)
    assert page.chat.meters.context_used == 1_500
