"""``bash``: a shell command in the workspace, read first, confined always."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.errors import Denied, ToolFailure
from desktop.domain.judgement import Category, CommandPart
from desktop.domain.network_use import network_of
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
from desktop.domain.work_place import WorkPlace
from desktop.tools.builtin.process_result import (
    NETWORK_IS_OFF,
    NETWORK_WAS_NOT_GIVEN,
    assigned,
    ended_early,
    lost_files_note,
    result_of,
)

MAX_COMMAND = 100_000
_AHEAD_OF_US_S = 10.0  # the pipeline's own limit comes after ours, which knows what was written so far
_PLATFORM: str = sys.platform
_UNREAD = CommandPart("", hidden="nothing of it can be read as a command")

BASH = ToolSpec(
    name="bash",
    alias="bash",
    description=(
        "Run a command with bash in the workspace and return what it writes. It is confined to the allowed folders, "
        "has no input, and everything it starts ends with it. It has the network only where the command plainly needs "
        "it, as curl and git fetch do. A person is shown the command and has to agree."
    ),
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
)


def find_bash(settings: SafetySettings, *, platform: str = _PLATFORM) -> str | None:
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
    ) -> None:
        self._reader = reader
        self._policy = policy
        self._confinement = confinement
        self._environment = environment
        self._runner = runner
        self._settings = settings

    @property
    def spec(self) -> ToolSpec:
        """What models see, with the time limit in force."""
        return replace(BASH, timeout_s=self._settings().timeout_of("bash") + _AHEAD_OF_US_S)

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
        return self._judged(command, _with_variables(reader, command, reading, variables), variables, place)

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

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Run the command. Raises ToolTimeout, ToolAborted or ToolFailure with what it wrote so far."""
        token = context.meta.cancellation
        token.check()
        place = context.meta.work_place
        settings, policy = self._settings().within(place), self._policy.within(place)
        bash = find_bash(settings)
        if bash is None:
            raise ToolFailure(why_absent(settings), code="tool.absent")
        again = await self._reader.within(place).read(args["command"])
        if again.blocked is not None:
            raise Denied(again.blocked.sentence, code="denied.blocklist")
        timeout_s = settings.timeout_of("bash")
        variables = self._environment.for_commands(args["command"], place.environment)
        if variables and context.unasked:
            raise Denied("It gets variables of the chat, so it is asked about.")
        start = await asyncio.to_thread(policy.require, settings.workspace, Access.LIST)
        plain = ProcessSpec(
            argv=(bash, "--noprofile", "--norc", "-c", args["command"]),
            cwd=start.resolved,
            env={**variables, **await self._environment.build({})},
            timeout_s=timeout_s,
            output_limit=settings.output_limit,
            memory_limit=settings.memory_limit,
        )
        grants, mode = context.meta.unattended is None, settings.shell_network
        network = mode == "always" or (mode == "as asked" and context.network)
        confinement = self._confinement.within(place)
        confined = await asyncio.to_thread(
            _walled, confinement, plain, again, grants=grants, network=network, unasked=context.unasked
        )
        outcome, ended = await self._run(confined, context)
        if ended:
            return ended_early(outcome)
        hint = "" if network else self._without(mode, again)
        result = result_of(outcome, plain, hint, self._confinement.probe().kind)
        gone = await asyncio.to_thread(_gone, policy, again, confined.fleeting)
        return replace(result, text=lost_files_note(gone) + result.text) if gone else result

    async def _run(self, confined: ProcessSpec, context: ToolCallContext) -> tuple[ProcessOutcome, bool]:
        """The command to its end; and whether whoever asked for it ended it, and not the run."""
        token, ends = context.meta.cancellation, context.ends
        if ends is None:
            return await self._runner.run(confined, token, context.progress), False
        inner = token.child()
        detach = ends.on_cancel(inner.cancel)
        try:
            outcome = await self._runner.run(confined, inner, context.progress)
        finally:
            detach()
            inner.detach()
        return outcome, outcome.ended == "aborted" and not token.cancelled

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
