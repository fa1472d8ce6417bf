"""A thread that works up to the edge of its folder: what passes unasked, and all that asks (R-ASK-1)."""

import asyncio
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.consents import Consent
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.files.changes import ABSENT, FileChange, FileState
from desktop.domain.files.outcomes import LeftOut, OutcomeReading
from desktop.domain.runs.meta import RunMeta
from desktop.domain.text.outside import OutsideText
from desktop.domain.tools import PreCheck
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.permission.trust_rules import TrustRule
from desktop.safety.secrets.redaction import SecretRedactor
from tests.unit.safety.permission.test_gate import ADMIN, READ, WRITE, Call, GateBench, Person

FILE = FileState("file", 0o644, 3, "0" * 64)


@dataclass
class Modes:
    """Modes as a person switches them."""

    at_edge: set[str] = field(default_factory=lambda: {"thread-1"})
    why: str = ""

    def mode(self, thread_id: str) -> ThreadMode:
        return "edge" if thread_id in self.at_edge else "ask"

    def unconfined(self) -> str:
        return self.why


class Bench(GateBench):
    """A gate over a real folder."""

    def __init__(self, project: Path, *rules: TrustRule, person: Any = None) -> None:
        self.person = Person("deny") if person is None else person
        super().__init__(self.person, *rules)
        self.project, self.modes = str(project), Modes()
        self.gate = PermissionGate(
            self.person, self.rules, self.audit, lambda: self.settings, redactor=SecretRedactor(), modes=self.modes
        )

    def write(self, name: str = "a.txt", **changes: Any) -> Call:
        path = name if name.startswith("/") else f"{self.project}/{name}"
        check = PreCheck(WRITE, paths=(path,), preview={"kind": "diff", "size": 4}, undoable=True)
        return self.call(replace(check, **changes))

    def command(self, *changes: FileChange, reading: dict[str, Any] | None = None, **preview: Any) -> Call:
        made = OutcomeReading(changes, **(reading or {}))
        shown = {"kind": "outcome", "reading": made, "ended": "exited", "network": False, "tried": [], **preview}
        paths = tuple(change.path for change in changes[:200])
        return self.call(PreCheck(WRITE, paths=paths, preview=shown, undoable=True), tool="bash")

    def call(self, check: PreCheck, tool: str = "write-file", **meta: Any) -> Call:
        made = Call(check.category, tool=tool, check=check)
        made.meta = RunMeta("run-1", made.token, **{"thread_id": "thread-1", "project": self.project, **meta})
        return made

    async def by(self, call: Call) -> str:
        """Who decided."""
        return (await self.decide(call)).by


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    project = tmp_path / "tides"
    project.mkdir()
    return Bench(project)


def new(path: str) -> FileChange:
    return FileChange(path, ABSENT, FILE)


@pytest.mark.spec("R-ASK-1", "R-PRM-13")
async def test_writes_inside_the_folder_pass_unasked_and_are_logged_as_that(bench: Bench) -> None:
    assert await bench.by(bench.write()) == "edge"
    assert await bench.by(bench.command(new(f"{bench.project}/made.txt"))) == "edge"
    assert await bench.by(bench.command()) == "edge", "a command that changed nothing"
    assert [(line.decision, line.by) for line in bench.log] == [("allow_once", "edge")] * 3
    assert bench.person.asked == []


@pytest.mark.spec("R-ASK-1", "R-PRM-1")
async def test_without_the_mode_the_same_calls_ask(bench: Bench) -> None:
    bench.modes.at_edge.clear()
    assert [await bench.by(one) for one in (bench.write(), bench.command())] == ["user", "user"]
    assert [request.past_edge for request in bench.person.asked] == [(), ()]


async def past(bench: Bench, call: Call) -> list[str]:
    """Past what a call goes, as its request says it."""
    assert await bench.by(call) == "user", "it asks"
    return [one.kind for one in bench.person.asked[-1].past_edge]


