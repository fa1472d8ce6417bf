"""Keys in the keyring, against a real gnome-keyring and against backends that misbehave.

The keyring's library runs in a process of its own, so the odd backends are scripts for that process.
"""

import asyncio
import contextlib
import importlib
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import SecretsUnavailable, ToolFailure
from desktop.domain.safety import SafetySettings
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.secrets.keyring import KeyringSecrets
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.workers.child import ChildProcess
from desktop.workers.keyring_child import keyring_host
from desktop.workers.model_child import model_host
from tests.harness.closed import IS_ROOT, environment_of
from tests.harness.services import running_keyring
from tests.harness.timeouts import WAIT_S

ODD = """
import os, sys, time, types
from pathlib import Path
sys.path.insert(0, ROOT)
from desktop.workers.keyring_host.host import main
here = Path(__file__).parent
class Backend:
    name = "A test's keyring"
    def get_password(self, service, user):
        file = here / f"{service} {user}"
        return file.read_text() if file.exists() else None
    def set_password(self, service, user, value):
        (here / f"{service} {user}").write_text(value)
    def delete_password(self, service, user):
        (here / f"{service} {user}").unlink()
CODE
Backend.__module__ = MODULE
main(lambda: types.SimpleNamespace(get_keyring=Backend), idle=IDLE)
"""

Odd = Callable[..., ChildProcess]


@pytest.fixture
async def odd(tmp_path: Path) -> AsyncIterator[Odd]:
    """A keyring host whose backend is of this module and has this code; it keeps its entries as files."""
    made: list[ChildProcess] = []

    def make(code: str = "", *, module: str = "keyring.backends.SecretService", idle: float = 60.0) -> ChildProcess:
        script = tmp_path / "odd.py"
        words = {"ROOT": repr(str(Path.cwd())), "CODE": code, "MODULE": repr(module), "IDLE": repr(idle)}
        script.write_text(re.sub("|".join(words), lambda found: words[found[0]], ODD))
        made.append(keyring_host(script=script))
        return made[-1]

    yield make
    for child in made:
        await child.stop()


@pytest.fixture
async def real(keyring_session: Any) -> AsyncIterator[KeyringSecrets]:
    made = KeyringSecrets(keyring_host(), service=f"assent-test-{os.getpid()}", timeout_s=WAIT_S)
    yield made
    await made.close()


@pytest.mark.spec("R-SEC-1", "R-SEC-3")
async def test_a_key_survives_in_a_real_keyring(real: KeyringSecrets) -> None:
    assert await real.get("openai") is None
    assert await real.put("openai", "sk-grüße-1") is True
    assert await real.get("openai") == "sk-grüße-1"
    assert real.place_of("openai") == "kept"
    other = KeyringSecrets(keyring_host(), service=f"assent-test-{os.getpid()}", timeout_s=WAIT_S)
    assert await other.get("openai") == "sk-grüße-1"
    await other.close()
    await real.delete("openai")
    await real.delete("openai")
    assert await real.get("openai") is None


@pytest.mark.spec("R-SEC-1")
async def test_a_value_goes_by_the_pipe_and_is_in_nobodys_arguments_or_environment(
    keyring_session: Any, caplog: pytest.LogCaptureFixture
) -> None:
    child = keyring_host(environ={**os.environ, "OPENAI_API_KEY": "sk-of-the-person"})
    secrets = KeyringSecrets(child, service=f"assent-test-{os.getpid()}", timeout_s=WAIT_S)
    assert await secrets.put("x", "sk-by-the-pipe") is True
    told = Path(f"/proc/{child.health.pid}/cmdline").read_bytes()
    environment = environment_of(child.health.pid)
    assert not IS_ROOT or b"DBUS_SESSION_BUS_ADDRESS" in environment
    assert b"sk-" not in told + environment
    await secrets.delete("x")
    await secrets.close()
    assert "sk-" not in caplog.text + child.health.detail


async def test_the_probe_names_the_real_backend(real: KeyringSecrets) -> None:
    report = await real.probe()
    assert report.usable
    assert report.backend in report.sentence


