"""Commands in copies, through the real gate, boundary, confinement and applier: shown, taken over in part, dropped,
asked about again where the real files changed."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.audit import AuditEntry
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.files.changes import ChangeConflict, Contents, FileChange, FileState
from desktop.domain.files.outcomes import OutcomeReading
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import WriteOutcome
from desktop.domain.tools import ToolCallContext
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.changes.apply import JournaledApplier
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.outcomes.copies import Copies
from desktop.safety.permission.gate import PermissionGate
from desktop.supervision.tasks import TaskOwner
from desktop.tools.builtin.rehearsals import CommandsInCopies, chosen_of
from desktop.tools.builtin.shell import Bash
from desktop.tools.registry import ToolRegistry
from tests.unit.tools.builtin.test_bash_network import Rules
from tests.unit.tools.conftest import Bench


class Recorder:
    """The applier alone, without what is kept for undoing."""

    def __init__(self, applier: JournaledApplier) -> None:
        self.applier = applier
        self.commits: list[tuple[str, list[str]]] = []
        self.before: list[Callable[[], object]] = []
        self.writers: dict[str, tuple[str, ...]] = {}

    async def write(self, *_: Any, **__: Any) -> WriteOutcome:
        raise AssertionError

    async def commit(
        self, changes: Sequence[FileChange], contents: Contents, context: ToolCallContext, summary: str = ""
    ) -> tuple[ChangeConflict, ...]:
        if self.before:
            self.before.pop(0)()
        self.commits.append((summary, [change.path for change in changes]))
        return await asyncio.to_thread(self.applier.apply, changes, contents)

    async def who_left(self, states: Mapping[str, FileState]) -> Mapping[str, tuple[str, ...]]:
        return {path: self.writers.get(path, ()) for path in states}


class Desk:
    """A person who is shown what commands did."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.world, self.workspace = bench, bench.world, bench.world.workspace
        world = bench.world
        self.copies = Copies(str(world.home / "cache" / "copies"), bench.confinement, world.policy)
        self.recorder = Recorder(JournaledApplier(world.policy, str(world.home / "changes")))
        runner = GroupRunner()
        in_copies = CommandsInCopies(
            self.copies,
            bench.confinement,
            runner,
            self.recorder,
            lambda: world.settings,  # type: ignore[arg-type]
        )
        environment = AllowlistEnvironment(lambda: world.settings)
        self.bash = Bash(
            world.reader, world.policy, bench.confinement, environment, runner, lambda: world.settings, in_copies
        )
        self.rules = Rules()
        self.asked: list[PermissionRequest] = []
        self.audit: list[AuditEntry] = []
        self.answers: list[dict[str, Any]] = []
        self.meanwhile: list[Callable[[], None]] = []
        self.token = CancellationToken()
        self.owner = TaskOwner()
        self.gate = PermissionGate(self, self.rules, self._write, lambda: world.settings)
        self.pipeline = Pipeline(ToolRegistry([self.bash]), self.owner.spawn, trust=self.gate)

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        if self.meanwhile:
            self.meanwhile.pop(0)()
        answer = self.answers.pop(0) if self.answers else {"choice": "allow_once"}
        assert answer["choice"] in request.choices
        return Decision(digest=request.digest, **answer)

    async def _write(self, entry: AuditEntry) -> int:
        self.audit.append(entry)
        return len(self.audit)

    async def run(self, command: str) -> CallResult:
        block = ToolCallBlock(f"call{len(self.audit)}", "bash", {"command": command})
        request = CallRequest(block, Caller("native", ("Agent",)), Invocation(RunMeta("run", self.token)), _deaf)
        return await self.pipeline.invoke(request)

    @property
    def reading(self) -> OutcomeReading:
        reading = self.asked[-1].preview["reading"]
        assert isinstance(reading, OutcomeReading)
        return reading

    def paths(self) -> list[str]:
        return [os.path.relpath(change.path, self.workspace) for change in self.reading.changes]

    def path(self, name: str) -> str:
        return str(self.workspace / name)


def _deaf(event: Any) -> None:
    return None


@pytest.fixture
async def desk(bench: Bench) -> AsyncIterator[Desk]:
    made = Desk(bench)
    if made.copies.refusal():
        pytest.skip("no copies can be made here")
    (made.workspace / "old.txt").write_text("old\n")
    (made.workspace / "edit.sh").write_text("echo mine >> note.txt\n")
    yield made
    await made.owner.close()
    assert not list(Path(bench.world.home / "cache" / "copies").iterdir()), "a copy was left"


COMMAND = "echo out; echo new > new.txt; cat new.txt > made.txt; mkdir sub; echo x > sub/x"


