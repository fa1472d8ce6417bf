"""What the gate and the pipeline write into the activity log: without secrets, and of a bounded size."""

import asyncio
import json
import sqlite3
from dataclasses import replace

import pytest

from desktop.domain.audit import AuditFilter
from desktop.domain.permission import AuditEntry
from desktop.safety.audit_lines import MAX_LISTED, MAX_TEXT, RedactedLog
from desktop.safety.permission import summary_of
from desktop.safety.redaction import Redactor
from desktop.store import Store

CANARY = 'canary-Zq8#"w ü/9'
LOOKS = "sk-abcdefghijklmnop1234567890"


def everywhere(secret: str) -> AuditEntry:
    """An entry that has the secret in each of its texts."""
    word = f"before {secret} after"
    extra = {
        "reason": word, "raised_because": word, "rule": {"pattern": f"bash(command={secret})", "list": [word]},
        "original": summary_of({"command": word}, None), "edited": word, f"key {secret}": 1,
    }  # fmt: skip
    return AuditEntry(
        1.0, "run", "thread", word, ("assistant", word), word, "write", "allow_once", "user", "d", word,
        ("/tmp/" + secret, word), f"failed, {word}", extra,
    )  # fmt: skip


@pytest.mark.spec("R-SEC-4", "R-PRM-13")
@pytest.mark.parametrize("secret", [CANARY, LOOKS])
async def test_no_byte_of_the_log_or_of_an_export_holds_a_secret(tmp_path, secret):
    redactor = Redactor()
    redactor.remember(CANARY)
    store = Store(tmp_path / "data" / "a.db")
    await store.open()
    log = RedactedLog(store.audit, redactor)
    entry = everywhere(secret)
    assert json.dumps(entry.extra).count(json.dumps(secret)[1:-1]) >= 6
    if secret == LOOKS:  # a summary is cleaned as data where it is made; after that only known values count
        entry = replace(entry, summary=summary_of({"command": entry.summary}, redactor))
    number = await log.add(entry)
    log.note(entry=entry)
    log.settle(number=number, outcome=f"failed, {secret}")
    for fmt in ("jsonl", "csv"):
        await store.audit.export(str(tmp_path / f"x.{fmt}"), fmt, AuditFilter(), lambda _d, _t: None, lambda: False)
    await store.close()
    plain, escaped = secret.encode(), json.dumps(secret)[1:-1].encode()
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        data = path.read_bytes()
        assert plain not in data, path
        assert escaped not in data, path
    connection = sqlite3.connect(tmp_path / "data" / "a.db")
    assert connection.execute("SELECT count(*) FROM audit WHERE line LIKE '%[REDACTED]%'").fetchone()[0] >= 2
    connection.close()


@pytest.mark.spec("R-SEC-4")
def test_a_secret_across_the_end_of_a_summary_leaves_no_half():
    redactor = Redactor()
    redactor.remember("supersecretvalue123")
    for before in range(470, 500):
        summary = summary_of({"c": "y" * before + "supersecretvalue123" + "z" * 50}, redactor)
        assert "super" not in summary, before


def test_texts_lists_and_details_are_bounded():
    kept: list[AuditEntry] = []

    class Log:
        async def add(self, *, entry: AuditEntry) -> int:
            kept.append(entry)
            return 1

    deep: dict = {}
    for _ in range(30):
        deep = {"deep": deep, "wide": ["w" * 10] * 300, "long": "l" * 9000}
    long = AuditEntry(1.0, "r", "t", "c" * 50_000, ("a" * 9000,) * 900, "tool", "write", "deny", "user", "d", "s",
                      ("p" * 9000,) * 900, "o" * 9000, deep)  # fmt: skip
    asyncio.run(RedactedLog(Log(), Redactor()).add(long))  # type: ignore[arg-type]
    (entry,) = kept
    assert {len(entry.call_id), len(entry.chain[0]), len(entry.paths[0]), len(entry.outcome)} == {MAX_TEXT}
    assert (len(entry.chain), len(entry.paths), entry.paths[-1]) == (MAX_LISTED, MAX_LISTED + 1, "and 700 more")
    assert json.dumps(entry.extra).count("deep") <= 6
    assert len(json.dumps(entry.extra)) < 60_000
