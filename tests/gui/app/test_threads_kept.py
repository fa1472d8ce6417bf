"""What a person wrote and what agents did is there again whenever its thread is: after another, after a restart."""

import pytest
from PySide6.QtCore import QPoint, QRect

from tests.gui.app.kit import HELLO, Heartbeat, call
from tests.harness.windows import activated


async def elsewhere_and_back(app) -> None:
    """Look at an empty chat, then at the thread again."""
    thread = app.models.chat.thread_id
    app.page.new_chat()
    await app.until(lambda: not app.items, "an empty chat")
    app.page.open(thread)
    await app.until(lambda: app.items, "the thread again")


@pytest.mark.spec("R-UI-1")
async def test_a_thread_that_ends_in_a_long_run_is_shown_when_it_is_opened_again(start):
    """Its last 40 messages hold no message of a person."""
    looking = [step for name in "abc" for step in call("read_file", path=f"{name}.txt")]
    app = await start(*[looking] * 12, [{"text": "Seen it all."}])
    app.say("look around")
    await app.answered("Seen it all.")
    await elsewhere_and_back(app)
    assert not app.page.pane.empty.isVisible()
    assert app.page.pane.transcript.isVisible()
    assert len(app.calls) == 36
    await app.end()
    again = await start(HELLO)
    await again.until(lambda: "Seen it all." in again.text, "the thread after a restart")
    assert not again.page.pane.empty.isVisible()


# -- drafts -----------------------------------------------------------------------------------------------------------


def attached(app) -> list[str]:
    return [block.name for block in app.composer.attachments]


def written(app) -> str:
    return app.composer.text.toPlainText()


async def saved(app) -> None:
    """Until the pause after the last key is over and the draft is stored."""
    foot, drafts = app.page.pane.foot, app.models.chat.drafts
    await app.until(lambda: not foot._draft.isActive() and not drafts._unsaved, "the draft in the store")


async def test_attachments_are_kept_with_the_draft_of_their_thread(start):
    app = await start(HELLO)
    app.say("hi")
    await app.answered("Hello there.")
    app.models.attaching.text("a long text\n" * 400_000)
    app.composer.text.insertPlainText("What is this?")
    await app.until(lambda: attached(app), "the attachment")
    thread = app.models.chat.thread_id
    app.page.new_chat()
    await app.until(lambda: not app.items, "an empty chat")
    assert (attached(app), written(app)) == ([], "")
    app.page.open(thread)
    await app.until(lambda: attached(app) == ["pasted text.txt"], "the attachment, back again")
    assert written(app) == "What is this?"
    await app.end()
    again = await start([{"text": "A long text."}])
    await again.until(lambda: attached(again) == ["pasted text.txt"], "the attachment after a restart")
    again.composer.submit()
    await again.answered("A long text.")
    assert (attached(again), written(again)) == ([], "")
    await again.end()
    last = await start()
    await last.until(lambda: "A long text." in last.text, "the thread")
    assert (attached(last), written(last)) == ([], ""), "what was sent does not come back"


async def test_a_message_being_said_differently_is_kept_with_its_thread(start):
    app = await start(HELLO, [{"text": "In other words."}])
    app.say("hi")
    await app.answered("Hello there.")
    editing = app.page.pane.foot.editing
    (question,) = [i.message_id for i in app.items.values() if i.side == "human"]
    app.page.pane.transcript.action.emit(question, "edit")
    editing._text.setPlainText("hello, said differently")
    await elsewhere_and_back(app)
    await app.until(editing.isVisible, "the edit, back again")
    assert editing.text == "hello, said differently"
    await app.end()
    again = await start([{"text": "In other words."}])
    editing = again.page.pane.foot.editing
    await again.until(editing.isVisible, "the edit after a restart")
    editing._send.click()
    await again.answered("In other words.")
    await saved(again)
    await elsewhere_and_back(again)
    assert not editing.isVisible(), "it is sent and forgotten"


async def test_a_sent_first_message_does_not_come_back_in_the_next_new_chat(start):
    app = await start(HELLO)
    app.composer.text.insertPlainText("Good morning")
    await saved(app)
    app.composer.submit()
    await app.answered("Hello there.")
    app.page.new_chat()
    await app.until(lambda: not app.items, "a new chat")
    assert written(app) == ""
    await app.end()
    again = await start()
    assert written(again) == ""


async def test_two_first_messages_in_a_row_make_one_thread(start):
    app = await start(HELLO, [{"text": "Second answer."}])
    app.say("one")
    app.say("two")
    await app.answered("Second answer.")
    assert "one" in app.text
    assert "two" in app.text
    assert len(await app.startup._services.chats.threads()) == 1


