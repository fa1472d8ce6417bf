"""An answer that was cut off and is gone on with, as the chat shows it: one answer, each call in it once."""

import pytest

from desktop.presenter.transcript.items import NoticePart
from tests.gui.app.kit import call


def offered(app) -> list[str]:
    parts = [part for item in app.items.values() for part in item.parts if isinstance(part, NoticePart)]
    return [action.action for part in parts for action in part.actions]


async def cut_off_while_it_asked(start, *then):
    app = await start([{"text": "I will write."}, *call("write_file", path="a.txt", content="x")])
    app.say("write it")
    await app.asked()
    await app.end()
    again = await start(*then)
    await again.until(lambda: offered(again) == ["continue"], "the offer to go on")
    return again


@pytest.mark.spec("R-UI-8", "R-JRN-2")
async def test_while_a_run_that_goes_on_asks_its_call_stands_once_and_nothing_offers_to_continue(start):
    app = await cut_off_while_it_asked(start, [{"text": "Written."}])
    cards = [(part.part_id, part.arguments) for part in app.calls]
    app.models.chat.continue_answer("")
    request = await app.asked()
    await app.until(lambda: [part.state for part in app.calls] == ["waiting"], "one card, which waits")
    assert offered(app) == []
    assert not any(item.can_continue for item in app.items.values())
    thread = app.models.chat.thread_id
    app.models.chat.new_thread()
    await app.until(lambda: not app.items, "another chat")
    app.models.chat.open_thread(thread)
    await app.until(lambda: [part.state for part in app.calls] == ["waiting"], "the same when it is opened again")
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Written.")
    assert [(part.part_id, part.arguments) for part in app.calls] == cards
    assert [part.state for part in app.calls] == ["done"]
    assert [item.side for item in app.items.values()] == ["human", "a"], "one answer, as it is when opened again"


@pytest.mark.spec("R-UI-8")
async def test_an_answer_that_is_gone_on_with_does_not_offer_it_while_the_model_is_silent(start):
    app = await start([{"text": "Half of it"}, {"wait": 300}])
    app.say("tell me")
    await app.until(lambda: "Half of it" in app.text, "half of it")
    await app.end()
    again = await start([{"wait": 300}, {"text": "never"}])
    await again.until(lambda: offered(again) == ["continue"], "the offer to go on")
    again.models.chat.continue_answer("")
    await again.until(lambda: again.running and not offered(again), "no offer any more")
    again.models.chat.stop()
    await again.until(lambda: offered(again) == ["continue"], "it was stopped, and can be gone on with")
    assert "Half of it" in again.text
