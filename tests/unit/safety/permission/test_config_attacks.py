"""Everything that is Assent's own, attacked through every way that writes: file tool, command, CLI tool, code skill.

The worst case of settings: the person has allowed their whole home, the app's home in it, and the folder where the
program lies. Each target is attacked while it exists and while it does not exist yet.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import ProcessSpec
from desktop.domain.tools import ToolCallContext
from desktop.pipeline.skills.python_worker import _needed
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from desktop.tools.builtin.files import WriteFile
from tests.harness.changes import KeepsNothing
from tests.unit.safety import escapes
from tests.unit.safety.world import World

KINDS: list[Kind] = ["bubblewrap", "landlock"]
# {h}ome of the app, {p}erson's home, {i}nstallation
TARGETS = {
    "settings": "{h}/config.yaml",
    "tools": "{h}/tools.yaml",
    "servers": "{h}/mcp.yaml",
    "trust": "{h}/trust.yaml",
    "jobs": "{h}/jobs.yaml",
    "an agent": "{h}/agents/helper.agent.yaml",
    "a skill": "{h}/skills/mine.skill.md",
    "pins of skills": "{h}/skills/.pins.yaml",
    "conversations and audit": "{h}/data/assent.db",
    "what the database is about to be": "{h}/data/assent.db-wal",
    "the last good settings": "{h}/data/config.last-good.yaml",
    "the lock": "{h}/data/lock",
    "a log": "{h}/logs/assent.log",
    "a settings file half written": "{h}/.config.yaml.tmp",
    "anything else": "{h}/whatever.bin",
    "the program": "{i}/desktop/app/main.py",
    "a library": "{i}/.venv/lib/python3.11/site-packages/evil.pth",
    "the interpreter": "{i}/.venv/bin/python",
    "a skill of the library": "{i}/skills/assistant/assistant.skill.md",
    "start with the desktop": "{p}/.config/autostart/assent.desktop",
    "the entry in menus": "{p}/.local/share/applications/assent.desktop",
}
SHELL = {
    "a redirection": "echo evil > '@T@'",
    "an addition": "echo evil >> '@T@'",
    "a copy over it": "cp evil '@T@'",
    "a move over it": "cp evil e; mv -f e '@T@'",
    "a link in its place": "ln -sfn \"$PWD/evil\" '@T@'",
    "through a link": "ln -s '@T@' l@N@; echo evil > l@N@",
    "through a link to its folder": "ln -s '@P@' d@N@; echo evil > 'd@N@/@F@'",
    "through a second name": "ln '@T@' h@N@; echo evil > h@N@",
    "through a second name of the folder": "mv '@P@' m@N@; echo evil > 'm@N@/@F@'",
    "a new folder in the place of its own": "mv '@P@' '@P@.old'; mkdir -p '@P@'; echo evil > '@T@'",
    "a link in the place of its folder": "mv '@P@' '@P@.old'; mkdir f@N@; ln -s \"$PWD/f@N@\" '@P@'",
    "its removal": "rm -rf '@T@'",
    "its folder's removal": "rm -rf '@P@'",
    "cut to nothing": "truncate -s 0 '@T@'",
    "through the root of /proc": "echo evil > '/proc/self/root@T@'",
    "edited in place": "sed -i s/./e/ '@T@'",
    "another case": "echo evil > '@U@'",
    "from its folder": "(cd '@P@' && echo evil > './@F@')",
}
ARGV = {"tee's way": ("cp", "evil", "@T@"), "an archive": ("tar", "-C", "@P@", "-xf", "evil.tar")}
SKILL = {
    "opened": "open(T, 'w').write('evil')",
    "replaced": "open('e', 'w').write('evil'); os.replace('e', T)",
    "beneath an open folder": "os.open(os.path.basename(T), os.O_CREAT | os.O_WRONLY, dir_fd=os.open(P, os.O_RDONLY))",
    "removed": "os.unlink(T)",
    "its folder renamed": "os.rename(P, P + '.old')",
}


@dataclass
class Place:
    """The world with the app's own in it, and what is the app's as it was."""

    world: World

    def __post_init__(self) -> None:
        world = self.world
        self.program = world.root / "program"
        self.policy = BoundaryPolicy(
            str(world.home),
            lambda: world.settings,
            (*(str(self.program / part) for part in ("desktop", ".venv", "skills")),),
        )
        world.change(allowed=tuple(map(str, (world.person, world.home, world.workspace, self.program))))
        self.targets = {
            name: Path(text.format(h=world.home, p=world.person, i=self.program)) for name, text in TARGETS.items()
        }
        for target in self.targets.values():
            target.parent.mkdir(parents=True, exist_ok=True)
        (world.workspace / "evil").write_text("evil")

    def exist(self) -> None:
        for target in self.targets.values():
            target.write_text("mine")

    def state(self) -> dict[str, str]:
        """Everything of the app, the workspace left out, and what else of its own lies among other programs' files."""
        paths = [path for top in (self.world.home, self.program) for path in sorted(top.rglob("*"))]
        paths += self.targets.values()
        return {
            str(path): path.read_text() if path.is_file() else f"{path.exists()} {path.is_symlink()}"
            for path in paths
            if not path.is_relative_to(self.world.workspace)
        }

    def filled(self, template: str, target: Path, number: int) -> str:
        upper = target.with_name(target.name.swapcase())
        for word, value in {"T": target, "P": target.parent, "F": target.name, "N": number, "U": upper}.items():
            template = template.replace(f"@{word}@", str(value))
        return template

    def count(self, kind: str, before: dict[str, str]) -> bool:
        """Whether anything changed; every target was tried."""
        after = self.state()
        passed = after != before
        escapes.tried(f"config writes: {kind}", passed, times=len(self.targets))
        return passed


