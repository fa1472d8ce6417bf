"""bash: read first, confined always, bounded, ended with everything it started."""

import asyncio
import contextlib
import os
import uuid
from dataclasses import replace
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation, Denied, ToolAborted, ToolFailure, ToolTimeout
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import ProcessSpec, SafetySettings
from desktop.domain.tools import ToolCallContext
from desktop.skills.patterns.commands import command_glob
from desktop.tools.builtin.shell import find_bash, why_absent
from tests.harness.timeouts import longer_limits
from tests.unit.pipeline.kit import Bench as PipelineBench
from tests.unit.pipeline.kit import Person
from tests.unit.tools.conftest import Bench, context


@pytest.mark.spec("R-BLT-2")
async def test_a_command_runs_in_the_workspace_and_returns_both_streams(bench: Bench) -> None:
    result = await bench.run(bench.bash, command="pwd; ls; echo oops >&2")
    assert result.text == f"{bench.world.workspace}\nnote.txt\noops\n"
    assert not result.is_error
    assert (await bench.run(bench.bash, command="true")).text == "[No output.]"


@pytest.mark.spec("R-DEF-15", "R-ENV-7", "R-PRM-2")
async def test_a_command_gets_the_threads_variables_shows_them_and_keeps_its_own_path(bench: Bench) -> None:
    command, alone = {"command": "echo $CITY; echo $PATH; env"}, context()
    hostile = ("PATH", "HOME", "LD_PRELOAD", "GIT_DIR", "BASH_ENV", "PYTHONPATH", "PWD", "POSIXLY_CORRECT", "a b")
    variables = {"CITY": "Oslo; rm -rf /", **dict.fromkeys(hostile, "/evil")}
    check = await bench.bash.precheck(command, WorkPlace(environment=variables))
    assert check.preview["environment"] == ["CITY='Oslo; rm -rf /'"]
    assert "environment" not in (await bench.bash.precheck(command, NOWHERE)).preview
    result = await bench.bash.execute(command, replace(alone, meta=replace(alone.meta, environment=variables)))
    assert result.text.splitlines()[0] == "Oslo; rm -rf /"
    assert "/evil" not in result.text
    assert "Oslo" not in (await bench.run(bench.bash, **command)).text


_OF_PROGRAMS = ("COMPILER_PATH", "GCC_EXEC_PREFIX", "ZIPOPT", "APT_CONFIG", "BC_ENV_ARGS", "NOBODY_LISTED_IT")


@pytest.mark.spec("R-DEF-15", "R-ENV-7")
async def test_a_command_gets_no_variable_that_it_does_not_name_whatever_programs_read(bench: Bench) -> None:
    alone, variables = context(), {**dict.fromkeys(_OF_PROGRAMS, "/evil"), "CITY": "Oslo", "UNIT": "metre"}
    meta = replace(alone.meta, environment=variables)
    for command in ("env", "env; echo CITY", "let CITY; env"):
        asked = {"command": command}
        assert "environment" not in (await bench.bash.precheck(asked, WorkPlace(environment=variables))).preview
        result = await bench.bash.execute(asked, replace(alone, meta=meta))
        assert "/evil" not in result.text
        assert "Oslo" not in result.text
    result = await bench.bash.execute({"command": "env; : ${CITY:-x} ${#UNIT}"}, replace(alone, meta=meta))
    assert {"CITY=Oslo", "UNIT=metre"} < set(result.text.splitlines())
    assert "/evil" not in result.text


@pytest.mark.spec("R-DEF-15", "R-PRM-2")
async def test_no_variable_of_a_thread_sends_a_request_elsewhere_than_its_command_says(bench: Bench) -> None:
    command = {"command": "curl -d @note.txt http://api.example.com/$http_proxy$ALL_PROXY$SSL_CERT_FILE$CITY"}
    elsewhere = (
        "http_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "no_proxy",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "AWS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
    )
    spelled = " ".join(f"${name} ${name.lower()}" for name in elsewhere)
    for text in (command["command"], f"echo {spelled} $CITY"):
        variables = {**dict.fromkeys(elsewhere, "http://evil"), "all_proxy": "http://evil", "CITY": "Oslo"}
        check = await bench.bash.precheck({"command": text}, WorkPlace(environment=variables))
        assert check.preview["environment"] == ["CITY=Oslo"]


