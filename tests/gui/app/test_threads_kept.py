"""What a person wrote and what agents did is there again whenever its thread is: after another, after a restart."""

import pytest

from tests.gui.app.kit import HELLO, call


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
