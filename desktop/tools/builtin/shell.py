"""``bash``: a shell command in the workspace, read first, confined always."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.approval.network_use import network_of
from desktop.domain.errors import Denied, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.safety import (
    Access,
    Confinement,
    EnvironmentBuilder,
    NetworkMode,
    PathPolicy,
    ProcessOutcome,
    ProcessRunner,
    ProcessSpec,
    SafetySettings,
    SettingsProvider,
    ShellReader,
    ShellReading,
)
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.systems import current
from desktop.tools.builtin.process_result import (
    NETWORK_IS_OFF,
    NETWORK_WAS_NOT_GIVEN,
    assigned,
    ended_early,
    ended_note,
    lost_files_note,
    result_of,
    taken_over_note,
    with_changes,
)
from desktop.tools.builtin.rehearsals import CommandRehearsal, CommandRun, CommandsInCopies, run_to_its_end

MAX_COMMAND = 100_000
_AHEAD_OF_US_S = 10.0  # the pipeline's own limit comes after ours, which knows what was written so far
_UNREAD = CommandPart("", hidden="nothing of it can be read as a command")

_WHAT = (
    "Run a command with bash in the workspace and return what it writes. It is confined to the allowed folders, has no "
    "input, and everything it starts ends with it. It has the network only where the command plainly needs it, as curl "
    "and git fetch do. "
)
_ASKS = "A person is shown the command and has to agree."
_SHOWS = (
    "A person has to agree: to what it changed in a copy of those folders, of which they may take over a part; where "
    "it needs the network, or no copy can be made, to the command before it runs."
)

BASH = ToolSpec(
    name="bash",
    alias="bash",
    description=_WHAT + _SHOWS,
    params={
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "maxLength": MAX_COMMAND, "description": "The command."}
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    category=Category.WRITE,
    tags=("shell", "meta-internal"),
    about="command",
    gives="local",
)


def find_bash(settings: SafetySettings, *, platform: str = current.PLATFORM) -> str | None:
    """The bash to use: the settings' own, else the one installed; on Windows only the configured one (R-BLT-7)."""
    if settings.bash_path:
        return shutil.which(settings.bash_path)
    return None if platform == "win32" else shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")


def why_absent(settings: SafetySettings) -> str:
    """The explanation shown where there is no bash, or ""."""
    if find_bash(settings) is not None:
        return ""
    return (
        "There is no bash here. Install one, or name it in Settings, Tools and limits; no other shell is used in its "
        "place."
    )


