"""A report of a problem says where, and never what: whatever was logged, nothing of it stands in it."""

import asyncio
import logging
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from desktop.app.home.logs import Logs
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.help.log_errors import KnownCode, last_errors
from desktop.services.help.masking import Person, ReportMask
from desktop.services.help.report import CHECKING, ProblemReport
from desktop.store import worker
from tests.harness.help_pages import ROOT
from tests.harness.timeouts import WAIT_S

KEY = "sk-live-0123456789abcdefABCDEF"
KEPT = "correct horse battery"
HOME = "/home/ida.lovelace"
AGENT = f"{HOME}/.agent"
PLANTED = (
    KEY,
    KEPT,
    "ghp_0123456789abcdefghij0123",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "hunter2hunter2",
    "Ida",
    "Lovelace",
    "ida.lovelace",
    "tidepool",
    f"{HOME}/letters/divorce.odt",
    "/mnt/clients/Acme/invoice.pdf",
    "/mnt/My Clients/Acme and Sons/bill of sale.pdf",
    "/usr/lib/x and /srv/Acme/y",
    "C:\\Users\\Ida\\divorce.odt",
    "divorce",
    "Acme",
    "ida@example.org",
    "https://wiki.tidepool.lan/secret-plan",
    "https://plans.example.net/merger",
    "192.168.7.23",
    "fe80:0:0:0:1:2:3:4",
    "please fire Bob on Monday",
    "Bobisill",
)
"""What must not stand in a report, whatever way it came into a log, an error or a check."""
WORDS = ("hunter2hunter2", "divorce", "Acme", "please fire Bob on Monday", "Bobisill")
"""Of those, what only means something beside other words: a check does not say such, and a log is never passed on."""
MESSAGES = (
    *PLANTED,
    f"api_key={KEY} in {HOME}/letters/divorce.odt of Ida Lovelace on tidepool",
    f"Authorization: Bearer {KEY}",
    'please fire Bob on Monday\n  File "/x/desktop/store/worker.py", line 3, in Bobisill\n    Bobisill.Error: Acme',
    "\n2026-11-27 09:00:00,000 ERROR desktop.Bobisill:1: Acme\n    BobisillError: divorce",
    "password: hunter2hunter2 at https://wiki.tidepool.lan/secret-plan 192.168.7.23 fe80:0:0:0:1:2:3:4",
)


def redactor() -> SecretRedactor:
    made = SecretRedactor()
    made.remember(KEPT)
    return made


def mask() -> ReportMask:
    names = ("ida.lovelace", "Ida Lovelace", "Ida", "Lovelace", "tidepool", "tidepool.lan")
    return ReportMask(redactor(), Person(names, (HOME,), (AGENT,)))


def logged(folder: Path) -> str:
    """What a report says of a log in which everything was planted, in every way."""
    logs = Logs(folder, lambda text: text)  # as if nothing of it had been known as a secret
    ours = logging.getLogger("desktop.store.worker")
    for message in MESSAGES:
        ours.error("a task failed: %s", message)
        ours.error(message.replace("%", ""))
        logging.getLogger(f"litellm.{PLANTED[5]}").warning("%s", message)
        try:
            os.stat(f"/{message[:40]}\0")
        except ValueError as error:
            ours.error("%s", message, exc_info=error)
        try:
            raise type("BobisillError", (RuntimeError,), {})(message)
        except RuntimeError as error:
            ours.error("%s", message, exc_info=error)
    logs.stop()
    return "\n".join(last_errors(folder, KnownCode(ROOT)))


@pytest.mark.expects_log("a task failed", ".*")
def test_nothing_that_was_said_in_a_log_stands_in_a_report(tmp_path: Path) -> None:
    said = logged(tmp_path)
    raw = (tmp_path / "assent.log").read_text()
    assert all(one in raw for one in PLANTED)
    assert [one for one in PLANTED if one.casefold() in said.casefold()] == []
    assert "ValueError" in said


def test_an_error_is_told_by_its_place_its_words_in_the_code_and_its_traceback(tmp_path: Path) -> None:
    source = (ROOT / "desktop/app/home/crash.py").read_text().splitlines()
    line = next(at for at, text in enumerate(source, 1) if "the crash report could not be written" in text)
    entry = (
        f"2026-11-27 09:00:00,123 ERROR desktop.app.home.crash:{line}: the crash report could not be written: Bob\n"
        '    Traceback (most recent call last):\n      File "/opt/x/desktop/app/home/crash.py", line 12, in take\n'
        "        secret(Bobisill)\n    store.wrong: OSError: [Errno 28] Bobisill\n    OSError: [Errno 28] Bobisill\n"
    )
    (tmp_path / "assent.log").write_text(entry * 3 + "2026-11-27 09:01:00,000 INFO desktop.app.main:1: Bobisill\n")
    (told,) = last_errors(tmp_path, KnownCode(ROOT))
    assert told.splitlines() == [
        f"2026-11-27 09:00:00 error in desktop/app/home/crash.py:{line}: the crash report could not be written: %s"
        " (3 times)",
        "    desktop/app/home/crash.py:12 in take",
        "    OSError",
    ]


