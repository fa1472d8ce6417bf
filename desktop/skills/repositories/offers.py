"""What a repository brings, each with its problems: skills, agents and commands of plugins, MCP servers.

Made from files that were written to a folder of the app and lie still there. Every function blocks.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef, SkillProblem
from desktop.domain.text.places import FormatError
from desktop.files.private import make_folder, write_whole
from desktop.skills.catalogue.pins import Fingerprint
from desktop.skills.catalogue.scan import FOLDER_FILES
from desktop.skills.formats.folder import FolderFile
from desktop.skills.formats.loader import decode, read_bytes
from desktop.skills.formats.markdown import first_section
from desktop.skills.importing.staging import Candidate, candidate_of, looked_at
from desktop.skills.names import is_bare_name, numbered
from desktop.skills.repositories import plugins
from desktop.skills.repositories.reach import Reach, reach_of, reach_of_server
from desktop.skills.repositories.tree import MAX_SKILLS
from desktop.yaml_text.change import NotEditable, change_key

OfferKind = Literal["skill", "agent", "command", "server"]
LFS = b"version https://git-lfs.github.com/spec/v1"
MAX_SERVERS = 100
_GENERAL = frozenset({"skills", "skill", "agents", "commands", "plugins", "claude", "codex", "src", "lib"})
"""Folders whose names say nothing of what is in them."""


@dataclass(frozen=True, slots=True)
class DeclaredServer:
    """An MCP server as a declaration has it. ``entry`` is what mcp.yaml would have, ``runs`` what would run or the
    address, ``problem`` why it cannot be taken as it is, or "". ``wanted``: variables of the person that it names, and
    the entry of the keyring that it gets in the place of each."""

    name: str
    entry: Mapping[str, object]
    runs: str
    problem: str = ""
    hosts: tuple[str, ...] = ()
    wanted: tuple[tuple[str, str], ...] = ()


ReadServers = Callable[[str], tuple[DeclaredServer, ...]]
"""The servers in a declaration's text; never raises for it."""


@dataclass(frozen=True, slots=True)
class RepositoryOffer:
    """One thing that a repository brings."""

    kind: OfferKind
    """What it is there."""
    name: str
    """The name under which it would be taken."""
    rel: str
    """Its file in the repository."""
    digest: str = ""
    """Stands for all of its content as it is in the repository."""
    description: str = ""
    """What it is for."""
    main: Path | None = None
    """The file from which it is taken; None for a server, and where nothing can be taken."""
    definition: SkillDef | None = None
    """What that file says."""
    files: tuple[FolderFile, ...] = ()
    """What comes along."""
    scripts: tuple[str, ...] = ()
    """Those of them that a program can run."""
    problems: tuple[SkillProblem, ...] = ()
    """What is wrong with it."""
    text: str = ""
    """The declaration of a server; what else there is to read lies in files."""
    server: DeclaredServer | None = None
    """The server that it is."""

    @property
    def key(self) -> tuple[str, str]:
        """What names it in its repository, in every commit: a server may be called as a skill is."""
        return ("server" if self.kind == "server" else "skill", self.name)

    @property
    def usable(self) -> bool:
        """Whether it can be taken."""
        wrong = any(problem.severity == "error" for problem in self.problems)
        return not wrong and (self.definition is not None or self.server is not None)

    @property
    def reach(self) -> Reach:
        """What it says that it may reach."""
        if self.server is not None:
            variables = self.server.entry.get("env")
            names = sorted(map(str, variables)) if isinstance(variables, Mapping) else []
            return reach_of_server(self.server.runs, self.server.hosts, [f"${name}" for name in names])
        return reach_of(self.definition, self.scripts) if self.definition is not None else Reach({})


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the files beside what they say. ``wrong``: by a skill's file, why it cannot be had."""

    wrong: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, int] = field(default_factory=dict)
    modules: int = 0
    more: bool = False

    def as_json(self) -> dict[str, Any]:
        """For a file beside the files."""
        return {"wrong": dict(self.wrong), "links": dict(self.links), "modules": self.modules, "more": self.more}

    @classmethod
    def from_json(cls, data: object) -> Facts:
        """What ``as_json`` gave; nothing of what cannot be that."""
        found = data if isinstance(data, dict) else {}
        wrong, links, modules = found.get("wrong"), found.get("links"), found.get("modules")
        return cls(
            {str(key): str(value) for key, value in wrong.items()} if isinstance(wrong, dict) else {},
            {str(key): int(value) for key, value in links.items()} if isinstance(links, dict) else {},
            modules if isinstance(modules, int) else 0,
            found.get("more") is True,
        )


