"""A database that cannot be used and a disk without room, seen through the window: named, kept, nothing half-done."""

import asyncio
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import HomeNotWritable
from desktop.ui.widgets.dialogs.base import Dialog
from tests.gui.app.kit import HELLO, Heartbeat, Running, call
from tests.harness.timeouts import WAIT_S


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


async def offered(app: Running) -> Dialog:
    """The dialog over the empty window."""

    def found() -> list[Dialog]:
        return [d for d in app.window.findChildren(Dialog) if d.isVisible()]

    async with asyncio.timeout(WAIT_S):
        while not found():
            await asyncio.sleep(0.01)
    return found()[0]


def words(dialog: Dialog) -> str:
    return dialog._text.text()


# -- databases --------------------------------------------------------------------------------------------------------


async def used_home(start: Any) -> Path:
    """A home with one exchange in it, and its app ended."""
    app = await start(HELLO, joined=True)
    app.say("Keep this")
    await app.answered("Hello there.")
    await app.end()
    return app.home.path


@pytest.mark.expects_log("the database cannot be used: store.too_new")
async def test_a_newer_database_is_named_and_never_touched_and_quitting_is_the_safe_answer(start):
    home = await used_home(start)
    file = made_newer(home)
    before = digest(file)
    app = await start(whole=False, joined=True)
    dialog = await offered(app)
    assert str(file) in words(dialog)
    assert "newer Assent" in words(dialog)
    assert "not touched" in words(dialog)
    assert set(dialog.buttons) == {"quit", "again", "copy", "fresh"}
    dialog.buttons["again"].click()
    await asyncio.sleep(0.05)
    dialog = await offered(app)
    dialog.buttons["quit"].click()
    await app.until_true(lambda: app.quits, "the end")
    await app.end()
    assert digest(file) == before


def made_newer(home: Path) -> Path:
    """The home's database, as a newer Assent would leave it."""
    file = home / "data" / "assent.db"
    newer = sqlite3.connect(file)
    newer.execute("PRAGMA user_version = 999")
    newer.close()
    return file


@pytest.mark.expects_log("the database cannot be used: store.too_new")
async def test_a_newer_database_can_be_copied_and_set_aside_whole_for_an_empty_one(start):
    home = await used_home(start)
    file = made_newer(home)
    before = digest(file)
    app = await start(HELLO, whole=False, joined=True)
    (await offered(app)).buttons["copy"].click()
    await app.until_true(lambda: list((home / "data" / "rescued").glob("*.db")), "the copy")
    (copy,) = (home / "data" / "rescued").glob("*.db")
    dialog = await offered(app)
    assert str(copy) in words(dialog)
    assert digest(copy) == digest(file) == before
    dialog.buttons["fresh"].click()
    await app.opened()
    (aside,) = (home / "data").glob("assent-set-aside-*.db")
    assert digest(aside) == before
    app.say("Good morning")
    await app.answered("Hello there.")
    assert "Keep this" not in app.text


