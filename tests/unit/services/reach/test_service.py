"""What the reach explorer says is what becomes of real calls, and what "prove it" tells is true (R-FS-11, R-FS-12)."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.approval.reach import Agreement, Proof
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import ConfigurationError
from desktop.domain.models import Connection
from desktop.domain.safety import Access, ConfinementKind, PathVerdict
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.boundary.reach import Attempt, Attempts, ProvenFiles, Prover
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.profile import profile_for
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.services.definitions.book import AgentBook
from desktop.services.reach.judge import NEW_FILE, Judge
from desktop.services.reach.proof import lines_of, summary_of
from desktop.services.reach.service import PROOF, ReachService, ReachServices
from desktop.services.rules.trust import TrustRules
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.patterns.lists import AllowedList
from desktop.store import Store
from desktop.supervision.tasks import TaskOwner
from desktop.tools.builtin.files import ListDirectory, ReadFile, WriteFile
from tests.harness.changes import KeepsNothing
from tests.harness.store import calls_noted
from tests.unit.pipeline.kit import Bench, Table
from tests.unit.safety.world import World
from tests.unit.services.kit import skill_world

RULES = (
    "",
    "write-file(path=docs/**,$policy=allow)",
    "write-file(path=docs/*.md,$policy=allow)",
    "read-file(path=docs/**,$policy=deny)",
    "read-file($policy=ask) write-file(path=**/a.md,$policy=deny)",
    "list-directory(path=docs,$policy=deny)",
    "*($policy=allow)",
    "write-file($policy=allow) write-file(path=out/**,$policy=ask)",
)
LISTS = (None, "read-file list-directory", "read-file list-directory write-file(path=docs/**)", "")


class EffectRequest:
    """A person who denies all, and counts."""

    def __init__(self) -> None:
        self.requests: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.requests.append(request)
        return Decision("deny", request.digest)


class Lab:
    """A world with a few of everything, its real gate and its real tools."""

    def __init__(self, root: Path) -> None:
        self.world = world = World(root)
        (world.home / "config.yaml").write_text("x: 1\n")
        w = world.workspace
        for name in ("docs", "out", "secrets", "locked", ".git"):
            (w / name).mkdir()
        for name in ("docs/a.md", "out/b.txt", "secrets/key"):
            (w / name).write_text("x")
        (w / "keys").symlink_to(world.ssh)
        (w / "out2").symlink_to(w / "out")
        (w / "self").symlink_to(w / "self")
        (w / "dangling").symlink_to(w / "nothing")
        os.mkfifo(w / "pipe")
        os.link(world.ssh / "id_rsa", w / "second-name")
        world.change(
            allowed=(str(w), str(world.home), str(world.person / ".config")),
            denied=(str(world.ssh), str(w / "secrets")),
        )

    @property
    def paths(self) -> list[str]:
        world, w = self.world, self.world.workspace
        names = (
            ".",
            "docs",
            "docs/a.md",
            "out",
            "out/b.txt",
            "secrets",
            "secrets/key",
            "keys",
            "keys/id_rsa",
            "out2",
            "self",
            "out2/b.txt",
            "dangling",
            "pipe",
            "second-name",
            "note.txt",
            ".git",
            "locked",
        )
        others = (
            world.home,
            world.home / "config.yaml",
            world.home / "data",
            world.home / "agents",
            world.outside,
            world.outside / "secret.txt",
            world.ssh,
            world.person,
            "/dev/null",
            "/proc",
            "/",
        )
        return [str(w / name) for name in names] + [str(path) for path in others]

    def book(self, text: str) -> TrustRules:
        return TrustRules(text=text, cwd=str(self.world.workspace), home=str(self.world.person))

    def judge(self, book: TrustRules, allowed: AllowedList | None) -> Judge:
        return Judge(self.world.policy, self.world.settings, book.frozen().all, allowed)


class Real:
    """Real calls through the real pipeline and gate."""

    def __init__(self, lab: Lab, book: TrustRules, allowed: AllowedList | None) -> None:
        self.owner, self.asked = TaskOwner(), EffectRequest()
        files = lab.world.files()
        settings = lambda: lab.world.settings  # noqa: E731
        tools = [ReadFile(files, settings), ListDirectory(files), WriteFile(files, KeepsNothing())]
        gate = PermissionGate(self.asked, book, _unwritten, settings, redactor=SecretRedactor())
        self.bench = Bench()
        self.bench.pipeline = Pipeline(Table(*tools), self.owner.spawn, trust=gate)  # type: ignore[arg-type]
        self.caller = Caller() if allowed is None else Caller(allowed=allowed)

    async def call(self, tool: str, path: str) -> str:
        """passes | asks | denied."""
        before = len(self.asked.requests)
        arguments = {"path": path, "content": "x"} if tool == "write-file" else {"path": path}
        outcome = await self.bench.call(tool, arguments, caller=self.caller)
        if len(self.asked.requests) > before:
            return "asks"
        return "denied" if outcome.result.code.startswith(("denied.", "file.")) else "passes"


async def _unwritten(_entry: AuditEntry) -> None:
    return None


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    made = Lab(tmp_path)
    monkeypatch.setenv("HOME", str(made.world.person))
    return made


def strictest(*found: str) -> str:
    return max(found, key=("passes", "asks", "denied").index)


@pytest.mark.spec("R-FS-11", "R-PRM-11", "R-FS-3", "R-FS-10", "R-FS-13")
@pytest.mark.parametrize("setting", [False, True], ids=["asking", "workspace writes pass"])
@pytest.mark.parametrize("allowed", LISTS, ids=["every tool", "no write-file", "write-file in docs", "no tool"])
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)], ids=["some", "all"])
async def test_the_tint_is_what_becomes_of_a_real_call(
    lab: Lab, allowed: str | None, setting: bool, every: int
) -> None:
    """Each rule at each path twice, with different lists and settings; all of it takes half a minute."""
    lab.world.change(auto_approve_workspace_writes=setting)
    tools = None if allowed is None else AllowedList.of(allowed, cwd=str(lab.world.workspace), home="/nowhere")
    compared = 0
    pairs = list(itertools.product(RULES, lab.paths))[(LISTS.index(allowed) + 2 * setting) % every :: every]
    for text, path in pairs:
        book = lab.book(text)
        row = lab.judge(book, tools).row(path)
        real = Real(lab, book, tools)
        if row.opens:
            inner = os.path.join(path, NEW_FILE)
            expected_write = await real.call("write-file", inner)
            listed = await real.call("list-directory", path)
            readable = lab.world.policy.explain(path, Access.LIST).allowed
            inside = await _would_read(real, lab, inner) if readable else "denied"
            expected_read = strictest(listed, inside)
            Path(inner).unlink(missing_ok=True)
        else:
            expected_read = await real.call("read-file", path) if os.path.exists(path) else row.read.what
            expected_write = await real.call("write-file", path)
        assert (row.read.what, row.write.what) == (expected_read, expected_write), (text, path, row)
        await real.owner.close()
        compared += 1
        _restore(lab)
    assert compared == len(pairs) >= len(RULES) * len(lab.paths) // every


async def _would_read(real: Real, lab: Lab, inner: str) -> str:
    """Reading a new file in a folder: made for a moment where it can be."""
    if not lab.world.policy.explain(inner, Access.READ).allowed:
        return "denied"
    Path(inner).write_text("x")
    return await real.call("read-file", inner)


def _restore(lab: Lab) -> None:
    """What passed was written."""
    w = lab.world.workspace
    (w / "nothing").unlink(missing_ok=True)


@pytest.mark.spec("R-FS-11")
@pytest.mark.parametrize(
    ("path", "rules", "state", "words"),
    [
        ("{w}/docs", "", "asks", "reads, writes ask"),
        ("{w}/docs", "write-file(path=docs/**,$policy=allow)", "rule", "reads, writes by a rule"),
        ("{w}/.git", "", "asks", "reads, writes ask as admin"),
        ("{w}/docs", "write-file($policy=deny)", "read_only", "reads only, by a rule"),
        ("{w}/docs", "read-file($policy=deny)", "asks", "no reading, writes ask"),
        ("{w}/docs", "read-file($policy=ask)", "asks", "reads ask, writes ask"),
        ("{w}/docs", "read-file($policy=deny) write-file($policy=deny)", "denied", "denied by a rule"),
        ("{w}/secrets", "", "denied", "denied"),
        ("{w}/keys", "", "denied", "denied"),
        ("{w}/second-name", "", "denied", "denied"),
        ("{w}/out2", "", "asks", "reads, writes ask"),
        ("{w}/self", "", "outside", "leads nowhere"),
        ("{w}/pipe", "", "special", "special file"),
        ("{h}/config.yaml", "", "read_only", "reads only, protected"),
        ("{h}/agents", "", "read_only", "reads only, protected"),
        ("{h}/data", "", "protected", "protected"),
        ("{o}", "", "outside", "not reachable"),
        ("{o}/secret.txt", "*($policy=allow)", "outside", "not reachable"),
    ],
)
def test_each_state_has_its_tint_and_words(lab: Lab, path: str, rules: str, state: str, words: str) -> None:
    world = lab.world
    full = path.format(w=world.workspace, h=world.home, o=world.outside)
    row = lab.judge(lab.book(rules), None).row(full)
    assert (row.state, row.words) == (state, words)


@pytest.mark.spec("R-FS-11")
@pytest.mark.parametrize(
    ("path", "kind", "state", "words"),
    [
        ("{o}/secret.txt", "landlock", "outside", "commands read"),
        ("{o}/secret.txt", "bubblewrap", "outside", "not reachable"),  # this world lies in /tmp
        ("/usr", "bubblewrap", "outside", "commands read"),
        ("/", "landlock", "outside", "commands read"),
        ("/usr", "none", "outside", "commands read and write"),
        ("{w}/secrets", "bubblewrap", "denied", "denied"),
        ("{w}/secrets", "none", "denied", "denied, commands read and write"),
        ("{h}/data", "landlock", "protected", "protected"),
        ("{w}/docs", "landlock", "asks", "reads, writes ask"),
        ("/proc", "landlock", "special", "devices and processes"),
    ],
)
def test_a_row_says_what_commands_can_do_where_file_tools_cannot(
    lab: Lab, path: str, kind: ConfinementKind, state: str, words: str
) -> None:
    world = lab.world
    full = path.format(w=world.workspace, h=world.home, o=world.outside)
    profile = profile_for(world.policy, lambda: world.settings)
    row = replace(lab.judge(lab.book(""), None), profile=profile, kind=kind).row(full)
    assert (row.state, row.words) == (state, words)


def test_a_link_is_told_with_its_target_and_opens_where_it_leads(lab: Lab) -> None:
    row = lab.judge(lab.book(""), None).row(str(lab.world.workspace / "keys"))
    assert (row.kind, row.target, row.resolved, row.opens) == ("link", str(lab.world.ssh), str(lab.world.ssh), True)


def test_an_agent_without_the_tool_reads_only_or_nothing(lab: Lab) -> None:
    docs = str(lab.world.workspace / "docs")
    reader = AllowedList.of("read-file list-directory", cwd="/", home="/")
    assert lab.judge(lab.book(""), reader).row(docs).words == "reads only, no tool"
    assert lab.judge(lab.book(""), AllowedList.of("", cwd="/", home="/")).row(docs).words == "no tool for it"


# -- proofs -----------------------------------------------------------------------------------------------------------


def verdict(allowed: bool, rule: str = "outside", access: Access = Access.READ) -> PathVerdict:
    return PathVerdict(allowed, "/x", "/x", rule, "", access)


def agreement(way: Any, attempt: Attempt, found: PathVerdict, kind: str) -> tuple[Agreement, str]:
    line = lines_of(way, Attempts(attempt, attempt), found, found, kind)[0]
    return line.agrees, line.words


OPENED, EACCES, HIDDEN = Attempt("opened"), Attempt("refused", "EACCES"), Attempt("hidden", "ENOENT")


@pytest.mark.parametrize(
    ("way", "attempt", "allowed", "rule", "kind", "agrees", "words"),
    [
        ("command", EACCES, False, "denied ~/.ssh", "landlock", "yes", "refused by the kernel (EACCES)"),
        ("command", HIDDEN, False, "denied ~/.ssh", "bubblewrap", "yes", "refused by the kernel (hidden)"),
        ("command", OPENED, True, "allowed ~", "landlock", "yes", "opened"),
        ("command", OPENED, False, "denied ~/.ssh", "landlock", "bug", "opened"),
        ("command", OPENED, False, "protected /a", "bubblewrap", "bug", "opened"),
        ("command", OPENED, False, "outside", "bubblewrap", "limit", "opened"),
        ("command", OPENED, False, "denied ~/.ssh", "none", "unconfined", "opened"),
        ("command", EACCES, True, "allowed ~", "landlock", "stricter", "refused by the kernel (EACCES)"),
        ("command", EACCES, True, "allowed ~", "none", "stricter", "refused by the system (EACCES)"),
        ("command", Attempt("untried", "a pipe"), False, "special", "landlock", "unknown", "not tried: a pipe"),
        ("file tool", Attempt("refused", "Assent"), False, "outside", "landlock", "yes", "refused by Assent"),
        ("file tool", OPENED, False, "outside", "landlock", "bug", "opened"),
        ("file tool", OPENED, False, "outside", "none", "bug", "opened"),
        ("file tool", EACCES, True, "allowed ~", "landlock", "stricter", "refused by the system (EACCES)"),
    ],
)
def test_what_was_tried_is_compared_with_the_tint(
    way: Any, attempt: Attempt, allowed: bool, rule: str, kind: str, agrees: str, words: str
) -> None:
    assert agreement(way, attempt, verdict(allowed, rule), kind) == (agrees, words)


def test_writing_outside_is_a_bug_even_where_reading_is_a_known_limit() -> None:
    _, write = lines_of("command", Attempts(OPENED, OPENED), verdict(False), verdict(False), "landlock")
    assert write.agrees == "bug"


def test_the_summary_is_short_where_both_ways_end_alike() -> None:
    found = verdict(False, "denied x")
    lines = (
        *lines_of("command", Attempts(EACCES, EACCES), found, found, "landlock"),
        *lines_of("file tool", Attempts(Attempt("refused", "Assent"), Attempt("refused", "Assent")), found, found, ""),
    )
    assert summary_of(lines) == "commands: both refused by the kernel (EACCES); file tools: both refused by Assent"
    assert Proof("/x", 0.0, lines, "").worst == "yes"


class Told:
    """The activity log, in a list."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def add(self, entry: AuditEntry) -> int | None:
        return await self.store.audit.add(entry=entry)

    def settle(self, *, number: int, outcome: str) -> None:
        self.store.audit.settle(number=number, outcome=outcome)


