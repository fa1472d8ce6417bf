"""A person watches and steers a debate: the page over the real runtime."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop.domain.errors import ModelUnreachable
from desktop.domain.messages import TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.threads import MessageRecord
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.presenter.chat.threads import ThreadRole
from desktop.presenter.debates.items import END, VERDICT
from desktop.presenter.transcript.items import NoticeAction
from desktop.ui.model_picker.popup import ModelPopup
from tests.gui.debates.kit import Watched, said, watched
from tests.unit.agents.script import Hang, Script
from tests.unit.agents.script import says as speaks
from tests.unit.services.debates.kit import answering, setup
from tests.unit.services.debates.test_resuming import RUN, cut_off
from tests.unit.services.kit import MODEL

MARKS = {"argument": 7, "answer": 6, "honesty": 9, "clarity": 8}


@pytest.mark.spec("R-SES-22", "R-UI-3")
async def test_label_turn_rounds_calls_tokens_and_the_end_are_on_the_page(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("a1"), says("b1"), says("a2"), says("b2")])
    async with watched(tmp_path, model) as w:
        thread, _ = await w.world.run(setup())
        await w.open(thread)
        assert [(t.author, t.number, said(t)) for t in w.turns] == [
            ("Pro", 1, "a1"),
            ("Con", 2, "b1"),
            ("Pro", 3, "a2"),
            ("Con", 4, "b2"),
        ]
        assert all("1 round" in turn.time for turn in w.turns)
        assert w.running.header._count.text() == "4 / 4"
        assert "4 of 4 turns done" in w.running.header.pips.accessibleName()
        strip = w.running.meters.sides["a"].accessibleName()
        assert strip.startswith("Pro: rounds 2")
        assert "tokens " in strip
        assert "cost " in strip
        assert "calls 0" in strip
        assert "All 4 turns are done." in w.notices
        assert w.running.header.state.accessibleName() == "ended"


@pytest.mark.spec("R-SES-22")
async def test_a_turn_streams_into_its_lane_while_it_is_written(theme: Any, tmp_path: Path) -> None:
    client = Script(speaks("one"), [*speaks("tw")[:1], Hang()])
    async with watched(tmp_path, client) as w:
        thread = await w.world.debates.create(setup())
        await w.open(thread)
        w.running.footer.resume.click()
        await w.until(lambda: len(w.turns) == 2 and w.turns[1].live and "t" in w.texts[-1], "the second turn")
        assert w.state.turn == 2
        a, b = (w.running.view.page.place(turn.message_id) for turn in w.turns)
        left, width = w.running.view.span(a)
        assert w.running.view.span(b)[0] > left + width, "B has a lane of its own"
        assert 0 < w.running.view.page.top(b) - w.running.view.page.top(a) < 60, "and stands beside A"
        w.running.footer.stop.click()
        await w.status("ended")
        assert "You stopped it." in w.notices
        assert "broke off" in w.notices


@pytest.mark.spec("R-SES-18", "R-SES-22")
async def test_a_turn_that_goes_on_after_a_crash_stands_there_as_a_whole_when_it_is_over(
    theme: Any, tmp_path: Path
) -> None:
    model = ScriptedModel([says("a1"), says("b1")])
    async with watched(tmp_path, model, answering("look-up"), allowed="look-up") as w:
        begun = [TextBlock("I look it up."), ToolCallBlock("c1", "look-up", {})]
        thread = await cut_off(w.world, begun, [ToolResultBlock("c1", "look-up", "found")])
        half = MessageRecord("half", thread, "said-2", "assistant", (TextBlock("Half an"),), 5.0, status="interrupted")
        await w.world.store.messages.add(record=replace(half, side="a", run_id=RUN, author="Pro"))
        await w.world.store.debates.rewind(thread_id=thread)
        await w.open(thread)
        assert [said(turn) for turn in w.turns] == ["I look it up.Half an"], "what had arrived is there"
        assert "an answer that was cut off is asked for anew" in w.notices
        assert "Nothing is lost" not in w.notices
        assert [action.label for action in offered(w)] == ["Resume", "Ask a judge", "Fork…"]
        w.running.footer.resume.click()
        await w.status("ended")
        await w.until(lambda: [said(turn) for turn in w.turns] == ["I look it up.a1", "b1"], "both turns, whole")
        assert (w.turns[0].message_id, w.turns[0].number) == ("said-1", 1)


@pytest.mark.spec("R-SES-18", "R-SES-22")
async def test_an_answer_that_was_cut_off_stays_to_be_read_while_it_is_asked_for_anew(
    theme: Any, tmp_path: Path
) -> None:
    async with watched(tmp_path, Script(speaks("a1"), [*speaks("b")[:1], Hang()])) as w:
        thread = await cut_off(w.world)
        half = MessageRecord("half", thread, "asked", "assistant", (TextBlock("Half an"),), 5.0, status="interrupted")
        topic = (await w.world.store.messages.path(thread_id=thread))[-1].message_id
        await w.world.store.messages.add(record=replace(half, parent_id=topic, side="a", run_id=RUN, author="Pro"))
        await w.world.store.debates.rewind(thread_id=thread)
        await w.open(thread)
        assert [said(turn) for turn in w.turns] == ["Half an"]
        w.running.footer.resume.click()
        await w.until(lambda: [said(turn) for turn in w.turns][:2] == ["Half an", "a1"], "the turn anew")
        assert "broke off" in w.notices
        assert "interrupted" not in w.turns[0].time


def offered(w: Watched) -> list[NoticeAction]:
    """What can be done at the end."""
    return [action for item in w.shown for part in item.parts for action in getattr(part, "actions", ())]


@pytest.mark.spec("R-SES-22")
async def test_a_debate_that_is_opened_in_the_middle_of_a_turn_shows_what_has_come(theme: Any, tmp_path: Path) -> None:
    client = Script([*speaks("early words")[:-1], Hang()])
    async with watched(tmp_path, client) as w:
        thread = await w.world.debates.create(setup())
        await w.world.debates.start(thread)
        await w.until(lambda: w.debates.open._lives and w.debates.open._lives[thread].items(), "it speaks")
        w.page.open(thread)
        await w.until(lambda: w.turns and w.turns[0].live, "the turn under way")
        assert len(w.turns) == 1
        assert not any("broke off" in part.text for part in w.turns[0].parts if hasattr(part, "text"))


@pytest.mark.spec("R-SES-23")
async def test_space_pauses_after_the_turn_and_resumes_and_step_takes_one(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says(f"t{n}") for n in range(1, 5)])
    async with watched(tmp_path, model) as w:
        thread = await w.world.debates.create(setup())
        await w.open(thread)
        w.running.footer.step.click()
        await w.until(lambda: w.state.status == "paused" and len(w.turns) == 1, "one turn")
        assert not w.running.footer.pause.isVisible()
        w.running.view.setFocus()
        QTest.keyClick(w.running.view, Qt.Key.Key_Space)
        await w.status("ended")
        await w.until(lambda: [said(t) for t in w.turns] == ["t1", "t2", "t3", "t4"], "all turns")
        assert w.running.view.page.place(END) is not None


@pytest.mark.spec("R-SES-23")
async def test_what_the_moderator_says_waits_can_be_taken_back_and_stands_before_the_next_turn(
    theme: Any, tmp_path: Path
) -> None:
    model = ScriptedModel([says("a1"), says("b1")])
    async with watched(tmp_path, model) as w:
        thread = await w.world.debates.create(setup(max_turns=2))
        await w.open(thread)
        w.running.footer.step.click()
        await w.until(lambda: w.state.status == "paused" and len(w.turns) == 1, "one turn")
        for words in ("Be brief.", "Never mind."):
            w.running.footer.field.setText(words)
            QTest.keyClick(w.running.footer.field, Qt.Key.Key_Return)
        await w.until(lambda: len(w.state.waiting) == 2, "two wait")
        chips = w.running.footer.chips._items
        assert [chip.text() for chip in chips] == ["Be brief.", "Never mind."]
        chips[1].click()
        await w.until(lambda: w.state.waiting == ("Be brief.",), "one is taken back")
        w.running.footer.resume.click()
        await w.status("ended")
        await w.until(lambda: any(i.author == "Moderator" for i in w.shown), "the moderator's card")
        kinds = [item.author for item in w.shown if item.author in ("Pro", "Con", "Moderator")]
        assert kinds == ["Pro", "Moderator", "Con"]
        assert any("Be brief." in m.text for m in model.requests[1].messages)


@pytest.mark.spec("R-SES-4", "R-SES-5")
async def test_each_side_can_be_looked_at_and_copied_exactly(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("**a1**"), says("b1")])
    async with watched(tmp_path, model) as w:
        thread, _ = await w.world.run(setup(max_turns=2))
        await w.open(thread)
        w.running.show_view("b")
        view = w.running.side_view.view
        await w.until(lambda: len(view.page) == 4, "what B sees")
        seen = [(m.item.side, m.item.author, m.source()) for m in view.page.messages]
        assert seen[0][:2] == ("human", "system")
        assert seen[0][2].startswith("You are con.")
        assert seen[1:] == [("human", "user", "Tea or coffee?"), ("human", "user", "**a1**"), ("b", "assistant", "b1")]
        view.act("b:2", "copy")
        assert QGuiApplication.clipboard().text() == seen[2][2], "exactly as it is sent"
        view.select_all()
        assert "**a1**" in view.selected_text()
        w.page.begin_find()
        w.running.finding.bar.field.setText("**a1")
        await w.until(lambda: w.running.finding.bar._count.text() == "1 of 1", "found in what B sees")
        w.running.finding.bar.put_away()
        w.running.side_view.copy.click()
        assert '"role": "assistant"' in QGuiApplication.clipboard().text()


@pytest.mark.spec("R-SES-22")
async def test_a_fork_stands_beside_its_origin_and_shares_what_was_before(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("a1"), says("b1"), says("a2"), says("b2"), says("other")])
    async with watched(tmp_path, model) as w:
        thread, _ = await w.world.run(setup())
        await w.open(thread)
        w.running._act(w.turns[1].message_id, "branch")
        dialog = w.running.fork_dialog
        assert dialog.turn == 2
        dialog.text.setPlainText("You are someone else.")
        dialog.buttons["fork"].click()
        await w.until(lambda: w.debates.open.thread_id != thread and w.state is not None, "the fork is open")
        await w.until(lambda: not w.bridge.task_names, "both are read")
        assert w.running._stack.currentWidget() is w.running.comparison
        assert (w.state.status, w.state.forked_from, w.state.forked_at) == ("paused", thread, 2)
        assert w.state.setup.a.prompt_text == "You are someone else."
        fork = w.running.comparison.fork.view
        assert fork.hasFocus(), "Space goes on with the fork"
        rows = w.page.list.rows
        await w.until(lambda: w.debates.model().place(w.state.thread_id) >= 0, "the fork is listed")
        one, other = (rows.model().index(w.debates.model().place(key)) for key in (w.state.thread_id, thread))
        assert one.data() == other.data(), "a fork has its origin's title"
        assert (one.data(ThreadRole.NOTE), other.data(ThreadRole.NOTE)) == ("fork of turn 2", "")
        assert one.data(Qt.ItemDataRole.AccessibleTextRole).endswith(", fork of turn 2")
        assert rows.visualRect(one).height() > rows.visualRect(other).height()
        QTest.keyClick(fork, Qt.Key.Key_Space)
        await w.until(lambda: any("other" in m.source() for m in fork.page.messages), "the fork's own turn")
        origin = [m.source() for m in w.running.comparison.origin.view.page.messages]
        assert "a2" in origin
        assert "a1" not in origin, "what both share is one line"


@pytest.mark.spec("R-SES-22")
async def test_a_verdict_is_a_card_and_an_end_by_turns_can_be_gone_on_from(theme: Any, tmp_path: Path) -> None:
    verdict = {
        "winner": "a",
        "summary": "A had the facts.",
        "reasons": {"a": "Facts.", "b": "None."},
        "scores": {"a": {**MARKS, "honesty": 8}, "b": {**MARKS, "honesty": 3}},
    }
    model = ScriptedModel([says("a1"), says("b1"), calls("finish", verdict), *(says(f"t{n}") for n in range(4))])
    async with watched(tmp_path, model) as w:
        thread, _ = await w.world.run(setup(max_turns=2))
        await w.open(thread)
        w.debates.judge(MODEL)
        await w.until(lambda: w.state.verdict is not None, "a verdict")
        assert w.running.view.page.place(VERDICT) is not None
        assert "Winner: Pro" in "\n".join(w.texts)
        assert "| honesty | 8 | 3 |" in "\n".join(w.texts)
        w.running._act(END, "more-turns")
        await w.until(lambda: w.state.status == "ended" and len(w.turns) == 6, "four turns more")


@pytest.mark.spec("R-SES-22")
async def test_a_message_of_a_debate_offers_only_what_it_can_do(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, ScriptedModel([says("a1"), says("b1")])) as w:
        thread, _ = await w.world.run(setup(max_turns=2))
        await w.open(thread)
        overlays = w.running.view.overlays
        offered = [[name for name, _ in overlays.actions(place)] for place in range(len(w.shown))]
        assert offered == [["copy"], ["copy", "branch"], ["copy", "branch"], ["copy"]]
        overlays.hover(1)
        names = [button.accessibleName() for button in overlays.bar.buttons()]
        assert names == ["Fork from here", "Copy this turn"]
        assert {button for button in overlays.bar._made.values() if not button.isHidden()} == {*overlays.bar.buttons()}


async def test_the_list_is_searched_renamed_and_a_deleted_debate_comes_back(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("x")])
    async with watched(tmp_path, model) as w:
        tea = await w.world.debates.create(setup("Tea or coffee?"))
        await w.world.debates.create(setup("Cats or dogs?"))
        w.debates.refresh()
        await w.until(lambda: len(w.debates.rows) == 2, "both are listed")
        w.page.list.field.setText("tea")
        await w.until(lambda: w.debates.model().rowCount() == 2, "the day and one debate")
        w.page.list.field.clear()
        await w.until(lambda: w.debates.model().rowCount() == 3, "all again")
        w.debates.rename(tea, "Hot drinks")
        await w.until(lambda: w.debates.rows[tea].title == "Hot drinks", "the new title")
        await w.open(tea)
        w.debates.delete(tea)
        assert tea not in w.debates.rows
        assert w.page._stack.currentWidget() is w.page.setup
        toast = w.page.toast
        spot = toast._undo.mapTo(toast.parentWidget(), toast._undo.rect().center())
        assert toast.parentWidget().childAt(spot) is toast._undo, "nothing lies over Undo"
        toast._undo.click()
        await w.until(lambda: tea in w.debates.rows, "it is back")


async def test_what_a_fork_says_is_followed(theme: Any, tmp_path: Path) -> None:
    long = says("\n\n".join(f"line {n}" for n in range(60)))
    async with watched(tmp_path, ScriptedModel([long], repeat=True)) as w:
        thread, _ = await w.world.run(setup(max_turns=2))
        made = await w.world.debates.fork(thread, 1, setup(max_turns=6))
        await w.world.debates.step(made)
        await w.world.debates.wait(made, 30)
        await w.open(made)
        w.running.compare()
        await w.until(lambda: not w.bridge.task_names, "both are read")
        fork = w.running.comparison.fork.view
        await w.until(lambda: fork.verticalScrollBar().maximum() > 200, "it is laid out")
        assert fork.offset() == 0, "it begins where the branches part"
        w.debates.step()
        await w.status("paused")
        await w.until(lambda: w.state.turn == 3, "its next turn")
        await w.until(lambda: fork.offset() >= fork.verticalScrollBar().maximum() - 2, "its end is in sight")


async def test_the_list_says_which_debates_are_paused(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, ScriptedModel([says("a1"), says("b1")], repeat=True)) as w:
        still = await w.world.debates.create(setup("Tea or coffee?"))
        await w.world.debates.step(still)
        await w.world.debates.wait(still, 30)
        over, _ = await w.world.run(setup("Cats or dogs?", max_turns=2))
        w.debates.refresh()
        model = w.debates.model()

        def state(thread: str) -> Any:
            return model.index(model.place(thread)).data(ThreadRole.STATE)

        await w.until(lambda: model.place(over) >= 0 and state(still) == "paused", "the paused one says so")
        assert state(over) == ""
        words = model.index(model.place(still)).data(Qt.ItemDataRole.AccessibleTextRole)
        assert words == "Tea or coffee?, paused"
        w.page.list.rows.grab()


async def test_the_list_is_searched_for_what_was_said_and_opens_at_that_turn(theme: Any, tmp_path: Path) -> None:
    said_long = [says(f"turn {n} " + ("walrus" if n == 3 else "word " * 300)) for n in range(1, 13)]
    async with watched(tmp_path, ScriptedModel(said_long)) as w:
        thread, _ = await w.world.run(setup("Tea or coffee?", max_turns=12))
        await w.world.debates.create(setup("Cats or dogs?"))
        w.debates.refresh()
        await w.until(lambda: len(w.debates.rows) == 2, "both are listed")
        w.page.list.field.setText("walrus")
        await w.until(lambda: w.debates.hit(thread) and w.debates.model().rowCount() == 2, "it was said in one")
        rows = w.page.list.rows
        rows.activated.emit(rows.model().index(w.debates.model().place(thread)))
        view = w.running.view
        await w.until(lambda: w.state is not None and w.turns and view.verticalScrollBar().maximum(), "it is open")
        index = view.page.place(w.turns[2].message_id)
        await w.until(lambda: index in [at for at, _ in view.visible()], "the turn is in sight")
        assert view.page.place(END) not in [at for at, _ in view.visible()]
        view.scroll_to_end()
        w.page.open(thread, w.debates.hit(thread))
        assert index in [at for at, _ in view.visible()], "again, without reading it anew"
        w.page.list.field.setText("nowhere at all")
        await w.until(lambda: w.debates.model().rowCount() == 0, "nothing found")
        w.page.list.field.clear()
        await w.until(lambda: w.debates.model().rowCount() == 3, "all again")


@pytest.mark.spec("R-SES-18", "R-SES-22")
async def test_a_server_that_dies_in_the_turn_of_b_pauses_it_with_the_error_and_resume_tries_again(
    theme: Any, tmp_path: Path
) -> None:
    gone = ModelUnreachable("The server has gone away.", next_step="Is it switched on?")
    client = Script(speaks("a1"), [*speaks("half an answer")[:1], gone], speaks("b1"))
    async with watched(tmp_path, client) as w:
        thread = await w.world.debates.create(setup(max_turns=2))
        await w.open(thread)
        w.running.footer.resume.click()
        await w.status("paused")
        await w.until(lambda: w.running.view.page.place(END) is not None, "the card that says why")
        assert (w.state.end_reason, [t.number for t in w.debates.open.turns]) == ("error", [1])
        assert "The server has gone away. Is it switched on?" in w.notices
        assert "broke off" in w.notices, "what had come is kept"
        assert w.running.header.state.toolTip().startswith("The server has gone away.")
        w.running.footer.resume.click()
        await w.status("ended")
        await w.until(lambda: [said(t) for t in w.turns if not t.time.endswith("off")] == ["a1", "b1"], "both turns")
        assert [m.text for m in client.requests[2].messages] == [m.text for m in client.requests[1].messages]
        assert w.state.end_reason == "max_session_turns"


async def test_ctrl_f_finds_in_the_turns_and_escape_gives_the_keys_back(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("tea " + "word " * 400), says("no"), says("tea"), says("Tea, tea")])
    async with watched(tmp_path, model) as w:
        thread, _ = await w.world.run(setup())
        await w.open(thread)
        assert w.running.header.state.toolTip() == "All 4 turns are done."
        w.page.begin_find()
        bar, view = w.running.finding.bar, w.running.view
        assert bar.isVisible()
        bar.field.setText("tea")
        await w.until(lambda: bar._count.text().endswith("of 5"), "the topic's and four in the turns")
        places = set()
        for _ in range(5):
            QTest.keyClick(bar.field, Qt.Key.Key_Return)
            places.add(view.search.matches.current)
        assert len(places) == 5
        QTest.keyClick(bar.field, Qt.Key.Key_Escape)
        assert not bar.isVisible()
        assert view.hasFocus()
        assert not view.search.matches.query
        w.running.show_view("a")
        w.page.begin_find()
        assert w.running._searched is w.running.side_view.view, "it finds in what is looked at"


async def test_an_export_is_written_where_the_person_chose(theme: Any, tmp_path: Path) -> None:
    model = ScriptedModel([says("a1"), says("b1")])
    async with watched(tmp_path, model) as w:
        thread, _ = await w.world.run(setup(max_turns=2))
        await w.open(thread)
        for form in ("md", "html", "json"):
            w.debates.export(str(tmp_path / f"out.{form}"), form)  # type: ignore[arg-type]
            await w.until((tmp_path / f"out.{form}").exists, form)
            assert "a1" in (tmp_path / f"out.{form}").read_text()


@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
async def test_the_choice_of_a_judge_opens_beside_the_button_that_asks_for_it(theme: Any, tmp_path: Path) -> None:
    async with watched(tmp_path, ScriptedModel([says("a1"), says("b1")])) as w:
        thread, _ = await w.world.run(setup(max_turns=2))
        await w.open(thread)
        await w.until(lambda: w.running.view.pointer.rect_of(END, "judge"), "its button")
        button = w.running.view.pointer.rect_of(END, "judge")
        corner = w.running.view.viewport().mapToGlobal(button.topLeft())
        w.running._act(END, "judge")
        (judges,) = [one for one in w.running.findChildren(ModelPopup) if one.isVisible()]
        assert judges.isVisible()
        gap = min(abs(judges.geometry().bottom() - corner.y()), abs(judges.y() - corner.y() - button.height()))
        assert gap < 12
        assert judges.x() <= corner.x() <= judges.geometry().right(), "further left only where the screen ends"