@dataclass(frozen=True, slots=True)
class Brought:
    """All of a repository, by name. ``hooks``: events on which a plugin would run something of its own, which is never
    taken."""

    offers: tuple[RepositoryOffer, ...] = ()
    hooks: int = 0
    facts: Facts = Facts()

    def find(self, key: tuple[str, str]) -> RepositoryOffer | None:
        """The one of this key that can be taken before any other."""
        found = [one for one in self.offers if one.key == key]
        return next((one for one in found if one.usable), found[0] if found else None)


def brought(files: Path, made: Path, facts: Facts, read_servers: ReadServers) -> Brought:
    """Look at the files of a commit. ``made`` is a folder for what agents and commands become."""
    staged = looked_at(files, most=MAX_SKILLS)
    inside = {one.rel: one for one in staged.candidates}
    found = [_quoted(_skill(files, one, facts), made) for one in staged.candidates]
    found += [_missing(rel, why) for rel, why in facts.wrong.items() if rel not in inside]
    texts = dict(_others(files, inside))
    roots = plugins.roots_of(texts, {rel: text for rel, text in texts.items() if rel.endswith(plugins.MARKETPLACE)})
    found += _converted(made, texts, roots)
    found += _servers(texts, read_servers)
    hooks = sum(plugins.hooks_in(text) for rel, text in texts.items() if rel.endswith("hooks/hooks.json"))
    more = facts.more or staged.more
    return Brought(tuple(_named(found, made)), hooks, replace(facts, more=more))


def _missing(rel: str, why: str) -> RepositoryOffer:
    name = os.path.basename(os.path.dirname(rel)) or rel
    return RepositoryOffer("skill", name, rel, problems=(SkillProblem(rel, why, code="repository.wrong"),))


# -- skills -----------------------------------------------------------------------------------------------------------


def _skill(files: Path, found: Candidate, facts: Facts) -> RepositoryOffer:
    above = Path(files, os.path.dirname(found.rel))
    prints = _print(files / found.rel, [(file.path, above / file.path) for file in found.files])
    problems = [*found.problems]
    if found.rel in facts.wrong:
        problems.insert(0, SkillProblem(found.rel, facts.wrong[found.rel], code="repository.wrong"))
    if links := facts.links.get(found.rel, 0):
        words = f"{links} link{'s' if links > 1 else ''} in its folder {'are' if links > 1 else 'is'} left out"
        problems.append(SkillProblem(found.rel, words, severity="warning", code="repository.links"))
    if lacks := _in_lfs(files / found.rel, above, found.files):
        problems.append(SkillProblem(found.rel, lacks, severity="warning", code="repository.lfs"))
    definition = found.definition
    if definition is not None and not is_bare_name(definition.name):
        problems.append(SkillProblem(found.rel, f"{definition.name!a} is no name of a skill", code="name.invalid"))
    return RepositoryOffer(
        "skill",
        found.name,
        found.rel,
        prints.digest,
        definition.description if definition is not None else "",
        files / found.rel,
        definition,
        found.files,
        found.scripts,
        tuple(problems),
    )


def _in_lfs(main: Path, above: Path, files: Iterable[FolderFile]) -> str:
    """What of it is not in the repository itself."""
    small = [above / file.path for file in files if file.size < 200]
    lacking = [path.name for path in (main, *small) if _starts(path).startswith(LFS)]
    return f"{lacking[0]} is kept with Git LFS: only a pointer to it is here" if lacking else ""