@pytest.mark.spec("R-DEF-15", "R-PRM-11", "R-INV-3")
async def test_a_command_with_a_variable_of_the_thread_is_covered_only_where_a_rule_writes_it(bench: Bench) -> None:
    asked, variables = {"command": "ls '$ZIPOPT'; ls"}, {"ZIPOPT": "-TT x"}
    plain, check = (
        await bench.bash.precheck(asked, NOWHERE),
        await bench.bash.precheck(asked, WorkPlace(environment=variables)),
    )
    assert plain.preview["reads_only"]
    assert not check.preview["reads_only"]
    for parts in (check.parts, await bench.bash.parts_of(asked, WorkPlace(environment=variables))):
        assert [part.assigns for part in parts] == [("ZIPOPT='-TT x'",)] * 2
        for glob in ("ls*", "*", "ls", "ls '$ZIPOPT'"):
            assert not any(command_glob(glob).covers(part) for part in parts)
        assert all(command_glob("ZIPOPT=* ls*").covers(part) for part in parts)
        assert all(command_glob("ls*").meets(part) for part in parts)
    alone = context()
    unasked = replace(alone, meta=replace(alone.meta, environment=variables), unasked=True)
    with pytest.raises(Denied, match="variables of the chat"):
        await bench.bash.execute(asked, unasked)


@pytest.mark.spec("R-BLT-2")
async def test_a_non_zero_exit_is_an_error_with_code_and_output(bench: Bench) -> None:
    result = await bench.run(bench.bash, command="echo before; exit 7")
    assert (result.is_error, result.text, result.code) == (True, "[Exit code 7.]\nbefore\n", "tool.exit")
    assert result.facts["exit_code"] == 7


@pytest.mark.spec("R-BLT-2", "R-FS-3")
async def test_what_is_written_into_a_folder_that_goes_with_the_command_is_said_to_be_gone(bench: Bench) -> None:
    fleeting = bool(bench.bash._confinement.wrap(ProcessSpec(("true",), str(bench.world.workspace), {})).fleeting)
    name = f"/tmp/assent-test-{uuid.uuid4().hex}"
    try:
        result = await bench.run(bench.bash, command=f"echo x > {name}; cat note.txt > kept.txt")
        assert (f"Outside the allowed folders: {name}." in result.text) is fleeting
        assert "kept.txt" not in result.text
        assert not (fleeting and os.path.exists(name))
        assert "Outside" not in (await bench.run(bench.bash, command="cat note.txt | wc -l")).text
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


@pytest.mark.spec("R-BLK-1", "R-INV-17")
async def test_a_blocked_command_is_refused_before_anyone_is_asked_and_again_when_run(bench: Bench) -> None:
    check = await bench.bash.precheck({"command": "rm -rf /"}, NOWHERE)
    assert isinstance(check.denied, Denied)
    assert check.denied.code == "denied.blocklist"
    with pytest.raises(Denied):
        await bench.bash.execute({"command": "rm -rf /"}, context())


@pytest.mark.spec("R-PRM-2", "R-TOOL-4")
async def test_the_precheck_shows_command_folder_walls_and_judgements(bench: Bench) -> None:
    check = await bench.bash.precheck({"command": "cat note.txt | wc -l > out.txt"}, NOWHERE)
    assert (check.category, check.denied) == (Category.WRITE, None)
    preview = check.preview
    assert (preview["kind"], preview["command"], preview["cwd"]) == (
        "command",
        "cat note.txt | wc -l > out.txt",
        str(bench.world.workspace),
    )
    assert "onfined" in preview["confinement"]
    assert preview["network"] is False
    assert [j.operator for j in check.judgements] == ["", "|"]
    assert str(bench.world.workspace / "out.txt") in check.paths
    assert check.constraint == "cat note.txt | wc -l > out.txt"
    assert not (bench.world.workspace / "out.txt").exists()
    raised = await bench.bash.precheck({"command": "cat ~/.ssh/id_rsa"}, NOWHERE)
    assert (raised.category, "denied" in raised.raised_because) == (Category.ADMIN, True)


@pytest.mark.spec("R-PRM-5")
async def test_a_file_that_appears_after_approval_changes_what_was_judged(bench: Bench) -> None:
    command = {"command": "echo x > out.txt"}
    first = await bench.bash.precheck(command, NOWHERE)
    assert (await bench.bash.precheck(command, NOWHERE)).identity == first.identity
    (bench.world.workspace / "out.txt").write_text("precious")
    second = await bench.bash.precheck(command, NOWHERE)
    assert second.identity != first.identity
    assert second.category is Category.ADMIN