async def test_a_first_look_at_a_computer_without_a_keyring_makes_none_and_asks_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The service would ask for the password of a new keyring, out of nowhere, while a person only looks around."""
    with running_keyring(begun=False) as daemon:
        for name, value in daemon.environment.items():
            monkeypatch.setenv(name, value)
        secrets = KeyringSecrets(keyring_host(), service="assent-test", timeout_s=WAIT_S)
        report = await secrets.probe()
        assert (report.usable, await secrets.get("openai")) == (True, None)
        await secrets.delete("openai")
        await secrets.close()
        storage = importlib.import_module("secretstorage")  # of Linux alone
        with contextlib.closing(storage.dbus_init()) as bus, pytest.raises(storage.ItemNotFoundException):
            storage.Collection(bus)


@pytest.mark.spec("R-ENV-5")
async def test_entries_of_other_services_can_be_read(real: KeyringSecrets) -> None:
    await real.put("x", "value-1")
    assert await real.lookup(f"assent-test-{os.getpid()}", "x") == "value-1"
    await real.delete("x")


@pytest.mark.spec("R-SEC-2")
@pytest.mark.parametrize("module", ["keyrings.alt.file", "keyring.backends.fail", "my.plaintext"])
async def test_backends_that_do_not_keep_secrets_safely_are_refused(odd: Odd, tmp_path: Path, module: str) -> None:
    secrets = KeyringSecrets(odd(module=module), timeout_s=WAIT_S)
    with pytest.raises(SecretsUnavailable, match="found no safe keyring") as refused:
        await secrets.get("x")
    assert module not in str(refused.value), "a person reads it"
    assert await secrets.put("x", "secret-value") is False
    assert [path.name for path in tmp_path.iterdir()] == ["odd.py"]
    assert await secrets.get("x") == "secret-value"
    assert secrets.place_of("x") == "session"
    report = await secrets.probe()
    assert (report.usable, report.backend) == (False, "")
    await secrets.delete("x")


@pytest.mark.spec("R-SEC-2")
async def test_without_a_bus_keys_last_for_the_session_and_nobody_is_asked() -> None:
    secrets = KeyringSecrets(keyring_host(), timeout_s=WAIT_S)
    assert await secrets.put("openai", "sk-session") is False
    assert await secrets.get("openai") == "sk-session"
    await secrets.close()


@pytest.mark.spec("R-SEC-2")
@pytest.mark.parametrize(
    ("error", "words"), [("KeyringLocked", "is locked"), ("InitError", "did not start"), ("Odd", "failed")]
)
async def test_a_locked_or_broken_keyring_is_said_without_its_own_text(
    odd: Odd, caplog: pytest.LogCaptureFixture, error: str, words: str
) -> None:
    child = odd(
        f"    def get_password(self, *_): raise type({error!r}, (Exception,), {{}})('the value was sk-leak')\n"
        "    set_password = get_password\n",
        module="keyring.backends.kwallet",
    )
    secrets = KeyringSecrets(child, timeout_s=WAIT_S)
    with pytest.raises(SecretsUnavailable, match=words) as caught:
        await secrets.get("x")
    assert caught.value.next_step
    report = await secrets.probe()
    assert (report.usable, report.sentence) == (False, str(caught.value)), "what has a name need not be usable"
    assert await secrets.put("x", "kept-here") is False
    await secrets.close()
    assert "sk-leak" not in str(caught.value) + caplog.text + child.health.detail


async def test_a_hanging_backend_costs_its_timeout_and_never_the_loop(odd: Odd) -> None:
    child = odd("    def get_password(self, *_): time.sleep(600)\n", module="keyring.backends.macOS")
    assert await KeyringSecrets(child, timeout_s=WAIT_S).backend_name() == "A test's keyring"
    secrets = KeyringSecrets(child, timeout_s=0.2)
    for _ in range(2):
        with pytest.raises(SecretsUnavailable, match="did not answer"):
            await secrets.get("x")
    assert await KeyringSecrets(child, timeout_s=WAIT_S).backend_name() == "A test's keyring", "the next has a thread"
    with pytest.raises(SecretsUnavailable, match="did not answer"):
        await secrets.get("x")
    with pytest.raises(SecretsUnavailable, match="does not respond"):
        await secrets.get("x")
    began = time.monotonic()
    await secrets.close()
    assert time.monotonic() - began < WAIT_S, "it does not hold up the end of the app"


SLOW = """
    def set_password(self, service, user, value):
        while not (here / "answered").exists(): time.sleep(0.01)
        if (here / "answered").read_text(): raise type("PromptDismissedException", (Exception,), {})("no")
        (here / f"{service} {user}").write_text(value)
