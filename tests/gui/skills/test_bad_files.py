"""Files as the world leaves them: each is a clear problem in the page; nothing is lost, nothing runs or breaks."""

import os
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget

from tests.gui.skills.kit import SkillsBench, skill
from tests.harness.timeouts import until

BOMB = (
    "---\nname: bomb\ndescription: Boom.\na: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9))
    + "---\nBody.\n"
)
BAD: dict[str, str | bytes] = {
    "bomb": BOMB,
    "latin": b"---\nname: latin\ndescription: caf\xe9\n---\nBody.\n",
    "tabs": "---\nname: tabs\n\tdescription: x\n---\nBody.\n",
    "open": "---\nname: open\ndescription: Never closed.\n",
    "twice": "---\nname: twice\nname: twice\ndescription: Two names.\n---\nBody.\n",
    "huge": "---\nname: huge\ndescription: Big.\nx: " + "y" * 2_000_000 + "\n---\nBody.\n",
    "schema": "---\nname: schema\ndescription: Bad schema.\nmetadata:\n  params: {type: nonsense}\n---\nBody.\n",
    "other/SKILL.md": skill("another-name"),
    "empty": b"",
    "raises.skill.py": "raise SystemExit(1)\n",
    "syntax.skill.py": "def run(:\n",
}


def words(widget: QWidget) -> str:
    return "\n".join(w.text() for w in widget.findChildren(QWidget) if w.isVisible() and hasattr(w, "text"))


@pytest.mark.spec("R-SK-2", "R-SK-4", "R-UI-2")
async def test_every_bad_file_is_listed_with_its_problem_and_can_be_read_and_edited_as_text(
    open_page: Any, bench: SkillsBench
) -> None:
    for name, text in BAD.items():
        bench.put(name, text)
    bench.put("good")
    window = await open_page(bench)
    bench.skills.choose(look="problems", visibility="all")
    model = bench.skills.model
    listed = {row.path: row.key for place in range(model.rowCount()) if (row := model.row_at(place)) is not None}
    for name in BAD:
        path = str(bench.mine / (name if "." in name else f"{name}.skill.md"))
        assert path in listed, name
        window.page.pick(listed[path])
        await until(lambda key=listed[path]: bench.skills.detail is not None and bench.skills.detail.key == key, name)
        await bench.rest()
        assert bench.skills.detail.problems, name
        assert bench.skills.detail.problems[0].message.split("\n")[0][:20] in words(window.skill.overview), name
        for tab in ("form", "text", "callers", "try", "page"):
            window.skill.show_tab(tab)
            await bench.rest()
    assert not bench.broken
    window.page.pick(listed[str(bench.mine / "latin.skill.md")])
    await until(lambda: bench.skills.detail is not None, "latin")
    window.skill.show_tab("text")
    await until(lambda: "not UTF-8" in words(window.skill.edit), "why there is no text")
    await window.show("good")
    assert bench.skills.detail.definition is not None


async def test_two_files_with_one_name_are_both_listed(open_page: Any, bench: SkillsBench) -> None:
    bench.put("one", skill("same", "The first."))
    bench.put("two", skill("same", "The second."))
    await open_page(bench)
    assert bench.names.count("same") == 2


async def test_links_that_lead_in_circles_do_no_harm(open_page: Any, bench: SkillsBench) -> None:
    bench.put("good")
    (bench.mine / "circle").symlink_to(bench.mine, target_is_directory=True)
    window = await open_page(bench)
    assert bench.names == ["good"]
    await window.show("good")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_folder_without_permission_is_named_below_the_list(open_page: Any, bench: SkillsBench) -> None:
    shut = bench.mine / "shut"
    shut.mkdir(mode=0o000)
    try:
        window = await open_page(bench)
        assert str(shut) in window.list.folders.words
    finally:
        shut.chmod(0o700)


async def test_a_file_deleted_between_listing_and_choosing_is_said_to_be_gone(
    open_page: Any, bench: SkillsBench
) -> None:
    path = bench.put("brief")
    window = await open_page(bench)
    key = bench.key("brief")
    path.unlink()
    window.page.pick(key)
    await until(lambda: "This skill no longer exists" in words(window.skill), "it is said")


async def test_a_file_that_cannot_be_written_keeps_the_text_and_says_why(
    open_page: Any, bench: SkillsBench, tmp_path: Path
) -> None:
    path = bench.put("solid")
    window = await open_page(bench)
    await window.edit("solid")
    source = window.skill.edit.source
    source.insertPlainText("x" * 1_100_000)
    window.skill.edit.save_now()
    await until(lambda: bench.failed, "why")
    assert "at most" in bench.failed[-1]
    assert bench.editor.dirty
    assert len(bench.editor.shown) > 1_000_000
    assert path.read_text() == skill("solid")