class Bash:
    """The tool ``bash``: runs a shell command in the workspace."""

    def __init__(
        self,
        reader: ShellReader,
        policy: PathPolicy,
        confinement: Confinement,
        environment: EnvironmentBuilder,
        runner: ProcessRunner,
        settings: SettingsProvider,
        in_copies: CommandsInCopies | None = None,
    ) -> None:
        self._reader = reader
        self._policy = policy
        self._confinement = confinement
        self._environment = environment
        self._runner = runner
        self._settings = settings
        self._in_copies = in_copies

    @property
    def spec(self) -> ToolSpec:
        """What models see, with the time limit in force."""
        settings = self._settings()
        copies = self._in_copies is not None and settings.commands_first == "show"
        said = _WHAT + (_SHOWS if copies else _ASKS)
        return replace(BASH, description=said, timeout_s=settings.timeout_of("bash") + _AHEAD_OF_US_S)

    async def parts_of(self, args: Mapping[str, Any], place: WorkPlace) -> tuple[CommandPart, ...]:
        """The commands that patterns compare. Implements ``CommandTool``: no argument has been checked yet."""
        command = args.get("command")
        if not isinstance(command, str) or len(command) > MAX_COMMAND or "\0" in command or _has_surrogates(command):
            return (_UNREAD,)
        variables = assigned(self._environment.for_commands(command, place.environment))
        return _parts(await self._reader.within(place).read(command), variables)

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Read the command: whether it is blocked, what it does, and why it may be admin. Variables of the thread that
        the command names it gets, its request shows, and it is judged as if it set them itself: no rule covers it that
        does not write them (D-6)."""
        return await asyncio.to_thread(self._read, args["command"], place)

    def _read(self, command: str, place: WorkPlace) -> PreCheck:
        """Read a command and judge it by that. Blocks."""
        settings = self._settings()
        if find_bash(settings) is None:
            return PreCheck(Category.WRITE, denied=ToolFailure(why_absent(settings), code="tool.absent"))
        if "\0" in command or _has_surrogates(command):
            return PreCheck(Category.ADMIN, denied=Denied("The command contains characters that no command can have."))
        reader = self._reader.within(place)
        reading = reader.read_now(command)
        if reading.blocked is not None:
            refusal = Denied(reading.blocked.sentence, code="denied.blocklist")
            return PreCheck(Category.ADMIN, judgements=reading.judgements, denied=refusal)
        variables = assigned(self._environment.for_commands(command, place.environment))
        check = self._judged(command, _with_variables(reader, command, reading, variables), variables, place)
        if check.denied is not None or self._in_copies is None:
            return check
        return self._in_copies.offered(check, place)

    def _judged(self, command: str, reading: ShellReading, variables: list[str], place: WorkPlace) -> PreCheck:
        settings = self._settings().within(place)
        start = reading.place or self._policy.within(place).explain(settings.workspace, Access.LIST)
        if not start.allowed:
            return PreCheck(Category.ADMIN, denied=Denied(start.sentence, code="denied.boundary"))
        if not os.path.isdir(start.resolved):
            refusal = ToolFailure(f"The workspace {start.resolved} does not exist.", code="tool.not_started")
            return PreCheck(Category.WRITE, denied=refusal)
        report = self._confinement.probe()
        network = network_of(settings.shell_network, reading, report.kind)
        said = "" if report.kind == "none" else network.sentence
        return PreCheck(
            category=reading.category,
            raised_because=reading.raised_because,
            paths=reading.paths,
            judgements=reading.judgements,
            preview={
                "kind": "command",
                "command": command,
                "cwd": start.resolved,
                "confinement": report.sentence + said,
                "confined_by": report.kind,
                **network.preview,
                **({"environment": variables} if variables else {}),
                "reads_only": reading.reads_only and not variables,
            },
            identity={**reading.states, start.resolved: _which(start.identity)},
            constraint=command.strip(),
            parts=_parts(reading, variables),
        )

    async def rehearse(
        self, args: Mapping[str, Any], check: PreCheck, context: ToolCallContext
    ) -> CommandRehearsal | None:
        """Run the command in a copy of the folders that it may write."""
        if self._in_copies is None:
            return None
        run, _ = await self._run_of(args, context)
        return await self._in_copies.rehearsed(run, check, context)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Run the command, or take over what it did in a copy. Raises ToolTimeout, ToolAborted or ToolFailure with what
        it wrote so far."""
        run, reading = await self._run_of(args, context)
        note, taken = "", None
        if isinstance(context.rehearsal, CommandRehearsal) and self._in_copies is not None:
            taken, of = await self._in_copies.take_over(context.rehearsal, context.taken, context)
            outcome, fleeting = context.rehearsal.outcome, context.rehearsal.fleeting
            run, note = context.rehearsal.run, taken_over_note(taken, of)
            left = context.rehearsal.traces.left
        else:
            outcome, fleeting, left = await self._ran(run, reading, context)
        if outcome.ended == "aborted" and not context.meta.cancellation.cancelled:
            return ended_early(outcome)
        hint = "" if run.network else self._without(self._settings().shell_network, reading)
        result = result_of(outcome, run.plain, hint, self._confinement.probe().kind)
        policy = self._policy.within(context.meta.work_place)
        gone = await asyncio.to_thread(_gone, policy, reading, fleeting)
        note += (lost_files_note(gone) if gone else "") + ended_note(left)
        return with_changes(result, note, taken)

    async def _run_of(self, args: Mapping[str, Any], context: ToolCallContext) -> tuple[CommandRun, ShellReading]:
        """The command as it would run now, and how it reads. Raises Denied."""
        context.meta.cancellation.check()
        place, command = context.meta.work_place, args["command"]
        settings, policy = self._settings().within(place), self._policy.within(place)
        bash = find_bash(settings)
        if bash is None:
            raise ToolFailure(why_absent(settings), code="tool.absent")
        reading = await self._reader.within(place).read(command)
        if reading.blocked is not None:
            raise Denied(reading.blocked.sentence, code="denied.blocklist")
        variables = self._environment.for_commands(command, place.environment)
        if variables and context.unasked:
            raise Denied("It gets variables of the chat, so it is asked about.")
        start = await asyncio.to_thread(policy.require, settings.workspace, Access.LIST)
        plain = ProcessSpec(
            argv=(bash, "--noprofile", "--norc", "-c", command),
            cwd=start.resolved,
            env={**variables, **await self._environment.build({})},
            timeout_s=settings.timeout_of("bash"),
            output_limit=settings.output_limit,
            memory_limit=settings.memory_limit,
        )
        mode = settings.shell_network
        network = mode == "always" or (mode == "as asked" and context.network)
        return CommandRun(plain, "bash", command, network=network, hosts=reading.hosts), reading

    async def _ran(
        self, run: CommandRun, reading: ShellReading, context: ToolCallContext
    ) -> tuple[ProcessOutcome, tuple[str, ...], tuple[str, ...] | None]:
        """Run a command that was allowed; with it the folders of its own and the processes that are gone with it."""
        confinement, grants = self._confinement.within(context.meta.work_place), context.meta.unattended is None
        if self._in_copies is not None and not context.unasked:
            ran = await self._in_copies.run(run, context)
            if ran is not None:
                return ran.outcome, ran.fleeting, ran.traces.left
        confined = await asyncio.to_thread(
            _walled, confinement, run.plain, reading, grants=grants, network=run.network, unasked=context.unasked
        )
        return await run_to_its_end(self._runner, confined, context), confined.fleeting, None

    def _without(self, mode: NetworkMode, reading: ShellReading) -> str:
        """Why a command that failed may have wanted the network."""
        if reading.uses_network:
            return NETWORK_IS_OFF
        return NETWORK_WAS_NOT_GIVEN if network_of(mode, reading, self._confinement.probe().kind).offered else ""