@pytest.mark.spec("R-OUT-1", "R-OUT-2", "R-OUT-3")
async def test_a_command_is_shown_by_what_it_did_and_taken_over(desk: Desk) -> None:
    before = sorted(os.listdir(desk.workspace))
    seen: list[list[str]] = []
    desk.meanwhile = [lambda: seen.append(sorted(os.listdir(desk.workspace)))]
    outcome = await desk.run(COMMAND)
    (request,) = desk.asked
    assert seen == [before], "nothing was real while it was asked about"
    assert (request.preview["kind"], request.preview["exit_code"], request.preview["output"]) == ("outcome", 0, "out\n")
    assert desk.paths() == ["made.txt", "new.txt", "sub", "sub/x"]
    assert outcome.result.text == "out\n"
    assert (desk.workspace / "sub" / "x").read_text() == "x\n"
    assert desk.recorder.commits == [(COMMAND, [desk.path(name) for name in desk.paths()])]


@pytest.mark.spec("R-OUT-3")
async def test_a_dropped_one_leaves_nothing_and_the_model_is_told(desk: Desk) -> None:
    desk.answers = [{"choice": "deny", "reason": "not like this"}]
    before = sorted(os.listdir(desk.workspace))
    outcome = await desk.run(COMMAND)
    assert sorted(os.listdir(desk.workspace)) == before
    assert outcome.result.is_error
    assert "not like this. It had run in a copy, which is gone" in outcome.result.text
    assert "out\n" not in outcome.result.text


@pytest.mark.spec("R-OUT-3")
async def test_a_part_is_taken_over_with_the_folders_that_it_needs(desk: Desk) -> None:
    desk.answers = [{"choice": "allow_once", "taken": (desk.path("sub/x"),)}]
    outcome = await desk.run(COMMAND)
    assert sorted(os.listdir(desk.workspace)) == ["edit.sh", "note.txt", "old.txt", "sub"]
    assert outcome.result.text.startswith("[It ran in a copy, and a person took over 2 of its 4 changes")
    assert desk.audit[-1].extra["taken"] == 1


@pytest.mark.spec("R-OUT-3")
async def test_a_real_file_that_changed_brings_the_request_back_and_nothing_was_done(desk: Desk) -> None:
    desk.meanwhile = [lambda: (desk.workspace / "note.txt").write_text("somebody else's\n")]
    desk.answers = [{"choice": "allow_once"}, {"choice": "deny"}]
    before = sorted(os.listdir(desk.workspace))
    desk.recorder.writers[desk.path("note.txt")] = ("writer", "write-file")
    await desk.run("sh edit.sh; echo x > new")
    first, second = desk.asked
    assert not first.stale
    assert second.stale
    assert [os.path.basename(path) for path in second.preview["reading"].meanwhile] == ["note.txt"]
    assert (first.preview["left_by"], second.preview["left_by"]) == ({}, {desk.path("note.txt"): "writer"})
    assert sorted(os.listdir(desk.workspace)) == before
    assert (desk.workspace / "note.txt").read_text() == "somebody else's\n"


@pytest.mark.spec("R-OUT-3")
async def test_a_file_that_changes_in_the_last_moment_brings_the_request_back_too(desk: Desk) -> None:
    note = desk.workspace / "note.txt"
    desk.recorder.before = [lambda: note.write_text("somebody else's\n")]
    desk.answers = [{"choice": "allow_once"}, {"choice": "deny"}]
    await desk.run("sh edit.sh; touch new")
    assert [request.stale for request in desk.asked] == [False, True]
    assert (note.read_text(), (desk.workspace / "new").exists()) == ("somebody else's\n", False)


@pytest.mark.spec("R-OUT-3")
async def test_what_a_rule_allows_is_not_taken_over_where_real_files_changed(desk: Desk) -> None:
    desk.rules.text = "bash(command=sh edit.sh,$policy=allow)"
    desk.recorder.before = [lambda: (desk.workspace / "note.txt").write_text("somebody else's\n")]
    outcome = await desk.run("sh edit.sh")
    assert not desk.asked
    assert outcome.result.code == "tool.changed_meanwhile"
    assert (desk.workspace / "note.txt").read_text() == "somebody else's\n"


async def test_the_rest_of_it_is_taken_over_without_what_changed_unless_that_is_chosen(desk: Desk) -> None:
    note = desk.workspace / "note.txt"
    command = "sh edit.sh; echo x > new"
    desk.meanwhile = [lambda: note.write_text("somebody else's\n")]
    await desk.run(command)
    assert (note.read_text(), (desk.workspace / "new").exists()) == ("somebody else's\n", True)
    desk.meanwhile = [lambda: note.write_text("somebody's again\n")]
    desk.answers = [{"choice": "allow_once"}, {"choice": "allow_once", "taken": (desk.path("note.txt"),)}]
    await desk.run("sh edit.sh")
    assert note.read_text() == "somebody else's\nmine\n"