def test_the_code_of_a_known_error_is_told(tmp_path: Path) -> None:
    (tmp_path / "assent.log").write_text(
        "2026-11-27 09:00:00,123 WARNING desktop.app.home.crash:1: main: app.starting: Bobisill.secret is there\n"
    )
    (told,) = last_errors(tmp_path, KnownCode(ROOT))
    assert told == "2026-11-27 09:00:00 warning in desktop/app/home/crash.py:1 [app.starting]"


def test_a_log_that_is_not_one_tells_nothing(tmp_path: Path) -> None:
    code = KnownCode(ROOT)
    assert last_errors(tmp_path, code) == ()
    (tmp_path / "assent.log").write_bytes(
        os.urandom(60_000) + b"\n2026-11-27 09:00:00,123 ERROR ../../etc/passwd:1: x\n"
    )
    assert last_errors(tmp_path, code) == ()
    (tmp_path / "assent.log").unlink()
    (tmp_path / "assent.log").mkdir()
    assert last_errors(tmp_path, code) == ()


@pytest.mark.parametrize("message", [one for one in MESSAGES if one not in WORDS and "\n" not in one])
def test_checks_and_facts_are_masked(message: str) -> None:
    said = mask().mask(f"Database: broken: {message} (see {AGENT}/data/assent.db, /usr/lib/libfoo.so)")
    assert [one for one in PLANTED if one.casefold() in said.casefold()] == []
    assert "<Assent's home>/data" in said
    assert "/usr/lib/libfoo.so" in said


def test_what_helps_is_left_as_it_is() -> None:
    for fact in (
        "Python 3.11.7, Qt 6.11.3, SQLite 3.40.1",
        "Linux 6.18.44-fc x86_64, Debian GNU/Linux 12 (bookworm)",
        "Confinement: ok: Confined by bubblewrap: commands write only in allowed folders.",
        "Activity log: ok: Lines: 1,204, each vouching for all before it, up to 71104daec9cd0409.",
        "Model host: ok: It starts, and loads its library in 3.2 s.",
        "Linux 5.15.0-1053-azure-fde-with-a-long-name-generic x86_64, Fedora Linux 40 (Workstation Edition)",
        "Keyring: notice: The key is missing, and its token: none.",
        "Keyring: ok: GNOME Keyring (org.freedesktop.secrets) takes and gives a key.",
        "Model host: broken: it ended with 1: ModuleNotFoundError: No module named litellm.utils",
        "Assent 0.1.0, checkout, 648fa8e19480",
    ):
        assert mask().mask(fact) == fact


def report(folder: Path, lines: Sequence[str] = ("Qt: ok: fine.",)) -> ProblemReport:
    async def check() -> Sequence[str]:
        return lines

    return ProblemReport(lambda: ("Assent 0.1.0",), check, folder, KnownCode(ROOT), mask())


async def test_a_report_begins_with_what_the_person_says_and_the_checks_come_into_their_place(tmp_path: Path) -> None:
    made = report(tmp_path, ("Qt: ok: fine.", f"Keyring: notice: {HOME} {KEPT}"))
    begun = await asyncio.to_thread(made.begin)
    assert begun.startswith("What happened\n")
    assert begun.count(CHECKING) == 1
    assert "None in the log." in begun
    checks = await made.checks()
    assert "Qt: ok: fine." in checks
    assert HOME not in checks
    assert KEPT not in checks


async def test_checks_that_cannot_be_started_say_so_without_saying_where(tmp_path: Path) -> None:
    """The program lies below the person's own folder there, and was taken away."""
    program = tmp_path / "assent/bin/python"

    async def check() -> Sequence[str]:
        spec = ProcessSpec(
            (os.fspath(program),), os.fspath(tmp_path / "gone"), {}, timeout_s=WAIT_S, output_limit=1_000
        )
        await GroupRunner().run(spec, CancellationToken())
        return ()

    person = ReportMask(SecretRedactor(), Person(homes=(os.fspath(tmp_path),)))
    checks = await ProblemReport(lambda: (), check, tmp_path, KnownCode(ROOT), person).checks()
    assert "cannot be started" in checks
    assert os.fspath(tmp_path) not in checks


def test_a_key_that_the_person_writes_into_it_does_not_leave_the_window(tmp_path: Path) -> None:
    ready = report(tmp_path).ready(f"I typed {KEPT} and {KEY}; then it stopped.")
    assert KEPT not in ready
    assert KEY not in ready
    assert ready.endswith("then it stopped.")


@pytest.mark.expects_log("one")
def test_what_is_logged_says_its_line_in_the_code(tmp_path: Path) -> None:
    logs = Logs(tmp_path, lambda text: text)
    logging.getLogger(worker.__name__).warning("one")
    logs.stop()
    assert f" WARNING {worker.__name__}:" in (tmp_path / "assent.log").read_text()