def _with_variables(reader: ShellReader, command: str, reading: ShellReading, variables: list[str]) -> ShellReading:
    """The reading with the thread's variables as if the command's own text set them: ``echo $X; let X`` runs what X
    holds, and computes where that is a number."""
    if not variables:
        return reading
    whole = reader.read_now("; ".join([*variables, command]))
    if whole.category is reading.category:
        return reading
    return replace(reading, category=whole.category, raised_because=whole.raised_because)


def _walled(
    confinement: Confinement, plain: ProcessSpec, reading: ShellReading, *, grants: bool, network: bool, unasked: bool
) -> ProcessSpec:
    """The command in its sandbox. One that nobody was asked about can write nothing and has no network, whatever
    was read off its text. Raises Denied when that cannot be held."""
    if not unasked:
        return confinement.wrap(plain, network=network, grants=grants, cache="bash")
    if not reading.reads_only or confinement.probe().kind == "none":
        raise Denied("It does not only read, or nothing confines it here, so it is asked about.")
    return confinement.wrap(plain, grants=False, network=False, writes=False)


def _gone(policy: PathPolicy, reading: ShellReading, fleeting: tuple[str, ...]) -> list[str]:
    """What the command may have written where its end took it away."""
    written = dict.fromkeys(path for one in reading.judgements if one.effect != "reads" for path in one.touches)
    inside = (path for path in written if any(path.startswith(place + os.sep) for place in fleeting))
    return [path for path in inside if not policy.explain(path, Access.WRITE).allowed]


def _parts(reading: ShellReading, variables: list[str]) -> tuple[CommandPart, ...]:
    """The commands that patterns compare, each with the variables that all of them get."""
    return tuple(part.behind(variables) for part in reading.parts or (_UNREAD,))


def _which(identity: str) -> str:
    """Device and inode of an identity, or ``absent``."""
    return ":".join(identity.split(":")[:2])


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
