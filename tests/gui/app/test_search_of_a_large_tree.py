"""A search over 100,000 files in the running app: the window goes on drawing while its child looks."""

from pathlib import Path

import pytest

from tests.gui.app.kit import HELLO, Heartbeat, call

FOLDERS, FILES = 1_000, 100
MOST_WORK_S = 0.016
"""Processor time of one turn of the Qt thread at which frames are lost."""


def grow(root: Path) -> None:
    for at in range(FOLDERS):
        folder = root / f"{at // 100:02d}" / f"{at:04d}"
        folder.mkdir(parents=True)
        for number in range(FILES):
            word = "needle" if number == at % FILES and at % 10 == 0 else "hay"
            (folder / f"{number:03d}.txt").write_text(f"line one\n{word} of {at}\n")


@pytest.mark.soak
@pytest.mark.spec("R-EDT-2")
async def test_the_window_is_not_held_up_while_a_tree_of_100_000_files_is_searched(start, tmp_path: Path):
    project = tmp_path / "person" / "tree"
    grow(project)
    searches = (call("find_text", pattern="needle"), call("find_text", pattern="hay"), call("find_files", glob="**/*"))
    app = await start(HELLO, *searches, HELLO)
    app.models.projects.use(str(project))
    await app.until_true(lambda: app.page.pane.header.project.label == "tree", "the project")
    app.say("hello")
    await app.answered("Hello there.")
    await app.until_true(app.page.pane.foot.composer.stop.isHidden, "the run is over")
    with Heartbeat() as heart:
        app.say("search")
        await app.until_true(lambda: len(app.calls) == 3 and app.calls[-1].state in ("done", "failed"), "all searches")
    assert [one.state for one in app.calls] == ["done"] * 3
    assert "of 990" in app.calls[0].result
    heart.says("three searches over 100,000 files")
    for one in app.calls:
        print(one.tool, one.summary[:40], f"{one.elapsed_ms} ms")
    assert heart.longest_work < MOST_WORK_S