@pytest.fixture
def place(world: World) -> Place:
    return Place(world)


@pytest.fixture(params=KINDS)
def confinement(request: pytest.FixtureRequest, place: Place) -> Iterator[SystemConfinement]:
    with closing(SystemConfinement(place.policy, lambda: place.world.settings, kinds=(request.param,))) as made:
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made


async def run(confinement: SystemConfinement, place: Place, *argv: str, narrow: tuple[str, ...] | None = None) -> str:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place.world.person)}
    spec = ProcessSpec(argv, str(place.world.workspace), env, timeout_s=60)
    return (await GroupRunner().run(confinement.wrap(spec, narrow=narrow), CancellationToken())).output


EXISTING = pytest.mark.parametrize("existing", [True, False], ids=["there", "not there yet"])


@pytest.mark.spec("R-FS-10")
@EXISTING
@pytest.mark.parametrize("way", ["itself", "link", "linked folder", "dots", "second name", "other case", "slashes"])
async def test_the_file_tool_writes_none_of_it(place: Place, existing: bool, way: str) -> None:
    if existing:
        place.exist()
    before, workspace = place.state(), place.world.workspace
    tool = WriteFile(BoundaryFiles(place.policy), KeepsNothing())
    for number, target in enumerate(place.targets.values()):
        path = {
            "itself": str(target),
            "link": f"l{number}",
            "linked folder": f"d{number}/{target.name}",
            "dots": f"../workspace/../{os.path.relpath(target, place.world.home)}",
            "second name": f"h{number}",
            "other case": str(target.with_name(target.name.swapcase())),
            "slashes": f"//{target}/",
        }[way]
        if way == "link":
            (workspace / path).symlink_to(target)
        elif way == "linked folder":
            (workspace / f"d{number}").symlink_to(target.parent)
        elif way == "second name" and existing:
            os.link(target, workspace / path)
        if way == "other case" and not str(target).startswith((str(place.world.home), str(place.program))):
            continue  # another file of the person's
        args = {"path": path, "content": "evil"}
        check = await tool.precheck(args, NOWHERE)
        try:
            await tool.execute(args, ToolCallContext(RunMeta("run", CancellationToken()), "call"))
        except (BoundaryViolation, ToolFailure):
            assert check.denied is not None, path  # nobody is asked about it either
        else:
            assert way == "second name", path  # the name is the workspace's own: a new file stands there now
    assert not place.count("file tool", before)