def _starts(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(len(LFS))
    except OSError:
        return b""


def _print(main: Path, beside: Iterable[tuple[str, Path]]) -> Fingerprint:
    """The content of a skill: each file by its name, whether it may run among it."""
    own = "SKILL.md" if main.name in FOLDER_FILES else main.name
    found = {own: _digest(main, main=True)}
    for name, path in beside:
        found[name] = _digest(path)
    return Fingerprint(str(main), found)


def content_of(main: Path, files: Iterable[FolderFile]) -> str:
    """The digest of a skill as it lies in a folder, as ``RepositoryOffer.digest`` has it. Blocks."""
    return _print(main, [(file.path, main.parent / file.path) for file in files]).digest


def _digest(path: Path, *, main: bool = False) -> str:
    """Of one file, with whether it may run: a script that may is another one."""
    made = hashlib.sha256()
    with contextlib.suppress(OSError), open(path, "rb") as file:
        made.update(b"run\0" if os.fstat(file.fileno()).st_mode & 0o100 and not main else b"\0")
        while chunk := file.read(1 << 20):
            made.update(chunk)
    return made.hexdigest()


# -- agents, commands, servers ----------------------------------------------------------------------------------------


def _others(files: Path, skills: Mapping[str, Candidate]) -> Iterator[tuple[str, str]]:
    """(path, text) of what is no part of a skill. A skill at the top owns all around it, and these all the same."""
    owned = {f"{os.path.dirname(rel)}/{file.path}" for rel, one in skills.items() if "/" in rel for file in one.files}
    for above, folders, names in os.walk(files):
        folders.sort()
        for name in sorted(names):
            rel = os.path.relpath(os.path.join(above, name), files).replace(os.sep, "/")
            if rel in skills or rel in owned or not _is_other(rel):
                continue
            with contextlib.suppress(FormatError):
                yield rel, decode(read_bytes(os.path.join(above, name))[0])


def _is_other(rel: str) -> bool:
    return plugins.is_agent(rel) or plugins.is_command(rel) or rel.endswith(plugins.DECLARATIONS)


def _converted(made: Path, texts: Mapping[str, str], roots: frozenset[str]) -> Iterator[RepositoryOffer]:
    for rel, text in texts.items():
        kind: OfferKind
        if plugins.is_agent(rel) and plugins.of_plugin(rel, "agents", roots):
            kind, convert = "agent", plugins.agent
        elif plugins.is_command(rel) and plugins.of_plugin(rel, "commands", roots):
            kind, convert = "command", plugins.command
        else:
            continue
        try:
            found = convert(rel, text)
        except FormatError as error:
            if kind == "command":  # which has a head only if it says so
                problem = SkillProblem(rel, f"{error}.", error.line, error.column, code=error.code)
                yield RepositoryOffer(kind, plugins.bare(Path(rel).stem), rel, problems=(problem,))
            continue
        if found is not None:
            yield _of_converted(made, kind, rel, found)


def _of_converted(made: Path, kind: OfferKind, rel: str, found: plugins.Converted) -> RepositoryOffer:
    above = hashlib.sha256(rel.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    place = f"{above}/{found.name}/SKILL.md"
    make_folder(made / above / found.name)
    write_whole(made / place, found.text.encode("utf-8", "replace"), lasting=False)
    one = candidate_of(made, place)
    digest = _print(made / place, ()).digest
    words = one.definition.description if one.definition is not None else ""
    return RepositoryOffer(kind, found.name, rel, digest, words, made / place, one.definition, problems=one.problems)


def _servers(texts: Mapping[str, str], read_servers: ReadServers) -> list[RepositoryOffer]:
    found: list[RepositoryOffer] = []
    for rel, text in texts.items():
        if not rel.endswith((plugins.SERVERS, plugins.VSCODE, plugins.PLUGIN)):
            continue
        declared = plugins.server_text(rel, text)
        for one in read_servers(declared) if declared else ():
            digest = hashlib.sha256(repr((one.name, sorted(one.entry.items(), key=str))).encode()).hexdigest()
            problem = one.problem or _own_program(one)
            problems = (SkillProblem(rel, problem, code="repository.server"),) if problem else ()
            words = (f"Would run {one.runs}" if one.entry.get("command") else f"Would ask {one.runs}") + _wanting(one)
            found.append(
                RepositoryOffer("server", one.name, rel, digest, words, problems=problems, server=one, text=_shown(one))
            )
    return found[:MAX_SERVERS]


def _shown(one: DeclaredServer) -> str:
    """Its declaration, a line each part."""
    entry = {key: value for key, value in one.entry.items() if key != "enabled"}
    return json.dumps(entry, indent=2, ensure_ascii=False, default=str) + "\n"


def _wanting(one: DeclaredServer) -> str:
    """What it wants of the person's environment, which it does not get."""
    if not one.wanted:
        return ""
    names = ", ".join(name for name, _ in one.wanted[:5])
    places = ", ".join(place for _, place in one.wanted[:5])
    return f". It wants {names} of your environment and does not get it: save under Settings, Keyring, {places}"


def _own_program(one: DeclaredServer) -> str:
    said = one.runs + repr(one.entry)
    if "CLAUDE_PLUGIN_ROOT" in said:
        return "It starts a program of the repository itself, and those are not taken: only what it says is."
    return ""


# -- names ------------------------------------------------------------------------------------------------------------


def _named(found: Iterable[RepositoryOffer], made: Path) -> Iterator[RepositoryOffer]:
    """Each with a name of its own. The same under several paths is one. Another of a name that is taken, and one whose
    name is none here, can be taken under a name that says where it is from."""
    first: dict[tuple[str, str], RepositoryOffer] = {}
    later: list[RepositoryOffer] = []
    for one in sorted(found, key=lambda one: (one.name, not one.usable, one.rel.count("/"), one.rel)):
        if _is_misnamed(one):
            later.append(one)
            continue
        before = first.setdefault(one.key, one)
        if before is one:
            yield one
        elif before.digest != one.digest or not one.digest:
            later.append(one)
    seen = {one.digest for one in first.values()}
    for one in later:
        if one.digest in seen:
            continue
        seen.add(one.digest)
        name = _free_name(one, first)
        renamed = _renamed(one, name, made) if name and one.main is not None else None
        if renamed is not None:
            first[renamed.key] = renamed
        yield renamed or _kept_out(one, first.get(one.key))


def _is_misnamed(one: RepositoryOffer) -> bool:
    errors = [problem.code for problem in one.problems if problem.severity == "error"]
    return one.kind == "skill" and errors == ["name.invalid"] and one.main is not None


def _kept_out(one: RepositoryOffer, before: RepositoryOffer | None) -> RepositoryOffer:
    if before is None or not one.usable:
        return one
    words = f"{before.rel} is called {one.name}, too, and comes first."
    return replace(one, problems=(SkillProblem(one.rel, words, code="name.duplicate"),))


def _free_name(one: RepositoryOffer, taken: Container[tuple[str, str]]) -> str:
    """The nearest bare name, then with the plugin's before it, then with a number."""
    if one.kind == "server":
        return ""
    base = plugins.bare(one.name if not _is_misnamed(one) else os.path.basename(os.path.dirname(one.rel)) or one.name)
    parts = [plugins.bare(part) for part in one.rel.split("/")[:-1]]
    above = next((part for part in reversed(parts) if part and part not in _GENERAL and part != base), "")
    names = [base, *([plugins.bare(f"{above}-{base}")] if above else []), *(numbered(base, n) for n in range(2, 100))]
    return next((name for name in names if is_bare_name(name) and ("skill", name) not in taken), "")


def _renamed(one: RepositoryOffer, name: str, made: Path) -> RepositoryOffer | None:
    """The same under another name, also inside its file; None where that cannot be changed."""
    assert one.main is not None
    try:
        text = decode(read_bytes(str(one.main))[0])
        head = first_section(text)
        at = text.index("\n") + 1
        text = text[:at] + change_key(head.head, ("name",), name) + text[at + len(head.head) :]
    except (FormatError, NotEditable, ValueError):
        return None
    said = one.definition.name if one.definition is not None else _said(one)
    return _remade(one, name, text, made, f"it is called {said} there, and {name} here")


def _quoted(one: RepositoryOffer, made: Path) -> RepositoryOffer:
    """The same with a head that is YAML, where quotes are all that it lacks: other apps read such a line to its end."""
    if one.main is None or [problem.code for problem in one.problems] != ["frontmatter.yaml"]:
        return one
    try:
        text = decode(read_bytes(str(one.main))[0])
        head = first_section(text).head
    except FormatError:
        return one
    at = text.index("\n") + 1
    text = text[:at] + plugins.with_quotes(head) + text[at + len(head) :]
    found = _remade(one, one.name, text, made, "a line of its head lacks quotes, which it has here")
    if found is None or found.definition is None:
        return one
    return replace(found, name=found.definition.name)


def _remade(one: RepositoryOffer, name: str, text: str, made: Path, words: str) -> RepositoryOffer | None:
    """The same with another text of its own file, beside which everything else lies; ``words`` say so."""
    assert one.main is not None
    above = hashlib.sha256(one.rel.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    place = f"{above}/{name}/{one.main.name if one.main.name in FOLDER_FILES else f'{name}.skill.md'}"
    folder = (made / place).parent
    make_folder(folder)
    write_whole(made / place, text.encode("utf-8", "replace"), lasting=False)
    for file in one.files:
        _second_name(one.main.parent / file.path, folder / file.path)
    found = candidate_of(made, place, one.files)
    problems = (*found.problems, SkillProblem(one.rel, words, severity="warning", code="name.changed"))
    return replace(
        one,
        name=name,
        main=made / place,
        definition=found.definition,
        description=found.definition.description if found.definition is not None else one.description,
        scripts=found.scripts,
        problems=problems,
    )


def _said(one: RepositoryOffer) -> str:
    found = next((problem.message for problem in one.problems if problem.code == "name.invalid"), "")
    return found.rpartition("not ")[2] or one.name


def _second_name(path: Path, other: Path) -> None:
    make_folder(other.parent)
    with contextlib.suppress(FileExistsError):
        try:
            os.link(path, other)
        except FileExistsError:
            raise
        except OSError:  # a disk without a second name for a file
            shutil.copy(path, other)
