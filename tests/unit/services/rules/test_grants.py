"""Grants with an end: what one covers, and that it only ever gets smaller."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from desktop.domain.approval.bounded_grants import GrantBounds
from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ConfigurationError, NotFound
from desktop.domain.threads import ThreadRecord
from desktop.services.rules.grants import GrantBook
from desktop.skills.patterns.paths import Where
from desktop.store import Store
from tests.unit.safety.world import World

HOW = "confined"
NOON = 1_000_000.0


class Clocks:
    """Both clocks of the book, moved by hand."""

    def __init__(self) -> None:
        self.wall, self.steady = NOON, 50.0

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


class Bench:
    """A book on a real database."""

    def __init__(self, path: Path) -> None:
        self.path, self.clocks = path, Clocks()
        self.store = Store(path / "data" / "assent.db")
        self.book = self._made()

    def _made(self) -> GrantBook:
        clocks = self.clocks
        return GrantBook(
            self.store.grants, Where("/w", "/home/me"), clock=lambda: clocks.wall, monotonic=lambda: clocks.steady
        )

    async def restart(self) -> None:
        await self.store.close()
        self.store = Store(self.path / "data" / "assent.db")
        await self.store.open()
        self.clocks.steady = 7.0  # it begins anew with the machine
        self.book = self._made()
        await self.book.open()

    async def give(self, pattern: str = "write-file(path=/w/docs/**)", size: int | None = 10, **bounds: Any) -> None:
        made = {"calls": 5, "until": NOON + 3600, **bounds}
        await self.book.give(GrantBounds(pattern, **made), write(), HOW, "t", size)

    async def uses(self, facts: CallFacts, size: int | None = 10, how: str = HOW) -> bool:
        grant = self.book.covering(facts, how, size)
        return grant is not None and await self.book.use(grant, size)


def write(path: str = "/w/docs/a.md", leads: str = "", **fields: Any) -> CallFacts:
    made = {
        "tool": "write-file",
        "category": Category.WRITE,
        "constraint": leads or path,
        "arguments": {"path": path, "content": "x"},
        "resolved": {"path": leads or path},
        "thread_id": "t",
        "project": "/w",
        **fields,
    }
    return CallFacts(**made)


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    await made.store.open()
    await made.store.threads.create(record=ThreadRecord("t", "Mine", NOON, NOON))
    await made.book.open()
    try:
        yield made
    finally:
        await made.store.close()


@pytest.mark.spec("R-ASK-2")
async def test_a_grant_lets_so_many_calls_pass_the_first_of_which_was_asked_about(bench: Bench) -> None:
    await bench.give(calls=3)
    assert [await bench.uses(write()) for _ in range(3)] == [True, True, False]
    assert bench.book.held("t") == ()
    assert [(one.ended, one.used_calls) for one in bench.book.ended("t")] == [("used", 3)]


@pytest.mark.spec("R-ASK-2")
@pytest.mark.parametrize(
    "facts",
    [
        write("/w/src/a.py"),
        write("/w/docs/link/a.md", leads="/etc/cron.d/a"),
        write("/w/docs/../src/a.md", leads="/w/src/a.md"),
        write(thread_id="other"),
        write(project="/elsewhere"),
        write(project=""),
        write(tool="edit-file"),
        write(category=Category.ADMIN),
        write(tool="bash"),
    ],
    ids=["beside", "a link leads out", "dots", "thread", "project", "no project", "tool", "admin", "command"],
)
async def test_it_covers_what_was_seen_and_nothing_beside_it(bench: Bench, facts: CallFacts) -> None:
    await bench.give()
    assert not await bench.uses(facts)
    assert await bench.uses(write("/w/docs/deep/b.md")), "and what it covers still passes"


@pytest.mark.spec("R-ASK-2")
async def test_it_covers_agents_that_are_called_there_and_no_other_way_to_run(bench: Bench) -> None:
    await bench.give()
    assert await bench.uses(write(thread_id="called", above=("t",)))
    assert not await bench.uses(write(), how="with the network")


@pytest.mark.spec("R-ASK-2")
async def test_bytes_are_those_that_calls_write_and_one_too_many_asks(bench: Bench) -> None:
    await bench.give(calls=50, most_bytes=100, size=40)
    assert [await bench.uses(write(), size) for size in (61, None, 60, 1)] == [False, False, True, False]
    assert [(one.ended, one.used_bytes) for one in bench.book.ended("t")] == [("bytes", 100)]


@pytest.mark.spec("R-ASK-2")
async def test_of_many_calls_at_once_the_last_use_goes_to_one(bench: Bench) -> None:
    await bench.give(calls=4)
    grant = bench.book.covering(write(), HOW, 10)
    assert grant is not None
    came = await asyncio.gather(*(bench.book.use(grant, 10) for _ in range(40)))
    assert came.count(True) == 3
    assert (await bench.store.grants.held(), bench.book.covering(write(), HOW, 10)) == ([], None)


@pytest.mark.spec("R-ASK-2")
async def test_the_disk_itself_counts_no_use_over_any_bound(bench: Bench) -> None:
    await bench.give(calls=3, most_bytes=100)
    (held,) = bench.book.held("t")

    async def use(size: int, at: float) -> bool:
        return await bench.store.grants.use(grant_id=held.grant_id, size=size, at=at) is not None

    assert [await use(91, NOON), await use(1, NOON + 3600), await use(1, NOON - 60)] == [False, False, False]
    assert [await use(1, NOON) for _ in range(4)] == [True, True, False, False]


@pytest.mark.spec("R-ASK-2")
async def test_its_time_ends_by_either_clock_and_setting_one_back_gives_nothing(bench: Bench) -> None:
    await bench.give(calls=50, until=NOON + 600)
    bench.clocks.pass_by(599)
    assert await bench.uses(write())
    bench.clocks.wall -= 3  # corrected by a time server
    assert await bench.uses(write())
    bench.clocks.steady += 2
    assert not await bench.uses(write()), "the steady clock says that it is over"
    assert bench.book.held("t") == ()


@pytest.mark.spec("R-ASK-2")
async def test_a_clock_that_is_set_back_while_it_holds_ends_it(bench: Bench) -> None:
    await bench.give(calls=50, until=NOON + 600)
    bench.clocks.pass_by(300)
    assert await bench.uses(write())
    bench.clocks.wall -= 200
    assert not await bench.uses(write())
    assert [one.ended for one in bench.book.ended("t")] == ["clock"]
    bench.clocks.wall += 200
    assert not await bench.uses(write()), "it does not begin again"


@pytest.mark.spec("R-ASK-2")
async def test_a_restart_neither_renews_it_nor_forgets_what_was_used(bench: Bench) -> None:
    await bench.give(calls=4, most_bytes=100)
    assert await bench.uses(write())
    await bench.restart()
    (held,) = bench.book.held("t")
    assert (held.used_calls, held.used_bytes) == (2, 20)
    assert [await bench.uses(write()) for _ in range(3)] == [True, True, False]
    await bench.restart()
    assert bench.book.held("t") == ()


@pytest.mark.spec("R-ASK-2")
async def test_a_clock_set_back_while_assent_was_closed_ends_it(bench: Bench) -> None:
    await bench.give(until=NOON + 3600)
    bench.clocks.pass_by(600)
    assert await bench.uses(write())
    bench.clocks.wall -= 500
    await bench.restart()
    assert (bench.book.held("t"), [one.ended for one in bench.book.ended("t")]) == ((), ["clock"])


@pytest.mark.spec("R-ASK-2")
async def test_what_is_taken_back_lets_nothing_more_through(bench: Bench) -> None:
    await bench.give()
    grant = bench.book.covering(write(), HOW, 10)
    assert grant is not None
    using = asyncio.ensure_future(bench.book.use(grant, 10))
    await asyncio.sleep(0)
    await bench.book.take_back(grant.grant_id)
    assert await using is False, "also where the call was already on its way"
    assert not await bench.uses(write())
    with pytest.raises(NotFound):
        await bench.book.take_back(grant.grant_id)
    await bench.restart()
    assert bench.book.held("t") == ()


@pytest.mark.spec("R-ASK-2")
@pytest.mark.parametrize(
    "bounds",
    [
        {"calls": 0},
        {"calls": 501},
        {"until": NOON},
        {"until": NOON + 25 * 3600},
        {"most_bytes": 9},
        {"most_bytes": 10**10},
        {"most_bytes": 100, "size": None},
        {"pattern": "write-file(path=/w/src/**)"},
        {"pattern": "*"},
        {"pattern": "write-*"},
        {"pattern": "#files"},
        {"pattern": "write-file(path="},
        {"pattern": "write-file bash"},
        {"pattern": "write-file($policy=deny)"},
    ],
)
async def test_what_is_too_wide_or_covers_another_call_is_no_grant(bench: Bench, bounds: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        await bench.give(**bounds)
    assert (bench.book.held("t"), await bench.store.grants.held()) == ((), [])


@pytest.mark.spec("R-ASK-2")
async def test_it_goes_with_its_thread(bench: Bench) -> None:
    await bench.give()
    await bench.store.threads.delete(thread_id="t", at=NOON)
    await bench.store.threads.purge(thread_id="t")
    assert await bench.store.grants.held() == []


KILLED = """
import asyncio, os, signal, sys
sys.path.insert(0, os.getcwd())
from pathlib import Path
from tests.unit.services.rules.test_grants import Bench, write