@pytest.mark.expects_log("the database cannot be used: store.corrupt")
@pytest.mark.parametrize("damage", ["garbage", "cut", "empty header"])
async def test_a_damaged_database_is_named_copied_and_set_aside_but_never_overwritten(start, damage):
    home = await used_home(start)
    file = home / "data" / "assent.db"
    if damage == "garbage":
        file.write_bytes(os.urandom(30_000))
    elif damage == "cut":
        os.truncate(file, file.stat().st_size // 2)
    else:
        file.write_bytes(b"SQLite format 3\x00" + bytes(84) + file.read_bytes()[100:])
    before = digest(file)
    app = await start(HELLO, whole=False, joined=True)
    dialog = await offered(app)
    assert str(file) in words(dialog)
    assert "damaged" in words(dialog)
    dialog.buttons["copy"].click()
    await app.until_true(lambda: list((home / "data" / "rescued").glob("*.db")), "the copy")
    (copy,) = (home / "data" / "rescued").glob("*.db")
    dialog = await offered(app)
    assert str(copy) in words(dialog)
    assert digest(copy) == digest(file) == before
    dialog.buttons["fresh"].click()
    await app.opened()
    (aside,) = (home / "data").glob("assent-set-aside-*.db")
    assert digest(aside) == before
    app.say("Good morning")
    await app.answered("Hello there.")
    assert "Keep this" not in app.text


# -- a full disk ------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 6 MB of its own."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root can make a small disk")
    with tempfile.TemporaryDirectory(prefix="as-") as name:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", name], capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip(f"no disk could be mounted: {made.stderr.strip()}")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)


def fill(disk: Path) -> Path:
    """Not one more block."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65_536))
        except OSError:
            pass
        try:
            while True:
                file.write(bytes(512))
        except OSError:
            pass
    assert shutil.disk_usage(disk).free < 4096
    return filler


async def test_on_a_full_disk_what_was_written_stays_in_the_composer_and_goes_out_when_there_is_room(start, small_disk):
    app = await start(HELLO, [{"text": "Second answer."}], home=small_disk / "home", joined=True)
    app.say("first")
    await app.answered("Hello there.")
    filler = fill(small_disk)
    long = "a thought that took an hour " * 400
    app.say(long)
    await app.until(lambda: "disk is full" in app.banner, "the word about it")
    await app.until(lambda: app.composer.text.toPlainText() == long, "what was written, given back")
    assert long not in app.text, "nothing pretends that it was sent"
    assert not app.running
    filler.unlink()
    app.composer.submit()
    await app.answered("Second answer.")
    assert long in app.text
    await app.end()
    again = await start(home=small_disk / "home", joined=True)
    await again.until(lambda: long in again.text and "Second answer." in again.text, "all of it after a restart")


@pytest.mark.expects_log
async def test_an_answer_that_meets_a_full_disk_is_kept_on_screen_and_said_and_the_app_ends_in_order(start, small_disk):
    pieces = [{"times": 200, "steps": [{"text": "a line of the answer that goes on\n\n" * 20}, {"wait": 0.005}]}]
    app = await start(pieces, [{"text": "Room again."}], home=small_disk / "home", joined=True)
    app.say("tell me a lot")
    await app.until(lambda: app.text.count("a line") > 10, "the first lines")
    filler = fill(small_disk)
    with Heartbeat() as heart:
        await app.until(lambda: not app.running, "the end of the run")
    assert heart.longest_work < 1.5, heart.says("a full disk")
    assert app.text.count("a line") > 10, "what had come stays on screen"
    said = app.notices + app.banner
    assert "disk is full" in said
    filler.unlink()
    app.say("and now?")
    await app.answered("Room again.")
    await app.end()
    connection = sqlite3.connect(small_disk / "home" / "data" / "assent.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


async def test_a_write_that_finds_the_disk_full_leaves_the_old_file_and_the_model_hears_why(start, small_disk):
    content = "x" * 800_000
    rounds = (call("write_file", path="a.txt", content=content), [{"text": "No room."}])
    app = await start(*rounds, home=small_disk / "home", joined=True)
    target = app.home.path / "workspace" / "a.txt"
    target.write_text("the old text")
    app.say("write it")
    request = await app.asked()
    filler = fill(small_disk)
    with filler.open("r+b") as file:  # room for the thread, not for the file
        file.truncate(filler.stat().st_size - 300_000)
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("No room.")
    assert target.read_text() == "the old text"
    assert [path.name for path in target.parent.iterdir()] == ["a.txt"], "nothing half-written is left"
    assert app.calls[0].state == "failed"
    assert "The disk is full" in app.calls[0].result


async def test_a_new_home_on_a_full_disk_is_refused_in_words_and_works_when_there_is_room(start, small_disk):
    filler = fill(small_disk)
    with pytest.raises(HomeNotWritable, match="disk is full"):
        await start(home=small_disk / "home", joined=True)
    filler.unlink()
    app = await start(HELLO, home=small_disk / "home", joined=True)
    app.say("Good morning")
    await app.answered("Hello there.")


@pytest.mark.expects_log
async def test_a_home_in_use_opens_on_a_full_disk_or_says_why_not(start, small_disk):
    app = await start(HELLO, home=small_disk / "home", joined=True)
    app.say("Keep this")
    await app.answered("Hello there.")
    await app.end()
    filler = fill(small_disk)
    app = await start([{"text": "Room again."}], whole=False, home=small_disk / "home", joined=True)
    dialog = await offered(app)
    assert "disk is full" in words(dialog)
    assert set(dialog.buttons) == {"quit", "again"}
    filler.unlink()
    dialog.buttons["again"].click()
    await app.opened()
    await app.until(lambda: "Hello there." in app.text, "the old thread")
    app.say("and now?")
    await app.answered("Room again.")
