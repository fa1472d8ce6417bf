"""Keys in the keyring, against a real gnome-keyring and against backends that misbehave (semantics.md 33)."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from desktop.domain.errors import SecretsUnavailable
from desktop.safety.redaction import Redactor
from desktop.safety.secrets import KeyringSecrets, usable_backend


def backend_of(module: str, **methods: Any) -> Any:
    kind = type("Keyring", (), {"__module__": module, "name": module, **methods})
    return kind()


def keyring_with(*backends: Any) -> Any:
    chosen = backends[0] if len(backends) == 1 else SimpleNamespace(backends=backends)
    return SimpleNamespace(get_keyring=lambda: chosen)


class Memory:
    """A well-behaved backend's methods over a dictionary."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}

    def backend(self, module: str = "keyring.backends.SecretService") -> Any:
        values = self.values
        return backend_of(
            module,
            get_password=lambda _, service, user: values.get((service, user)),
            set_password=lambda _, service, user, value: values.__setitem__((service, user), value),
            delete_password=lambda _, service, user: values.pop((service, user)),
        )


@pytest.fixture
async def real(keyring_session: Any) -> AsyncIterator[KeyringSecrets]:
    made = KeyringSecrets(service=f"assent-test-{os.getpid()}")
    yield made
    made.close()


@pytest.mark.spec("R-SEC-1", "R-SEC-3")
async def test_a_key_survives_in_a_real_keyring(real: KeyringSecrets) -> None:
    assert await real.get("openai") is None
    assert await real.put("openai", "sk-grüße-1") is True
    assert await real.get("openai") == "sk-grüße-1"
    assert real.session_only() == ()
    other = KeyringSecrets(service=f"assent-test-{os.getpid()}")
    assert await other.get("openai") == "sk-grüße-1"
    other.close()
    await real.delete("openai")
    await real.delete("openai")
    assert await real.get("openai") is None


async def test_the_probe_names_the_real_backend(real: KeyringSecrets) -> None:
    report = await real.probe()
    assert report.usable
    assert report.backend in report.sentence


@pytest.mark.spec("R-ENV-5")
async def test_entries_of_other_services_can_be_read(real: KeyringSecrets) -> None:
    await real.put("x", "value-1")
    assert await real.lookup(f"assent-test-{os.getpid()}", "x") == "value-1"
    await real.delete("x")


@pytest.mark.spec("R-SEC-2")
@pytest.mark.parametrize(
    "module",
    [
        "keyrings.alt.file",
        "keyring.backends.fail",
        "keyring.backends.null",
        "keyrings.cryptfile.cryptfile",
        "my.plaintext",
    ],
)
async def test_backends_that_do_not_keep_secrets_safely_are_refused(module: str) -> None:
    memory = Memory()
    secrets = KeyringSecrets(load=lambda: keyring_with(memory.backend(module)))
    with pytest.raises(SecretsUnavailable, match=module):
        await secrets.get("x")
    assert await secrets.put("x", "secret-value") is False
    assert memory.values == {}
    assert await secrets.get("x") == "secret-value"
    assert secrets.session_only() == ("x",)
    report = await secrets.probe()
    assert (report.usable, report.backend) == (False, "")
    await secrets.delete("x")
    secrets.close()


@pytest.mark.spec("R-SEC-2")
def test_of_a_chain_only_the_safe_one_is_used() -> None:
    safe = Memory().backend()
    assert usable_backend(keyring_with(Memory().backend("keyrings.alt.file"), safe)) is safe
    with pytest.raises(SecretsUnavailable):
        usable_backend(SimpleNamespace(get_keyring=lambda: SimpleNamespace(backends=[])))


@pytest.mark.spec("R-SEC-2")
async def test_without_a_bus_keys_last_for_the_session_and_nobody_is_asked() -> None:
    secrets = KeyringSecrets()
    assert await secrets.put("openai", "sk-session") is False
    assert await secrets.get("openai") == "sk-session"
    secrets.close()


@pytest.mark.spec("R-SEC-2")
@pytest.mark.parametrize(
    ("error", "words"), [("KeyringLocked", "is locked"), ("InitError", "did not start"), ("Odd", "failed")]
)
async def test_a_locked_or_broken_keyring_is_said_without_its_own_text(error: str, words: str) -> None:
    def fail(*_: Any) -> None:
        raise type(error, (Exception,), {})("the value was sk-leak")

    secrets = KeyringSecrets(
        load=lambda: keyring_with(backend_of("keyring.backends.kwallet", get_password=fail, set_password=fail))
    )
    with pytest.raises(SecretsUnavailable, match=words) as caught:
        await secrets.get("x")
    assert "sk-leak" not in str(caught.value)
    assert await secrets.put("x", "kept-here") is False
    secrets.close()


@pytest.mark.expects_threads
async def test_a_hanging_backend_costs_its_timeout_and_never_the_loop() -> None:
    hang = threading.Event()
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    loaded = keyring_with(backend_of("keyring.backends.macOS", get_password=lambda *_: hang.wait(20)))
    secrets = KeyringSecrets(load=lambda: loaded, timeout_s=0.2)
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        heart = group.create_task(beat())
        for _ in range(3):
            with pytest.raises(SecretsUnavailable, match="did not answer"):
                await secrets.get("x")
        heart.cancel()
    assert time.monotonic() - began < 2
    assert beats > 20
    began = time.monotonic()
    with pytest.raises(SecretsUnavailable, match="hangs"):
        await secrets.get("x")
    assert time.monotonic() - began < 0.1
    secrets.close()
    hang.set()


def test_a_hanging_backend_does_not_hold_up_the_end_of_the_app() -> None:
    script = f"""
import asyncio, sys, time, types
sys.path.insert(0, {str(Path.cwd())!r})
from desktop.safety.secrets import KeyringSecrets
kind = type("Keyring", (), {{"__module__": "keyring.backends.Windows", "get_password": lambda *a: time.sleep(60)}})
async def main():
    secrets = KeyringSecrets(load=lambda: types.SimpleNamespace(get_keyring=kind), timeout_s=0.2)
    try:
        await secrets.get("x")
    except Exception as error:
        print(type(error).__name__)
    secrets.close()
asyncio.run(main())
"""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.returncode) == ("SecretsUnavailable\n", 0)
    assert time.monotonic() - began < 5


@pytest.mark.spec("R-SEC-4")
async def test_every_value_that_passes_becomes_known_to_redaction() -> None:
    redactor, memory = Redactor(), Memory()
    memory.values["assent", "old"] = "from-the-keyring"
    secrets = KeyringSecrets(load=lambda: keyring_with(memory.backend()), on_value=redactor.remember)
    await secrets.get("old")
    await secrets.put("new", "given-by-hand")
    assert redactor.mask_known("from-the-keyring given-by-hand") == "[REDACTED] [REDACTED]"
    secrets.close()


async def test_empty_and_endless_secrets_are_refused() -> None:
    secrets = KeyringSecrets()
    for value in ("", "x" * 20_000):
        with pytest.raises(ValueError, match="16,384"):
            await secrets.put("x", value)
    secrets.close()


def test_importing_the_room_imports_nothing_heavy() -> None:
    rooms = [
        *(f"desktop.safety.{name}" for name in "secrets shell confinement permission environment redaction".split()),
        *(f"desktop.tools.{name}" for name in ("shell", "files", "registry")),
    ]
    script = (
        f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\nimport {', '.join(rooms)}\n"
        "print([m for m in ('keyring', 'tree_sitter', 'jsonschema_rs', 'yaml', 'PySide6') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert done.stdout == "[]\n", done.stderr
