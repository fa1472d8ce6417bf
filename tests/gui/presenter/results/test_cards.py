"""The cards of results: each at the answer whose calls wrote it, and how they are counted."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio

from desktop.domain.files.changes import KeptChange
from desktop.domain.files.results import ResultFile, results_of
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.results.cards import ResultCards, read_action
from desktop.presenter.results.viewer import left_words
from desktop.presenter.transcript.items import ResultPart, TextPart, ToolPart, TranscriptItem
from tests.harness.timeouts import until
from tests.unit.domain.test_results import block, change

pytestmark = pytest.mark.spec("R-DOC-2")
Open = Callable[..., Awaitable[ResultCards]]


class Written:
    """What calls wrote in a chat."""

    def __init__(self, *records: KeptChange) -> None:
        self._records = records

    async def of_thread(self, _thread_id: str) -> list[ResultFile]:
        return results_of(self._records)


@pytest_asyncio.fixture
async def cards_of() -> AsyncIterator[Open]:
    """The cards of a chat in which this was written."""
    bridge = Bridge()

    async def opened(*records: KeptChange) -> ResultCards:
        made, told = ResultCards(Written(*records), lambda _: None, bridge), list[bool]()  # type: ignore[arg-type]
        made.changed.connect(lambda: told.append(True))
        made.open_thread("t")
        await until(lambda: told, "what was written")
        return made

    yield opened
    await bridge.shutdown()


def answer(number: int, text: str = "", calls: tuple[str, ...] = ()) -> TranscriptItem:
    tools = [ToolPart(f"m{number}:{one}", one, "write-file", "", "write", "done") for one in calls]
    return TranscriptItem(f"m{number}", "a", "Workbench", "", (*tools, TextPart(f"m{number}:text", text)))


def shown(item: TranscriptItem) -> list[tuple[str, int]]:
    cards = [part for part in item.parts if isinstance(part, ResultPart)]
    return [(card.name, read_action(card.opens)[1]) for card in cards]


async def test_a_card_stands_at_the_answer_whose_call_wrote_it(cards_of: Open) -> None:
    made = await cards_of(
        change("/p/a.html", "", "one", call="c1"),
        change("/p/a.html", "one", "two", call="c2"),
        change("/p/b.csv", "", "x", call="c3"),
    )
    items = made.reset((answer(1, calls=("c1",)), answer(2, calls=("c2", "c3")), answer(3)))
    assert [shown(item) for item in items] == [[("a.html", 1)], [("a.html", 2), ("b.csv", 1)], []]
    changed: list[TranscriptItem] = []
    made.redrawn.connect(changed.append)
    made.mark_open("/p/a.html", 2)
    assert [item.message_id for item in changed] == ["m2"]
    assert "open at the right" in next(part.facts for part in changed[0].parts if isinstance(part, ResultPart))


async def test_ids_that_each_answer_uses_again_count_from_the_last_one(cards_of: Open) -> None:
    made = await cards_of(
        change("/p/a.html", "", "one", call="call_1"),
        change("/p/a.html", "one", "two", call="call_1"),
        change("/p/a.html", "two", "three", call="call_1"),
    )
    items = made.reset(tuple(answer(number, calls=("call_1",)) for number in (2, 3)))
    assert [shown(item) for item in items] == [[("a.html", 2)], [("a.html", 3)]]
    (older,) = made.prepend((answer(1, calls=("call_1",)),))
    assert shown(older) == [("a.html", 1)]


class Counted(tuple[ToolPart, ...]):
    """The parts of an answer, and how often they were gone through."""

    times = 0

    def __iter__(self) -> Iterator[ToolPart]:
        Counted.times += 1
        return super().__iter__()


async def test_answers_are_gone_through_a_few_times_each_and_not_once_for_each_call(cards_of: Open) -> None:
    calls = [f"c{number}" for number in range(60)]
    made = await cards_of(*(change(f"/p/{name}", "", call, call=call) for call in calls for name in ("a.py", "b.py")))
    items = tuple(
        TranscriptItem(f"m{call}", "a", "Workbench", "", Counted((ToolPart(call, call, "bash", "", "write", "done"),)))
        for call in calls
    )
    made.reset(items)
    made.mark_open("/p/a.py", 1)
    assert 0 < Counted.times < 10 * len(items)


async def test_a_call_that_came_to_an_answer_since_counts_where_ids_are_used_again(cards_of: Open) -> None:
    made = await cards_of(
        change("/p/a.html", "", "one", call="call_1"), change("/p/a.html", "one", "two", call="call_1")
    )
    made.reset((answer(1, calls=("call_1",)), answer(2)))
    assert shown(made.put(answer(2, calls=("call_1",)))) == [("a.html", 2)]


async def test_of_many_files_four_have_a_card_and_pages_come_first(cards_of: Open) -> None:
    names = ["a.py", "b.py", "c.py", "d.json", "e.svg", "f.html"]
    made = await cards_of(*(change(f"/p/{name}", "", name, call="c") for name in names))
    (item,) = made.reset((answer(1, calls=("c",)),))
    assert [name for name, _ in shown(item)] == ["f.html", "e.svg", "d.json", "a.py", "2 more files"]


async def test_later_blocks_of_a_name_are_its_versions_and_a_live_text_has_none_yet(cards_of: Open) -> None:
    made = await cards_of()
    first, second = block("html surge.html", "1" * 700), block("html surge.html", "2" * 700)
    made.reset((answer(1, first),))
    live = answer(2, second)
    parts = (TextPart("m2:text", second, live=True),)
    assert shown(made.put(TranscriptItem("m2", "a", "Workbench", "", parts, live=True))) == []
    assert shown(made.put(live)) == [("surge.html", 2)]
    result = made.result("answer:surge.html")
    assert result is not None
    assert [one.text[0] for one in result.versions] == ["1", "2"]
    (older,) = made.prepend((answer(0, first),))
    assert shown(older) == [("surge.html", 1)]
    assert made.result("answer:other.html") is None


def test_what_was_left_out_is_counted_in_words() -> None:
    left = (("script", "a"), ("picture", "b"), ("script", "c"), ("page in the page", "d"), ("way to another page", "e"))
    assert left_words(left) == "2 scripts, 1 picture, 1 page in the page and 1 way to another page left out"
    assert left_words((("form, which sends nothing", "x"),) * 2) == "2 forms (which sends nothing) left out"
    assert left_words((("script", "a"),), 9) == "1 script and 9 more things left out"
    assert left_words(()) == ""
