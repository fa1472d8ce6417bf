"""The activity log only grows, and everything else that happens to it shows (R-PRM-13)."""

import asyncio
import contextlib
import hashlib
import json
import os
import sqlite3

import pytest

from desktop.domain.approval.audit import AuditFilter
from desktop.domain.approval.audit_chain import canonical
from desktop.domain.errors import StoreError
from desktop.store import Store
from desktop.store.audit_log import head_path
from desktop.store.database import MIGRATIONS
from tests.harness.store import calls_noted
from tests.unit.store.auditing import checked, entry, filled, rechain, unguarded

LAST = 21
"""The last line of ten calls with outcomes."""

CHANGES = {
    "at": 5.0,
    "run": "x",
    "thread": "x",
    "call": "x",
    "chain": ["x"],
    "tool": "x",
    "category": "read",
    "decision": "deny",
    "by": "rule",
    "digest": "x",
    "summary": "x",
    "paths": [],
    "outcome": "x",
    "extra": {"waited_s": 2.5},
    "kind": "outcome",
    "more": 1,
}


def found(report) -> list[tuple[str, int, int]]:
    return [(finding.damage, finding.first, finding.last) for finding in report.findings]


@pytest.mark.spec("R-PRM-13")
async def test_an_untouched_log_is_whole_now_and_after_the_next_start(tmp_path):
    path = tmp_path / "a.db"
    store = await filled(path)
    report = await checked(store)
    assert (report.whole, report.lines, report.head.number, found(report)) == (True, LAST, LAST, [])
    await store.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        lines = connection.execute("SELECT seq, line, hash FROM audit ORDER BY seq").fetchall()
    assert [number for number, _, _ in lines] == list(range(1, LAST + 1))
    kept = "0" * 64
    for _, line, hashed in lines:  # as somebody else would work it out
        kept = hashlib.sha256(f"{kept}{hashlib.sha256(line.encode()).hexdigest()}".encode()).hexdigest()
        assert hashed == kept
    first = json.loads(lines[1][1])
    assert {key: first[key] for key in ("run", "chain", "tool", "digest", "category", "decision", "by")} == {
        "run": "r",
        "chain": ["assistant", "tidy"],
        "tool": "bash",
        "digest": "abc",
        "category": "write",
        "decision": "allow_once",
        "by": "user",
    }
    assert head_path(path).read_text() == f"{LAST:020} {report.head.link}\n"
    await store.open()
    assert (await checked(store)).head == report.head
    assert await store.audit.add(entry=entry(99)) == LAST + 1, "it goes on where it ended"
    again = await checked(store)
    assert (again.whole, again.lines, again.head.number) == (True, LAST + 1, LAST + 1)
    await store.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET line = replace(line, 'bash', 'true') WHERE seq = 2",
        "UPDATE audit SET seq = 99 WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 21",
        "DELETE FROM audit",
        "INSERT OR REPLACE INTO audit (seq, line, hash) SELECT 2, line, hash FROM audit WHERE seq = 4",
        "REPLACE INTO audit (seq, line, hash) SELECT 21, line, hash FROM audit WHERE seq = 4",
        'INSERT INTO audit (seq, line, hash) SELECT 99, \'{"kind":"x","at":1.0}\', \'x\'',
        'INSERT INTO audit (line, hash) SELECT \'{"kind":"x","at":1.0}\', \'x\'',
    ],
)
async def test_the_database_itself_refuses_to_change_a_line(tmp_path, statement):
    store = await filled(tmp_path / "a.db")
    with sqlite3.connect(tmp_path / "a.db") as connection, pytest.raises(sqlite3.IntegrityError, match="activity log"):
        connection.execute(statement)
    connection.close()
    assert (await checked(store)).whole
    await store.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize(
    ("statements", "shows"),
    [
        (("DELETE FROM audit WHERE seq = 8",), [("missing", 8, 8)]),
        (("DELETE FROM audit WHERE seq BETWEEN 8 AND 11",), [("missing", 8, 11)]),
        (("DELETE FROM audit WHERE seq = 1",), [("missing", 1, 1)]),
        (
            (
                "DELETE FROM audit WHERE seq = 8",
                "UPDATE audit SET seq = -seq WHERE seq > 8",
                "UPDATE audit SET seq = -seq - 1 WHERE seq < 0",
            ),
            [("altered", 8, 8), ("cut", 21, 21)],
        ),
        (("DELETE FROM audit WHERE seq = 21",), [("cut", 21, 21)]),
        (("DELETE FROM audit WHERE seq > 11",), [("cut", 12, 21)]),
        (("DELETE FROM audit",), [("cut", 1, 21)]),
        (("UPDATE audit SET line = (SELECT line FROM audit WHERE seq = 6) WHERE seq = 4",), [("altered", 4, 4)]),
        (
            (
                "CREATE TEMP TABLE kept AS SELECT line FROM audit WHERE seq = 4",
                "UPDATE audit SET line = (SELECT line FROM audit WHERE seq = 8) WHERE seq = 4",
                "UPDATE audit SET line = (SELECT line FROM kept) WHERE seq = 8",
            ),
            [("altered", 4, 4), ("altered", 8, 8)],
        ),
        (
            (
                "UPDATE audit SET seq = -4 WHERE seq = 4",
                "UPDATE audit SET seq = 4 WHERE seq = 8",
                "UPDATE audit SET seq = 8 WHERE seq = -4",
            ),
            [("altered", 4, 5), ("altered", 8, 9)],
        ),
        (
            (
                "UPDATE audit SET seq = -seq - 1 WHERE seq >= 8",
                "UPDATE audit SET seq = -seq WHERE seq < 0",
                "INSERT INTO audit (seq, line, hash) SELECT 8, line, hash FROM audit WHERE seq = 6",
            ),
            [("altered", 8, 9), ("cut", 21, 21)],
        ),
        (("UPDATE audit SET hash = 'x' WHERE seq = 8",), [("altered", 8, 9)]),
        (("UPDATE audit SET hash = upper(hash) WHERE seq = 21",), [("altered", 21, 21), ("cut", 21, 21)]),
    ],
)
async def test_whatever_is_done_to_the_lines_shows_with_their_numbers(tmp_path, statements, shows):
    path = tmp_path / "a.db"
    store = await filled(path)
    with unguarded(path) as connection:
        connection.execute("DROP INDEX audit_outcomes")
        for statement in statements:
            connection.execute(statement)
    report = await checked(store)
    assert not report.whole
    assert found(report) == shows
    await store.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize("field", CHANGES)