"""


@pytest.mark.spec("R-SEC-2")
@pytest.mark.parametrize(("answer", "place"), [("", "kept"), ("no", "session")])
async def test_a_key_is_kept_when_the_person_answers_the_keyring_late(
    odd: Odd, tmp_path: Path, answer: str, place: str
) -> None:
    child, late = odd(SLOW), asyncio.Event()
    await KeyringSecrets(child, timeout_s=WAIT_S).backend_name()
    secrets = KeyringSecrets(child, timeout_s=0.05)
    secrets.on_late.append(late.set)
    assert secrets.place_of("x") == "unasked"
    assert await secrets.put("x", "a-key") is False
    assert (secrets.place_of("x"), secrets.waiting, await secrets.get("x")) == ("waiting", True, "a-key")
    tmp_path.joinpath("answered").write_text(answer)
    async with asyncio.timeout(WAIT_S):
        await late.wait()
    assert (secrets.place_of("x"), secrets.waiting) == (place, False)
    assert tmp_path.joinpath("assent x").exists() is (place == "kept")
    await secrets.close()


STUCK = """
    def set_password(self, service, user, value):
        (here / "begun").write_text("")
        while value == "mistyped" and not (here / "answered").exists(): time.sleep(0.01)
        (here / f"{service} {user}").write_text(value)
        (here / f"wrote {value}").write_text("")
