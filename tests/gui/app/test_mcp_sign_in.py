"""In the whole app: a person signs in to a server on its card, and answers a server that asks during a call."""

import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from desktop.ui.approvals.asking.dialog import AskingDialog
from desktop.ui.settings.mcp.sign_in import SignInPanel
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from tests.gui.app.kit import Heartbeat, call
from tests.gui.app.test_mcp_servers import button, entry, home_with, open_page
from tests.servers.mcp import FOLDER, signed

FORM = {
    "type": "object",
    "properties": {"quay": {"type": "string", "title": "Quay"}, "boats": {"type": "integer", "default": 1}},
    "required": ["quay"],
}
QUESTION = {"message": "Which quay?", "requestedSchema": FORM}


class Browser(QObject):
    """Goes where the app sends it, in a thread."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.opened.append(url.toString())
        threading.Thread(target=self._visit, args=(bytes(url.toEncoded()).decode(),), daemon=True).start()

    def _visit(self, address: str) -> None:
        with urllib.request.urlopen(address, timeout=20) as page:
            page.read()


@pytest.fixture
def browser() -> Iterator[Browser]:
    made = Browser()
    QDesktopServices.setUrlHandler("http", made, "take")
    yield made
    QDesktopServices.unsetUrlHandler("http")


@pytest.fixture
def archive() -> Iterator[str]:
    process = subprocess.Popen(signed(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.expects_threads
@pytest.mark.spec("R-MCP-2", "R-MCP-4", "R-PRM-13")
async def test_a_person_signs_in_on_a_card_and_answers_a_server_that_asks(start, tmp_path, browser, archive):
    asking = entry("asking", [sys.executable, "-I", "-S", str(FOLDER / "asking.py")], category="read")
    home_with(tmp_path, {"name": "archive", "url": archive, "enabled": True, "category": "read"}, asking)
    app = await start(
        call("archive_whoami"), call("asking_ask", questions=[QUESTION]), [{"text": "Done."}], joined=True
    )
    mcp = app.models.mcp
    page = await open_page(app)
    await app.until(lambda: mcp.rows and mcp.rows[0].sign_in.stage == "asks", "who asks")
    panel: SignInPanel = page._cards["archive"].signing
    await app.until(
        lambda: [b for b in panel.findChildren(Button) if b.kind == "primary" and b.isVisible()], "a choice"
    )
    assert panel.chosen == ("archive.read",)
    assert not browser.opened
    with Heartbeat() as heart:
        button(panel, "Sign in with the browser").click()
        await app.until(lambda: mcp.rows[0].state == "running" and mcp.rows[0].sign_in.stage == "in", "signed in")
    heart.says("a sign-in")
    assert len(browser.opened) == 1
    for name in ("archive", "asking"):
        await app.until(lambda name=name: any(r.name == name and r.state == "running" for r in mcp.rows), name)
        mcp.look_at(name)
        mcp.accept()
    table = app.startup._services.skills.table
    await app.until(lambda: table.find("archive-whoami") and table.find("asking-ask"), "the tools")

    app.startup._shell.go("chats")
    app.say("go")
    with Heartbeat() as heart:
        await app.until(lambda: (one := app.window.findChild(AskingDialog)) and one.isVisible(), "the question")
    heart.says("a question")
    dialog: AskingDialog = app.window.findChild(AskingDialog)
    assert "asking asks you" in dialog.accessibleName()
    quay = next(one for one in dialog.findChildren(Field) if one.accessibleName() == "Quay")
    QTest.keyClicks(quay, "Quay 3, 4711")
    dialog.send.click()
    await app.answered("Done.")
    whoami, asked = app.calls
    assert whoami.result == "archive.read"
    assert json.loads(asked.result)["q0"] == {"action": "accept", "content": {"quay": "Quay 3, 4711", "boats": 1}}
    assert not [one for one in app.window.findChildren(QWidget) if isinstance(one, AskingDialog) and one.isVisible()]
    assert "mcp" not in sys.modules
