"""Reads a shell command before anybody is asked (C-33): every part judged, some refused outright.

The reading is for people and for the category; it never makes a command harmless. Whatever cannot be read is admin.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence

from desktop.domain.approval.judgement import Category, CommandPart, Judgement
from desktop.domain.errors import SettingsError
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.safety import Access, Blocked, PathVerdict, SafetySettings, SettingsProvider, ShellReading
from desktop.safety.boundary.disk_snapshot import StatCache
from desktop.safety.boundary.policy import BoundaryPolicy, workspace_of
from desktop.safety.confinement.environment import met_by_commands
from desktop.safety.confinement.environment_names import changes_programs
from desktop.safety.shell.bound_files import Binder
from desktop.safety.shell.computed_text import BECAUSE, Sums
from desktop.safety.shell.network.hosts import hosts_in
from desktop.safety.shell.network.own_settings import OwnSettings, Places, places_here
from desktop.safety.shell.network.whole_command import Talk
from desktop.safety.shell.parts import parts_of, strange_part
from desktop.safety.shell.paths import PathReader, harmless_target
from desktop.safety.shell.programs import blocklist
from desktop.safety.shell.programs.builtins import computed_by
from desktop.safety.shell.programs.effects import Effect, effect_of
from desktop.safety.shell.programs.interpreters import SHELLS
from desktop.safety.shell.programs.launchers import changes_git, command_in
from desktop.safety.shell.programs.option_tables import Found
from desktop.safety.shell.programs.options import TAKES_ORDERS
from desktop.safety.shell.programs.variables import set_by
from desktop.safety.shell.programs.wrapper_tables import ONLY_STARTS
from desktop.safety.shell.programs.wrappers import TOO_MANY, Unwrapped, unwrap
from desktop.safety.shell.syntax.commands import Parsed, SimpleCommand, parse
from desktop.safety.shell.syntax.words import Word, base_name
from desktop.safety.shell.targets import JudgedCommand, Targets

MAX_COMMAND = 100_000
MAX_BOUND = 500
MAX_SCRIPTS = 8
_MAX_JUDGEMENTS = 100
_SHOWN = 400
_ENTERING = ("cd", "pushd", "chdir")
_SETTING = ("env", "export", "declare", "typeset", "local", "readonly")


class BashReader:
    """Implements ``domain.safety.ShellReader``. Reading happens in a thread: it looks at the disk, and the first one
    imports the parser. ``host`` is the app's own environment, of which commands get a part; ``places``: where
    their programs look for settings."""

    def __init__(
        self,
        policy: BoundaryPolicy,
        settings: SettingsProvider,
        host: Callable[[], Mapping[str, str]] = lambda: os.environ,
        places: Places | None = None,
    ) -> None:
        self._policy = policy
        self._settings = settings
        self._host = host
        self._places = places or places_here(host())

    def within(self, place: WorkPlace) -> BashReader:
        """The reader of commands that start there."""
        if not place.project:
            return self
        policy, settings = self._policy.within(place), self._settings
        return BashReader(policy, lambda: settings().within(place), self._host, self._places)

    async def read(self, command: str) -> ShellReading:
        """Judge a command that would start in the workspace."""
        return await asyncio.to_thread(self.read_now, command)

    def read_now(self, command: str) -> ShellReading:
        """Read a command. Blocks."""
        settings = self._settings()
        try:
            patterns = blocklist.compile_patterns(settings.blocked_patterns)
        except SettingsError as error:
            return ShellReading(Category.ADMIN, raised_because=str(error))
        blocked = blocklist.blocked_by_pattern(command, patterns)
        if len(command) > MAX_COMMAND:
            return ShellReading(Category.ADMIN, blocked, "it is too long to be read")
        own = OwnSettings(met_by_commands(settings, self._host()), self._places)
        reading = _Reading(settings, self._policy, own)
        try:
            if patterns and len(command) > blocklist.PATTERN_WINDOW:
                reading.raise_for("it is longer than what the blocked patterns are compared with")
            reading.named_anywhere(command)
            reading.script(command, 0)
            return reading.result(blocked)
        finally:
            reading.let_go()


class _Reading:
    """One command's reading while it grows."""

    def __init__(self, settings: SafetySettings, policy: BoundaryPolicy, own: OwnSettings) -> None:
        home = os.path.expanduser("~")
        start = os.path.realpath(workspace_of(settings))
        self._settings = settings
        self._variables = {"HOME": home, "PWD": start}
        self._policy = policy
        self._looked_at: list[str] = []
        self._moment = StatCache()
        self._lists = policy.lists(self._moment)
        self._paths = PathReader(self._lists, self._moment, home, [start])
        self._targets = Targets(self._paths, self._note)
        self._binder = Binder(self._paths, self._note)
        self._reasons: dict[str, None] = {}
        self._judgements: list[Judgement] = []
        self._parts: list[CommandPart] = []
        self._touched: dict[str, None] = {}
        self._bound: dict[str, None] = {}
        self._blocked: Blocked | None = None
        own.folders = self._paths.folders
        self._talk, self._sums, self._scripts = Talk(own), Sums.met(own.environment), 0

    def let_go(self) -> None:
        """Drop the readers: they hold each other, and 500 objects, until Python collects its garbage."""
        del self._targets, self._binder

    def raise_for(self, reason: str) -> None:
        """Note a reason why the command is admin; "" is none."""
        if reason:
            self._reasons[reason] = None

    def named_anywhere(self, command: str) -> None:
        """A denied path in any text of the command, also where only another program would take it for one."""
        for why in self._paths.named_in(command):
            self.raise_for(why)

    def result(self, blocked: Blocked | None) -> ShellReading:
        """The finished reading of the command."""
        self.raise_for(BECAUSE if self._sums.work_out() else "")
        for assigned in sorted(self._sums.set_in_passing):
            self.raise_for(_meaning_of(assigned))
        if len(self._bound) > MAX_BOUND:
            self.raise_for("it runs or changes more files than are compared again before it runs")
        reasons = list(self._reasons)
        shown = "; ".join(reasons[:4]) + (f"; and {len(reasons) - 4} more reasons" if len(reasons) > 4 else "")
        return ShellReading(
            category=Category.ADMIN if reasons else Category.WRITE,
            blocked=self._blocked or blocked,
            raised_because=shown,
            judgements=tuple(self._judgements[:_MAX_JUDGEMENTS]),
            paths=tuple(self._touched),
            **self._talk.reading,
            bound=tuple(self._bound),
            parts=tuple(self._parts),
            reads_only=not reasons and self._reads_only(),
            states={path: self._paths.disk.state_of(path) for path in list(self._bound)[:MAX_BOUND]},
            place=self._verdict(self._settings.workspace, Access.LIST),
        )

    def _verdict(self, path: str, access: Access) -> PathVerdict:
        return self._policy.explain(path, access, self._moment, self._lists)

    def _reads_only(self) -> bool:
        """Whether all that it does is known and reads, offline and inside the boundary."""
        if self._talk.network or self._blocked is not None or not self._judgements or not self._parts:
            return False
        if len(self._judgements) > _MAX_JUDGEMENTS or any(one.effect != "reads" for one in self._judgements):
            return False
        if any(one.hidden or one.said or one.assigns or "/" in one.text.partition(" ")[0] for one in self._parts):
            return False
        return self._may_be_read((*self._paths.folders, *self._looked_at))

    def _may_be_read(self, found: Sequence[str]) -> bool:
        """Whether the boundary lets all of this be read without asking."""
        found = tuple(dict.fromkeys(found))
        if len(found) > MAX_BOUND or self._paths.folder_unknown:
            return False
        verdicts = (self._verdict(path, Access.READ) for path in found if not harmless_target(path))
        return all(verdict.allowed and not verdict.elevated for verdict in verdicts)

    def script(self, source: str, depth: int) -> None:
        """Read a whole text as shell commands."""
        self._scripts += 1
        if depth > MAX_SCRIPTS or self._scripts > 40:
            self.raise_for("commands are nested too deeply to be read")
            return
        parsed: Parsed = parse(source, self._variables)
        self._talk.unclear |= bool(parsed.problems)
        self._sums.take(parsed)
        for problem in parsed.problems:
            self.raise_for(f"not all of it can be read: {problem}")
        if (strange := strange_part(parsed)) is not None:
            self._parts.append(strange)
        for command in parsed.commands:
            self._simple(command, depth)
        for text in parsed.unread:
            self.script(text, depth + 1)

    def _simple(self, command: SimpleCommand, depth: int) -> None:
        unwrapped = unwrap(command.words)
        self._parts += parts_of(command, unwrapped, self._talk.hosts_of)
        for layer in unwrapped.layers:
            self._check_blocked(layer)
        inner = unwrapped.innermost
        judged = JudgedCommand(command, self._effect(inner, unwrapped))
        for reason in (*unwrapped.reasons, *([TOO_MANY] if unwrapped.too_many else [])):
            self._note(judged, reason)
        self._names(command, judged, depth)
        self._executed(unwrapped, judged)
        self._piped(command, unwrapped, judged, depth)
        self._targets.written(judged)
        for redirect in command.redirects:
            self._targets.redirect(redirect, judged)
        self._denied(command, judged)
        self._targets.given(judged, inner)
        self._binder.bind(unwrapped, judged)
        self._talk.take(command, unwrapped, judged.effect.kind)
        self._finish(judged)
        for folder in unwrapped.folders:
            self._paths.enter(folder)
        if inner and base_name(inner[0].text) in _ENTERING:
            self._paths.enter(inner[1] if len(inner) > 1 else None)
        for script in unwrapped.scripts:
            if script.dynamic:
                self.raise_for("it runs text that is only known when it runs")
            self.script(script.text, depth + 1)

    def _check_blocked(self, layer: tuple[Word, ...], *, only_asks_for: str = "") -> bool:
        found = blocklist.blocked_by(layer, relax_plain_rm=self._settings.relax_plain_rm)
        if found is not None and found.word != only_asks_for:
            self._blocked = self._blocked or found
        return found is not None

    def _effect(self, inner: tuple[Word, ...], unwrapped: Unwrapped) -> Effect:
        if not inner or unwrapped.lookup_only:
            return Effect("reads")
        if inner[0].split:
            return Effect("unknown", reasons=["which command it is shows only when it runs"])
        name = base_name(inner[0].text)
        if name == "rm":
            return Effect("deletes", list(inner[1:]), reasons=["rm deletes files for good"])
        if name in ("hash", "enable", "bind", "complete") and any(w.text.startswith("-") for w in inner[1:]):
            return Effect("unknown", reasons=[f"{name} can change what a command name means"])
        effect = effect_of(name, inner[1:])
        for at, words in enumerate(unwrapped.layers):
            outer = base_name(words[0].text)
            effect = _with_options(outer, unwrapped.options_at(at), effect)
            if effect.kind == "reads" and at + 1 < len(unwrapped.layers) and outer not in ONLY_STARTS:
                effect.kind = "unknown"
        return effect

    def _names(self, command: SimpleCommand, judged: JudgedCommand, depth: int) -> None:
        """Variables that change what later commands do, and commands that they hold for others to run."""
        first = base_name(command.words[0].text) if command.words else ""
        for word in (*command.assignments, *command.words):
            name = re.match(r"([A-Za-z_]\w*)\+?=", word.text) if "=" in word.text else None
            if name is None:
                continue
            self._named(word.text, judged)
            if name[1] == "PATH":
                self._binder.look_in(word)
            if (word in command.assignments or first in _SETTING) and (held := command_in(word)):
                self.script(held.text, depth + 1)
        for named in set_by(command.words):
            if named == "PATH" and not any(word.text.startswith("PATH=") for word in command.words):
                self._binder.look_in(None)
            self._named(named.partition("[")[0], judged)

    def _named(self, assigned: str, judged: JudgedCommand) -> None:
        if why := _meaning_of(assigned):
            self._note(judged, why)

    def _executed(self, unwrapped: Unwrapped, judged: JudgedCommand) -> None:
        """What ``find -exec`` runs: rm asks as admin (R-BLK-8), every other blocked word is blocked."""
        for _, nested in unwrapped.below():
            for layer in nested.layers:
                if self._check_blocked(layer, only_asks_for="rm"):
                    self._note(judged, "it deletes everything that find finds")
            for script in nested.scripts:
                self.script(script.text, 1)
                if script.dynamic:
                    self._note(judged, "it runs text that is only known when it runs")
            inner = self._effect(nested.innermost, nested)
            for reason in (*nested.reasons, *inner.reasons):
                self._note(judged, reason)
            if inner.kind != "reads" and (inner.kind != "unknown" or judged.effect.kind == "reads"):
                judged.effect.kind = inner.kind

    def _piped(self, command: SimpleCommand, unwrapped: Unwrapped, judged: JudgedCommand, depth: int) -> None:
        """Text that a shell or an interpreter is fed with."""
        inner = unwrapped.innermost
        fed = [item for item in command.redirects if item.feeds_text]
        if inner and (fed or command.piped_from is not None) and base_name(inner[0].text) in TAKES_ORDERS:
            self._note(judged, f"{base_name(inner[0].text)} runs commands that it is fed with")
        reads_code = unwrapped.reads_stdin_as_code
        if inner and not reads_code and _interprets_input(inner):
            if fed or command.piped_from is not None:
                self._note(judged, f"{base_name(inner[0].text)} runs a program that it is fed with")
            return
        if not reads_code:
            return
        for item in fed:
            self.script(item.target.text, depth + 1)
            if item.target.dynamic:
                self._note(judged, "it runs text that is only known when it runs")
        if command.piped_from is not None:
            self._code_from(command.piped_from, judged, depth)
        elif not fed:
            self._note(judged, "it runs whatever comes in")

    def _code_from(self, source: SimpleCommand, judged: JudgedCommand, depth: int) -> None:
        name = base_name(source.words[0].text) if source.words else ""
        texts = [item.target.text for item in source.redirects if item.feeds_text]
        if name in ("echo", "printf", "cat") and not any(word.dynamic for word in source.words):
            if name != "cat":
                texts.append(" ".join(word.text for word in source.words[1:] if not word.text.startswith("-")))
            for text in texts:
                self.script(text.replace("\\n", "\n"), depth + 1)
        self._note(judged, f"it runs text that {name or 'another command'} gives it")

    def _denied(self, command: SimpleCommand, judged: JudgedCommand) -> None:
        """Any word that leads to a denied path raises and is named (C-33)."""
        words = [*command.words, *command.assignments]
        words += [item.target for item in command.redirects if not item.feeds_text]
        program, recursive = command.words[:1], judged.effect.recursive
        for word in words:
            if why := self._paths.denied(word, recursive=recursive):
                self._note(judged, f"{word.text[:80]}: {why}")
            if ":" in word.text:
                judged.touches += hosts_in(word)
            if word.known.startswith(("~", "/", ".")) and not word.dynamic and word is not words[0]:
                judged.touches += [path for path in self._paths.resolve(word) if not harmless_target(path)]
            if word not in program:
                self._looked_at += self._paths.leads(word)
        if self._paths.folder_unknown:
            self._note(judged, "in which folder it works shows only when it runs")

    def _note(self, judged: JudgedCommand, reason: str) -> None:
        if reason not in judged.notes:
            judged.notes.append(reason)
        self.raise_for(reason)

    def _finish(self, judged: JudgedCommand) -> None:
        for reason in judged.effect.reasons:
            self._note(judged, reason)
        touches = tuple(dict.fromkeys(judged.touches))
        for path in touches:
            if path.startswith(os.sep) or os.path.isabs(path):
                self._touched[path] = None
        for path in judged.bound:
            if path.startswith(os.sep) or os.path.isabs(path):
                self._bound[path] = None
        command = judged.command
        text = command.text if len(command.text) <= _SHOWN else command.text[: _SHOWN - 1] + "…"
        self._judgements.append(
            Judgement(text, judged.effect.kind, command.operator, touches[:20], "; ".join(judged.notes[:4]))
        )