class Office:
    """A whole service."""

    def __init__(self, lab: Lab, root: Path) -> None:
        self.search: Connection | None = None
        skills = root / "skills"
        skills.mkdir()
        (skills / "reader.skill.md").write_text(
            "---\nname: reader\ndescription: Reads\nallowed-tools: read-file list-directory\n---\nRead.\n"
        )
        self.lab, self.listeners = lab, []
        self.store = Store(root / "assent.db")
        self.confinement = SystemConfinement(lab.world.policy, lambda: lab.world.settings)
        self.book = lab.book("")
        policy = lab.world.policy
        agents = {
            "reader": AgentDefinition("reader", SideDefinition("reader")),
            "lost": AgentDefinition("lost", SideDefinition("gone")),
        }
        self.service = ReachService(
            ReachServices(
                policy=policy,
                settings=lambda: lab.world.settings,
                rules=self.book,
                agents=AgentBook(agents),
                skills=skill_world(Table(), SearchRoot(str(skills), "mine")),
                confinement=self.confinement,
                prover=Prover(policy, ProvenFiles(policy), self.confinement, GroupRunner(), lambda: lab.world.settings),
                log=Told(self.store),
                activity=self.store.audit,
                changes=self.changes,
                search=lambda: self.search,
            ),
            clock=lambda: 1000.0,
        )

    def changes(self, listener: Any) -> Any:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)