@pytest.mark.spec("R-OUT-4")
async def test_the_network_is_asked_about_before_and_given_by_a_new_run(desk: Desk) -> None:
    await desk.run("curl -s https://example.org/ -o page")
    assert desk.asked[-1].preview["kind"] == "command"
    assert desk.asked[-1].preview["no_copy"] == "It has the network, and what it does there is real."
    (desk.workspace / "get.sh").write_text(
        "curl -sS http://127.0.0.1:9/ ; curl -sS http://api.tides.example/; echo x > got"
    )
    desk.answers = [{"choice": "again", "with_network": True}, {"choice": "deny"}]
    await desk.run("sh get.sh")
    _, first, second = desk.asked
    assert (first.preview["network"], first.preview["tried"]) == (False, ["api.tides.example"])
    assert (second.preview["network"], second.preview["tried"]) == (True, [])
    assert [entry.decision for entry in desk.audit[-2:]] == ["again", "deny"]
    assert desk.audit[-2].outcome == "asked again"
    assert not (desk.workspace / "got").exists()


@pytest.mark.spec("R-OUT-2")
async def test_a_computer_that_it_asks_for_in_silence_is_told(desk: Desk) -> None:
    if desk.bench.confinement.probe().kind != "bubblewrap":
        pytest.skip("nobody listens here")
    (desk.workspace / "quiet.sh").write_text("getent hosts tides.example >/dev/null 2>&1; echo fine")
    await desk.run("sh quiet.sh")
    assert (desk.asked[0].preview["tried"], desk.asked[0].preview["heard"]) == (["tides.example"], True)


@pytest.mark.spec("R-OUT-2")
@pytest.mark.parametrize("rule", ["", "bash(command=sh stays.sh,$policy=allow)"])
async def test_the_model_hears_what_of_its_command_was_ended(desk: Desk, rule: str) -> None:
    desk.rules.text = rule
    (desk.workspace / "stays.sh").write_text('sleep 96 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done; echo up')
    outcome = await desk.run("sh stays.sh")
    assert outcome.result.text == "[It left 1 process running, which ended with it: sleep.]\nup\n"
    assert [request.preview["left"] for request in desk.asked] == ([] if rule else [("sleep",)])


@pytest.mark.spec("R-OUT-4")
async def test_where_no_copy_can_be_made_the_request_comes_before_and_says_why(desk: Desk) -> None:
    desk.world.change(allowed=(str(desk.world.person), str(desk.workspace)))
    await desk.run("touch made")
    (request,) = desk.asked
    assert request.preview["kind"] == "command"
    assert "Assent's own data lies in it" in request.preview["no_copy"]
    assert (desk.workspace / "made").exists()


async def test_a_model_is_told_what_a_person_agrees_to(desk: Desk) -> None:
    assert "to what it changed in a copy" in desk.bash.spec.description
    desk.world.change(commands_first="ask")
    assert desk.bash.spec.description.endswith(" A person is shown the command and has to agree.")


async def test_admin_commands_and_the_setting_ask_before(desk: Desk) -> None:
    await desk.run("chmod -R 700 .")
    assert (desk.asked[-1].category, desk.asked[-1].preview["kind"]) == (Category.ADMIN, "command")
    desk.world.change(commands_first="ask")
    await desk.run("touch made")
    assert desk.asked[-1].preview["kind"] == "command"
    assert "no_copy" not in desk.asked[-1].preview
    assert [command for command, _ in desk.recorder.commits] == ["chmod -R 700 .", "touch made"], "and can be undone"


async def test_what_a_rule_allows_runs_in_a_copy_and_is_taken_over_at_once(desk: Desk) -> None:
    desk.rules.text = "bash(command=touch *,$policy=allow)"
    await desk.run("touch made")
    assert not desk.asked
    assert (desk.workspace / "made").exists()
    assert desk.recorder.commits == [("touch made", [desk.path("made")])]
    desk.rules.text = "bash(command=touch *,$policy=deny)"
    await desk.run("touch other")
    assert not desk.asked
    assert not (desk.workspace / "other").exists()


async def test_what_runs_by_itself_later_makes_taking_over_admin(desk: Desk) -> None:
    (desk.workspace / ".git" / "hooks").mkdir(parents=True)
    (desk.workspace / "go.sh").write_text("echo true > .git/hooks/pre-commit")
    desk.answers = [{"choice": "deny"}]
    await desk.run("sh go.sh")
    (request,) = desk.asked
    assert (request.category, request.preview["kind"]) == (Category.ADMIN, "outcome")
    assert "allow_run" not in request.choices


