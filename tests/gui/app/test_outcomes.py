"""A command in a copy, in the whole app: shown over the thread, taken over in part, kept so that it can be undone."""

import pytest

from desktop.ui.approvals.request.outcome_body import OutcomeBody
from tests.gui.app.kit import call
from tests.gui.app.test_binding import next_request, over


@pytest.mark.spec("R-OUT-1", "R-OUT-2", "R-OUT-3")
async def test_a_command_runs_in_a_copy_and_a_part_of_what_it_did_becomes_real(start):
    first = [call("bash", command="mkdir made; echo 1 > made/one; echo 2 > made/two; echo told"), [{"text": "k"}]]
    second = [call("bash", command="touch never"), [{"text": "l"}]]
    app = await start(*first, *second)
    folder = app.home.path / "workspace"
    app.say("run")
    request = await next_request(app)
    if not request.is_outcome:
        pytest.skip("no copies can be made here")
    await app.until(lambda: app.window.findChildren(OutcomeBody), "the request")
    assert not (folder / "made").exists()
    taken = (str(folder / "made" / "two"),)
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest, taken=taken)
    assert (await over(app, 1)).state == "done"
    assert [path.name for path in (folder / "made").iterdir()] == ["two"]
    app.say("again")
    dropped = await next_request(app, request)
    app.models.approvals.answer(dropped.request_id, "deny", digest=dropped.digest)
    assert (await over(app, 2)).state == "denied"
    assert not (folder / "never").exists()
    assert not list((app.home.path / "cache" / "copies").iterdir()), "nothing of the copies is left"
    services = app.startup._services
    assert services is not None
    (kept,) = await services.store.changes.of_thread(thread_id=request.thread_id)
    assert [file.change.path.rsplit("/", 1)[-1] for file in kept.files] == ["made", "two"]
