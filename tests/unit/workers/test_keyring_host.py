"""Which keyring is used, and what a failure is called: the parts of the keyring host that need no keyring."""

from types import SimpleNamespace
from typing import Any

import pytest

from desktop.workers.inside import CallError
from desktop.workers.keyring_child import environment
from desktop.workers.keyring_host.host import failure, usable_backend


def backend_of(module: str) -> Any:
    return type("Keyring", (), {"__module__": module})()


def keyring_with(*backends: Any) -> Any:
    chosen = backends[0] if len(backends) == 1 else SimpleNamespace(backends=backends)
    return SimpleNamespace(get_keyring=lambda: chosen)


@pytest.mark.spec("R-SEC-2")
def test_of_a_chain_only_the_safe_one_is_used() -> None:
    safe = backend_of("keyring.backends.SecretService")
    assert usable_backend(keyring_with(backend_of("keyrings.alt.file"), safe)) is safe
    assert usable_backend(keyring_with(safe)) is safe


@pytest.mark.spec("R-SEC-2")
@pytest.mark.parametrize(
    "module",
    ["keyrings.alt.file", "keyring.backends.fail", "keyring.backends.null", "keyrings.cryptfile.cryptfile", "mine"],
)
def test_backends_that_do_not_keep_secrets_safely_are_refused(module: str) -> None:
    with pytest.raises(CallError, match="found no safe keyring") as refused:
        usable_backend(keyring_with(backend_of(module), backend_of(module)))
    assert module not in str(refused.value), "a person reads it"


@pytest.mark.spec("R-SEC-2")
def test_no_backend_at_all_is_refused() -> None:
    with pytest.raises(CallError, match="found no safe keyring"):
        usable_backend(SimpleNamespace(get_keyring=lambda: SimpleNamespace(backends=[])))


def test_a_failure_is_named_by_its_kind_and_never_by_its_text() -> None:
    assert failure(type("KeyringLocked", (Exception,), {})("sk-leak")) == "The keyring is locked."
    assert failure(ValueError("sk-leak")) == "The keyring failed."


def test_the_childs_environment_holds_what_finds_the_keyring_and_nothing_else() -> None:
    given = {"DBUS_SESSION_BUS_ADDRESS": "unix:", "HOME": "/home/me", "OPENAI_API_KEY": "sk-x", "PYTHONPATH": "/evil"}
    assert environment(given) == {"DBUS_SESSION_BUS_ADDRESS": "unix:", "HOME": "/home/me"}
