"""Several chats deleted at once while the store refuses one of them."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
async def page(make_page: Any) -> Any:
    made = await make_page()
    for title in ("First", "Second", "Third"):
        await made.service.create_thread(title=title)
    made.threads.refresh()
    await made.at_rest()
    return made


def ids(page: Any, *titles: str) -> tuple[str, ...]:
    return tuple(one.thread_id for title in titles for one in page.threads.threads if one.title == title)


def refuse(folder: Path, thread_id: str) -> None:
    """The file refuses to delete this one."""
    with sqlite3.connect(folder / "data" / "assent.db") as connection:
        connection.execute(
            f"CREATE TRIGGER refuses BEFORE UPDATE ON threads WHEN new.thread_id = '{thread_id}' "
            "BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
    connection.close()


async def test_of_several_the_deleted_ones_are_told_and_brought_back_and_the_refused_one_stays(
    page: Any, tmp_path: Path
) -> None:
    said: list[tuple[str, str]] = []
    page.threads.said.connect(lambda *what: said.append(what))
    refuse(tmp_path, *ids(page, "Second"))
    every = ids(page, "First", "Second", "Third")
    page.threads.act("delete", every)
    await page.at_rest()
    ((words, token),) = said
    assert words == "2 of 3 chats deleted"
    assert len(page.failures) == 1
    assert [one.title for one in page.threads.threads] == ["Second"]
    page.threads.undo(token)
    await page.at_rest()
    assert {one.thread_id for one in page.threads.threads} == set(every)


async def test_of_one_that_was_not_deleted_only_the_failure_is_told(page: Any, tmp_path: Path) -> None:
    said: list[Any] = []
    page.threads.said.connect(lambda *what: said.append(what))
    refuse(tmp_path, *ids(page, "Second"))
    page.threads.delete(*ids(page, "Second"))
    await page.at_rest()
    assert said == []
    assert len(page.failures) == 1
    assert len(page.threads.threads) == 3


async def test_what_could_not_be_brought_back_can_be_undone_again(page: Any, tmp_path: Path) -> None:
    said: list[tuple[str, str]] = []
    back: list[tuple[str, ...]] = []
    page.threads.said.connect(lambda *what: said.append(what))
    page.threads.came_back.connect(back.append)
    first, second, third = ids(page, "First", "Second", "Third")
    page.threads.act("delete", (first, second, third))
    await page.at_rest()
    refuse(tmp_path, second)
    page.threads.undo(said[-1][1])
    await page.at_rest()
    assert {one.thread_id for one in page.threads.threads} == {first, third}
    assert back == [(first, third)]
    assert len(page.failures) == 1
    words, token = said[-1]
    assert words == "“Second” could not be brought back"
    with sqlite3.connect(tmp_path / "data" / "assent.db") as connection:
        connection.execute("DROP TRIGGER refuses")
    connection.close()
    page.threads.undo(token)
    await page.at_rest()
    assert {one.thread_id for one in page.threads.threads} == {first, second, third}
