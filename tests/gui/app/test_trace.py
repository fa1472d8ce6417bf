"""The trace in the whole app: a run with an agent in it, live, after a restart, exported, and with the disk full."""

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.presenter.trace.node import TraceNode
from tests.gui.app.kit import HELLO, Running, call
from tests.gui.app.test_skills import skills_of

READER = """\
---
name: log-reader
description: Reads the maintenance log.
metadata:
  model:
    maxTurns: 5
---
Read the log and say what happened.
"""


def rounds() -> tuple[Any, ...]:
    """The thread's agent reads, calls an agent that reads and writes, and answers."""
    return (
        call("read_file", path="a.txt"),
        [{"text": "I ask. "}, *call("skill_invoke", ref="log-reader", args={})],
        [{"text": "Let me look. "}, *call("read_file", path="log.txt"), *call("write_file", path="o.txt", content="x")],
        [{"text": "A power cut."}],
        [{"text": "It was a power cut."}],
    )


def outline(node: TraceNode, depth: int = 0) -> list[str]:
    """The tree as indented lines."""
    own = f"{'  ' * depth}{node.kind} {node.title} {node.state}"
    return [own, *(line for child in node.children for line in outline(child, depth + 1))]


async def ran(start: Any, tmp_path: Path) -> Running:
    skills_of(tmp_path, log_reader__skill__md=READER)
    app = await start(*rounds())
    workspace = app.home.path / "workspace"
    for name in ("a.txt", "log.txt"):
        (workspace / name).write_text("22:00 power cut")
    app.page.show_trace(True)
    app.say("what happened?")
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("It was a power cut.")
    return app


OUTLINE = [
    "agent Assistant done",
    "  round round 1 done",
    "    call read-file done",
    "  round round 2 done",
    "    agent log-reader done",
    "      round round 1 done",
    "        call read-file done",
    "        call write-file done",
    "      round round 2 done",
    "  round round 3 done",
]


def write_call(tree: Any) -> TraceNode:
    return next(node for node in tree.root.walk() if node.title == "write-file")


@pytest.mark.spec("R-TRC-1", "R-TRC-5", "R-TRC-8", "S-TRC-2")
async def test_a_run_with_an_agent_in_it_is_one_tree_live_and_after_a_restart(start: Any, tmp_path: Path) -> None:
    app = await ran(start, tmp_path)
    trace = app.models.trace
    await app.until(lambda: trace.tree is not None and trace.tree.over, "the end of the trace")
    assert outline(trace.tree.root) == OUTLINE
    written = write_call(trace.tree)
    assert (written.category, len(written.waits), written.value("tool-answered", "by")) == ("write", 1, "user")
    run_id = trace.run_id
    await app.end()

    again = await start()
    await again.until(lambda: again.page.trace is not None and again.page.trace.isVisible(), "the panel as it was")
    tree = await shown_tree(again, run_id)
    assert outline(tree.root) == OUTLINE
    assert (write_call(tree).category, len(write_call(tree).waits)) == ("write", 1)
    texts = [node.text("message")[0] for node in tree.root.walk() if node.kind == "round"]
    assert texts == ["", "I ask. ", "Let me look. ", "A power cut.", "It was a power cut."]
    rows = again.page.trace.rows
    assert "log-reader, agent, done" in " | ".join(
        rows.model().index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(rows.model().rowCount())
    )


async def shown_tree(app: Running, run_id: str) -> Any:
    trace = app.models.trace
    await app.until(lambda: trace.run_id == run_id and not trace.loading, "the trace of the last run")
    return trace.tree


@pytest.mark.spec("R-TRC-9", "R-SEC-4")
async def test_an_export_is_json_lines_of_every_event_without_secrets(start: Any, tmp_path: Path) -> None:
    app = await start(call("read_file", path="a.txt"), [{"text": "The key is sk-abcdef0123456789abcdef."}])
    (app.home.path / "workspace" / "a.txt").write_text("api_key = sk-0123456789abcdef0123456789")
    app.page.show_trace(True)
    app.say("look")
    await app.answered("The key is")
    trace, target = app.models.trace, tmp_path / "trace.jsonl"
    await app.until(lambda: trace.tree is not None and trace.tree.over, "the end of the trace")
    trace.export(str(target))
    await app.until(target.exists, "the file")
    text = target.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert "0123456789" not in text
    assert "[REDACTED]" in text
    assert [line["type"] for line in lines] == [
        "agent-start",
        "turn-start",
        "turn-end",
        "tool-call",
        "tool-result",
        "turn-start",
        "message",
        "turn-end",
        "agent-complete",
    ]
    assert {line["runId"] for line in lines} == {trace.run_id}
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))


@pytest.mark.expects_log("is not kept to its end: .*full")
@pytest.mark.spec("R-TRC-7")
async def test_a_trace_that_cannot_be_written_costs_the_trace_and_not_the_run(start: Any, tmp_path: Path) -> None:
    skills_of(tmp_path, log_reader__skill__md=READER)
    app = await start(*rounds()[1:2], [{"text": "A power cut."}], [{"text": "It was a power cut."}])
    store = app.startup._services.store

    def refuse(connection: Any) -> None:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON traces BEGIN SELECT RAISE(ABORT, 'full'); END")

    await store._thread.write(refuse)
    app.page.show_trace(True)
    app.say("what happened?")
    await app.answered("It was a power cut.")
    assert not app.notices
    trace = app.models.trace
    await app.until(lambda: trace.tree is not None and trace.tree.over, "the end of the trace")
    assert await store.traces.kept(run_id=trace.run_id) == []
    assert "    agent log-reader done" in outline(trace.tree.root)


@pytest.mark.spec("R-UI-2")
async def test_keys_open_it_lead_to_the_card_and_close_it_and_the_window_remembers(start: Any) -> None:
    app = await start(call("read_file", path="a.txt"), [{"text": "Read."}], HELLO)
    app.window.resize(1280, 800)
    app.say("look")
    await app.answered("Read.")
    shell = app.startup._shell
    shell.run_command("trace")
    panel = app.page.trace
    await app.until(lambda: panel.model.rowCount() == 4, "the lines of the run")
    assert app.page.pane.header.trace.isChecked()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Down, Qt.Key.Key_Down):
        QTest.keyClick(panel.rows, key)
    assert panel.chosen_node.title == "read-file"
    wanted: list[str] = []
    panel.card_wanted.connect(wanted.append)
    QTest.keyClick(panel.rows, Qt.Key.Key_Return)
    assert wanted == [panel.chosen_node.call_id]
    panel.detail.activity.click()
    await app.until(lambda: shell.page == "approvals", "the activity")
    chosen = app.models.approvals.activity.chosen
    assert (chosen.tool, chosen.thread_id) == ("read-file", app.models.chat.thread_id)
    shell.go("chats")
    app.say("again")
    await app.answered("Hello there.")
    await app.until(lambda: len(app.models.trace.runs) == 2 and panel.model.rowCount() == 2, "the newer run shows")
    older = app.models.trace.runs[1].run_id
    app.models.trace.choose(older)
    await app.until(lambda: app.models.trace.run_id == older, "the older run")
    assert app.startup._window_state.values["chat.trace"] is True
    shell.run_command("trace")
    assert panel.isHidden()
    assert app.startup._window_state.values["chat.trace"] is False
