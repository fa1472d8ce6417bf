"""Declared tools as they run: real processes, hostile values as data."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ToolAborted, ToolFailure, ToolTimeout, ValidationFailure
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.tools import PreCheck, ToolResult
from desktop.safety.confinement.environment import AllowlistEnvironment, needs_admin
from desktop.safety.confinement.process import GroupRunner
from desktop.tools.cli.definitions import CliRules, parse
from desktop.tools.cli.services import CliServices
from desktop.tools.cli.tool import CliTool
from tests.harness.timeouts import WAIT_S, longer_limits, until
from tests.unit.tools.conftest import Bench, context

ECHO = "import json, sys; print(json.dumps(sys.argv[1:]))"
HOSTILE = [
    "; rm -rf ~",
    "$(id)",
    "`id`",
    "a && b",
    "a | b",
    "> out.txt",
    "a\nb",
    "a\r\nb",
    "'",
    '"',
    "a'b\"c",
    "\\",
    "*",
    "?",
    "~",
    "$HOME",
    "${HOME}",
    "{{value}}",
    "{{other}}",
    "\\{{",
    "a b  c",
    "\t",
    "",
    " -x",
    "\u2014x",
    "\uff0drf",
    "%s%n",
    "!!",
    "#",
    "\x1b[31m",
    "\u202egnp.exe",
    "\u200b",
    "\ufeffx",
    "🙂" * 50,
    "é",
    "e\u0301",
    "$IFS$9",
    "a=b",
]


@dataclass
class Cli:
    """Declared tools over the real safety room."""

    bench: Bench
    host: dict[str, str]
    keyring: dict[tuple[str, str], str]

    def tool(self, body: str, **fields: Any) -> CliTool:
        """One entry: ``fields`` as JSON, which is YAML; ``body`` more lines of it."""
        entry = {"name": "probe", "description": "A probe.", "category": "read", **fields}
        lines = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in entry.items())
        found = parse("tools:\n  -\n" + lines + body, CliRules(needs_admin))
        assert [str(p) for p in found.problems if p.severity == "error"] == []
        return CliTool(found.definitions[0], self.services)

    def echo(self, *args: str, parameters: Mapping[str, Any] | None = None, **fields: Any) -> CliTool:
        """A program that prints its arguments as JSON."""
        argv = ["-I", "-c", ECHO, *args]
        return self.tool("", cmd=sys.executable, args=argv, parameters=parameters or {}, **fields)

    @property
    def services(self) -> CliServices:
        world = self.bench.world

        async def lookup(service: str, user: str) -> str | None:
            return self.keyring.get((service, user))

        environment = AllowlistEnvironment(lambda: world.settings, keyring=lookup, host=lambda: self.host)
        return CliServices(
            world.reader, world.policy, self.bench.confinement, environment, GroupRunner(), lambda: world.settings
        )

    async def argv(self, tool: CliTool, **args: Any) -> list[str]:
        """What the program received."""
        result = await self.bench.run(tool, **args)
        assert not result.is_error, result.text
        return json.loads(result.text)


@pytest.fixture
def cli(bench: Bench) -> Cli:
    return Cli(bench, {"PATH": os.environ["PATH"], "HOME": str(bench.world.person)}, {})


async def judged(tool: CliTool, **args: Any) -> PreCheck:
    check = await tool.precheck(args, NOWHERE)
    assert check.denied is None, check.denied
    return check


async def refusal(tool: CliTool, **args: Any) -> ToolFailure:
    """Before anybody is asked, and once more where somebody would run it all the same."""
    check = await tool.precheck(args, NOWHERE)
    assert isinstance(check.denied, ToolFailure)
    return check.denied


TEXT = {"value": {"type": "string"}}


# -- the argument vector ----------------------------------------------------------------------------------------------


@pytest.mark.spec("R-FS-8", "R-CRON-5")
async def test_in_a_job_a_declared_tool_writes_in_no_folder_that_is_open_for_the_session_only(cli: Cli) -> None:
    opened = cli.bench.world.root / "opened"
    opened.mkdir()
    cli.bench.world.change(granted=(str(opened),))
    held = cli.bench.confinement.probe().kind != "none"
    args = ["-I", "-c", f"open({str(opened / 'new.txt')!r}, 'w').close()"]
    tool, alone = cli.tool("", cmd=sys.executable, args=args, category="write"), context()
    job: Any = object()
    result = await tool.execute({}, replace(alone, meta=replace(alone.meta, unattended=job)))
    assert (result.is_error, (opened / "new.txt").exists()) == (held, not held)
    assert not (await tool.execute({}, alone)).is_error
    assert (opened / "new.txt").exists()


@pytest.mark.spec("R-CLI-2", "R-CLI-3", "R-CLI-11")
async def test_hostile_values_reach_the_program_as_single_literal_arguments(cli: Cli) -> None:
    names = [f"v{at}" for at in range(len(HOSTILE))]
    tool = cli.echo(*(f"{{{{{name}}}}}" for name in names), parameters={name: {"type": "string"} for name in names})
    assert await cli.argv(tool, **dict(zip(names, HOSTILE, strict=True))) == HOSTILE
    assert sorted(os.listdir(cli.bench.world.workspace)) == ["note.txt"]


@pytest.mark.spec("R-CLI-3")
async def test_a_value_inside_an_argument_neither_splits_nor_is_read_again(cli: Cli) -> None:
    tool = cli.echo(
        "--a={{a}}:{{b}}", "{{ b }}", r"\{{a}}", parameters={"a": {"type": "string"}, "b": {"type": "string"}}
    )
    assert await cli.argv(tool, a="{{b}} x", b="1 2") == ["--a={{b}} x:1 2", "1 2", "{{a}}"]


@pytest.mark.spec("R-CLI-4")
async def test_optional_groups_follow_in_the_order_of_the_file_when_supplied(cli: Cli) -> None:
    optional = {"type": "string", "optional": True}
    tool = cli.echo(
        "get",
        parameters={"b": optional, "a": optional, "v": {"type": "boolean", "optional": True}},
        optional_args={"a": ["-a", "{{a}}"], "v": ["--verbose"], "b": ["-b", "{{b}}"]},
    )
    assert await cli.argv(tool) == ["get"]
    assert await cli.argv(tool, b="2", a="1") == ["get", "-a", "1", "-b", "2"]
    assert await cli.argv(tool, v=True) == ["get", "--verbose"]
    assert await cli.argv(tool, v=False) == ["get"]
    assert await cli.argv(tool, a="") == ["get", "-a", ""]


@pytest.mark.spec("R-CLI-4", "R-CLI-12", "S-CLI-1")
async def test_defaults_fill_in_and_numbers_and_flags_are_written_canonically(cli: Cli) -> None:
    tool = cli.echo(
        "{{i}}",
        "{{n}}",
        "{{b}}",
        parameters={"i": {"type": "integer", "default": 7}, "n": {"type": "number"}, "b": {"type": "boolean"}},
    )
    assert await cli.argv(tool, n=0.5, b=True) == ["7", "0.5", "true"]
    assert await cli.argv(tool, i=3.0, n=2, b=False) == ["3", "2", "false"]


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-CLI-5")
@pytest.mark.parametrize(
    ("rule", "bad"),
    [
        ({"type": "string", "enum": ["pods", "nodes"]}, "pods; rm -rf ~"),
        ({"type": "string", "maxLength": 3}, "four"),
        ({"type": "string", "minLength": 3}, "ab"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "a1"),
        ({"type": "string"}, 5),
        ({"type": "string"}, None),
        ({"type": "string"}, ["a"]),
        ({"type": "string"}, "x" * 10_001),
        ({"type": "integer"}, "5"),
        ({"type": "integer"}, 1.5),
        ({"type": "integer"}, True),
        ({"type": "integer"}, 10**30),
        ({"type": "integer", "minimum": 2}, 1),
        ({"type": "number", "maximum": 2}, 2.5),
        ({"type": "number"}, float("nan")),
        ({"type": "number"}, float("inf")),
        ({"type": "boolean"}, "true"),
        ({"type": "boolean"}, 1),
        ({"type": "integer", "enum": [1, 2]}, 3),
    ],
)
async def test_values_against_the_declaration_are_refused_before_they_are_filled_in(
    cli: Cli, rule: dict[str, Any], bad: Any
) -> None:
    tool = cli.echo("{{value}}", parameters={"value": rule})
    error = await refusal(tool, value=bad)
    assert isinstance(error, ValidationFailure)
    assert "value" in str(error)
    with pytest.raises(ValidationFailure):
        await tool.execute({"value": bad}, context())


@pytest.mark.spec("R-CLI-5", "R-TOOL-3")
async def test_a_missing_and_an_unknown_argument_are_refused(cli: Cli) -> None:
    tool = cli.echo("{{value}}", parameters=TEXT)
    assert "value" in str(await refusal(tool))
    assert "other" in str(await refusal(tool, value="a", other="b"))


@pytest.mark.spec("R-CLI-6")
async def test_the_end_in_a_pattern_is_the_end_of_the_text_as_in_javascript(cli: Cli) -> None:
    tool = cli.echo("{{value}}", parameters={"value": {"type": "string", "pattern": "^[a-z0-9-]+$"}})
    assert await cli.argv(tool, value="abc") == ["abc"]
    for bad in ("abc\n", "abc\r", "\nabc", "abc\nabc", "abc\u2028", "ábc"):
        assert isinstance(await refusal(tool, value=bad), ValidationFailure), bad
    digits = cli.echo("{{value}}", parameters={"value": {"type": "string", "pattern": r"^\d+$"}})
    assert isinstance(await refusal(digits, value="١٢"), ValidationFailure)


@pytest.mark.spec("R-CLI-8")
async def test_a_text_that_begins_with_a_hyphen_is_refused_unless_it_is_declared(cli: Cli) -> None:
    tool = cli.echo("{{value}}", parameters=TEXT)
    for bad in ("-rf", "--output=/etc/passwd", "-", "--", "-o ProxyCommand=id"):
        assert "'-'" in str(await refusal(tool, value=bad))
        with pytest.raises(ValidationFailure):
            await tool.execute({"value": bad}, context())
    chosen = cli.echo("{{value}}", parameters={"value": {"type": "string", "enum": ["-l", "-a"]}})
    assert await cli.argv(chosen, value="-l") == ["-l"]
    declared = cli.echo("{{value}}", parameters={"value": {"type": "string", "allow_leading_dash": True}})
    assert await cli.argv(declared, value="-5 degrees") == ["-5 degrees"]
    number = cli.echo("{{value}}", parameters={"value": {"type": "integer"}})
    assert await cli.argv(number, value=-5) == ["-5"]


@pytest.mark.spec("R-CLI-9")
async def test_nul_and_half_characters_are_refused_wherever_they_stand(cli: Cli) -> None:
    tool = cli.echo("x{{value}}", parameters={"value": {"type": "string", "allow_leading_dash": True}})
    for bad in ("\0", "a\0b", "\ud800", "a\udfff", "\udc80x"):
        assert isinstance(await refusal(tool, value=bad), ValidationFailure)
        with pytest.raises(ValidationFailure):
            await tool.execute({"value": bad}, context())


@pytest.mark.spec("R-CLI-5")
async def test_arguments_that_no_process_can_be_given_are_refused_in_words(cli: Cli) -> None:
    tool = cli.echo("{{value}}", parameters={"value": {"type": "string", "maxLength": 100_000}})
    assert "too long" in str(await refusal(tool, value="é" * 70_000))


# -- category and preview ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-PRM-2", "R-CLI-2")
async def test_the_request_shows_the_vector_the_folder_and_what_confines_it(cli: Cli) -> None:
    tool = cli.tool("", category="write", cmd="printf", args=["%s\n", "{{value}}"], parameters=TEXT)
    check = await judged(tool, value="a; id")
    assert check.category is Category.WRITE
    assert check.preview["kind"] == "argv"
    assert check.preview["argv"] == ["printf", "%s\n", "a; id"]
    assert check.preview["cwd"] == str(cli.bench.world.workspace)
    assert check.preview["program"].endswith("/printf")
    assert "network is on for this tool" in check.preview["confinement"]
    assert check.preview["program"] in check.identity
    assert check.constraint == "printf '%s\n' 'a; id'"


@pytest.mark.spec("R-TOOL-4")
async def test_what_a_person_declares_keeps_its_category_and_values_raise_it(cli: Cli) -> None:
    folder = cli.bench.world.root / "bin"
    program(folder / "kubectl", "exit 0")
    cli.host["PATH"] = f"{folder}{os.pathsep}{cli.host['PATH']}"
    get = cli.tool("", cmd="kubectl", args=["get", "{{value}}"], parameters=TEXT)
    assert (await judged(get, value="pods")).category is Category.READ
    raised = await judged(get, value="~/.ssh/id_rsa")
    assert raised.category is Category.ADMIN
    assert ".ssh" in raised.raised_because


@pytest.mark.spec("R-TOOL-4", "R-BLK-8")
async def test_a_program_that_writes_is_not_read_whatever_its_entry_says(cli: Cli) -> None:
    touch = cli.tool("", cmd="touch", args=["{{value}}"], parameters=TEXT)
    check = await judged(touch, value="new.txt")
    assert (check.category, check.raised_because) == (Category.WRITE, "touch writes files")
    assert str(cli.bench.world.workspace / "new.txt") in check.identity
    outside = await judged(touch, value=str(cli.bench.world.outside / "x"))
    assert outside.category is Category.ADMIN
    assert "outside the workspace" in outside.raised_because


@pytest.mark.spec("R-TOOL-4")
async def test_values_that_make_something_else_of_a_reading_program_ask(cli: Cli) -> None:
    program(cli.bench.world.root / "bin" / "git", "exit 0")
    cli.host["PATH"] = str(cli.bench.world.root / "bin")
    git = cli.tool("", cmd="git", args=["{{value}}"], parameters=TEXT)
    assert (await judged(git, value="status")).category is Category.READ
    check = await judged(git, value="push")
    assert (check.category, check.raised_because) == (Category.WRITE, "git uses the network with these values")
    assert (await judged(git, value="clean")).category is Category.ADMIN


@pytest.mark.spec("R-CLI-2")
async def test_a_batch_file_is_never_run_because_it_reads_a_command_line(cli: Cli) -> None:
    folder = cli.bench.world.root / "bin"
    program(folder / "tool.BAT", "echo no")
    assert "batch file" in str(await refusal(cli.tool("", cmd=str(folder / "tool.BAT"))))


@pytest.mark.spec("R-BLK-1", "R-TOOL-4")
async def test_a_word_of_the_blocklist_that_the_person_declared_asks_and_one_that_a_value_makes_is_refused(
    cli: Cli,
) -> None:
    remove = cli.tool("", cmd="rm", args=["{{value}}"], parameters=TEXT)
    check = await judged(remove, value="note.txt")
    assert check.category is Category.ADMIN
    assert "deletes files for good" in check.raised_because
    wrapper = cli.tool("", cmd="env", args=["{{value}}", "note.txt"], parameters=TEXT)
    assert (await refusal(wrapper, value="rm")).code == "denied.blocklist"
    mode = cli.tool("", category="write", cmd="chmod", args=["{{value}}", "note.txt"], parameters=TEXT)
    assert (await refusal(mode, value="777")).code == "denied.blocklist"
    assert (await judged(mode, value="600")).category is Category.WRITE


@pytest.mark.spec("R-TOOL-4", "R-BLK-1")
async def test_a_free_text_that_becomes_a_program_is_admin_and_obeys_the_blocklist(cli: Cli) -> None:
    shell = cli.tool("", category="read", cmd="bash", args=["-c", "{{value}}"], parameters=TEXT)
    assert shell.spec.category is Category.ADMIN
    check = await judged(shell, value="echo hello")
    assert check.category is Category.ADMIN
    assert "bash runs what {{value}} says" in check.raised_because
    assert (await refusal(shell, value="rm -rf ~")).code == "denied.blocklist"
    inside = cli.tool("", category="read", cmd="bash", args=["-c", "rm {{value}}"], parameters=TEXT)
    assert (await refusal(inside, value="x; sudo id")).code == "denied.blocklist"


@pytest.mark.spec("R-TOOL-4", "R-PRM-5")
async def test_a_program_that_the_agent_could_have_written_is_admin(cli: Cli) -> None:
    own = cli.bench.world.workspace / "own"
    program(own, "echo mine")
    tool = cli.tool("", cmd=str(own))
    check = await judged(tool)
    assert check.category is Category.ADMIN
    assert "where the agent itself can write" in check.raised_because


# -- running ----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-CLI-13", "R-TMO-9")
async def test_a_non_zero_exit_is_an_error_with_code_and_output(cli: Cli) -> None:
    tool = cli.tool("", cmd="sh", args=["-c", "cat; echo out; echo err >&2; exit 3"])
    result: ToolResult = await cli.bench.run(tool)
    assert (result.is_error, result.code, result.text) == (True, "tool.exit", "[Exit code 3.]\nout\nerr\n")
    assert result.facts["exit_code"] == 3
    assert (await cli.bench.run(cli.tool("", cmd="true"))).text == "[No output.]"


@pytest.mark.spec("R-TMO-1", "R-TMO-2", "R-TMO-3")
async def test_a_limit_of_its_own_ends_everything_and_says_what_was_written(cli: Cli) -> None:
    seconds = "98765.4321"
    said = ""
    for limit in longer_limits(0.5):
        args = ["-c", f"echo begun; sleep {seconds} & setsid sleep {seconds}"]
        tool = cli.tool("", cmd="sh", args=args, timeout=limit)
        assert tool.spec.timeout_s == pytest.approx(limit + 10)
        with pytest.raises(ToolTimeout, match=rf"time limit of {limit:g} s") as ended:
            await cli.bench.run(tool)
        said = str(ended.value)
        if "begun" in said:
            break
    assert "begun" in said
    await until(lambda: not running(seconds), "the end of what it started")


@pytest.mark.spec("R-TMO-1")
def test_without_a_limit_of_its_own_the_settings_hold(cli: Cli) -> None:
    tool = cli.tool("", cmd="true")
    cli.bench.world.change(tool_timeout_s=33.0)
    assert tool.spec.timeout_s == pytest.approx(43.0)
    before, after = tool.spec, tool.spec
    assert before.params is after.params


@pytest.mark.spec("R-TMO-7", "R-TOOL-6")
async def test_a_cancelled_run_ends_the_program(cli: Cli) -> None:
    token, begun = CancellationToken(), asyncio.Event()
    tool = cli.tool("", cmd="sh", args=["-c", "echo begun; sleep 60"])
    told = replace(context(token), progress=lambda _: begun.set())
    task = asyncio.create_task(tool.execute({}, told))
    await asyncio.wait_for(begun.wait(), WAIT_S)
    token.cancel("stopped")
    with pytest.raises(ToolAborted, match="Operation aborted"):
        await asyncio.wait_for(task, WAIT_S)


@pytest.mark.spec("R-TMO-5")
@pytest.mark.parametrize("limit", [1000, 1001])
async def test_output_over_the_limit_is_cut_between_characters_with_a_notice(cli: Cli, limit: int) -> None:
    cli.bench.world.change(output_limit=limit)
    written = "".join(f"ää{number:04}\n" for number in range(1, 2001))
    result = await cli.bench.run(cli.tool("", cmd="seq", args=["-f", "ää%04.0f", "1", "2000"]))
    total, (shown, _, notice) = len(written.encode()), result.text.rpartition("\n[")
    assert (result.facts["truncated"], result.facts["bytes"]) == (True, total)
    kept = len(shown.encode())
    assert notice == f"Output cut: {total} bytes were written, the last {kept} bytes are shown.]"
    assert written.endswith(shown)
    assert limit - 200 < len(result.text.encode()) <= limit


@pytest.mark.spec("R-ENV-1", "R-ENV-2", "R-ENV-3", "R-ENV-5")
async def test_the_environment_is_the_allowlist_and_what_is_declared(cli: Cli) -> None:
    cli.host |= {"HOST_SECRET": "hidden", "DEPLOY_TOKEN": "from-host"}
    cli.keyring["svc", "me"] = "from-keyring"
    declared = {"A": "plain $HOME", "B": "${DEPLOY_TOKEN}", "C": "${keyring:svc/me}", "D": "x${DEPLOY_TOKEN}"}
    tool = cli.tool("", cmd="env", env=declared)
    check = await judged(tool)
    assert "from-" not in repr(check)
    assert check.preview["environment"] == ["A", "B", "C", "D"]
    lines = (await cli.bench.run(tool)).text.splitlines()
    assert {"A=plain $HOME", "B=from-host", "C=from-keyring", "D=x${DEPLOY_TOKEN}"} <= set(lines)
    assert "hidden" not in "\n".join(lines)


@pytest.mark.spec("R-DEF-15", "R-ENV-3")
async def test_a_reference_means_the_threads_variable_before_the_hosts_and_the_request_shows_it(cli: Cli) -> None:
    cli.host |= {"CITY": "Bergen", "UNIT": "metre"}
    tool = cli.tool("", cmd="env", env={"WHERE": "${CITY}", "IN": "${UNIT}", "OWN": "${AREA}"})
    assert "AREA" in str(await refusal(tool)), "neither has it"
    variables = {"CITY": "Oslo", "AREA": "a b", "PATH": "/evil", "UNASKED": "x"}
    check = await tool.precheck({}, WorkPlace(environment=variables))
    assert (check.denied, check.preview["environment"]) == (None, ["IN", "OWN='a b'", "WHERE=Oslo"])
    alone = context()
    result = await tool.execute({}, replace(alone, meta=replace(alone.meta, environment=variables)))
    assert {"WHERE=Oslo", "IN=metre", "OWN=a b"} <= set(result.text.splitlines())
    assert not any(word in result.text for word in ("UNASKED", "/evil")), "only what the tool declares (R-DEF-15)"


@pytest.mark.spec("R-ENV-4", "R-ENV-5")
async def test_a_variable_that_is_not_set_is_an_error_that_names_it_and_asks_nobody(cli: Cli) -> None:
    unset = cli.tool("", cmd="env", env={"A": "${NOT_THERE}"})
    error = await refusal(unset)
    assert (error.code, "NOT_THERE" in str(error)) == ("tool.environment", True)
    missing = cli.tool("", cmd="env", env={"A": "${keyring:svc/nobody}"})
    with pytest.raises(ToolFailure, match="svc/nobody"):
        await cli.bench.run(missing)


@pytest.mark.spec("R-CLI-10")
async def test_a_program_is_looked_up_on_the_tool_path_and_a_missing_one_asks_nobody(cli: Cli) -> None:
    missing = cli.tool("", cmd="no-such-program-here", category="admin")
    assert (await refusal(missing)).code == "tool.absent"
    folder = cli.bench.world.root / "bin"
    program(folder / "only-here", "echo found")
    tool = cli.tool("", cmd="only-here")
    assert (await refusal(tool)).code == "tool.absent"
    cli.host["PATH"] = f".{os.pathsep}{folder}"
    assert (await judged(tool)).preview["program"] == str(folder / "only-here")
    (cli.bench.world.workspace / "only-there").write_text("#!/bin/sh\n")
    (cli.bench.world.workspace / "only-there").chmod(0o755)
    assert (await refusal(cli.tool("", cmd="only-there"))).code == "tool.absent"


@pytest.mark.spec("R-PRM-5")
async def test_another_program_under_the_same_name_is_not_what_was_approved(cli: Cli) -> None:
    folder = cli.bench.world.root / "bin"
    program(folder / "swapped", "echo one")
    cli.host["PATH"] = str(folder)
    tool = cli.tool("", cmd="swapped")
    check = await judged(tool)
    (folder / "swapped").unlink()
    program(folder / "swapped", "echo another one")
    assert dict((await judged(tool)).identity) != dict(check.identity)
    with pytest.raises(ToolFailure, match="has changed"):
        await tool.execute({}, context(identity=check.identity))


@pytest.mark.spec("R-FS-10")
async def test_a_declared_program_is_confined_like_a_command(cli: Cli) -> None:
    world = cli.bench.world
    (world.home / "tools.yaml").write_text("tools: []\n")
    write = cli.tool("", category="admin", cmd="cp", args=["note.txt", "{{value}}"], parameters=TEXT)
    for target in (world.outside / "x", world.home / "tools.yaml", world.home / "config.yaml"):
        await cli.bench.run(write, value=str(target))
    assert not (world.outside / "x").exists()
    assert not (world.home / "config.yaml").exists()
    assert (world.home / "tools.yaml").read_text() == "tools: []\n"
    read = cli.tool("", category="admin", cmd="cat", args=["{{value}}"], parameters=TEXT)
    assert "PRIVATE" not in (await cli.bench.run(read, value=str(world.ssh / "id_rsa"))).text
    await cli.bench.run(write, value="copy.txt")
    assert (world.workspace / "copy.txt").read_text() == "note\n"


@pytest.mark.spec("R-FS-1", "R-FS-7")
async def test_a_folder_of_its_own_is_inside_the_boundary_or_nothing_runs(cli: Cli) -> None:
    world = cli.bench.world
    (world.workspace / "sub").mkdir()
    assert (await cli.bench.run(cli.tool("", cmd="pwd", cwd="sub"))).text == f"{world.workspace}/sub\n"
    assert (await refusal(cli.tool("", cmd="pwd", cwd=str(world.outside)))).code == "denied.boundary"
    assert (await refusal(cli.tool("", cmd="pwd", cwd="../.."))).code == "denied.boundary"
    assert (await refusal(cli.tool("", cmd="pwd", cwd="absent"))).code == "tool.not_started"
    touch = cli.tool("", category="write", cmd="touch", args=["{{value}}"], parameters=TEXT, cwd="sub")
    check = await judged(touch, value="a")
    assert str(world.workspace / "sub" / "a") in check.identity
    assert [part.text for part in check.judgements] == ["touch a"]


def program(path: Path, script: str) -> None:
    """A small executable."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def running(text: str) -> bool:
    """Whether a process has this among its arguments."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False
