"""Processes run to their end: bounded in time and output, with everything they started gone."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from desktop.domain.errors import ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessOutcome, ProcessSpec
from desktop.safety.confinement.output import OutputCollector, plain
from desktop.safety.confinement.process import GroupRunner, default_launcher
from tests.harness.timeouts import FOREVER_S, HELD_S, WAIT_S, Beat, longer_limits

ENV = {"PATH": "/usr/bin:/bin"}


def bash(command: str, cwd: Path, **fields: object) -> ProcessSpec:
    return ProcessSpec(("bash", "--norc", "-c", command), str(cwd), ENV, **fields)  # type: ignore[arg-type]


async def run(command: str, cwd: Path, token: CancellationToken | None = None, **fields: object) -> ProcessOutcome:
    return await GroupRunner().run(bash(command, cwd, **fields), token or CancellationToken())


async def ended(command: str, cwd: Path, word: str) -> ProcessOutcome:
    """Of a command that has no end, over its time limit, once it has said this."""
    for limit_s in longer_limits(0.5):
        outcome = await run(command, cwd, timeout_s=limit_s)
        if word in outcome.output:
            break
    return outcome


def alive(marker: str) -> list[str]:
    """Command lines of living processes that hold the marker; zombies have none."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if marker in line and "pytest" not in line:
            found.append(line)
    return found


async def gone(marker: str) -> bool:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if not alive(marker):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_output_exit_code_and_both_streams_come_back(tmp_path: Path) -> None:
    outcome = await run("echo one; echo two >&2; exit 3", tmp_path)
    assert (outcome.output, outcome.exit_code, outcome.ended) == ("one\ntwo\n", 3, "exited")
    assert (outcome.total_bytes, outcome.truncated) == (8, False)


async def test_a_program_that_does_not_exist_is_a_failure_in_words(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="cannot be started"):
        await GroupRunner().run(ProcessSpec(("/nope",), str(tmp_path / "missing"), ENV), CancellationToken())
    outcome = await GroupRunner().run(ProcessSpec(("no-such-program",), str(tmp_path), ENV), CancellationToken())
    assert outcome.exit_code == 127


@pytest.mark.spec("R-TMO-9")
async def test_standard_input_is_empty(tmp_path: Path) -> None:
    outcome = await run("cat; read -r x; echo $?", tmp_path, timeout_s=WAIT_S)
    assert outcome.output == "1\n"


@pytest.mark.spec("R-TMO-2", "R-TMO-3")
async def test_over_time_everything_ends_and_partial_output_stays(tmp_path: Path) -> None:
    began = time.monotonic()
    outcome = await ended("echo before; sleep 4101 & sh -c 'sleep 4102 & sleep 4103'", tmp_path, "before")
    assert (outcome.ended, outcome.exit_code) == ("timeout", None)
    assert outcome.output.startswith("before\n")  # the shell may still say that its children were terminated
    assert time.monotonic() - began < WAIT_S
    assert await gone("sleep 410")


@pytest.mark.spec("R-TMO-2", "R-CAN-10")
@pytest.mark.parametrize(
    "command",
    [
        "setsid sleep 94201 & sleep 94202",
        "(setsid sh -c 'setsid sleep 94203 & setsid sleep 94204' &) ; sleep 94205",
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 94206' & sleep 94207",
        "nohup sleep 94208 >/dev/null 2>&1 & disown; sleep 94209",
        "python3 -c 'import os,time\nif os.fork()==0:\n os.setsid()\n"
        " if os.fork()==0:\n  time.sleep(94210)\n os._exit(0)\ntime.sleep(94211)'",
    ],
)
async def test_grandchildren_that_try_to_get_away_end_too(tmp_path: Path, command: str) -> None:
    outcome = await run(command, tmp_path, timeout_s=1)
    assert outcome.ended == "timeout"
    assert await gone("sleep 942")
    assert await gone("time.sleep(942")


@pytest.mark.spec("R-TMO-2")
async def test_what_a_finished_command_leaves_behind_ends_too(tmp_path: Path) -> None:
    outcome = await run("setsid sleep 4301 & sleep 4302 & echo done", tmp_path, timeout_s=FOREVER_S)
    assert (outcome.output, outcome.exit_code) == ("done\n", 0)
    assert outcome.elapsed_s < WAIT_S
    assert await gone("sleep 430")


@pytest.mark.spec("R-TMO-2")
async def test_a_command_gets_two_seconds_to_clean_up(tmp_path: Path) -> None:
    command = "trap 'sleep 0.2; echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    outcome = await ended(command, tmp_path, "ready")
    assert outcome.output.splitlines()[0] == "ready"
    assert outcome.output.splitlines()[-1] == "cleaned"


@pytest.mark.spec("R-TMO-7", "R-TOOL-6")
async def test_a_cancelled_token_ends_it_like_a_time_limit(tmp_path: Path) -> None:
    token = CancellationToken()
    spec = bash("setsid sleep 4401 & echo begun; sleep 4402", tmp_path, timeout_s=FOREVER_S)
    outcome = await GroupRunner().run(spec, token, lambda _: token.cancel("stop"))
    assert (outcome.ended, outcome.output) == ("aborted", "begun\n")
    assert outcome.elapsed_s < WAIT_S
    assert await gone("sleep 440")


@pytest.mark.spec("R-CAN-11", "R-TMO-7")
async def test_a_cancelled_task_ends_its_processes_and_stays_cancelled(tmp_path: Path) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run("setsid sleep 4501 & sleep 4502", tmp_path, timeout_s=30))
        while not alive("sleep 4502"):
            await asyncio.sleep(0.02)
        task.cancel()
    assert task.cancelled()
    assert await gone("sleep 450")


