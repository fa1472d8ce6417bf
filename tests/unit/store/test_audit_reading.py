"""The activity log read: filtered, paged, its calls found in their threads; and exported, to be proved outside."""

import csv
import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.app.commands.audit_check import DAMAGED, UNREADABLE, WHOLE, follow, main, written
from desktop.domain.approval.audit import AuditFilter
from desktop.domain.errors import KnownError
from desktop.domain.messages import ToolCallBlock
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.store.audit_export import harmless
from tests.harness.help_pages import samples
from tests.unit.store.auditing import checked, entry, filled, unguarded

MIXED = (
    {},
    {"decision": "allow_edited"},
    {"decision": "deny", "by": "rule"},
    {"decision": "deny_run"},
    {"decision": "refused", "by": "boundary", "category": "read", "tool": "read-file", "paths": ("/etc/Größe 100%_x",)},
    {"decision": "allow_run", "by": "remembered", "thread_id": "u", "at": 5000.0, "extra": {"reason": "too wide"}},
)


async def mixed(tmp_path):
    store = await filled(tmp_path / "a.db", 0)
    for number, more in enumerate(MIXED):
        await store.audit.add(entry=entry(number, **more))
    store.audit.settle(number=2, outcome="failed, exit code 7")
    return store


async def exported(store, target: Path, fmt="jsonl", wanted=AuditFilter(), **more) -> int | None:  # noqa: B008
    values = {"progress": lambda _done, _total: None, "stop": lambda: False} | more
    return await store.audit.export(str(target), fmt, wanted, **values)


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize(
    ("wanted", "calls"),
    [
        (AuditFilter(decision="allowed"), "05"),
        (AuditFilter(decision="edited"), "1"),
        (AuditFilter(decision="denied"), "23"),
        (AuditFilter(decision="refused"), "4"),
        (AuditFilter(category="read"), "4"),
        (AuditFilter(tool="bash"), "01235"),
        (AuditFilter(thread_id="u"), "5"),
        (AuditFilter(by="rule"), "2"),
        (AuditFilter(since=5000.0), "5"),
        (AuditFilter(until=1001.0), "0"),
        (AuditFilter(text="EXIT CODE 7"), "0"),
        (AuditFilter(text="größe 100%_"), "4"),
        (AuditFilter(text="too WIDE"), "5"),
        (AuditFilter(text="tidy", decision="denied", by="rule"), "2"),
        (AuditFilter(text="'; DROP TABLE audit; --"), ""),
        (AuditFilter(text="\ud800"), ""),
        (AuditFilter(tool="bash' OR 1=1 --"), ""),
    ],
)
async def test_each_filter_lets_through_what_it_says(tmp_path, wanted, calls):
    store = await mixed(tmp_path)
    rows = [row for row in (await store.audit.page(wanted)).rows if row.kind == "call"]
    assert "".join(row.entry.call_id[1:] for row in reversed(rows)) == calls
    assert await store.audit.count(wanted) in (len(rows), len(rows) + 1)
    await store.close()


@pytest.mark.spec("R-PRM-9", "R-PRM-13")
async def test_a_question_that_closed_with_its_run_is_not_among_the_denials(tmp_path):
    store = await filled(tmp_path / "a.db", 0)
    closed = ({"decision": "unanswered", "by": "cancelled"}, {"decision": "deny", "by": "closed"})
    for number, more in enumerate((*closed, {"decision": "deny", "by": "user"})):
        await store.audit.add(entry=entry(number, **more))
    for decision, calls in (("unanswered", ["c1", "c0"]), ("denied", ["c2"])):
        rows = (await store.audit.page(AuditFilter(decision=decision))).rows
        assert [row.entry.call_id for row in rows if row.kind == "call"] == calls
    await store.close()