async def test_a_change_of_any_field_of_an_entry_shows(tmp_path, field):
    path = tmp_path / "a.db"
    store = await filled(path)
    with unguarded(path) as connection:
        (line,) = connection.execute("SELECT line FROM audit WHERE seq = 8").fetchone()
        content = json.loads(line)
        assert field == "more" or field in content
        assert content.get(field) != CHANGES[field]
        changed = canonical(content | {field: CHANGES[field]})
        connection.execute("UPDATE audit SET line = ? WHERE seq = 8", (changed,))
    report = await checked(store)
    assert found(report) == [("altered", 8, 8)]
    assert report.findings[0].before == json.loads(changed)["at"]
    await store.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize("lines", [21, 12, 2])
async def test_a_forger_who_makes_every_link_fit_again_meets_the_end_that_was_kept(tmp_path, lines):
    path = tmp_path / "a.db"
    store = await filled(path)
    with unguarded(path) as connection:
        connection.execute("UPDATE audit SET line = replace(line, 'bash', 'true') WHERE seq = 2")
        connection.execute("DELETE FROM audit WHERE seq > ?", (lines,))
        rechain(connection)
    report = await checked(store)
    assert found(report) == [("cut", min(lines + 1, 21), 21)]
    await store.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize("while_it_runs", [True, False])
@pytest.mark.expects_log("the activity log is not as it was left")
async def test_a_table_replaced_by_a_shorter_valid_one_is_told_for_good(tmp_path, while_it_runs):
    """Also once more lines were written over it, and after later starts: the break is a line of its own."""
    path, other = tmp_path / "a.db", tmp_path / "other.db"
    store, shorter = await filled(path), await filled(other, 3)
    await shorter.close()
    if not while_it_runs:
        await store.close()
    with unguarded(path) as connection:
        connection.execute("DELETE FROM audit")
        connection.execute("ATTACH ? AS other", (str(other),))
        connection.execute("INSERT INTO audit (seq, line, hash) SELECT seq, line, hash FROM other.audit")
    if not while_it_runs:
        await store.open()
    for number in range(30):
        await store.audit.add(entry=entry(number))
    report = await checked(store)
    assert found(report) == [("cut", 8, LAST)]
    assert report.lines == 7 + 1 + 30
    await store.close()
    await store.open()
    assert found(await checked(store)) == [("cut", 8, LAST)]
    (told,) = [row for row in (await store.audit.page(AuditFilter())).rows if row.kind == "break"]
    assert "its end was not the one that was last written down" in told.note
    await store.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.expects_log("the activity log is not as it was left")
async def test_a_log_that_was_emptied_while_the_app_ran_is_told_by_the_next_line(tmp_path):
    store = await filled(tmp_path / "a.db")
    await checked(store)
    with unguarded(tmp_path / "a.db") as connection:
        connection.execute("DELETE FROM audit")
    await asyncio.gather(*(store.audit.add(entry=entry(number)) for number in range(5)))
    assert found(await checked(store)) == [("cut", 1, LAST)]
    await store.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize("content", [None, b"", b"00000000000000000021 nonsense\n", b"x" * 400])
