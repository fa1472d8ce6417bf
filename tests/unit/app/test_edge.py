"""A thread at the edge of its folder, in the whole runtime: real files, real commands in real copies, a scripted model.

One refactoring of 40 calls, asked each time and at the edge; and every trick of the corpora, none of which may pass
unasked with an effect outside the folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.domain.approval.audit import AuditFilter
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.settings import SettingsService
from tests.harness.timeouts import WAIT_S

DATA = Path(__file__).resolve().parents[2] / "data"
CORPORA = {"shell_corpus.tsv": 1, "shell_later_tricks.tsv": 2, "shell_rule_tricks.tsv": 2}
STEP, PARTS = 30, 4
_ESCAPED = re.compile(r"\\([nt\\])")
SECONDS = 6.0
"""What one question takes a person who reads it, for the figure alone."""
MODULES = ("gauge", "levels", "tides", "report", "clean", "ingest", "plots", "cli")


class Person:
    """Allows or denies everything, and remembers what was asked."""

    def __init__(self, choice: str = "allow_once") -> None:
        self.choice = choice
        self.asked: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        return Decision(self.choice, request.digest)  # type: ignore[arg-type]


class Bench:
    """The runtime of one home, with one thread that works in a folder."""

    def __init__(self, services: Services, person: Person, project: Path, thread_id: str) -> None:
        self.services, self.person, self.project, self.thread_id = services, person, project, thread_id
        self.decided: list[str] = []
        self._calls = 0

    async def call(self, tool: str, **arguments: Any) -> CallResult:
        """One call of the thread's agent."""
        self._calls += 1
        meta = RunMeta("run", CancellationToken(), thread_id=self.thread_id, project=str(self.project))
        block = ToolCallBlock(f"c{self._calls}", tool, arguments)
        request = CallRequest(block, Caller("native", ("Agent",)), Invocation(meta), lambda _event: None)
        pipeline = self.services.skills.runs.pipeline
        assert pipeline is not None
        return await pipeline.invoke(request)

    async def said(self) -> list[str]:
        """By whom each call was decided that wanted a decision, in order."""
        page = await self.services.store.audit.page(AuditFilter(), limit=200)
        return [row.entry.by for row in reversed(page.rows) if row.kind == "call"]


@asynccontextmanager
async def running(
    path: Path, mode: ThreadMode, person: Person, rounds: Iterable[Any] = (), *, denied: str = ""
) -> AsyncIterator[Bench]:
    """A home and a folder below ``path``; the folder lies outside of everything that is allowed in general."""
    home, project = path / "home", path / "work" / "tides"
    for folder in (home / "data", home / "workspace", project):
        folder.mkdir(parents=True, exist_ok=True)
    script = home / "script.json"
    script.write_text(json.dumps({"rounds": list(rounds)}))
    more = f"security: {{denied_paths: ['{denied}']}}\n" if denied else ""
    (home / "config.yaml").write_text("chat: {max_iterations: 60}\n" + more)
    settings = SettingsService(home)
    await settings.load()
    services = await build_services(home, settings, person, windows=lambda _ref: None, script=script)
    try:
        thread = await services.chats.create_thread(model="scripted/scripted", project=str(project))
        if mode == "edge":
            await services.thread_modes.set(thread.thread_id, mode)
        yield Bench(services, person, project, thread.thread_id)
    finally:
        await services.chats.close()
        await services.stop_children()
        await services.close()


def skip_without_copies(bench: Bench) -> None:
    if bench.services.thread_modes.unconfined():
        pytest.skip("nothing confines commands here")


# -- the refactoring --------------------------------------------------------------------------------------------------


def module(name: str) -> str:
    own = f"def {name}(station):\n    return fetch_level(station)\n"
    return f'"""{name}."""\n\n\ndef fetch_level(station):\n    return station.level\n\n\n{own}'


def fill(project: Path) -> None:
    package = project / "tides"
    package.mkdir(parents=True)
    for name in MODULES:
        (package / f"{name}.py").write_text(module(name))
    (package / "__init__.py").write_text("")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)


