"""From an older format to a newer one: all or nothing, with a copy of the old file made first."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from desktop.domain.errors import BugError
from desktop.domain.files.changes import ABSENT, ChangedFile, ChangeOrigin, FileChange, FileState, KeptChange
from desktop.domain.threads import ThreadRecord
from desktop.store import Store
from desktop.store.audit_rows import start_line
from desktop.store.database import BASELINE, MIGRATIONS, open_database, statements
from tests.harness.baseline import contents, migrated, written


@pytest.fixture
def newer(tmp_path) -> Path:
    """A release with one more migration."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    return folder


def add(folder: Path, script: str) -> int:
    number = len(list(folder.glob("*.sql"))) + 1
    (folder / f"{number:04}_next.sql").write_text(script)
    return number


async def old(path: Path) -> None:
    store = Store(path)
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "Old", 1, 1))
    await store.close()


async def test_an_older_database_is_copied_and_brought_up_to_date(tmp_path, newer):
    path = tmp_path / "data" / "assent.db"
    await old(path)
    number = add(newer, "ALTER TABLE threads ADD COLUMN colour TEXT NOT NULL DEFAULT 'none; really';\n")
    store = Store(path, migrations=newer)
    await store.open()
    assert await store.version() == number
    assert [t.title for t in await store.threads.list_all()] == ["Old"]
    await store.close()
    (backup,) = (path.parent / "backups").glob("*.db")
    assert f"format{number - 1}" in backup.name
    assert backup.stat().st_mode & 0o777 == 0o600
    copy = Store(backup)
    await copy.open()
    assert await copy.version() == number - 1
    assert [t.title for t in await copy.threads.list_all()] == ["Old"]
    await copy.close()


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE colours (name TEXT);\nINSERT INTO nowhere VALUES (1);\n",
        "CREATE TABLE colours (name TEXT);\nINSERT INTO runs SELECT 'r','gone','','',1,2,'','',0,0,0,0,0,'{}',0,0.0;\n",
        "CREATE TABLE colours (name TEXT);\nCREATE TABLE unfinished (",
    ],
)
async def test_a_migration_that_fails_changes_nothing(tmp_path, newer, script):
    path = tmp_path / "data" / "assent.db"
    await old(path)
    number = add(newer, script)
    with pytest.raises(BugError):
        await Store(path, migrations=newer).open()
    store = Store(path)
    await store.open()
    assert await store.version() == number - 1
    assert [t.title for t in await store.threads.list_all()] == ["Old"]
    await store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'colours'").fetchone() is None
    connection.close()


async def test_a_new_database_needs_no_backup(tmp_path):
    await old(tmp_path / "data" / "assent.db")
    assert not (tmp_path / "data" / "backups").exists()


def test_migrations_are_numbered_without_gaps(tmp_path, newer):
    (newer / "0099_too_far.sql").write_text("SELECT 1;")
    with pytest.raises(BugError, match="not numbered"):
        open_database(tmp_path / "a.db", newer)
    (newer / "0099_too_far.sql").rename(newer / "nine.sql")
    with pytest.raises(BugError, match=r"nine\.sql"):
        open_database(tmp_path / "a.db", newer)


def test_a_new_database_is_what_all_migrations_make_of_an_empty_one(tmp_path):
    with contextlib.closing(open_database(tmp_path / "a.db")) as made, contextlib.closing(migrated()) as expected:
        found, wanted = contents(made), contents(expected)
        starts = [rows.pop("audit") for rows in (found, wanted)]
        assert found == wanted
        assert made.execute("PRAGMA user_version").fetchone()[0] == len(list(MIGRATIONS.glob("*.sql")))
        for ((number, line, link, *_),) in starts:
            assert (number, line) == (1, start_line(json.loads(line)["at"], 0))
            assert made.execute("SELECT audit_link(NULL, ?)", (line,)).fetchone() == (link,)


def test_the_script_of_a_new_database_says_what_the_migrations_say():
    text = BASELINE.read_text("utf-8")
    number = int(text.partition("PRAGMA user_version = ")[2].partition(";")[0])
    assert text == written(number), "python -m tests.harness.baseline writes it anew"


def test_a_trigger_with_semicolons_is_one_statement():
    script = "CREATE TRIGGER a AFTER DELETE ON b BEGIN\n DELETE FROM c; DELETE FROM d;\nEND;\nSELECT ';';\n"
    assert len(list(statements(script))) == 2


def test_every_table_is_strict_and_every_pointer_is_checked(tmp_path):
    connection = open_database(tmp_path / "a.db", MIGRATIONS)
    query = "SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
    not_ours = ("sqlite_", "message_search", "title_search")
    ours = {name: strict for name, strict in connection.execute(query) if not name.startswith(not_ours)}
    assert len(ours) >= 12
    assert all(ours.values())
    assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def _older(path: Path, folder: Path, before: int) -> sqlite3.Connection:
    """A database as it was before a migration."""
    shutil.copytree(MIGRATIONS, folder)
    for script in folder.glob("*.sql"):
        if int(script.name[:4]) >= before:
            script.unlink()
    return open_database(path, folder)