@pytest.fixture
async def office(lab: Lab, tmp_path: Path) -> AsyncIterator[Office]:
    made = Office(lab, tmp_path)
    await made.store.open()
    with contextlib.closing(made.confinement):
        yield made
    await made.store.close()


@pytest.mark.spec("R-PRM-13", "R-FS-11")
async def test_a_proof_is_written_to_the_activity_log_and_found_there_again(office: Office) -> None:
    assert await office.service.last_proof() is None
    path = str(office.lab.world.workspace / "secrets")
    proof = await office.service.prove("", path)
    assert {line.outcome for line in proof.lines} == {"refused"}
    if office.confinement.probe().kind != "none":
        assert proof.worst == "yes"
    ((_, entry),) = await calls_noted(office.store.audit)
    assert (entry.tool, entry.by, entry.decision, entry.paths) == (PROOF, "user", "allow_once", (path,))
    assert json.loads(entry.summary) == {"path": path}
    assert entry.outcome == proof.summary
    last = await office.service.last_proof()
    assert last is not None
    assert (last.path, last.at, last.summary) == (path, 1000.0, proof.summary)


async def test_a_proof_of_a_name_that_is_no_text_can_be_written_down(office: Office) -> None:
    path = os.fsdecode(os.fsencode(office.lab.world.workspace) + b"/caf\xe9")
    Path(path).write_text("x")
    proof = await office.service.prove("", path)
    assert {line.outcome for line in proof.lines} == {"opened"}
    ((_, entry),) = await calls_noted(office.store.audit)
    assert "caf" in entry.summary