def refactoring(outside: Path) -> list[list[dict[str, Any]]]:
    """40 calls: look, rename in 8 modules, move two, write tests and a page, run checks; three go past the edge."""
    made: list[tuple[str, dict[str, Any]]] = [("find_text", {"pattern": "fetch_level", "path": "."})]
    made += [("read_file", {"path": f"tides/{name}.py"}) for name in MODULES]
    for name in MODULES:
        edits = [{"old": "fetch_level", "new": "read_level", "all": True}]
        made.append(("edit_file", {"path": f"tides/{name}.py", "edits": edits}))
    made += [("bash", {"command": f"python3 -m py_compile tides/{name}.py"}) for name in MODULES[:4]]
    made += [
        ("bash", {"command": "mkdir -p tides/io"}),
        ("bash", {"command": "mv tides/ingest.py tides/io/ingest.py"}),
        ("bash", {"command": "mv tides/clean.py tides/io/clean.py"}),
        ("bash", {"command": "touch tides/io/__init__.py"}),
        ("bash", {"command": "sed -i 's/station.level/station.reading/' tides/gauge.py"}),
    ]
    for name in MODULES[:5]:
        text = f"from tides.{name} import {name}\n\n\ndef test_it():\n    assert callable({name})\n"
        made.append(("write_file", {"path": f"tests/test_{name}.py", "content": text}))
    made += [("write_file", {"path": "docs/levels.md", "content": "# Levels\n"})]
    made += [
        ("bash", {"command": "python3 -c 'import tides.gauge'"}),
        ("bash", {"command": "grep -rn read_level tides | wc -l > docs/count.txt"}),
        ("bash", {"command": "cp docs/levels.md docs/copy.md"}),
        ("edit_file", {"path": "docs/levels.md", "edits": [{"old": "Levels", "new": "Water levels"}]}),
        ("edit_file", {"path": "docs/levels.md", "edits": [{"old": "Water levels", "new": "Levels of water"}]}),
        ("find_files", {"pattern": "**/*.py", "path": "."}),
    ]
    made += [
        ("bash", {"command": "curl https://api.tides.example/stations"}),
        ("write_file", {"path": str(outside / "notes.txt"), "content": "outside"}),
    ]
    assert len(made) == 40, len(made)
    return [[{"call": {"tool": tool, "arguments": arguments}}] for tool, arguments in made]


async def refactored(path: Path, mode: ThreadMode) -> Bench:
    project = path / "work" / "tides"
    fill(project)
    outside = path / "home" / "workspace"
    person = Person()
    rounds = [*refactoring(outside), [{"text": "Done."}]]
    async with running(path, mode, person, rounds) as bench:
        skip_without_copies(bench)
        await bench.services.chats.send(bench.thread_id, "Rename fetch_level to read_level.")
        await bench.services.chats.wait(bench.thread_id, 4 * WAIT_S)
        told = [message.text for message in await bench.services.chats.path(bench.thread_id)]
        assert told[-1] == "Done.", told[-3:]
        bench.decided = await bench.said()
    return bench


@pytest.mark.spec("R-ASK-1")
async def test_a_refactoring_of_40_calls_asks_three_times_at_the_edge(tmp_path: Path) -> None:
    bench = await refactored(tmp_path, "edge")
    asked = [(request.tool, [one.kind for one in request.past_edge]) for request in bench.person.asked]
    print(f"at the edge: {len(asked)} questions, {len(asked) * SECONDS:.0f} s of a person")
    assert len(asked) <= 3, asked
    assert bench.decided.count("edge") >= 25, bench.decided
    package = bench.project / "tides"
    files = [*package.rglob("*.py")]
    assert not [file for file in files if "fetch_level" in file.read_text()]
    assert (package / "io" / "ingest.py").exists()
    assert (bench.project / "docs" / "copy.md").read_text() == "# Levels\n"


@pytest.mark.soak
@pytest.mark.spec("R-ASK-1")
async def test_the_same_refactoring_asked_each_time(tmp_path: Path) -> None:
    bench = await refactored(tmp_path, "ask")
    asked = len(bench.person.asked)
    print(f"asked each time: {asked} questions, {asked * SECONDS:.0f} s of a person")
    assert asked > 20


# -- tricks -----------------------------------------------------------------------------------------------------------


def commands(name: str) -> list[str]:
    """The command of each row of a corpus."""
    found = []
    for line in (DATA / name).read_text().splitlines():
        parts = line.split("\t")
        if not line.startswith("#") and len(parts) > CORPORA[name]:
            found.append(_ESCAPED.sub(lambda one: {"n": "\n", "t": "\t"}.get(one[1], "\\"), parts[CORPORA[name]]))
    return found