@pytest.mark.spec("R-JRN-2", "R-JRN-5")
async def test_two_logs_of_a_run_become_one_in_the_order_in_which_things_happened(tmp_path):
    path = tmp_path / "data" / "assent.db"
    connection = _older(path, tmp_path / "before", 10)
    thread = "INSERT INTO threads VALUES (1,'t','T','none','','','',0,'',1,1,NULL,NULL,0,0,0,0,NULL)"
    connection.execute(thread)
    runs = {"both": "response", "old": "response", "cut": "interrupted", "lost": "error"}
    connection.executemany("INSERT INTO runs VALUES (?,'t','a','m',1,9,?,'',0,0,0,0,NULL,'{}')", list(runs.items()))
    ask, end = ("llm", 1.0, 2.0, "completed"), ("end", 5.0, 5.0, "completed")
    told = {
        "both": [ask, ("tool", 2.1, 3.0, "completed"), ("llm", 3.1, 4.0, "failed"), end],
        "old": [ask, ("tool", 2.1, 3.0, "failed"), end],
        "cut": [ask, ("end", 5.0, 5.0, "cancelled")],
        "lost": [("summary", 1.0, 1.0, "completed"), end],
    }
    for run, entries in told.items():
        for number, (kind, started, ended, status) in enumerate(entries, 1):
            plain = {
                "name": f"the {kind}",
                "arguments_digest": "a1",
                "result_digest": "b2",
                "summary": "words",
                "started": started,
                "ended": ended,
                "value": {"upto": "m"} if kind == "summary" else None,
            }
            connection.execute("INSERT INTO journal VALUES (?,?,?,?,?)", (run, number, kind, status, json.dumps(plain)))
    effect = "INSERT INTO effects VALUES (?,?,'m:c',1,?,'write','d',?,?,?,'')"
    for run in ("both", "cut", "lost"):
        connection.execute(effect, (run, 1, "tool", "begun", 2.2, ""))
    connection.execute(effect, ("both", 2, "tool", "completed", 2.9, '{"text":"x"}'))
    connection.execute(effect, ("both", 3, "end", "completed", 4.9, ""))
    connection.close()

    store = Store(path)
    await store.open()
    logs = {run: await store.effects.load(run) for run in runs}
    assert await store.effects.summaries("t") == [{"upto": "m"}]
    await store.close()
    asked = ["1 llm begun 1", "2 llm completed 2"]
    assert {run: [f"{e.sequence} {e.kind} {e.phase} {e.at:g}" for e in log] for run, log in logs.items()} == {
        "both": [
            *asked,
            "3 tool begun 2.2",
            "4 tool completed 2.9",
            "5 llm begun 3.1",
            "6 llm failed 4",
            "7 end completed 4.9",
        ],
        "old": [*asked, "3 tool begun 2.1", "4 tool failed 3", "5 end completed 5"],
        "cut": [*asked, "3 tool begun 2.2"],
        "lost": ["1 summary completed 1", "2 tool begun 2.2", "3 end completed 5"],
    }
    first = logs["both"][1]
    assert (first.name, first.digest, first.value, first.summary) == ("the llm", "a1", '"sha256:b2"', "words")
    assert logs["both"][3].value == '{"text":"x"}'


async def test_a_database_from_before_changes_were_kept_has_none_and_takes_some(tmp_path):
    path = tmp_path / "data" / "assent.db"
    _older(path, tmp_path / "before", 15).close()
    store = Store(path)
    await store.open()
    record = KeptChange(
        "c", 1.0, (ChangedFile(FileChange("/x\udcff", ABSENT, FileState("folder"))),), ChangeOrigin("t")
    )
    await store.changes.begin(record=record, contents={"0" * 64: 5})
    assert [one.files[0].change.path for one in await store.changes.begun()] == ["/x\udcff"]
    assert (await store.changes.amount()).size == 5
    await store.close()


@pytest.mark.spec("R-PRJ-1")
async def test_threads_from_before_there_were_projects_have_none(tmp_path):
    path = tmp_path / "data" / "assent.db"
    connection = _older(path, tmp_path / "before", 13)
    connection.execute("INSERT INTO threads VALUES (1,'t','Old','none','','','',0,'',1,2,NULL,NULL,0,0,0,0,NULL,0)")
    connection.close()
    store = Store(path)
    await store.open()
    assert [(t.title, t.project, t.mode) for t in await store.threads.list_all()] == [("Old", "", "ask")]
    assert await store.threads.at_edge() == []
    await store.close()