@pytest.mark.spec("R-TMO-5", "R-TMO-6")
async def test_a_flood_is_cut_and_leaves_the_loop_free(tmp_path: Path) -> None:
    beat = Beat()
    async with asyncio.TaskGroup() as group:
        heart = group.create_task(beat.run())
        outcome = await run("yes 'ü0123456789'", tmp_path, timeout_s=1, output_limit=10_000)
        heart.cancel()
    assert outcome.ended == "timeout"
    assert outcome.truncated
    assert outcome.total_bytes > 100_000
    assert len(outcome.output.encode()) <= 10_000
    assert f"{outcome.total_bytes} bytes were written" in outcome.output
    assert beat.longest < HELD_S


async def test_progress_comes_while_it_runs_and_is_clean(tmp_path: Path) -> None:
    seen: list[tuple[float, str]] = []
    began = time.monotonic()
    runner = GroupRunner()
    spec = bash(r"printf '\e[31mone\e[0m\n'; sleep 0.4; echo two", tmp_path)
    await runner.run(spec, CancellationToken(), lambda text: seen.append((time.monotonic() - began, text)))
    assert "".join(text for _, text in seen) == "one\ntwo\n"
    assert seen[-1][0] - seen[0][0] > 0.2


async def test_ten_processes_at_once_stay_apart(tmp_path: Path) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(f"echo {n}; exit {n}", tmp_path)) for n in range(10)]
    assert [(t.result().output, t.result().exit_code) for t in tasks] == [(f"{n}\n", n) for n in range(10)]


async def test_the_death_of_the_app_ends_what_it_started(tmp_path: Path) -> None:
    script = f"""
import asyncio, sys
sys.path.insert(0, {str(Path.cwd())!r})
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.process import GroupRunner, default_launcher
spec = ProcessSpec(("bash", "-c", "setsid sleep 4601 & sleep 4602"), "/tmp", {{"PATH": "/usr/bin:/bin"}})
asyncio.run(GroupRunner().run(spec, CancellationToken()))
"""
    app = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    async with asyncio.timeout(WAIT_S):
        while len(alive("sleep 460")) < 3:
            await asyncio.sleep(0.02)
    app.kill()
    await app.wait()
    assert await gone("sleep 460")


@pytest.mark.skipif(sys.platform != "linux", reason="the launcher holds commands on Linux")
def test_nothing_begins_when_the_app_died_while_the_launcher_was_starting(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    argv = [*default_launcher(), "plain", str(tmp_path.resolve()), "touch", "ran"]
    with subprocess.Popen(argv, cwd=tmp_path, env=ENV, stdin=subprocess.DEVNULL, stdout=writes) as launcher:
        os.close(writes)
        assert launcher.wait(WAIT_S) == 1
    assert os.listdir(tmp_path) == []


# -- output ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-TMO-5")
@pytest.mark.parametrize("keep", ["head", "tail"])
@pytest.mark.parametrize("unit", ["a", "é", "€", "😀", "\xff"])
def test_the_cut_is_between_characters_and_says_both_sizes(keep: str, unit: str) -> None:
    collector = OutputCollector(1000, keep)  # type: ignore[arg-type]
    data = (unit * 3000).encode("latin-1" if unit == "\xff" else "utf-8")
    for start in range(0, len(data), 7):
        collector.feed(data[start : start + 7])
    text, cut = collector.text()
    assert cut
    assert len(text.encode()) <= 1000
    body, _, notice = text.rpartition("\n")
    assert set(body) == {unit if unit != "\xff" else "\ufffd"}
    assert (
        notice == f"[Output cut: {len(data)} bytes were written, the {'first' if keep == 'head' else 'last'} "
        f"{len(body.encode())} bytes are shown.]"
    )


@pytest.mark.spec("R-TMO-6")
def test_memory_stays_bounded_whatever_comes() -> None:
    collector = OutputCollector(10_000, "tail")
    for _ in range(3000):
        collector.feed(b"x" * 10_000)
    assert len(collector._kept) < 200_000
    assert collector.total == 30_000_000
    assert collector.feed(b"more") == ""
    first = OutputCollector(10_000, "head")
    for _ in range(200_000):
        first.feed(b"x")
    assert len(first._kept) == 10_000 + (1 << 16), "not a byte of what comes after it"


@pytest.mark.spec("R-TMO-5")
def test_the_least_limit_leaves_as_much_room_for_the_output_as_for_its_notice() -> None:
    collector = OutputCollector(1, "head")
    collector.feed(b"x" * 1000)
    text, cut = collector.text()
    assert (cut, text.partition("\n")[0]) == (True, "x" * 160)


@pytest.mark.spec("R-TMO-8")
@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x08b\x07c\x00d", "abcd"),
        ("tab\tline\n", "tab\tline\n"),
        ("\x1b(B\x1b7x\x1b8", "x"),
        ("\x9b31mx", "x"),
        ("\x1bP1;2|data\x1b\\x", "x"),
        ("50%\r100%\n", "50%\r100%\n"),
        ("\x1b", ""),
    ],
)
def test_escape_sequences_never_reach_the_text(raw: str, clean: str) -> None:
    assert plain(raw) == clean


@pytest.mark.spec("R-TMO-8")
async def test_invalid_utf8_is_replaced(tmp_path: Path) -> None:
    outcome = await run(r"printf 'a\xff\xfeb\xe2\x82'", tmp_path)
    assert outcome.output == "a\ufffd\ufffdb\ufffd"
    assert os.getcwd()