"""


@pytest.mark.spec("R-SEC-2")
@pytest.mark.parametrize("then", ["put", "delete"])
async def test_a_key_that_was_given_up_is_not_kept_once_the_person_answers(odd: Odd, tmp_path: Path, then: str) -> None:
    child = odd(STUCK)
    await KeyringSecrets(child, timeout_s=WAIT_S).backend_name()
    secrets = KeyringSecrets(child, timeout_s=0.05)
    assert await secrets.put("x", "mistyped") is False
    async with asyncio.timeout(WAIT_S):
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0.01)
    patient = KeyringSecrets(child, timeout_s=WAIT_S)
    if then == "put":
        assert await secrets.put("x", "right") in (True, False)
        async with asyncio.timeout(WAIT_S):
            while secrets.waiting:
                await asyncio.sleep(0.01)
        assert secrets.place_of("x") == "kept"
    else:
        await secrets.delete("x")
    (tmp_path / "answered").write_text("")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.5):  # what must not happen is given the time to
            while not (tmp_path / "wrote mistyped").exists():
                await asyncio.sleep(0.01)
    assert await patient.get("x") == ("right" if then == "put" else None)
    await secrets.close()


@pytest.mark.expects_log("keyring-host ended with exit code 3")
async def test_a_child_that_dies_under_a_call_is_started_again_and_asked_again(odd: Odd, tmp_path: Path) -> None:
    child = odd(
        "    def get_password(self, service, user):\n"
        "        if not (here / 'died').exists(): (here / 'died').touch(); os._exit(3)\n"
        "        return 'still there'\n"
    )
    assert await KeyringSecrets(child, timeout_s=WAIT_S).get("x") == "still there"
    assert (tmp_path / "died").exists()


@pytest.mark.expects_log("keyring-host ended with exit code 3")
async def test_a_child_that_always_dies_is_a_keyring_that_cannot_be_used(odd: Odd) -> None:
    secrets = KeyringSecrets(odd("    def get_password(self, *_): os._exit(3)\n"), timeout_s=WAIT_S)
    with pytest.raises(SecretsUnavailable, match="failed"):
        await secrets.get("x")


async def test_it_ends_when_nobody_asks_and_is_there_again_when_somebody_does(odd: Odd) -> None:
    child = odd(idle=0.3)
    secrets = KeyringSecrets(child, timeout_s=WAIT_S)
    assert await secrets.put("x", "kept") is True
    async with asyncio.timeout(WAIT_S):
        while child.health.state != "stopped":
            await asyncio.sleep(0.02)
    assert child.health.pid is None
    assert await secrets.get("x") == "kept"
    assert (child.health.generation, child.health.restarts) == (2, 0), "an end that was due is no death"


@pytest.mark.spec("R-SEC-4")
async def test_every_value_that_passes_becomes_known_to_redaction(odd: Odd, tmp_path: Path) -> None:
    redactor = SecretRedactor()
    (tmp_path / "assent old").write_text("from-the-keyring")
    secrets = KeyringSecrets(odd(), timeout_s=WAIT_S, on_value=redactor.remember)
    await secrets.get("old")
    await secrets.put("new", "given-by-hand")
    assert redactor.mask_known("from-the-keyring given-by-hand") == "[REDACTED] [REDACTED]"


async def test_empty_and_endless_secrets_are_refused() -> None:
    secrets = KeyringSecrets(keyring_host())
    for value in ("", "x" * 20_000):
        with pytest.raises(ValueError, match="16,384"):
            await secrets.put("x", value)


def test_importing_the_room_imports_nothing_heavy() -> None:
    rooms = [
        "desktop.safety.secrets.keyring",
        "desktop.safety.shell.reader",
        "desktop.safety.confinement.select",
        "desktop.safety.permission.gate",
        "desktop.safety.confinement.environment",
        "desktop.safety.secrets.redaction",
        "desktop.tools.builtin.shell",
        "desktop.tools.builtin.files",
        "desktop.tools.registry",
    ]
    script = (
        f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\nimport {', '.join(rooms)}\n"
        "print([m for m in ('keyring', 'tree_sitter', 'jsonschema_rs', 'yaml', 'PySide6') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert done.stdout == "[]\n", done.stderr


# -- tools and a keyring that does not answer --------------------------------------------------------------------------


@pytest.mark.spec("R-ENV-4", "R-ENV-5", "R-SEC-2")
@pytest.mark.parametrize(
    ("code", "timeout_s", "words"),
    [
        ("    def get_password(self, *_): time.sleep(600)\n", 1.0, "did not answer within 1 seconds"),
        ("    def get_password(self, *_): raise type('KeyringLocked', (Exception,), {})('tok')\n", 30, "is locked"),
    ],
    ids=["hangs", "is locked"],
)
async def test_a_tools_secret_that_cannot_be_had_is_an_error_in_time_that_names_the_variable(
    odd: Odd, code: str, timeout_s: float, words: str
) -> None:
    child = odd(code)
    await KeyringSecrets(child, timeout_s=WAIT_S).backend_name()
    secrets = KeyringSecrets(child, timeout_s=timeout_s)
    settings = SafetySettings(workspace="/w")
    builder = AllowlistEnvironment(lambda: settings, keyring=secrets.lookup)
    began = time.monotonic()
    with pytest.raises(ToolFailure, match=f"TOKEN refers to the keyring entry assent/x: The keyring {words}") as caught:
        await builder.build({"TOKEN": "${keyring:assent/x}"}, tool="deploy")
    assert time.monotonic() - began < WAIT_S
    assert "tok" not in str(caught.value)


@pytest.mark.spec("R-SEC-1")
@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed to see what only root may")
async def test_a_process_with_keys_leaves_no_core_file_and_cannot_be_looked_into(tmp_path: Path) -> None:
    """What may not be dumped belongs to root in /proc, whoever runs it."""
    show = (
        f"import sys, os, resource; sys.path.insert(0, {str(Path.cwd())!r})\n"
        "before = os.stat('/proc/self/environ').st_uid\n"
        "import {module}\n{call}\n"
        "print(before, os.stat('/proc/self/environ').st_uid, resource.getrlimit(resource.RLIMIT_CORE))\n"
    )
    harden = show.format(module="desktop.workers.hardening", call="desktop.workers.hardening.harden()")
    command = ["setpriv", "--reuid=65534", "--clear-groups", "--", "/usr/bin/python3", "-I", "-c", harden]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, cwd="/")
    assert done.stdout == "65534 0 (0, 0)\n", done.stderr


@pytest.mark.spec("R-SEC-1")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="as Linux tells it")
async def test_both_processes_with_keys_have_done_so_when_they_answer(odd: Odd) -> None:
    model = model_host(secrets=tuple)
    await model.call("ping", timeout=60)
    keyring = odd()
    await KeyringSecrets(keyring, timeout_s=WAIT_S).backend_name()
    for child in (model, keyring):
        limits = Path(f"/proc/{child.health.pid}/limits").read_text()
        (core,) = [line.split() for line in limits.splitlines() if line.startswith("Max core file size")]
        assert core[4:6] == ["0", "0"]
    await model.stop()


@pytest.mark.spec("R-SEC-1")
@pytest.mark.expects_log("keyring-host ended with exit code 1")
async def test_an_entry_is_silent_once_the_keyring_did_not_tell_and_not_while_it_is_asked(
    odd: Odd, tmp_path: Path
) -> None:
    slow = """
    def get_password(self, service, user):
        (here / "asked").touch()
        while not (here / "go").exists():
            time.sleep(0.01)
        return "a value"
"""
    secrets = KeyringSecrets(odd(slow), timeout_s=WAIT_S)
    asking = asyncio.create_task(secrets.get("one"))
    async with asyncio.timeout(WAIT_S):
        while not (tmp_path / "asked").exists():
            await asyncio.sleep(0.01)
    assert secrets.place_of("one") == "unasked"
    (tmp_path / "go").touch()
    assert await asking == "a value"
    assert secrets.place_of("one") == "kept"
    gone = KeyringSecrets(odd("    def get_password(self, *_): os._exit(1)\n"), timeout_s=WAIT_S)
    with pytest.raises(SecretsUnavailable):
        await gone.get("two")
    assert gone.place_of("two") == "silent"
