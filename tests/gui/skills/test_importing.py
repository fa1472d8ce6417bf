"""Importing skills on the page: from a folder, an archive and a paste; what a dialog says, and what stays behind."""

from __future__ import annotations

import asyncio
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.gui.skills.kit import SkillsBench, skill
from tests.harness.timeouts import until

TIDE = skill("tide", "Reads tide tables.", body="# Tide\n\nRun scripts/fit.py.\n")
CODE = (
    'frontmatter = {"name": "count", "description": "Counts.", "metadata": {"category": "read"}}\n'
    "async def run(ctx, args):\n    return 1\n"
)
MARK = "import pathlib\npathlib.Path({place!r}).write_text('ran')\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder skill with a script that would leave a mark."""
    folder = tmp_path / "from" / "tide"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(TIDE)
    (folder / "forms.md").write_text("# Forms")
    (folder / "scripts" / "fit.py").write_text(MARK.format(place=str(tmp_path / "ran")))
    return folder


def zipped(folder: Path) -> Path:
    path = folder.parent / "tide.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder.parent))
    return path


def words(widget: QWidget) -> str:
    return "\n".join(w.text() for w in widget.findChildren(QWidget) if w.isVisible() and hasattr(w, "text"))


async def looked_at(window: Any) -> Any:
    """The dialog, once it shows what there is."""
    await until(lambda: window.bench.imports.staged is not None and window.bench.imports.fits, "a preview")
    return window.dialog


def staged(bench: SkillsBench) -> list[Path]:
    place = bench.home / "data" / "imports"
    return list(place.iterdir()) if place.exists() else []


def _by_folder(window: Any, source: Path) -> None:
    window.page.import_path(str(source))


def _by_archive(window: Any, source: Path) -> None:
    window.page.import_path(str(zipped(source)))