@pytest.mark.spec("R-FS-10")
@EXISTING
@pytest.mark.parametrize("way", SHELL)
async def test_no_command_writes_any_of_it(
    place: Place, confinement: SystemConfinement, existing: bool, way: str
) -> None:
    if existing:
        place.exist()
    before = place.state()
    targets = [t for t in place.targets.values() if way != "another case" or t.is_relative_to(place.world.home)]
    lines = [place.filled(SHELL[way], target, number) for number, target in enumerate(targets)]
    output = await run(confinement, place, "bash", "--norc", "-c", "\n".join([*lines, "echo tried"]))
    assert output.endswith("tried\n")
    assert not place.count("command", before)


@pytest.mark.spec("R-FS-10")
@EXISTING
@pytest.mark.parametrize("way", ARGV)
async def test_no_cli_tool_writes_any_of_it(
    place: Place, confinement: SystemConfinement, existing: bool, way: str
) -> None:
    if existing:
        place.exist()
    before = place.state()
    names = {target.name for target in place.targets.values()}
    for name in names:
        (place.world.workspace / name).write_text("evil")
    await run(confinement, place, "tar", "-cf", "evil.tar", *sorted(names))
    calls = [[place.filled(word, target, 0) for word in ARGV[way]] for target in place.targets.values()]
    await asyncio.gather(*(run(confinement, place, *argv) for argv in calls))
    assert not place.count("CLI tool", before)


@pytest.mark.spec("R-FS-10", "R-SK-14")
@EXISTING
@pytest.mark.parametrize("way", SKILL)
async def test_no_code_skill_writes_any_of_it(
    place: Place, confinement: SystemConfinement, existing: bool, way: str
) -> None:
    if existing:
        place.exist()
    before = place.state()
    code = "import os\n" + "".join(
        f"T, P = {str(target)!r}, {str(target.parent)!r}\ntry:\n    {SKILL[way]}\nexcept OSError: pass\n"
        for target in place.targets.values()
    )
    output = await run(confinement, place, sys.executable, "-I", "-S", "-c", code, narrow=_needed(sys.executable))
    assert output == ""
    assert not place.count("code skill", before)


@pytest.mark.spec("R-FS-10")
async def test_a_second_name_that_was_there_before_is_no_way_in_either(
    place: Place, confinement: SystemConfinement
) -> None:
    """Made by the person, or by a backup: a hard link to the app's settings inside the workspace."""
    place.exist()
    for number, target in enumerate(place.targets.values()):
        if not target.is_relative_to(place.program):
            os.link(target, place.world.workspace / f"h{number}")
    before = place.state()
    lines = "\n".join(f"echo evil > h{number}; truncate -s 0 h{number}" for number in range(len(place.targets)))
    output = await run(confinement, place, "bash", "--norc", "-c", lines + "\necho tried")
    assert output.endswith("tried\n")
    assert not place.count("command", before)


async def test_the_same_writes_succeed_without_walls(place: Place) -> None:
    """So that the tests above can fail."""
    place.exist()
    for way in ("a redirection", "through a link", "through a second name of the folder"):
        before = place.state()
        target = place.targets["settings" if way != "through a second name of the folder" else "an agent"]
        env = {"PATH": "/usr/bin:/bin"}
        code = place.filled(SHELL[way], target, 1)
        spec = ProcessSpec(("bash", "--norc", "-c", code), str(place.world.workspace), env)
        await GroupRunner().run(spec, CancellationToken())
        assert place.state() != before, way
        target.parent.mkdir(exist_ok=True)
        target.write_text("mine")


async def test_the_workspace_in_all_this_stays_open(place: Place, confinement: SystemConfinement) -> None:
    assert await run(confinement, place, "bash", "-c", "mkdir a && echo fine > a/b && cat a/b") == "fine\n"
    outcome = BoundaryFiles(place.policy).write_atomic("a/new.txt", b"x")
    assert outcome.created
