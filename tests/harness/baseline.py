"""The schema of a new database as one script, made from a database that went through all migrations.

``python -m tests.harness.baseline`` writes it anew.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from desktop.store import audit_rows
from desktop.store.database import BASELINE, MIGRATIONS, statements

HEAD = """-- What a new database is made of: the schema after migration {number}, at once. Newer migrations follow it.
-- `python -m tests.harness.baseline` writes this file; a test holds that it says what the migrations say.
"""
START = """INSERT INTO audit (seq, line, hash)
SELECT 1, line, audit_link(NULL, line)
FROM (SELECT audit_start((julianday('now') - 2440587.5) * 86400.0, 0) AS line);"""
"""The activity log's first line has the time at which it began: the one row that no script can hold."""


def migrated(number: int | None = None) -> sqlite3.Connection:
    """A database in memory after the migrations up to this one, or after all."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    audit_rows.register(connection)
    for script in sorted(MIGRATIONS.glob("*.sql"))[:number]:
        for statement in statements(script.read_text("utf-8")):
            connection.execute(statement)
    return connection


def contents(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """The schema, and the rows of each table."""
    found = {"": sorted(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"), key=repr)}
    for kind, name, *_ in found[""]:
        if kind == "table":
            found[str(name)] = sorted(connection.execute(f'SELECT * FROM "{name}"'), key=repr)
    return found


def _made(connection: sqlite3.Connection) -> Iterator[str]:
    """What makes the schema. Tables that belong to a search table come with it."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    searches = [name for name, sql in rows if sql.startswith("CREATE VIRTUAL TABLE")]
    kept = [(name, sql) for name, sql in rows if not any(name.startswith(f"{one}_") for one in searches)]
    for _, sql in kept:
        yield f"{sql};"
    for name, sql in kept:
        if sql.startswith("CREATE TABLE") and name != "audit":
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                values = connection.execute(f"SELECT {', '.join(['quote(?)'] * len(row))}", row).fetchone()
                yield f"INSERT INTO {name} VALUES ({', '.join(values)});"
    yield START


def written(number: int) -> str:
    with contextlib.closing(migrated(number)) as connection:
        return HEAD.format(number=number) + f"PRAGMA user_version = {number};\n" + "\n".join(_made(connection)) + "\n"


if __name__ == "__main__":
    Path(BASELINE).write_text(written(len(list(MIGRATIONS.glob("*.sql")))), "utf-8")
