"""What holds a shell command: tried from inside, with each kind of confinement that this machine has (C-33, S-FS-1)."""

import contextlib
import ctypes
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import Access, ProcessOutcome, ProcessSpec
from desktop.domain.tools import ToolCallContext
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.confinement.linux.landlock import readable
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.program_cache import FOLDER
from desktop.safety.confinement.select import Kind, SystemConfinement
from desktop.tools.builtin.shell import Bash
from tests.unit.safety.world import World

pytestmark = pytest.mark.spec("C-33", "S-FS-1")

KINDS: tuple[Kind, ...] = ("bubblewrap", "landlock")


@pytest.fixture(params=["bubblewrap", "landlock"])
def confinement(request: pytest.FixtureRequest, world: World) -> Iterator[SystemConfinement]:
    made = SystemConfinement(world.policy, lambda: world.settings, kinds=(request.param,))
    try:
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made
    finally:
        made.close()


def shell(world: World, command: str, **fields: object) -> ProcessSpec:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(world.person)}
    return ProcessSpec(("bash", "--norc", "-c", command), str(world.workspace), env, **fields)  # type: ignore[arg-type]


async def inside(confinement: SystemConfinement, world: World, command: str, **fields: object) -> ProcessOutcome:
    return await GroupRunner().run(confinement.wrap(shell(world, command, **fields)), CancellationToken())


async def tried(confinement: SystemConfinement, world: World, attempt: str) -> str:
    """What an attempt wrote inside; the shell got to its end, so it was tried."""
    output = (await inside(confinement, world, f"{attempt}\necho; echo tried")).output
    assert output.endswith("\ntried\n"), (attempt, output)
    return output


async def free(world: World, attempt: str) -> str:
    """What the same attempt writes where nothing confines it."""
    return (await GroupRunner().run(shell(world, attempt), CancellationToken())).output


def made(world: World, *kinds: Kind) -> contextlib.closing[SystemConfinement]:
    """Closed at the end: confinement may have made a folder for itself."""
    return contextlib.closing(SystemConfinement(world.policy, lambda: world.settings, kinds=kinds or KINDS))


@pytest.mark.spec("R-FS-3")
async def test_a_command_that_may_write_in_temporary_folders_cannot_take_the_filter_from_the_next_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person opened the folder in which Assent, too, makes what is temporary."""
    temporary = world.root / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    world.change(allowed=(str(world.workspace), str(temporary)))
    with made(world, "bubblewrap") as confinement:
        if confinement.probe().kind != "bubblewrap":
            pytest.skip("bubblewrap does not work here")
        await inside(confinement, world, f"for f in {temporary}/*/* /proc/[0-9]*/fd/*; do : >$f; done 2>/dev/null")
        asked = f"{shlex.quote(sys.executable)} -c 'import socket; socket.socket(socket.AF_UNIX)'"
        outcome = await inside(confinement, world, asked)
    assert "PermissionError" in outcome.output


def works_on_this_machine(kind: Kind) -> bool:
    """Asked of the machine without any code of ours: tests of a kind that the probe does not find are skipped, so a
    sandbox that we broke would be taken for a machine that has none."""
    if kind == "landlock":
        return ctypes.CDLL(None).syscall(444, None, 0, 1) >= 3  # landlock_create_ruleset says which version
    bare = ("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true")
    return shutil.which("bwrap") is not None and subprocess.run(bare, capture_output=True).returncode == 0


def test_the_probe_takes_the_first_kind_that_works_here_and_says_so_when_none_does(world: World) -> None:
    """In a container or a chroot there may be none; then it must not claim one."""
    works = [kind for kind in KINDS if works_on_this_machine(kind)]
    for kind in KINDS:
        with made(world, kind) as confinement:
            assert confinement.probe().kind == (kind if kind in works else "none")
    with made(world) as confinement:
        report = confinement.probe()
    assert report.kind == (works[0] if works else "none")
    assert bool(report.holds) == bool(works)
    assert report.sentence


async def test_work_in_the_workspace_goes_on_as_usual(confinement: SystemConfinement, world: World) -> None:
    outcome = await inside(confinement, world, "pwd; mkdir a && echo hi > a/b && cat a/b note.txt; ls | sort; exit 4")
    assert outcome.output == f"{world.workspace}\nhi\nnote\na\nnote.txt\n"
    assert outcome.exit_code == 4
    assert (world.workspace / "a/b").read_text() == "hi\n"


EVERYDAY = {
    "cat <(echo substituted)": "substituted\n",
    "git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git log --format=%s": "x\n",
    "printf 'int main(){return 0;}' > a.c && cc a.c -o a && ./a && echo compiled": "compiled\n",
    "python3 -c 'import asyncio; asyncio.run(asyncio.sleep(0)); print(1)'": "1\n",
    "echo > r; chmod +x r; seq 3 | xargs -P2 -n1 echo | sort -n | tail -1; flock l echo locked": "3\nlocked\n",
    "(sleep 5 & wait) & nice -n 1 timeout 3 echo timed": "timed\n",
    "exec 9>log; echo x >&9; trap 'echo end' EXIT; cat log": "x\nend\n",
}


@pytest.mark.parametrize("command", EVERYDAY)
async def test_everyday_programs_work_inside(confinement: SystemConfinement, world: World, command: str) -> None:
    program = command.split()[0] if command.startswith("git") else "cc" if "cc a.c" in command else "bash"
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    outcome = await inside(confinement, world, command)
    assert outcome.output.splitlines()[-2:] == EVERYDAY[command].splitlines()[-2:]


WRITES = (
    "echo x > {outside}/new",
    "echo x >> {outside}/secret.txt",
    "rm -f {outside}/secret.txt",
    "mv {outside}/secret.txt .",
    "ln -s {outside} l; echo x > l/new",
    "mkdir {person}/d",
    "ln {outside}/secret.txt here && echo x > here",
    "mkfifo {outside}/p",
    "cd {outside} && touch t",
    'python3 -c \'open("{outside}/new", "w")\'',
    "truncate -s 0 {outside}/secret.txt",
)


def around_the_workspace(world: World) -> list[tuple[str, str]]:
    """All that lies outside the app's home, with what files hold."""
    paths = (path for top in (world.outside, world.person) for path in sorted(top.rglob("*")))
    return [(str(path), path.read_text() if path.is_file() else "") for path in paths if world.home not in path.parents]


