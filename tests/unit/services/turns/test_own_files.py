"""The app's own files are exchanged: no run begins any more, and no call is made."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision
from desktop.domain.tools import PreCheck, ToolCallContext
from desktop.files.own_files import OwnFiles
from desktop.models.scripted import ScriptedModel, says
from tests.unit.pipeline.kit import Bench, FakeTool, Person
from tests.unit.services.kit import world

pytestmark = pytest.mark.spec("R-PKG-2")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One of the app."""
    made = tmp_path / "__init__.py"
    made.write_text("version = 1\n")
    return made


def exchanged(file: Path) -> None:
    """As an installer does it."""
    new = file.with_suffix(".new")
    new.write_text("version = 1\n")
    new.replace(file)


def test_files_that_stay_are_no_others(file: Path) -> None:
    own = OwnFiles(file)
    assert own.exchanged() is None
    own.check()


def test_the_same_file_under_another_number_is_no_other(file: Path) -> None:
    """Disks of a network give new numbers, and so does whoever puts files that are alike in one place."""
    own = OwnFiles(file)
    copy = file.with_suffix(".copy")
    shutil.copy2(file, copy)
    copy.replace(file)
    assert own.exchanged() is None
    assert own.exchanged() is None


def test_another_version_of_the_same_time_and_length_is_another(file: Path) -> None:
    """Installers may give each file the time of its package, or one time to all of them."""
    own, was = OwnFiles(file), file.stat()
    copy = file.with_suffix(".copy")
    copy.write_text("version = 2\n")
    os.utime(copy, ns=(was.st_atime_ns, was.st_mtime_ns))
    copy.replace(file)
    assert own.exchanged() is not None


@pytest.mark.parametrize("what", [exchanged, Path.unlink], ids=["exchanged", "removed"])
async def test_a_run_does_not_begin_and_says_what_to_do(tmp_path: Path, file: Path, what: object) -> None:
    """What it starts would be of another version than what judges it."""
    model = ScriptedModel([says("Before."), says("Never.")])
    async with world(tmp_path, model, own_files=OwnFiles(file)) as w:
        thread = await w.thread()
        assert (await w.ask(thread, "one"))[-1].text == "Before."
        what(file)  # type: ignore[operator]
        await w.ask(thread, "two")
        end = w.ends()[-1]
        assert (end.reason, end.code) == ("error", "app.exchanged")
        assert end.next_step == "Restart Assent. Chats and drafts are kept."
        assert len(model.requests) == 1


async def test_a_call_is_not_made(file: Path) -> None:
    tool = FakeTool("look")
    bench = Bench(tool, own_files=OwnFiles(file))
    assert not (await bench.call("look")).result.is_error
    exchanged(file)
    result = (await bench.call("look")).result
    assert (result.code, len(tool.calls)) == ("app.exchanged", 1)


async def test_a_call_that_was_asked_about_before_and_allowed_afterwards_is_not_made(file: Path) -> None:
    def allows(request: object) -> object:
        exchanged(file)
        return Decision("allow_once", "digest", waited_s=0.0)

    tool = FakeTool("write", Category.WRITE)
    bench = Bench(tool, person=Person(allows), own_files=OwnFiles(file))
    result = (await bench.call("write")).result
    assert (result.code, tool.calls) == ("app.exchanged", [])


async def test_a_call_that_was_asked_about_anew_because_its_file_changed_is_not_made(file: Path) -> None:
    def allows(request: object) -> object:
        exchanged(file)
        return Decision("allow_once", "digest", waited_s=0.0)

    looks = iter(range(9))
    tool = FakeTool("write", Category.WRITE)
    tool.checks = lambda _: PreCheck(Category.WRITE, identity={"a": str(min(1, next(looks)))})
    person = Person("allow_once", allows)
    result = (await Bench(tool, person=person, own_files=OwnFiles(file)).call("write")).result
    assert len(person.asked) == 2
    assert (result.code, tool.calls) == ("app.exchanged", [])


class CopyTool(FakeTool):
    """One whose calls can be made in a copy."""

    copies = 0

    async def rehearse(self, args: Mapping[str, Any], check: PreCheck, context: ToolCallContext) -> None:
        self.copies += 1


async def test_a_call_is_not_made_once_more_in_a_copy(file: Path) -> None:
    def again(request: object) -> object:
        exchanged(file)
        return Decision("again", "digest", waited_s=0.0)

    tool = CopyTool("write", Category.WRITE)
    result = (await Bench(tool, person=Person(again), own_files=OwnFiles(file)).call("write")).result
    assert (result.code, tool.copies, tool.calls) == ("app.exchanged", 0, [])