async def test_a_message_sent_while_another_thread_is_opened_goes_where_it_was_written(start):
    app = await start(HELLO, [{"text": "Elsewhere."}])
    app.say("one")
    await app.answered("Hello there.")
    first = app.models.chat.thread_id
    app.page.new_chat()
    await app.until(lambda: not app.items, "a new chat")
    app.say("two")
    app.page.open(first)
    await app.until(lambda: len(app.models.threads.threads) == 2, "the second thread")
    assert app.models.chat.thread_id == first
    await app.until(lambda: "Hello there." in app.text, "the first thread")
    assert "two" not in app.text


# -- answering again --------------------------------------------------------------------------------------------------


async def test_another_answer_makes_its_thread_the_latest_and_the_keys_stay_at_it(start):
    app = await start(HELLO, HELLO, [{"text": "Another answer."}])
    app.say("the older thread")
    await app.answered("Hello there.")
    older = app.models.chat.thread_id
    app.page.new_chat()
    await app.until(lambda: not app.items, "a new chat")
    app.say("the newer thread")
    await app.answered("Hello there.")
    app.page.open(older)
    await app.until(lambda: "the older thread" in app.text, "the older thread")
    rows = app.models.threads.model()
    await app.until(lambda: rows.place(older) == 2, "the older thread below the newer one")
    await activated(app.window)
    view = app.page.pane.transcript
    view.setFocus()
    view.keys.set_current(1)
    again = view.overlays.bar._made["regenerate"]
    again.setFocus()
    again.click()
    await app.answered("Another answer.")
    await app.until(lambda: rows.place(older) == 1, "the older thread on top")
    assert view.keys.current == 1
    assert app.window.focusWidget() is view


# -- what lies over the thread ----------------------------------------------------------------------------------------


async def test_a_toast_covers_neither_the_composer_nor_its_buttons(start):
    app = await start()
    app.page.toast.say("“A thread” deleted", "token")
    toast, composer = app.page.toast, app.composer
    undo = QRect(toast._undo.mapToGlobal(QPoint(0, 0)), toast._undo.size())
    written = QRect(composer.mapToGlobal(QPoint(0, 0)), composer.size())
    assert undo.bottom() < written.top()
    composer.text.setPlainText("one\n" * 8)

    def above() -> bool:
        return toast._undo.mapToGlobal(QPoint(0, undo.height())).y() < composer.mapToGlobal(QPoint(0, 0)).y()

    await app.until(above, "the toast above the composer that has grown")
    toast.dismiss()


# -- meters -----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-CTX-8")
async def test_the_context_meter_says_the_same_after_a_restart_and_nothing_for_a_new_chat(start):
    app = await start(call("list_directory", path="."), HELLO)
    app.say("look around and tell me everything that you find there")
    await app.answered("Hello there.")
    used = app.models.chat.meters.context_used
    assert used > 0
    await elsewhere_and_back(app)
    assert app.models.chat.meters.context_used == used
    await app.end()
    again = await start()
    await again.until(lambda: "Hello there." in again.text, "the thread")
    assert again.models.chat.meters.context_used == used
    again.page.new_chat()
    shown = []
    again.models.chat.meters_changed.connect(shown.append)
    await again.until(lambda: shown and not again.items, "an empty chat")
    assert shown[-1].context_used == again.models.chat.meters.context_used == 0


# -- long runs --------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-LOOP-10", "R-UI-1")
@pytest.mark.parametrize("count", [300, pytest.param(1000, marks=pytest.mark.soak)])
async def test_a_run_of_very_many_calls_never_freezes_the_window_and_stop_acts_at_once(start, count):
    many = [{"times": 64, "steps": call("list_directory", path=".")}]
    app = await start(*[many] * 20, [{"text": "Too late."}])
    with Heartbeat() as heart:
        app.say("everything")
        await app.until(lambda: len(app.calls) > count, f"{count} calls")
        app.composer.stop.click()
        assert app.composer.stop.label == "Stopping"
        await app.until(lambda: not app.running, "the end")
    heart.says(f"{count} calls")
    assert heart.longest_work < 1.5
    (answer,) = [item for item in app.items.values() if item.side == "a"]
    assert len(answer.parts) < 200, "what is drawn does not grow with the calls"
    made = [c.call_id for c in app.calls]
    assert len(made) == len(set(made))
    await elsewhere_and_back(app)
    assert [c.call_id for c in app.calls] == made


async def test_the_demo_says_in_an_empty_chat_what_to_write(start):
    app = await start()
    app.models.setup.start_demo()
    await app.until(lambda: "“start”" in app.page.pane.empty.accessibleName(), "what to write")
    app.say("start")
    await app.until(lambda: "not an AI" in app.text, "the tour")
    app.composer.stop.click()
    await app.until(lambda: not app.running, "the end")
    app.models.chat.set_model("scripted/scripted")
    assert "“start”" not in app.page.pane.empty.accessibleName()