def _by_drop(window: Any, source: Path) -> None:
    held = QMimeData()
    held.setUrls([QUrl.fromLocalFile(str(source))])
    enter = QDragEnterEvent(
        QPoint(50, 50), Qt.DropAction.CopyAction, held, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(window.page, enter)
    assert window.page.drop.isVisible()
    assert window.page.drop.accessibleName() == "Drop to import a skill"
    drop = QDropEvent(
        QPointF(50, 50), Qt.DropAction.CopyAction, held, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(window.page, drop)


@pytest.mark.parametrize("way", [_by_folder, _by_archive, _by_drop])
async def test_a_skill_is_shown_before_anything_is_kept_and_then_kept_with_its_files(
    way: Callable[[Any, Path], None], open_page: Any, bench: SkillsBench, source: Path, tmp_path: Path
) -> None:
    window = await open_page(bench)
    way(window, source)
    dialog = await looked_at(window)
    await until(lambda: "fit.py" in words(dialog), "the preview")
    said = words(dialog)
    for part in ("tide", "Reads tide tables.", "scripts/fit.py", "3 files"):
        assert part in said, part
    assert dialog.where.currentText() == "Your own skills"
    assert list(bench.mine.iterdir()) == [], "nothing is kept yet"
    dialog.buttons["yes"].click()
    await until(lambda: bench.skills.detail is not None and bench.skills.key[1] == "tide", "its page")
    await bench.rest()
    kept = sorted(file.relative_to(bench.mine).as_posix() for file in bench.mine.rglob("*") if file.is_file())
    assert kept == ["tide/SKILL.md", "tide/forms.md", "tide/scripts/fit.py"]
    assert staged(bench) == []
    assert not (tmp_path / "ran").exists(), "importing runs nothing"
    sentence, token = bench.said[-1]
    assert sentence == "tide imported"
    window.page.toast.undone.emit(token)
    await until(lambda: not (bench.mine / "tide").exists(), "it is taken out again")


async def test_a_paste_is_looked_at_and_kept(open_page: Any, bench: SkillsBench) -> None:
    window = await open_page(bench)
    window.page.import_text()
    paste = window.dialog
    assert not paste.buttons["yes"].isEnabled()
    paste.field.setPlainText(TIDE)
    paste.buttons["yes"].click()
    dialog = await looked_at(window)
    dialog.buttons["yes"].click()
    await until((bench.mine / "tide" / "SKILL.md").exists, "the file")
    await bench.rest()
    assert (bench.mine / "tide" / "SKILL.md").read_text() == TIDE


async def test_cancelling_leaves_nothing_behind(open_page: Any, bench: SkillsBench, source: Path) -> None:
    window = await open_page(bench)
    window.page.import_path(str(source))
    dialog = await looked_at(window)
    assert len(staged(bench)) == 1
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    await until(lambda: not staged(bench), "an empty place")
    assert list(bench.mine.iterdir()) == []
    window.page.import_path(str(source))
    window.dialog.answer("no")
    await bench.rest()
    await until(lambda: not staged(bench), "also while it was still being looked at")
    assert bench.failed == []


async def test_cancelling_right_after_it_was_copied_leaves_nothing_behind(
    open_page: Any, bench: SkillsBench, source: Path
) -> None:
    """What is asked for next waits for a thread: that is when it is cancelled."""
    window = await open_page(bench)
    held, free = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as only:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(only)
        window.bench.imports.look_at(str(source))
        await asyncio.sleep(0)  # its first piece of work is in the queue
        holding = loop.run_in_executor(None, lambda: (held.set(), free.wait()))
        await until(held.is_set, "the first piece of work is done")
        for _ in range(10):
            await asyncio.sleep(0)
        window.bench.imports.cancel()
        free.set()
        await holding
        await bench.rest()
        loop.set_default_executor(ThreadPoolExecutor())
    assert staged(bench) == []


async def test_a_name_that_is_taken_asks_and_both_are_kept_or_one_is_replaced_with_undo(
    open_page: Any, bench: SkillsBench, source: Path
) -> None:
    old = bench.put("tide", skill("tide", "My own."))
    window = await open_page(bench)
    window.page.import_path(str(source))
    dialog = await looked_at(window)
    assert "tide-2" in words(dialog)
    dialog.buttons["yes"].click()
    await until((bench.mine / "tide-2" / "SKILL.md").exists, "both")
    await bench.rest()
    assert "name: tide-2" in (bench.mine / "tide-2" / "SKILL.md").read_text()
    window.page.import_path(str(source))
    dialog = await looked_at(window)
    dialog.collision._group.button(1).click()
    assert "Replaces your tide. Undo brings back what is replaced." in words(dialog)
    dialog.buttons["yes"].click()
    await until((bench.mine / "tide" / "SKILL.md").exists, "the new one")
    await bench.rest()
    assert not old.exists()
    window.page.toast.undone.emit(bench.said[-1][1])
    await until(old.exists, "the old one is back")
    await bench.rest()
    assert not (bench.mine / "tide").exists()


async def test_it_goes_into_a_project_where_that_is_chosen_and_says_what_is_off_there(
    open_page: Any, bench: SkillsBench, source: Path
) -> None:
    window = await open_page(bench)
    window.page.import_path(str(source))
    dialog = await looked_at(window)
    dialog.where.setCurrentIndex(1)
    await until(lambda: bench.imports.fits, "how it fits there")
    await until(lambda: "not trusted" in words(dialog), "what is off there")
    dialog.buttons["yes"].click()
    await until((bench.of_project / "tide" / "SKILL.md").exists, "the file")
    await bench.rest()


async def test_several_are_ticked_one_by_one_and_code_that_runs_unasked_says_so(
    open_page: Any, bench: SkillsBench, source: Path
) -> None:
    (source.parent / "count.skill.py").write_text(CODE)
    (source.parent / "bad.skill.md").write_text("no head")
    window = await open_page(bench)
    window.page.import_path(str(source.parent))
    dialog = await looked_at(window)
    assert not dialog.buttons["yes"].isEnabled(), "none is ticked at first"
    rows = {dialog.list.model().index(at, 0).data(): at for at in range(dialog.list.model().rowCount())}
    dialog.list.setCurrentIndex(dialog.list.model().index(rows["count"], 0))
    await until(lambda: "without asking you" in words(dialog), "what its code may do")
    QTest.keyClick(dialog.list, Qt.Key.Key_Space)
    assert bench.imports.ticked == {rows["count"]}
    dialog.list.tick_all()
    assert len(bench.imports.ticked) == 2, "not the one that is no skill"
    dialog.list.setCurrentIndex(dialog.list.model().index(rows["tide"], 0))
    assert "Agents can run code of count without asking you" in words(dialog), "also while another one is looked at"
    dialog.buttons["yes"].click()
    await until(lambda: (bench.mine / "count.skill.py").exists() and (bench.mine / "tide").exists(), "both")
    await bench.rest()
    assert not (bench.mine / "bad.skill.md").exists()


async def test_what_cannot_be_imported_says_why_and_offers_only_to_close(
    open_page: Any, bench: SkillsBench, tmp_path: Path
) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../out/SKILL.md", TIDE)
    window = await open_page(bench)
    window.page.import_path(str(path))
    await until(lambda: bench.failed, "why")
    assert "outside" in words(window.dialog)
    assert not window.dialog.buttons["yes"].isEnabled()
    assert staged(bench) == []


async def test_a_name_of_the_library_says_that_agents_would_get_this_one_instead(
    open_page: Any, bench: SkillsBench
) -> None:
    window = await open_page(bench)
    window.page.import_text()
    window.dialog.field.setPlainText(skill("assistant", "Mine now."))
    window.dialog.buttons["yes"].click()
    dialog = await looked_at(window)
    await until(lambda: "Agents would get this one instead" in words(dialog), "what it would hide")


async def test_the_menu_has_five_ways_that_keys_reach(open_page: Any, bench: SkillsBench) -> None:
    window = await open_page(bench)
    menu = window.page.make_new_menu()
    assert [action.text() for action in menu.actions()] == [
        "Make a skill…",
        "Import from a folder…",
        "Import from an archive…",
        "Paste a SKILL.md…",
        "Add a repository…",
    ]
    menu.actions()[3].trigger()
    assert window.dialog.accessibleName() == "Paste a skill"


async def test_a_double_with_a_long_name_comes_under_the_name_that_its_row_says(
    open_page: Any, bench: SkillsBench, tmp_path: Path
) -> None:
    long, source = "m" * 63, tmp_path / "from"
    for folder in ("one", "two"):
        (source / folder / long).mkdir(parents=True)
        (source / folder / long / "SKILL.md").write_text(skill(long))
    window = await open_page(bench)
    window.page.import_path(str(source))
    dialog = await looked_at(window)
    dialog.list.tick_all()
    said = {one.name for one in bench.imports.plan.values()}
    dialog.buttons["yes"].click()
    await until(lambda: bench.said, "the end")
    await bench.rest()
    assert {path.name for path in bench.mine.iterdir()} == said == {long, "m" * 62 + "-2"}


async def test_each_row_says_what_it_will_be_called_and_why_and_what_is_taken_is_left_out(
    open_page: Any, bench: SkillsBench, source: Path
) -> None:
    bench.put("tide", skill("tide", "My own."))
    (source.parent / "moon.skill.md").write_text(skill("moon", "Reads the moon."))
    twice = source.parent / "again" / "moon"
    twice.mkdir(parents=True)
    (twice / "SKILL.md").write_text(skill("moon", "Another moon."))
    (source.parent / "bad.skill.md").write_text("---\nname: bad\ndescription: [\n---\n")
    window = await open_page(bench)
    window.page.import_path(str(source.parent))
    dialog = await looked_at(window)
    model = dialog.list.model()

    def line(name: str, last: bool = False) -> str:
        found = [model.index(at, 0) for at in range(model.rowCount()) if model.index(at, 0).data() == name]
        return str(found[-1 if last else 0].data(Qt.ItemDataRole.AccessibleTextRole))

    assert line("bad.skill.md").startswith("bad.skill.md: cannot be imported: ")
    assert line("tide") == "tide: Reads tide tables.", "nothing is made of it until it is ticked"
    dialog.list.tick_all()
    assert line("tide") == "tide: will be tide-2: the tide that you have stays"
    assert line("moon", last=True) == "moon: will be moon-2: there are two called moon here"
    assert dialog.buttons["yes"].label == "Import 3 skills"
    dialog.collision._group.button(1).click()
    assert line("tide") == "tide: replaces your tide"
    dialog.collision._group.button(2).click()
    assert line("tide") == "tide: left out: you have tide already"
    assert dialog.buttons["yes"].label == "Import 2 skills"
    dialog.buttons["yes"].click()
    await until(lambda: bench.said, "the end")
    await bench.rest()
    assert sorted(path.name for path in bench.mine.iterdir()) == ["moon-2", "moon.skill.md", "tide.skill.md"]
    assert "My own." in (bench.mine / "tide.skill.md").read_text()


@pytest.mark.parametrize("mine", ["tide/skill.md", "SKILL.md", "linked"])
async def test_replacing_is_offered_only_where_it_can_be_done(
    open_page: Any, bench: SkillsBench, source: Path, mine: str
) -> None:
    old = bench.put("repo/tide/SKILL.md" if mine == "linked" else mine, skill("tide", "My own."))
    if mine == "linked":
        (bench.mine / "tide").symlink_to(old.parent)
    await open_page(bench)
    imports = bench.bench.imports
    staged = await imports.stage(str(source))
    target = (await imports.targets())[0]
    fits = await imports.fits(staged, staged.candidates[0], target)
    assert fits.replaced == (str(old) if mine == "tide/skill.md" else "")
    kept = await imports.keep(staged, staged.candidates, target, "replace")
    assert len(kept.put_aside) == bool(fits.replaced)
    await imports.undo(kept)
    assert "My own." in old.read_text()