async def test_pages_join_to_the_whole_log_while_it_grows(tmp_path):
    store = await filled(tmp_path / "a.db", 25)
    seen, before, more = [], None, True
    while more:
        found = await store.audit.page(AuditFilter(), before=before, limit=10)
        seen += [row.entry.call_id for row in found.rows if row.kind == "call"]
        before, more = found.rows[-1].number, found.more
        await store.audit.add(entry=entry(100 + len(seen)))
    assert seen == [f"c{n}" for n in reversed(range(25))]
    up = await store.audit.page(AuditFilter(), after=before, limit=10)
    assert ([row.entry.call_id for row in up.rows], up.more) == ([f"c{n}" for n in reversed(range(10))], True)
    last = await store.audit.page(AuditFilter(), after=10**6)
    assert (last.rows, last.more) == ((), False)
    await store.close()


async def test_what_occurs_can_be_chosen_in_the_filters(tmp_path):
    store = await mixed(tmp_path)
    found = await store.audit.choices()
    assert (found.tools, found.categories, found.threads) == (("bash", "read-file"), ("read", "write"), ("u", "t"))
    assert found.by == ("boundary", "remembered", "rule", "user")
    await store.close()


async def test_a_call_is_found_in_its_thread_and_a_nested_one_beside_it(tmp_path):
    store = await filled(tmp_path / "a.db", 0)
    await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    for number, at in ((1, 10.0), (2, 20.0)):
        block = ToolCallBlock(f"c{number}", "bash", {"command": "ls"}, "{}")
        await store.messages.add(
            record=MessageRecord(
                f"m{number}", "t", f"m{number - 1}" if number > 1 else None, "assistant", (block,), at, run_id="r"
            )
        )
    for call, at, place in (("c1", 50.0, "c1"), ("c2", 50.0, "c2"), ("inner", 15.0, "c1"), ("inner", 25.0, "c2")):
        found = await store.audit.place(entry(0, call_id=call, at=at))
        assert found is not None
        assert (found.thread_id, found.call_id) == ("t", place)
    late = await store.audit.place(entry(0, call_id="gone", run_id="other"))
    assert late is not None
    assert late.call_id == ""
    await store.threads.delete(thread_id="t", at=1.0)
    assert await store.audit.place(entry(0, call_id="c1")) is None
    assert await store.audit.place(entry(0, thread_id="")) is None
    await store.close()


# -- exports --------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize("wanted", [AuditFilter(), AuditFilter(decision="denied"), AuditFilter(text="nothing at all")])
async def test_an_export_is_proved_outside_also_where_a_filter_left_lines_out(tmp_path, wanted):
    store = await mixed(tmp_path)
    target = tmp_path / "log.jsonl"
    shown = await exported(store, target, wanted=wanted)
    report = follow(target.read_bytes().splitlines(keepends=True))
    assert (report.chain.whole, report.problem) == (True, "")
    assert report.chain.head == (await checked(store)).head
    head, *lines = [json.loads(line) for line in target.read_text("ascii").splitlines()]
    assert (head["shown"], len(lines)) == (shown, 8)
    contents = [line["content"] for line in lines if "content" in line]
    assert sum(content["kind"] != "outcome" for content in contents) == shown
    if wanted.decision:
        assert [content["call"] for content in contents] == ["c2", "c3"]
        assert "too wide" not in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    await store.close()


@pytest.mark.spec("R-PRM-13")
async def test_the_few_lines_of_the_documentation_prove_an_export_too(tmp_path):
    """The algorithm as the page on the activity log prints it, run as it stands there."""
    (text,) = samples("activity-log", "py")
    script = tmp_path / "prove.py"
    script.write_text(text)
    store = await mixed(tmp_path)
    target = tmp_path / "log.jsonl"
    await exported(store, target, wanted=AuditFilter(tool="bash"))
    await store.close()

    def proved() -> bool:
        return subprocess.run([sys.executable, script, target], capture_output=True).returncode == 0

    assert proved()
    lines = target.read_text().splitlines(keepends=True)
    target.write_text("".join(lines[:3] + lines[4:]))
    assert not proved()
    target.write_text("".join(lines).replace('"deny"', '"allow_once"'))
    assert not proved()