@pytest.mark.expects_log("the activity log is not as it was left")
async def test_an_end_that_was_taken_away_or_spoilt_is_told_for_good(tmp_path, content):
    path = tmp_path / "a.db"
    await (await filled(path)).close()
    if content is None:
        head_path(path).unlink()
    else:
        head_path(path).write_bytes(content)
    for _ in range(2):
        store = Store(path)
        await store.open()
        report = await checked(store)
        assert found(report) == [("unanchored", LAST, LAST)]
        await store.close()


async def test_an_end_that_lags_behind_the_table_is_no_damage(tmp_path):
    """As after a power cut: the file is written after the commit."""
    path = tmp_path / "a.db"
    store = await filled(path, 3)
    await checked(store)
    earlier = head_path(path).read_bytes()
    await store.audit.add(entry=entry(4))
    await store.close()
    head_path(path).write_bytes(earlier)
    await store.open()
    assert (await checked(store)).whole
    await store.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.expects_log("the activity log is not as it was left")
async def test_guards_that_were_taken_away_are_put_back_and_told(tmp_path):
    path = tmp_path / "a.db"
    store = await filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER audit_is_never_cut")
    connection.close()
    assert ("unguarded", 0, 0) in found(await checked(store))
    await store.close()
    await store.open()
    assert found(await checked(store)) == [("unguarded", LAST, LAST)]
    with sqlite3.connect(path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("DELETE FROM audit")
    connection.close()
    await store.close()


@pytest.mark.spec("R-PRM-13")
async def test_columns_that_say_something_else_than_their_line_show(tmp_path):
    """Filters go by the columns: a table made anew with a lie in one would hide an entry without touching a line."""
    path = tmp_path / "a.db"
    store = await filled(path)
    await store.close()
    with unguarded(path) as connection:
        connection.execute("CREATE TABLE lie AS SELECT * FROM audit")
        connection.execute("DROP TABLE audit")
        connection.execute("ALTER TABLE lie RENAME TO audit")
        connection.execute("UPDATE audit SET kind = 'outcome' WHERE seq = 8")
    store = Store(path)
    await store.open()
    assert ("altered", 8, 8) in found(await checked(store))
    await store.close()


@pytest.mark.spec("R-PRM-13")
async def test_runs_that_write_at_the_same_time_keep_one_chain(tmp_path):
    store = await filled(tmp_path / "a.db", 0)

    async def run(name: str) -> list[int]:
        made = []
        for number in range(40):
            line = await store.audit.add(entry=entry(number, run_id=name))
            store.audit.note(entry=entry(number, run_id=name, outcome="denied"))
            store.audit.settle(number=line, outcome="done")
            made.append(line)
        return made

    lines = await asyncio.gather(*(run(f"run{n}") for n in range(4)))
    assert len({number for made in lines for number in made}) == 160
    report = await checked(store)
    assert (report.whole, report.lines) == (True, 1 + 4 * 40 * 3)
    rows = (await store.audit.page(AuditFilter(), limit=1000)).rows
    assert sum(row.outcome_at is not None and row.entry.outcome == "done" for row in rows) == 160
    await store.close()


@pytest.mark.spec("R-PRM-13")
async def test_a_decision_is_in_the_file_before_it_is_returned(tmp_path):
    path = tmp_path / "a.db"
    store = await filled(path, 0)
    number = await store.audit.add(entry=entry(1))
    beside = sqlite3.connect(path)
    assert beside.execute("SELECT count(*) FROM audit WHERE seq = ?", (number,)).fetchone() == (1,)
    assert head_path(path).read_text().startswith(f"{number:020} ")
    beside.close()
    await store.close()


@pytest.mark.spec("R-PRM-13")
async def test_what_cannot_be_written_down_is_an_error_for_who_decides_and_no_line(tmp_path):
    path = tmp_path / "a.db"
    store = await filled(path, 2)
    await checked(store)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON audit WHEN new.line LIKE '%c77%' "
            "BEGIN SELECT RAISE(ABORT, 'no more'); END"
        )
    connection.close()
    outcomes = await asyncio.gather(
        *(store.audit.add(entry=entry(number)) for number in (5, 77, 6)), return_exceptions=True
    )
    assert [isinstance(outcome, Exception) for outcome in outcomes] == [False, True, False]
    calls = [e.call_id for _, e in await calls_noted(store.audit)]
    assert calls == ["c6", "c5", "c1", "c0"]
    assert [f for f in found(await checked(store)) if f[0] != "unguarded"] == []
    await store.close()


