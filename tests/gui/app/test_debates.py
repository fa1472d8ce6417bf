"""A debate in the whole app: from the set-up through a request that is answered in its lane, to a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop.app.home.debate_drafts import DebateDrafts, draft_of
from desktop.domain.debates import DebateSetup, SideSetup
from desktop.presenter.debates.items import END
from desktop.ui.theme import theme
from desktop.ui.transcript.missing_fonts import MissingFonts
from tests.gui.app.kit import call
from tests.gui.debates.kit import said


def turns(page: Any) -> list[str]:
    items = [message.item for message in page.running.view.page.messages]
    return [said(item) for item in items if hasattr(item, "number")]


def agents(page: Any) -> list[tuple[str, str]]:
    """The sides, as the Run panel shows them below the debate."""
    return [(line.facts.agent, line.facts.side) for line in page.side.agents.model.lines[1:]]


@pytest.mark.spec("R-SES-22", "R-SES-23", "R-PRM-6")
async def test_a_debate_runs_asks_in_its_lane_and_is_there_again_after_a_restart(start: Any) -> None:
    write = call("write_file", path="note.md", content="tide")
    run = await start(write, [{"text": "Written."}], [{"text": "It is good."}])
    run.models.debates.setup.default_model = "scripted/scripted"
    run.startup._shell.run_command("new-debate")
    page = run.window.page("debates")
    setup = run.models.debates.setup
    await run.until_true(lambda: setup.templates and setup.prompts, "the templates")
    setup.choose("worker-reviewer")
    setup.set(topic="Write a note.", max_turns=2)
    for side in ("a", "b"):
        setup.set_side(side, model="scripted/scripted", end_session_tool="")
    page.setup.start()
    debates = run.models.debates.debates
    request = await run.asked()
    await run.until_true(lambda: page.running.view.overlays.answers, "the request stands in its lane")
    bar = next(iter(page.running.view.overlays.answers.values()))
    assert bar.request_id == request.request_id
    assert page.running.view.page.messages[-1].item.side == "a"
    bar.answered.emit(request.request_id, "allow_once")
    await run.until_true(lambda: debates.state is not None and debates.state.status == "ended", "the end")
    await run.until_true(lambda: turns(page) == ["Written.", "It is good."], "both turns")
    assert debates.state.meters["a"].calls == 1
    thread = debates.open.thread_id
    assert not run.models.threads.threads, "a debate is no chat"
    fonts = page.findChild(MissingFonts)
    await run.until_true(lambda: not fonts.busy, "its texts are looked through")
    debates.open.item_changed.emit(page.running.view.page.messages[-1].item)
    assert fonts.busy, "what is missing to draw a turn is named, too"
    run.startup._shell.run_command("agents")
    assert agents(page) == [("Worker", "a"), ("Reviewer", "b")]
    assert not run.page.side.shown, "it is for the page that is shown"
    await run.end()

    await found_again(start, thread)
    await open_again(start, thread)


@pytest.mark.spec("R-SES-3")
async def test_the_palette_begins_a_debate_with_an_agent_of_two_sides(start: Any) -> None:
    run = await start([{"text": "unused"}])
    shell, found = run.startup._shell, []
    shell.palette_results.connect(lambda _, rows: found.extend(rows))
    shell.palette_query("code reviewer")
    row = next(row for row in found if row.id == "debate-agent:code_reviewer_agent")
    assert row.title.startswith("Start a debate: ")
    drawn, named = (theme().pixmap(icon).toImage() for icon in (row.icon, "code"))
    assert drawn == named, "the icon that its definition names"
    shell.run_command(row.id)
    setup = run.models.debates.setup
    await run.until_true(lambda: setup.setup.agent == "code_reviewer_agent", "its set-up")
    assert shell.page == "debates"
    assert setup.setup.a.prompt
    await at_rest(run)


async def test_a_set_up_that_was_not_started_comes_back_after_a_restart(start: Any) -> None:
    run = await start([{"text": "unused"}])
    run.startup._shell.run_command("new-debate")
    page, setup = run.window.page("debates"), run.models.debates.setup
    await at_rest(run)
    setup.choose("negotiation")
    page.setup.topic.setPlainText("Forty lamps by May.")
    setup.set(max_turns=7)
    await at_rest(run)
    await run.end()

    again = await start([{"text": "unused"}])
    again.startup._shell.go("debates")
    page, setup = again.window.page("debates"), again.models.debates.setup
    assert page.setup.topic.toPlainText() == "Forty lamps by May."
    assert (setup.setup.template, setup.setup.max_turns, setup.setup.a.label) == ("negotiation", 7, "Shop")
    assert page.setup._cards["negotiation"].isChecked()
    assert page.setup.ends.turns_box.text() == "7"
    await at_rest(again)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        3,
        [],
        {"topic": "x", "max_turns": "many"},
        {"a": {"label": 4}},
        {"b": {"stop_on_response": "yes"}},
        {"title": ["x"]},
    ],
)
def test_what_is_no_set_up_does_not_come_back(bad: Any) -> None:
    assert draft_of(bad) is None


def test_a_side_that_is_no_record_comes_back_empty() -> None:
    assert draft_of({"a": 7}) == DebateSetup("", SideSetup(""), SideSetup(""))


def test_known_secrets_are_masked_in_what_is_kept(tmp_path: Path) -> None:
    drafts = DebateDrafts(tmp_path, lambda plain: json.loads(json.dumps(plain).replace("hunter2", "***")))
    side = SideSetup("pro", prompt_text="say hunter2")
    drafts.keep(DebateSetup("hunter2 or not?", side, side))
    assert b"hunter2" not in (tmp_path / "debate-draft.json").read_bytes()
    back = DebateDrafts(tmp_path, str).read()
    assert back is not None
    assert (back.topic, back.a.prompt_text, back.max_turns) == ("*** or not?", "say ***", 10)
    drafts.keep(DebateSetup("x" * 100_000, side, side))
    assert DebateDrafts(tmp_path, str).read() is None
    drafts.drop()


async def found_again(start: Any, thread: str) -> None:
    """The search over all threads finds what was said in it, and opens it on its page."""
    again = await start([{"text": "unused"}])
    again.startup._shell.run_command("search-threads")
    chats = again.window.page("chats")
    chats.threads.field.setText("it is good")
    await again.until_true(lambda: chats.threads._hit_delegate.hits, "the search over all threads finds it")
    (hit,) = chats.threads._hit_delegate.hits
    assert (hit.thread_id, hit.debate) == (thread, True)
    chats.threads.hits.activated.emit(chats.threads._hit_model.index(0))
    assert again.startup._shell.page == "debates"
    page = again.window.page("debates")
    await again.until_true(lambda: turns(page) == ["Written.", "It is good."], "both turns, read again")
    assert page.running.view.page.place(END) is not None
    await at_rest(again)
    await again.end()


async def open_again(start: Any, thread: str) -> None:
    """The debate that was open is open at the next start, unless a new one was begun."""
    third = await start([{"text": "unused"}])
    third.startup._shell.go("debates")
    page = third.window.page("debates")
    await third.until_true(lambda: turns(page) == ["Written.", "It is good."], "what was open is open again")
    assert page.side.shown, "and so is what stood beside it"
    await third.until_true(lambda: agents(page) == [("Worker", "a"), ("Reviewer", "b")], "its agents, as they ended")
    third.startup._shell.run_command(f"thread:{thread}")
    assert third.startup._shell.page == "debates", "its own thread is opened on its page"
    third.startup._shell.run_command("new-debate")
    await at_rest(third)
    await third.end()

    last = await start([{"text": "unused"}])
    last.startup._shell.go("debates")
    page = last.window.page("debates")
    await last.until_true(lambda: thread in last.models.debates.debates.rows, "the list")
    assert page._stack.currentWidget() is page.setup, "a new debate was begun instead"
    await at_rest(last)


async def at_rest(run: Any) -> None:
    """The set-up that a page begins with is checked."""
    setup = run.models.debates.setup
    await run.until_true(lambda: setup.prompts and not setup._later.isActive(), "the set-up is checked")
