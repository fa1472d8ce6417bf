"""tools.yaml as declared tools and problems with their places.

An unknown key is an error: a mistyped ``pattern`` would otherwise pass everything. Blocks and loads PyYAML and
jsonschema_rs: use a thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from desktop.domain.approval.consents import Opening
from desktop.domain.approval.judgement import Category
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.tools.cli.parameters import read_parameters
from desktop.tools.cli.reads import nothing_opens, read_reads
from desktop.tools.cli.template import NotATemplate, Template, template
from desktop.tools.cli.values import Parameter, schema_of
from desktop.tools.declared.entries import (
    DeclaredEntries,
    DeclaredList,
    EntryProblems,
    EntryReader,
    no_argument,
    unknown_keys,
)
from desktop.tools.declared.environment import read_env
from desktop.yaml_text.tree import Node

SOURCE = "tools.yaml"
TOOLS = DeclaredList(SOURCE, "tools", most=200)
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
    """One declared tool."""

    name: str
    """Its canonical name (``kubectl-get``); the alias for models follows from it (C-30)."""
    description: str
    """What models read."""
    category: Category
    """Who has to agree."""
    cmd: str
    """The program."""
    args: tuple[Template, ...] = ()
    """Its fixed arguments."""
    optional_args: tuple[tuple[str, tuple[Template, ...]], ...] = ()
    """The arguments of optional parameters, by parameter."""
    parameters: tuple[Parameter, ...] = ()
    """What may be filled in."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The schema, one object for its whole life (R-TOOL-7)."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Its variables."""
    timeout_s: float | None = None
    """Its time limit in seconds; None: the setting's."""
    cwd: str = ""
    """Where it runs; "": in the workspace."""
    offline: str = ""
    """Why it has no network; "" where it has it."""
    reads: tuple[str, ...] = ()
    """Denied folders that it needs, as written."""
    line: int = 1
    """Where it stands in the file."""

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


CliFile = DeclaredEntries[CliDefinition]


def parse(text: str, rules: CliRules) -> CliFile:
    """Read a whole file; never raises for what it says."""
    return TOOLS.read(text, lambda node, notes: _CliEntry(node, notes, rules).read())


class _CliEntry(EntryReader):
    def __init__(self, node: Node, notes: EntryProblems, rules: CliRules) -> None:
        super().__init__(node, notes)
        self._rules = rules

    def read(self) -> CliDefinition | None:
        """The definition, or None; ``notes.failed`` says whether it may be used."""
        node, notes = self.node, self.notes
        if not self.is_entry():
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
            self.timeout(MAX_TIMEOUT_S),
            self._cwd(),
            offline,
            read_reads(node.get("reads"), self._rules.opens, notes),
            node.line,
        )

    def _name(self) -> str:
        text = self.text("name")
        if text is None:
            if self.node.get("name") is None:
                self.notes.error(self.node, "name", "every tool needs a name")
            return ""
        name = text.replace("_", "-")
        at = self.at("name")
        if len(name) > MAX_NAME or not _BARE_NAME.fullmatch(name):
            words = "a name is 1 to 64 of a to z, 0 to 9 and single underscores or hyphens between them"
            self.notes.error(at, "name", words)
            return ""
        if owner := self._rules.taken(name):
            self.notes.error(at, "name", f"{name} is the name of {owner}")
        return name

    def _category(self) -> Category | None:
        text = self.text("category")
        found = next((category for category in Category if category.value == text), None)
        if found is None:
            at = self.at("category")
            self.notes.error(at, "category", "every tool needs a category: read, write or admin")
        return found

    def _description(self, cmd: str) -> str:
        text = self.text("description")
        if text is None:
            if self.node.get("description") is None:
                self.notes.warn(self.node, "description", "models choose a tool by its description: add one")
            return f"Run {cmd}."
        if len(text) > 2000:
            self.notes.error(self.at("description"), "description", "at most 2,000 characters")
        return text

    def _cmd(self) -> str:
        text = self.text("cmd")
        at = self.at("cmd")
        if text is None:
            if self.node.get("cmd") is None:
                self.notes.error(at, "cmd", "every tool needs a program to run")
            return ""
        if "{{" in text:
            self.notes.error(at, "cmd", "which program runs is never filled in: no placeholders here")
        elif _ABSOLUTE.match(text):
            if _META.search(text) or ".." in re.split(r"[/\\]", text):
                self.notes.error(at, "cmd", "a program's path has no shell characters and no '..' in it")
        elif not _BARE_CMD.fullmatch(text):
            words = "this has to be one program's name or its absolute path; its arguments stand in args"
            self.notes.error(at, "cmd", words)
        return text

    def _arguments(self, node: Node | None, at: str) -> list[tuple[Node, Template]]:
        if node is None or node.empty:
            return []
        if node.kind != "list" or len(node.items) > MAX_ARGUMENTS:
            self.notes.error(node, at, f"this has to be a list of at most {MAX_ARGUMENTS} arguments")
            return []
        found = []
        for index, item in enumerate(node.items):
            where = f"{at}[{index}]"
            if item.kind != "text" or item.empty or len(item.text) > MAX_ARGUMENT:
                self.notes.error(item, where, 'one argument is one text (put "" for an empty one)')
            elif hidden := no_argument(item.text):
                self.notes.error(item, where, hidden)
            else:
                try:
                    found.append((item, template(item.text)))
                except NotATemplate as error:
                    self.notes.error(item, where, str(error))
        return found

    def _groups(self, node: Node | None) -> list[tuple[str, Node, list[tuple[Node, Template]]]]:
        if node is None or node.empty:
            return []
        if node.kind != "map":
            self.notes.error(node, "optional_args", "this has to be `parameter: [arguments]`")
            return []
        return [
            (name, key, self._arguments(value, f"optional_args.{name}")) for name, (key, value) in node.entries.items()
        ]

    def _cwd(self) -> str:
        text = self.text("cwd")
        if text and "{{" in text:
            at = self.at("cwd")
            self.notes.error(at, "cwd", "the folder is never filled in: no placeholders here")
        return text or ""

    def _offline(self, category: Category | None, parameters: tuple[Parameter, ...]) -> str:
        """Why it has no network, or "". A tool that reads asks nobody: with a free text it has the network only where
        a person says so here (D-4)."""
        said = self.flag("network")
        unasked = category is Category.READ and any(p.free and "pattern" not in p.schema for p in parameters)
        if unasked and said:
            words = "a read tool asks nobody: with a free text a model can send out what it knows"
            self.notes.warn(self.at("network"), "network", words)
        if said is False:
            return OFFLINE_AS_SAID
        return OFFLINE_UNASKED if unasked and not said else ""


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