@pytest.mark.expects_log
async def test_a_head_that_cannot_be_written_stops_nothing(tmp_path):
    path = tmp_path / "a.db"
    head_path(path).mkdir()
    store = await filled(path, 3)
    assert len(await calls_noted(store.audit)) == 3
    await store.close()
    assert not head_path(path).is_file()


@pytest.mark.expects_log
async def test_a_link_in_the_place_of_the_head_is_not_followed(tmp_path):
    path, victim = tmp_path / "a.db", tmp_path / "victim"
    victim.write_text("precious")
    os.symlink(victim, head_path(path))
    store = await filled(path, 3)
    await store.close()
    assert victim.read_text() == "precious"


async def test_checking_tells_how_far_it_is_and_can_be_stopped(tmp_path):
    store = await filled(tmp_path / "a.db", 200)
    seen: list[tuple[int, int]] = []
    report = await store.audit.check(lambda done, total: seen.append((done, total)), lambda: False)
    assert (seen[0], seen[-1], report.cancelled) == ((0, 401), (401, 401), False)
    stopped = await store.audit.check(lambda _done, _total: None, lambda: True)
    assert (stopped.cancelled, stopped.whole) == (True, False)
    await store.close()


async def test_a_closed_store_says_so_instead_of_reading(tmp_path):
    store = await filled(tmp_path / "a.db", 1)
    await store.close()
    with pytest.raises(StoreError):
        await checked(store)


async def _old(path, entries: int) -> None:
    """A database of format 2, with entries as it kept them."""
    older = path.parent / "older"
    older.mkdir()
    for script in sorted(MIGRATIONS.glob("*.sql"))[:2]:
        (older / script.name).write_text(script.read_text())
    connection = sqlite3.connect(path, isolation_level=None)
    for script in sorted(older.glob("*.sql")):
        connection.executescript(script.read_text())
    values = ("r", "t", "bash", "write", "allow_once", "user", "d", "summary ü", "done", '["a"]', '["/x"]', '{"n":1.5}')
    for number in range(entries):
        connection.execute(
            "INSERT INTO audit VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (number * 3 + 2, number + 0.25, *values[:2], f"c{number}", *values[2:]),
        )
    connection.execute("PRAGMA user_version = 2")
    connection.close()


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize("entries", [0, 1, 50])
async def test_entries_of_an_old_log_enter_the_chain_as_what_they_are(tmp_path, entries):
    path = tmp_path / "a.db"
    await _old(path, entries)
    store = Store(path)
    await store.open()
    report = await checked(store)
    assert (report.whole, report.lines, report.adopted) == (True, entries + 1, entries)
    start, *old = (await store.audit.page(AuditFilter())).rows
    assert start.kind == "start"
    assert (f"The {entries:,} before this one were written without it" in start.note) == (entries > 0)
    assert [row.kind for row in old] == ["adopted"] * entries
    assert [row.entry.call_id for row in old] == [f"c{n}" for n in reversed(range(entries))]
    if entries:
        oldest = old[-1].entry
        assert (oldest.at, oldest.summary, oldest.outcome, oldest.chain, oldest.extra) == (
            0.25,
            "summary ü",
            "done",
            ("a",),
            {"n": 1.5},
        )
    await store.close()


@pytest.mark.spec("R-PRM-13")
async def test_an_outcome_is_kept_once_and_only_for_a_call_that_waits_for_one(tmp_path):
    store = await filled(tmp_path / "a.db", 0)
    number = await store.audit.add(entry=entry(1))
    denied = await store.audit.add(entry=entry(2, decision="deny", outcome="denied"))
    for outcome in ("done", "failed"):
        store.audit.settle(number=number, outcome=outcome)
    store.audit.settle(number=denied, outcome="done")
    store.audit.settle(number=999, outcome="done")
    rows = (await store.audit.page(AuditFilter())).rows
    assert [row.entry.outcome for row in rows if row.kind == "call"] == ["denied", "done"]
    assert (await checked(store)).lines == 4
    await store.close()


async def test_odd_texts_and_numbers_come_back_and_keep_the_chain(tmp_path):
    odd = entry(
        1,
        summary="\ud800 \u202e \x00 ü 😀 \"'\\ \n",
        tool="a\u200bb",
        paths=("/tmp/\udcff", "x" * 5000),
        extra={"rule": {"n": float("nan"), "deep": [1, None, True, {"a": ("b",)}]}},
    )
    store = await filled(tmp_path / "a.db", 0)
    await store.audit.add(entry=odd)
    (row, _) = (await store.audit.page(AuditFilter())).rows
    assert row.entry.summary == "\ufffd \u202e \x00 ü 😀 \"'\\ \n"
    assert row.entry.tool == "a\u200bb"
    assert row.entry.extra["rule"] == {"n": "nan", "deep": [1, None, True, {"a": ["b"]}]}
    assert (await checked(store)).whole
    await store.close()
