"""Confinement under attack, each kind that this machine has under the same list (C-33)."""

import asyncio
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessOutcome, ProcessSpec
from desktop.pipeline.skills.python_worker import _needed
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from tests.harness.timeouts import WAIT_S
from tests.unit.safety import escapes
from tests.unit.safety.confinement.attacks import ATTACKS, LEAVING, PRELUDE, Attack
from tests.unit.safety.world import World

LEAKS = ("PRIVATE", "CONVERSATIONS", "ENVIRONMENT", "REACHED")
KINDS: list[Kind] = ["bubblewrap", "landlock"]
SYSTEM = sys.platform == "linux" and os.uname().machine == "x86_64"  # the numbers of system calls in the attacks
pytestmark = pytest.mark.skipif(not SYSTEM, reason="the attacks are written for Linux on x86-64")


@dataclass
class Field:
    """What can be attacked: a world, a process that stands for the app, listeners of every kind."""

    top: Path
    stack: ExitStack
    near: Path
    world: World = field(init=False)
    listeners: list[socket.socket] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world = World(self.top)
        # what is attacked elsewhere than in /tmp is not hidden by the way, but for being denied
        self.far = Path("/var/tmp") / f"assent-{os.getpid()}-{self.near.name}"
        self.far.mkdir()
        self.stack.callback(lambda: subprocess.run(["rm", "-r", str(self.far)], check=True))
        self.open = self.far / "open"
        self.open.mkdir()
        self.world.change(allowed=(*self.world.settings.allowed, str(self.open)))
        self.start()
        self.hide()
        self.before = self.state()

    def start(self) -> None:
        places = {
            "OUT": self.world.outside,
            "SSH": self.world.ssh,
            "DATA": self.world.home / "data",
            "HOME": self.world.person,
            "PYTHON": sys.executable,
            "NEAR": self.near / "s",
            "FAR": self.far / "s",
            "GRAM": self.far / "gram",
            "OPEN": self.open,
            "ABSTRACT": f"assent-{os.getpid()}",
            "SHM": f"assent-{os.getpid()}",
        }
        self.places = {name: str(value) for name, value in places.items()}
        self.listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0), "TCP")
        self.listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0), "UDP")
        for name in ("NEAR", "FAR"):
            self.listen(socket.AF_UNIX, socket.SOCK_STREAM, self.places[name])
        self.listen(socket.AF_UNIX, socket.SOCK_DGRAM, self.places["GRAM"])
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.places["ABSTRACT"])
        shared = Path("/dev/shm", self.places["SHM"])
        shared.write_text("x")
        self.stack.callback(shared.unlink)
        self.revive()

    def hide(self) -> None:
        """Services whose sockets have other names than those they were bound to."""
        for made, then in (("a", "renamed"), ("b", "as ControlMaster makes it"), ("c", "linked")):
            self.listen(socket.AF_UNIX, socket.SOCK_STREAM, str(self.open / made))
            if then == "renamed":
                (self.open / made).rename(self.open / then)
            else:
                (self.open / then).hardlink_to(self.open / made)
        (self.open / "b").unlink()
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, str(self.open / "of two\nlines"))
        (self.open / "folder").mkdir()
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, str(self.open / "folder/s"))
        (self.open / "folder").rename(self.open / "in a renamed folder")
        before = os.getcwd()
        os.chdir(self.open)
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, "by a relative name")
        os.chdir(before)
        code = "import socket, sys; s = socket.socket(1); s.bind(sys.argv[1]); s.listen(); print(flush=True); input()"
        argv = ["unshare", "-n", sys.executable, "-I", "-c", code, str(self.open / "of another network")]
        other = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.stack.callback(other.communicate, b"\n")
        assert other.stdout is not None
        other.stdout.readline()

    def listen(self, family: int, kind: int, address: object, name: str = "") -> None:
        made = self.stack.enter_context(socket.socket(family, kind))
        made.bind(address)  # type: ignore[arg-type]
        if kind == socket.SOCK_STREAM:
            made.listen()
        made.setblocking(False)
        self.listeners.append(made)
        if name:
            self.places[name] = str(made.getsockname()[1])

    def revive(self) -> None:
        """The process that stands for the app, with a child of its own."""
        environment = {"CANARY": "ENVIRONMENT", "PATH": "/usr/bin:/bin"}
        with open(self.world.ssh / "id_rsa") as key:
            self.app = subprocess.Popen(
                ["sh", "-c", "sleep 9001 & echo $!; wait"],
                env=environment,
                stdin=key,
                stdout=subprocess.PIPE,
                text=True,
                cwd=self.world.ssh,
                start_new_session=True,
            )
        assert self.app.stdout is not None
        child = self.app.stdout.readline().strip()
        self.places |= {"APP": str(self.app.pid), "CHILD": child}
        self.stack.callback(self.bury, self.app, int(child))

    @staticmethod
    def bury(app: "subprocess.Popen[str]", child: int) -> None:
        for process in (app.pid, child):
            try:
                os.kill(process, 9)
            except ProcessLookupError:
                pass
        app.wait()
        if app.stdout is not None:
            app.stdout.close()

    def state(self) -> dict[str, str]:
        """All that an attack could change."""
        world, found = self.world, {}
        for path in sorted(world.root.rglob("*")):
            if not path.is_relative_to(world.workspace):
                found[str(path)] = path.read_text() if path.is_file() else ""
        status = Path(f"/proc/{self.app.pid}/status").read_text() if self.app.poll() is None else "gone"
        found["app"] = status.split("State:\t")[-1][:1].replace("R", "S")
        found["child"] = str(Path(f"/proc/{self.places['CHILD']}").exists())
        if self.app.poll() is None:
            found["limits"] = str(resource.prlimit(self.app.pid, resource.RLIMIT_CPU))
            found["memory"] = Path(f"/proc/{self.app.pid}/oom_score_adj").read_text()
        return found

    def code(self, attack: str) -> str:
        for name, value in self.places.items():
            attack = attack.replace(f"@{name}@", value)
        return attack

    def spec(self, attack: Attack) -> ProcessSpec:
        env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.world.person)}
        if attack.language == "sh":
            argv: tuple[str, ...] = ("/bin/bash", "--norc", "-c", self.code(attack.code))
        else:
            argv = (sys.executable, "-I", "-S", "-c", self.code(PRELUDE + attack.code))
        return ProcessSpec(argv, str(self.world.workspace), env, timeout_s=20)

    def passed(self, outcome: ProcessOutcome) -> str:
        """What the attack got, or "". The field is as before afterwards."""
        got = [word for word in LEAKS if word in outcome.output] + list(self.heard())
        after = self.state()
        if after != self.before:
            got.append("changed " + ", ".join(k for k in after | self.before if after.get(k) != self.before.get(k)))
            self.mend()
        for path in self.world.workspace.iterdir():
            if path.name != "note.txt":
                subprocess.run(["rm", "-rf", str(path)], check=True)
        return ", ".join(got)

    def heard(self) -> Iterator[str]:
        for listener in self.listeners:
            try:
                if listener.type == socket.SOCK_DGRAM:
                    yield f"a letter {listener.recv(100)!r}"
                else:
                    listener.accept()[0].close()
                    yield "a connection"
            except BlockingIOError:
                pass

    def mend(self) -> None:
        subprocess.run(["rm", "-rf", str(self.world.root)], check=True)
        self.world = World(self.top)
        self.bury(self.app, int(self.places["CHILD"]))
        self.revive()
        self.before = self.state()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    with ExitStack() as stack:
        near = tmp_path_factory.mktemp("n")
        yield Field(tmp_path_factory.mktemp("field") / "w", stack, near)


