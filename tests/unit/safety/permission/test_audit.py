"""No line of the activity log holds a secret, wherever in the entry it stands; cut output holds no half of one."""

from typing import Any

import pytest

from desktop.domain.approval.permission import AuditEntry
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.permission.audit import MAX_TEXT, RedactedLog
from desktop.safety.secrets.redaction import SecretRedactor

KEY = "tok-A1b2C3d4E5f6G7h8J9k0L1m2"


class Log:
    """What the store is handed."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    async def add(self, *, entry: AuditEntry) -> int:
        self.lines.append(entry)
        return len(self.lines)

    def note(self, *, entry: AuditEntry) -> None:
        self.lines.append(entry)

    def settle(self, *, number: int, outcome: str) -> None:
        self.lines.append((number, outcome))


def knowing() -> SecretRedactor:
    redactor = SecretRedactor()
    redactor.remember(KEY)
    return redactor


@pytest.mark.spec("R-SEC-4", "R-PRM-13")
async def test_every_part_of_a_line_is_cleaned_and_the_digest_stays() -> None:
    log = Log()
    made = RedactedLog(log, knowing())
    entry = AuditEntry(
        1.0,
        "run",
        "thread",
        f"call {KEY}",
        ("a", KEY),
        KEY,
        "write",
        "allow_once",
        "user",
        "digest",
        f"summary {KEY}",
        (f"/w/{KEY}.txt", "/w/plain"),
        f"failed, {KEY}",
        {"reason": f"because {KEY.encode().hex()}", "rule": {"pattern": KEY}, "waited_s": 1.5, "api_key": "short1"},
    )
    assert await made.add(entry) == 1
    made.note(entry=entry)
    made.settle(number=1, outcome=f"failed, {KEY}")
    assert KEY not in repr(log.lines)
    assert KEY.encode().hex() not in repr(log.lines)
    assert "short1" not in repr(log.lines)
    kept = log.lines[0]
    assert (kept.digest, kept.paths[1], kept.extra["waited_s"]) == ("digest", "/w/plain", 1.5)
    assert log.lines[2] == (1, "failed, [REDACTED]")


@pytest.mark.spec("R-SEC-5", "R-TMO-5")
@pytest.mark.parametrize("keep", ["head", "tail"])
async def test_a_secret_at_the_cut_of_long_output_is_masked_whole(keep: Any) -> None:
    """Wherever the cut falls, no piece of the secret is left of it."""
    runner = GroupRunner(mask=knowing().mask_known)
    for shift in (0, 5, 11, 17, 23, 28):
        fill = 1000 - 160 - shift
        text = (
            f"printf '%*s%s%*s' {fill} '' {KEY} {fill} ''"
            if keep == "head"
            else f"printf '%*s%s%*s' 3000 '' {KEY} {fill} ''"
        )
        spec = ProcessSpec(("bash", "-c", text), "/", {"PATH": "/usr/bin:/bin"}, output_limit=1000, keep=keep)
        outcome = await runner.run(spec, CancellationToken())
        assert outcome.truncated
        assert not any(KEY[at : at + 5] in outcome.output for at in range(len(KEY) - 4)), outcome.output[-300:]


@pytest.mark.spec("R-PRM-13")
async def test_a_text_of_the_longest_length_stands_whole_and_a_longer_one_shows_that_it_was_cut() -> None:
    log = Log()
    made = RedactedLog(log, SecretRedactor())
    for length in (MAX_TEXT, MAX_TEXT + 1):
        extra = {"reason": "r" * length}
        await made.add(
            entry=AuditEntry(
                1.0, "run", "thread", "c", (), "t" * length, "write", "deny", "user", "d", "s", extra=extra
            )
        )
    whole, cut = log.lines
    assert (whole.tool, whole.extra["reason"]) == ("t" * MAX_TEXT, "r" * MAX_TEXT)
    assert (cut.tool, cut.extra["reason"]) == ("t" * (MAX_TEXT - 1) + "…", "r" * (MAX_TEXT - 1) + "…")
