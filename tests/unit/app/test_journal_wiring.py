"""The app's log of runs: what it never holds, and what becomes at a start of runs that the last one left behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.domain.messages import TextBlock
from desktop.domain.runs.effects import EffectRecord, is_digest
from desktop.domain.threads import MessageRecord, RunRecord, ThreadRecord
from desktop.services.rules.text import read_rule
from desktop.settings import SettingsService
from desktop.store import Store
from tests.harness.timeouts import WAIT_S
from tests.unit.app.test_opening import Nobody

SECRET = "plain-known-secret-4711"
SHAPED = "api_key=hunter2hunter2hunter2"


@asynccontextmanager
async def opened(home: Path, **options: object) -> AsyncIterator[Services]:
    settings = SettingsService(home)
    await settings.load()
    (home / "data").mkdir(exist_ok=True)
    (home / "workspace").mkdir(exist_ok=True)
    services = await build_services(home, settings, Nobody(), windows=lambda _ref: None, **options)  # type: ignore[arg-type]
    try:
        yield services
    finally:
        await services.chats.close()
        await services.stop_children()
        await services.close()


@pytest.mark.spec("R-JRN-6", "R-SEC-4")
async def test_no_known_secret_and_nothing_shaped_like_one_for_a_person_to_read_is_in_the_log(tmp_path: Path) -> None:
    write = {"tool": "write_file", "arguments": {"path": "b.txt", "content": f"with {SHAPED}"}}
    rounds = [
        {"when": "please", "steps": [{"call": write}, {"call": {"tool": "read_file", "arguments": {"path": "a.txt"}}}]},
        {"when": "", "steps": [{"hang": True}]},
    ]
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rounds": rounds}))
    async with opened(tmp_path, script=script, allowed=[read_rule("write-file", "allow")]) as services:
        (tmp_path / "workspace" / "a.txt").write_text(f"It is {SECRET}, keep it.")
        services.redactor.remember(SECRET)
        thread = await services.chats.create_thread(model="scripted/scripted", agent="assistant")
        sent = await services.chats.send(thread.thread_id, "please")
        log: list[EffectRecord] = []
        async with asyncio.timeout(WAIT_S):
            while sum(one.kind == "llm" for one in log) < 3:
                await asyncio.sleep(0.02)
                log = await services.store.effects.load(sent.run_id)
        done = [one for one in log if one.kind == "tool" and one.phase == "completed"]
        assert ["keep it" in one.value for one in done] == [False, True]
        assert ["b.txt" in one.summary for one in log if one.summary] == [True]
        assert not [one for one in log if SECRET in one.value + one.summary or SHAPED in one.summary]


@pytest.mark.spec("R-JRN-5", "R-SUP-13")
async def test_a_start_ends_the_logs_of_runs_that_nobody_goes_on_with_and_forgets_what_they_gave(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").mkdir()
    store = Store(tmp_path / "data" / "assent.db")
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "First", 1, 1))
    await store.runs.start(record=RunRecord("left", "t", 1.0, "assistant", "demo/demo"))
    line = EffectRecord("left", 1, "m:c", 1, "tool", "read-file", "d", "begun", 1.0)
    await store.effects.append([line, line._replace(sequence=2, phase="completed", value='{"text":"what it read"}')])
    await store.runs.end(run_id="left", reason="interrupted", at=2.0)
    await store.runs.start(record=RunRecord("later", "t", 3.0, "assistant", "demo/demo"))
    asked = MessageRecord("q", "t", None, "user", (TextBlock("and now?"),), 3.0)
    await store.messages.add(record=asked)
    said = MessageRecord("a", "t", "q", "assistant", (TextBlock("Yes."),), 4.0, stop_reason="end", run_id="later")
    await store.messages.add(record=said)
    await store.runs.end(run_id="later", reason="response", at=4.0)
    await store.runs.start(record=RunRecord("empty", "t", 5.0, "assistant", "demo/demo"))
    await store.close()
    async with opened(tmp_path) as services, asyncio.timeout(WAIT_S):
        while (log := await services.store.effects.load("left"))[-1].kind != "end" or not is_digest(log[1].value):
            await asyncio.sleep(0.02)
        assert log[-1].phase == "cancelled"
        assert [(one.kind, one.phase) for one in await services.store.effects.load("empty")] == [("end", "cancelled")]
        assert "what it read" not in log[1].value