CHANGES = {
    "a line is taken out": lambda lines: [*lines[:3], *lines[4:]],
    "the last line is taken out": lambda lines: lines[:-1],
    "all lines are taken out": lambda lines: lines[:1],
    "two lines change places": lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
    "a line stands twice": lambda lines: [*lines[:4], lines[3], *lines[4:]],
    "a decision is another": lambda lines: [line.replace(b'"deny"', b'"allow_once"') for line in lines],
    "a time is another": lambda lines: [line.replace(b"1002.0", b"1002.5") for line in lines],
    "a line is put in": lambda lines: [
        *lines,
        written({"number": 9, "link": "0" * 64, "content": {"kind": "call", "at": 1.0}}),
    ],
    "the end in the head is another": lambda lines: [lines[0].replace(b'"number":8', b'"number":7'), *lines[1:]],
    "the beginning is taken out": lambda lines: [lines[0], *lines[2:]],
    "a hash is another": lambda lines: [
        line.replace(b'"link":"', b'"link":"0', 1).replace(b'","number":4', b'"number":4') for line in lines
    ],
}


@pytest.mark.spec("R-PRM-13")
@pytest.mark.parametrize("change", CHANGES)
async def test_what_was_done_to_an_exported_file_shows(tmp_path, change, capsys):
    store = await mixed(tmp_path)
    target = tmp_path / "log.jsonl"
    await exported(store, target)
    await store.close()
    lines = target.read_bytes().splitlines(keepends=True)
    assert main([str(target)]) == WHOLE
    changed = CHANGES[change](lines)
    assert changed != lines
    target.write_bytes(b"".join(changed))
    assert main([str(target)]) in (DAMAGED, UNREADABLE)
    assert "whole" not in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{}\n",
        b"[]\n",
        b"\xff\xfe\n",
        b'{"format":"something else"}\n',
        b"[" * 100_000 + b"\n",
        b'{"format":"assent activity log, 1","head":{"link":7,"number":"x"}}\n',
        b"x" * 5_000_000,
    ],
)
def test_a_file_that_is_no_export_is_refused_in_words(tmp_path, data, capsys):
    (tmp_path / "x").write_bytes(data)
    assert main([str(tmp_path / "x")]) == UNREADABLE
    assert capsys.readouterr().out == "This is no activity log that Assent exported as JSON Lines.\n"


@pytest.mark.parametrize(
    "record",
    [
        b'{"content":{"at":1.0},"content":{"at":2.0},"link":"x","number":1}\n',
        b'{"link":"x","number":1}\n',
        b'{"content":{"at":1.0},"hash":"x","link":"x","number":1}\n',
        b'{"hash":"x","link":"x","number":true}\n',
        b'{"hash":"x", "link":"x","number":1}\n',
        b'{"content":{"at":"now"},"link":"x","number":1}\n',
        b'{"content":[],"link":"x","number":1}\n',
        b'{"content":{"at":NaN},"link":"x","number":1}\n',
    ],
)
def test_a_line_that_is_not_exactly_as_it_is_written_is_refused(record):
    """A second key of the same name, for one, would show one thing to a reader and prove another."""
    head = written({"format": "assent activity log, 1", "head": {"link": "x", "number": 1}})
    assert follow([head, record]).problem == "Line 2 of the file is not as Assent writes it."


async def test_a_file_is_checked_from_the_command_line_without_a_home(tmp_path):
    store = await mixed(tmp_path)
    await exported(store, tmp_path / "log.jsonl")
    await store.close()
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, "-m", "desktop", "audit-check", str(tmp_path / "log.jsonl")],
        capture_output=True,
        text=True,
        env={**os.environ, "AGENT_HOME": str(home)},
    )
    assert (done.returncode, done.stderr) == (WHOLE, "")
    assert "8 lines, 8 with content; the end is 8 " in done.stdout
    assert not home.exists()
    assert main([str(tmp_path / "absent")]) == UNREADABLE
    with pytest.raises(SystemExit, check=lambda end: end.code == UNREADABLE):
        main([])


