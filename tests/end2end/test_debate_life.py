"""A debate over a real HTTP server, killed in the middle of a turn: it comes back paused, is finished and exported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.models.scripted import ScriptedModel
from tests.end2end.test_hostile_world import acting, configured
from tests.harness.timeouts import WAIT_S
from tests.servers.fixtures import ProviderSpace, provider, provider_process
from tests.unit.services.debates.kit import debate_world

__all__ = ["provider", "provider_process"]
ROOT = Path(__file__).resolve().parents[2]


def begun(folder: Path, server: ProviderSpace, which: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.end2end.debate_life", str(folder), server.openai_url, which]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def says(text: str) -> dict[str, object]:
    return {"steps": [{"text": text}, {"finish": "stop"}, {"usage": {"input": 11, "output": 3}}]}


@pytest.mark.spec("R-SES-3", "R-SES-18", "R-JRN-2")
async def test_a_debate_that_is_killed_comes_back_paused_and_goes_on(tmp_path: Path, provider: ProviderSpace) -> None:
    half = {"steps": [{"text": "half of a turn"}, {"hang": True}]}
    provider.rounds(says("a1"), says("b1"), half)
    with begun(tmp_path, provider, "begin") as first:
        try:
            assert first.stdout is not None
            thread = first.stdout.readline().strip()
            provider.wait_for(lambda log: len(log) == 3, WAIT_S)
        finally:
            first.send_signal(signal.SIGKILL)
        assert first.wait(WAIT_S) == -signal.SIGKILL
    async with debate_world(tmp_path, ScriptedModel([])) as w:
        state = await w.debates.state(thread)
        assert (state.status, state.end_reason, state.turn, state.side) == ("paused", "interrupted", 2, "a")
        assert await w.outcomes(thread) == ["a1", "b1"]
        assert [m.text for m in await w.store.messages.path(thread_id=thread)] == ["Tea or coffee?", "a1", "b1"]
    provider.rounds(says("a2"), says("b2"))
    with begun(tmp_path, provider, thread) as second:
        assert second.wait(WAIT_S) == 0
    sent = [request["body"]["messages"][1:] for request in provider.requests()]
    assert sent[3] == sent[2]
    *before, last = [(m["role"], m["content"].partition("\n\n# Note\n")) for m in sent[4]]
    assert [(role, said) for role, (said, _, _) in (*before, last)] == [
        ("user", "Tea or coffee?\n\na1"),
        ("assistant", "b1"),
        ("user", "a2"),
    ]
    assert "the last time that you speak" in last[1][2], "what is noted about a turn is said last"
    told = json.loads((tmp_path / "debate.json").read_text("utf-8"))
    assert told["debate"]["end_reason"] == "max_session_turns"
    assert [part["turn"]["outcome"] for part in told["parts"][1:]] == ["a1", "b1", "a2", "b2"]
    assert "Turn 4 · Con (side B)" in (tmp_path / "debate.md").read_text("utf-8")
    assert (tmp_path / "debate.html").read_text("utf-8").count("<h2>") == 6


@pytest.mark.spec("R-SES-18", "R-SES-22", "R-JRN-2")
def test_the_whole_app_is_killed_in_a_turn_and_shows_the_debate_paused_at_the_last_finished_one(tmp_path: Path) -> None:
    home = configured(tmp_path / "home")
    with acting(home, "debate_begun", [{"text": "a1"}], [{"text": "half of a turn"}, {"hang": True}]) as first:
        first.wait("half")
        os.kill(first.process.pid, signal.SIGKILL)
        assert first.process.wait(WAIT_S) == -signal.SIGKILL
    with acting(home, "debate_again", *([{"text": f"t{number}"}] for number in range(2, 7))) as again:
        seen = again.wait("seen")
        ended = again.wait("ended")
        assert again.ended() == 0
    assert (seen["status"], seen["turn"]) == ("paused", 1)
    assert seen["lanes"][:2] == [["Topic", "Tea or coffee?"], ["For", "a1"]]
    assert seen["lanes"][2] == ["Against", "half of a turn"], "what had arrived is there to be read"
    assert any("ended in the middle of a turn" in words for words in seen["notices"])
    counted = [text for _, text in ended["lanes"][1:8] if text != "half of a turn"]
    assert counted == ["a1", "t2", "t3", "t4", "t5", "t6"]
