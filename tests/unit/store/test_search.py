"""Full-text search: every script, what people really type, exact places of the matches."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.domain.messages import ToolResultBlock
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.store.search_text import PART, match_expression, searchable, snippet_ranges
from tests.harness.store import search_faults
from tests.unit.store.conftest import say

TEXTS = {
    "m1": "The quick brown fox opens the database",
    "m2": "数据库在后台线程上写入，界面不会停顿。abc数据",
    "m3": "メッセージは木の形で保存され、何も上書きされません。",
    "m4": "검색은 모든 대화에서 즉시 결과를 보여 줍니다.",
    "m5": "Größe und Ärzte in der Straße; naïve café",
    "m6": "def read_file(path: str) -> None:  # snake_case and C++ and a-b",
    "m7": "ข้อความถูกบันทึกไว้เสมอ",
    "m8": "Поиск находит слова и в старых сообщениях.",
}


@pytest.fixture
async def filled(store, thread):
    parent = None
    for name, text in TEXTS.items():
        await store.messages.add(record=say(name, parent, text))
        parent = name
    return store


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("quick", ["m1"]),
        ("QUI", ["m1"]),
        ("fox quick", ["m1"]),
        ('"quick brown"', ["m1"]),
        ('"brown quick"', []),
        ("uick", []),
        ("数据", ["m2"]),
        ("据", ["m2"]),
        ("库在", ["m2"]),
        ("库数", []),
        ("保存", ["m3"]),
        ("メッセ", ["m3"]),
        ("세지", []),
        ("대화", ["m4"]),
        ("결과", ["m4"]),
        ("grosse", []),
        ("größe", ["m5"]),
        ("grosze", []),
        ("arzt", ["m5"]),
        ("cafe NAIVE", ["m5"]),
        ("read_file", ["m6"]),
        ("snake", ["m6"]),
        ("บันทึก", ["m7"]),
        ("поис", ["m8"]),
        ("a-b", ["m6"]),
        ("abc数", ["m2"]),
        ("", []),
        ("   ", []),
        ("***", []),
        ('"', []),
        ("quick AND", []),
        ("NOT fox", []),
        ("body:fox", []),
        ("fox*", ["m1"]),
        ("(fox", ["m1"]),
        ("fox OR zebra", []),
        ("x' --", []),
        ("the", ["m1"]),
    ],
)
async def test_what_people_type_finds_what_they_mean(filled, typed, expected):
    assert [hit.message_id for hit in await filled.search.messages(text=typed)] == expected


async def test_a_hit_says_where_in_its_snippet_the_words_are(filled):
    for typed, words in (("quick data", ["quick", "database"]), ("数据", ["数据", "数据"]), ("größe", ["Größe"])):
        (hit,) = await filled.search.messages(text=typed)
        assert [hit.snippet[start : start + length] for start, length in hit.ranges] == words
        assert (hit.thread_id, hit.title, PART in hit.snippet) == ("t", "First", False)


async def test_newest_first_one_thread_only_and_no_more_than_asked(store):
    for name in ("t", "u"):
        await store.threads.create(record=ThreadRecord(name, name, 1, 1))
    for number in range(40):
        name = "tu"[number % 2]
        parent = f"m{number - 2}" if number > 1 else None
        await store.messages.add(record=say(f"m{number}", parent, "the same words", thread_id=name))
    assert [h.message_id for h in await store.search.messages(text="same", limit=3)] == ["m39", "m38", "m37"]
    assert [h.message_id for h in await store.search.messages(text="same", thread_id="t", limit=2)] == ["m38", "m36"]


async def test_branches_that_are_not_shown_are_found_and_tool_results_are_not(store, thread):
    await store.messages.add(record=say("m1", None, "root"))
    await store.messages.add(record=say("m2", "m1", "walrus"))
    await store.messages.add(record=say("m3", "m1", "other"))
    result = ToolResultBlock("c", "bash", "walrus in a result")
    await store.messages.add(record=MessageRecord("m4", "t", "m3", "tool", (result,), 3.0))
    assert [h.message_id for h in await store.search.messages(text="walrus")] == ["m2"]
    assert await search_faults(store) == []


async def test_titles_are_found_and_marked(store):
    await store.threads.create(record=ThreadRecord("a", "Renaming 数据库 files", 1, 1))
    (hit,) = await store.search.titles(text="数据 ren")
    assert (hit.thread_id, hit.message_id, hit.snippet) == ("a", "", "Renaming 数据库 files")
    assert hit.ranges == ((0, 8), (9, 2))


async def test_an_index_that_went_wrong_would_be_noticed(filled):
    await filled._thread.write(lambda c: c.execute("DELETE FROM message_search WHERE rowid = 1"))
    await filled._thread.write(lambda c: c.execute("INSERT INTO message_search (rowid, body) VALUES (99, 'ghost')"))
    assert len(await search_faults(filled)) == 2


def test_a_long_text_is_parted_like_a_short_one():
    text = "数据abc " * 20_000
    assert searchable(text).replace(PART, "") == text
    assert searchable("ascii only") == "ascii only"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_query_is_harmless_syntax(typed):
    expression = match_expression(typed)
    assert expression.count('"') % 2 == 0
    assert len(expression) < 5_000


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=40), st.text(max_size=5))
def test_ranges_lie_inside_the_snippet(before, word):
    text, ranges = snippet_ranges(f"{before}\ufdd0{word}\ufdd1 tail\ufdd0")
    assert all(0 <= start < start + length <= len(text) for start, length in ranges)
