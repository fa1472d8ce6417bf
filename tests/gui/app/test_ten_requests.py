"""Ten requests of three runs at once, some asked by skills inside skills: each answer reaches its own call alone."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.approval.permission import Decision
from tests.gui.app.kit import Running, call
from tests.harness.windows import activated

LEFT = Qt.MouseButton.LeftButton
MANY = """import asyncio

frontmatter = {
    "name": "many",
    "description": "Writes many files at once",
    "metadata": {
        "category": "read",
        "params": {"type": "object", "properties": {"names": {"type": "array"}}, "required": ["names"]},
    },
}


async def run(ctx, args):
    calls = (ctx.manager.invoke("write-file", {"path": name, "content": "for " + name}) for name in args["names"])
    return [str(done)[:60] for done in await asyncio.gather(*calls, return_exceptions=True)]
"""
OUTER = (
    MANY.replace('"many"', '"outer"')
    .replace("Writes many", "Has many written")
    .replace(
        MANY[MANY.index("    calls = ") :], '    return await ctx.manager.invoke("many", {"names": args["names"]})\n'
    )
)
RUNS = {
    "alpha": ("many", ["a1", "a2", "a3", "a4"]),
    "beta": ("outer", ["b1", "b2", "b3"]),
    "gamma": ("many", ["c1", "c2", "c3"]),
}


@pytest.fixture
async def ten(start: Any, tmp_path: Path) -> tuple[Running, dict[str, str]]:
    """Three threads whose runs have asked ten questions; thread by word. The last one is open."""
    skills = tmp_path / "home" / "skills"
    skills.mkdir(parents=True)
    (tmp_path / "home").chmod(0o700)
    (skills / "many.skill.py").write_text(MANY)
    (skills / "outer.skill.py").write_text(OUTER)
    rounds = [
        {"when": word, "steps": call("skill_invoke", ref=skill, args={"names": names})}
        for word, (skill, names) in RUNS.items()
    ]
    app = await start(*rounds, *[[{"text": "Done."}]] * 3)
    await activated(app.window)
    threads: dict[str, str] = {}
    asked = 0
    for word, (_, names) in RUNS.items():
        if threads:
            app.page.new_chat()
            await app.until(lambda: not app.models.chat.thread_id and not app.items, "a new chat")
        app.say(word)
        asked += len(names)
        await app.until(lambda n=asked: len(app.models.approvals.requests) == n, f"{asked} requests")
        threads[word] = app.models.chat.thread_id
    return app, threads


def file_of(request: Any) -> str:
    return str(request.arguments["path"])


def written(app: Running) -> dict[str, str]:
    """Without what is half written yet: that is renamed when it is whole."""
    found = (path for path in (app.home.path / "workspace").iterdir() if not path.name.startswith(".assent-"))
    return {path.name: path.read_text() for path in found if path.is_file()}


async def press(app: Running, view: Any, choice: str) -> str:
    """The person reads what is in the view and presses; the file it was about."""
    request, given = view.request, view.answers
    button = given.allow if choice == "allow" else given.deny
    await app.until(lambda: not button.deaf, "the end of the deaf time")
    QTest.mouseClick(button, LEFT)
    await app.until(lambda: app.models.approvals.request(request.request_id) is None, "the answer")
    return file_of(request)


@pytest.mark.spec("R-PRM-8", "R-PRM-5", "R-PRM-2")
async def test_ten_requests_stay_apart_half_answered_over_their_thread_and_half_in_the_inbox(ten):
    app, threads = ten
    approvals = app.models.approvals
    assert [r.asked_at for r in approvals.requests] == sorted(r.asked_at for r in approvals.requests)
    assert sorted(map(file_of, approvals.requests)) == sorted(name for _, names in RUNS.values() for name in names)
    assert app.window.windowTitle() == "(10) Assent"
    assert len({r.run_id for r in approvals.requests}) == 3
    nested = next(r for r in approvals.requests if file_of(r) == "b1")
    assert ("outer" in nested.chain, "many" in nested.chain) == (True, True)
    expected: dict[str, str] = {}
    box = app.startup._pages._dialog.dialog
    assert box.view.request.thread_id == threads["gamma"]
    name = await press(app, box.view, "allow")
    expected[name] = f"for {name}"
    await press(app, box.view, "deny")
    assert {r.thread_id for r in approvals.requests[-1:]} == {threads["gamma"]}
    app.startup._shell.go("approvals")
    inbox = app.window.page("approvals")
    for row, choice in ((5, "allow"), (0, "deny"), (3, "allow")):
        waiting = approvals.requests
        inbox.inbox.list.setCurrentIndex(inbox.inbox.model.index(row))
        assert inbox.view.request == waiting[row]
        name = await press(app, inbox.view, choice)
        assert name == file_of(waiting[row])
        if choice == "allow":
            expected[name] = f"for {name}"
        await app.until(lambda: written(app) == expected, f"what was allowed so far: {expected}")
    await app.startup._services.chats.stop(threads["alpha"])
    await app.until(lambda: not [r for r in approvals.requests if r.thread_id == threads["alpha"]], "alpha's are gone")
    assert {r.thread_id for r in approvals.requests} == {threads["beta"], threads["gamma"]}
    left = list(approvals.requests)
    for request in reversed(left):
        allowed = file_of(request).startswith("b")
        approvals.answer(request.request_id, "allow_once" if allowed else "deny", digest=request.digest)
        if allowed:
            expected[file_of(request)] = f"for {file_of(request)}"
    await app.until(lambda: not app.startup._services.chats.running(), "the end of all runs")
    assert written(app) == expected
    assert app.window.windowTitle() == "Assent"


@pytest.mark.spec("R-PRM-8", "R-PRM-9")
async def test_denying_all_of_one_run_takes_its_nested_ones_and_no_other_runs(ten):
    app, threads = ten
    approvals = app.models.approvals
    nested = next(r for r in approvals.requests if r.thread_id == threads["beta"])
    approvals.answer(nested.request_id, "deny_run", digest=nested.digest)
    await app.until(lambda: len(approvals.requests) == 7, "the others")
    assert {r.thread_id for r in approvals.requests} == {threads["alpha"], threads["gamma"]}
    one = next(r for r in approvals.requests if file_of(r) == "a3")
    approvals.answer(one.request_id, "allow_once", digest=one.digest)
    await app.until(lambda: written(app) == {"a3": "for a3"}, "the one that was allowed")


@pytest.mark.spec("R-PRM-9", "R-PRM-5")
async def test_an_answer_that_comes_after_its_run_ended_or_its_thread_was_deleted_writes_nothing(ten):
    app, threads = ten
    approvals = app.models.approvals
    late = {word: next(r for r in approvals.requests if r.thread_id == threads[word]) for word in threads}
    app.models.threads.delete(threads["beta"])
    await app.startup._services.chats.stop(threads["alpha"])
    await app.until(lambda: len(approvals.requests) == 3, "only gamma's")
    refused: list[str] = []
    approvals.refused.connect(refused.append)
    for word in ("alpha", "beta"):
        approvals.answer(late[word].request_id, "allow_once", digest=late[word].digest)
        assert not app.bridge.answer(late[word].request_id, Decision("allow_once", late[word].digest))
    approvals.answer(late["gamma"].request_id, "allow_once", digest=late["alpha"].digest)
    assert len(refused) == 3
    approvals.answer(late["gamma"].request_id, "allow_once", digest=late["gamma"].digest)
    await app.until(lambda: written(app) == {"c1": "for c1"}, "gamma's own")
