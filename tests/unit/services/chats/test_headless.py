"""The whole runtime, wired as the app wires it, in a process that has no Qt (R-UI-10)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from tests.harness import hide_qt
from desktop.app.wiring.runtime import build_services
from desktop.settings import SettingsService
from desktop.domain.approval.permission import Decision


class Nobody:
    async def ask(self, request):
        return Decision("deny", request.digest, by="no_handler")


async def main(home):
    settings = SettingsService(home)
    await settings.load()
    services = await build_services(home, settings, Nobody(), windows=lambda _: None, script=home / "script.json")
    thread = await services.chats.create_thread(model="scripted/scripted")
    await services.chats.send(thread.thread_id, "read it")
    await services.chats.wait(thread.thread_id, 30)
    told = [(m.role, m.text, [b.text for b in m.blocks if type(b).__name__ == "ToolResultBlock"])
            for m in await services.chats.path(thread.thread_id)]
    await services.chats.close()
    await services.stop_children()
    await services.close()
    print(json.dumps({"told": told, "qt": [n for n in sys.modules if n.split(".")[0] in hide_qt.HIDDEN]}))


asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.spec("R-UI-10")
def test_a_thread_is_answered_with_tools_and_stored_where_there_is_no_qt(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("data", "workspace"):
        (home / name).mkdir(parents=True)
    (home / "workspace" / "note.txt").write_text("a note")
    half = home / ".tools.yaml.0123456789ab.unfinished"
    half.write_text("tools: [")  # as kill -9 leaves it
    os.utime(half, (1.0, 1.0))
    read = [{"call": {"tool": "read_file", "arguments": {"path": "note.txt"}}}]
    write = [{"call": {"tool": "write_file", "arguments": {"path": "new.txt", "content": "x"}}}]
    (home / "script.json").write_text(json.dumps({"rounds": [read, write, [{"text": "Done."}]]}))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(home)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["qt"] == []
    roles = [role for role, _, _ in said["told"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert said["told"][2][2] == ["a note"]
    assert "denied" in said["told"][4][2][0].lower()
    assert said["told"][-1][1] == "Done."
    assert not (home / "workspace" / "new.txt").exists()
    assert not half.exists(), "what an earlier process had not finished is gone after the start"
