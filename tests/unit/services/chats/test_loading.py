"""What runs are made of is imported with the first of them, and in a thread, so that no window waits for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = """
import asyncio, json, sys, threading
from pathlib import Path
from desktop.app.wiring.runtime import build_services
from desktop.domain.debates import DebateSetup, SideSetup
from desktop.settings import SettingsService

on_the_loop, elsewhere = [], []


def importing(event, arguments):
    if event == "import" and arguments[0].startswith("desktop.") and arguments[0] not in sys.modules:
        here = threading.current_thread() is threading.main_thread()
        (on_the_loop if here else elsewhere).append(arguments[0])


async def chat(services):
    thread = await services.chats.create_thread(model="scripted/scripted")
    await services.chats.send(thread.thread_id, "Hello.")
    await services.chats.wait(thread.thread_id, 30)
    return [message.text for message in await services.chats.path(thread.thread_id)]


async def debate(services):
    side = SideSetup("", prompt_text="You are a side.", model="scripted/scripted", tools=())
    debate = await services.debates.create(DebateSetup("Hello.", side, side, max_turns=1))
    await services.debates.start(debate)
    await services.debates.wait(debate, 30)
    return [(await services.debates.state(debate)).end_reason]


async def agent(services):
    book = services.agent_services.service
    found = [row.agent for row in book.rows() if row.agent is not None]
    return [str(len(await book.problems(one))) for one in found[:1]]


async def main(home, first):
    settings = SettingsService(home)
    await settings.load()
    services = await build_services(home, settings, None, windows=lambda _: None, script=home / "script.json")
    sys.addaudithook(importing)
    said = await first(services)
    await services.chats.close()
    await services.stop_children()
    await services.close()
    print(json.dumps([said, on_the_loop, elsewhere]))


asyncio.run(main(Path(sys.argv[1]), globals()[sys.argv[2]]))
"""


@pytest.mark.parametrize(
    ("first", "said", "loaded"),
    [
        ("chat", ["Hello.", "Done."], "desktop.agents.turn"),
        ("debate", ["max_session_turns"], "desktop.services.debates.turn"),
        ("agent", ["0"], "desktop.agents.skill.discovery"),
    ],
)
def test_the_first_run_imports_nothing_on_the_loop(tmp_path: Path, first: str, said: list[str], loaded: str) -> None:
    home = tmp_path / "home"
    for name in ("data", "workspace"):
        (home / name).mkdir(parents=True)
    (home / "script.json").write_text(json.dumps({"rounds": [[{"text": "Done."}]]}))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(home), first], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    answered, on_the_loop, elsewhere = json.loads(done.stdout)
    assert (answered, on_the_loop) == (said, [])
    assert loaded in elsewhere