def _with_options(name: str, found: Found, effect: Effect) -> Effect:
    """What its options add to what its name says."""
    effect.reasons += [f"{name} {option} starts another program" for option in dict.fromkeys(found.starts)]
    effect.reasons += found.because
    if found.sends:
        effect.reasons.append("it sends data to another computer")
    effect.replaces = effect.replaces or bool(found.writes)
    known = [word.text for word in effect.writes]
    effect.writes += [word for word in found.writes if word.text not in known]
    effect.by_option = found.writes
    effect.obeys = found.obeys
    if effect.kind == "reads" and (found.writes or found.changes):
        effect.kind = "writes"
    elif effect.kind == "reads" and (found.obeys or found.said or found.unlisted or found.hidden):
        effect.kind = "unknown"
    return effect


def _meaning_of(assigned: str) -> str:
    """Why setting a variable, ``NAME`` or ``NAME=value``, makes a command admin, or ""."""
    name = assigned.partition("=")[0].removesuffix("+")
    if computed_by(assigned):
        return f"bash computes what {name} is set to, which may run what a variable holds"
    meant = changes_programs(name) or changes_git(name)
    return f"setting {name} can change which programs run" if meant else ""


def _interprets_input(inner: tuple[Word, ...]) -> bool:
    """An interpreter without a program of its own reads it from its input."""
    name = base_name(inner[0].text)
    names = ("python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "tclsh", "pwsh", "powershell")
    if name in SHELLS or name not in names:
        return False
    return all(
        word.text == "-" or (word.text.startswith("-") and word.text not in ("-c", "-e", "-m")) for word in inner[1:]
    )