@pytest.mark.spec("R-ASK-1", "R-PRM-2")
async def test_what_leaves_any_of_it_asks_and_its_request_names_what(bench: Bench, tmp_path: Path) -> None:
    inside, outside = f"{bench.project}/a", str(tmp_path / "beside.txt")
    asks = {
        "admin": bench.call(PreCheck(ADMIN, paths=(inside,), undoable=True)),
        "folder": bench.write(outside),
        "folder, by a name that begins alike": bench.write(f"{bench.project}-2/a"),
        "folder, nowhere": bench.write(paths=()),
        "folder, one of many": bench.write(paths=(inside, outside)),
        "folder, the 300th of a command": bench.command(*(new(f"{inside}{n}") for n in range(300)), new(outside)),
        "folder, a link that leads out": bench.command(
            FileChange(inside, ABSENT, FileState("link", target="../beside.txt"))
        ),
        "folder, an opened one": bench.write(preview={"kind": "diff", "opened": ["/secret"]}),
        "network": bench.command(network=True),
        "network, asked for": bench.write(preview={"kind": "diff", "network_asked": True}),
        "network, tried": bench.command(tried=["example.org"]),
        "undo": bench.write(undoable=False),
        "undo, by what is known": bench.write(not_undoable="it is too big"),
        "undo, a command before it runs": bench.call(
            PreCheck(WRITE, paths=(inside,), preview={"kind": "command", "command": "make"}), tool="bash"
        ),
        "undo, more than can be read": bench.command(reading={"beyond": 5}),
        "changed": bench.command(new(inside), reading={"meanwhile": frozenset({inside})}),
        "other, a device": bench.command(reading={"left_out": (LeftOut(inside, "special"),)}),
        "other, it was ended": bench.command(ended="timeout"),
        "other, nobody knows": bench.command(reading=None) if False else bench.write(preview={"kind": "outcome"}),
        "other, a consent": bench.write(consent=Consent("x", ("/secret",), "reads what is closed")),
    }
    for name, call in asks.items():
        found = await past(bench, call)
        assert name.partition(",")[0] in found, (name, found)


@pytest.mark.spec("R-ASK-1")
@pytest.mark.parametrize(
    ("link", "target", "asks"),
    [
        ("a/b/x", "../y", False),
        ("a/b/x", "../../y", False),
        ("a/b/x", "{project}/y", False),
        ("a/b/x", "nothing/yet", False),
        ("a/b/x", "../../../y", True),
        ("a/b/x", "L/../y", True),  # as soon as L is a link to the project itself, this leads beside it
        ("a/b/x", "{project}/a/../y", True),
        ("was-a-link/x", "../../y", True),  # it becomes a folder with the link; by what is there now it would be a/y
        ("a/b/x", "../../leads-out/y", True),
    ],
)
async def test_a_link_passes_only_if_it_stays_inside_whatever_comes_later(
    bench: Bench, tmp_path: Path, link: str, target: str, asks: bool
) -> None:
    project = Path(bench.project)
    (project / "a/b/c").mkdir(parents=True)
    (project / "was-a-link").symlink_to("a/b/c")
    (project / "leads-out").symlink_to(tmp_path)
    state = FileState("link", target=target.format(project=project))
    call = bench.command(FileChange(str(project / link), ABSENT, state))
    assert await bench.by(call) == ("user" if asks else "edge")


@pytest.mark.spec("R-ASK-1")
@pytest.mark.parametrize("change", ["stale", "original", "question"])
async def test_what_changed_was_edited_or_may_have_been_done_asks(bench: Bench, change: str) -> None:
    value: Any = {"stale": True, "original": {"path": "b"}, "question": "It had begun."}[change]
    assert await bench.by(replace_call(bench.write(), **{change: value})) == "user"


def replace_call(call: Call, **changes: Any) -> Call:
    for name, value in changes.items():
        setattr(call, name, value)
    return call


@pytest.mark.spec("R-ASK-1", "R-PRM-12")
@pytest.mark.parametrize("policy", ["ask", "deny"])
async def test_rules_that_ask_or_deny_go_before_the_mode(bench: Bench, policy: Any) -> None:
    bench.rules = type(bench.rules)(text=f"write-file($policy={policy})")
    bench.gate = PermissionGate(bench.person, bench.rules, bench.audit, lambda: bench.settings, modes=bench.modes)
    assert await bench.by(bench.write()) == ("user" if policy == "ask" else "rule")


@pytest.mark.spec("R-ASK-1", "R-PRJ-2")
async def test_a_folder_that_is_gone_a_link_or_none_covers_nothing(bench: Bench, tmp_path: Path) -> None:
    call = bench.write()
    os.rename(bench.project, tmp_path / "moved")
    assert await past(bench, call) == ["folder"]
    os.symlink(tmp_path / "moved", bench.project)
    assert await past(bench, call) == ["folder"], "the same name, and another place"
    bench.project = ""
    assert await past(bench, bench.write("/tmp/x")) == ["folder"]
    bench.project = "/"
    assert "folder" in await past(bench, bench.write("/tmp/x"))


@pytest.mark.spec("R-ASK-1")
async def test_where_nothing_confines_commands_all_asks(bench: Bench) -> None:
    bench.modes.why = "nothing confines commands on this machine"
    assert await past(bench, bench.write()) == ["confined"]


