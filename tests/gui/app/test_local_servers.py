"""A model server that is installed here, in the whole window: seen, started, found, ended with the app."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.settings.models.start_dialog import StartDialog
from tests.unit.services.local_servers.kit import installed_in, is_open, model_file


async def test_a_server_is_started_from_settings_found_and_ended_with_the_app(
    start: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = installed_in(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    app = await start(joined=True)
    app.startup._pages._show_settings("Models and keys")
    page = app.window.page("settings").findChild(ModelsPage)
    row = page.starts[0]
    await app.until(row.isVisible, "it is offered")
    row.start.click()
    dialog = page.window().findChild(StartDialog)
    app.models.starts.choose(file=model_file(tmp_path))
    await app.until(dialog.buttons["start"].isEnabled, "the command")
    assert dialog.command.toPlainText().startswith(f"LLAMA_ARG_OFFLINE=1 LLAMA_ARG_CORS_ORIGINS=localhost {program} ")
    dialog.buttons["start"].click()
    await app.until(lambda: any(m.ref.connection_id == "llamacpp" for m in app.models.setup.models), "its model")
    await app.until(row.stop.isVisible, "it can be stopped")
    port = int(app.models.starts.state("llamacpp").base_url.rpartition(":")[2])
    assert is_open(port)
    await app.end()
    assert not is_open(port)
