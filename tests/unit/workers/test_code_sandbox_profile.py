"""What holds a code worker whose engine was broken: Python in its place, under its sandbox profile, tries all."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.code import CodeLimits
from desktop.safety.confinement.linux.code_profile import _ALLOWED, code_sandbox_profile, only_computing
from desktop.workers.js_code.engine import JsEngine, JsSession, WorkerSpec
from tests.harness.timeouts import WAIT_S
from tests.unit.workers.hostile_code import Host

SCRIPT = Path(__file__).with_name("taken_over.py")
NEEDS_FILTER = pytest.mark.skipif(code_sandbox_profile() == ("", ""), reason="there is no filter of system calls here")


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[JsSession]:
    """A session in a worker that was taken over; its folder is ``tmp_path / "empty"``."""
    (tmp_path / "empty").mkdir()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -B -X utf8 {SCRIPT} "$@"\n')
    python.chmod(0o755)
    os.environ["ASSENT_TEST_SECRET"] = "sk-very-secret"
    engine = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile(), str(python)), CodeLimits())
    yield engine.session()
    await engine.close()
    del os.environ["ASSENT_TEST_SECRET"]


@NEEDS_FILTER
@pytest.mark.spec("R-COD-5", "R-COD-16")
async def test_every_way_out_of_the_process_is_refused(session: JsSession, tmp_path: Path) -> None:
    names = (await session.run("names", Host())).value
    assert {kind: len(some) for kind, some in names.items() if kind != "handles"} == {
        "files": 35,
        "processes": 30,
        "network": 20,
        "memory": 6,
    }
    assert len(names["handles"]) == 253
    got = {}
    for name in [name for some in names.values() for name in some]:
        try:
            outcome = await asyncio.wait_for(session.run(name, Host()), WAIT_S)
        except TimeoutError:
            got[name] = "it waits for ever"
            continue
        ended = outcome.failure is not None  # the C library ends a process whose requests fail where it never saw that
        got[name] = "refused, and the process ended" if ended else outcome.value
    assert {name: value for name, value in got.items() if not value.startswith("refused")} == {}
    assert not list((tmp_path / "empty").iterdir())
    assert not Path("/tmp/assent-taken-over").exists()


@NEEDS_FILTER
@pytest.mark.spec("R-COD-5")
async def test_no_other_system_call_works_whatever_its_number(session: JsSession) -> None:
    allowed = sorted(_ALLOWED[platform.machine()].values())
    assert len(allowed) < 32
    outcome = await session.run("", Host(), args=allowed)
    assert outcome.failure is None, outcome
    assert outcome.value == []


@NEEDS_FILTER
@pytest.mark.spec("R-COD-5")
async def test_its_environment_is_empty_and_so_is_its_folder_and_it_has_no_rights(
    session: JsSession, tmp_path: Path
) -> None:
    assert set((await session.run("environment", Host())).value) <= {"LC_CTYPE", "PWD"}
    assert session._worker is not None
    process = Path(f"/proc/{session._worker.pid}")
    assert b"ASSENT" not in (process / "environ").read_bytes()
    assert b"PATH" not in (process / "environ").read_bytes()
    assert os.readlink(process / "cwd") == str(tmp_path / "empty")
    assert sorted(os.listdir(process / "fd")) == ["0", "1", "2"]
    assert os.readlink(process / "fd" / "2") == "/dev/null"
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
    bounding = status["CapBnd"] if os.geteuid() == 0 else "0" * 16  # only root can shrink it, and only root needs to
    assert (status["CapEff"], status["CapPrm"], bounding) == ("0" * 16,) * 3
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    limits = (process / "limits").read_text()
    for line in ("Max file size             0", "Max processes             0", "Max core file size        0"):
        assert line in limits
    assert "Max cpu time              3600" in limits


@pytest.mark.spec("R-COD-5")
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_one_that_the_kernel_takes(machine: str) -> None:
    code = only_computing(machine)
    assert len(code) % 8 == 0
    assert len(code) // 8 < 256
    jumps = [(code[at + 2], code[at + 3], at // 8) for at in range(0, len(code), 8) if code[at] != 6]
    assert all(at + 1 + max(yes, no) < len(code) // 8 for yes, no, at in jumps)
