"""What Settings, Chats let a run use holds for the next run, at once, and is named where it stops one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.domain.runs.events import RunEnded
from desktop.domain.runs.supervision import RUN_ROUNDS
from tests.unit.app.test_journal_wiring import opened


@pytest.mark.spec("R-SUP-7", "R-SUP-11", "R-LIM-5")
async def test_the_limits_of_a_run_in_the_settings_are_live_and_named_and_zero_is_none(tmp_path: Path) -> None:
    read = [{"call": {"tool": "list_directory", "arguments": {"path": "."}}}, {"usage": {"input": 50, "output": 5}}]
    rounds = [{"when": "", "steps": read if number else [{"text": "done"}]} for number in range(30)]
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rounds": rounds}))
    async with opened(tmp_path, script=script) as services:
        ends: list[RunEnded] = []
        services.bus.listen(lambda event: ends.append(event) if isinstance(event, RunEnded) else None)

        async def ask() -> RunEnded:
            thread = await services.chats.create_thread(model="scripted/scripted", agent="assistant")
            await services.chats.send(thread.thread_id, "look")
            assert await services.chats.wait(thread.thread_id, 30)
            return ends[-1]

        assert (await ask()).reason == "response"
        await services.settings.update("limits.run_tokens", 40)
        stopped = await ask()
        assert (stopped.reason, stopped.limit) == ("budget", "max_tokens 40 (set by Settings, Chats)")
        assert "max_tokens 40 (set by Settings, Chats)" in [str(one) for one in services.traces.limits("assistant")]
        await services.settings.update("limits.run_tokens", 0)
        await services.settings.update("limits.run_rounds", 1)
        assert (await ask()).limit.endswith("1 (set by Settings, Chats)")
        with pytest.raises(KnownError):  # no run is without one
            await services.settings.update("limits.run_rounds", 0)
        await services.settings.update("limits.run_rounds", RUN_ROUNDS)
        await services.settings.update("chat.max_iterations", 2)
        assert [str(one) for one in services.traces.limits("assistant")] == ["maxIterations 2 (set by Settings, Chats)"]
        assert (await ask()).limit == "maxIterations 2 (set by Settings, Chats)"
