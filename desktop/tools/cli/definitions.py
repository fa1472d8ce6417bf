"""tools.yaml as declared tools and problems with their places.

One bad entry costs itself only (R-CLI-1); a file that is no list of tools is ``broken``, and then nothing that was in
force changes (R-CLI-14). An unknown key is an error: a mistyped ``pattern`` would otherwise pass everything. Blocks and
loads PyYAML and jsonschema_rs: use a thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.domain.consents import Opening
from desktop.domain.judgement import Category
from desktop.domain.places import FormatError
from desktop.domain.skills import Severity, SkillProblem
from desktop.domain.suggestions import nearest
from desktop.tools.cli.environment import no_argument, read_env
from desktop.tools.cli.parameters import read_parameters
from desktop.tools.cli.reads import nothing_opens, read_reads
from desktop.tools.cli.template import NotATemplate, Template, template
from desktop.tools.cli.values import Parameter, schema_of
from desktop.yaml_text import tree
from desktop.yaml_text.tree import Node

SOURCE = "tools.yaml"
MAX_TOOLS = 200
MAX_ARGUMENTS = 200
MAX_ARGUMENT = 8_000
MAX_NAME = 64
MAX_TIMEOUT_S = 86_400
KEYS = (
    "name",
    "description",
    "category",
    "cmd",
    "args",
    "optional_args",
    "parameters",
    "env",
    "timeout",
    "cwd",
    "network",
    "reads",
)

OFFLINE_AS_SAID = "its entry in tools.yaml says network: false"
OFFLINE_UNASKED = "a tool that says it reads, and takes free text, has it only with network: true in its entry"

_BARE_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_BARE_CMD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:\\")
_META = re.compile(r"[;&|<>$`\"'*?()\[\]{}!#~\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class CliDefinition:
    """One declared tool. ``name`` is canonical (``kubectl-get``), the alias for models follows from it (C-30);
    ``params`` is the schema, one object for its whole life (R-TOOL-7). ``offline``: why it has no
    network, "" where it has it. ``reads``: denied folders that it needs, as written."""

    name: str
    description: str
    category: Category
    cmd: str
    args: tuple[Template, ...] = ()
    optional_args: tuple[tuple[str, tuple[Template, ...]], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    cwd: str = ""
    offline: str = ""
    reads: tuple[str, ...] = ()
    line: int = 1

    @property
    def network(self) -> bool:
        """Whether its program has the network."""
        return not self.offline


@dataclass(frozen=True, slots=True)
class CliRules:
    """What the app knows and this file does not: ``needs_admin`` says whether only an admin tool may set a variable
    (R-ENV-7), ``taken`` who has a name already, or "" (R-TOOL-8), ``opens`` what an entry of
    ``reads`` comes to (D-4)."""

    needs_admin: Callable[[str], bool]
    taken: Callable[[str], str] = lambda _: ""
    opens: Callable[[str], Opening] = nothing_opens


@dataclass(frozen=True, slots=True)
class CliFile:
    """What a text declares. ``broken``: it cannot be read as a list of tools at all."""

    definitions: tuple[CliDefinition, ...] = ()
    problems: tuple[SkillProblem, ...] = ()
    broken: bool = False


class EntryProblems:
    """Problems of one entry of the file ``source``, each with field, line and column."""

    def __init__(self, where: str, source: str = SOURCE) -> None:
        self.where = where
        self.source = source
        self.found: list[SkillProblem] = []

    @property
    def failed(self) -> bool:
        """Whether the entry cannot be used."""
        return any(problem.severity == "error" for problem in self.found)

    def error(self, node: Node, at: str, message: str) -> None:
        """The entry is skipped."""
        self._note("error", node, at, message)

    def warn(self, node: Node, at: str, message: str) -> None:
        """It works, and is perhaps not what was meant."""
        self._note("warning", node, at, message)

    def _note(self, severity: Severity, node: Node, at: str, message: str) -> None:
        words = f"{_joined(self.where, at)}: {message}"
        self.found.append(problem(severity, words, node.line, node.column, source=self.source))


def _joined(where: str, at: str) -> str:
    return f"{where}.{at}" if at else where


def problem(
    severity: Severity, message: str, line: int, column: int, code: str = "cli.entry", source: str = SOURCE
) -> SkillProblem:
    """A problem of the file, in the words of the page."""
    text = message if message.endswith((".", "?")) else f"{message}."
    return SkillProblem(source, text, line, column, severity, code)


def parse(text: str, rules: CliRules) -> CliFile:
    """Read a whole file; never raises for what it says."""
    try:
        root = tree.read(text)
        entries = _entries(root)
    except FormatError as error:
        broken = problem("error", str(error), error.line, error.column, "cli.file")
        return CliFile((), (broken,), broken=True)
    found: dict[str, CliDefinition] = {}
    problems = _top_level(root)
    for index, entry in enumerate(entries):
        notes = EntryProblems(f"tools[{index}]")
        definition = _Entry(entry, notes, rules).read()
        if definition is not None and definition.name in found:
            first = found[definition.name]
            notes.error(entry, "name", f"{definition.name} is declared in line {first.line} already")
        elif definition is not None and not notes.failed:
            found[definition.name] = definition
        problems += notes.found
    return CliFile(tuple(found.values()), tuple(problems))


def _entries(root: Node | None) -> list[Node]:
    """Raises FormatError when the file as a whole is something else."""
    if root is None:
        return []
    if root.kind != "map":
        raise FormatError("the file has to begin with `tools:`", root.line, root.column)
    if root.own_faults:
        first = root.own_faults[0]
        raise FormatError(first.message, first.line, first.column)
    tools = root.get("tools")
    if tools is None:
        raise FormatError("there is no list `tools:` in the file", root.line, root.column)
    if tools.empty:
        return []
    if tools.kind != "list" or tools.own_faults:
        raise FormatError("tools has to be a list: one `- name: …` for each", tools.line, tools.column)
    if len(tools.items) > MAX_TOOLS:
        raise FormatError(f"there are more than {MAX_TOOLS} tools", tools.line, tools.column)
    return tools.items


def _top_level(root: Node | None) -> list[SkillProblem]:
    keys = root.entries if root is not None else {}
    words = "nothing reads this key; tools stand below `tools:`"
    return [
        problem("warning", f"{name[:60]}: {words}", key.line, key.column, "cli.file")
        for name, (key, _) in keys.items()
        if name != "tools"
    ]


class _Entry:
    """Reads one entry; what is wrong goes into ``notes``."""

    def __init__(self, node: Node, notes: EntryProblems, rules: CliRules) -> None:
        self._node = node
        self._notes = notes
        self._rules = rules

    def read(self) -> CliDefinition | None:
        """The definition, or None; ``notes.failed`` says whether it may be used."""
        node, notes = self._node, self._notes
        for fault in node.faults():
            notes.found.append(problem("error", f"{notes.where}: {fault.message}", fault.line, fault.column))
        if node.kind != "map":
            notes.error(node, "", "an entry has to hold names with values, such as command: npx")
            return None
        name = self._name()
        if name:
            notes.where = f"{name} ({notes.where})"
        unknown_keys(node, KEYS, notes, "")
        category = self._category()
        parameters = read_parameters(node.get("parameters"), notes)
        args = self._arguments(node.get("args"), "args")
        groups = self._groups(node.get("optional_args"))
        cmd, env = self._cmd(), read_env(node.get("env"), category, self._rules.needs_admin, notes)
        _check_slots(node, args, groups, parameters, notes)
        offline = self._offline(category, parameters)
        return CliDefinition(
            name,
            self._description(cmd),
            category or Category.ADMIN,
            cmd,
            tuple(t for _, t in args),
            tuple((key, tuple(t for _, t in group)) for key, _, group in groups),
            parameters,
            schema_of(parameters),
            env,
            self._timeout(),
            self._cwd(),
            offline,
            read_reads(node.get("reads"), self._rules.opens, notes),
            node.line,
        )

    def _text(self, key: str) -> str | None:
        """A text that has to be one, or None; a value of another kind is noted."""
        node = self._node.get(key)
        if node is None:
            return None
        if node.kind != "text" or node.empty:
            self._notes.error(node, key, "this has to be a text")
            return None
        if hidden := no_argument(node.text):
            self._notes.error(node, key, hidden)
            return None
        return node.text

    def _name(self) -> str:
        text = self._text("name")
        if text is None:
            if self._node.get("name") is None:
                self._notes.error(self._node, "name", "every tool needs a name")
            return ""
        name = text.replace("_", "-")
        at = self._node.get("name") or self._node
        if len(name) > MAX_NAME or not _BARE_NAME.fullmatch(name):
            words = "a name is 1 to 64 of a to z, 0 to 9 and single underscores or hyphens between them"
            self._notes.error(at, "name", words)
            return ""
        if owner := self._rules.taken(name):
            self._notes.error(at, "name", f"{name} is the name of {owner}")
        return name

    def _category(self) -> Category | None:
        text = self._text("category")
        found = next((category for category in Category if category.value == text), None)
        if found is None:
            at = self._node.get("category") or self._node
            self._notes.error(at, "category", "every tool needs a category: read, write or admin")
        return found

    def _description(self, cmd: str) -> str:
        text = self._text("description")
        if text is None:
            if self._node.get("description") is None:
                self._notes.warn(self._node, "description", "models choose a tool by its description: add one")
            return f"Run {cmd}."
        if len(text) > 2000:
            self._notes.error(self._node.get("description") or self._node, "description", "at most 2,000 characters")
        return text

    def _cmd(self) -> str:
        text = self._text("cmd")
        at = self._node.get("cmd") or self._node
        if text is None:
            if self._node.get("cmd") is None:
                self._notes.error(at, "cmd", "every tool needs a program to run")
            return ""
        if "{{" in text:
            self._notes.error(at, "cmd", "which program runs is never filled in: no placeholders here")
        elif _ABSOLUTE.match(text):
            if _META.search(text) or ".." in re.split(r"[/\\]", text):
                self._notes.error(at, "cmd", "a program's path has no shell characters and no '..' in it")
        elif not _BARE_CMD.fullmatch(text):
            words = "this has to be one program's name or its absolute path; its arguments stand in args"
            self._notes.error(at, "cmd", words)
        return text

    def _arguments(self, node: Node | None, at: str) -> list[tuple[Node, Template]]:
        if node is None or node.empty:
            return []
        if node.kind != "list" or len(node.items) > MAX_ARGUMENTS:
            self._notes.error(node, at, f"this has to be a list of at most {MAX_ARGUMENTS} arguments")
            return []
        found = []
        for index, item in enumerate(node.items):
            where = f"{at}[{index}]"
            if item.kind != "text" or item.empty or len(item.text) > MAX_ARGUMENT:
                self._notes.error(item, where, 'one argument is one text (put "" for an empty one)')
            elif hidden := no_argument(item.text):
                self._notes.error(item, where, hidden)
            else:
                try:
                    found.append((item, template(item.text)))
                except NotATemplate as error:
                    self._notes.error(item, where, str(error))
        return found

    def _groups(self, node: Node | None) -> list[tuple[str, Node, list[tuple[Node, Template]]]]:
        if node is None or node.empty:
            return []
        if node.kind != "map":
            self._notes.error(node, "optional_args", "this has to be `parameter: [arguments]`")
            return []
        return [
            (name, key, self._arguments(value, f"optional_args.{name}")) for name, (key, value) in node.entries.items()
        ]

    def _timeout(self) -> float | None:
        node = self._node.get("timeout")
        if node is None:
            return None
        value = node.number()
        if value is None or not 0 < value <= MAX_TIMEOUT_S:
            self._notes.error(node, "timeout", f"this has to be a number of seconds up to {MAX_TIMEOUT_S}")
            return None
        return float(value)

    def _cwd(self) -> str:
        text = self._text("cwd")
        if text and "{{" in text:
            at = self._node.get("cwd") or self._node
            self._notes.error(at, "cwd", "the folder is never filled in: no placeholders here")
        return text or ""

    def _offline(self, category: Category | None, parameters: tuple[Parameter, ...]) -> str:
        """Why it has no network, or "". A tool that reads asks nobody: with a free text it has the network only where
        a person says so here (D-4)."""
        node = self._node.get("network")
        said = node.flag() if node is not None else None
        if node is not None and said is None:
            self._notes.error(node, "network", "this has to be true or false")
        unasked = category is Category.READ and any(p.free and "pattern" not in p.schema for p in parameters)
        if unasked and said:
            words = "a read tool asks nobody: with a free text a model can send out what it knows"
            self._notes.warn(node or self._node, "network", words)
        if said is False:
            return OFFLINE_AS_SAID
        return OFFLINE_UNASKED if unasked and not said else ""


def unknown_keys(node: Node, known: tuple[str, ...], notes: EntryProblems, at: str) -> None:
    """Each an error, with what was perhaps meant."""
    for name, (key, _) in node.entries.items():
        if name not in known:
            suggested = nearest(name, known)
            hint = f": did you mean {suggested[0]}?" if suggested else f"; there are {', '.join(known)}"
            notes.error(key, at, f"there is no key {name[:60]!r}{hint}")


def _check_slots(
    node: Node,
    args: list[tuple[Node, Template]],
    groups: list[tuple[str, Node, list[tuple[Node, Template]]]],
    parameters: tuple[Parameter, ...],
    notes: EntryProblems,
) -> None:
    """Every placeholder has a declared parameter that has a value there (R-CLI-4, R-CLI-7)."""
    known = {parameter.name: parameter for parameter in parameters}
    declared = node.get("parameters")
    places = declared.entries if declared is not None else {}
    used = {key for key, _, _ in groups}
    found = [(item, argument, f"args[{index}]", "") for index, (item, argument) in enumerate(args)]
    for key, place, group in groups:
        if key not in places:
            notes.error(place, f"optional_args.{key}", f"there is no parameter {key[:60]!r}")
            continue
        at = f"optional_args.{key}"
        found += [(item, argument, f"{at}[{index}]", key) for index, (item, argument) in enumerate(group)]
    for item, argument, at, own in found:
        used.update(argument.names)
        for name in argument.names:
            if name not in places:
                notes.error(item, at, f"{{{{{name}}}}} names no declared parameter")
            elif name in known and name != own and not known[name].available:
                words = f"{{{{{name}}}}} is optional and may have no value here"
                notes.error(item, at, f"{words}: move it to optional_args.{name}, or give it a default")
    for name in known.keys() - used:
        notes.warn(places[name][0], f"parameters.{name}", "no argument uses this parameter")