@pytest.mark.spec("R-ASK-1")
async def test_agents_that_work_for_the_thread_work_in_its_mode_and_no_others(bench: Bench) -> None:
    check = bench.write().check
    assert check is not None
    called = bench.call(check, thread_id="called", above=("thread-1",))
    assert await bench.by(called) == "edge"
    bench.modes.at_edge = {"called"}
    assert await bench.by(called) == "user", "the person's own thread decides"
    assert await bench.by(bench.call(check, thread_id="other")) == "user"


class Waits:
    """A person who answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.seen = asyncio.Event()

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        self.seen.set()
        return Decision(await self.answer, request.digest)  # type: ignore[arg-type]


@pytest.mark.spec("R-ASK-1")
async def test_switching_answers_no_open_request_and_holds_from_the_next_call_on(tmp_path: Path) -> None:
    (tmp_path / "tides").mkdir()
    bench = Bench(tmp_path / "tides", person=(person := Waits()))
    bench.modes.at_edge.clear()
    open_one = asyncio.create_task(bench.decide(bench.write()))
    await person.seen.wait()
    bench.modes.at_edge.add("thread-1")
    assert await bench.by(bench.write("b.txt")) == "edge", "the next call"
    assert not open_one.done()
    person.answer.set_result("deny")
    assert (await open_one).by == "user"
    bench.modes.at_edge.clear()
    assert await bench.by(bench.write("c.txt")) == "user", "and back"


@pytest.mark.spec("R-ASK-1", "R-PRM-8", "R-PRM-9")
async def test_a_denied_run_and_a_closing_app_stay_that(bench: Bench) -> None:
    bench.gate.deny_run("run-1")
    assert await bench.by(bench.write()) == "remembered"
    bench.gate.close()
    other = bench.write()
    other.meta = replace(other.meta, run_id="run-2")
    assert await bench.by(other) == "closed"


@pytest.mark.spec("R-ASK-1")
async def test_reading_needs_no_mode_and_says_nothing_of_it(bench: Bench) -> None:
    decision = await bench.decide(bench.call(PreCheck(READ)))
    assert (decision.allowed, bench.log) == (True, [])


@pytest.mark.spec("R-ASK-1", "R-WEB-3")
async def test_once_a_run_has_read_a_page_from_outside_its_writes_ask_and_say_so(bench: Bench) -> None:
    assert await bench.by(bench.write()) == "edge"
    bench.gate.outside.heard("run-1", [OutsideText("example.org")])
    bench.person.choice = "deny"
    assert await past(bench, bench.write("b.txt")) == ["text"]
    assert "example.org" in bench.person.asked[-1].past_edge[0].words
    other = bench.write("c.txt")
    other.meta = replace(other.meta, run_id="run-2")
    assert await bench.by(other) == "edge", "another run has read nothing"


@dataclass
class NightJob:
    """The permission of a job at the edge, with nothing on its list but what it denies."""

    denied: str = ""
    at_edge: bool = True
    present: bool = False

    def refusal(self, facts: CallFacts) -> str:
        return "it is not on the job's list"

    def denies(self, facts: CallFacts) -> bool:
        return facts.tool == self.denied


@pytest.mark.spec("R-ASK-1", "R-CRON-1", "R-FS-8")
async def test_a_job_at_the_edge_does_what_stays_within_and_asks_nobody_for_the_rest(
    bench: Bench, tmp_path: Path
) -> None:
    check, outside = bench.write().check, bench.write(str(tmp_path / "beside.txt")).check
    assert check is not None
    assert outside is not None

    async def by(check: PreCheck, job: NightJob, **changes: Any) -> tuple[str, str]:
        call = replace_call(bench.call(check, unattended=job), **changes)
        decision = await bench.decide(call)
        return decision.by, decision.choice

    bench.modes.at_edge.clear()
    assert await by(check, NightJob()) == ("edge", "allow_once"), "whatever its thread is switched to"
    bench.modes.at_edge = {"thread-1"}
    no = [
        await by(check, NightJob(at_edge=False)),
        await by(check, NightJob(denied="write-file")),
        await by(outside, NightJob()),
        await by(check, NightJob(), stale=True),
        await by(replace(check, category=ADMIN), NightJob()),
        await by(replace(check, consent=Consent("x", ("/secret",), "reads what is closed")), NightJob()),
        await by(replace(check, asks="it goes to example.org"), NightJob()),
    ]
    assert no == [("job", "deny")] * len(no)
    bench.gate.deny_run("run-1")
    assert await by(check, NightJob()) == ("remembered", "deny")
    assert bench.person.asked == []