@pytest.mark.spec("R-PRM-3", "R-TOOL-4")
async def test_what_was_allowed_beforehand_is_asked_about_where_it_did_what_is_admin(desk: Desk) -> None:
    (desk.workspace / ".git" / "hooks").mkdir(parents=True)
    hook = desk.workspace / ".git/hooks/pre-commit"
    script = desk.workspace / "go.sh"
    script.write_text("echo true > out")
    desk.answers = [{"choice": "allow_run"}, {"choice": "deny"}]
    await desk.run("sh go.sh")

    script.write_text("echo true > .git/hooks/pre-commit; echo more > out")
    refused = await desk.run("sh go.sh")
    assert [request.category for request in desk.asked] == [Category.WRITE, Category.ADMIN]
    assert desk.paths() == [".git/hooks/pre-commit", "out"]
    assert "allow_run" not in desk.asked[-1].choices
    assert "Permission denied" in refused.result.text
    assert not hook.exists()
    assert (desk.workspace / "out").read_text() == "true\n"

    desk.rules.text = "bash(command=sh *,$policy=allow)"
    desk.answers = [{"choice": "allow_once"}]
    await desk.run("sh go.sh")
    assert len(desk.asked) == 3, "a rule says nothing about that, either"
    assert hook.read_text() == "true\n"
    assert not list(Path(desk.copies._root).iterdir()), "no copy is left"


async def test_what_git_writes_for_each_commit_is_covered_by_a_rule_that_allows_it(desk: Desk) -> None:
    git = ["git", "-C", str(desk.workspace), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "."], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    (desk.workspace / "new.txt").write_text("new")
    desk.rules.text = "bash(command=git *,$policy=allow)"
    await desk.run("git add new.txt")
    assert not desk.asked
    assert subprocess.check_output([*git, "diff", "--cached", "--name-only"]) == b"new.txt\n"
    desk.answers = [{"choice": "deny"}]
    await desk.run("git config core.fsmonitor ./x.sh")
    assert desk.asked[-1].category is Category.ADMIN


async def test_arguments_that_a_person_edits_run_in_a_copy_of_their_own(desk: Desk) -> None:
    desk.answers = [
        {"choice": "allow_edited", "edited_arguments": {"command": "touch edited"}},
        {"choice": "allow_once"},
    ]
    await desk.run("touch made")
    assert [request.preview["kind"] for request in desk.asked] == ["outcome", "outcome"]
    assert [os.path.relpath(c.path, desk.workspace) for c in desk.asked[1].preview["reading"].changes] == ["edited"]
    assert (desk.workspace / "edited").exists()
    assert not (desk.workspace / "made").exists()


@pytest.mark.spec("R-OUT-3", "R-PRM-5")
async def test_nothing_is_taken_over_into_another_folder_of_the_same_name(desk: Desk) -> None:
    def swap() -> None:
        desk.workspace.rename(desk.workspace.with_name("before"))
        desk.workspace.mkdir()

    desk.meanwhile = [swap]
    outcome = await desk.run("touch made")
    assert "is another folder now; nothing was taken over" in outcome.result.text
    assert not list(desk.world.root.rglob("made"))


async def test_a_cancelled_run_takes_nothing_over(desk: Desk) -> None:
    desk.meanwhile = [lambda: desk.token.cancel("stop")]
    outcome = await desk.run("touch made")
    assert outcome.state == "aborted"
    assert not (desk.workspace / "made").exists()


async def test_a_command_over_its_time_is_asked_about_with_what_it_did(desk: Desk) -> None:
    desk.world.change(tool_timeout_s=0.5)
    outcome = await desk.run("touch made; sleep 60")
    (request,) = desk.asked
    assert (request.preview["ended"], request.preview["left"]) == ("timeout", None)
    assert (desk.workspace / "made").exists()
    assert "time limit of 0.5 s" in outcome.result.text


def test_what_is_chosen_brings_its_folders_and_leaves_those_that_something_stays_in() -> None:
    folder, absent = FileState("folder"), FileState("absent")
    file = replace(folder, kind="file", digest="d", size=1)
    reading = OutcomeReading(
        (
            FileChange("/w/a", absent, folder),
            FileChange("/w/a/b", absent, folder),
            FileChange("/w/a/b/c", absent, file),
            FileChange("/w/old", folder, absent),
            FileChange("/w/old/in", folder, absent),
            FileChange("/w/old/in/x", file, absent),
            FileChange("/w/old/y", file, absent),
        )
    )
    assert [c.path for c in chosen_of(reading, ["/w/a/b/c"])] == ["/w/a", "/w/a/b", "/w/a/b/c"]
    assert [c.path for c in chosen_of(reading, ["/w/old", "/w/old/in", "/w/old/y"])] == ["/w/old/y"]
    assert len(chosen_of(reading, None)) == 7
    assert chosen_of(replace(reading, meanwhile=frozenset({"/w/old/in/x"})), None)[-1].path == "/w/old/y"