def snapshot(path: Path, but: Iterable[Path]) -> dict[str, str]:
    """Everything below a folder: kind, rights, content."""
    left_out, found = {str(one) for one in but}, {}
    for here, folders, files in os.walk(path):
        folders[:] = [one for one in folders if os.path.join(here, one) not in left_out]
        for name in [*folders, *files]:
            full = os.path.join(here, name)
            status = os.lstat(full)
            link = os.readlink(full) if os.path.islink(full) else ""
            content = hashlib.sha256(Path(full).read_bytes()).hexdigest() if name in files and not link else ""
            found[full] = f"{status.st_mode:o} {content} {link}"
    return found


def lay_traps(path: Path, project: Path) -> None:
    """What the corpora are about, inside the folder; and beside it what must stay."""
    for name in ("existing.txt", "f", "hook"):
        (project / name).write_text("was here\n")
    (project / "sub").mkdir()
    (project / "sub" / "existing.txt").write_text("was here\n")
    (project / "evil").mkdir()
    subprocess.run(["git", "init", "-q", str(project / "r")], check=True)
    (project / "hooks.link").symlink_to("r/.git/hooks")
    beside = path / "work" / "beside"
    beside.mkdir()
    (beside / "kept.txt").write_text("kept\n")
    (project / "out.link").symlink_to("../beside")


async def tried(path: Path, chosen: list[str], mode: ThreadMode) -> tuple[list[str], int, int]:
    """The commands that had an effect outside unasked, how many passed unasked, how many were asked about."""
    person, wrong, unasked = Person("deny"), [], 0
    async with running(path, mode, person) as bench:
        skip_without_copies(bench)
        project = bench.project
        lay_traps(path, project)
        kept, own = path / "kept", [path / "home", project]
        shutil.copytree(project, kept, symlinks=True)
        own.append(kept)
        before = snapshot(path, own)
        hooks = snapshot(project / "r" / ".git", ())
        for command in chosen:
            questions = len(person.asked)
            done = await bench.call("bash", command=command)
            passed = len(person.asked) == questions and not done.result.is_error
            unasked += passed
            after = snapshot(path, own)
            if after != before or snapshot(project / "r" / ".git", ()) != hooks:
                wrong.append(command)
                break
            if passed:  # each begins in the same folder
                shutil.rmtree(project)
                shutil.copytree(kept, project, symlinks=True)
        return wrong, unasked, len(person.asked)


@pytest.mark.spec("R-ASK-1")
async def test_no_trick_has_an_effect_outside_the_folder_unasked(tmp_path: Path) -> None:
    chosen = [command for name in CORPORA for command in commands(name)[::STEP]]
    wrong, unasked, asked = await tried(tmp_path, chosen, "edge")
    assert wrong == []
    assert (unasked > 0, asked > 0) == (True, True)


@pytest.mark.soak
@pytest.mark.spec("R-ASK-1")
@pytest.mark.parametrize("mode", ["edge", "ask"])
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", CORPORA)
async def test_so_it_is_for_every_command_of_the_corpora_in_both_modes(
    tmp_path: Path, name: str, part: int, mode: ThreadMode
) -> None:
    chosen = commands(name)[part::PARTS]
    wrong, unasked, asked = await tried(tmp_path, chosen, mode)
    counts = f"{unasked} passed unasked, {asked} asked, {len(wrong)} reached out"
    print(f"{mode}: {name}, {part}: {len(chosen)} tried, {counts}")
    assert wrong == []


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-ASK-1", "R-UND-1")
async def test_what_cannot_be_kept_for_undoing_asks_before_anything_is_written(tmp_path: Path) -> None:
    async with running(tmp_path, "edge", person := Person("deny")) as bench:
        skip_without_copies(bench)
        big, key = bench.project / "big.bin", bench.project / "notes.txt"
        with big.open("wb") as made:
            made.truncate(33_000_000)
        pem = f"-----BEGIN RSA {'PRIVATE'} KEY-----\nMIIEow{'A' * 60}\n-----END RSA {'PRIVATE'} KEY-----\n"
        key.write_text(pem)
        for name in ("big.bin", "notes.txt"):
            await bench.call("write_file", path=name, content="new")
        assert [[one.kind for one in request.past_edge] for request in person.asked] == [["undo"], ["undo"]]
        assert (big.stat().st_size, key.read_text()) == (33_000_000, pem), "nothing was done before it was asked"
        person.choice = "allow_once"
        done = await bench.call("write_file", path="big.bin", content="new")
        assert (done.result.is_error, big.read_text()) == (False, "new"), "it is no wall"
        await bench.call("bash", command="head -c 40000000 /dev/zero > fresh.bin")
        assert [one.kind for one in person.asked[-1].past_edge] == ["undo"]
        assert (bench.project / "fresh.bin").stat().st_size == 40_000_000