@pytest.mark.spec("R-FS-12")
async def test_lists_rules_and_the_agents_tools_count_at_the_next_look(office: Office) -> None:
    docs = str(office.lab.world.workspace / "docs")

    async def words(agent: str = "") -> str:
        (row,) = await office.service.judge(agent, [docs])
        return row.words

    told: list[int] = []
    detach = office.service.on_change(lambda: told.append(1))
    assert await words() == "reads, writes ask"
    assert await words("reader") == "reads only, no tool"
    await office.book.add({"pattern": "write-file(path=docs/**)", "policy": "allow"})
    assert await words() == "reads, writes by a rule"
    office.lab.world.change(denied=(docs,))
    assert await words() == "denied"
    assert told == [1]
    detach()
    assert office.listeners == []
    with pytest.raises(ConfigurationError, match="Lost needs the skill"):
        await words("lost")


async def test_the_tree_begins_with_the_allowed_folders_that_lie_in_no_other(office: Office) -> None:
    world = office.lab.world
    assert office.service.roots() == (str(world.home), str(world.person), "/")
    world.change(allowed=(str(world.workspace), str(world.outside), "/not/there"))
    assert office.service.roots() == (str(world.workspace), str(world.outside), str(world.person), "/")
    world.change(allowed=(str(world.workspace), str(world.home), str(world.person / ".config")))
    assert office.service.landmarks()[:2] == (str(world.workspace), str(world.home))
    assert office.service.agents() == (("reader", "Reader"), ("lost", "Lost"))
    found = await office.service.level(str(world.workspace))
    assert found.names[:2] == (".git", "docs")


@pytest.mark.spec("R-PRJ-2", "R-FS-11")
async def test_what_a_chat_in_a_project_reaches_is_judged_and_proven_as_its_calls_are(office: Office) -> None:
    service, world = office.service, office.lab.world
    project = world.person / "work" / "tides"
    project.mkdir(parents=True)
    inside, denied = project / "a.txt", project / "keys"
    inside.write_text("a")
    denied.mkdir()
    world.change(denied=(str(denied),))
    await office.book.add({"pattern": "write-file", "policy": "allow", "thread_id": str(project)})

    async def states() -> list[str]:
        return [row.state for row in await service.judge("", [str(inside), str(denied)])]

    before = await states()
    assert before == ["outside", "denied"]
    assert str(project) not in service.roots()
    service.work_in(str(project))
    assert await states() == ["rule", "denied"]
    assert service.roots()[0] == str(project) or str(project) in service.roots()
    proof = await service.prove("", str(project))
    assert "opened" in proof.summary
    service.work_in("")
    assert await states() == before
    proof = await service.prove("", str(project))
    assert any(line.outcome == "refused" for line in proof.lines)
