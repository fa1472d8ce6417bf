"""tools.yaml in the whole app: read at the start, called by a model, asked about, taken over when it changes."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from desktop.presenter.settings.cli_example import EXAMPLE
from desktop.ui.settings.cli_tools.page import CliPage
from tests.gui.app.kit import HELLO, call

ECHO = "import json, sys; print(json.dumps(sys.argv[1:]))"


def entry(name: str, category: str) -> str:
    return (
        f"  - name: {name}\n    description: Prints its text\n    category: {category}\n    cmd: {sys.executable}\n"
        f'    args: ["-I", "-c", "{ECHO}", "{{{{text}}}}"]\n    parameters: {{text: {{type: string}}}}\n'
    )


def home_with(tmp_path: Path, text: str) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "tools.yaml").write_text(text)
    return home / "tools.yaml"


@pytest.mark.spec("R-CLI-1", "R-CLI-11", "R-PRM-1", "R-PRM-2")
async def test_a_model_calls_a_declared_tool_and_its_words_stay_literal(start, tmp_path):
    home_with(tmp_path, "tools:\n" + entry("look_up", "read") + entry("say_it", "write") + "  - broken\n")
    text = "a; rm -rf ~ $(id) `id` | cat > x\n'\""
    app = await start(call("look_up", text=text), call("say_it", text=text), [{"text": "Said."}])
    cli = app.models.cli
    await app.until(lambda: [row.name for row in cli.rows] == ["look-up", "say-it"], "the tools")
    assert [problem.line for problem in cli.file_problems] == [14]
    app.say("say it")
    request = await app.asked()
    assert request.preview["argv"][-1] == text
    assert request.category.value == "write"
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Said.")
    assert [json.loads(part.result) for part in app.calls] == [[text], [text]]
    assert sorted(path.name for path in (app.home.path / "workspace").iterdir()) == []


@pytest.mark.spec("R-CLI-14", "R-FS-10")
async def test_what_another_program_changes_counts_when_the_person_comes_back(start, tmp_path):
    path = home_with(tmp_path, "tools:\n" + entry("one", "read"))
    app = await start(
        call("write_file", path="../tools.yaml", content="tools: []"), call("two", text="x"), [{"text": "Done."}]
    )
    cli = app.models.cli
    await app.until(lambda: [row.name for row in cli.rows] == ["one"], "the tools")
    path.write_text("tools:\n" + entry("two", "read"))
    cli.look_at_file()
    await app.until(lambda: [row.name for row in cli.rows] == ["two"], "the other tools")
    app.say("go")
    await app.answered("Done.")
    refused, called = app.calls
    assert "belongs to Assent itself" in refused.result
    assert json.loads(called.result) == ["x"]
    assert "two" in path.read_text()


@pytest.mark.spec("R-CLI-1")
async def test_the_page_of_the_settings_shows_them(start, tmp_path):
    home_with(tmp_path, "tools:\n" + entry("one", "admin"))
    app = await start([{"text": "Hello."}])
    await app.until(lambda: app.models.cli.rows, "the tools")
    page = app.window.page("settings")
    page.show_settings("CLI tools")
    shown = page.findChild(CliPage)
    await app.until(lambda: shown.editor.source.text() == app.models.cli.shown != "", "the text")


@pytest.mark.spec("R-CLI-14", "S-RES-2")
async def test_what_another_program_writes_into_the_persons_files_counts_without_being_asked_for(start):
    app = await start(HELLO)
    home, models = app.home.path, app.models
    await app.until(lambda: app.startup._services.person_files.live, "the files are watched")
    write_all_three(home)
    await app.until(lambda: all_three(models), "the tool, the server and the setting")


@pytest.mark.spec("R-CLI-14", "S-RES-2")
async def test_what_no_notification_told_of_counts_when_the_window_comes_to_the_front(start):
    app = await start(HELLO)
    home, models = app.home.path, app.models
    await asyncio.to_thread(app.startup._services.person_files.stop)  # as on a network folder
    write_all_three(home)
    QGuiApplication.instance().applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    await app.until(lambda: all_three(models), "the tool, the server and the setting")


def write_all_three(home: Path) -> None:
    """As another program does."""
    (home / "tools.yaml").write_text(EXAMPLE)
    (home / "mcp.yaml").write_text("servers:\n  - name: notes\n    command: notes-server\n")
    config = home / "config.yaml"
    config.write_text(config.read_text() + "appearance:\n  theme: dark\n")


def all_three(models) -> bool:
    """Whether what was written there counts."""
    names = [row.name for rows in (models.cli.rows, models.mcp.rows) for row in rows]
    return names == ["count-lines", "notes"] and models.settings.get("appearance.theme") == "dark"


@pytest.mark.parametrize("which", ["cli", "mcp"])
async def test_a_text_that_was_not_saved_is_here_again_at_the_next_start(start, which):
    app = await start()
    file = getattr(app.models, which)
    file.open()
    await app.until_true(lambda: file._file is not None, "the text")
    file.edited("# half a thought\n")
    kept = app.home.path / "data" / "unsaved"
    await app.until_true(lambda: list(kept.glob("*.json")), "what is kept of it")
    await app.end()
    again = await start()
    file = getattr(again.models, which)
    told: list[str] = []
    file.outside.connect(told.append)
    file.open()
    await again.until_true(lambda: file.shown == "# half a thought\n", "the text that was not saved")
    assert file.dirty
    assert told[-1] == "restored"
    await again.end()