async def main():
    bench = Bench(Path(sys.argv[1]))
    await bench.store.open()
    await bench.book.open()
    assert await bench.uses(write())
    os.kill(os.getpid(), signal.SIGKILL)  # between the use and the call

asyncio.run(main())
"""


@pytest.mark.spec("R-ASK-2")
async def test_a_process_that_is_killed_between_the_use_and_the_call_has_used_it(bench: Bench) -> None:
    await bench.give(calls=3)
    await bench.store.close()
    for _ in range(2):
        ended = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", KILLED, str(bench.path)],
            cwd=Path(__file__).parents[4],
            env={**os.environ},
            check=False,
        )
        assert ended.returncode == -signal.SIGKILL
    await bench.restart()
    assert not await bench.uses(write())
    assert await bench.store.grants.held() == []


@pytest.mark.spec("R-ASK-2")
async def test_one_that_ended_is_granted_again_only_by_a_person_once_and_for_the_same_calls(bench: Bench) -> None:
    await bench.give(calls=2)
    assert await bench.uses(write())
    (ended,) = bench.book.ended("t")
    bounds = GrantBounds(ended.bounds.pattern, 3, NOON + 3600)
    for wrong in (replace(bounds, pattern="write-file"), replace(bounds, calls=501), replace(bounds, until=NOON)):
        with pytest.raises(ConfigurationError):
            await bench.book.again(ended.grant_id, wrong)
    assert not await bench.uses(write()), "nothing of it began again by itself"
    given = await asyncio.gather(*(bench.book.again(ended.grant_id, bounds) for _ in range(2)), return_exceptions=True)
    assert sum(isinstance(one, NotFound) for one in given) == 1, "a double click gives it once"
    (held,) = bench.book.held("t")
    assert (held.calls_left, held.grant_id != ended.grant_id) == (3, True)
    assert not await bench.uses(write("/w/src/a.py"))
    assert not await bench.uses(write(), how="with the network"), "it is bound to how such calls run, as before"
    assert [await bench.uses(write()) for _ in range(4)] == [True, True, True, False]
    await bench.restart()
    with pytest.raises(NotFound):
        await bench.book.again(held.grant_id, bounds)


@pytest.mark.spec("R-ASK-2", "R-PRM-11")
@pytest.mark.parametrize(
    ("command", "offered", "covers", "asks"),
    [
        ("pytest -q tests/docs", ["pytest -q{, *}"], ["pytest -q", "pytest -q tests/a"], ["pytest tests", "rm -r x"]),
        ("make", ["make{, *}"], ["make docs"], ["makeinfo x", "make; rm x"]),
        (
            "mkdir -p out && touch out/a",
            ["{mkdir -p out,touch out/a}", "{mkdir -p,touch out/a}{, *}"],
            ["mkdir -p other", "touch out/a"],
            ["mkdir -p other && rm out/a"],
        ),
        ("touch 'a b'", ["touch 'a b'{, *}"], ["touch 'a b' c"], ["touch a", "touch 'a c'"]),
        ('touch "$(date).txt"', [], [], []),
    ],
)
async def test_of_a_command_those_can_be_granted_that_begin_alike(
    bench: Bench, tmp_path: Path, command: str, offered: list[str], covers: list[str], asks: list[str]
) -> None:
    reader = World(tmp_path / "disk").reader

    async def facts(text: str) -> CallFacts:
        parts = (await reader.read(text)).parts
        return CallFacts("bash", Category.WRITE, text, arguments={"command": text}, parts=parts, thread_id="t")

    asked = await facts(command)
    found = bench.book.patterns("bash", asked.arguments, (), "", asked.parts)
    assert [one.removeprefix("bash(command=").removesuffix(")") for one in found[1:]] == offered
    if not offered:
        return
    until = NOON + 3600
    await bench.book.give(GrantBounds(found[-1], 50, until), asked, HOW, "t", None)
    assert [await bench.uses(await facts(text), None) for text in covers] == [True] * len(covers)
    assert [await bench.uses(await facts(text), None) for text in asks] == [False] * len(asks)