@pytest.mark.spec("R-SEC-4")
async def test_a_secret_that_became_known_later_is_masked_and_the_chain_still_holds(tmp_path):
    store = await filled(tmp_path / "a.db", 0)
    await store.audit.add(entry=entry(1, summary='{"command": "echo hunter22"}'))
    await store.audit.add(entry=entry(2))
    store.audit.mask = lambda text: text.replace("hunter22", "[REDACTED]")
    await exported(store, tmp_path / "x.jsonl")
    await exported(store, tmp_path / "x.csv", "csv")
    text = (tmp_path / "x.jsonl").read_text()
    assert "hunter22" not in text + (tmp_path / "x.csv").read_text()
    report = follow(text.encode().splitlines(keepends=True))
    assert (report.chain.whole, report.shown, report.masked) == (True, 2, 1)
    await store.close()


FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "\n@x", "＝1", "＋1", "－1", "＠x", "\x00=1")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_taken_for_a_formula(text):
    assert harmless(text).startswith("'")
    assert harmless("x" + text) != "'x" + text


async def test_a_table_holds_every_row_that_fits_with_nothing_hidden_in_it(tmp_path):
    store = await mixed(tmp_path)
    odd = '{"command": "echo \u202egpj.exe \x1b[31m\u200b"}'
    await store.audit.add(entry=entry(9, summary="=cmd()", tool='a"b,c\nd', extra={"reason": odd, "rule": {"a": 1}}))
    assert await exported(store, tmp_path / "x.csv", "csv", AuditFilter(until=4000.0)) == 6
    data = (tmp_path / "x.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert [row["call"] for row in rows] == ["c0", "c1", "c2", "c3", "c4", "c9"]
    assert (rows[0]["outcome"], rows[-1]["tool"]) == ("failed, exit code 7", 'a"b,c\nd')
    assert rows[-1]["arguments"] == "'=cmd()"
    assert rows[-1]["reason"] == '{"command": "echo \\u{202e}gpj.exe \\u{1b}[31m\\u{200b}"}'
    assert rows[-1]["rule"] == '{"a": 1}'
    await store.close()


async def test_an_export_that_is_stopped_or_refused_leaves_the_old_file_as_it_was(tmp_path):
    store = await filled(tmp_path / "a.db", 300)
    target = tmp_path / "log.jsonl"
    target.write_text("old")
    seen: list[int] = []
    stopped = await exported(store, target, progress=lambda done, _total: seen.append(done), stop=lambda: len(seen) > 1)
    assert (stopped, target.read_text()) == (None, "old")
    with pytest.raises(KnownError, match="could not be written"):
        await exported(store, tmp_path / "no" / "log.jsonl")
    (tmp_path / "folder").mkdir()
    with pytest.raises(KnownError, match="could not be written"):
        await exported(store, tmp_path / "folder")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".assent-")]
    await store.close()


async def test_a_damaged_log_is_exported_as_it_is_and_the_file_says_so(tmp_path, capsys):
    store = await filled(tmp_path / "a.db", 10)
    await checked(store)
    with unguarded(tmp_path / "a.db") as connection:
        connection.execute("UPDATE audit SET line = replace(line, 'bash', 'true') WHERE seq = 8")
        connection.execute("DELETE FROM audit WHERE seq = 12")
    await exported(store, tmp_path / "log.jsonl")
    await store.close()
    assert main([str(tmp_path / "log.jsonl")]) == DAMAGED
    said = capsys.readouterr().out
    assert "  line 8 (after" in said
    assert "  line 12 (after" in said
    assert "2 lines are not as they were written" in said