@pytest.fixture(scope="module", params=KINDS)
def confinement(request: pytest.FixtureRequest, attacked: Field) -> Iterator[SystemConfinement]:
    saved = os.environ["HOME"]
    os.environ["HOME"] = str(attacked.world.person)
    with closing(
        SystemConfinement(attacked.world.policy, lambda: attacked.world.settings, kinds=(request.param,))
    ) as made:
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made
    os.environ["HOME"] = saved


# a skill is Python, and what it sees is narrower; rights and the network are held the same way for both
CARRIED = [(attack, "command") for attack in ATTACKS] + [
    (attack, "skill")
    for attack in ATTACKS
    if attack.language == "py" and attack.kind in ("writing", "reading", "processes", "network on")
]


async def run(spec: ProcessSpec) -> ProcessOutcome:
    return await GroupRunner().run(spec, CancellationToken())


@pytest.mark.spec("R-FS-3", "R-FS-7", "R-FS-10", "R-SEC-1", "R-SK-14")
@pytest.mark.parametrize(("attack", "carrier"), CARRIED, ids=str)
async def test_no_attack_gets_through_the_walls(
    attacked: Field, confinement: SystemConfinement, attack: Attack, carrier: str
) -> None:
    narrow = _needed(sys.executable) if carrier == "skill" else None
    spec = confinement.wrap(attacked.spec(attack), narrow=narrow, network=attack.network)
    outcome = await run(spec)
    got = attacked.passed(outcome)
    escapes.tried(f"confinement: {attack.kind}", bool(got))
    assert not got, outcome.output
    assert "could not be confined" not in outcome.output
    assert outcome.ended == "exited"


TRYING = [attack for attack in ATTACKS if not attack.alone]
FIRST = {attack.kind: attack for attack in reversed(TRYING)}  # one of each class every time, the others in the soak


@pytest.mark.parametrize(
    "attack", [pytest.param(a, id=str(a), marks=[] if a in FIRST.values() else [pytest.mark.soak]) for a in TRYING]
)
async def test_the_same_attack_succeeds_without_walls(attacked: Field, attack: Attack) -> None:
    """So that the test above can fail. Not as everybody: some attacks need root."""
    if os.geteuid() != 0:
        pytest.skip("without root some attacks fail by themselves")
    spec = attacked.spec(attack)
    outcome = await run(replace(spec, argv=("unshare", "-m", "--propagation", "private", *spec.argv)))
    assert attacked.passed(outcome), outcome.output


