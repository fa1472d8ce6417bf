"""A person and a real llama.cpp in the real window: installed, started, found, chosen, asked, its call allowed.

Slow, and it has to be built: see ``tests/conformance/test_local_models.py``. ``-s`` prints how long each step took.
"""

import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.settings.models.start_dialog import StartDialog
from tests.conformance.local_server import Built, make_models
from tests.unit.services.local_servers.kit import is_open

pytestmark = pytest.mark.soak


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Built:
    folder = os.environ.get("LLAMA_CPP", "")
    found = Built(Path(folder))
    if not folder or not found.program.exists():
        pytest.skip("no llama.cpp: build one with tests/conformance/llamacpp.py and set LLAMA_CPP to its folder")
    monkeypatch.setenv("PATH", f"{found.program.parent}:{os.environ['PATH']}")
    return found


async def test_from_an_installed_program_to_a_call_that_a_person_allows(
    start: Callable[..., Any], built: Built, tmp_path: Path
) -> None:
    model = make_models(built, tmp_path)["caller"]
    marks = [("", time.monotonic())]

    def step(what: str) -> None:
        marks.append((what, time.monotonic()))

    app = await start(joined=True)
    step("the window")
    app.startup._pages._show_settings("Models and keys")
    page = app.window.page("settings").findChild(ModelsPage)
    row = page.starts[0]
    await app.until(row.isVisible, "llama.cpp is offered")
    row.start.click()
    dialog = page.window().findChild(StartDialog)
    app.models.starts.choose(file=str(model))
    app.models.starts.choose(context=32_768)
    await app.until(dialog.buttons["start"].isEnabled, "the command")
    command = dialog.command.toPlainText()
    assert f"{built.program} --model {model} --ctx-size 32768 --host 127.0.0.1" in command
    dialog.buttons["start"].click()
    step("the command was shown and agreed to")
    await app.until(lambda: app.models.starts.state("llamacpp").phase == "running", "it runs")
    step("llama.cpp answers")
    port = int(app.models.starts.state("llamacpp").base_url.rpartition(":")[2])
    ref = f"llamacpp/{model}"
    await app.until(lambda: any(str(one.ref) == ref for one in app.models.setup.models), "its model is listed")
    assert app.models.setup.describe(ref) == ("caller.gguf", 32_768)
    step("its model is listed with its real context")
    app.models.setup.use(ref)
    await app.until(lambda: app.models.setup.default_model == ref, "it is chosen")
    app.startup._shell.go("chats")
    app.page.new_chat()
    app.models.chat.set_model(ref)
    await app.until(lambda: app.models.chat.meters.model == ref, "the chat asks it")
    app.say("Write down when the tide is high.")
    request = await app.asked()
    step("its call asks for permission")
    assert request.tool == "write-file"
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("The tide is in tide.txt.")
    step("allowed, written, answered")
    written = next(app.home.path.rglob("tide.txt"))
    assert written.read_text() == "High at noon."
    await app.end()
    assert not is_open(port), "it ends with the app"
    step("ended")
    print("\n" + "\n".join(f"{now - before:6.2f} s  {what}" for (_, before), (what, now) in pairwise(marks)))