@pytest.mark.spec("R-PRM-5")
@pytest.mark.parametrize(
    ("command", "happens", "again"),
    [
        ("ls -la busy; echo hi", "appears", False),
        ("cat note.txt | wc -l", "grows", False),
        ("cat note.txt > out.txt", "grows", False),
        ("grep -r x busy", "appears", False),
        ("cp note.txt copy.txt", "grows", False),
        ("frobnicate busy", "appears", False),
        ("cp copy.txt note.txt", "grows", True),
        ("echo x >> note.txt", "grows", True),
        ("sh note.txt", "grows", True),
        ("python3 note.txt", "grows", True),
        ("./note.txt", "grows", True),
        (". ./note.txt", "grows", True),
        ("env A=1 ./note.txt", "grows", True),
        ("frobnicate ./note.txt", "grows", True),
        ("truncate -s 0 note.txt", "grows", True),
        ("frobnicate ./note.txt", "swapped", True),
        ("ls ./busy", "folder swapped for a link", True),
    ],
)
async def test_an_approval_is_bound_to_what_is_written_or_run_and_not_to_what_is_only_read(
    bench: Bench, command: str, happens: str, again: bool
) -> None:
    workspace = bench.world.workspace
    (workspace / "busy").mkdir()
    (workspace / "other").mkdir()
    first = await bench.bash.precheck({"command": command}, NOWHERE)
    if happens == "appears":
        (workspace / "busy" / "file").write_text("x")
    elif happens == "grows":
        (workspace / "note.txt").write_text("longer than before\n")
    elif happens == "swapped":
        (workspace / "new").write_text("note\n")
        (workspace / "new").replace(workspace / "note.txt")
    else:
        (workspace / "busy").rmdir()
        (workspace / "busy").symlink_to(workspace / "other")
    second = await bench.bash.precheck({"command": command}, NOWHERE)
    assert ((second.identity, second.paths) != (first.identity, first.paths)) is again, (first, second)


@pytest.mark.spec("R-BLT-7")
async def test_where_there_is_no_bash_or_no_workspace_the_call_is_refused_and_nobody_is_asked(bench: Bench) -> None:
    person = Person("allow_once")
    pipeline = PipelineBench(bench.bash, person=person)
    bench.world.change(bash_path="/no/such/bash")
    outcome = await pipeline.call("bash", {"command": "echo ran > note.txt"})
    assert (outcome.state, outcome.result.code) == ("failed", "tool.absent")
    assert "no bash here" in outcome.result.text
    bench.world.change(bash_path="", workspace=str(bench.world.workspace / "gone"))
    outcome = await pipeline.call("bash", {"command": "echo ran > note.txt"})
    assert (outcome.state, outcome.result.code) == ("failed", "tool.not_started")
    assert "does not exist" in outcome.result.text
    assert person.decided == []
    bench.world.change(workspace=str(bench.world.workspace))
    outcome = await pipeline.call("bash", {"command": "echo ran > note.txt"})
    assert (outcome.state, person.decided) == ("done", ["bash"])
    assert (bench.world.workspace / "note.txt").read_text() == "ran\n"