def test_there_are_enough_of_them() -> None:
    names = [str(attack) for attack in ATTACKS]
    assert len(names) == len(set(names)) >= 120
    assert len(TRYING) >= 100


# -- what is left behind ----------------------------------------------------------------------------------------------

LEFT = [*KINDS, pytest.param("none", id="launcher alone")]


async def gone(marks: list[str]) -> list[str]:
    """The marks of processes that are still there after the longest wait."""
    left = marks
    for _ in range(600):
        lines = command_lines()
        left = [mark for mark in left if any(mark in line for line in lines)]
        if not left:
            return []
        await asyncio.sleep(0.05)
    return left


def command_lines() -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [line for line in found if "pytest" not in line]


def leaving(first: int, after: str) -> dict[str, tuple[str, str]]:
    """Name: (command, the number to know its processes by)."""
    return {
        name: (code.replace("@N@", str(first + at)).replace("@PYTHON@", sys.executable) + after, str(first + at))
        for at, (name, code) in enumerate(LEAVING.items())
    }


@pytest.mark.spec("R-TMO-2", "R-CAN-10")
@pytest.mark.parametrize("end", ["its own", "the time limit"])
@pytest.mark.parametrize("kind", LEFT)
async def test_nothing_that_a_command_starts_outlives_it(world: World, kind: Kind, end: str) -> None:
    base = 481_000 + 100 * [*KINDS, "none"].index(kind) + 1000 * (end == "its own")
    commands = leaving(base, "\nsleep 0.2; echo over" if end == "its own" else "\nsleep 60")
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as made:
        if made.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        env, cwd = {"PATH": "/usr/bin:/bin"}, str(world.workspace)
        limit = 60.0 if end == "its own" else 1.0
        specs = [ProcessSpec(("bash", "--norc", "-c", code), cwd, env, limit) for code, _ in commands.values()]
        outcomes = await asyncio.gather(*(run(made.wrap(spec)) for spec in specs))
    assert {outcome.ended for outcome in outcomes} == {"exited" if end == "its own" else "timeout"}
    left = await gone([mark for _, mark in commands.values()])
    for _, mark in commands.values():
        escapes.tried("leftover processes", mark in left)
    assert left == []


APP = """
import asyncio, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from desktop.safety.confinement.select import SystemConfinement
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec, SafetySettings
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.process import GroupRunner
settings = SafetySettings(workspace={workspace!r}, allowed=({workspace!r},))
confinement = SystemConfinement(BoundaryPolicy({home!r}, lambda: settings), lambda: settings, kinds=({kind!r},))
async def main():
    specs = [ProcessSpec(("bash", "--norc", "-c", code), {workspace!r}, {{"PATH": "/usr/bin:/bin"}})
             for code in {codes!r}]
    await asyncio.gather(*(GroupRunner().run(confinement.wrap(spec), CancellationToken()) for spec in specs))
asyncio.run(main())
"""


@pytest.mark.spec("R-TMO-2")
@pytest.mark.parametrize("kind", LEFT)
async def test_nothing_outlives_an_app_that_is_killed(world: World, kind: Kind) -> None:
    base = 484_000 + 100 * [*KINDS, "none"].index(kind)
    commands = leaving(base, "\necho x > ready-@AT; sleep 60")
    codes = [code.replace("@AT", str(at)) for at, (code, _) in enumerate(commands.values())]
    script = APP.format(
        root=str(Path(__file__).resolve().parents[4]),
        workspace=str(world.workspace),
        home=str(world.home),
        kind=kind,
        codes=codes,
    )
    app = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    end = time.monotonic() + WAIT_S
    while len(list(world.workspace.glob("ready-*"))) < len(codes) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    started = len(list(world.workspace.glob("ready-*")))
    app.kill()
    await app.wait()
    assert started == len(codes)
    left = await gone([mark for _, mark in commands.values()])
    for _, mark in commands.values():
        escapes.tried("leftover processes", mark in left)
    assert left == []


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_program_can_make_pairs_of_sockets_for_its_own_processes(
    world: World, kind: Kind, network: bool
) -> None:
    code = (
        "import asyncio, multiprocessing, socket\n"
        "a, b = socket.socketpair(); a.send(b'x'); b.recv(1)\n"
        "async def child():\n    await (await asyncio.create_subprocess_exec('true')).wait()\n"
        "asyncio.run(child())\n"
        "mine, other = multiprocessing.Pipe()\n"
        "child = multiprocessing.get_context('fork').Process(target=other.send, args=('from below',))\n"
        "child.start(); print(mine.recv()); child.join()"
    )
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as made:
        if made.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        plain = ProcessSpec((sys.executable, "-I", "-c", code), str(world.workspace), {"PATH": "/usr/bin:/bin"})
        outcome = await run(made.wrap(plain, network=network))
    assert outcome.output == "from below\n"