@pytest.mark.spec("R-ASK-1", "R-FS-9")
async def test_a_folder_that_is_swapped_for_a_link_all_the_while_leads_no_call_out(tmp_path: Path) -> None:
    async with running(tmp_path, "edge", Person("deny")) as bench:
        skip_without_copies(bench)
        beside, aside = tmp_path / "work" / "beside", tmp_path / "work" / "aside"
        beside.mkdir()
        over = threading.Event()

        def swap() -> None:
            while not over.is_set():
                os.rename(bench.project, aside)
                os.symlink(beside, bench.project)
                os.unlink(bench.project)
                os.rename(aside, bench.project)

        swapping = asyncio.create_task(asyncio.to_thread(swap))
        try:
            for number in range(25):
                await bench.call("write_file", path=f"{number}.txt", content="x")
        finally:
            over.set()
            await swapping
        assert [*beside.iterdir()] == []
        await bench.call("write_file", path="after.txt", content="x")
        assert (bench.project / "after.txt").read_text() == "x"


@pytest.mark.spec("R-ASK-1", "R-FS-3", "R-BLK-8")
async def test_a_denied_folder_inside_it_and_places_that_run_by_themselves_stay_as_they_are(tmp_path: Path) -> None:
    secret = tmp_path / "work" / "tides" / "secret"
    secret.mkdir(parents=True)
    async with running(tmp_path, "edge", person := Person("deny"), denied=str(secret)) as bench:
        skip_without_copies(bench)
        (bench.project / "way").symlink_to("secret")
        for path in ("secret/a.txt", "way/a.txt", ".envrc", ".vscode/tasks.json", ".git/hooks/post-checkout"):
            done = await bench.call("write_file", path=path, content="x")
            assert done.result.is_error, path
        for command in (
            "echo x > secret/b.txt",
            "cp /etc/hostname way/c.txt",
            "mkdir -p .git/hooks && echo x > .git/hooks/a",
        ):
            await bench.call("bash", command=command)
        assert [*secret.iterdir()] == []
        assert not (bench.project / ".git").exists()
        assert {one.kind for request in person.asked for one in request.past_edge} >= {"admin"}


@pytest.mark.spec("R-ASK-1")
async def test_a_command_that_leaves_the_folder_is_dropped_whole_when_it_is_denied(tmp_path: Path) -> None:
    async with running(tmp_path, "edge", person := Person("deny")) as bench:
        skip_without_copies(bench)
        outside = tmp_path / "home" / "workspace" / "out.txt"
        await bench.call("bash", command=f"echo in > in.txt; echo out > {outside}")
        assert "folder" in [one.kind for one in person.asked[0].past_edge]
        assert (outside.exists(), (bench.project / "in.txt").exists()) == (False, False)
        await bench.call("bash", command="echo in > in.txt")
        assert ((bench.project / "in.txt").read_text(), len(person.asked)) == ("in\n", 1)


@pytest.mark.spec("R-ASK-1", "R-UND-2")
async def test_a_restart_keeps_the_mode_and_what_ran_is_there_to_be_undone(tmp_path: Path) -> None:
    async with running(tmp_path, "edge", Person("deny")) as bench:
        skip_without_copies(bench)
        await bench.call("write_file", path="a.txt", content="x")
        thread_id = bench.thread_id
    async with running(tmp_path, "ask", Person("deny")) as bench:
        assert (bench.services.thread_modes.mode(thread_id), bench.services.thread_modes.mode(bench.thread_id)) == (
            "edge",
            "ask",
        )
        record = await bench.services.chats.thread(thread_id)
        assert record.mode == "edge"
        assert (await bench.services.store.changes.amount()).size > 0
