"""One declared CLI tool as a ``Tool``: values checked, argument vector built, judged, confined, run.

There is no shell anywhere (R-CLI-2). The reader of shell commands only judges a quoted rendering of the vector, twice:
once as the person declared it and once as this call fills it in. What the person wrote is theirs and has the category
they gave it; what is dangerous only because of the values is the model's, and raises the call or refuses it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.approval.judgement import Category, Judgement
from desktop.domain.errors import Denied, ToolFailure, ValidationFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import (
    Access,
    Blocked,
    PathPolicy,
    PathVerdict,
    ProcessOutcome,
    ProcessSpec,
    SafetySettings,
    ShellReading,
)
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.tools.builtin.process_result import assigned, ended_note, result_of, taken_over_note, with_changes
from desktop.tools.builtin.rehearsals import CommandRehearsal, CommandRun
from desktop.tools.cli.category import always_admin
from desktop.tools.cli.definitions import SOURCE, CliDefinition
from desktop.tools.cli.reads import ToolReads
from desktop.tools.cli.services import CliServices
from desktop.tools.cli.template import Template, canonical
from desktop.tools.cli.values import Parameter, Values

MAX_WORD = 120_000
"""Bytes of one argument; Linux takes 131,072."""
MAX_WORDS = 500_000
MAX_BOUND = 200
_AHEAD_OF_US_S = 10.0  # the pipeline's own limit comes after ours, which knows what was written so far
_BATCH = (".bat", ".cmd")
_SECRET = "${keyring:"
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


_OPTION = re.compile(r"-(?![0-9.]*$)")


@dataclass(frozen=True, slots=True)
class _Readings:
    """The vector read as the person declared it, and as this call fills it in; ``chosen`` are the words that only this
    call has, ``within`` the folder where it runs."""

    declared: ShellReading
    filled: ShellReading
    chosen: tuple[str, ...]
    within: str


class CliTool:
    """A tool of tools.yaml. Made in a thread: compiling the schema loads jsonschema_rs."""

    def __init__(self, definition: CliDefinition, services: CliServices) -> None:
        self.definition = definition
        self._services = services
        self._values = Values(definition.parameters, definition.params)
        self._always_admin = always_admin(definition)
        self._runs_text = "{{" in self._always_admin  # a value becomes a program: then bash's list holds, too
        self._declared_reading: tuple[tuple[tuple[str, ...], str, SafetySettings], ShellReading] | None = None
        self._spec = _spec_of(definition, Category.ADMIN if self._always_admin else definition.category)
        self.reads = ToolReads(definition.name, self._spec.version, definition.reads, services.places)

    @property
    def always_admin(self) -> str:
        """Why every call is admin whatever was declared, or ""."""
        return self._always_admin

    @property
    def spec(self) -> ToolSpec:
        """What models see, with the time limit in force (R-TMO-1)."""
        return replace(self._spec, timeout_s=self._timeout() + _AHEAD_OF_US_S)

    def _timeout(self) -> float:
        own = self.definition.timeout_s
        return own if own is not None else self._services.settings().timeout_of(self.definition.name)

    # -- the argument vector ------------------------------------------------------------------------------------------

    def words(self, args: Mapping[str, Any]) -> tuple[str, ...]:
        """The program as declared and its arguments, one word each whatever the values hold (R-CLI-3, R-CLI-4).

        Raises ValidationFailure naming each field (R-CLI-5).
        """
        problems = self._values.problems(args)
        if problems:
            name = self._spec.provider_name
            raise ValidationFailure(f"Invalid arguments for {name}: " + "; ".join(problems) + ".")
        given = self._values.complete(args)
        values = {name: canonical(value) for name, value in given.items()}
        words = tuple(argument.filled(values) for argument in self._templates(given))
        sizes = [len(word.encode()) for word in words]
        if max(sizes, default=0) > MAX_WORD or sum(sizes) > MAX_WORDS:
            raise ValidationFailure(f"The arguments are too long: one may have {MAX_WORD:,} bytes, all {MAX_WORDS:,}.")
        return (self.definition.cmd, *words)

    def _templates(self, given: Mapping[str, Any]) -> list[Template]:
        """Fixed arguments, then the groups of what was supplied, in order. A flag that is false is not supplied where
        its group says nothing of its value."""
        found = list(self.definition.args)
        for name, group in self.definition.optional_args:
            shows_value = any(name in argument.names for argument in group)
            if name in given and (given[name] is not False or shows_value):
                found += group
        return found

    def _declared(self, args: Mapping[str, Any]) -> tuple[str, ...]:
        """The same vector without what the call says: a stand-in for every text, number and choice."""
        harmless = {parameter.name: _stand_in(parameter) for parameter in self.definition.parameters}
        given = self._values.complete(args)
        return (self.definition.cmd, *(argument.filled(harmless) for argument in self._templates(given)))

    # -- judging ------------------------------------------------------------------------------------------------------

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """The vector as it would run, whether it may, and who has to agree; certain failures ask nobody. The thread's
        variables are what ``${NAME}`` may mean (D-6)."""
        definition, services = self.definition, self._services.within(place)
        try:
            words = self.words(args)
            built = await self._environment(place.environment, ready=False)
            reads = await asyncio.to_thread(self.reads.now)
        except ToolFailure as error:
            return PreCheck(definition.category, denied=error)
        start, program = await asyncio.to_thread(self._start_and_program, services, built.get("PATH", os.defpath))
        refusal = self._refusal(start, program)
        if refusal is not None:
            return PreCheck(definition.category, denied=refusal)
        within = start.resolved
        chosen = tuple(word for word, fixed in zip(words, self._declared(args), strict=True) if word != fixed)
        declared = await self._read_declared(services, args, within)
        readings = _Readings(declared, await self._read(services, words, within), chosen, within)
        blocked = self._blocked(readings)
        if blocked is not None:
            refusal = Denied(blocked.sentence, code="denied.blocklist")
            return PreCheck(Category.ADMIN, judgements=_parts(readings.filled), denied=refusal)
        shown = self._shown(place.environment)
        check = await asyncio.to_thread(self._judged, services, words, program, start, readings, shown)
        check = reads.shown_in(check)
        in_copies = self._services.in_copies
        if in_copies is None or check.denied is not None or check.consent is not None:
            return check
        if any(_SECRET in value for value in definition.env.values()):
            return replace(check, preview={**check.preview, "no_copy": "It gets a secret of yours."})
        return await asyncio.to_thread(in_copies.offered, check, place)

    def _shown(self, environment: Mapping[str, str]) -> list[str]:
        """The variables that it gets: by their names, and with the value where that is the thread's."""
        named = {name: _REFERENCE.fullmatch(value) for name, value in sorted(self.definition.env.items())}
        theirs = {name: environment[to[1]] for name, to in named.items() if to is not None and to[1] in environment}
        return [*(name for name in named if name not in theirs), *assigned(theirs)]

    async def _environment(self, thread: Mapping[str, str], *, ready: bool) -> dict[str, str]:
        """What the process gets; before it is ``ready`` to run nothing is taken out of the keyring, but a reference
        that may not be followed is refused before anybody is asked (R-ENV-5)."""
        definition = self.definition
        admin = definition.category is Category.ADMIN
        return await self._services.environment.build(
            definition.env, admin=admin, tool=definition.name, secrets=ready, thread=thread
        )

    def _start_and_program(self, services: CliServices, path: str) -> tuple[PathVerdict, str]:
        """Where it would run, and which file ``cmd`` is on the tool's PATH ("" for none). Blocks."""
        wanted = os.path.expanduser(self.definition.cwd) or services.settings().workspace
        start = services.policy.explain(wanted, Access.LIST)
        folders = os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder))
        return start, shutil.which(self.definition.cmd, path=folders or os.defpath) or ""

    def _refusal(self, start: PathVerdict, program: str) -> ToolFailure | None:
        if not start.allowed:
            return Denied(start.sentence, code="denied.boundary")
        if not os.path.isdir(start.resolved):
            return ToolFailure(f"The folder {start.resolved} does not exist.", code="tool.not_started")
        if not os.path.isfile(program):
            return ToolFailure(
                f"{self.definition.cmd}, which {self._spec.provider_name} runs, was not found on the tool PATH.",
                code="tool.absent",
                next_step="Install it, or correct cmd in tools.yaml.",
            )
        if program.casefold().endswith(_BATCH):
            sentence = f"{program} is a batch file: those read their arguments as a command line."
            return ToolFailure(sentence, code="tool.not_started", next_step="Name a program in cmd instead.")
        return None

    async def _read_declared(self, services: CliServices, args: Mapping[str, Any], within: str) -> ShellReading:
        """The reading of what the person declared, kept while the settings and the groups are the same."""
        key = (self._declared(args), within, services.settings())
        kept = self._declared_reading
        if kept is None or kept[0] != key:
            kept = self._declared_reading = (key, await self._read(services, key[0], within))
        return kept[1]

    async def _read(self, services: CliServices, words: tuple[str, ...], within: str) -> ShellReading:
        """The vector as a shell would have to be given it: every word quoted, started in its folder."""
        text = shlex.join(words)
        if self.definition.cwd:
            text = f"cd {shlex.quote(within)} && {text}"
        return await services.reader.read(text)

    def _blocked(self, readings: _Readings) -> Blocked | None:
        """What the blocklist refuses because of the values; a word that the person declared asks as admin instead."""
        blocked, declared = readings.filled.blocked, readings.declared.blocked
        own = blocked is not None and declared is not None and declared.word == blocked.word
        return None if own and not self._runs_text else blocked

    def _judged(
        self,
        services: CliServices,
        words: tuple[str, ...],
        program: str,
        start: PathVerdict,
        readings: _Readings,
        variables: list[str],
    ) -> PreCheck:
        """The finished judgement. Blocks: it looks at the files that it is bound to."""
        definition, policy = self.definition, services.policy
        category, why = self._category(policy, program, readings)
        report = services.confinement.probe()
        network = definition.network
        said = "" if report.kind == "none" else f" The network is {'on' if network else 'off'} for this tool."
        identity = {path: _state_of(policy, path) for path in readings.filled.bound[:MAX_BOUND]}
        identity[program] = policy.explain(program, Access.READ).identity
        identity[start.resolved] = _which(start.identity)
        return PreCheck(
            category=category,
            raised_because=why,
            paths=tuple(dict.fromkeys((program, *readings.filled.paths))),
            judgements=_parts(readings.filled),
            preview={
                "kind": "argv",
                "argv": list(words),
                "program": program,
                "cwd": start.resolved,
                "confinement": report.sentence + said,
                "confined_by": report.kind,
                "network": network,
                "environment": variables,
            },
            identity=identity,
            constraint=shlex.join(words),
        )

    def _category(self, policy: PathPolicy, program: str, readings: _Readings) -> tuple[Category, str]:
        """The declared category, raised and never lowered (R-TOOL-4)."""
        reasons = [self._always_admin] if self._always_admin else []
        declared, filled = readings.declared, readings.filled
        if declared.blocked is not None:
            reasons.append(f"{declared.blocked.word} {declared.blocked.reason}")
        reasons += _added(declared.raised_because, filled.raised_because)
        if policy.explain(program, Access.WRITE).allowed:
            reasons.append(f"{program} lies where the agent itself can write")
        if reasons:
            return Category.ADMIN, "; ".join(dict.fromkeys(reasons))
        if self.definition.category is Category.READ and (why := _changing(readings) or self._beyond(policy, readings)):
            return Category.WRITE, f"{self.definition.cmd} {why}"
        return self.definition.category, ""

    def _beyond(self, policy: PathPolicy, readings: _Readings) -> str:
        """Why a tool that was declared as reading asks all the same: the call chooses an option, which may make another
        thing of the program, or reads where the file tools may not."""
        listed = {str(one) for parameter in self.definition.parameters for one in parameter.schema.get("enum", ())}
        options = (word for word in readings.chosen if _OPTION.match(word) and word not in listed)
        if option := next(options, ""):
            return f"is given an option by this call: {option[:80]}"
        own = frozenset(readings.declared.paths)
        named = (os.path.join(readings.within, word) for word in readings.chosen if "\0" not in word)
        for path in (*readings.filled.paths, *(path for path in named if os.path.lexists(path))):
            if path not in own and not policy.explain(path, Access.READ).allowed:
                return f"reads outside the allowed folders: {path[:200]}"
        return ""

    # -- running ------------------------------------------------------------------------------------------------------

    async def rehearse(
        self, args: Mapping[str, Any], check: PreCheck, context: ToolCallContext
    ) -> CommandRehearsal | None:
        """Run the program in a copy of the folders that it may write."""
        if (in_copies := self._services.in_copies) is None:
            return None
        return await in_copies.rehearsed(await self._run_of(args, context), check, context)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Run the program, or take over what it did in a copy. Raises ToolFailure, ToolTimeout or ToolAborted with what
        it wrote so far; a non-zero exit is an error result (R-CLI-13)."""
        services, note, taken = self._services.within(context.meta.work_place), "", None
        run = await self._run_of(args, context)
        if isinstance(context.rehearsal, CommandRehearsal) and services.in_copies is not None:
            taken, of = await services.in_copies.take_over(context.rehearsal, context.taken, context)
            outcome, left = context.rehearsal.outcome, context.rehearsal.traces.left
            note = taken_over_note(taken, of) + ended_note(left)
        else:
            outcome, note = await self._ran(services, run, context)
        words = self.words(args)
        uses_network = not run.network and (await self._read(services, words, run.plain.cwd)).uses_network
        hint = f"[No network: {self.definition.offline}.]\n" if uses_network else ""
        result = result_of(outcome, run.plain, hint, services.confinement.probe().kind)
        return with_changes(result, note, taken)

    async def _run_of(self, args: Mapping[str, Any], context: ToolCallContext) -> CommandRun:
        """The program as it would run now. Raises ToolFailure."""
        context.meta.cancellation.check()
        services = self._services.within(context.meta.work_place)
        settings, words = services.settings(), self.words(args)
        environment = await self._environment(context.meta.environment, ready=True)
        start, program = await asyncio.to_thread(self._start_and_program, services, environment.get("PATH", os.defpath))
        refusal = self._refusal(start, program)
        if refusal is None and context.rehearsal is None:
            refusal = await asyncio.to_thread(self._changed, services, program, context)
        if refusal is not None:
            raise refusal
        plain = ProcessSpec(
            argv=(program, *words[1:]),
            cwd=start.resolved,
            env=environment,
            timeout_s=self._timeout(),
            output_limit=settings.output_limit,
            memory_limit=settings.memory_limit,
        )
        opened = (await asyncio.to_thread(self.reads.now)).opened()
        cache, network = f"tool-{self.definition.name} {program}", self.definition.network
        return CommandRun(plain, cache, shlex.join(words), network=network, opened=opened)

    async def _ran(
        self, services: CliServices, run: CommandRun, context: ToolCallContext
    ) -> tuple[ProcessOutcome, str]:
        """Run a program that was allowed, and what is to be said of it. One that only reads needs no copy."""
        if services.in_copies is not None and not context.unasked and self._spec.category is not Category.READ:
            ran = await services.in_copies.run(run, context)
            if ran is not None:
                return ran.outcome, ended_note(ran.traces.left)
        grants = context.meta.unattended is None
        confined = await asyncio.to_thread(
            services.confinement.wrap, run.plain, network=run.network, grants=grants, cache=run.cache, opened=run.opened
        )
        return await services.runner.run(confined, context.meta.cancellation, context.progress), ""

    def _changed(self, services: CliServices, program: str, context: ToolCallContext) -> ToolFailure | None:
        """The failure where another program has the name than the one that was judged (R-PRM-5); else None."""
        identity = services.policy.explain(program, Access.READ).identity
        if context.identity and context.identity.get(program) != identity:
            return ToolFailure(f"{program} has changed since the call was judged.", code="tool.not_started")
        return None


def _spec_of(definition: CliDefinition, category: Category) -> ToolSpec:
    return ToolSpec(
        name=definition.name,
        description=definition.description,
        params=definition.params,
        category=category,
        tags=("cli",),
        source=SOURCE,
        version=_version(definition),
        gives="local",
    )


def _version(definition: CliDefinition) -> str:
    """Everything that was declared; not where in the file."""
    return hashlib.sha256(repr(replace(definition, line=1)).encode("utf-8", "surrogatepass")).hexdigest()


def _stand_in(parameter: Parameter) -> str:
    """A value that says nothing: of a choice the first, of a number the least."""
    schema = parameter.schema
    if "enum" in schema:
        return canonical(schema["enum"][0])
    kinds = {"string": "value", "boolean": "true"}
    return kinds.get(parameter.kind) or canonical(schema.get("minimum", 1))


def _changing(readings: _Readings) -> str:
    """Why a tool is not ``read`` whatever it was declared: it changes files, or its values make something else of it
    than reading."""
    known = {part.effect for part in _parts(readings.declared)}
    for effect in (part.effect for part in _parts(readings.filled)):
        if effect in ("writes", "deletes"):
            return f"{effect} files"
        if effect not in known and effect in ("network", "privileged"):
            return {"network": "uses the network with these values"}.get(effect, "changes more with these values")
    return ""


def _added(declared: str, filled: str) -> list[str]:
    """The reasons that the values bring, beside those of the declaration; a shortened list could hide one."""
    if " more reason" in declared:
        return [filled]
    known = declared.split("; ")
    return [reason for reason in filled.split("; ") if reason and reason not in known]


def _parts(reading: ShellReading) -> tuple[Judgement, ...]:
    """What the program does, without the step into its folder."""
    parts = reading.judgements
    if len(parts) > 1 and parts[0].text.startswith("cd ") and parts[1].operator == "&&":
        return (replace(parts[1], operator=""), *parts[2:])
    return parts


def _state_of(policy: PathPolicy, path: str) -> str:
    """What an approval is bound to at a path: a file with its size and time, of a folder only which one it is."""
    identity = policy.explain(path, Access.READ).identity
    return _which(identity) if os.path.isdir(path) else identity


def _which(identity: str) -> str:
    """Device and inode of an identity, or ``absent``."""
    return ":".join(identity.split(":")[:2])