@pytest.mark.spec("R-ENV-1", "R-ENV-6")
async def test_no_secret_of_the_app_is_in_its_environment(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-should-not-be-seen")
    result = await bench.run(
        bench.bash, command="env; cat /proc/$$/environ | tr '\\0' '\\n'; cat /proc/1/environ 2>/dev/null"
    )
    assert "sk-should-not-be-seen" not in result.text
    assert "AGENT_HOME" not in result.text


@pytest.mark.spec("R-TMO-1", "R-TMO-2", "R-TMO-3")
async def test_over_time_it_ends_with_what_it_wrote_so_far(bench: Bench) -> None:
    said = ""
    for limit in longer_limits(0.5):
        bench.world.change(tool_timeouts={"bash": limit})
        with pytest.raises(ToolTimeout) as caught:
            await bench.run(bench.bash, command="echo so far; setsid sleep 4801 & sleep 4802")
        said = str(caught.value)
        assert f"{limit:g} s" in said
        if "so far" in said:
            break
    assert "so far" in said
    assert b"sleep\x00480" not in b"".join(_command_lines())


@pytest.mark.spec("R-TMO-1", "R-FS-12", "S-BLT-2")
async def test_limits_are_those_of_the_moment(bench: Bench) -> None:
    assert bench.bash.spec.timeout_s == 130
    bench.world.change(tool_timeout_s=5.0, output_limit=2000)
    assert bench.bash.spec.timeout_s == 15
    result = await bench.run(bench.bash, command="seq 1 9999")
    assert len(result.text.encode()) <= 2000
    assert "9999" in result.text
    assert result.facts["truncated"]


@pytest.mark.spec("R-TMO-7", "R-TOOL-6")
async def test_an_abort_ends_it_promptly(bench: Bench) -> None:
    token, args = CancellationToken(), {"command": "echo begun; sleep 4901"}
    check = await bench.bash.precheck(args, NOWHERE)
    begun = replace(context(token, check.identity), progress=lambda _: token.cancel("stop"))
    with pytest.raises(ToolAborted, match="Operation aborted"):
        await bench.bash.execute(args, begun)
    assert b"sleep\x004901" not in b"".join(_command_lines())


async def test_approval_does_not_lift_the_walls(bench: Bench) -> None:
    result = await bench.run(
        bench.bash, command=f"echo x > {bench.world.outside}/new; cat ~/.ssh/id_rsa; cat ../data/assent.db"
    )
    assert not (bench.world.outside / "new").exists()
    assert "PRIVATE" not in result.text
    assert "CONVERSATIONS" not in result.text


async def test_a_failure_for_want_of_the_network_says_so(bench: Bench) -> None:
    result = await bench.run(bench.bash, command="curl -s -m 2 http://example.invalid || exit 6")
    assert "network is switched off" in result.text


@pytest.mark.spec("R-BLT-7")
def test_without_bash_the_tool_is_absent_with_an_explanation() -> None:
    missing = SafetySettings(workspace="/w", bash_path="/nonexistent/bash.exe")
    assert find_bash(missing) is None
    assert "no other shell" in why_absent(missing)
    assert why_absent(SafetySettings(workspace="/w")) == ""


@pytest.mark.spec("R-BLT-7")
def test_on_windows_it_is_the_bash_that_a_person_named_and_no_other() -> None:
    installed = find_bash(SafetySettings(workspace="/w"), platform="linux")
    assert installed is not None
    assert find_bash(SafetySettings(workspace="/w"), platform="win32") is None
    assert find_bash(SafetySettings(workspace="/w", bash_path=installed), platform="win32") == installed


async def test_a_workspace_outside_the_boundary_or_missing_is_refused(bench: Bench) -> None:
    bench.world.change(workspace=str(bench.world.outside))
    with pytest.raises(Denied):
        await bench.run(bench.bash, command="ls")
    with pytest.raises(BoundaryViolation):
        await bench.bash.execute({"command": "ls"}, context())
    bench.world.change(workspace=str(bench.world.workspace / "gone"))
    with pytest.raises(ToolFailure):
        await bench.run(bench.bash, command="ls")


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud800"])
async def test_characters_that_no_command_can_have_are_refused(bench: Bench, command: str) -> None:
    with pytest.raises(Denied):
        await bench.run(bench.bash, command=command)


@pytest.mark.spec("R-FS-8", "R-CRON-5")
async def test_a_jobs_command_writes_in_no_folder_that_is_open_for_the_session_only(bench: Bench) -> None:
    opened = bench.world.root / "opened"
    opened.mkdir()
    bench.world.change(granted=(str(opened),))
    held = bench.confinement.probe().kind != "none"
    command = {"command": f"echo x > {opened}/new && echo done"}
    result = await bench.bash.execute(command, unattended())
    assert ("done" in result.text, (opened / "new").exists()) == (not held, not held)
    await bench.bash.execute(command, context())
    assert (opened / "new").exists()


def unattended() -> ToolCallContext:
    job: Any = object()
    return ToolCallContext(RunMeta("job", CancellationToken(), unattended=job), "call")


async def test_ten_commands_at_once_stay_apart(bench: Bench) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.run(bench.bash, command=f"sleep 0.1; echo {n}")) for n in range(10)]
    assert [task.result().text for task in tasks] == [f"{n}\n" for n in range(10)]


def _command_lines() -> list[bytes]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    found.append(file.read())
            except OSError:
                continue
    return found


@pytest.mark.spec("R-BLK-5")
@pytest.mark.parametrize("command", ["echo $X; let X", "[[ $X -gt 1 ]]", "echo $(($X + 1))", "test -v $X"])
async def test_a_variable_of_the_chat_whose_text_a_command_would_run_makes_it_admin(bench: Bench, command: str) -> None:
    for value, category in (("a[$(touch PWN)]", Category.ADMIN), ("3", Category.WRITE)):
        assert (
            await bench.bash.precheck({"command": command}, WorkPlace(environment={"X": value}))
        ).category is category
