"""The environment of subprocesses: only what is allowed, only what is declared."""

import asyncio
import os

import pytest

from desktop.domain.errors import SecretsUnavailable, ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import DEFAULT_ENVIRONMENT, ProcessSpec, SafetySettings
from desktop.safety.confinement.environment import AllowlistEnvironment, needs_admin
from desktop.safety.confinement.process import GroupRunner

SETTINGS = SafetySettings(workspace="/w")
HOST = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/h",
    "OPENAI_API_KEY": "sk-host",
    "LD_PRELOAD": "x",
    "AWS_SECRET_ACCESS_KEY": "y",
    "LANG": "C.UTF-8",
    "TZ": "",
    "PYTHONPATH": "/p",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/b",
}


def builder(settings: SafetySettings = SETTINGS, **fields: object) -> AllowlistEnvironment:
    return AllowlistEnvironment(lambda: settings, host=lambda: HOST, windows=False, **fields)  # type: ignore[arg-type]


@pytest.mark.spec("R-ENV-1", "R-ENV-6")
async def test_only_allowed_names_that_are_set_are_inherited() -> None:
    assert await builder().build({}) == {"PATH": "/usr/bin:/bin", "HOME": "/h", "LANG": "C.UTF-8"}


@pytest.mark.spec("R-ENV-1", "R-ENV-6")
async def test_a_real_process_sees_no_host_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    env = await AllowlistEnvironment(lambda: SETTINGS).build({})
    outcome = await GroupRunner().run(ProcessSpec(("env",), "/", env), CancellationToken())
    names = {line.partition("=")[0] for line in outcome.output.splitlines()}
    assert "PATH" in names
    assert names <= set(DEFAULT_ENVIRONMENT)
    assert "sk-ant" not in outcome.output
    assert os.environ["ANTHROPIC_API_KEY"]


@pytest.mark.spec("R-ENV-2")
async def test_declared_values_reach_the_process_and_win() -> None:
    env = await builder().build({"MODE": "fast", "LANG": "de_DE.UTF-8"})
    outcome = await GroupRunner().run(ProcessSpec(("bash", "-c", "echo $MODE $LANG"), "/", env), CancellationToken())
    assert outcome.output == "fast de_DE.UTF-8\n"


@pytest.mark.spec("R-ENV-3")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${LANG}", "C.UTF-8"),
        ("x${LANG}", "x${LANG}"),
        ("${LANG}x", "${LANG}x"),
        ("$LANG", "$LANG"),
        ("${LANG:-x}", "${LANG:-x}"),
        ("${lang}", None),
        ("", ""),
    ],
)
async def test_only_a_whole_value_is_a_reference(value: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(ToolFailure):
            await builder().build({"V": value})
    else:
        assert (await builder().build({"V": value}))["V"] == expected


@pytest.mark.spec("R-ENV-4")
async def test_an_unset_reference_is_a_failure_that_names_the_variable() -> None:
    with pytest.raises(ToolFailure, match="NOT_SET_HERE") as caught:
        await builder().build({"V": "${NOT_SET_HERE}"})
    assert caught.value.code == "tool.environment"
    assert "sk-host" not in str(caught.value)


@pytest.mark.spec("R-ENV-5")
async def test_the_keyring_is_read_at_call_time() -> None:
    asked: list[tuple[str, str]] = []

    async def lookup(service: str, user: str) -> str | None:
        await asyncio.sleep(0)
        asked.append((service, user))
        if service == "locked":
            raise SecretsUnavailable("The keyring is locked.")
        return {"github": "token-1"}.get(service)

    made = builder(keyring=lookup)
    assert asked == []
    assert (await made.build({"T": "${keyring:github/me}"}))["T"] == "token-1"
    assert asked == [("github", "me")]
    with pytest.raises(ToolFailure, match=r"github2/me, which does not exist"):
        await made.build({"T": "${keyring:github2/me}"})
    with pytest.raises(ToolFailure, match="locked"):
        await made.build({"T": "${keyring:locked/me}"})
    with pytest.raises(ToolFailure, match="not available"):
        await builder().build({"T": "${keyring:github/me}"})


@pytest.mark.spec("R-ENV-7")
@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "BASH_ENV",
        "ENV",
        "IFS",
        "PATH",
        "ld_preload",
        "Path",
    ],
)
async def test_variables_that_run_code_are_for_admin_tools_only(name: str) -> None:
    with pytest.raises(ToolFailure, match=name):
        await builder().build({name: "x"})
    assert (await builder().build({name: "x"}, admin=True))[name] == "x"
    assert needs_admin(name)


@pytest.mark.spec("R-ENV-8")
async def test_windows_gets_the_names_it_cannot_do_without() -> None:
    host = {"SYSTEMROOT": r"C:\Windows", "COMSPEC": "cmd.exe", "APPDATA": "a", "GEMINI_API_KEY": "no"}
    made = AllowlistEnvironment(lambda: SETTINGS, host=lambda: host, windows=True)
    assert await made.build({}) == {"SYSTEMROOT": r"C:\Windows", "COMSPEC": "cmd.exe", "APPDATA": "a"}


@pytest.mark.spec("R-ENV-9", "R-ENV-6")
async def test_the_allowlist_is_editable_but_known_secrets_stay_out() -> None:
    wide = SafetySettings(workspace="/w", environment_allowlist=("PATH", "OPENAI_API_KEY", "LANG"))
    made = builder(wide, is_secret=lambda text: text == "sk-host")
    assert await made.build({}) == {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


@pytest.mark.spec("R-ENV-10")
async def test_what_a_packaged_launcher_injected_is_put_back() -> None:
    host = {
        "PATH": "/bundle/bin",
        "PATH_ORIG": "/usr/bin",
        "LD_LIBRARY_PATH": "/bundle",
        "LD_LIBRARY_PATH_ORIG": "/mine",
        "_PYI_ARCHIVE_FILE": "x",
        "_MEIPASS2": "y",
        "APPIMAGE": "z",
    }
    names = ("PATH", "LD_LIBRARY_PATH", "_PYI_ARCHIVE_FILE", "_MEIPASS2", "APPIMAGE", "PATH_ORIG")
    settings = SafetySettings(workspace="/w", environment_allowlist=names)
    made = AllowlistEnvironment(lambda: settings, host=lambda: host, windows=False)
    assert await made.build({}) == {"PATH": "/usr/bin", "LD_LIBRARY_PATH": "/mine"}


async def test_names_and_values_that_no_process_takes_are_refused() -> None:
    for declared in ({"A=B": "x"}, {"": "x"}, {"A": "x\0y"}):
        with pytest.raises(ToolFailure):
            await builder().build(declared)