async def test_nothing_outside_the_allowed_folders_can_be_written(confinement: SystemConfinement, world: World) -> None:
    before = around_the_workspace(world)
    for attempt in WRITES:
        await tried(confinement, world, attempt.format(outside=world.outside, person=world.person))
        assert around_the_workspace(world) == before, attempt


async def test_nothing_can_be_written_where_no_folder_of_its_own_lies_over_the_real_one(
    confinement: SystemConfinement, world: World
) -> None:
    """All that a test makes lies in /tmp, of which a command has another; the rest of the disk it sees as it is."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as elsewhere:
        (Path(elsewhere) / "file").write_text("OURS")
        for attempt in (f"echo x > {elsewhere}/new", f"echo x >> {elsewhere}/file", f"rm {elsewhere}/file"):
            await tried(confinement, world, attempt)
        assert [(path.name, path.read_text()) for path in Path(elsewhere).iterdir()] == [("file", "OURS")]
        assert "OURS" in await tried(confinement, world, f"cat {elsewhere}/file"), "it is seen"
        assert await free(world, f"rm {elsewhere}/file; ls {elsewhere}") == ""


async def test_each_of_these_attempts_does_write_without_confinement(tmp_path: Path) -> None:
    for number, attempt in enumerate(WRITES):
        world = World(tmp_path / str(number))
        before = around_the_workspace(world)
        await free(world, attempt.format(outside=world.outside, person=world.person))
        assert around_the_workspace(world) != before, attempt


@pytest.mark.spec("R-FS-3", "R-FS-11")
async def test_what_the_explorer_says_of_commands_is_what_happens_inside(
    confinement: SystemConfinement, world: World
) -> None:
    """What a profile says about a path is what holds."""
    own = world.workspace / "own"
    own.mkdir()
    world.change(allowed=(str(world.workspace), str(world.home)), denied=(str(world.ssh), str(own)))
    kind = confinement.probe().kind
    places = (
        world.workspace,
        own,
        world.home,
        world.home / "data",
        world.home / "agents",
        world.ssh,
        world.outside,
        world.person,
        world.root,
        Path("/usr"),
        Path("/etc"),
        Path("/"),
    )
    said = [confinement.profile().reach(os.path.realpath(path), kind) for path in places]
    script = "; ".join(
        f"(ls {path} >/dev/null 2>&1 && echo -n r; touch {path}/assent-probe 2>/dev/null && echo -n w; echo)"
        for path in places
    )
    tried = (await inside(confinement, world, script)).output.splitlines()
    for path, (read, write), found in zip(places, said, tried, strict=True):
        assert ("w" in found) == write, (path, found)
        # a folder made for what lies in it can be listed, and holds nothing else; Landlock cannot list around a denial
        assert "r" not in found or read or not list(set(os.listdir(path)) - {"assent-probe"}) or kind == "bubblewrap"
        assert "r" in found or not read or kind == "landlock", (path, found)


@pytest.mark.spec("R-FS-3")
@pytest.mark.parametrize("place", ["..", "../..", "../../..", "../data", "{outside}"])
async def test_a_write_outside_fails_instead_of_being_lost(
    confinement: SystemConfinement, world: World, place: str
) -> None:
    """This world lies in /tmp, of which a command gets one of its own: there, too, it is told that nothing was written,
    and what is beside its folder stays as it was."""
    target = place.format(outside=world.outside)
    before = sorted(world.root.rglob("*"))
    outcome = await inside(
        confinement, world, f"echo x > {target}/tools.yaml && echo LOST; mkdir {target}/new && echo LOST"
    )
    assert outcome.exit_code != 0
    assert "LOST" not in outcome.output
    assert sorted(world.root.rglob("*")) == before
    fine = await inside(confinement, world, 'cd "$TMPDIR"; echo x > s; cat s; cd - >l; echo y > s; cat s')
    assert fine.output == "x\ny\n"


READS = (
    "cat ~/.ssh/id_rsa",
    "cat ../../.ssh/id_rsa",
    "cp -r ~/.ssh stolen; cat stolen/*",
    "cat ~/.s*/*",
    "ln ~/.ssh/id_rsa h; cat h",
    "cat /proc/self/root$HOME/.ssh/id_rsa",
    "cat ../data/assent.db",
    "find ~ -name id_rsa -exec cat {} +",
    "tar c ~/.ssh",
    "grep -r . ~/.ssh ../data",
    "python3 -c 'print(open(\"'$HOME'/.ssh/id_rsa\").read())'",
    "cat /etc/passwd | grep root:",
)
SECRETS = ("PRIVATE", "CONVERSATIONS", "root:x")


@pytest.mark.spec("R-FS-3")
async def test_denied_paths_and_the_apps_data_cannot_be_read(confinement: SystemConfinement, world: World) -> None:
    world.change(denied=(str(world.ssh), "/etc/passwd"))
    for attempt in READS:
        output = await tried(confinement, world, attempt)
        assert not [secret for secret in SECRETS if secret in output], (attempt, output)


async def test_each_of_these_attempts_does_read_without_confinement(tmp_path: Path) -> None:
    for number, attempt in enumerate(READS):
        output = await free(World(tmp_path / str(number)), attempt)
        assert [secret for secret in SECRETS if secret in output], attempt


@pytest.mark.spec("R-FS-3")
async def test_a_denied_path_inside_the_workspace_is_closed_and_cannot_be_carried_away(
    confinement: SystemConfinement, world: World
) -> None:
    """Renamed with the folder that holds it, the next command would find it under a name that no list knows."""
    secret = world.workspace / "a/b/secret"
    secret.mkdir(parents=True)
    (secret / "key").write_text("PRIVATE")
    world.change(denied=(str(secret),))
    for attempt in ("cat a/b/secret/key", "echo x > a/b/secret/new", "mv a/b c", "mv a d", "mv a/b/secret e"):
        await inside(confinement, world, attempt)
    for attempt in ("cat a/b/secret/key", "cat c/secret/key d/b/secret/key e/key", "grep -r PRIV ."):
        assert "PRIVATE" not in (await inside(confinement, world, attempt)).output, attempt
    assert [path.name for path in secret.iterdir()] == ["key"]
    assert (await inside(confinement, world, "echo fine > note.txt && cat note.txt")).output == "fine\n"


@pytest.mark.spec("R-FS-3")
async def test_entries_inside_one_another_hold_as_the_outer_one_does(
    confinement: SystemConfinement, world: World
) -> None:
    (world.ssh / "deep").mkdir()
    world.change(denied=(str(world.ssh), str(world.ssh / "deep"), str(world.home), str(world.home / "data")))
    world.change(
        allowed=(str(world.workspace), str(world.ssh / "deep"), str(world.outside)), workspace=str(world.outside)
    )
    env = {"PATH": "/usr/bin:/bin"}
    spec = ProcessSpec(("bash", "-c", f"cat {world.ssh}/id_rsa; echo fine"), str(world.outside), env)
    outcome = await GroupRunner().run(confinement.wrap(spec), CancellationToken())
    assert outcome.output.endswith("fine\n")
    assert "PRIVATE" not in outcome.output


@pytest.mark.spec("R-FS-3")
async def test_a_second_name_of_a_denied_file_in_the_workspace_is_closed_too(
    confinement: SystemConfinement, world: World
) -> None:
    os.link(world.ssh / "id_rsa", world.workspace / "innocent.txt")
    outcome = await inside(confinement, world, "cat innocent.txt; echo evil > innocent.txt; cat note.txt")
    assert "PRIVATE" not in outcome.output
    assert outcome.output.endswith("note\n")
    assert (world.ssh / "id_rsa").read_text() == "PRIVATE"


@pytest.mark.spec("R-FS-9")
async def test_a_link_that_leads_out_is_no_place_to_start(confinement: SystemConfinement, world: World) -> None:
    (world.workspace / "out").symlink_to(world.outside)
    (world.workspace / "in").mkdir()
    (world.workspace / "alias").symlink_to("in")
    env = {"PATH": "/usr/bin:/bin"}
    with pytest.raises(BoundaryViolation, match="outside the allowed folders"):
        confinement.wrap(ProcessSpec(("pwd",), str(world.workspace / "out"), env))
    wrapped = confinement.wrap(ProcessSpec(("pwd",), str(world.workspace / "alias"), env))
    assert (await GroupRunner().run(wrapped, CancellationToken())).output == f"{world.workspace}/in\n"


@pytest.mark.spec("R-PRM-5", "R-FS-7")
async def test_nothing_in_a_call_lifts_the_confinement(confinement: SystemConfinement, world: World) -> None:
    """An approval changes nothing of them: they are made from the settings alone, and nothing of a call gets there."""
    before = confinement.profile()
    bash = Bash(
        world.reader,
        world.policy,
        confinement,
        AllowlistEnvironment(lambda: world.settings),
        GroupRunner(),
        lambda: world.settings,
    )
    args = {"command": f"echo approved > {world.outside}/new; cat {world.ssh}/id_rsa"}
    check = await bash.precheck(args, NOWHERE)
    assert check.category is Category.ADMIN
    approved = ToolCallContext(RunMeta("run", CancellationToken()), "call", identity=check.identity)
    result = await bash.execute(args, approved)
    assert "PRIVATE" not in result.text
    assert not (world.outside / "new").exists()
    assert confinement.profile() == before


@pytest.mark.spec("R-FS-10")
async def test_the_apps_files_stay_as_they_are_even_where_the_home_is_allowed(
    confinement: SystemConfinement, world: World
) -> None:
    (world.home / "config.yaml").write_text("mine")
    world.change(allowed=(str(world.person),))
    for attempt in (
        "echo x > ../config.yaml",
        "echo x > ../tools.yaml",
        "echo x > ../agents/evil.yaml",
        "mv ../agents ../agents2",
        "rm -rf ../data",
        "mv .. ../../agent2; ls ../..",
        "echo x > ../anything",
        "cat ../data/assent.db",
    ):
        outcome = await inside(confinement, world, attempt)
        assert "CONVERSATIONS" not in outcome.output
    assert (world.home / "config.yaml").read_text() == "mine"
    assert sorted(p.name for p in world.home.iterdir()) == ["agents", "config.yaml", "data", "workspace"]
    assert list((world.home / "agents").iterdir()) == []
    assert (world.home / "data/assent.db").read_text() == "CONVERSATIONS"
    assert (await inside(confinement, world, "echo still > works && cat works")).output == "still\n"


async def test_the_network_is_off_unless_the_settings_allow_it(confinement: SystemConfinement, world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f'socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 2)'
        code = f'import socket; {connect}; print("through".upper())'  # newer Pythons show the source of what failed
        attempt = f"python3 -c '{code}'"
        assert "THROUGH" not in (await inside(confinement, world, attempt)).output
        world.change(shell_network="always")
        assert (await inside(confinement, world, attempt)).output == "THROUGH\n"


@pytest.mark.spec("R-SEC-1")
@pytest.mark.parametrize("network", [False, True])
async def test_services_behind_sockets_cannot_be_reached(
    confinement: SystemConfinement, world: World, network: bool, short_tmp: Path
) -> None:
    world.change(shell_network="always" if network else "never")
    here = os.open(world.workspace, os.O_RDONLY)  # the name of a socket has 107 bytes at most
    places = {f"/proc/self/fd/{here}/bus": "bus", f"{short_tmp}/bus": f"{short_tmp}/bus", f"\0{short_tmp}": None}
    for bound, name in places.items():
        with socket.socket(socket.AF_UNIX) as bus:
            bus.bind(bound)
            bus.listen()
            address = f'"{name}"' if name else f'"\\0{short_tmp}"'
            code = f'import socket; socket.socket(socket.AF_UNIX).connect({address}); print("through".upper())'
            attempt = f"python3 -c '{code}'"
            assert "THROUGH" not in await tried(confinement, world, attempt), name
            assert await free(world, attempt) == "THROUGH\n", name
    os.close(here)


async def test_other_processes_cannot_be_looked_into_or_ended(confinement: SystemConfinement, world: World) -> None:
    looks = f"cat /proc/{os.getpid()}/environ | tr '\\0' '\\n' | head -1"
    reaches = f"kill -0 {os.getpid()} && echo reached"
    assert "=" not in await tried(confinement, world, looks)
    assert "reached" not in await tried(confinement, world, reaches)
    assert "=" in await free(world, looks)
    assert await free(world, reaches) == "reached\n"


NEW_RIGHTS = (
    "mount --bind {ssh} . && cat id_rsa",
    "umount {ssh}; cat {ssh}/id_rsa",
    "unshare -rm sh -c 'umount -l {ssh}; cat {ssh}/id_rsa'",
    "mknod d b 8 0 && echo reached",
    "mount -t tmpfs none . && echo reached",
    "chroot /proc/1/root cat {ssh}/id_rsa",
    "nsenter -t 1 -m cat {ssh}/id_rsa",
    # opened, never written: this machine's own kernel settings are behind it
    "exec 9>>/proc/sys/kernel/core_pattern && echo reached",
    "exec 9>>/proc/sysrq-trigger && echo reached",
    "head -c 1 /proc/kcore && echo reached",
    "exec 9</proc/kmsg && echo reached",
)


async def test_no_way_out_by_new_rights(confinement: SystemConfinement, world: World) -> None:
    attempts = [f"({attempt.format(ssh=world.ssh)})" for attempt in NEW_RIGHTS]
    for attempt in attempts:
        output = await tried(confinement, world, attempt)
        assert "PRIVATE" not in output, attempt
        assert "reached" not in output, attempt
    assert not (world.workspace / "d").exists()
    assert "PRIVATE" in await free(world, attempts[1]), "without confinement that finds it; the others only as root"


@pytest.mark.spec("R-TMO-2")
async def test_the_time_limit_ends_everything_inside(confinement: SystemConfinement, world: World) -> None:
    outcome = await inside(confinement, world, "setsid sleep 4701 & trap '' TERM; sleep 4702", timeout_s=1)
    assert outcome.ended == "timeout"
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            assert b"sleep\x00470" not in (folder / "cmdline").read_bytes()
        except OSError:
            continue


@pytest.mark.spec("R-FS-12")
async def test_a_change_of_the_lists_counts_for_the_next_command(confinement: SystemConfinement, world: World) -> None:
    attempt = f"echo x > {world.outside}/new && echo written"
    assert (await inside(confinement, world, attempt)).output != "written\n"
    world.change(allowed=(str(world.workspace), str(world.outside)))
    assert (await inside(confinement, world, attempt)).output == "written\n"


async def test_programs_find_a_temporary_folder(confinement: SystemConfinement, world: World) -> None:
    outcome = await inside(confinement, world, 'f=$(mktemp) && echo ok > "$f" && cat "$f"')
    assert outcome.output == "ok\n"


def test_without_confinement_that_is_said_plainly(world: World) -> None:
    none = SystemConfinement(world.policy, lambda: world.settings, kinds=())
    assert none.probe().kind == "none"
    assert none.probe().sentence.startswith("Not confined")
    spec = ProcessSpec(("bash", "-c", "true"), str(world.workspace), {})
    assert none.wrap(spec) == replace(spec, settled=True)


def test_a_missing_workspace_is_a_failure_in_words(world: World) -> None:
    with made(world) as confinement, pytest.raises(ToolFailure, match="does not exist"):
        confinement.wrap(ProcessSpec(("bash",), str(world.workspace / "gone"), {}))


def test_readable_leaves_out_what_is_hidden_and_keeps_the_rest(world: World) -> None:
    (world.person / "doc").mkdir()
    found = readable(str(world.person), (str(world.ssh),))
    assert str(world.person / "doc") in found
    assert not any(str(world.ssh).startswith(path) for path in found)
    assert readable(str(world.ssh / "id_rsa"), (str(world.ssh),)) == []


@pytest.mark.spec("R-SK-14", "R-FS-10")
@pytest.mark.parametrize("allowed", [("/",), ("/tmp",), ("{workspace}", "/usr/lib")])
async def test_what_only_reads_can_write_in_its_temporary_folder_alone(
    confinement: SystemConfinement, world: World, allowed: tuple[str, ...]
) -> None:
    """However wide the allowed folders are."""
    world.settings = replace(world.settings, allowed=tuple(a.format(workspace=world.workspace) for a in allowed))
    tried = f"echo x > $TMPDIR/own && cat $TMPDIR/own; for f in {world.workspace}/new /usr/lib/assent-x; do "
    spec = ProcessSpec(("/bin/sh", "-c", tried + "(echo x > $f) 2>/dev/null && echo WROTE; done"), "/usr/lib", {})
    for narrow in ((), None):
        wrapped = confinement.wrap(spec, narrow=narrow, writes=False)
        outcome = await GroupRunner().run(wrapped, CancellationToken())
        assert outcome.output.strip() == "x"
    assert not (world.workspace / "new").exists()


# -- caches -----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["bubblewrap", "landlock"])
def caching(request: pytest.FixtureRequest, world: World) -> Iterator[SystemConfinement]:
    caches = str(world.home / FOLDER)
    with closing(
        SystemConfinement(world.policy, lambda: world.settings, kinds=(request.param,), caches=caches)
    ) as made:
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made


async def cached(caching: SystemConfinement, world: World, command: str, cache: str, *, writes: bool = True) -> str:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(world.person)}
    spec = ProcessSpec(("bash", "--norc", "-c", command), str(world.workspace), env)
    return (await GroupRunner().run(caching.wrap(spec, cache=cache, writes=writes), CancellationToken())).output


@pytest.mark.parametrize("allowed", ["", "~"])
async def test_a_program_has_a_cache_of_its_own_that_no_other_writes(
    caching: SystemConfinement, world: World, allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(world.person))
    world.change(allowed=(str(world.workspace), *([allowed] if allowed else [])))
    (world.person / ".npm").mkdir()
    names = ("XDG_CACHE_HOME", "npm_config_cache", "UV_CACHE_DIR", "PIP_CACHE_DIR")
    made = "; ".join(f'mkdir -p "${name}" && echo first > "${name}/of-{name}"' for name in names)
    assert await cached(caching, world, f'{made}; cat "$npm_config_cache"/of-*; echo "$npm_config_cache"', "one") == (
        f"first\n{next((world.home / FOLDER).iterdir()) / 'npm'}\n"
    )
    assert await cached(caching, world, 'cat "$UV_CACHE_DIR"/of-*', "one") == "first\n"
    (place,) = (world.home / FOLDER).iterdir()
    for poison in (f"{place}/npm/of-npm_config_cache", f"{place}/new", f"{place.parent}/new"):
        await cached(caching, world, f"echo poison > {poison}", "two")
    assert {file.read_text() for file in place.rglob("of-*")} == {"first\n"}
    assert [entry.name for entry in place.parent.iterdir() if entry.name == "new"] == []
    assert not (place / "new").exists()
    if not allowed:
        await cached(caching, world, f"echo poison > {world.person}/.npm/x", "one")
        assert list((world.person / ".npm").iterdir()) == []


async def test_what_only_reads_gets_no_cache(caching: SystemConfinement, world: World) -> None:
    assert await cached(caching, world, 'echo "[$npm_config_cache]"', "one", writes=False) == "[]\n"


async def test_no_file_tool_writes_a_cache(world: World) -> None:
    world.change(allowed=(str(world.home), str(world.workspace)))
    assert not world.policy.explain(str(world.home / FOLDER / "x" / "npm"), Access.WRITE).allowed
