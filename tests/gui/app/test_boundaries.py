"""The boundary in the whole app: a change binds an agent at work, the tree shows it, and a proof is on record."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest

from desktop.ui.settings.boundaries.page import LOOKING, BoundariesPage, ConfinementBanner
from tests.gui.app.kit import Running, call
from tests.harness.store import calls_noted

ALLOWED, DENIED = "security.allowed_paths", "security.denied_paths"
DONE = [{"text": "Done."}]


async def allow(app: Running) -> None:
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)


async def put(app: Running, key: str, *more: str) -> None:
    """Add to a list as the page does, and wait until it is kept."""
    wanted = (*app.models.settings.get(key), *more)
    app.models.settings.set(key, wanted)
    await app.until(lambda: app.models.settings.get(key) == wanted, "the setting")


@pytest.mark.spec("R-FS-12", "R-FS-3", "R-FS-7", "R-PRM-5")
async def test_a_folder_that_is_denied_while_an_agent_works_is_closed_to_its_next_call(start: Any) -> None:
    app = await start(
        call("read_file", path="notes/a.txt"),
        call("write_file", path="notes/b.txt", content="x"),
        call("read_file", path="notes/a.txt"),
        call("list_directory", path="notes"),
        call("bash", command="cat notes/a.txt"),
        DONE,
    )
    notes = app.home.path / "workspace" / "notes"
    notes.mkdir(parents=True)
    (notes / "a.txt").write_text("words of the note")
    app.say("go on")
    await app.asked()
    assert "words of the note" in app.calls[0].result
    await put(app, DENIED, str(notes))
    await allow(app)
    await app.until(lambda: len(app.calls) == 5 and app.models.approvals.requests, "the command asks")
    await allow(app)
    await app.answered("Done.")
    assert not (notes / "b.txt").exists(), "what was allowed before the change is not written after it"
    for late in app.calls[1:4]:
        assert late.state in ("denied", "failed")
        assert "inside the denied path" in late.result
    assert "words of the note" not in app.calls[4].result


@pytest.mark.spec("R-FS-12", "R-FS-7")
async def test_a_folder_that_is_allowed_while_an_agent_works_is_open_to_its_next_call_and_closed_again(
    start: Any, tmp_path: Path
) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "a.txt").write_text("words from elsewhere")
    read, pause = call("read_file", path=str(place / "a.txt")), call("write_file", path="pause.txt", content="x")
    app = await start(read, pause, read, pause, read, DONE)
    before = tuple(app.models.settings.get(ALLOWED))
    app.say("go on")
    await app.asked()
    assert "outside the allowed folders" in app.calls[0].result
    await put(app, ALLOWED, str(place))
    await allow(app)
    await app.until(lambda: len(app.calls) == 4 and app.models.approvals.requests, "the second pause")
    assert "words from elsewhere" in app.calls[2].result
    app.models.settings.set(ALLOWED, before)
    await app.until(lambda: app.models.settings.get(ALLOWED) == before, "the setting")
    await allow(app)
    await app.answered("Done.")
    assert "outside the allowed folders" in app.calls[4].result


def explorer(app: Running) -> Any:
    app.window._shell.go("settings")
    page = app.window.page("settings")
    page.show_settings("Filesystem")
    return page.findChild(BoundariesPage).panel


def words_of(app: Running, path: Path) -> str:
    tree = app.models.reach.tree
    rows = (tree.shown(at) for at in range(tree.rowCount()))
    return next((row.judged.words for row in rows if row.path == str(path) and row.judged is not None), "")


@pytest.mark.spec("R-FS-11", "R-FS-12", "R-PRM-13")
async def test_the_tree_follows_lists_and_rules_and_a_proof_is_on_record(start: Any, tmp_path: Path) -> None:
    (tmp_path / "person").mkdir()
    app = await start(home=tmp_path / "person" / "home")
    workspace = app.home.path / "workspace"
    (workspace / "notes").mkdir(parents=True)
    app.window.resize(1280, 800)
    panel = explorer(app)
    await app.until(lambda: words_of(app, workspace) == "reads, writes ask", "the workspace is found")
    assert [panel.agent.itemText(at) for at in range(panel.agent.count())][:2] == ["any agent", "Assistant"]
    app.models.reach.reveal(str(workspace / "notes"))
    await app.until(lambda: words_of(app, workspace / "notes") == "reads, writes ask", "its folder too")
    await app.startup._services.rules.book.add({"pattern": "write-file(path=notes/**)", "policy": "allow"})
    await app.until(lambda: words_of(app, workspace / "notes") == "reads, writes by a rule", "by the rule")
    await put(app, DENIED, str(workspace / "notes"))
    await app.until(lambda: words_of(app, workspace / "notes") == "denied", "denied")

    await app.until(panel.prove.button.isEnabled, "there is something chosen")
    panel.prove.button.click()
    await app.until(lambda: app.models.reach.proof is not None, "the proof")
    proof = app.models.reach.proof
    assert proof.path == str(workspace / "notes")
    report = await app.startup._services.confinement_report()
    assert proof.worst == ("unconfined" if report.kind == "none" else "yes")
    assert panel.prove.warning.isVisible() == (report.kind == "none")
    rows = [entry for _, entry in await calls_noted(app.startup._services.store.audit) if entry.tool == "prove-reach"]
    assert [(entry.by, entry.paths) for entry in rows] == [("user", (proof.path,))]
    assert rows[0].outcome.endswith(proof.summary)
    assert not app.models.approvals.requests, "the person who presses is not asked"


async def test_no_page_waits_until_it_is_known_what_confines_commands(
    start: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a bubblewrap that hangs until it is let go of, and then does not work."""
    programs, asked, gate = tmp_path / "programs", tmp_path / "asked", tmp_path / "gate"
    programs.mkdir()
    os.mkfifo(gate)
    (programs / "bwrap").write_text(f"#!/bin/sh\ntouch '{asked}'\nread line < '{gate}'\nexit 1\n")
    (programs / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    app = await start(joined=True)
    await app.until(asked.exists, "bubblewrap is tried")
    app.window.resize(1280, 800)
    page = explorer(app).parentWidget()
    banner = page.findChild(ConfinementBanner)
    assert banner.notice.words == LOOKING

    def found() -> bool:
        _let_go(gate)
        return bool(banner.notice.words.startswith("Shell commands are "))

    await app.until(found, "what confines commands")
    assert page.panel.about_commands.isVisibleTo(page)


def _let_go(gate: Path) -> None:
    """Whoever waits at the gate goes on; nobody may."""
    with contextlib.suppress(OSError):
        end = os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
        os.write(end, b"on\n")
        os.close(end)
